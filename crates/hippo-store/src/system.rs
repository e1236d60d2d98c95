//! What of files differs between operating systems?
//!
//! Identity, times, rights, and what makes them durable: one name for each.

use std::fs::Metadata;
use std::io;
use std::path::Path;

#[cfg(unix)]
#[path = "system/unix.rs"]
mod here;
#[cfg(windows)]
#[path = "system/windows.rs"]
mod here;

pub use here::{
    change_time_ns, check_readable, check_writable, is_loop, is_mine, is_shortage, mode, modified_ns,
    read_exact_at, set_file_mode, set_mode, sync_file, sync_folder,
};

/// Rights of a file that its owner alone may read and write.
pub const PRIVATE_FILE: u32 = 0o600;
/// Rights of a folder that its owner alone may look into.
pub const PRIVATE_FOLDER: u32 = 0o700;

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device, or volume, that it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

impl FileId {
    /// The file that is at `path` now; links are followed. Nothing where none is.
    ///
    /// # Errors
    /// As the system says; then it is not known.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        let found = path.metadata().and_then(|metadata| Self::of(path, &metadata));
        match found {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file at `path`, of which `metadata` tells. Not every system tells it there: the file may be looked at again.
    ///
    /// # Errors
    /// As the system says.
    pub fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        here::file_id(path, metadata)
    }
}

/// Whether no file can be opened just now, because too many are.
#[expect(clippy::disallowed_methods, reason = "no file of a workspace")]
pub fn is_out_of_handles() -> bool {
    let nothing = if cfg!(windows) { "NUL" } else { "/dev/null" };
    std::fs::File::open(nothing).is_err_and(|error| is_shortage(&error))
}

/// Has what is created get these rights, where the system has rights of this kind.
pub trait WithMode {
    /// The rights, as `chmod` takes them; the process's `umask` takes some away.
    fn with_mode(&mut self, mode: u32) -> &mut Self;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_under_another_name_and_another_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        std::fs::write(&one, "0123456789").unwrap();
        let before = FileId::at(&one).unwrap().unwrap();
        std::fs::hard_link(&one, &two).unwrap();
        assert_eq!(FileId::at(&two).unwrap(), Some(before));
        assert_eq!(FileId::of(&two, &two.metadata().unwrap()).unwrap(), before);
        std::fs::remove_file(&two).unwrap();
        assert_eq!(FileId::at(&two).unwrap(), None);
        std::fs::write(&two, "").unwrap();
        assert_ne!(FileId::at(&two).unwrap(), Some(before));
        assert!(FileId::at(folder.path()).unwrap().is_some());

        let metadata = one.metadata().unwrap();
        let modified = metadata.modified().unwrap();
        let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(i128::from(modified_ns(&metadata)), since.as_nanos() as i128);
        assert!(change_time_ns(&metadata) >= modified_ns(&metadata));

        let file = std::fs::File::open(&one).unwrap();
        let mut bytes = [0; 3];
        read_exact_at(&file, &mut bytes, 4).unwrap();
        assert_eq!(&bytes, b"456");
        let error = read_exact_at(&file, &mut bytes, 8).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
