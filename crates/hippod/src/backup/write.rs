//! Writer of a backup archive, atomic at its destination.
//!
//! The temporary folder of a running backup is recorded in the state folder before it is created, so that it can be
//! removed even after a kill.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use hippo_map::layout::INDEX_FILE;
use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::{PRIVATE_FILE, PRIVATE_FOLDER, sync_folder};

use super::Backups;
use super::gather::OWN;
use super::manifest::{BackupManifest, BackupMember, MANIFEST, Traits};
use super::refusal::io_refusal;
use super::source::{HashingReader, most};
use crate::files;
use crate::registry::write_atomically;
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;

/// Compression level of zstd. Vectors hardly compress at any level, and text compresses well even at this one.
const LEVEL: i32 = 1;
/// Maximum overhead of a member in bytes: its header, a long name, and padding.
const HEADERS: u64 = 8 << 10;

/// Writer of a backup. The archive is written beside its destination and renamed once it is complete.
pub struct BackupWriter {
    to: PathBuf,
    partial: Partial,
    archive: tar::Builder<zstd::Encoder<'static, BufWriter<File>>>,
    members: Vec<BackupMember>,
}

impl BackupWriter {
    /// Starts a backup at `to`; `state` is the state folder.
    ///
    /// # Errors
    /// Returns `conflict` if the temporary path exists, otherwise the error of the operating system.
    pub fn begin(state: &Path, to: PathBuf) -> Result<Self, RpcError> {
        let partial = Partial::begin(state, &to)?;
        let refused = |error| refusal(&to, &error);
        let file = private(&partial.folder.join("out")).map_err(refused)?;
        let mut packed = zstd::Encoder::new(BufWriter::new(file), LEVEL).map_err(refused)?;
        packed.include_checksum(true).map_err(refused)?;
        Ok(Self {
            to,
            partial,
            archive: tar::Builder::new(packed),
            members: Vec::new(),
        })
    }

    /// Returns the path of a temporary file, which is removed when the writer is dropped.
    pub fn temporary_path(&self, name: &str) -> PathBuf {
        self.partial.folder.join(name)
    }

    /// Adds a member with these bytes.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn add(
        &mut self,
        path: &str,
        bytes: &[u8],
        traits: Traits,
        cancellation: Cancellation<'_>,
    ) -> Result<(), RpcError> {
        self.put(path, bytes, bytes.len() as u64, traits, cancellation)
    }

    /// Adds a temporary file that no other process changes, then removes the file.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn add_made(
        &mut self,
        path: &str,
        file: &Path,
        cancellation: Cancellation<'_>,
    ) -> Result<(), RpcError> {
        let refused = |error| io_refusal("read the copied files", file, &error);
        let made = File::open(file).map_err(refused)?;
        let bytes = made.metadata().map_err(refused)?.len();
        self.put(path, made, bytes, Traits::default(), cancellation)?;
        fs::remove_file(file).map_err(refused)
    }

    fn put(
        &mut self,
        path: &str,
        from: impl Read,
        bytes: u64,
        traits: Traits,
        cancellation: Cancellation<'_>,
    ) -> Result<(), RpcError> {
        cancellation.check()?;
        let mut from = HashingReader::new(from);
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(seconds(traits.mtime_ns));
        self.archive
            .append_data(&mut header, path, &mut from)
            .map_err(|error| refusal(&self.to, &error))?;
        self.members.push(BackupMember {
            path: path.to_owned(),
            bytes,
            blake3: from.hash(),
            traits,
        });
        Ok(())
    }

    /// Writes the manifest, makes the archive durable, and moves it into place. Returns the manifest and the
    /// size of the archive in bytes.
    ///
    /// # Errors
    /// Returns the error of the operating system; a failed call leaves no file.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn finish(mut self, mut manifest: BackupManifest) -> Result<(BackupManifest, u64), RpcError> {
        manifest.members = std::mem::take(&mut self.members);
        let mut json = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| RpcError::internal(format!("could not write the manifest: {error}")))?;
        json.push(b'\n');
        let refused = |error| refusal(&self.to, &error);
        let mut header = tar::Header::new_gnu();
        header.set_size(json.len() as u64);
        header.set_mode(0o600);
        self.archive
            .append_data(&mut header, MANIFEST, json.as_slice())
            .map_err(refused)?;
        let packed = self.archive.into_inner().map_err(refused)?;
        let buffered = packed.finish().map_err(refused)?;
        let file = buffered
            .into_inner()
            .map_err(|error| refused(error.into_error()))?;
        file.sync_all().map_err(refused)?;
        let bytes = file.metadata().map_err(refused)?.len();
        if unpacked(&manifest) + json.len() as u64 > most(bytes) {
            let what = format!(
                "could not write the backup: {}: its unpacked size is too large relative to its packed size, \
                 so a restore would reject the backup",
                self.to.display()
            );
            return Err(RpcError::new(ErrorKind::TooLarge, what).hint(
                "move highly repetitive files out of the workspace; to show the size of each file: du -a \
                 .hippocampus",
            ));
        }
        check_free(&self.to)?;
        fs::rename(self.partial.folder.join("out"), &self.to).map_err(refused)?;
        sync_folder(self.to.parent().unwrap_or(Path::new("/"))).map_err(refused)?;
        Ok((manifest, bytes))
    }
}

/// Returns the maximum unpacked size of an archive with these members, in bytes.
fn unpacked(manifest: &BackupManifest) -> u64 {
    manifest.members.iter().map(|member| member.bytes + HEADERS).sum()
}

fn refusal(to: &Path, error: &io::Error) -> RpcError {
    io_refusal("write the backup", to, error)
}

#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE_FILE)
        .open(path)
}

fn seconds(mtime_ns: Option<i64>) -> u64 {
    u64::try_from(mtime_ns.unwrap_or(0) / 1_000_000_000).unwrap_or(0)
}

/// Name of the file in the state folder that records the path of a running backup's temporary folder.
const NOTE: &str = "backing-up.json";

/// Temporary folder beside the destination, removed on drop.
struct Partial {
    folder: PathBuf,
    state: PathBuf,
}

impl Partial {
    /// Creates the temporary folder for a backup at `to`. First removes the temporary folder of a killed process.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    fn begin(state: &Path, to: &Path) -> Result<Self, RpcError> {
        clear_left(state);
        let mut name = OsString::from(".");
        name.push(to.file_name().unwrap_or_default());
        name.push(".partial");
        let folder = to.with_file_name(name);
        if folder.symlink_metadata().is_ok() {
            let what = format!(
                "could not prepare the backup: this path already exists: {}",
                folder.display()
            );
            return Err(
                RpcError::new(ErrorKind::Conflict, what).hint("move it elsewhere, or choose another name")
            );
        }
        let refused = |error| io_refusal("prepare the backup", &folder, &error);
        let json = serde_json::to_vec(&folder).map_err(|error| refused(error.into()))?;
        write_atomically(&state.join(NOTE), &json).map_err(refused)?;
        let made = DirBuilder::new().mode(PRIVATE_FOLDER).create(&folder);
        made.map_err(refused)?;
        Ok(Self {
            folder,
            state: state.to_path_buf(),
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        clear_left(&self.state);
    }
}

/// Removes the temporary folder of an earlier backup, as recorded in the state folder. Must not be called while another
/// backup runs.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn clear_left(state: &Path) {
    let note = state.join(NOTE);
    let Ok(json) = fs::read(&note) else { return };
    let folder: PathBuf = serde_json::from_slice(&json).unwrap_or_default();
    // If the disk of the folder is not mounted, the folder may still exist on that disk, so the record is kept.
    if !folder.parent().is_some_and(Path::is_dir) {
        return;
    }
    let removed = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_file(&note),
    };
    if let Err(error) = removed {
        tracing::warn!(%error, folder = %folder.display(), "could not remove the leftovers of a backup");
    }
}

/// Returns the destination as a path whose folder contains no links.
///
/// # Errors
/// Returns `conflict` if the path exists, and `bad-request` for a path where the backup would count as memory.
/// Otherwise returns the error of the operating system.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn resolve(backups: &Backups, to: &Path) -> Result<PathBuf, RpcError> {
    let folder = to.parent().unwrap_or(Path::new("/"));
    let folder = folder
        .canonicalize()
        .map_err(|error| io_refusal("write the backup", to, &error))?;
    let path = folder.join(to.file_name().unwrap_or_default());
    // A backup at such a path would count as memory, and every later backup would contain it.
    let (reason, hint) = if files::is_own(&backups.paths, &path) {
        let reason = "hippod keeps its own files there".to_owned();
        (reason, "choose another folder")
    } else if let Some(view) = backups.views.open().iter().find(|view| is_memory_of(&path, view)) {
        let reason = format!(
            "at this path, the backup would become a memory file of the workspace {}",
            view.root.display()
        );
        let hint = "choose a folder outside the workspace, or a folder of the workspace that hippod does not \
                    watch";
        (reason, hint)
    } else {
        return check_free(&path).map(|()| path);
    };
    Err(refuse_path(ErrorKind::BadRequest, &path, &reason).hint(hint))
}

/// Checks that nothing exists at a path.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn check_free(path: &Path) -> Result<(), RpcError> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) => {
            let what = if found.is_dir() { "folder" } else { "file" };
            let reason = format!("the path is an existing {what}");
            Err(refuse_path(ErrorKind::Conflict, path, &reason).hint("give the path of a new file"))
        }
    }
}

fn refuse_path(kind: ErrorKind, path: &Path, reason: &str) -> RpcError {
    RpcError::new(
        kind,
        format!("could not write the backup: {}: {reason}", path.display()),
    )
}

fn is_memory_of(path: &Path, view: &WorkspaceView) -> bool {
    let Ok(inside) = path.strip_prefix(&view.root) else {
        return false;
    };
    let own = [OWN, INDEX_FILE, hippo_fs::harness::FILE];
    own.iter().any(|own| inside.starts_with(own)) || view.rules.is_source(&files::slashed(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_a_killed_process_are_removed_and_foreign_files_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (state, disk) = (folder.path().join("state"), folder.path().join("disk"));
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(&disk).unwrap();
        let begin = |name: &str| Partial::begin(&state, &disk.join(name));
        let killed = begin("1.tar.zst").unwrap();
        fs::write(killed.folder.join("out"), "half").unwrap();
        let left = killed.folder.clone();
        std::mem::forget(killed);
        fs::rename(&disk, folder.path().join("unmounted")).unwrap();
        clear_left(&state);
        assert!(
            state.join(NOTE).exists(),
            "the record of an unmounted disk is kept"
        );
        fs::rename(folder.path().join("unmounted"), &disk).unwrap();
        drop(begin("2.tar.zst").unwrap());
        assert!(!left.exists() && !disk.join(".2.tar.zst.partial").exists());
        assert!(!state.join(NOTE).exists());
        let foreign = disk.join(".3.tar.zst.partial");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("diary.md"), "mine").unwrap();
        let refusal = begin("3.tar.zst").err().unwrap();
        assert_eq!(refusal.data.kind, ErrorKind::Conflict);
        clear_left(&state);
        assert!(foreign.join("diary.md").exists());
    }
}
