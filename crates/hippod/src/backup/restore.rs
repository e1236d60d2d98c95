//! Restore of a verified backup by staging and renaming.

use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hippo_fs::WorkspaceDir;
use hippo_proto::{RestoreRequest, RpcError};
use hippo_store::StoreError;
use hippo_store::copies::{self, Database};
use hippo_store::system::{self, PRIVATE_FILE, PRIVATE_FOLDER, sync_folder};
use hippo_text::source::SourceRules;

use super::Backups;
use super::absolute;
use super::commit;
use super::gather::NOT_KEPT;
use super::manifest::{BackupManifest, BackupMember, BackupWorkspace, MemberPath, is_written};
use super::refusal::{copy_refusal, damaged, io_refusal, unusable};
use super::source::BackupSource;
use crate::staged::StagedWorkspace;
use crate::tasks::Cancellation;

/// Maximum number of files listed in an error.
const SHOWN: usize = 5;

/// Staged workspaces. On drop, those that were not moved into place are discarded.
pub struct StagedRestore {
    /// The workspaces.
    pub staged: Vec<StagedWorkspace>,
    state: PathBuf,
}

impl Drop for StagedRestore {
    fn drop(&mut self) {
        if let Err(error) = commit::discard_unsealed(&self.state) {
            tracing::warn!(%error, "could not remove the leftovers of a restore");
        }
    }
}

/// Stages the requested workspaces without moving them into place.
///
/// # Errors
/// Fails if the backup is unusable or if a destination is not free; in both cases, nothing is changed.
pub fn prepare(
    backups: &Backups,
    request: &RestoreRequest,
    cancellation: Cancellation<'_>,
) -> Result<StagedRestore, RpcError> {
    let state = &backups.paths.state;
    let source = BackupSource::open(&absolute(&request.from)?)?;
    let manifest = source.verify(cancellation)?;
    let wanted = wanted(&source, &manifest, request)?;
    if !request.other_files {
        only_memory(backups, &source, &manifest, &wanted)?;
    }
    commit::clear(state)?;
    let mut staged = Vec::new();
    for workspace in wanted {
        let folder = match &request.into {
            Some(into) => absolute(into)?,
            None => absolute(&workspace.root)?,
        };
        let root = commit::root(&folder, &backups.paths)?;
        commit::vacant(state, &root)?;
        let ready = StagedWorkspace {
            root,
            was: workspace.root.clone(),
            files: 0,
            is_sealed: false,
        };
        commit::free_beside(&ready)?;
        staged.push((workspace, ready));
    }
    check_not_nested(&staged)?;
    // Record the plan first, so that the next start can discard the folders if this process is killed.
    let plan: Vec<StagedWorkspace> = staged.iter().map(|(_, staged)| staged.clone()).collect();
    commit::note(state, &plan)?;
    let mut ready = StagedRestore {
        staged: Vec::new(),
        state: state.clone(),
    };
    stage(state, &source, &manifest, &mut staged, cancellation)?;
    ready.staged = staged.into_iter().map(|(_, staged)| staged).collect();
    Ok(ready)
}

/// Rejects files that do not count as memory in this user's settings. Other programs execute or obey some such files,
/// for example a `Makefile` or a `CLAUDE.md`.
fn only_memory(
    backups: &Backups,
    source: &BackupSource,
    manifest: &BackupManifest,
    wanted: &[&BackupWorkspace],
) -> Result<(), RpcError> {
    let rules = SourceRules::new(&backups.include, &[]);
    let rules =
        rules.map_err(|error| RpcError::bad_request(error.to_string()).hint("correct sources.include"))?;
    let files = manifest.members.iter().filter_map(|member| {
        let file = wanted.iter().find_map(|workspace| workspace.file(&member.path))?;
        (!is_written(&rules, file)).then_some(file)
    });
    let strange: Vec<&str> = files.take(SHOWN).collect();
    if strange.is_empty() {
        return Ok(());
    }
    let what = format!(
        "the backup contains files that are not memory according to your settings: {}: {}",
        source.path().display(),
        strange.join(", ")
    );
    Err(RpcError::bad_request(what).hint(
        "add the files to sources.include in config.toml; or, if the workspace's own settings included them: \
         hippoctl restore --other-files",
    ))
}

/// Rejects nested workspaces, because the outer one is moved into place as a whole.
fn check_not_nested(staged: &[(&BackupWorkspace, StagedWorkspace)]) -> Result<(), RpcError> {
    let roots = || staged.iter().map(|(_, staged)| &staged.root);
    for root in roots() {
        if let Some(other) = roots().find(|other| *other != root && other.starts_with(root)) {
            let what = format!("{} is inside {}", other.display(), root.display());
            return Err(RpcError::bad_request(what).hint(
                "restore each workspace into a separate folder with `--workspace ROOT --into DIR`, then move \
                 the files",
            ));
        }
    }
    Ok(())
}

/// Returns the requested workspaces of a backup.
fn wanted<'m>(
    source: &BackupSource,
    manifest: &'m BackupManifest,
    request: &RestoreRequest,
) -> Result<Vec<&'m BackupWorkspace>, RpcError> {
    let is_wanted = |workspace: &&BackupWorkspace| {
        request
            .workspace
            .as_ref()
            .is_none_or(|root| *root == workspace.root)
    };
    let wanted: Vec<&BackupWorkspace> = manifest.workspaces.iter().filter(is_wanted).collect();
    let roots = || {
        let roots: Vec<&str> = manifest
            .workspaces
            .iter()
            .map(|workspace| workspace.root.as_str())
            .collect();
        roots.join(", ")
    };
    match wanted.len() {
        0 => Err(RpcError::not_found(format!(
            "could not find this workspace in the backup: {}",
            source.path().display()
        ))
        .hint(format!("the backup contains {}", roots()))),
        2.. if request.into.is_some() => Err(RpcError::bad_request(
            "several workspaces cannot be restored into one folder",
        )
        .hint(format!("choose one workspace with --workspace: {}", roots()))),
        _ => Ok(wanted),
    }
}

/// Writes all members into the staged folders.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn stage(
    state: &Path,
    source: &BackupSource,
    manifest: &BackupManifest,
    staged: &mut [(&BackupWorkspace, StagedWorkspace)],
    cancellation: Cancellation<'_>,
) -> Result<(), RpcError> {
    for (_, staged) in staged.iter() {
        let home = staged.staged_state(state);
        // The state folder belongs to hippod alone, so a leftover in it can be removed.
        commit::remove(&home)?;
        for (folder, mode) in [(staged.staged_files(), 0o777), (home, PRIVATE_FOLDER)] {
            let refused = |error| io_refusal("create a folder", &folder, &error);
            if let Some(above) = folder.parent() {
                fs::create_dir_all(above).map_err(refused)?;
            }
            DirBuilder::new().mode(mode).create(&folder).map_err(refused)?;
        }
    }
    let members: HashMap<&str, &BackupMember> = manifest
        .members
        .iter()
        .map(|member| (member.path.as_str(), member))
        .collect();
    let changed = || unusable(source.path(), "the file was changed during the restore");
    let again = source.read(cancellation, &mut |name, bytes| {
        let member = members.get(name).ok_or_else(changed)?;
        for (workspace, staged) in staged.iter_mut() {
            let (root, path) = match workspace.member_path(name) {
                Some(MemberPath::File(path)) if NOT_KEPT.contains(&path) => continue,
                Some(MemberPath::File(path)) => {
                    staged.files += 1;
                    (staged.staged_files(), path)
                }
                Some(MemberPath::State(path)) => (staged.staged_state(state), path),
                None => continue,
            };
            return put(member, bytes, &root, Path::new(path));
        }
        io::copy(bytes, &mut io::sink())
            .map(drop)
            .map_err(|error| io_refusal("read the backup", source.path(), &error))
    })?;
    if again != *manifest {
        return Err(changed());
    }
    for (workspace, staged) in staged.iter() {
        databases(
            source.path(),
            workspace,
            &staged.root,
            &staged.staged_state(state),
        )?;
        sync(&staged.staged_files())?;
    }
    Ok(())
}

/// Writes one file durably, with its modification time and permissions.
fn put(member: &BackupMember, bytes: &mut dyn Read, root: &Path, path: &Path) -> Result<(), RpcError> {
    let mut written = || -> io::Result<()> {
        let dir = WorkspaceDir::open(root)?;
        let (folder, name) = dir.make_parent(path)?;
        let mut file = folder.create_new(name)?;
        system::set_file_mode(&file, PRIVATE_FILE)?;
        io::copy(bytes, &mut file)?;
        if let Some(at) = member.traits.mtime_ns.and_then(|ns| u64::try_from(ns).ok()) {
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(at))?;
        }
        if let Some(mode) = member.traits.mode {
            // Memory files are never executable.
            system::set_file_mode(&file, mode & 0o666)?;
        }
        file.sync_all()
    };
    written().map_err(|error| io_refusal("write the files of the backup", &root.join(path), &error))
}

/// Checks the databases in `state` and sets their root.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn databases(backup: &Path, workspace: &BackupWorkspace, root: &Path, state: &Path) -> Result<(), RpcError> {
    for (database, name) in [(Database::Index, "index.db"), (Database::Contexts, "contexts.db")] {
        let file = state.join(name);
        if !file.is_file() {
            if database == Database::Contexts {
                continue;
            }
            let missing = format!("{}/{name}", workspace.folder);
            return Err(damaged(backup, &missing, "it is missing"));
        }
        copies::take_over(database, &file, &root.to_string_lossy())
            .map_err(|error| refusal(backup, workspace, state, &error))?;
    }
    sync(state)
}

fn sync(folder: &Path) -> Result<(), RpcError> {
    sync_folder(folder).map_err(|error| io_refusal("sync the folder", folder, &error))
}

/// Converts an error of a database from a backup. The message names the member, because the staged file no
/// longer exists.
fn refusal(backup: &Path, workspace: &BackupWorkspace, state: &Path, error: &StoreError) -> RpcError {
    match error {
        StoreError::Corrupt { .. }
        | StoreError::OtherSchema { .. }
        | StoreError::Row { .. }
        | StoreError::Sql { .. } => {
            let here = format!("{}/", state.display());
            let there = format!("{}/", workspace.folder);
            unusable(backup, &error.to_string().replace(&here, &there))
        }
        other => copy_refusal(other),
    }
}
