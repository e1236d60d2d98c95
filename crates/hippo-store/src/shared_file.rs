//! How is a file replaced that people and other programs write too, so that none of their bytes is lost?
//!
//! The new bytes take the file's place in one step, and what stood there until then stays beside it under another name
//! until [`settle`]. Whoever wrote between the caller's last look and that step, or still writes through an open
//! handle, has written into the file beside: the caller reads it again after a while, and takes up what is new. There
//! are [`SLOTS`] such names, so that nobody who writes often has to let go of what was replaced a moment ago.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::sync_folder;

/// Replaced contents of one file that can stand beside it at the same time.
pub const SLOTS: u32 = 32;
/// How the names of what [`set_aside`] kept go on behind that of the file.
pub const UNMERGED: &str = ".unmerged";
/// Where new bytes wait on file systems that cannot exchange two names.
const ASIDE: &str = "new";

/// Where the bytes stand until [`settle`] that a replacement in this slot took out of the way.
#[must_use]
pub fn replaced_path(path: &Path, slot: u32) -> PathBuf {
    match slot {
        0 => beside(path, "replaced"),
        slot => beside(path, &format!("replaced-{slot}")),
    }
}

/// Puts `bytes` in the place of a file, durably, and answers what stood there; `None`: there was no file.
///
/// A process that ends in the middle may leave `bytes` themselves at [`replaced_path`], all of them and never put in
/// place: the caller knows them by what it meant to write.
///
/// # Errors
/// When the system refuses, or something is not settled in this slot ([`io::ErrorKind::AlreadyExists`]); the file is as it
/// was.
pub fn replace(path: &Path, bytes: &[u8], slot: u32) -> io::Result<Option<Vec<u8>>> {
    let old = replaced_path(path, slot);
    if old.symlink_metadata().is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    // Only whole contents ever stand in a slot: what a process that ended left half written stands elsewhere.
    let draft = beside(path, "draft");
    let placed = write(&draft, path, bytes)
        .and_then(|()| fs::rename(&draft, &old).inspect_err(|_| discard(&draft)))
        .and_then(|()| exchange(&old, path).inspect_err(|_| discard(&old)));
    if placed? {
        sync_folder(folder_of(path))?;
        return replaced(path, slot);
    }
    sync_folder(folder_of(path))?;
    Ok(None)
}

/// Takes a file away, and answers what stood there; it stays beside as after [`replace`]. `None`: there is no file.
///
/// # Errors
/// As [`replace`].
pub fn take_away(path: &Path, slot: u32) -> io::Result<Option<Vec<u8>>> {
    let old = replaced_path(path, slot);
    if old.symlink_metadata().is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    match fs::rename(path, &old) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(()) => {
            sync_folder(folder_of(path))?;
            replaced(path, slot)
        }
    }
}

/// The bytes that the last replacement in this slot took out of the way, as they are by now; `None`: nothing waits there to
/// be settled, or something that is no file and would hold up whoever reads it.
///
/// # Errors
/// When they cannot be read.
pub fn replaced(path: &Path, slot: u32) -> io::Result<Option<Vec<u8>>> {
    let old = replaced_path(path, slot);
    if old.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(None);
    }
    match fs::read(old) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lets go of what was replaced.
///
/// # Errors
/// When the system refuses.
pub fn settle(path: &Path, slot: u32) -> io::Result<()> {
    match fs::remove_file(replaced_path(path, slot)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Keeps what stands in a slot beside the file for people, under a name that nothing else has, and answers where.
///
/// # Errors
/// When the system refuses; it is still in its slot then.
pub fn set_aside(path: &Path, slot: u32) -> io::Result<PathBuf> {
    let old = replaced_path(path, slot);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 1_u32;
    loop {
        let end = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let kept = path.with_file_name(format!("{name}{UNMERGED}{end}"));
        // Linked, not renamed: nothing that is there may be overwritten.
        match fs::hard_link(&old, &kept) {
            Ok(()) => {
                fs::remove_file(&old)?;
                return Ok(kept);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(_) if kept.symlink_metadata().is_err() => return fs::rename(&old, &kept).map(|()| kept),
            Err(error) => return Err(error),
        }
    }
}

/// Removes what a process that was stopped left of a replacement, but for what stands in slots. Answers whether that
/// replacement is known not to have happened: what stands in its slot is then no content that was replaced.
pub fn tidy(path: &Path) -> bool {
    discard(&beside(path, "draft"));
    let aside = beside(path, ASIDE);
    let cut_off = aside.symlink_metadata().is_ok();
    discard(&aside);
    cut_off
}

/// The first error is the one to report.
fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

fn write(to: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // An earlier process may have left a half written one.
    discard(to);
    let in_the_way = |error: io::Error| io::Error::other(format!("{}: {error}", to.display()));
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .open(to)
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => in_the_way(error),
            _ => error,
        })?;
    let written = (|| {
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    })();
    written.inspect_err(|_| discard(to))
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
    let aside = beside(path, ASIDE);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_stays_until_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        assert_eq!(replace(&path, b"one", 0).unwrap(), None);
        assert_eq!(replaced(&path, 0).unwrap(), None);
        assert_eq!(replace(&path, b"two", 0).unwrap().unwrap(), b"one");
        assert_eq!(
            replace(&path, b"three", 0).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"two");
        settle(&path, 0).unwrap();
        settle(&path, 0).unwrap();
        assert_eq!(replace(&path, b"three", 0).unwrap().unwrap(), b"two");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 2, "nothing else is left: {names:?}");
    }

    #[test]
    fn each_slot_keeps_what_it_took_out_of_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::write(&path, "0").unwrap();
        let mut handle = File::options().append(true).open(&path).unwrap();
        for slot in 0..SLOTS {
            let (new, old) = ((slot + 1).to_string(), slot.to_string());
            let replaced = replace(&path, new.as_bytes(), slot).unwrap();
            assert_eq!(replaced.unwrap(), old.as_bytes());
        }
        handle.write_all(b" late").unwrap();
        assert_eq!(replaced(&path, 0).unwrap().unwrap(), b"0 late");
        assert_eq!(replaced(&path, 1).unwrap().unwrap(), b"1");
        (0..SLOTS).for_each(|slot| settle(&path, slot).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_draft_that_a_process_left_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::write(beside(&path, "draft"), "ha").unwrap();
        assert_eq!(replace(&path, b"half", 0).unwrap(), None);
        assert_eq!(fs::read(&path).unwrap(), b"half");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_taken_away_stays_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        assert_eq!(take_away(&path, 0).unwrap(), None);
        fs::write(&path, "old").unwrap();
        assert_eq!(take_away(&path, 0).unwrap().unwrap(), b"old");
        assert!(!path.exists());
        fs::write(&path, "new").unwrap();
        take_away(&path, 0).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(replaced(&path, 0).unwrap().unwrap(), b"old");
    }

    #[test]
    fn an_open_handle_writes_into_what_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::write(&path, "old").unwrap();
        let mut handle = File::options().append(true).open(&path).unwrap();
        assert_eq!(replace(&path, b"new", 0).unwrap().unwrap(), b"old");
        handle.write_all(b" and late").unwrap();
        assert_eq!(replaced(&path, 0).unwrap().unwrap(), b"old and late");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_came_into_its_place_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(replace(&path, b"new", 0).unwrap(), None);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(
            replace(&path, b"newer", 0).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
    }

    #[test]
    fn a_folder_in_its_place_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX.md");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "x").unwrap();
        assert!(replace(&path, b"new", 0).is_err());
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
        replace(&path, b"new", 0).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
