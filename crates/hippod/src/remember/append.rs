//! How do bytes come to the end of a log whole or not at all, while others append to it too?

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::files;

/// Why bytes do not stand in the log.
#[derive(Debug)]
pub(super) struct Failed {
    /// What the system said.
    pub error: io::Error,
    /// So many of them stand in the log all the same: somebody wrote behind them, so that they could not be taken back.
    pub left: u64,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { error, left: 0 }
    }
}

/// Appends to a file, which is made where there is none, durably. Answers where the bytes end.
///
/// # Errors
/// As the system says. What was written until then is taken back, unless somebody appended behind it.
pub(super) fn append(path: &Path, bytes: &[u8]) -> Result<u64, Failed> {
    let is_new = !path.exists();
    let mut log = OpenOptions::new().append(true).create(true).open(path)?;
    let mut pieces = Vec::new();
    let written = write(&mut log, bytes, &mut pieces).and_then(|()| {
        log.sync_all()?;
        match path.parent() {
            Some(folder) if is_new => files::sync_folder(folder),
            _ => Ok(()),
        }
    });
    match (written, pieces.last()) {
        (Ok(()), Some((_, end))) => Ok(*end),
        (Ok(()), None) => Ok(log.metadata()?.len()),
        (Err(error), _) => Err(Failed {
            error,
            left: take_back(&log, &pieces),
        }),
    }
}

/// Writes all of it; notes from where to where each piece stands that the system took.
fn write(log: &mut File, mut bytes: &[u8], pieces: &mut Vec<(u64, u64)>) -> io::Result<()> {
    while !bytes.is_empty() {
        match log.write(bytes) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero)),
            Ok(taken) => {
                // Others may have appended before: the place is known by the end.
                let end = log.stream_position()?;
                pieces.push((end.saturating_sub(taken as u64), end));
                bytes = bytes.get(taken..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Shortens the log to what it was, as far as nobody has written behind. Answers how many bytes of ours are left.
fn take_back(log: &File, pieces: &[(u64, u64)]) -> u64 {
    let mut left = pieces.len();
    while let Some((start, end)) = pieces.get(left.wrapping_sub(1)) {
        let last = log.metadata().is_ok_and(|metadata| metadata.len() == *end);
        if !last || log.set_len(*start).is_err() {
            break;
        }
        left -= 1;
    }
    // The error that brought us here is the one to report.
    let _ = log.sync_all();
    pieces.iter().take(left).map(|(start, end)| end - start).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_is_taken_back_unless_somebody_wrote_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.md");
        std::fs::write(&path, "before\n").unwrap();
        let mut log = OpenOptions::new().append(true).open(&path).unwrap();
        let mut pieces = Vec::new();
        write(&mut log, b"one\n", &mut pieces).unwrap();
        write(&mut log, b"two\n", &mut pieces).unwrap();
        assert_eq!(pieces, [(7, 11), (11, 15)]);
        assert_eq!(take_back(&log, &pieces), 0);
        assert_eq!(std::fs::read(&path).unwrap(), b"before\n");

        let mut pieces = Vec::new();
        write(&mut log, b"one\n", &mut pieces).unwrap();
        let mut other = OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(b"of another\n").unwrap();
        write(&mut log, b"two\n", &mut pieces).unwrap();
        assert_eq!(take_back(&log, &pieces), 4);
        assert_eq!(std::fs::read(&path).unwrap(), b"before\none\nof another\n");
        assert_eq!(append(&path, b"three\n").unwrap(), 28);
    }
}
