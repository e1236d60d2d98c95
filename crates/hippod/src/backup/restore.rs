//! Restore: a backup is verified, made ready beside its place, and put there in one step.

use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hippo_core::source::SourceRules;
use hippo_fs::WorkspaceDir;
use hippo_proto::{BackupFormat, RestoreRequest, Restored, RpcError};
use hippo_store::StoreError;
use hippo_store::copies::{self, Database};
use hippo_store::system::{self, PRIVATE_FILE, PRIVATE_FOLDER, WithMode as _, sync_folder};

use super::commit::{self, Staged};
use super::gather::{NOT_KEPT, OWN};
use super::left::BEFORE;
use super::manifest::{Manifest, Member, Place, Workspace, is_written};
use super::refusal::{damaged, io_refusal, unusable};
use super::source::Source;
use super::{Job, absolute, target};
use crate::engine::store_error;
use crate::registry::state_folder;
use crate::shared::Shared;

/// Files that a refusal names.
const SHOWN: usize = 5;

/// What is ready. What of it was not put into its place when this goes is thrown away, whoever gave up where.
pub struct Ready {
    /// The workspaces.
    pub staged: Vec<Staged>,
    state: PathBuf,
}

impl Drop for Ready {
    fn drop(&mut self) {
        if let Err(error) = commit::discard_unsealed(&self.state) {
            tracing::warn!(%error, "could not remove what is left of a restore");
        }
    }
}

/// Makes everything ready that a request wants. Nothing stands in its place yet.
///
/// # Errors
/// The backup cannot be used, or a place is taken: nothing was touched.
pub fn prepare(shared: &Shared, request: &RestoreRequest, job: &mut Job<'_>) -> Result<Ready, RpcError> {
    let state = &shared.paths.state;
    let source = Source::open(&absolute(&request.from)?)?;
    let manifest = source.verify(job)?;
    let wanted = wanted(&source, &manifest, request)?;
    if !request.other_files {
        only_memory(shared, &source, &manifest, &wanted)?;
    }
    commit::clear(state)?;
    let stamp = stamp(shared);
    let mut staged = Vec::new();
    for workspace in wanted {
        let folder = match &request.into {
            Some(into) => absolute(into)?,
            None => absolute(&workspace.root)?,
        };
        let root = target::root(&folder, &shared.paths)?;
        target::vacant(&root, request.aside)?;
        if request.into.is_none() {
            target::known(shared, &root)?;
        }
        let ready = Staged::at(state, root, &workspace.root, &stamp, request.aside);
        target::free_beside(&ready)?;
        staged.push((workspace, ready));
    }
    apart(shared, &staged)?;
    // Whoever starts after this one was killed finds what to throw away.
    let plan: Vec<Staged> = staged.iter().map(|(_, staged)| staged.clone()).collect();
    commit::note(state, &plan)?;
    let mut ready = Ready {
        staged: Vec::new(),
        state: state.clone(),
    };
    stage(&source, &manifest, &mut staged, job)?;
    ready.staged = staged.into_iter().map(|(_, staged)| staged).collect();
    Ok(ready)
}

/// Refuses files that no backup has by the settings of this user: programs heed a `Makefile`, and harnesses a `CLAUDE.md`.
fn only_memory(
    shared: &Shared,
    source: &Source,
    manifest: &Manifest,
    wanted: &[&Workspace],
) -> Result<(), RpcError> {
    let rules = SourceRules::new(&shared.config.sources.include, &[]);
    let rules =
        rules.map_err(|error| RpcError::bad_request(error.to_string()).hint("mend sources.include"))?;
    let files = manifest.members.iter().filter_map(|member| {
        let file = wanted.iter().find_map(|workspace| workspace.file(&member.path))?;
        (!is_written(&rules, file)).then_some(file)
    });
    let strange: Vec<&str> = files.take(SHOWN).collect();
    if strange.is_empty() {
        return Ok(());
    }
    let what = format!(
        "the backup has files that are no memory by your settings: {}: {}",
        source.path().display(),
        strange.join(", ")
    );
    Err(RpcError::bad_request(what).hint(
        "where the workspace had them by settings of its own: hippoctl restore --other-files, or put them into sources.include of config.toml",
    ))
}

/// Refuses workspaces within each other: what is moved into its place as a whole would take the other one along.
fn apart(shared: &Shared, staged: &[(&Workspace, Staged)]) -> Result<(), RpcError> {
    let registered: Vec<PathBuf> = shared.views.all().into_iter().map(|(root, _)| root).collect();
    let wanted = || staged.iter().map(|(_, staged)| &staged.root);
    for root in wanted() {
        let within = |other: &&PathBuf| *other != root && other.starts_with(root);
        if let Some(other) = wanted().chain(&registered).find(within) {
            let what = format!("{} lies within {}", other.display(), root.display());
            return Err(RpcError::bad_request(what).hint(
                "restore each of them on its own, into a folder apart: --workspace ROOT --into DIR, then move the files",
            ));
        }
    }
    Ok(())
}

/// What the client hears of a workspace that is in its place.
pub fn restored(staged: &Staged, aside: Vec<String>) -> Restored {
    Restored {
        root: staged.root.display().to_string(),
        was: staged.was.clone(),
        files: staged.files_in_it,
        aside,
    }
}

/// The workspaces of a backup that are wanted.
fn wanted<'m>(
    source: &Source,
    manifest: &'m Manifest,
    request: &RestoreRequest,
) -> Result<Vec<&'m Workspace>, RpcError> {
    let is_wanted = |workspace: &&Workspace| {
        request
            .workspace
            .as_ref()
            .is_none_or(|root| *root == workspace.root)
    };
    let wanted: Vec<&Workspace> = manifest.workspaces.iter().filter(is_wanted).collect();
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
        .hint(format!("it has {}", roots()))),
        2.. if request.into.is_some() => Err(RpcError::bad_request(
            "several workspaces cannot go into one folder",
        )
        .hint(format!("name one with --workspace: {}", roots()))),
        _ => Ok(wanted),
    }
}

/// Writes everything beside its place.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn stage(
    source: &Source,
    manifest: &Manifest,
    staged: &mut [(&Workspace, Staged)],
    job: &mut Job<'_>,
) -> Result<(), RpcError> {
    for (_, staged) in staged.iter() {
        // In hippod's own folder nobody else makes one.
        if staged.state.exists() {
            fs::remove_dir_all(&staged.state)
                .map_err(|error| io_refusal("remove what is left of a restore", &staged.state, &error))?;
        }
        for (folder, mode) in [(&staged.files, 0o777), (&staged.state, PRIVATE_FOLDER)] {
            let refused = |error| io_refusal("make a folder", folder, &error);
            if let Some(above) = folder.parent() {
                fs::create_dir_all(above).map_err(refused)?;
            }
            DirBuilder::new()
                .with_mode(mode)
                .create(folder)
                .map_err(refused)?;
        }
    }
    source.take(manifest, job, &mut |member, bytes| {
        for (workspace, staged) in staged.iter_mut() {
            let (root, path) = match workspace.place(&member.path) {
                // The record of init is of the machine that it was made on.
                Some(Place::File(path)) if NOT_KEPT.iter().any(|name| path == format!("{OWN}/{name}")) => {
                    continue;
                }
                Some(Place::File(path)) => {
                    staged.files_in_it += 1;
                    (&staged.files, path)
                }
                Some(Place::State(path)) => (&staged.state, path),
                None => continue,
            };
            return put(member, bytes, root, Path::new(&path));
        }
        io::copy(bytes, &mut io::sink())
            .map(drop)
            .map_err(|error| io_refusal("read the backup", source.path(), &error))
    })?;
    for (workspace, staged) in staged.iter() {
        databases(source.path(), manifest.format, workspace, staged)?;
    }
    Ok(())
}

/// Writes one file, durably, with its time and its rights.
fn put(member: &Member, bytes: &mut dyn Read, root: &Path, path: &Path) -> Result<(), RpcError> {
    let mut written = || -> io::Result<()> {
        let dir = WorkspaceDir::open(root)?;
        let (folder, name) = dir.make_parent(path)?;
        let mut file = folder.create_new(name)?;
        system::set_file_mode(&file, PRIVATE_FILE)?;
        io::copy(bytes, &mut file)?;
        if let Some(at) = member.mtime_ns.and_then(|ns| u64::try_from(ns).ok()) {
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(at))?;
        }
        if let Some(mode) = member.mode {
            // No memory is a program.
            system::set_file_mode(&file, mode & 0o666)?;
        }
        file.sync_all()
    };
    written().map_err(|error| io_refusal("write what was in the backup", &root.join(path), &error))
}

/// Makes the databases those of this build and of this root.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn databases(
    backup: &Path,
    format: BackupFormat,
    workspace: &Workspace,
    staged: &Staged,
) -> Result<(), RpcError> {
    let root = staged.root.to_string_lossy();
    let refusal = |error: &StoreError| refusal(backup, workspace, staged, error);
    let names = [
        (Database::Index, "index", true),
        (
            Database::Contexts,
            "contexts",
            workspace.contexts_schema.is_some(),
        ),
    ];
    for (database, name, is_there) in names {
        let file = staged.state.join(format!("{name}.db"));
        if !is_there {
            continue;
        }
        if format == BackupFormat::Export {
            copies::import(database, &staged.state.join("tables").join(name), &file, &root)
                .map_err(|error| refusal(&error))?;
        } else if !file.is_file() {
            let missing = format!("{}/{name}.db", workspace.folder);
            return Err(damaged(backup, &missing, "it is missing"));
        }
        copies::take_over(database, &file, &root).map_err(|error| refusal(&error))?;
    }
    match fs::remove_dir_all(staged.state.join("tables")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_refusal("remove what was taken in", &staged.state, &error))
        }
        _ => sync(&staged.state).and_then(|()| sync(&staged.files)),
    }
}

fn sync(folder: &Path) -> Result<(), RpcError> {
    sync_folder(folder).map_err(|error| io_refusal("make the folder durable", folder, &error))
}

/// What the store says of a database of somebody else's making. It is named as the member that it came from: where it was
/// looked at, nothing is any more.
fn refusal(backup: &Path, workspace: &Workspace, staged: &Staged, error: &StoreError) -> RpcError {
    match error {
        StoreError::Corrupt { .. }
        | StoreError::NewerSchema { .. }
        | StoreError::Row { .. }
        | StoreError::Sql { .. } => {
            let here = format!("{}/", staged.state.display());
            let there = format!("{}/", workspace.folder);
            unusable(backup, &error.to_string().replace(&here, &there))
        }
        StoreError::Io { what, path, source } => io_refusal(what, path, source),
        StoreError::DiskFull { .. } => RpcError::internal(error.to_string())
            .hint("free some space, or choose another disk; nothing was left there"),
        other => store_error(other),
    }
}

/// Part of the names of what is moved aside: when.
fn stamp(shared: &Shared) -> String {
    let at = crate::clock::rfc3339(shared.clock.now());
    at.chars().filter(char::is_ascii_alphanumeric).collect()
}

impl Staged {
    #[expect(clippy::disallowed_methods, reason = "a place that a person names")]
    fn at(state: &Path, root: PathBuf, was: &str, stamp: &str, is_aside: bool) -> Self {
        let home = state_folder(state, &root);
        // Another restore may have been within the same second, or before a clock was set back.
        let aside = |path: &Path| {
            let mut aside = commit::beside(path, "", &format!("{BEFORE}{stamp}"));
            while aside.symlink_metadata().is_ok() {
                aside.as_mut_os_string().push("-again");
            }
            aside
        };
        Self {
            files: commit::staged_files(&root),
            state: commit::staged_state(&home),
            files_aside: aside(&root),
            state_aside: aside(&home),
            home,
            root,
            was: was.to_owned(),
            files_in_it: 0,
            is_aside,
            is_sealed: false,
        }
    }
}
