//! Where may a backup or an export be written?

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use hippo_core::layout::INDEX_FILE;
use hippo_proto::{BackupFormat, ErrorKind, RpcError};

use super::gather::OWN;
use super::manifest::why_not;
use super::refusal::{io_refusal, name_of};
use crate::shared::Shared;
use crate::view::WorkspaceView;
use crate::{files, scan};

/// What the name of an export ends in that is one file.
const ARCHIVE: &str = ".tar.zst";
/// What the names of other archives end in: who gives one does not get what it says.
const OTHERS: [&str; 13] = [
    ".tar", ".tgz", ".gz", ".txz", ".xz", ".tbz", ".tbz2", ".bz2", ".lz4", ".br", ".7z", ".zip", ".rar",
];
/// As a backup is packed, and what of an export would make a folder of this name.
const PACKED: [&str; 2] = [".zst", ".tzst"];

/// Where one is written to, and what may be replaced there.
pub struct Destination {
    /// Absolute, with no link in its folder.
    pub path: PathBuf,
    /// Whether it is one file; else a folder.
    pub is_file: bool,
    /// What is written.
    pub format: BackupFormat,
    force: bool,
}

impl Destination {
    /// Looks whether a place can be used.
    ///
    /// # Errors
    /// `conflict` where something is there already; `bad-request` for a name that promises something else, and for a
    /// place in which what is written would be taken for memory; else as the system says.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn of(shared: &Shared, to: &Path, format: BackupFormat, force: bool) -> Result<Self, RpcError> {
        let what = name_of(format);
        let name = to.file_name().unwrap_or_default();
        let low = name.to_string_lossy().to_lowercase();
        let ends = |ends: &[&str]| ends.iter().any(|end| low.ends_with(end));
        let is_archive = low.ends_with(ARCHIVE);
        if ends(&OTHERS) || (format == BackupFormat::Export && !is_archive && ends(&PACKED)) {
            let text = format!(
                "could not write the {what}: its name promises another format: {}",
                to.display()
            );
            return Err(RpcError::bad_request(text).hint(match format {
                BackupFormat::Backup => "a backup is a tar in zstd: give a name that ends in .tar.zst",
                BackupFormat::Export => {
                    "one file has a name that ends in .tar.zst; any other name is that of a folder"
                }
            }));
        }
        let folder = to.parent().unwrap_or(Path::new("/"));
        let folder = folder
            .canonicalize()
            .map_err(|error| io_refusal(&format!("write the {what}"), to, &error))?;
        let found = Self {
            path: folder.join(name),
            is_file: format == BackupFormat::Backup || is_archive,
            format,
            force,
        };
        found.outside_of_memory(shared)?;
        found.free()?;
        Ok(found)
    }

    /// Refuses a place where something is that is not to be replaced.
    ///
    /// # Errors
    /// `conflict`.
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    pub fn free(&self) -> Result<(), RpcError> {
        let Ok(found) = self.path.symlink_metadata() else {
            return Ok(());
        };
        let is_empty = || fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
        let (there, hint) = match (self.is_file, found.is_dir()) {
            (true, true) => (
                "a folder is there",
                "name a file in it; --force replaces no folder",
            ),
            (true, false) if !found.is_file() => ("what is there is no regular file", "choose another name"),
            (true, false) if !self.force => (
                "a file is there already",
                "choose another name, or say --force to replace it",
            ),
            (true, false) if !is_earlier(&self.path) => (
                "the file that is there is no backup",
                "choose another name: --force replaces earlier backups alone",
            ),
            (false, true) if !is_empty() => (
                "the folder is not empty",
                "choose another name; --force replaces no folder",
            ),
            (false, false) => ("a file is there already", "choose another name"),
            (true, false) | (false, true) => return Ok(()),
        };
        Err(self.refusal(ErrorKind::Conflict, there).hint(hint))
    }

    fn refusal(&self, kind: ErrorKind, reason: &str) -> RpcError {
        let what = name_of(self.format);
        let path = self.path.display();
        RpcError::new(kind, format!("could not write the {what}: {path}: {reason}"))
    }

    /// Refuses what would be read as memory, and would be in each later backup again.
    fn outside_of_memory(&self, shared: &Shared) -> Result<(), RpcError> {
        if files::is_own(&shared.paths, &self.path) {
            return Err(self
                .refusal(ErrorKind::BadRequest, "hippod keeps its own files there")
                .hint("choose another folder"));
        }
        for view in shared.views.open() {
            if self.is_memory_of(&view) {
                let reason = format!("it would be memory itself, of {}", view.root.display());
                return Err(self.refusal(ErrorKind::BadRequest, &reason).hint(
                    "choose a place outside of that workspace, or a folder of it that is not watched",
                ));
            }
        }
        Ok(())
    }

    fn is_memory_of(&self, view: &WorkspaceView) -> bool {
        let Ok(inside) = self.path.strip_prefix(&view.root) else {
            return false;
        };
        let own = [OWN, INDEX_FILE, hippo_core::harness::FILE];
        if own.iter().any(|own| inside.starts_with(own)) {
            return true;
        }
        let name = files::slashed(inside);
        if self.is_file {
            return view.rules.is_source(&name);
        }
        // A folder that is ignored, or is below one, is not read.
        let above = inside.parent().filter(|above| !above.as_os_str().is_empty());
        let is_reached = above
            .is_none_or(|above| scan::reaches(&view.root, &view.rules, &view.config, &files::slashed(above)));
        view.rules.may_contain(&name) && is_reached
    }
}

/// Whether a file is an earlier backup, or nothing yet: no file of another kind is replaced. The first member tells.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn is_earlier(file: &Path) -> bool {
    let Ok(opened) = File::open(file) else {
        return false;
    };
    if opened.metadata().is_ok_and(|found| found.len() == 0) {
        return true;
    }
    let Ok(unpacked) = zstd::Decoder::new(BufReader::new(opened)) else {
        return false;
    };
    let mut archive = tar::Archive::new(unpacked);
    let first = archive.entries().ok().and_then(|mut entries| entries.next());
    first.is_some_and(|first| {
        first.is_ok_and(|first| {
            let name = first.path();
            name.is_ok_and(|name| name.to_str().is_some_and(|name| why_not(name).is_none()))
        })
    })
}
