//! How is a file replaced that people and other programs write too, so that none of their bytes is lost?
//!
//! The new bytes take the file's place in one step, and what stood there until then stays beside it under another name
//! until [`settle`]. Whoever wrote between the caller's last look and that step, or still writes through an open
//! handle, has written into the file beside: the caller reads it again after a while, and takes up what is new.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the bytes that were replaced stand until [`settle`].
#[must_use]
pub fn replaced_path(path: &Path) -> PathBuf {
    beside(path, "replaced")
}

/// Puts `bytes` in the place of a file, durably, and answers what stood there; `None`: there was no file.
///
/// What was replaced by an earlier call must have been settled: it would be lost. A process that ends in the middle may
/// leave `bytes` themselves at [`replaced_path`], never put in place: the caller knows them by what it meant to write.
///
/// # Errors
/// When the system refuses, or something is not settled ([`io::ErrorKind::AlreadyExists`]); the file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let old = replaced_path(path);
    let placed = write(&old, path, bytes).and_then(|()| {
        exchange(&old, path).inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::remove_file(&old);
        })
    });
    if placed? {
        sync_folder(folder_of(path))?;
        return replaced(path);
    }
    sync_folder(folder_of(path))?;
    Ok(None)
}

/// The bytes that the last [`replace`] took out of the way, as they are by now; `None`: nothing waits to be settled.
///
/// # Errors
/// When they cannot be read.
pub fn replaced(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(replaced_path(path)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lets go of what was replaced.
///
/// # Errors
/// When the system refuses.
pub fn settle(path: &Path) -> io::Result<()> {
    match fs::remove_file(replaced_path(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(to: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(to)?;
    let written = (|| {
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    })();
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_file(to);
    })
}

/// Exchanges the two names, or moves the first to the second where that is free. Answers whether there was a file.
#[cfg(unix)]
fn exchange(new: &Path, path: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    loop {
        // Nobody's new file may be overwritten either.
        match renameat_with(CWD, new, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(false),
            Err(Errno::EXIST) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return exchange_by_link(new, path),
            Err(error) => return Err(error.into()),
        }
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        match renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE) {
            Ok(()) => return Ok(true),
            // Removed between the two steps.
            Err(Errno::NOENT) if new.exists() => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return exchange_by_link(new, path),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn exchange(new: &Path, path: &Path) -> io::Result<bool> {
    exchange_by_link(new, path)
}

/// For file systems that cannot exchange two names: a file that another program moves here between the last two steps is
/// lost.
fn exchange_by_link(new: &Path, path: &Path) -> io::Result<bool> {
    let aside = beside(path, "new");
    fs::rename(new, &aside)?;
    let was_there = match fs::hard_link(path, new) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    fs::rename(&aside, path)?;
    Ok(was_there)
}

fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{what}"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_stays_until_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        assert_eq!(replace(&path, b"one").unwrap(), None);
        assert_eq!(replaced(&path).unwrap(), None);
        assert_eq!(replace(&path, b"two").unwrap().unwrap(), b"one");
        assert_eq!(
            replace(&path, b"three").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"two");
        settle(&path).unwrap();
        settle(&path).unwrap();
        assert_eq!(replace(&path, b"three").unwrap().unwrap(), b"two");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 2, "nothing else is left: {names:?}");
    }

    #[test]
    fn an_open_handle_writes_into_what_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::write(&path, "old").unwrap();
        let mut handle = File::options().append(true).open(&path).unwrap();
        assert_eq!(replace(&path, b"new").unwrap().unwrap(), b"old");
        handle.write_all(b" and late").unwrap();
        assert_eq!(replaced(&path).unwrap().unwrap(), b"old and late");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_folder_in_its_place_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "x").unwrap();
        assert!(replace(&path, b"new").is_err());
        assert!(path.join("inside").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
