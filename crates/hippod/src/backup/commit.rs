//! How does what a restore made ready get into its place, so that a process that stops anywhere is taken back or finished?
//!
//! What is ready is noted before it is made. A note that is not sealed leads to nothing but folders that are thrown away; a
//! sealed one is carried out to its end by whoever comes next.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hippo_proto::RpcError;
use hippo_store::system::sync_folder;
use serde::{Deserialize, Serialize};

use super::refusal::io_refusal;
use super::target::{is_vacant, vacant};
use crate::registry::{Registry, write_atomically};

/// The note, in the state folder.
pub const NOTE: &str = "restoring.json";
/// What the names of folders end in that are not in their place yet.
const STAGED: &str = ".restoring";

/// The path beside another one, with something before and behind its name.
pub fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let mut name = OsString::from(before);
    name.push(path.file_name().unwrap_or_default());
    name.push(after);
    path.with_file_name(name)
}

/// Where the files of a workspace are made ready.
pub fn staged_files(root: &Path) -> PathBuf {
    beside(root, ".", STAGED)
}

/// Where its state is made ready.
pub fn staged_state(home: &Path) -> PathBuf {
    beside(home, "", STAGED)
}

/// A workspace that is ready beside its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Staged {
    /// Where it goes.
    pub root: PathBuf,
    /// Root that it had.
    pub was: String,
    /// Its state folder.
    pub home: PathBuf,
    /// Its files, ready.
    pub files: PathBuf,
    /// Its state, ready.
    pub state: PathBuf,
    /// Where the files go that stand there now.
    pub files_aside: PathBuf,
    /// Where the state goes that stands there now.
    pub state_aside: PathBuf,
    /// Files of the workspace.
    pub files_in_it: u64,
    /// Whether what stands in its place may be moved aside.
    pub is_aside: bool,
    /// Whether all of it is ready, and is to be put into its place.
    pub is_sealed: bool,
}

/// Notes what is being made ready.
///
/// # Errors
/// The state folder cannot be written.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn note(state: &Path, staged: &[Staged]) -> Result<(), RpcError> {
    let path = state.join(NOTE);
    let refused = |error| io_refusal("note the restore", &path, &error);
    if staged.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(error)),
            _ => Ok(()),
        };
    }
    let json = serde_json::to_vec_pretty(staged).map_err(|error| refused(error.into()))?;
    write_atomically(&path, &json).map_err(refused)
}

/// Throws away what was made ready and never sealed.
///
/// # Errors
/// It cannot be removed, or something waits to be put into its place.
pub fn clear(state: &Path) -> Result<(), RpcError> {
    let staged = noted(state)?;
    if staged.iter().any(|staged| staged.is_sealed) {
        return Err(RpcError::internal("an earlier restore is not finished")
            .hint("restart hippod, which finishes it, then try again"));
    }
    discard_unsealed(state)
}

/// The same beside what waits to be put into its place.
///
/// # Errors
/// It cannot be removed.
pub fn discard_unsealed(state: &Path) -> Result<(), RpcError> {
    let (sealed, others): (Vec<Staged>, Vec<Staged>) =
        noted(state)?.into_iter().partition(|staged| staged.is_sealed);
    others.iter().try_for_each(discard)?;
    note(state, &sealed)
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn discard(staged: &Staged) -> Result<(), RpcError> {
    let made = [staged_files(&staged.root), staged_state(&staged.home)];
    for (folder, made) in [&staged.files, &staged.state].into_iter().zip(made) {
        // A note that was tampered with leads nowhere else.
        if *folder != made {
            continue;
        }
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_refusal("remove what is left of a restore", folder, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts a workspace into its place and registers it. Answers where what stood there is now.
///
/// # Errors
/// Where the folder was taken meanwhile, or cannot be moved; what stood there stands there again.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn commit(state: &Path, staged: &Staged, registry: &Registry) -> Result<Vec<String>, RpcError> {
    let others = || {
        noted(state).map(|noted| {
            noted
                .into_iter()
                .filter(|noted| noted.root != staged.root)
                .collect::<Vec<_>>()
        })
    };
    // Somebody may have begun something there meanwhile.
    if let Err(error) = vacant(&staged.root, staged.is_aside) {
        discard(staged)?;
        note(state, &others()?)?;
        return Err(error);
    }
    let mut sealed = staged.clone();
    sealed.is_sealed = true;
    let mut all = others()?;
    all.push(sealed.clone());
    note(state, &all)?;
    let aside = match carry_out(&sealed, registry) {
        Ok(aside) => aside,
        Err(error) => {
            if sealed.files.exists() {
                // Nothing of it is in its place: it did not happen.
                discard(&sealed)?;
                note(state, &others()?)?;
            }
            return Err(error);
        }
    };
    note(state, &others()?)?;
    Ok(aside)
}

/// Finishes or throws away what a stopped process left.
///
/// # Errors
/// What could not be done; the note stays for the next start.
pub fn finish_what_was_begun(state: &Path, registry: &Registry) -> Result<(), RpcError> {
    let all = noted(state)?;
    for staged in &all {
        if staged.is_sealed {
            carry_out(staged, registry)?;
            tracing::info!(root = %staged.root.display(), "finished a restore");
        } else {
            discard(staged)?;
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    note(state, &[])
}

/// All steps, whichever of them were done before.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn carry_out(staged: &Staged, registry: &Registry) -> Result<Vec<String>, RpcError> {
    if staged.files.exists() {
        place(&staged.files, &staged.root, &staged.files_aside)?;
    }
    if staged.state.exists() {
        place(&staged.state, &staged.home, &staged.state_aside)?;
    }
    registry.add(&staged.root).map_err(|error| {
        RpcError::internal(format!("{error:#}"))
            .hint("look after the rights and the disk of the state folder, then restart hippod")
    })?;
    let aside = [&staged.files_aside, &staged.state_aside];
    Ok(aside
        .into_iter()
        .filter(|path| path.exists())
        .map(|path| path.display().to_string())
        .collect())
}

/// Moves a folder into its place, and what is there aside.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn place(from: &Path, to: &Path, aside: &Path) -> Result<(), RpcError> {
    let refused = |error| io_refusal("put the folder into its place", to, &error);
    let moved = !is_vacant(to)?;
    // What was there may be aside already, and somebody may have begun another one since.
    let mut aside = aside.to_path_buf();
    while moved && aside.exists() {
        aside.as_mut_os_string().push("-again");
    }
    if moved {
        fs::rename(to, &aside).map_err(refused)?;
    }
    if let Err(error) = fs::rename(from, to) {
        if moved {
            fs::rename(&aside, to).map_err(refused)?;
        }
        return Err(refused(error));
    }
    to.parent().map_or(Ok(()), sync_folder).map_err(refused)
}

/// What is noted; nothing where there is no note.
///
/// # Errors
/// The note cannot be read or understood.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn noted(state: &Path) -> Result<Vec<Staged>, RpcError> {
    let path = state.join(NOTE);
    match fs::read(&path) {
        Ok(json) => serde_json::from_slice(&json).map_err(|error| {
            RpcError::internal(format!(
                "could not read the note of a restore: {}: {error}",
                path.display()
            ))
            .hint("look at the folders that it names, then move it away")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_refusal("read the note of a restore", &path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace that is ready beside a place where something stands.
    fn ready(folder: &Path) -> Staged {
        let staged = Staged {
            root: folder.join("w"),
            was: "/w".to_owned(),
            home: folder.join("state/home"),
            files: folder.join(".w.restoring"),
            state: folder.join("state/home.restoring"),
            files_aside: folder.join("w.before"),
            state_aside: folder.join("state/home.before"),
            files_in_it: 1,
            is_aside: true,
            is_sealed: true,
        };
        for (path, text) in [
            (staged.root.join("old.md"), "old"),
            (staged.home.join("index.db"), "old"),
            (staged.files.join("new.md"), "new"),
            (staged.state.join("index.db"), "new"),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        staged
    }

    fn assert_in_place(staged: &Staged) {
        assert_eq!(fs::read(staged.root.join("new.md")).unwrap(), b"new");
        assert_eq!(fs::read(staged.home.join("index.db")).unwrap(), b"new");
        assert_eq!(fs::read(staged.files_aside.join("old.md")).unwrap(), b"old");
        assert_eq!(fs::read(staged.state_aside.join("index.db")).unwrap(), b"old");
    }

    #[test]
    fn a_sealed_restore_is_finished_wherever_it_stopped() {
        // The renames in their order, of which any number was done.
        for done in 0..=4 {
            let folder = tempfile::tempdir().unwrap();
            let staged = ready(folder.path());
            let state = folder.path().join("state");
            note(&state, std::slice::from_ref(&staged)).unwrap();
            let renames = [
                (&staged.root, &staged.files_aside),
                (&staged.files, &staged.root),
                (&staged.home, &staged.state_aside),
                (&staged.state, &staged.home),
            ];
            for (from, to) in &renames[..done] {
                fs::rename(from, to).unwrap();
            }
            let registry = Registry::open(&state).unwrap();
            assert!(clear(&state).is_err(), "a sealed one is not thrown away");
            for _ in 0..2 {
                finish_what_was_begun(&state, &registry).unwrap();
                assert_in_place(&staged);
                assert_eq!(registry.roots(), [staged.root.as_path()]);
                assert!(!state.join(NOTE).exists());
            }
        }
    }

    #[test]
    fn what_was_not_sealed_is_thrown_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut staged = ready(folder.path());
        staged.is_sealed = false;
        let state = folder.path().join("state");
        let registry = Registry::open(&state).unwrap();
        note(&state, std::slice::from_ref(&staged)).unwrap();
        finish_what_was_begun(&state, &registry).unwrap();
        assert!(!staged.files.exists() && !staged.state.exists());
        assert!(staged.root.join("old.md").exists() && staged.home.join("index.db").exists());
        assert_eq!(registry.roots().len(), 0);
        // A note that names folders of others.
        let theirs = Staged {
            files: staged.root.clone(),
            state: staged.home.clone(),
            ..staged.clone()
        };
        note(&state, &[theirs]).unwrap();
        clear(&state).unwrap();
        assert!(staged.root.join("old.md").exists() && staged.home.join("index.db").exists());
        let diary = folder.path().join("diary.restoring");
        fs::create_dir(&diary).unwrap();
        let theirs = Staged {
            files: diary.clone(),
            state: diary.clone(),
            ..staged
        };
        note(&state, &[theirs]).unwrap();
        clear(&state).unwrap();
        assert!(diary.exists(), "its name ends like ours");
    }

    #[test]
    fn where_a_place_cannot_be_had_all_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut staged = ready(folder.path());
        let state = folder.path().join("state");
        // What stands there cannot be moved aside: there is no such folder.
        staged.files_aside = folder.path().join("none/w.before");
        let registry = Registry::open(&state).unwrap();
        commit(&state, &staged, &registry).unwrap_err();
        assert!(staged.root.join("old.md").exists() && staged.home.join("index.db").exists());
        assert!(!staged.files.exists() && !staged.state.exists() && !state.join(NOTE).exists());
        assert_eq!(registry.roots().len(), 0);
    }

    #[test]
    fn what_somebody_began_between_two_steps_is_moved_aside_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let staged = ready(folder.path());
        let state = folder.path().join("state");
        note(&state, std::slice::from_ref(&staged)).unwrap();
        fs::rename(&staged.root, &staged.files_aside).unwrap();
        fs::create_dir_all(&staged.root).unwrap();
        fs::write(staged.root.join("begun.md"), "begun").unwrap();
        let registry = Registry::open(&state).unwrap();
        finish_what_was_begun(&state, &registry).unwrap();
        assert_in_place(&staged);
        let again = folder.path().join("w.before-again/begun.md");
        assert_eq!(fs::read(again).unwrap(), b"begun");
    }

    #[test]
    fn what_stands_there_meanwhile_is_not_moved_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let mut staged = ready(folder.path());
        staged.is_aside = false;
        let state = folder.path().join("state");
        let registry = Registry::open(&state).unwrap();
        commit(&state, &staged, &registry).unwrap_err();
        assert!(staged.root.join("old.md").exists() && !staged.files_aside.exists());
        assert!(!staged.files.exists() && !state.join(NOTE).exists());
    }
}
