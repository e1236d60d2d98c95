//! How is a log read while it is written, also when it is set aside and begun anew?

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use hippo_proto::log_file::set_aside;

/// How much of the end of a file is looked at (bytes): more than the daemon lets a file become.
const TAIL_BYTES: u64 = 16 * 1024 * 1024;

/// A log that is read on.
pub struct Followed {
    path: PathBuf,
    file: File,
    /// The begin of a line whose end is not there yet.
    rest: Vec<u8>,
}

impl Followed {
    /// A log, from its beginning on.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_path_buf(),
            file: File::open(path)?,
            rest: Vec::new(),
        })
    }

    /// The lines of the file that was set aside last, and of this one.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn lines_with_old(&mut self) -> io::Result<Vec<String>> {
        let mut lines = match File::open(set_aside(&self.path)) {
            Ok(mut old) => whole_lines(&mut tail(&mut old)?),
            Err(_) => Vec::new(),
        };
        self.rest = tail(&mut self.file)?;
        lines.extend(whole_lines(&mut self.rest));
        Ok(lines)
    }

    /// The lines that came since: to the end of the file that was read, then of the one that took its place.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn lines(&mut self) -> io::Result<Vec<String>> {
        // Looked at first: once another file has the name, nothing more is written to this one.
        let other = File::open(&self.path).ok();
        let is_other = match &other {
            Some(other) => !is_same(
                &other.metadata()?,
                &self.file.metadata()?,
                self.file.stream_position()?,
            ),
            None => false,
        };
        let mut lines = self.read_on()?;
        if let Some(other) = other.filter(|_| is_other) {
            if !self.rest.is_empty() {
                self.rest.push(b'\n');
                lines.extend(whole_lines(&mut self.rest));
            }
            self.file = other;
            lines.extend(self.read_on()?);
        }
        Ok(lines)
    }

    fn read_on(&mut self) -> io::Result<Vec<String>> {
        self.file.read_to_end(&mut self.rest)?;
        Ok(whole_lines(&mut self.rest))
    }
}

/// Takes the lines that have their end.
fn whole_lines(bytes: &mut Vec<u8>) -> Vec<String> {
    let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
        return Vec::new();
    };
    let rest = bytes.split_off(end + 1);
    let whole = std::mem::replace(bytes, rest);
    let lines = whole.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

/// The end of a file, which is read to it.
fn tail(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a name still stands for the file that is read, and it was not begun anew in its place.
#[cfg(unix)]
fn is_same(named: &Metadata, read: &Metadata, position: u64) -> bool {
    use std::os::unix::fs::MetadataExt;
    (named.dev(), named.ino()) == (read.dev(), read.ino()) && named.len() >= position
}

#[cfg(not(unix))]
fn is_same(named: &Metadata, _read: &Metadata, position: u64) -> bool {
    named.len() >= position
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn every_line_is_read_once_over_any_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let (log, old) = (folder.path().join("log"), folder.path().join("log.old"));
        let add = |text: &str| {
            let mut file = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(&log)
                .unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        fs::write(&old, "0\n").unwrap();
        add("1\n2");
        let mut followed = Followed::open(&log).unwrap();
        assert_eq!(followed.lines_with_old().unwrap(), ["0\n", "1\n"]);
        add("b\n3\n");
        assert_eq!(followed.lines().unwrap(), ["2b\n", "3\n"]);
        assert!(followed.lines().unwrap().is_empty());
        add("4\n");
        fs::rename(&log, &old).unwrap();
        assert_eq!(followed.lines().unwrap(), ["4\n"]);
        add("5\n");
        assert_eq!(followed.lines().unwrap(), ["5\n"]);
        add("6\n7");
        fs::rename(&log, &old).unwrap();
        add("8\n");
        assert_eq!(followed.lines().unwrap(), ["6\n", "7\n", "8\n"]);
        // Somebody emptied it.
        fs::write(&log, "").unwrap();
        followed.lines().unwrap();
        add("9\n");
        assert_eq!(followed.lines().unwrap(), ["9\n"]);
    }
}
