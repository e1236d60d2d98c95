//! Backup of workspaces into one archive, and restore from it.
//!
//! An archive is a sequence of files and databases with checksums, followed by the manifest. A backup uses read-only
//! connections and does not block the engine. Only the last step of a restore, two renames, runs in the engine.

mod commit;
mod gather;
mod manifest;
mod refusal;
mod restore;
mod source;
mod write;

pub use commit::{commit, finish_what_was_begun};
pub use restore::prepare;
pub use write::clear_left;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hippo_proto::{BackedUp, BackupRequest, BackupResponse, BackupVerifyRequest, LeftOut, Paths, RpcError};

use crate::clock::{Clock, rfc3339};
use crate::contexts::Contexts;
use crate::tasks::{Cancellation, OneAtATime};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};
use manifest::BackupManifest;
use source::BackupSource;
use write::BackupWriter;

/// Backups and restores of the daemon's workspaces.
pub struct Backups {
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Paths of the daemon's files.
    pub paths: Paths,
    /// Patterns of additional memory files, from the user's settings.
    pub include: Vec<String>,
    /// Databases of sessions, which a backup includes.
    pub contexts: Arc<Contexts>,
    /// Queue of backups and restores.
    pub queue: OneAtATime,
}

/// Handles `backup`, of one workspace or of all.
///
/// # Errors
/// Fails if the destination exists, the destination is not writable, or a file is unreadable. A failed backup leaves no
/// file.
pub fn backup(
    backups: &Backups,
    only: Option<Arc<WorkspaceView>>,
    request: &BackupRequest,
    cancellation: Cancellation<'_>,
) -> Result<BackupResponse, RpcError> {
    let to = write::resolve(backups, &absolute(&request.to)?)?;
    let (views, left_out) = match only {
        Some(view) => (vec![view], Vec::new()),
        None => usable(&backups.views)?,
    };
    let start = Instant::now();
    let mut writer = BackupWriter::begin(&backups.paths.state, to.clone())?;
    let mut manifest = BackupManifest::new(rfc3339(backups.clock.now()));
    for (number, view) in (1..).zip(&views) {
        let workspace = gather::gather(backups, view, number, &mut writer, cancellation)?;
        manifest.workspaces.push(workspace);
    }
    let (manifest, bytes) = writer.finish(manifest)?;
    Ok(BackupResponse {
        left_out,
        ..build_response(manifest, &to, bytes, start)
    })
}

/// Handles `backup.verify`.
///
/// # Errors
/// Fails if the archive is damaged, truncated, in another format, or in a newer version of the format. The error names
/// the archive member.
pub fn verify(
    request: &BackupVerifyRequest,
    cancellation: Cancellation<'_>,
) -> Result<BackupResponse, RpcError> {
    let start = Instant::now();
    let from = absolute(&request.from)?;
    let source = BackupSource::open(&from)?;
    let manifest = source.verify(cancellation)?;
    Ok(build_response(manifest, &from, source.bytes(), start))
}

fn build_response(manifest: BackupManifest, file: &Path, bytes: u64, start: Instant) -> BackupResponse {
    let told = |workspace: &manifest::BackupWorkspace| {
        let members = || {
            manifest
                .members
                .iter()
                .filter(|member| workspace.has(&member.path))
        };
        BackedUp {
            root: workspace.root.clone(),
            files: members()
                .filter(|member| workspace.file(&member.path).is_some())
                .count() as u64,
            bytes: members().map(|member| member.bytes).sum(),
            left_out: workspace.left_out.clone(),
        }
    };
    BackupResponse {
        file: file.display().to_string(),
        workspaces: manifest.workspaces.iter().map(told).collect(),
        left_out: Vec::new(),
        bytes,
        took_ms: start.elapsed().as_secs_f64() * 1e3,
        hippod: manifest.hippod,
        at: manifest.at,
    }
}

/// Returns all usable workspaces, and the skipped ones, whose files are missing or whose database is unusable.
fn usable(views: &Views) -> Result<(Vec<Arc<WorkspaceView>>, Vec<LeftOut>), RpcError> {
    let (mut usable, mut left_out) = (Vec::new(), Vec::new());
    for (root, slot) in views.all() {
        let reason = match slot {
            Slot::Open(view) if hippo_fs::is_present(&view.root) => {
                usable.push(view);
                continue;
            }
            Slot::Open(_) => "its folder does not exist".to_owned(),
            Slot::Broken(error) => error.message,
            Slot::Opening => "it is still being opened".to_owned(),
        };
        left_out.push(LeftOut {
            path: root.display().to_string(),
            reason,
        });
    }
    match usable.is_empty() {
        true => Err(RpcError::not_found("no folder of a registered workspace exists")
            .hint("mount the disk, or register a workspace: hippoctl workspace add")),
        false => Ok((usable, left_out)),
    }
}

/// Returns a path of a request. It must be absolute, because the daemon's working directory is arbitrary.
fn absolute(path: &str) -> Result<PathBuf, RpcError> {
    let path = PathBuf::from(path);
    match path.is_absolute() && path.file_name().is_some() {
        true => Ok(path),
        false => Err(RpcError::bad_request(format!(
            "the path of the backup must be an absolute path of a file or folder: {}",
            path.display()
        ))
        .hint("give an absolute path, starting with /")),
    }
}
