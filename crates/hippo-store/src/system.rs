//! File operations that differ between operating systems: identity, times, permissions, durability.

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

/// Permissions of a file that only its owner may read and write.
pub const PRIVATE_FILE: u32 = 0o600;
/// Permissions of a folder that only its owner may access.
pub const PRIVATE_FOLDER: u32 = 0o700;

/// Identity of a file. It does not depend on the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device or volume.
    pub device: u64,
    /// The file number on that device.
    pub inode: u64,
}

impl FileId {
    /// Returns the identity of the file at `path`, following links, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns any other error of the operating system; the identity is then unknown.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        let found = path.metadata().and_then(|metadata| Self::of(path, &metadata));
        match found {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the identity of the file at `path`, which has this metadata. On Windows, the file is opened again.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        here::file_id(path, metadata)
    }
}

/// Returns whether opening a file fails at this moment because too many files are open.
#[expect(clippy::disallowed_methods, reason = "this is not a workspace file")]
pub fn is_out_of_handles() -> bool {
    let nothing = if cfg!(windows) { "NUL" } else { "/dev/null" };
    std::fs::File::open(nothing).is_err_and(|error| is_shortage(&error))
}

/// Creation of files and folders with the given permissions, if the operating system supports permissions.
pub trait WithMode {
    /// Sets the permissions, as for `chmod`; the umask of the process applies.
    fn with_mode(&mut self, mode: u32) -> &mut Self;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_id_does_not_depend_on_the_name() {
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
