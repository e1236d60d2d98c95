//! Which members does an archive have, and what if whoever wrote it means ill?

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use hippo_proto::RpcError;

use super::manifest::{LONGEST_NAME, why_not};
use super::refusal::{damaged, io_refusal, unusable};

/// An archive may unpack to so many bytes whatever its size is…
const ALWAYS: u64 = 256 << 20;
/// … and to so many times its own size: nothing that people write shrinks as much.
const TIMES: u64 = 200;

/// Bytes to which an archive of `size` bytes may unpack.
pub const fn most(size: u64) -> u64 {
    ALWAYS.saturating_add(size.saturating_mul(TIMES))
}

/// What is done with each member: its name, its size, its bytes.
pub type Visit<'a> = dyn FnMut(&str, u64, &mut dyn Read) -> Result<(), RpcError> + 'a;

/// Reads an archive from the beginning to its very end.
///
/// # Errors
/// What is no regular file, has a name that leads elsewhere, or cannot be read. The member is named.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub fn each(file: &Path, visit: &mut Visit<'_>) -> Result<(), RpcError> {
    let opened = File::open(file).map_err(|error| io_refusal("read the backup", file, &error))?;
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    let packed =
        zstd::Decoder::new(BufReader::new(opened)).map_err(|error| unusable(file, &error.to_string()))?;
    let mut archive = tar::Archive::new(Limited {
        from: packed,
        left: most(size),
    });
    // For a reader that fails: the member that it had read last.
    let mut last = None;
    // As they are: a long name would be read by the library however long it is.
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
            return Err(damaged(file, &name, "it is no regular file"));
        }
        if let Some(reason) = why_not(&name) {
            return Err(damaged(file, &name, reason));
        }
        let size = entry.size();
        let mut read = Counted {
            from: &mut entry,
            read: 0,
            failed: None,
        };
        let visited = visit(&name, size, &mut read);
        // What came of it elsewhere follows from that.
        if let Some(error) = read.failed {
            return Err(damaged(file, &name, &error.to_string()));
        }
        visited?;
        if read.read != size {
            return Err(damaged(file, &name, "it is cut off"));
        }
        last = Some(name);
    }
    // What stands behind the last member has to be sound as well: the checksum of the whole stands there.
    io::copy(&mut archive.into_inner(), &mut io::sink())
        .map_err(|error| broken(file, last.as_deref(), &error))?;
    Ok(())
}

/// The archive cannot be read behind a member, or from its beginning on.
fn broken(file: &Path, last: Option<&str>, error: &io::Error) -> RpcError {
    match last {
        Some(name) => damaged(file, name, &format!("broken off behind it: {error}")),
        None => unusable(file, &format!("broken off before its first member: {error}")),
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

/// Reads no more than it may.
struct Limited<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "it unpacks to far more than its size")
        })?;
        Ok(read)
    }
}

/// Counts, and keeps what went wrong.
struct Counted<'a, R> {
    from: &'a mut R,
    read: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Counted<'_, R> {
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
