//! A daily log, and atomic appends of sections to it.

use std::io::{self, ErrorKind as IoErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hippo_fs::{Folder, PathRefusal, WorkspaceDir};
use hippo_proto::{ErrorKind, RpcError};
use hippo_types::time::Date;

use super::append::append;
use crate::errors;

/// Maximum size of a log in bytes; appending to a larger log fails.
const LARGEST: u64 = 64 << 20;

/// A log as it was read. It holds a global lock, so only one writer exists at a time.
pub(super) struct LogSnapshot {
    /// Path relative to the workspace.
    pub path: String,
    /// Content of the log; empty if the file does not exist.
    pub before: Vec<u8>,
    folder: Folder,
    name: String,
    title: String,
    _one: MutexGuard<'static, ()>,
}

impl LogSnapshot {
    /// Reads the log of a day in a folder.
    ///
    /// # Errors
    /// Returns `bad-request` if a component of the path is a link or the log is in UTF-16, otherwise `read-only` or `internal` with
    /// the error of the operating system.
    pub fn open(root: &Path, folder: &str, day: Date) -> Result<Self, RpcError> {
        let path = format!("{folder}{day}.md");
        // Without this lock, two clients that start the same day could both write the title.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |error| log_error(&path, error);
        let opened = WorkspaceDir::open(root).and_then(|dir| {
            let (folder, name) = dir.make_parent(&path)?;
            Ok((folder, name.to_string_lossy().into_owned()))
        });
        let (folder, name) = opened.map_err(refused)?;
        let before = match folder.read(&name, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == IoErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(refused(error)),
        };
        errors::require_utf8(&path, &before)?;
        Ok(Self {
            path,
            before,
            folder,
            name,
            title: day.to_string(),
            _one: one,
        })
    }

    /// Appends one or more sections, each of which ends with a newline. `name` identifies the text in the error after a
    /// partial write. Returns the first and the last line.
    ///
    /// # Errors
    /// Returns `read-only` or `internal` with the error of the operating system. Either the log is unchanged, or the
    /// hint describes what was written.
    pub fn append(&self, section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        let text = self.with_its_ends(&(self.beginning() + section));
        let path = &self.path;
        let after =
            append(&self.folder, &self.name, text.as_bytes()).map_err(|failed| match failed.left {
                0 => log_error(path, failed.error),
                left => RpcError::internal(format!(
                    "could not append the whole text to {path}: {}",
                    failed.error
                ))
                .hint(format!(
                    "the log contains only the first {left} bytes of the section {name:?}: free some space \
                     and repeat the call, or delete these bytes"
                )),
            })?;
        // Other programs may have appended before and after this write, so the lines are counted back from its end.
        let upto = usize::try_from(after).unwrap_or(usize::MAX);
        let now = self.folder.read(&self.name, LARGEST).map_err(|error| {
            RpcError::internal(format!(
                "the text was appended to {path}, but the file could not be read afterwards: {error}"
            ))
            .hint("make the file readable, then repeat the call; the text is not appended a second time")
        })?;
        let ends = now
            .get(..upto)
            .unwrap_or(&now)
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        let end_line = u32::try_from(ends).unwrap_or(u32::MAX);
        let lines = section.matches('\n').count();
        let height = u32::try_from(lines.saturating_sub(1)).unwrap_or(0);
        Ok((end_line.saturating_sub(height), end_line))
    }

    /// Returns the text that precedes a new section: the title of a new log, or a blank line after existing content.
    fn beginning(&self) -> String {
        match self.before.as_slice() {
            [] => format!("# {}\n\n", self.title),
            [.., b'\n'] => "\n".to_owned(),
            _ => "\n\n".to_owned(),
        }
    }

    fn with_its_ends(&self, text: &str) -> String {
        if self.before.windows(2).any(|pair| pair == b"\r\n") {
            text.replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    }
}

fn log_error(path: &str, error: io::Error) -> RpcError {
    let what = format!("could not append to {path}: {error}");
    match error.kind() {
        _ if matches!(
            hippo_fs::refusal(&error),
            Some(PathRefusal::Link(_) | PathRefusal::Outside(_) | PathRefusal::Hidden(_))
        ) =>
        {
            RpcError::bad_request(what).hint(
                "hippod writes logs only within the workspace and never through links; nothing was written",
            )
        }
        IoErrorKind::PermissionDenied | IoErrorKind::ReadOnlyFilesystem => {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            RpcError::new(ErrorKind::ReadOnly, what).hint(format!(
                "make the folder {folder}/ and the files in it writable; nothing was written"
            ))
        }
        _ => RpcError::internal(what).hint("check the disk of the workspace; nothing was written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritable_folder_is_named() {
        for (path, folder) in [
            ("memory/2026-03-02.md", "folder memory/ "),
            ("knowledge/imported/mem0.md", "folder knowledge/imported/ "),
        ] {
            let refused = log_error(path, io::Error::from(IoErrorKind::PermissionDenied));
            assert_eq!(refused.data.kind, ErrorKind::ReadOnly);
            assert!(refused.data.hint.contains(folder), "{refused:?}");
        }
    }
}
