//! Where is a log, may it be appended to, and how do whole sections come to its end in one step?

use std::io::{self, ErrorKind as IoErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hippo_core::time::Date;
use hippo_fs::{Folder, Refusal, WorkspaceDir};
use hippo_proto::{ErrorKind, RpcError};

use super::append::{Durable, append};

/// A log above this size is not read to find its line ends.
const LARGEST: u64 = 64 << 20;

/// A log, as it was when it was looked at. Only one at a time writes to logs while there is one.
pub(super) struct Log {
    /// Relative to the workspace.
    pub path: String,
    /// All of it; nothing where there is none yet.
    pub before: Vec<u8>,
    folder: Folder,
    name: String,
    title: Option<String>,
    _one: MutexGuard<'static, ()>,
}

impl Log {
    /// Looks at the log of a day.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    pub fn open(root: &Path, day: Date) -> Result<Self, RpcError> {
        Self::at(root, format!("memory/{day}.md"), Some(day.to_string()))
    }

    /// Looks at a log at any path below the workspace; one that is begun gets the title.
    ///
    /// # Errors
    /// `bad-request` where a component of the path is a link, else `read-only` or `internal` with what the system said.
    pub fn at(root: &Path, path: String, title: Option<String>) -> Result<Self, RpcError> {
        // Two clients that begin a day write its title once.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |error| refused(&path, error);
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
        Ok(Self {
            path,
            before,
            folder,
            name,
            title,
            _one: one,
        })
    }

    /// Appends a section, or several: text that ends with a line end. `name` is how it is called where only a part of it could be
    /// written. Answers its first and its last line.
    ///
    /// # Errors
    /// `read-only` or `internal` with what the system said; the log is as it was, or the hint says what stands there.
    pub fn append(&self, section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        self.append_when(Durable::Now, section, name)
    }

    fn append_when(&self, durable: Durable, section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        let text = self.beginning() + section;
        self.put(durable, self.with_its_ends(&text).as_bytes(), section, name)
    }

    /// The same where the log may end with the beginning of just this, because a write was cut off: then the rest is appended. It is on
    /// the disk when the caller says so.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_or_finish(&self, section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        let bare = self.with_its_ends(section);
        let titled = match &self.title {
            Some(title) => self.with_its_ends(&format!("# {title}\n\n{section}")),
            None => bare.clone(),
        };
        let begun =
            Some(titled.as_bytes()).filter(|all| !self.before.is_empty() && all.starts_with(&self.before));
        let rest = match begun {
            Some(all) => all.get(self.before.len()..),
            None => unfinished(&self.before, bare.as_bytes()),
        };
        let apart = [&b"\n\n"[..], b"\r\n\r\n"];
        match rest {
            Some(rest) => self.put(Durable::Later, rest, section, name),
            // It may have been cut off before the first letter.
            None if apart.iter().any(|end| self.before.ends_with(end)) => {
                self.put(Durable::Later, bare.as_bytes(), section, name)
            }
            None => self.append_when(Durable::Later, section, name),
        }
    }

    /// What comes before a section: the title of a log that is begun, else what keeps it apart from what stands above it.
    fn beginning(&self) -> String {
        match &self.title {
            Some(title) if self.before.is_empty() => format!("# {title}\n\n"),
            None if self.before.is_empty() => String::new(),
            _ if self.before.ends_with(b"\n") => "\n".to_owned(),
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

    /// Appends bytes with which `section` ends.
    fn put(&self, durable: Durable, bytes: &[u8], section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        let path = &self.path;
        let after = append(&self.folder, &self.name, bytes, durable).map_err(|failed| match failed.left {
            0 => refused(path, failed.error),
            left => RpcError::internal(format!("could not append all of the text to {path}: {}", failed.error)).hint(
                format!("the first {left} bytes of the section {name:?} stand there: take them out, or say it once more when there is room"),
            ),
        })?;
        // Others may have appended before and after: where it stands is counted from the end of this write.
        let upto = usize::try_from(after).unwrap_or(usize::MAX);
        let now = self.folder.read(&self.name, LARGEST).map_err(|error| {
            RpcError::internal(format!(
                "the text was appended to {path}, which cannot be read now: {error}"
            ))
            .hint("say it once more when it can: what stands there is not appended again")
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
}

/// What is missing of a section with whose beginning a log ends; `None` where it ends with anything else.
fn unfinished<'s>(before: &[u8], section: &'s [u8]) -> Option<&'s [u8]> {
    let from = before.len().saturating_sub(section.len());
    let tail = before.get(from..)?;
    let starts = (0..tail.len()).filter(|at| match at.checked_sub(1) {
        Some(previous) => tail[previous] == b'\n',
        None => from == 0 || before[from - 1] == b'\n',
    });
    let begun = starts
        .map(|at| &tail[at..])
        .find(|begun| section.starts_with(begun))?;
    section.get(begun.len()..).filter(|rest| !rest.is_empty())
}

fn refused(path: &str, error: io::Error) -> RpcError {
    let what = format!("could not append to {path}: {error}");
    match error.kind() {
        _ if matches!(
            hippo_fs::refusal(&error),
            Some(Refusal::Link(_) | Refusal::Outside(_) | Refusal::Hidden(_))
        ) =>
        {
            RpcError::bad_request(what)
                .hint("logs are written within the workspace, and never through a link; nothing was written")
        }
        IoErrorKind::PermissionDenied | IoErrorKind::ReadOnlyFilesystem => {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            RpcError::new(ErrorKind::ReadOnly, what).hint(format!(
                "make the folder {folder}/ and the files in it writable; nothing was written"
            ))
        }
        _ => RpcError::internal(what).hint("look after the disk of the workspace; nothing was written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_were_cut_off_anywhere_are_finished_and_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let file = root.join("memory/other/a.md");
        let sections = "## Größe\n\nx\n\n<!-- a -->\n\n## B\n\n## B\n";
        for (before, title) in [
            ("", Some("Day")),
            ("", None),
            ("# Day\n\n## Mine\n\nmine\n", Some("Day")),
            ("mine, open", None),
        ] {
            let write = |cut: Option<&[u8]>| {
                match cut {
                    Some(bytes) => std::fs::write(&file, bytes).unwrap(),
                    None => drop(std::fs::remove_file(&file)),
                }
                let log = Log::at(&root, "memory/other/a.md".into(), title.map(str::to_owned)).unwrap();
                let lines = log.append_or_finish(sections, "a").unwrap();
                (lines, std::fs::read(&file).unwrap())
            };
            let whole = write(Some(before.as_bytes()).filter(|before| !before.is_empty()));
            assert!(whole.1.ends_with(sections.as_bytes()));
            for cut in before.len() + 1..whole.1.len() {
                assert_eq!(write(Some(&whole.1[..cut])), whole, "{before:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_folder_that_may_not_be_written_to_is_named() {
        for (path, folder) in [
            ("memory/2026-03-02.md", "folder memory/ "),
            ("knowledge/imported/mem0.md", "folder knowledge/imported/ "),
        ] {
            let refused = refused(path, io::Error::from(IoErrorKind::PermissionDenied));
            assert_eq!(refused.data.kind, ErrorKind::ReadOnly);
            assert!(refused.data.hint.contains(folder), "{refused:?}");
        }
    }
}
