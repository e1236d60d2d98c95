//! Files of a package and their installation paths.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::build::PROGRAMS;
use super::{Processor, runtime};
use crate::house::{self, ProjectFolders};
use crate::setup::copy_folder;

/// Kind of system for which a package is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageKind {
    /// Any system. The package can be unpacked into any folder, such as `~/.local`.
    Archive,
    /// Debian. The package is installed in `/usr`.
    Debian,
}

/// Documents that a package contains.
pub const DOCUMENTS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];
const COPYRIGHT: &str = "\
Copyright (c) 2026 the hippod authors

hippod and hippoctl are licensed under the MIT licence or the Apache License 2.0, at your choice: see LICENSE-MIT and LICENSE-APACHE in
this folder. THIRD-PARTY.txt lists the crates in the programs and their licences. ONNX Runtime, in lib/hippod, is Copyright (c)
Microsoft Corporation, under the MIT licence: ONNXRUNTIME-LICENSE and ONNXRUNTIME-ThirdPartyNotices.txt. The model
all-MiniLM-L6-v2, in lib/hippod/models, is by the authors of Sentence Transformers, under the Apache License 2.0: see LICENSE-APACHE. It
was taken from a Python package under the MIT licence: MODEL-PACKAGE-LICENSE. Its weights were changed: they contain an adapter by the
hippod authors, and are 8-bit integers.
";
/// Path of the daemon's program in a Debian system.
const PROGRAM: &str = "/usr/bin/hippod";
/// For each shell, its name, and the path of a completion file before and after the program's name.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions/", ""),
    ("zsh", "share/zsh/site-functions/_", ""),
    ("fish", "share/fish/vendor_completions.d/", ".fish"),
];

/// Parts of a package that other steps create.
#[derive(Clone, Copy)]
pub struct PackageParts<'a> {
    /// Folder of the programs.
    pub programs: &'a Path,
    /// Folder of the manual pages and completions.
    pub pages: &'a Path,
    /// Text with the licences of the linked crates.
    pub licences: &'a str,
    /// Processor of the programs.
    pub processor: Processor,
}

/// Runs a test that generates the manual pages and completions. Returns the folder that contains them.
///
/// # Errors
/// Fails if the generation failed.
pub fn make_pages(house: &ProjectFolders) -> Result<PathBuf> {
    let folder = house.root.join("target/package/pages");
    let mut command = house.cargo();
    command.args([
        "test",
        "--quiet",
        "--workspace",
        "--test",
        "reference",
        "packages",
    ]);
    house::run(command.env("HIPPOD_PAGES", &folder))?;
    Ok(folder)
}

/// Creates a new folder, and writes the files of a package into its subfolder `name`. Returns the new folder.
///
/// # Errors
/// Fails if a file cannot be read or written.
pub fn stage(
    house: &ProjectFolders,
    kind: PackageKind,
    name: &str,
    parts: PackageParts<'_>,
) -> Result<PathBuf> {
    // `[package.metadata.deb]` of hippod contains the path of this folder.
    let work = house.root.join("target/package").join(match kind {
        PackageKind::Archive => "archive",
        PackageKind::Debian => "debian",
    });
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| format!("could not remove {}", work.display()))?;
    }
    let stage = StageFolder(work.join(name));
    for program in PROGRAMS {
        stage.add(&format!("bin/{program}"), &read(&parts.programs.join(program))?)?;
        executable(&stage.0.join("bin").join(program))?;
    }
    let pinned = runtime::obtain(house, parts.processor)?;
    for (path, bytes) in &pinned.files {
        stage.add(&format!("lib/hippod/{path}"), bytes)?;
    }
    for (name, bytes) in &pinned.terms {
        stage.document(name, bytes)?;
    }
    stage.add(
        "share/hippod/manifest.toml",
        &read(&house.root.join("models/manifest.toml"))?,
    )?;
    for name in DOCUMENTS {
        stage.document(name, &read(&house.root.join(name))?)?;
    }
    copy_folder(&house.root.join("docs"), &stage.0.join("share/doc/hippod/docs"))?;
    stage.document("copyright", COPYRIGHT.as_bytes())?;
    stage.document("THIRD-PARTY.txt", parts.licences.as_bytes())?;
    stage.pages(kind, parts.pages)?;
    if kind == PackageKind::Debian {
        // Only the Debian package contains the systemd units. On other systems, `hippoctl service install` writes them
        // with the actual path of the program.
        let units = house.root.join("systemd");
        for name in names(&units)? {
            let unit = String::from_utf8_lossy(&read(&units.join(&name))?).into_owned();
            stage.add(
                &format!("lib/systemd/user/{name}"),
                for_debian(&name, &unit)?.as_bytes(),
            )?;
        }
    }
    Ok(work)
}

struct StageFolder(PathBuf);

impl StageFolder {
    fn add(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let place = self.0.join(path);
        let failed = || format!("could not write {}", place.display());
        fs::create_dir_all(place.parent().unwrap_or(&self.0)).with_context(failed)?;
        fs::write(&place, bytes).with_context(failed)
    }

    fn document(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(&format!("share/doc/hippod/{name}"), bytes)
    }

    /// Adds the manual pages and completions.
    fn pages(&self, kind: PackageKind, folder: &Path) -> Result<()> {
        for page in names(&folder.join("man"))? {
            let gz = house::output(
                Command::new("gzip")
                    .args(["-n", "-9", "--stdout"])
                    .arg(folder.join("man").join(&page)),
            )?;
            self.add(&format!("share/man/man1/{page}.gz"), &gz)?;
        }
        for (shell, before, after) in SHELLS {
            for program in PROGRAMS {
                let mut place = format!("{before}{program}{after}");
                if kind == PackageKind::Debian {
                    place = place.replace("site-functions", "vendor-completions");
                }
                self.add(&place, &read(&folder.join(shell).join(program))?)?;
            }
        }
        Ok(())
    }
}

fn read(place: &Path) -> Result<Vec<u8>> {
    fs::read(place).with_context(|| format!("could not read {}", place.display()))
}

/// Returns the names of the files in a folder, sorted.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || format!("could not read {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn executable(place: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(place, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("could not make {} executable", place.display()))
}

/// Returns the text of a systemd unit with [`PROGRAM`] as the path of the program.
fn for_debian(name: &str, unit: &str) -> Result<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in unit.lines() {
        lines.push(match line.strip_prefix("ExecStart=") {
            Some(words) => {
                let rest = words
                    .split_once(' ')
                    .map_or(String::new(), |(_, rest)| format!(" {rest}"));
                format!("ExecStart={PROGRAM}{rest}")
            }
            None => line.to_owned(),
        });
    }
    let text = lines.join("\n") + "\n";
    if name.ends_with(".service") && !text.contains(&format!("\nExecStart={PROGRAM}")) {
        bail!("could not find the program in systemd/{name}: it has no line that begins with ExecStart=");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_program_of_the_package() {
        let unit = "[Service]\nType=exec\nExecStart=%h/.cargo/bin/hippod run --x\nNice=5\n";
        let expected = "[Service]\nType=exec\nExecStart=/usr/bin/hippod run --x\nNice=5\n";
        assert_eq!(for_debian("hippod.service", unit).unwrap(), expected);
        assert_eq!(for_debian("hippod.socket", "[Socket]\n").unwrap(), "[Socket]\n");
        assert!(for_debian("hippod.service", "[Service]\n").is_err());
    }
}
