//! Which files does a person get, and where do they go?

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use hippoctl::args::ShellArg;

use super::archive::{Make, Part};
use super::build::Programs;
use super::runtime::Runtime;
use crate::house::House;
use crate::reference::{self, Page};

/// What a package is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any folder, such as `~/.local`.
    Archive,
    /// Debian's `/usr`.
    Debian,
}

/// What the packages are made of.
pub struct Material<'a> {
    /// The project.
    pub house: &'a House,
    /// Its programs.
    pub programs: &'a Programs,
    /// Its runtime library.
    pub runtime: &'a Runtime,
    /// The terms of the crates in it.
    pub third_party: &'a str,
}

/// Documents beside the programs.
const DOCUMENTS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];
const COPYRIGHT: &str = "\
Copyright (c) 2026 the hippod authors

hippod and hippoctl are given on under the MIT licence or the Apache License 2.0, at your choice: LICENSE-MIT and LICENSE-APACHE in this
folder. The crates that they are made of, and their terms, are in THIRD-PARTY.txt. ONNX Runtime, in lib/hippod, is Copyright (c)
Microsoft Corporation, under the MIT licence: ONNXRUNTIME-LICENSE and ONNXRUNTIME-ThirdPartyNotices.txt.
";
/// Where a package for Debian has the daemon.
const PROGRAM: &str = "/usr/bin/hippod";

impl Material<'_> {
    /// All files of a package.
    ///
    /// # Errors
    /// One cannot be read or made.
    pub fn files(&self, kind: Kind, make: Make) -> Result<Vec<Part>> {
        let mut files = Files(Vec::new());
        files.add("bin/hippod", 0o755, &self.programs.hippod);
        files.add("bin/hippoctl", 0o755, &self.programs.hippoctl);
        for (path, bytes) in &self.runtime.files {
            files.0.push(Part {
                path: format!("lib/hippod/runtime/{path}"),
                mode: 0o644,
                bytes: Arc::clone(bytes),
            });
        }
        files.text(
            "share/hippod/manifest.toml",
            &read(self.house, "models/manifest.toml")?,
        );
        documents(self.house, &mut files)?;
        files.document("copyright", COPYRIGHT.as_bytes());
        files.document("THIRD-PARTY.txt", self.third_party.as_bytes());
        for (name, bytes) in &self.runtime.terms {
            files.document(name, bytes);
        }
        for page in reference::manual()? {
            files.text(
                &format!("share/man/man1/{}.gz", page.name),
                &make.gz(&page.bytes)?,
            );
        }
        for shell in ShellArg::value_variants() {
            for Page { name, bytes } in reference::completions(*shell) {
                files.text(&place(*shell, kind, &name), &bytes);
            }
        }
        if kind == Kind::Debian {
            self.units(&mut files)?;
        }
        Ok(files.0)
    }

    /// Only where the program lies at a known place. Elsewhere `hippoctl service install` writes them, with the place.
    fn units(&self, files: &mut Files) -> Result<()> {
        for name in names(&self.house.root.join("systemd"))? {
            let text = read(self.house, &format!("systemd/{name}"))?;
            let text = for_debian(&name, &String::from_utf8_lossy(&text))?;
            files.text(&format!("lib/systemd/user/{name}"), text.as_bytes());
        }
        Ok(())
    }
}

/// The documents with all that they show and lead to.
fn documents(house: &House, files: &mut Files) -> Result<()> {
    for name in DOCUMENTS {
        files.document(name, &read(house, name)?);
    }
    for name in pages(house)? {
        files.document(&name, &read(house, &name)?);
    }
    Ok(())
}

/// The files below `docs`: pages, pictures and schemas, sorted.
pub fn pages(house: &House) -> Result<Vec<String>> {
    let mut folders = vec!["docs".to_owned()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        let place = house.root.join(&folder);
        pages.extend(names(&place)?.iter().map(|name| format!("{folder}/{name}")));
        let failed = || format!("could not read {}", place.display());
        for entry in fs::read_dir(&place).with_context(failed)? {
            let entry = entry.with_context(failed)?;
            if entry.path().is_dir() {
                folders.push(format!("{folder}/{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn read(house: &House, path: &str) -> Result<Vec<u8>> {
    let place = house.root.join(path);
    fs::read(&place).with_context(|| format!("could not read {}", place.display()))
}

/// The names of the files in a folder, sorted.
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

/// Where a shell looks for completions.
fn place(shell: ShellArg, kind: Kind, program: &str) -> String {
    match (shell, kind) {
        (ShellArg::Bash, _) => format!("share/bash-completion/completions/{program}"),
        (ShellArg::Zsh, Kind::Archive) => format!("share/zsh/site-functions/_{program}"),
        (ShellArg::Zsh, Kind::Debian) => format!("share/zsh/vendor-completions/_{program}"),
        (ShellArg::Fish, _) => format!("share/fish/vendor_completions.d/{program}.fish"),
    }
}

/// A unit with the program where Debian has it.
fn for_debian(name: &str, unit: &str) -> Result<String> {
    let begins = |line: &str| line.strip_prefix("ExecStart=").map(str::to_owned);
    let mut lines: Vec<String> = Vec::new();
    for line in unit.lines() {
        lines.push(match begins(line) {
            Some(words) => match words.split_once(' ') {
                Some((_, rest)) => format!("ExecStart={PROGRAM} {rest}"),
                None => format!("ExecStart={PROGRAM}"),
            },
            None => line.to_owned(),
        });
    }
    let text = lines.join("\n") + "\n";
    if name.ends_with(".service") && !text.contains(&format!("\nExecStart={PROGRAM}")) {
        bail!("could not find the program in systemd/{name}: it has no line that begins with ExecStart=");
    }
    Ok(text)
}

struct Files(Vec<Part>);

impl Files {
    fn add(&mut self, path: &str, mode: u32, bytes: &[u8]) {
        self.0.push(Part {
            path: path.to_owned(),
            mode,
            bytes: bytes.into(),
        });
    }

    fn text(&mut self, path: &str, bytes: &[u8]) {
        self.add(path, 0o644, bytes);
    }

    fn document(&mut self, name: &str, bytes: &[u8]) {
        self.text(&format!("share/doc/hippod/{name}"), bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Component, PathBuf};

    use super::*;

    #[test]
    fn what_packaged_documents_link_to_is_packaged() {
        let house = House::find().unwrap();
        let mut files = Files(Vec::new());
        documents(&house, &mut files).unwrap();
        let there: BTreeSet<PathBuf> = files.0.iter().map(|part| PathBuf::from(&part.path)).collect();
        let mut seen = 0;
        for part in files.0.iter().filter(|part| part.path.ends_with(".md")) {
            let text = String::from_utf8_lossy(&part.bytes);
            for (path, _) in hippod_tests::page::links(&text) {
                let target = plain(&Path::new(&part.path).with_file_name(path));
                assert!(
                    path.is_empty() || there.contains(&target),
                    "{}: {path}",
                    part.path
                );
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    /// Without `..`.
    fn plain(path: &Path) -> PathBuf {
        let mut plain = PathBuf::new();
        for part in path.components() {
            if part == Component::ParentDir {
                plain.pop();
            } else {
                plain.push(part);
            }
        }
        plain
    }

    #[test]
    fn a_unit_starts_the_program_of_the_package() {
        let unit = "[Service]\nType=exec\nExecStart=%h/.cargo/bin/hippod run --x\nNice=5\n";
        let expected = "[Service]\nType=exec\nExecStart=/usr/bin/hippod run --x\nNice=5\n";
        assert_eq!(for_debian("hippod.service", unit).unwrap(), expected);
        assert_eq!(for_debian("hippod.socket", "[Socket]\n").unwrap(), "[Socket]\n");
        assert!(for_debian("hippod.service", "[Service]\n").is_err());
    }
}
