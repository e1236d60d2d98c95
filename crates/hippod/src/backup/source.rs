//! Reading of a backup with verification of each member.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, RpcError};
use hippo_store::copies::Database;

use super::BackupJob;
use super::manifest::{BackupManifest, BackupMember, LARGEST, MANIFEST, VERSION};
use super::members;
use super::refusal::{damaged, io_refusal, unusable};
use super::write::Blake3Reader;

/// Backup file.
pub struct BackupSource(PathBuf);

/// Callback for the content of a member.
pub type MemberCallback<'a> = dyn FnMut(&BackupMember, &mut dyn Read) -> Result<(), RpcError> + 'a;

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
    /// Fails if the backup is damaged, truncated, in another format, or in a newer version of the format. The error
    /// names the archive member.
    pub fn verify(&self, job: &mut BackupJob<'_>) -> Result<BackupManifest, RpcError> {
        job.begin(self.path().display().to_string());
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
            job.advance(size)?;
            let mut hashed = Blake3Reader {
                from: bytes,
                hasher: blake3::Hasher::new(),
            };
            // The archive reader reports read errors itself.
            let _ = std::io::copy(&mut hashed, &mut std::io::sink());
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

    /// Reads all members again, and verifies each member while `take` reads it.
    ///
    /// # Errors
    /// Fails if the file changed since it was verified, or if `take` fails.
    pub fn take(
        &self,
        manifest: &BackupManifest,
        job: &mut BackupJob<'_>,
        take: &mut MemberCallback<'_>,
    ) -> Result<(), RpcError> {
        job.begin(self.path().display().to_string());
        let known: HashMap<&str, &BackupMember> = manifest
            .members
            .iter()
            .map(|member| (member.path.as_str(), member))
            .collect();
        let mut checked = |name: &str, bytes: &mut dyn Read| {
            let member = known
                .get(name)
                .ok_or_else(|| damaged(self.path(), name, "it is not in the manifest"))?;
            job.advance(member.bytes)?;
            // Allow one byte more than expected, to detect surplus bytes.
            let mut hashed = Blake3Reader {
                from: bytes.take(member.bytes.saturating_add(1)),
                hasher: blake3::Hasher::new(),
            };
            take(member, &mut hashed)?;
            match hashed.hasher.finalize().to_hex().as_str() == member.blake3 {
                true => Ok(()),
                false => Err(damaged(
                    self.path(),
                    name,
                    "its checksum differs from the manifest",
                )),
            }
        };
        members::each(self.path(), &mut |name, _, bytes| match name == MANIFEST {
            true => std::io::copy(bytes, &mut std::io::sink())
                .map(drop)
                .map_err(|error| io_refusal("read the backup", self.path(), &error)),
            false => checked(name, bytes),
        })
    }

    /// Compares the members with the manifest.
    fn compare(&self, manifest: &BackupManifest, found: &[(String, u64, String)]) -> Result<(), RpcError> {
        let file = self.path();
        if manifest.version > VERSION {
            return Err(newer(
                file,
                &format!(
                    "its format is {}; this version supports formats up to {VERSION}",
                    manifest.version
                ),
            ));
        }
        let schemas = manifest.workspaces.iter().flat_map(|workspace| {
            [
                (Database::Index, Some(workspace.index_schema)),
                (Database::Contexts, workspace.contexts_schema),
            ]
        });
        for (database, schema) in schemas {
            if schema.is_some_and(|schema| schema > database.schema()) {
                let known = database.schema();
                return Err(newer(
                    file,
                    &format!(
                        "a database has schema {}; this version supports schemas up to {known}",
                        schema.unwrap_or(0)
                    ),
                ));
            }
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

fn newer(file: &Path, reason: &str) -> RpcError {
    RpcError::new(
        ErrorKind::Conflict,
        format!("could not use the backup: {}: {reason}", file.display()),
    )
    .hint("a newer version of hippod wrote the backup: install that version; nothing was changed")
}

fn read_manifest(file: &Path, bytes: &mut dyn Read) -> Result<BackupManifest, RpcError> {
    let mut json = Vec::new();
    bytes
        .take(LARGEST as u64 + 1)
        .read_to_end(&mut json)
        .map_err(|error| damaged(file, MANIFEST, &error.to_string()))?;
    BackupManifest::parse(&json).map_err(|reason| damaged(file, MANIFEST, &reason))
}
