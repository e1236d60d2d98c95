//! How does a log stay within bounds, whichever program writes it?

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A log of this size is set aside, in the place of the one that was set aside before (bytes).
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// A log for this user alone that is appended to, and set aside when it is large.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    length: u64,
    most: u64,
}

impl LogFile {
    /// Opens it to append to.
    ///
    /// # Errors
    /// As the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::with_limit(path, MOST_BYTES)
    }

    fn with_limit(path: &Path, most: u64) -> io::Result<Self> {
        let file = append_to(path)?;
        let length = file.metadata()?.len();
        let path = path.to_path_buf();
        Ok(Self {
            path,
            file,
            length,
            most,
        })
    }

    /// Sets a full log aside and begins a new one; answers whether another file is written now. Where that fails, the old one goes
    /// on to be written: a log too long is better than none.
    pub fn turn(&mut self) -> bool {
        if self.length < self.most {
            return false;
        }
        match self.begin_anew() {
            Ok(Some(new)) => {
                *self = new;
                true
            }
            Ok(None) | Err(_) => {
                // Who holds the lock sets it aside; then it is looked again.
                let _ = self.file.unlock();
                false
            }
        }
    }

    /// The log at the path, when the full one does not stand there any more. Of several processes that write a full one, the one
    /// that has its lock sets it aside.
    fn begin_anew(&self) -> io::Result<Option<Self>> {
        if self.file.try_lock().is_err() {
            return Ok(None);
        }
        if self.is_at_path()? {
            fs::rename(&self.path, set_aside(&self.path))?;
        }
        Self::with_limit(&self.path, self.most).map(Some)
    }

    fn is_at_path(&self) -> io::Result<bool> {
        let there = match fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let open = self.file.metadata()?;
            Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
        }
        #[cfg(not(unix))]
        Ok(there.len() >= self.most)
    }

    /// The file that is written now.
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

/// Where a log lies that was set aside.
pub fn set_aside(log: &Path) -> PathBuf {
    let mut old = log.as_os_str().to_owned();
    old.push(".old");
    old.into()
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_never_takes_more_than_twice_its_bound_and_is_private() {
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
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_another_process_began_anew_is_not_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hooks.log");
        fs::write(&path, [b'x'; 100]).unwrap();
        let (mut one, mut other) = [(); 2].map(|()| LogFile::with_limit(&path, 100).unwrap()).into();
        for log in [&mut one, &mut other] {
            log.write_all(b"new").unwrap();
        }
        assert_eq!(fs::read(set_aside(&path)).unwrap(), [b'x'; 100]);
        assert_eq!(fs::read(&path).unwrap(), b"newnew");

        // While one sets it aside, the others go on to write the full one.
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
    fn only_a_full_log_is_set_aside() {
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
