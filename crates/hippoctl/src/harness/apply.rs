//! Execution of a plan: a file is the old or the new one at each moment, and nothing written meanwhile is lost.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::Problem;
use super::plan::{Change, Plan};
use super::snapshot::is_plain;
use crate::failure::{Exit, Failure};

/// What to do when it ends halfway.
const HALFWAY: &str = "mend that and run it again, or take back what was made so far: hippoctl deinit";

/// Which of the files that are to change must not be written.
pub fn forbidden(root: &Path, plan: &Plan) -> Vec<Problem> {
    let there = plan.changes.iter().filter(|change| change.before.is_some());
    let problem = |change: &Change| {
        let error = File::options().write(true).open(root.join(&change.path)).err()?;
        Some(Problem {
            path: change.path.clone(),
            what: format!("it cannot be written ({error})"),
        })
    };
    there.filter_map(problem).collect()
}

/// Makes folders, then all files. The record of it has been written before.
///
/// # Errors
/// What could not be written; what was written before stays, and the record knows it.
pub fn apply(root: &Path, plan: &Plan) -> Result<(), Failure> {
    for folder in &plan.folders {
        make_folder(&root.join(folder))?;
    }
    plan.changes.iter().try_for_each(|change| one(root, change))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made.map_err(|error| Failure::file("make the folder", path, error).hint(HALFWAY)),
    }
}

/// Removes folders that are empty and reached without a link, inner ones first. Returns them.
pub fn remove_folders(root: &Path, folders: &[String]) -> Vec<String> {
    let empty = |folder: &&String| is_plain(root, folder) && fs::remove_dir(root.join(folder)).is_ok();
    folders.iter().filter(empty).cloned().collect()
}

/// Writes or removes one file.
///
/// # Errors
/// It is not what it was when the plan was made, or the system refuses.
pub fn one(root: &Path, change: &Change) -> Result<(), Failure> {
    let path = root.join(&change.path);
    let failed = |error: io::Error| Failure::file("write", &path, error).hint(HALFWAY);
    let now = match fs::read(&path) {
        Ok(now) => Some(now),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if now != change.before {
        let what = format!("{} was changed at this moment by somebody else", path.display());
        return Err(
            Failure::new(Exit::Refused, what).hint("run it again; what is done already is not done twice")
        );
    }
    match &change.after {
        Some(bytes) => write_whole(&path, bytes, now.is_some()).map_err(failed),
        None => fs::remove_file(&path).map_err(|error| Failure::file("remove", &path, error)),
    }
}

/// Writes a file whole or not at all: a new one as any program makes it, one that `exists` with the permissions that it has.
///
/// # Errors
/// As the system says; what is there is as it was.
pub fn write_whole(path: &Path, bytes: &[u8], exists: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hippod-");
    #[cfg(unix)]
    if !exists {
        // As any program makes a file: the umask takes its part of it.
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        builder.permissions(all);
    }
    if exists {
        // One that must not be written is not exchanged either.
        File::options().write(true).open(path)?;
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if exists {
        file.as_file()
            .set_permissions(fs::metadata(path)?.permissions())?;
    }
    file.as_file().sync_all()?;
    if exists {
        file.persist(path)?;
    } else {
        file.persist_noclobber(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            path: "a".to_owned(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            what: String::new(),
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_stays_and_what_was_written_meanwhile_is_not_lost() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        one(folder.path(), &change(None, Some("new"))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        one(folder.path(), &change(Some("new"), Some("newer"))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let late = one(folder.path(), &change(Some("new"), Some("x"))).unwrap_err();
        assert_eq!(late.exit, Exit::Refused);
        one(folder.path(), &change(None, Some("x"))).unwrap_err();
        one(folder.path(), &change(Some("new"), None)).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        one(folder.path(), &change(Some("newer"), None)).unwrap();
        assert!(!path.exists());
    }
}
