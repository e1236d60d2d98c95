//! What did backups and restores leave behind, and what is to be done about it?

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use hippo_proto::{Problem, RpcError, Severity};

use super::commit::{self, NOTE};
use super::partial;
use crate::registry::state_folder;
use crate::shared::Shared;

/// Between the name of what a restore moved aside and the time: `agent.before-restore-20260302T100000Z`.
pub const BEFORE: &str = ".before-restore-";
/// Folders and files that are looked at for a size.
const MOST: usize = 100_000;

/// What `doctor` tells of.
pub fn left(shared: &Shared) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    // Who has the turn has what is half done.
    if let Some(_turn) = shared.backups.take_if_free() {
        found.extend(half_restores(shared));
        found.extend(
            partial::left(&shared.paths.state)
                .iter()
                .map(|folder| half_backup(folder)),
        );
    }
    let mut before = folders(&shared.paths.state.join("workspaces"), |name| {
        name.contains(BEFORE)
    });
    for (root, _) in shared.views.all() {
        before.extend(beside(&root));
    }
    found.extend(before.iter().map(|folder| kept(shared, folder)));
    found
}

/// Removes what is half done, where nobody is at it.
///
/// # Errors
/// What could not be removed.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn tidy(shared: &Shared) -> Result<(), RpcError> {
    let Some(_turn) = shared.backups.take_if_free() else {
        return Ok(());
    };
    let left = partial::clear_left(&shared.paths.state);
    if let Some(folder) = left.iter().find(|folder| folder.exists()) {
        let what = format!("could not remove what is left of a backup: {}", folder.display());
        return Err(RpcError::internal(what).hint("look after the rights of its folder, then remove it"));
    }
    commit::discard_unsealed(&shared.paths.state)
}

/// What restores moved aside of the state of a workspace.
pub fn before_restores(state: &Path, root: &Path) -> Vec<PathBuf> {
    beside(&state_folder(state, root))
}

fn beside(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else {
        return Vec::new();
    };
    let begin = format!("{name}{BEFORE}");
    folders(folder, |other| other.starts_with(&begin))
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn folders(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_wanted = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name().to_str().is_some_and(&wanted)
    };
    let mut found: Vec<PathBuf> = entries.filter(is_wanted).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn half_restores(shared: &Shared) -> Vec<Problem> {
    let note = shared.paths.state.join(NOTE);
    let told = |what: String, fix: String, fixable| Problem {
        id: "restore-left".to_owned(),
        severity: Severity::Warning,
        what,
        where_: note.display().to_string(),
        fix,
        fixable,
    };
    let noted = match commit::noted(&shared.paths.state) {
        Ok(noted) => noted,
        Err(error) => return vec![told(error.message, error.data.hint.into_owned(), false)],
    };
    let one = |staged: &commit::Staged| {
        let what = format!("a restore was not finished: {}", staged.root.display());
        match staged.is_sealed {
            true => told(
                what,
                "restart hippod, which finishes it: hippoctl service stop, then hippoctl service start; where it cannot, hippoctl logs says why".to_owned(),
                false,
            ),
            false => told(
                what,
                format!("remove what it made ready: {}", staged.files.display()),
                true,
            ),
        }
    };
    noted.iter().map(one).collect()
}

fn half_backup(folder: &Path) -> Problem {
    Problem {
        id: "partial-backup".to_owned(),
        severity: Severity::Info,
        what: "a process that ended left a backup half written; nothing reads it".to_owned(),
        where_: folder.display().to_string(),
        fix: "remove the folder".to_owned(),
        fixable: true,
    }
}

fn kept(shared: &Shared, folder: &Path) -> Problem {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let stamp = name.split(BEFORE).nth(1).unwrap_or_default();
    let day = match (stamp.get(..4), stamp.get(4..6), stamp.get(6..8)) {
        (Some(year), Some(month), Some(day)) => format!("{year}-{month}-{day}"),
        _ => stamp.to_owned(),
    };
    let is_state = folder.starts_with(&shared.paths.state);
    let whose = if is_state {
        "what hippod knew of a workspace"
    } else {
        "what stood in a workspace's place"
    };
    let with_it = if is_state {
        "; hippoctl workspace remove --purge removes it with its workspace"
    } else {
        ""
    };
    Problem {
        id: "before-restore".to_owned(),
        severity: Severity::Info,
        what: format!("{whose} before a restore on {day} is kept: {}", size(folder)),
        where_: folder.display().to_string(),
        fix: format!(
            "when you miss nothing of it, remove the folder: rm -r {}{with_it}",
            folder.display()
        ),
        fixable: false,
    }
}

/// Files below a folder and their bytes, as people read them.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn size(folder: &Path) -> String {
    let (mut folders, mut files, mut bytes, mut seen) = (vec![folder.to_path_buf()], 0, 0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST {
                return format!("more than {MOST} files and folders");
            }
            // Of a link its own size: what it leads to stands elsewhere.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                bytes += metadata.len();
            }
        }
    }
    let files = match files {
        1 => "1 file".to_owned(),
        _ => format!("{files} files"),
    };
    format!("{files}, {} kB", bytes.div_ceil(1000))
}
