//! Tests of a model whose weights are quantized during the installation.

use std::fs;
use std::path::Path;

use hippo_embed::acquire::{AcquireError, Layout, ModelManifest, PullOptions, check_copied, locate, pull};
use hippo_embed::quantize::{Adapter, quantize};

use crate::fixture::{Fixture, NO_PYTHON, sha256, with_python};

/// Returns a safetensors file with one linear layer of 2 outputs and 2 inputs.
fn weights() -> Vec<u8> {
    layer(2, &[0.5_f32, -1.0, 0.25, 3.0])
}

fn layer(size: usize, values: &[f32]) -> Vec<u8> {
    let name = "encoder.layer.0.attention.self.query.weight";
    let end = 4 * values.len();
    let header =
        format!(r#"{{"{name}":{{"dtype":"F32","shape":[{size},{size}],"data_offsets":[0,{end}]}}}}"#);
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Returns a manifest with the runtime of `fixture`, a quantized model `small`, and its source as the model `exact`.
fn manifest(fixture: &Fixture) -> ModelManifest {
    manifest_of(fixture, &weights(), &quantize(&weights(), None).unwrap(), "")
}

fn manifest_of(fixture: &Fixture, exact: &[u8], small: &[u8], fields: &str) -> ModelManifest {
    let wheel = "[model.wheel]\nname = \"none.whl\"\nsize = 1\nsha256 = \"00\"\n";
    let file = |bytes: &[u8]| {
        let (size, sum) = (bytes.len(), sha256(bytes));
        format!("size = {size}\nsha256 = \"{sum}\"\n")
    };
    let model = |name: &str, bytes: &[u8]| {
        format!(
            "[[model]]\nname = \"{name}\"\ndimension = 2\nmax_pieces = 16\npackage = \"p\"\nversion = \"1\"\n{wheel}\
             [[model.file]]\nname = \"model.safetensors\"\nmember = \"m\"\n{}",
            file(bytes)
        )
    };
    let source = format!("[model.file.source]\n{fields}{}", file(exact));
    let mut all = fixture.manifest.clone();
    let text = format!(
        "runtime = []\n{}{source}{}",
        model("small", small),
        model("exact", exact)
    );
    all.models = ModelManifest::parse(&text).unwrap().models;
    all
}

fn read(layout: &Layout, model: &str) -> Vec<u8> {
    fs::read(layout.models.join(model).join("model.safetensors")).unwrap()
}

fn pull_from(fixture: &Fixture, manifest: &ModelManifest, folder: &Path) -> Result<(), AcquireError> {
    let options = PullOptions {
        from: folder.to_str(),
        ..with_python(Path::new(NO_PYTHON))
    };
    pull(&fixture.layout, manifest, options, &mut |_| {}, &false.into()).map(drop)
}

#[test]
fn the_source_and_the_quantized_file_install_the_same_model() {
    for quantized in [false, true] {
        let fixture = Fixture::new();
        let manifest = manifest(&fixture);
        let folder = fixture.folder.path().join("files");
        fs::create_dir(&folder).unwrap();
        fixture.put_wheels(&folder);
        let file = folder.join("model.safetensors");
        fs::write(&file, b"other").unwrap();
        let error = pull_from(&fixture, &manifest, &folder).unwrap_err();
        assert!(matches!(error, AcquireError::Checksum { .. }), "{error}");
        let small = quantize(&weights(), None).unwrap();
        fs::write(&file, if quantized { small.clone() } else { weights() }).unwrap();
        pull_from(&fixture, &manifest, &folder).unwrap();
        assert_eq!(read(&fixture.layout, "small"), small);
        locate(&fixture.layout, &manifest).unwrap();
    }
}

#[test]
fn the_weights_of_an_installed_model_become_the_default_model() {
    let fixture = Fixture::with_cache();
    let manifest = manifest(&fixture);
    let exact = fixture.layout.models.join("exact");
    fs::create_dir_all(&exact).unwrap();
    fs::write(exact.join("model.safetensors"), b"damaged").unwrap();
    check_copied(&fixture.layout, &manifest);
    assert!(!fixture.layout.models.join("small").exists());
    fs::write(exact.join("model.safetensors"), weights()).unwrap();
    check_copied(&fixture.layout, &manifest);
    assert_eq!(
        read(&fixture.layout, "small"),
        quantize(&weights(), None).unwrap()
    );
    assert_eq!(read(&fixture.layout, "exact"), weights());
    assert!(manifest.models[1].artifact(&fixture.layout).fault().is_none());
}

#[test]
fn the_adapter_is_added_before_the_weights_are_quantized() {
    let exact = layer(384, &vec![0.25; 384 * 384]);
    let adapter = Adapter::built_in().unwrap();
    let small = quantize(&exact, Some(&adapter)).unwrap();
    assert_ne!(small, quantize(&exact, None).unwrap());
    let fixture = Fixture::with_cache();
    let manifest = manifest_of(&fixture, &exact, &small, "adapter = true\n");
    let folder = fixture.layout.models.join("exact");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("model.safetensors"), &exact).unwrap();
    check_copied(&fixture.layout, &manifest);
    assert_eq!(read(&fixture.layout, "small"), small);
}

#[test]
fn weights_that_the_adapter_does_not_fit_are_refused() {
    let fixture = Fixture::new();
    let manifest = manifest_of(&fixture, &weights(), b"other", "adapter = true\n");
    let folder = fixture.folder.path().join("files");
    fs::create_dir(&folder).unwrap();
    fixture.put_wheels(&folder);
    fs::write(folder.join("model.safetensors"), weights()).unwrap();
    let error = pull_from(&fixture, &manifest, &folder).unwrap_err();
    assert!(error.to_string().contains("the adapter does not fit"), "{error}");
    assert!(!fixture.layout.models.join("small/model.safetensors").exists());
}
