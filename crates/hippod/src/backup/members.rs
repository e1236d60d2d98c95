//! Reading of archive members, hardened against malicious archives.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use hippo_proto::RpcError;

use super::manifest::{LONGEST_NAME, why_not};
use super::refusal::{damaged, io_refusal, unusable};

/// Unpacked size in bytes that is allowed whatever the archive's size.
const ALWAYS: u64 = 256 << 20;
/// Additional unpacked size that is allowed, as a multiple of the archive's size. No text compresses that well.
const TIMES: u64 = 200;

/// Returns the maximum unpacked size of an archive of `size` bytes.
pub const fn most(size: u64) -> u64 {
    ALWAYS.saturating_add(size.saturating_mul(TIMES))
}

/// Callback for each member, with its name, size and content.
pub type Visit<'a> = dyn FnMut(&str, u64, &mut dyn Read) -> Result<(), RpcError> + 'a;

/// Reads an archive completely.
///
/// # Errors
/// Fails for a member that is not a regular file, has an invalid name, or is unreadable. The error names the
/// member.
#[expect(clippy::disallowed_methods, reason = "the user chose this path")]
pub fn each(file: &Path, visit: &mut Visit<'_>) -> Result<(), RpcError> {
    let opened = File::open(file).map_err(|error| io_refusal("read the backup", file, &error))?;
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    let packed =
        zstd::Decoder::new(BufReader::new(opened)).map_err(|error| unusable(file, &error.to_string()))?;
    let mut archive = tar::Archive::new(LimitedReader {
        from: packed,
        left: most(size),
    });
    // Last member that was read, for the message of a read error.
    let mut last = None;
    // Use raw entries: the library would read a name of any length into memory.
    let entries = archive.entries().map_err(|error| broken(file, None, &error))?;
    let mut long_name = None;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|error| broken(file, last.as_deref(), &error))?;
        let kind = entry.header().entry_type();
        if kind == tar::EntryType::GNULongName && long_name.is_none() {
            long_name = Some(name_of(file, &mut entry)?);
            continue;
        }
        let name = match long_name.take() {
            Some(name) => name,
            None => utf8(file, &entry.path_bytes())?,
        };
        if kind != tar::EntryType::Regular {
            return Err(damaged(file, &name, "it is not a regular file"));
        }
        if let Some(reason) = why_not(&name) {
            return Err(damaged(file, &name, reason));
        }
        let size = entry.size();
        let mut read = CountingReader {
            from: &mut entry,
            read: 0,
            failed: None,
        };
        let visited = visit(&name, size, &mut read);
        // A read error also causes an error in the callback, so the read error is reported first.
        if let Some(error) = read.failed {
            return Err(damaged(file, &name, &error.to_string()));
        }
        visited?;
        if read.read != size {
            return Err(damaged(file, &name, "it is truncated"));
        }
        last = Some(name);
    }
    // The data after the last member contains the checksum of the archive, so it is read too.
    io::copy(&mut archive.into_inner(), &mut io::sink())
        .map_err(|error| broken(file, last.as_deref(), &error))?;
    Ok(())
}

/// Converts a read error after a member, or before the first one.
fn broken(file: &Path, last: Option<&str>, error: &io::Error) -> RpcError {
    match last {
        Some(name) => damaged(
            file,
            name,
            &format!("the archive ends after this member: {error}"),
        ),
        None => unusable(
            file,
            &format!("the archive ends before its first member: {error}"),
        ),
    }
}

fn name_of(file: &Path, entry: &mut impl Read) -> Result<String, RpcError> {
    let mut name = Vec::new();
    let read = entry.take(LONGEST_NAME as u64 + 2).read_to_end(&mut name);
    read.map_err(|error| unusable(file, &error.to_string()))?;
    while name.last() == Some(&0) {
        name.pop();
    }
    utf8(file, &name)
}

fn utf8(file: &Path, name: &[u8]) -> Result<String, RpcError> {
    String::from_utf8(name.to_vec()).map_err(|_| unusable(file, "the name of a member is not UTF-8"))
}

/// Reader with a limit on the total number of bytes.
struct LimitedReader<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "its unpacked size is too large relative to its packed size",
            )
        })?;
        Ok(read)
    }
}

/// Reader that counts bytes and stores the first error.
struct CountingReader<'a, R> {
    from: &'a mut R,
    read: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.from.read(into) {
            Ok(read) => {
                self.read += read as u64;
                Ok(read)
            }
            Err(error) => {
                let told = io::Error::new(error.kind(), error.to_string());
                self.failed = Some(error);
                Err(told)
            }
        }
    }
}
