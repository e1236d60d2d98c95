//! Reader of backups that verifies members and rejects malicious archives.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use hippo_proto::RpcError;

use super::manifest::{BackupManifest, BackupMember, LARGEST, LONGEST_NAME, MANIFEST, VERSION, why_not};
use super::refusal::{damaged, io_refusal, unusable};
use crate::tasks::Cancellation;

/// Unpacked size in bytes that is always allowed, even for a tiny archive.
const ALWAYS: u64 = 256 << 20;
/// Additional unpacked size that is allowed, as a multiple of the archive's size. No text compresses that well.
const TIMES: u64 = 200;

/// Returns the maximum unpacked size of an archive of `size` bytes.
pub const fn most(size: u64) -> u64 {
    ALWAYS.saturating_add(size.saturating_mul(TIMES))
}

/// Callback for the name and the content of a member.
pub type MemberCallback<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<(), RpcError> + 'a;
/// Callback for each member, with its name and content.
type Visit<'a> = dyn FnMut(&str, &mut HashingReader<&mut dyn Read>) -> Result<(), RpcError> + 'a;

/// Backup file.
pub struct BackupSource(PathBuf);

impl BackupSource {
    /// Opens a backup.
    ///
    /// # Errors
    /// Fails if the file does not exist or is not a regular file.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn open(path: &Path) -> Result<Self, RpcError> {
        let real = path
            .canonicalize()
            .map_err(|error| io_refusal("read the backup", path, &error))?;
        // Reading from a pipe might never end.
        match real.is_file() {
            true => Ok(Self(real)),
            false => Err(unusable(path, "it is not a regular file")),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the size of the file in bytes.
    #[expect(clippy::disallowed_methods, reason = "the user chose this path")]
    pub fn bytes(&self) -> u64 {
        self.path().metadata().map_or(0, |metadata| metadata.len())
    }

    /// Reads the whole backup and compares each member with its checksum.
    ///
    /// # Errors
    /// See [`read`](Self::read).
    pub fn verify(&self, cancellation: Cancellation<'_>) -> Result<BackupManifest, RpcError> {
        self.read(cancellation, &mut |_, bytes| {
            // An error is ignored here, because `read` also detects and reports it.
            let _ = io::copy(bytes, &mut io::sink());
            Ok(())
        })
    }

    /// Reads the whole backup, passes each member to `take`, and compares the member with its checksum.
    ///
    /// # Errors
    /// Fails if the backup is damaged, truncated, or in another format, or if `take` fails. The error names the archive
    /// member.
    pub fn read(
        &self,
        cancellation: Cancellation<'_>,
        take: &mut MemberCallback<'_>,
    ) -> Result<BackupManifest, RpcError> {
        let file = self.path();
        let (mut found, mut manifest) = (Vec::new(), None);
        let read = each(file, &mut |name, entry| {
            if manifest.is_some() {
                return Err(damaged(
                    file,
                    name,
                    "it comes after the manifest, which must be the last member",
                ));
            }
            if name == MANIFEST {
                manifest = Some(read_manifest(file, entry)?);
                return Ok(());
            }
            cancellation.check()?;
            take(name, entry)?;
            found.push((name.to_owned(), entry.read, entry.hash()));
            Ok(())
        });
        // Compare the members first: an error in the overall checksum would not name a member.
        if let Some(manifest) = &manifest {
            self.compare(manifest, &found)?;
        }
        read?;
        manifest.ok_or_else(|| unusable(file, "it has no manifest: it is truncated, or not a backup"))
    }

    /// Compares the members with the manifest.
    fn compare(&self, manifest: &BackupManifest, found: &[(String, u64, String)]) -> Result<(), RpcError> {
        let file = self.path();
        if manifest.version != VERSION {
            let reason = format!(
                "its format is {}; this version of hippod supports format {VERSION}",
                manifest.version
            );
            return Err(unusable(file, &reason));
        }
        manifest
            .check()
            .map_err(|(member, reason)| damaged(file, member, reason))?;
        let members = manifest.members.iter();
        let mut listed: HashMap<&str, &BackupMember> =
            members.map(|member| (member.path.as_str(), member)).collect();
        for (name, bytes, hash) in found {
            let Some(member) = listed.remove(name.as_str()) else {
                return Err(damaged(
                    file,
                    name,
                    "it is not in the manifest, or the backup contains it twice",
                ));
            };
            if member.bytes != *bytes || member.blake3 != *hash {
                return Err(damaged(file, name, "its checksum differs from the manifest"));
            }
        }
        match listed.keys().min() {
            Some(missing) => Err(damaged(file, missing, "it is missing")),
            None => Ok(()),
        }
    }
}

fn read_manifest(file: &Path, bytes: &mut dyn Read) -> Result<BackupManifest, RpcError> {
    let mut json = Vec::new();
    bytes
        .take(LARGEST as u64 + 1)
        .read_to_end(&mut json)
        .map_err(|error| damaged(file, MANIFEST, &error.to_string()))?;
    BackupManifest::parse(&json).map_err(|reason| damaged(file, MANIFEST, &reason))
}

/// Reads an archive completely.
///
/// # Errors
/// Fails for a member that is not a regular file, has an invalid name, or is unreadable. The error names the
/// member.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn each(file: &Path, visit: &mut Visit<'_>) -> Result<(), RpcError> {
    let opened = File::open(file).map_err(|error| io_refusal("read the backup", file, &error))?;
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    let packed =
        zstd::Decoder::new(BufReader::new(opened)).map_err(|error| unusable(file, &error.to_string()))?;
    let mut archive = tar::Archive::new(LimitedReader {
        from: packed,
        left: most(size),
    });
    // Last member that was read, for the message of a read error.
    let mut last = None;
    // Use raw entries: the library would read a name of any length into memory.
    let entries = archive.entries().map_err(|error| broken(file, None, &error))?;
    let mut long_name = None;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|error| broken(file, last.as_deref(), &error))?;
        let kind = entry.header().entry_type();
        if kind == tar::EntryType::GNULongName && long_name.is_none() {
            long_name = Some(name_of(file, &mut entry)?);
            continue;
        }
        let name = match long_name.take() {
            Some(name) => name,
            None => utf8(file, &entry.path_bytes())?,
        };
        if kind != tar::EntryType::Regular {
            return Err(damaged(file, &name, "it is not a regular file"));
        }
        if let Some(reason) = why_not(&name) {
            return Err(damaged(file, &name, reason));
        }
        let size = entry.size();
        let mut read = HashingReader::new(&mut entry as &mut dyn Read);
        let visited = visit(&name, &mut read);
        // A read error also makes the callback fail, so the read error takes precedence.
        if let Some(error) = read.failed {
            return Err(damaged(file, &name, &error.to_string()));
        }
        visited?;
        if read.read != size {
            return Err(damaged(file, &name, "it is truncated"));
        }
        last = Some(name);
    }
    // The data after the last member contains the checksum of the archive, so it is read too.
    io::copy(&mut archive.into_inner(), &mut io::sink())
        .map_err(|error| broken(file, last.as_deref(), &error))?;
    Ok(())
}

/// Converts a read error. `last` is the last member that was read, or `None` before the first member.
fn broken(file: &Path, last: Option<&str>, error: &io::Error) -> RpcError {
    match last {
        Some(name) => damaged(
            file,
            name,
            &format!("the archive ends after this member: {error}"),
        ),
        None => unusable(
            file,
            &format!("the archive ends before its first member: {error}"),
        ),
    }
}

fn name_of(file: &Path, entry: &mut impl Read) -> Result<String, RpcError> {
    let mut name = Vec::new();
    let read = entry.take(LONGEST_NAME as u64 + 2).read_to_end(&mut name);
    read.map_err(|error| unusable(file, &error.to_string()))?;
    while name.last() == Some(&0) {
        name.pop();
    }
    utf8(file, &name)
}

fn utf8(file: &Path, name: &[u8]) -> Result<String, RpcError> {
    String::from_utf8(name.to_vec()).map_err(|_| unusable(file, "the name of a member is not UTF-8"))
}

/// Reader with a limit on the total number of bytes.
struct LimitedReader<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "its unpacked size is too large relative to its packed size",
            )
        })?;
        Ok(read)
    }
}

/// Reader that counts and hashes bytes, and stores the first error.
pub struct HashingReader<R> {
    from: R,
    hasher: blake3::Hasher,
    read: u64,
    failed: Option<io::Error>,
}

impl<R> HashingReader<R> {
    /// Creates a reader.
    pub fn new(from: R) -> Self {
        Self {
            from,
            hasher: blake3::Hasher::new(),
            read: 0,
            failed: None,
        }
    }

    /// Returns the hash of the data read so far.
    pub fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.from.read(into) {
            Ok(read) => {
                self.read += read as u64;
                self.hasher.update(&into[..read]);
                Ok(read)
            }
            Err(error) => {
                let told = io::Error::new(error.kind(), error.to_string());
                self.failed = Some(error);
                Err(told)
            }
        }
    }
}
