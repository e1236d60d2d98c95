//! How do bytes come to the end of a log, and are told if they do not all, while others append to it too?

use std::fs::File;
use std::io::{self, Seek, Write};

use hippo_fs::Folder;

/// Why bytes do not stand in the log.
#[derive(Debug)]
pub(super) struct Failed {
    /// What the system said.
    pub error: io::Error,
    /// So many of them stand in the log all the same.
    pub left: u64,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { error, left: 0 }
    }
}

/// Appends to a file, which is made where there is none. Answers where the bytes end.
///
/// # Errors
/// As the system says. What was written until then stays: nobody can shorten a log to which others append at any moment without
/// taking some of theirs. That the disk has no room is found out before anything is written, where the system can say so.
pub(super) fn append(folder: &Folder, name: &str, bytes: &[u8]) -> Result<u64, Failed> {
    let (mut log, is_new) = folder.append(name)?;
    make_room(&log, bytes.len() as u64)?;
    let mut written = 0;
    let appended = write(&mut log, bytes, &mut written).and_then(|end| {
        log.sync_all()?;
        if is_new {
            folder.sync()?;
        }
        Ok(end)
    });
    appended.map_err(|error| Failed {
        error,
        left: written as u64,
    })
}

/// Has the system set aside room behind the end of the log, which changes nothing of it.
///
/// # Errors
/// There is none.
#[cfg(target_os = "linux")]
fn make_room(log: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    use rustix::io::Errno;

    if bytes == 0 {
        return Ok(());
    }
    let end = log.metadata()?.len();
    match rustix::fs::fallocate(log, FallocateFlags::KEEP_SIZE, end, bytes) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
        // Not every file system can; then the writing finds out.
        _ => Ok(()),
    }
}

/// The system sets no room aside without making the file longer: the writing finds out.
#[cfg(not(target_os = "linux"))]
fn make_room(_log: &File, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// Writes all of it, and counts what the system took. Answers where the last of it ends.
fn write(log: &mut File, bytes: &[u8], written: &mut usize) -> io::Result<u64> {
    while let Some(rest) = bytes.get(*written..).filter(|rest| !rest.is_empty()) {
        match log.write(rest) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(taken) => *written += taken,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Others may have appended since: the place is known by where this writer stands.
    log.stream_position()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use hippo_fs::WorkspaceDir;

    use super::*;

    #[test]
    fn what_is_appended_ends_where_it_is_said_whoever_wrote_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.md");
        let top = WorkspaceDir::open(folder.path()).unwrap().folder("").unwrap();
        assert_eq!(append(&top, "log.md", b"one\n").unwrap(), 4);
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(b"of another\n").unwrap();
        let mut log = OpenOptions::new().append(true).open(&path).unwrap();
        make_room(&log, 1 << 20).unwrap();
        other.write_all(b"again\n").unwrap();
        let mut written = 0;
        assert_eq!(write(&mut log, b"two\n", &mut written).unwrap(), 25);
        assert_eq!(written, 4);
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nof another\nagain\ntwo\n");
    }
}
