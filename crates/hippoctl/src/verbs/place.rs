//! Choice of a folder, and checks before its registration.

use std::path::{Path, PathBuf};

use crate::connect::{DaemonSession, absolute, current_dir};
use crate::failure::{Exit, Failure};

/// Returns the folder on which a verb acts: the argument if there is one, otherwise the folder of `--workspace`,
/// otherwise the current folder. `verb` is the name of the verb if it registers the folder, otherwise `None`. A verb
/// that registers the folder must not use the root of the file system or the home folder as the current folder, because
/// all files in it would become memory files.
///
/// # Errors
/// Fails if the current folder is not allowed, or if the path is not a folder.
#[expect(clippy::disallowed_methods, reason = "the home folder")]
pub fn choose(session: &DaemonSession, dir: Option<PathBuf>, verb: Option<&str>) -> Result<PathBuf, Failure> {
    let dir = match (dir, session.given_workspace()?) {
        (Some(dir), _) => absolute(&dir)?,
        (None, Some(given)) => given,
        (None, None) => {
            let here = current_dir()?;
            let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
            let refused = verb.and_then(|verb| refuse_folder(&here, home.as_deref(), verb));
            refused.map_or(Ok(here), Err)?
        }
    };
    there(&dir)?;
    Ok(dir)
}

fn refuse_folder(dir: &Path, home: Option<&Path>, verb: &str) -> Option<Failure> {
    let what = if dir.parent().is_none() {
        "the root of the file system"
    } else if home == Some(dir) {
        "your home folder"
    } else {
        return None;
    };
    let named = dir.display();
    let failure = Failure::new(Exit::Refused, format!("this is {what}: {named}"));
    Some(failure.hint(format!(
        "change to the folder of a project; to use this folder nevertheless: hippoctl {verb} {named}"
    )))
}

/// Rejects a path that is not a folder.
///
/// # Errors
/// Fails if the path does not exist or is a file.
#[expect(clippy::disallowed_methods, reason = "the user chose this folder")]
fn there(dir: &Path) -> Result<(), Failure> {
    let named = dir.display();
    let failure = match dir.metadata() {
        Ok(there) if there.is_dir() => return Ok(()),
        Ok(_) => Failure::new(Exit::NotFound, format!("this is a file, not a folder: {named}"))
            .hint("give the folder that contains the memory files"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Failure::new(Exit::NotFound, format!("no such folder: {named}"))
                .hint("give an existing folder, or create this folder first")
        }
        Err(error) => Failure::file("inspect the folder", dir, &error),
    };
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_root_and_the_home_folder_are_refused_by_default() {
        let home = Path::new("/home/ada");
        for (dir, what) in [
            ("/", "the root of the file system"),
            ("/home/ada", "your home folder"),
        ] {
            let refused = refuse_folder(Path::new(dir), Some(home), "init").unwrap();
            assert_eq!(refused.exit, Exit::Refused);
            assert!(refused.message.contains(what), "{refused:?}");
            assert!(
                refused.hint.ends_with(&format!("hippoctl init {dir}")),
                "{refused:?}"
            );
        }
        for dir in ["/home/ada/agent", "/home", "/home/adam"] {
            assert_eq!(refuse_folder(Path::new(dir), Some(home), "init"), None, "{dir}");
        }
        assert_eq!(refuse_folder(home, None, "init"), None);
    }

    #[test]
    fn files_and_missing_folders_have_different_errors() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(there(folder.path()), Ok(()));
        let file = folder.path().join("notes.md");
        std::fs::write(&file, "").unwrap();
        let failure = there(&file).unwrap_err();
        assert!(
            failure.message.starts_with("this is a file, not a folder"),
            "{failure:?}"
        );
        let failure = there(&folder.path().join("gone")).unwrap_err();
        assert!(failure.message.starts_with("no such folder"), "{failure:?}");
    }
}
