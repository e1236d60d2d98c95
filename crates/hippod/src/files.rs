//! How is a file of a workspace opened and read, so that nothing that stands in its place can hold the daemon up?

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use hippo_core::chunk;
use hippo_core::entry::Pointer;
use hippo_proto::Paths;
use hippo_store::system::{self, sync_folder};

/// Files that are made durable one by one.
const FEW: usize = 32;

/// Opens a regular file. A pipe without a writer is not waited for.
///
/// # Errors
/// As the system says, or [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = without_waiting(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(not_regular())
    }
}

/// Reads a regular file whole.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] above `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(bytes)
}

/// Puts `bytes` into a file where it stands, which is made where there is none. A pipe without a reader is not waited for.
///
/// # Errors
/// As [`open`]; the file may be empty then.
pub fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = to_write_without_waiting(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_regular());
    }
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Makes the contents of files and their names durable.
///
/// # Errors
/// As the system says.
pub fn sync_all(paths: &[PathBuf]) -> io::Result<()> {
    if paths.len() > FEW && sync_systems(paths)? {
        return Ok(());
    }
    for path in paths {
        system::sync_file(path)?;
    }
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    folders.into_iter().try_for_each(sync_folder)
}

/// Has the system write down all that it holds back of the file systems that files are on, if it can: waiting for each of thousands of
/// files takes minutes.
#[cfg(target_os = "linux")]
fn sync_systems(paths: &[PathBuf]) -> io::Result<bool> {
    let mut done = BTreeSet::new();
    for path in paths {
        let file = File::open(path)?;
        if done.insert(system::FileId::of(path, &file.metadata()?)?.device) {
            rustix::fs::syncfs(file)?;
        }
    }
    Ok(true)
}

/// It cannot for one of them alone.
#[cfg(not(target_os = "linux"))]
fn sync_systems(_paths: &[PathBuf]) -> io::Result<bool> {
    Ok(false)
}

/// Writes a file whole or not at all: as a draft on the same disk, which takes its name. Its bytes are durable, and its name once
/// its folder is.
///
/// # Errors
/// As the system says; the file is as it was.
pub fn write_whole(path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
    // Of a process that was stopped while it wrote, or something that nobody can write to.
    let _ = std::fs::remove_file(draft);
    let written = File::create_new(draft)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(draft, path));
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(draft);
    })
}

/// A path below the root, with `/` between its parts; nothing for one that is not below it or is no UTF-8.
pub fn below(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.iter();
    let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// A path with `/` between its parts, for people to read; what is no UTF-8 is replaced.
pub fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    match MAIN_SEPARATOR {
        '/' => text.into_owned(),
        other => text.replace(other, "/"),
    }
}

/// Whether a path is in one of the folders that hippod alone keeps its files in.
pub fn is_own(paths: &Paths, path: &Path) -> bool {
    let own = [&paths.state, &paths.models, &paths.runtime];
    own.into_iter()
        .any(|own| path.starts_with(own.canonicalize().as_deref().unwrap_or(own)))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Whether an error says that there is no such file. Any other says that nobody knows what is there.
pub fn is_absence(error: &io::Error) -> bool {
    // The name of a file in the place of a folder.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether something stands where a pointer points: the file, and in it a section of that title. What cannot be read now
/// is not said to lead nowhere.
pub fn leads_somewhere(root: &Path, pointer: &Pointer, limit: u64) -> bool {
    let real = match root.join(&pointer.path).canonicalize() {
        Ok(real) => real,
        Err(error) => return !is_absence(&error),
    };
    if !real.starts_with(root) {
        return false;
    }
    let Some(section) = &pointer.section else {
        return true;
    };
    let bytes = match read(&real, limit) {
        Ok(bytes) => bytes,
        // A folder has no sections.
        Err(error) => return !is_absence(&error) && error.kind() != io::ErrorKind::InvalidInput,
    };
    chunk::chunk(&bytes)
        .sections
        .iter()
        .any(|there| there.title == *section)
}

#[cfg(unix)]
fn without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // On a regular file the flag changes nothing.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(unix)]
fn to_write_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    match rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => Ok(file.into()),
        // What a pipe without a reader, or a socket, answers.
        Err(Errno::NXIO) => Err(not_regular()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn to_write_without_waiting(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

#[cfg(not(unix))]
fn without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.md");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe.as_path(), folder.path()] {
            assert_eq!(read(path, 10).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert_eq!(
            overwrite(&pipe, b"x").unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        let reader = without_waiting(&pipe).unwrap();
        assert_eq!(
            overwrite(&pipe, b"x").unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        drop(reader);
        overwrite(folder.path(), b"x").unwrap_err();
        let file = folder.path().join("file.md");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, 10).unwrap(), b"0123456789");
        assert_eq!(read(&file, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        overwrite(&file, b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        overwrite(&folder.path().join("other.md"), b"made").unwrap();
        assert_eq!(std::fs::read(folder.path().join("other.md")).unwrap(), b"made");
    }
}
