//! Safe appends to a log shared with other programs.
//!
//! A partial write is detected and reported.

use std::fs::File;
use std::io::{self, Seek, Write};

use hippo_fs::Folder;

/// Failed append.
#[derive(Debug)]
pub(super) struct AppendError {
    /// Error of the operating system.
    pub error: io::Error,
    /// Number of bytes that the failed append has written.
    pub left: u64,
}

impl From<io::Error> for AppendError {
    fn from(error: io::Error) -> Self {
        Self { error, left: 0 }
    }
}

/// Appends to a file, which is created if it does not exist. Returns the offset after the appended bytes.
///
/// # Errors
/// Returns the error of the operating system. A partial write remains in the log, because truncating the log could
/// remove text that another program appended. If the operating system supports it, a lack of disk space is detected
/// before anything is written.
pub(super) fn append(folder: &Folder, name: &str, bytes: &[u8]) -> Result<u64, AppendError> {
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
    appended.map_err(|error| AppendError {
        error,
        left: written as u64,
    })
}

/// Reserves disk space after the end of the log without changing its size.
///
/// # Errors
/// Fails if the disk is full.
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
        // Some file systems cannot reserve space. The write itself then detects a lack of space.
        _ => Ok(()),
    }
}

/// Does nothing, because reserving space would change the file size on this operating system. The write itself detects
/// a lack of space.
#[cfg(not(target_os = "linux"))]
fn make_room(_log: &File, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// Writes all bytes, and counts those that the operating system accepted. Returns the offset after the last byte.
fn write(log: &mut File, bytes: &[u8], written: &mut usize) -> io::Result<u64> {
    while let Some(rest) = bytes.get(*written..).filter(|rest| !rest.is_empty()) {
        match log.write(rest) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(taken) => *written += taken,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Other programs may have appended in the meantime, so the file size can exceed this offset.
    log.stream_position()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use hippo_fs::WorkspaceDir;

    use super::*;

    #[test]
    fn the_reported_end_of_an_append_includes_foreign_writes() {
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
