//! Crash-safe final step of a restore.
//!
//! The step consists of two renames. Staged workspaces are recorded in a journal before they are created. A workspace
//! is sealed, in the journal, just before its renames. After a crash, the next start discards an unsealed workspace
//! with its folders, and completes a sealed one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hippo_proto::{ErrorKind, Paths, Restored, RpcError};
use hippo_store::system::sync_folder;

use super::refusal::io_refusal;
use crate::files;
use crate::registry::{Registry, state_folder, write_atomically};
use crate::staged::StagedWorkspace;

/// Name of the journal in the state folder.
pub const NOTE: &str = "restoring.json";

/// Removes the staged folders of a workspace.
fn discard(staged: &StagedWorkspace, state: &Path) -> Result<(), RpcError> {
    [staged.staged_files(), staged.staged_state(state)]
        .iter()
        .try_for_each(|folder| remove(folder))
}

/// Moves both staged folders into place and registers the workspace. Can be repeated after an interruption.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn carry_out(staged: &StagedWorkspace, state: &Path, registry: &Registry) -> Result<(), RpcError> {
    let places = [
        (staged.staged_files(), staged.root.clone()),
        (staged.staged_state(state), state_folder(state, &staged.root)),
    ];
    for (from, to) in places.iter().filter(|(from, _)| from.exists()) {
        fs::rename(from, to)
            .and_then(|()| to.parent().map_or(Ok(()), sync_folder))
            .map_err(|error| io_refusal("move the folder into place", to, &error))?;
    }
    registry.add(&staged.root).map(drop).map_err(|error| {
        RpcError::internal(format!("{error:#}"))
            .hint("check whether the state folder is writable and its disk has room, then restart hippod")
    })
}

/// Removes a folder if it exists.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn remove(folder: &Path) -> Result<(), RpcError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_refusal("remove the leftovers of a restore", folder, &error))
        }
        _ => Ok(()),
    }
}

/// Writes the journal.
///
/// # Errors
/// Fails if the state folder is not writable.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn note(state: &Path, staged: &[StagedWorkspace]) -> Result<(), RpcError> {
    let path = state.join(NOTE);
    let refused = |error| io_refusal("record the restore", &path, &error);
    if staged.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(error)),
            _ => Ok(()),
        };
    }
    let json = serde_json::to_vec_pretty(staged).map_err(|error| refused(error.into()))?;
    write_atomically(&path, &json).map_err(refused)
}

/// Discards staged workspaces that were never sealed.
///
/// # Errors
/// Fails if a folder cannot be removed, or if a sealed restore is not complete.
pub fn clear(state: &Path) -> Result<(), RpcError> {
    let staged = noted(state)?;
    if staged.iter().any(|staged| staged.is_sealed) {
        return Err(RpcError::internal("an earlier restore is not finished")
            .hint("restart hippod to finish it, then try again"));
    }
    discard_unsealed(state)
}

/// Discards unsealed workspaces and keeps sealed ones.
///
/// # Errors
/// Fails if a folder cannot be removed.
pub fn discard_unsealed(state: &Path) -> Result<(), RpcError> {
    let (sealed, others): (Vec<StagedWorkspace>, Vec<StagedWorkspace>) =
        noted(state)?.into_iter().partition(|staged| staged.is_sealed);
    others.iter().try_for_each(|staged| discard(staged, state))?;
    note(state, &sealed)
}

/// Moves a staged workspace into place and registers it.
///
/// # Errors
/// Fails if the destination was created in the meantime, or if a folder cannot be moved.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn commit(state: &Path, staged: StagedWorkspace, registry: &Registry) -> Result<Restored, RpcError> {
    let mut others = noted(state)?;
    others.retain(|noted| noted.root != staged.root);
    let sealed = StagedWorkspace {
        is_sealed: true,
        ..staged
    };
    let done = vacant(state, &sealed.root).and_then(|()| {
        note(state, &[&others[..], std::slice::from_ref(&sealed)].concat())?;
        carry_out(&sealed, state, registry)
    });
    if let Err(error) = done {
        // While the files are still staged, the restore can be rolled back.
        if sealed.staged_files().exists() {
            discard(&sealed, state)?;
            note(state, &others)?;
        }
        return Err(error);
    }
    note(state, &others)?;
    Ok(Restored {
        root: sealed.root.display().to_string(),
        was: sealed.was,
        files: sealed.files,
    })
}

/// Finishes or discards the restores of an interrupted process.
///
/// # Errors
/// Returns the error of a failed step; the journal remains for the next start.
pub fn finish_what_was_begun(state: &Path, registry: &Registry) -> Result<(), RpcError> {
    let all = noted(state)?;
    for staged in &all {
        if staged.is_sealed {
            carry_out(staged, state, registry)?;
            tracing::info!(root = %staged.root.display(), "finished a restore");
        } else {
            discard(staged, state)?;
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    note(state, &[])
}

/// Reads the journal; empty if it does not exist.
///
/// # Errors
/// Fails if the journal cannot be read or parsed.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn noted(state: &Path) -> Result<Vec<StagedWorkspace>, RpcError> {
    let path = state.join(NOTE);
    match fs::read(&path) {
        Ok(json) => serde_json::from_slice(&json).map_err(|error| {
            RpcError::internal(format!(
                "could not read the record of a restore: {}: {error}",
                path.display()
            ))
            .hint("check the folders that this file lists, then move the file elsewhere")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_refusal("read the record of a restore", &path, &error)),
    }
}

/// Returns the canonical path of a folder that may not exist yet.
///
/// # Errors
/// Fails if the path is not a folder, is inaccessible, or contains hippod's own files.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn root(folder: &Path, paths: &Paths) -> Result<PathBuf, RpcError> {
    let refused = |error| io_refusal("use the folder", folder, &error);
    let mut above = folder;
    let mut below = Vec::new();
    let real = loop {
        match above.canonicalize() {
            Ok(real) => break real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (above.parent(), above.file_name()) else {
                    return Err(refused(error));
                };
                if above.symlink_metadata().is_ok() {
                    // The target of a dangling link is unknown.
                    return Err(refused(error));
                }
                below.push(name);
                above = parent;
            }
            Err(error) => return Err(refused(error)),
        }
    };
    let root = below.iter().rev().fold(real, |path, name| path.join(name));
    if root.exists() && !root.is_dir() {
        return Err(RpcError::bad_request(format!("not a folder: {}", root.display()))
            .hint("give an empty or new folder: --into DIR"));
    }
    let state = paths.state.canonicalize().unwrap_or_else(|_| paths.state.clone());
    if state.starts_with(&root) || files::is_own(paths, &root) || root.parent().is_none() {
        let what = format!(
            "{} contains or is inside a folder of hippod's own files",
            root.display()
        );
        return Err(RpcError::bad_request(what).hint("give another folder: --into DIR"));
    }
    Ok(root)
}

/// Rejects a folder that is not empty, and a folder for which hippod already stores state.
pub fn vacant(state: &Path, root: &Path) -> Result<(), RpcError> {
    let refusal = |what, hint: &str| {
        let what = format!("{what}: {}", root.display());
        Err(RpcError::new(ErrorKind::Conflict, what).hint(hint.to_owned()))
    };
    if !is_vacant(root)? {
        return refusal(
            "the folder is not empty",
            "move its files elsewhere, or restore into another folder: --into DIR",
        );
    }
    if !is_vacant(&state_folder(state, root))? {
        let remove = format!("hippoctl workspace remove --purge {}", root.display());
        return refusal(
            "hippod already stores an index and sessions for a workspace in this folder",
            &format!(
                "restore into another folder with `--into DIR`, or remove the index and the sessions: \
                 {remove}"
            ),
        );
    }
    Ok(())
}

/// Rejects a destination if its staging folder already exists.
///
/// # Errors
/// Returns `conflict`.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn free_beside(staged: &StagedWorkspace) -> Result<(), RpcError> {
    let files = staged.staged_files();
    if files.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = format!(
        "could not prepare the restore: this path already exists: {}",
        files.display()
    );
    Err(RpcError::new(ErrorKind::Conflict, what)
        .hint("move it elsewhere, or restore into another folder: --into DIR"))
}

/// Returns whether a folder is empty or does not exist.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
fn is_vacant(root: &Path) -> Result<bool, RpcError> {
    match fs::read_dir(root) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_refusal("read the folder", root, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the state folder and a sealed staged workspace.
    fn ready(folder: &Path) -> (StagedWorkspace, PathBuf) {
        let state = folder.join("state");
        let staged = StagedWorkspace {
            root: folder.join("w"),
            was: "/w".to_owned(),
            files: 1,
            is_sealed: true,
        };
        for (folder, name) in [
            (staged.staged_files(), "new.md"),
            (staged.staged_state(&state), "index.db"),
        ] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), "new").unwrap();
        }
        note(&state, std::slice::from_ref(&staged)).unwrap();
        (staged, state)
    }

    fn is_in_place(staged: &StagedWorkspace, state: &Path) -> [bool; 2] {
        let home = state_folder(state, &staged.root);
        [staged.root.join("new.md"), home.join("index.db")].map(|file| file.exists())
    }

    #[test]
    fn an_interrupted_sealed_restore_is_finished() {
        // Interrupts the restore after each number of renames.
        for done in 0..=2 {
            let folder = tempfile::tempdir().unwrap();
            let (staged, state) = ready(folder.path());
            let renames = [
                (staged.staged_files(), staged.root.clone()),
                (staged.staged_state(&state), state_folder(&state, &staged.root)),
            ];
            for (from, to) in &renames[..done] {
                fs::rename(from, to).unwrap();
            }
            let registry = Registry::open(&state).unwrap();
            assert!(clear(&state).is_err(), "a sealed workspace is not discarded");
            for _ in 0..2 {
                finish_what_was_begun(&state, &registry).unwrap();
                assert_eq!(is_in_place(&staged, &state), [true, true]);
                assert_eq!(registry.roots(), [staged.root.as_path()]);
                assert!(!state.join(NOTE).exists());
            }
        }
    }

    #[test]
    fn only_an_unsealed_restore_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let (mut staged, state) = ready(folder.path());
        staged.is_sealed = false;
        let diary = folder.path().join("diary.restoring");
        fs::create_dir(&diary).unwrap();
        let registry = Registry::open(&state).unwrap();
        note(&state, std::slice::from_ref(&staged)).unwrap();
        finish_what_was_begun(&state, &registry).unwrap();
        assert!(!staged.staged_files().exists() && !staged.staged_state(&state).exists());
        assert!(diary.exists(), "a user's folder with the same suffix is kept");
        assert_eq!(is_in_place(&staged, &state), [false, false]);
        assert_eq!(registry.roots().len(), 0);
    }

    #[test]
    fn a_restore_onto_newly_created_files_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (staged, state) = ready(folder.path());
        let registry = Registry::open(&state).unwrap();
        fs::create_dir_all(&staged.root).unwrap();
        fs::write(staged.root.join("begun.md"), "begun").unwrap();
        // A sealed restore cannot finish until the files at its destination are moved elsewhere.
        finish_what_was_begun(&state, &registry).unwrap_err();
        assert!(state.join(NOTE).exists() && staged.staged_files().exists());
        commit(&state, staged.clone(), &registry).unwrap_err();
        assert_eq!(fs::read(staged.root.join("begun.md")).unwrap(), b"begun");
        assert!(!staged.staged_files().exists() && !staged.staged_state(&state).exists());
        assert!(!state.join(NOTE).exists());
        assert_eq!(registry.roots().len(), 0);
    }
}
