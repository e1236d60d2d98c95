//! File helpers for files outside of workspaces, and path conversions.
//!
//! Files of a workspace are opened by hippo-fs.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use hippo_fs::is_absence;
use hippo_fs::{FileKind, WorkspaceDir};
use hippo_proto::{Paths, RpcError};
use hippo_text::chunk;
use hippo_types::entry::Pointer;

use crate::watcher::OWN_FOLDER;

/// Opens a regular file. Opening a pipe without a writer does not block.
///
/// # Errors
/// Returns the error of the operating system, or [`io::ErrorKind::InvalidInput`] for anything but a regular
/// file.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let file = without_waiting(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(not_regular())
    }
}

/// Reads a whole regular file.
///
/// # Errors
/// Fails as [`open`] does, or with [`io::ErrorKind::FileTooLarge`] above `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    hippo_fs::read_all(open(path)?, limit)
}

/// Writes a file atomically: writes the content to the file `draft` on the same disk, then renames it. On return, the
/// content is durable. To make the rename durable, the caller must sync the folder.
///
/// # Errors
/// Returns the error of the operating system; the file is unchanged.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn write_whole(path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
    // Remove the draft that an interrupted process left behind; it may be read-only.
    let _ = std::fs::remove_file(draft);
    let written = File::create_new(draft)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(draft, path));
    written.inspect_err(|_| {
        // Report the first error rather than an error of this cleanup.
        let _ = std::fs::remove_file(draft);
    })
}

/// Returns the path below the root, separated by `/`, or `None` if the path is outside of the root or not
/// UTF-8.
pub fn below(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.iter();
    let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// Returns the path as text; invalid UTF-8 is replaced.
pub fn slashed(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns whether a path is in one of hippod's own folders.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn is_own(paths: &Paths, path: &Path) -> bool {
    let own = [&paths.state, &paths.models, &paths.runtime];
    own.into_iter()
        .any(|own| path.starts_with(own.canonicalize().as_deref().unwrap_or(own)))
}

/// Checks that a folder can be a workspace.
///
/// # Errors
/// Returns `bad-request` for a system folder, for a folder inside or around hippod's own files, and for a
/// folder whose `.hippocampus` is a link.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn check_fit(paths: &Paths, root: &Path) -> Result<(), RpcError> {
    let refused = |what: String| {
        Err(RpcError::bad_request(what).hint("give the folder that contains the memory files"))
    };
    const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];
    let is_top = root.parent().is_none();
    if is_top || SYSTEM.iter().any(|place| root.starts_with(place)) {
        return refused(format!("this is a system folder: {}", root.display()));
    }
    let own = [&paths.state, &paths.models, &paths.runtime, &paths.config_file];
    // Hidden folders are never scanned, so a home folder can be a workspace although it contains hippod's folders.
    let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
    let around = |own: &PathBuf| {
        let own = own.canonicalize().unwrap_or_else(|_| own.clone());
        own.strip_prefix(root)
            .is_ok_and(|below| !below.iter().any(is_hidden))
    };
    if is_own(paths, root) || own.into_iter().any(around) {
        return refused(format!(
            "{} contains or is inside a folder of hippod's own files",
            root.display()
        ));
    }
    let own = WorkspaceDir::open(root).and_then(|dir| dir.stat(OWN_FOLDER));
    if own.is_ok_and(|own| own.is_some_and(|own| own.kind == FileKind::Link)) {
        let own = root.join(OWN_FOLDER);
        let what = format!("could not use {}: it is a link", own.display());
        return Err(RpcError::bad_request(what).hint("remove the link; hippod creates the folder itself"));
    }
    Ok(())
}

/// Returns the folder that contains all of hippod's folders, if one exists, as with `HIPPOD_HOME`.
pub fn home(paths: &Paths) -> Option<&Path> {
    let home = paths.state.parent()?;
    let all = [&paths.models, &paths.runtime, &paths.config_file];
    all.into_iter()
        .all(|path| path.parent() == Some(home))
        .then_some(home)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Returns whether the target of a pointer exists: the file and, if the pointer names a section, a section with that
/// title. An unreadable target counts as existing.
pub fn leads_somewhere(root: &Path, pointer: &Pointer, limit: u64) -> bool {
    let resolved = WorkspaceDir::open(root).and_then(|dir| Ok((dir.resolve(&pointer.path)?, dir)));
    let (real, dir) = match resolved {
        Ok(resolved) => resolved,
        Err(error) => return hippo_fs::refusal(&error).is_none() && !is_absence(&error),
    };
    let Some(section) = &pointer.section else {
        return true;
    };
    let bytes = match dir.read(&real, limit) {
        Ok(bytes) => bytes,
        // A folder has no sections.
        Err(error) => return !is_absence(&error) && error.kind() != io::ErrorKind::InvalidInput,
    };
    chunk::chunk(&bytes)
        .sections
        .iter()
        .any(|there| there.title == *section)
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // `NONBLOCK` has no effect on a regular file.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Returns the path of a workspace's index file.
pub fn index_path(root: &Path) -> PathBuf {
    root.join(hippo_map::layout::INDEX_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_and_oversized_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.md");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe.as_path(), folder.path()] {
            assert_eq!(read(path, 10).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        let file = folder.path().join("file.md");
        std::fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, 10).unwrap(), b"0123456789");
        assert_eq!(read(&file, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
