//! Application of a plan of file changes.
//!
//! Files are replaced atomically. If a file has changed since the plan was made, it is not overwritten.

use std::ffi::OsStr;
use std::io;

use hippo_fs::{Folder, WorkspaceDir, is_absence};

use super::plan::{ChangePlan, PathChange};
use crate::failure::{Exit, Failure};

/// The hint after a run that failed halfway.
const HALFWAY: &str =
    "fix the cause and run the command again, or revert the changes so far: hippoctl init --undo";

/// Creates the folders of a plan, then applies its file changes. The caller must write the record of the changes first.
///
/// # Errors
/// Returns the failure of the first path that could not be written. Earlier changes remain, and the record lists them.
pub fn apply(dir: &WorkspaceDir, plan: &ChangePlan) -> Result<(), Failure> {
    for folder in &plan.folders {
        let parent = dir.parent(folder);
        let made = parent.and_then(|(above, name)| above.make_folder(name));
        made.map_err(|error| {
            Failure::file("create the folder", &dir.root().join(folder), error).hint(HALFWAY)
        })?;
    }
    plan.changes.iter().try_for_each(|change| one(dir, change))
}

/// Removes each folder that is empty and that is not reached through a link. The caller lists inner folders first.
/// Returns the removed folders.
pub fn remove_folders(dir: &WorkspaceDir, folders: &[String]) -> Vec<String> {
    let is_removed = |folder: &&String| {
        let parent = dir.parent(*folder);
        parent.is_ok_and(|(above, name)| above.remove_folder(name).is_ok())
    };
    folders.iter().filter(is_removed).cloned().collect()
}

/// Writes or removes one file.
///
/// # Errors
/// Fails without a change if the file differs from the version in the plan, or if the operating system refuses the
/// change.
pub fn one(dir: &WorkspaceDir, change: &PathChange) -> Result<(), Failure> {
    let path = dir.root().join(&change.path);
    let parent = dir.parent(&change.path);
    let done = parent.and_then(|(folder, name)| put(&folder, name, change));
    match done {
        Ok(true) => Ok(()),
        Ok(false) => {
            let what = format!("another program has just changed {}", path.display());
            let hint = "run the command again; finished changes are not repeated";
            Err(Failure::new(Exit::Refused, what).hint(hint))
        }
        Err(error) => {
            let what = if change.after.is_some() { "write" } else { "remove" };
            Err(Failure::file(what, &path, error).hint(HALFWAY))
        }
    }
}

/// Applies a change to a file in an open folder. Returns false if the file differs from the version in the plan.
fn put(folder: &Folder, name: &OsStr, change: &PathChange) -> io::Result<bool> {
    let now = match folder.read(name, u64::MAX) {
        Ok(now) => Some(now),
        Err(error) if is_absence(&error) => None,
        Err(error) => return Err(error),
    };
    if now != change.before {
        return Ok(false);
    }
    let Some(bytes) = &change.after else {
        return folder.remove_file(name).map(|()| true);
    };
    let draft = format!(".{}.new", name.to_string_lossy());
    if now.is_none() {
        folder.write_whole_new(name, draft, bytes)?;
    } else {
        // A rename would replace even a read-only file, so the write permission is checked first.
        folder.open_to_write(name)?;
        folder.write_whole(name, draft, bytes)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<&str>, after: Option<&str>) -> PathChange {
        PathChange {
            path: "a".to_owned(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            what: String::new(),
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_change_keeps_the_mode_and_refuses_a_file_edited_meanwhile() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let dir = WorkspaceDir::open(folder.path()).unwrap();
        one(&dir, &change(None, Some("new"))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        one(&dir, &change(Some("new"), Some("newer"))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let late = one(&dir, &change(Some("new"), Some("x"))).unwrap_err();
        assert_eq!(late.exit, Exit::Refused);
        one(&dir, &change(None, Some("x"))).unwrap_err();
        one(&dir, &change(Some("new"), None)).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        one(&dir, &change(Some("newer"), None)).unwrap();
        assert!(!path.exists());
    }
}
