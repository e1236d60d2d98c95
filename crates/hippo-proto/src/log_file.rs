//! Rotating log file, shared by several processes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Size in bytes at which a log is rotated. The rotation replaces the previously rotated log.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// An append-only log file with rotation, readable only by its user.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    length: u64,
    limit: u64,
}

impl LogFile {
    /// Opens the log for appending.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::with_limit(path, MAX_BYTES)
    }

    fn with_limit(path: &Path, limit: u64) -> io::Result<Self> {
        let file = append_to(path)?;
        let length = file.metadata()?.len();
        let path = path.to_path_buf();
        Ok(Self {
            path,
            file,
            length,
            limit,
        })
    }

    /// Rotates the log if it is full. Returns whether a new file is now in use. If the rotation fails, the old file
    /// stays in use, because a log that is too long is better than none.
    pub fn turn(&mut self) -> bool {
        if self.length < self.limit {
            return false;
        }
        match self.rotate() {
            Ok(Some(new)) => {
                *self = new;
                true
            }
            Ok(None) | Err(_) => {
                // Another process holds the lock and rotates the file, so this process checks again at its next write.
                let _ = self.file.unlock();
                false
            }
        }
    }

    /// Renames the full log and opens a new one. If several processes write to the log, only the process that holds
    /// the lock renames it.
    fn rotate(&self) -> io::Result<Option<Self>> {
        if self.file.try_lock().is_err() {
            return Ok(None);
        }
        if self.is_at_path()? {
            fs::rename(&self.path, set_aside(&self.path))?;
        }
        Self::with_limit(&self.path, self.limit).map(Some)
    }

    fn is_at_path(&self) -> io::Result<bool> {
        let there = match fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let open = self.file.metadata()?;
        Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
    }

    /// Returns the current file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn();
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the path of the rotated log.
pub fn set_aside(log: &Path) -> PathBuf {
    let mut old = log.as_os_str().to_owned();
    old.push(".old");
    old.into()
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_log_needs_at_most_twice_its_limit_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hippod.log");
        let mut log = LogFile::with_limit(&path, 100).unwrap();
        for number in 0..9 {
            writeln!(log, "{number:>49}").unwrap();
        }
        let old = fs::read_to_string(set_aside(&path)).unwrap();
        let new = fs::read_to_string(&path).unwrap();
        assert!(
            old.len() <= 150 && new.len() <= 150,
            "{} {}",
            old.len(),
            new.len()
        );
        assert!(new.ends_with("8\n"), "{new}");
        assert!(old.trim_end().ends_with('7') || new.contains('7'));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_log_rotated_by_another_process_is_not_rotated_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hooks.log");
        fs::write(&path, [b'x'; 100]).unwrap();
        let (mut one, mut other) = [(); 2].map(|()| LogFile::with_limit(&path, 100).unwrap()).into();
        for log in [&mut one, &mut other] {
            log.write_all(b"new").unwrap();
        }
        assert_eq!(fs::read(set_aside(&path)).unwrap(), [b'x'; 100]);
        assert_eq!(fs::read(&path).unwrap(), b"newnew");

        // While one process holds the lock, the other processes write to the full log.
        fs::write(&path, [b'y'; 100]).unwrap();
        let mut held = LogFile::with_limit(&path, 100).unwrap();
        let holder = append_to(&path).unwrap();
        holder.lock().unwrap();
        assert!(!held.turn());
        held.write_all(b"late").unwrap();
        drop(holder);
        assert!(held.turn());
        assert!(fs::read(set_aside(&path)).unwrap().ends_with(b"ylate"));
    }

    #[test]
    fn only_a_full_log_is_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        fs::write(&path, [b'x'; 99]).unwrap();
        assert!(!LogFile::with_limit(&path, 100).unwrap().turn());
        assert!(!set_aside(&path).exists());
        fs::write(&path, [b'x'; 100]).unwrap();
        assert!(LogFile::with_limit(&path, 100).unwrap().turn());
        assert_eq!(fs::read(&path).unwrap().len(), 0);
        assert_eq!(fs::read(set_aside(&path)).unwrap().len(), 100);
    }
}
