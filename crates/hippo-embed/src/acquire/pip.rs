//! Download of a wheel from the Python package index.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::extract::{expect, file_sha256, sync_folder};
use super::{AcquireError, Artifact};

/// Interval between two measurements of the growing download.
const POLL: Duration = Duration::from_millis(100);

/// Usual name of the Python 3 program.
pub(super) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Downloads the wheel of an artifact into `cache`, where it appears only when it is complete and checked. Calls `tick`
/// with the number of bytes downloaded so far. If `tick` returns an error, the download stops.
pub(super) fn download(
    python: &Path,
    artifact: &Artifact,
    cache: &Path,
    tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
) -> Result<(), AcquireError> {
    fs::create_dir_all(cache).map_err(|e| AcquireError::io("create", cache, e))?;
    // The temporary folder is inside the cache folder, so that the final rename stays on one disk.
    let temp = tempfile::Builder::new()
        .prefix(".download-")
        .tempdir_in(cache)
        .map_err(|e| AcquireError::io("write", cache, e))?;
    let output = temp.path().join("output.txt");
    let log = File::create(&output).map_err(|e| AcquireError::io("write", &output, e))?;
    let mut child = start(python, artifact, temp.path(), log)?;

    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(source) => {
                return Err(AcquireError::Python {
                    python: python.display().to_string(),
                    source,
                });
            }
        }
        if let Err(stop) = tick(size_below(temp.path()).min(artifact.wheel.size)) {
            // Both calls can fail only if pip has just exited.
            let _ = child.kill();
            let _ = child.wait();
            return Err(stop);
        }
        std::thread::sleep(POLL);
    };
    let package = format!("{}=={}", artifact.package, artifact.version);
    if !status.success() {
        let text = fs::read(&output)
            .map(|b| String::from_utf8_lossy(&b).into_owned())
            .unwrap_or_default();
        if text.contains("No module named pip") {
            return Err(AcquireError::Pip {
                python: python.display().to_string(),
                package,
            });
        }
        return Err(AcquireError::Download {
            package,
            message: last_lines(&text),
        });
    }
    let fetched = temp.path().join(&artifact.wheel.name);
    if !fetched.is_file() {
        let message = format!("pip did not deliver {}", artifact.wheel.name);
        return Err(AcquireError::Download { package, message });
    }
    expect(
        &fetched,
        &artifact.wheel.sha256,
        &file_sha256(&fetched, &mut |_| Ok(()))?,
    )?;
    let place = cache.join(&artifact.wheel.name);
    let moved = File::open(&fetched)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&fetched, &place))
        .and_then(|()| sync_folder(cache));
    moved.map_err(|e| AcquireError::io("write", &place, e))
}

/// Starts pip. The platform is always given, so that the choice of the wheel does not depend on the Python version that
/// runs pip. pip's own cache is disabled, because it would keep a second copy of the wheel.
fn start(python: &Path, artifact: &Artifact, folder: &Path, log: File) -> Result<Child, AcquireError> {
    let cannot_run = |source| AcquireError::Python {
        python: python.display().to_string(),
        source,
    };
    let mut command = Command::new(python);
    command
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--no-input",
        ])
        .args(["--disable-pip-version-check", "--only-binary=:all:"]);
    if let Some(tag) = &artifact.tag {
        command
            .args(["--platform", tag, "--python-version", "3.12"])
            .args(["--implementation", "cp", "--abi", "cp312"]);
    }
    command
        .arg("--dest")
        .arg(folder)
        .arg(format!("{}=={}", artifact.package, artifact.version));
    command
        .env("TMPDIR", folder)
        .env("TEMP", folder)
        .env("TMP", folder);
    let copy = log.try_clone().map_err(cannot_run)?;
    command
        .stdin(Stdio::null())
        .stdout(copy)
        .stderr(log)
        .spawn()
        .map_err(cannot_run)
}

/// Returns the total size of all files below a folder. Files that pip removes in the meantime are skipped.
fn size_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some(if meta.is_dir() {
                size_below(&entry.path())
            } else {
                meta.len()
            })
        })
        .sum()
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    match lines.len() {
        0 => "pip failed without a message".into(),
        n => lines[n.saturating_sub(2)..].join("; "),
    }
}

/// Checks that pip can run, so that a missing pip is reported before anything else.
///
/// # Errors
/// Returns [`AcquireError::Python`] or [`AcquireError::Pip`].
pub fn check_pip(python: &Path) -> Result<(), AcquireError> {
    let name = python.display().to_string();
    let status = Command::new(python)
        .args(["-m", "pip", "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|source: io::Error| AcquireError::Python {
            python: name.clone(),
            source,
        })?;
    if status.success() {
        Ok(())
    } else {
        Err(AcquireError::Pip {
            python: name,
            package: "packages".into(),
        })
    }
}
