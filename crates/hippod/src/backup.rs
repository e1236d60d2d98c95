//! Backup of workspaces into one archive, and restore from it.
//!
//! An archive is a sequence of files and databases with checksums, followed by the manifest. A backup runs
//! beside the engine on read-only connections. Only the last step of a restore, two renames, runs in the
//! engine.

mod commit;
mod destination;
mod gather;
mod manifest;
mod partial;
mod refusal;
mod restore;
mod source;
mod target;
mod write;

pub use commit::{commit, finish_what_was_begun};
pub use partial::clear_left;
pub use restore::prepare;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hippo_proto::{
    BackedUp, BackupRequest, BackupResponse, BackupVerifyRequest, ErrorKind, LeftOut, Paths, RpcError,
};

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
    /// Patterns of the files that count as memory because of the user's settings.
    pub include: Vec<String>,
    /// Databases of sessions, which are part of a backup.
    pub contexts: Arc<Contexts>,
    /// Queue of backups and restores.
    pub queue: OneAtATime,
}

/// Handles `backup`.
///
/// # Errors
/// Fails if the destination exists, the destination is not writable, or a file is unreadable. A failed backup leaves no
/// file.
pub fn backup(
    backups: &Backups,
    request: &BackupRequest,
    cancellation: Cancellation<'_>,
) -> Result<BackupResponse, RpcError> {
    let to = destination::resolve(backups, &absolute(&request.to)?)?;
    let wanted = wanted(backups, request.workspace.as_deref())?;
    let start = Instant::now();
    let mut writer = BackupWriter::begin(&backups.paths.state, to.clone())?;
    let mut manifest = BackupManifest::new(rfc3339(backups.clock.now()));
    for (number, view) in (1..).zip(&wanted.views) {
        let workspace = gather::gather(backups, view, number, &mut writer, cancellation)?;
        manifest.workspaces.push(workspace);
    }
    let (manifest, bytes) = writer.finish(manifest)?;
    Ok(BackupResponse {
        left_out: wanted.left_out,
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

/// The workspaces to back up.
struct BackupSelection {
    views: Vec<Arc<WorkspaceView>>,
    /// Workspaces that are skipped because their files are missing or their database is unusable.
    left_out: Vec<LeftOut>,
}

/// Returns the requested workspace, or all usable workspaces.
fn wanted(backups: &Backups, workspace: Option<&str>) -> Result<BackupSelection, RpcError> {
    let root = workspace
        .map(|folder| {
            backups.views.root_of(Path::new(folder)).ok_or_else(|| {
                RpcError::new(
                    ErrorKind::NoWorkspace,
                    format!("could not find a workspace at or above: {folder}"),
                )
                .hint("to list the registered workspaces: hippoctl workspace list")
            })
        })
        .transpose()?;
    let (mut views, mut left_out) = (Vec::new(), Vec::new());
    for (found, slot) in backups.views.all() {
        if root.as_ref().is_some_and(|root| *root != found) {
            continue;
        }
        let mut leave_out = |reason: String| {
            left_out.push(LeftOut {
                path: found.display().to_string(),
                reason,
            });
        };
        match slot {
            Slot::Open(view) if root.is_none() && !hippo_fs::is_present(&view.root) => {
                leave_out("its folder does not exist".to_owned());
            }
            Slot::Open(view) => views.push(view),
            Slot::Broken(error) if root.is_none() => leave_out(error.message),
            Slot::Broken(error) => return Err(error),
            Slot::Opening => {
                let what = format!("the workspace is still being opened: {}", found.display());
                return Err(RpcError::new(ErrorKind::Warming, what).hint("try again in a moment"));
            }
        }
    }
    if views.is_empty() && !left_out.is_empty() {
        return Err(RpcError::not_found("no folder of a registered workspace exists")
            .hint("mount the disk, or list the workspaces: hippoctl workspace list"));
    }
    if views.is_empty() {
        return Err(
            RpcError::new(ErrorKind::NoWorkspace, "no workspace is registered")
                .hint("register one: hippoctl workspace add"),
        );
    }
    Ok(BackupSelection { views, left_out })
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
