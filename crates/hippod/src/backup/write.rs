//! Writer of a backup archive, which appears at its destination atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::system::{PRIVATE_FILE, sync_folder};

use super::destination::check_free;
use super::manifest::{BackupManifest, BackupMember, MANIFEST};
use super::partial::Partial;
use super::refusal::io_refusal;
use super::source::{HashingReader, most};
use crate::tasks::Cancellation;

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

/// Metadata of a file of a workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// Last modification in nanoseconds since the Unix epoch.
    pub mtime_ns: Option<i64>,
    /// Permission bits.
    pub mode: Option<u32>,
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
            mtime_ns: traits.mtime_ns,
            mode: traits.mode,
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
