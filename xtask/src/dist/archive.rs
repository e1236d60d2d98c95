//! How do files become an archive that is the same wherever and whenever it is made?

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// One file of a package.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it goes, below the folder that all goes into.
    pub path: String,
    /// Who may do what with it.
    pub mode: u32,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

/// What decides the bytes of an archive, beside its files.
#[derive(Debug, Clone, Copy)]
pub struct Make {
    /// The time of every file, in seconds since the epoch.
    pub time: u64,
    /// How hard it is compressed.
    pub level: Compression,
}

impl Make {
    /// A compressed archive of these files below `prefix`: sorted, owned by root, with every folder.
    ///
    /// # Errors
    /// A path does not fit into an archive.
    pub fn tar_gz(self, prefix: &str, parts: &[Part]) -> Result<Vec<u8>> {
        let mut sorted: BTreeMap<String, Option<&Part>> = BTreeMap::new();
        for part in parts {
            let path = format!("{prefix}{}", part.path);
            let folders = path.match_indices('/').map(|(at, _)| path[..=at].to_owned());
            sorted.extend(folders.map(|folder| (folder, None)));
            sorted.insert(path, Some(part));
        }
        let mut archive = Builder::new(Vec::new());
        for (path, part) in sorted {
            let mut header = Header::new_gnu();
            header.set_mtime(self.time);
            let bytes = match part {
                Some(part) => {
                    header.set_mode(part.mode);
                    &part.bytes[..]
                }
                None => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_mode(0o755);
                    &[]
                }
            };
            header.set_size(bytes.len() as u64);
            for (what, done) in [
                ("user", header.set_username("root")),
                ("group", header.set_groupname("root")),
            ] {
                done.with_context(|| format!("could not set the {what} of {path}"))?;
            }
            header.set_uid(0);
            header.set_gid(0);
            archive
                .append_data(&mut header, &path, bytes)
                .with_context(|| format!("could not pack {path}"))?;
        }
        let bytes = archive.into_inner().context("could not pack")?;
        self.gz(&bytes)
    }

    /// Compressed, with no name and no time.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn gz(self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut to = GzBuilder::new().mtime(0).write(Vec::new(), self.level);
        to.write_all(bytes).context("could not compress")?;
        to.finish().context("could not compress")
    }
}
