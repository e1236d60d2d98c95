//! Reading of a backup with verification of each member.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use hippo_proto::RpcError;

use super::manifest::{BackupManifest, BackupMember, LARGEST, MANIFEST, VERSION};
use super::members;
use super::refusal::{damaged, io_refusal, unusable};
use super::write::Blake3Reader;
use crate::tasks::Cancellation;

/// Backup file.
pub struct BackupSource(PathBuf);

/// Callback for the name and the content of a member.
pub type MemberCallback<'a> = dyn FnMut(&str, &mut dyn Read) -> Result<(), RpcError> + 'a;

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
            // The archive reader reports read errors itself.
            let _ = std::io::copy(bytes, &mut std::io::sink());
            Ok(())
        })
    }

    /// Reads the whole backup, passes each member to `take`, and compares the member with its checksum.
    ///
    /// # Errors
    /// Fails if the backup is damaged, truncated, in another format, or in a newer version of the format, or if `take`
    /// fails. The error names the archive member.
    pub fn read(
        &self,
        cancellation: Cancellation<'_>,
        take: &mut MemberCallback<'_>,
    ) -> Result<BackupManifest, RpcError> {
        let file = self.path();
        let (mut found, mut manifest) = (Vec::new(), None);
        let read = members::each(file, &mut |name, size, bytes| {
            if manifest.is_some() {
                return Err(damaged(
                    file,
                    name,
                    "it comes after the manifest, which must be the last member",
                ));
            }
            if name == MANIFEST {
                manifest = Some(read_manifest(file, bytes)?);
                return Ok(());
            }
            cancellation.check()?;
            let mut hashed = Blake3Reader {
                from: bytes,
                hasher: blake3::Hasher::new(),
            };
            take(name, &mut hashed)?;
            found.push((
                name.to_owned(),
                size,
                hashed.hasher.finalize().to_hex().to_string(),
            ));
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
