//! Where is the log of a day, may it be appended to, and how do whole sections come to its end in one step?

use std::io::{self, ErrorKind as IoErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hippo_core::time::Date;
use hippo_proto::{ErrorKind, RpcError};

use super::{append, files};

/// A log above this size is not read to find its line ends.
const LARGEST: u64 = 64 << 20;

/// The log of a day, as it was when it was looked at. Only one at a time writes to logs while there is one.
pub(super) struct Log {
    /// Relative to the workspace.
    pub path: String,
    /// All of it; nothing where there is none yet.
    pub before: Vec<u8>,
    whole: PathBuf,
    day: Date,
    _one: MutexGuard<'static, ()>,
}

impl Log {
    /// Looks at the log of a day.
    ///
    /// # Errors
    /// `bad-request` where it leads out of the workspace, else `read-only` or `internal` with what the system said.
    pub fn open(root: &Path, day: Date) -> Result<Self, RpcError> {
        // Two clients that begin a day write its title once.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let path = format!("memory/{day}.md");
        let whole = root.join(&path);
        let refused = |error| refused(&path, error);
        match std::fs::create_dir(root.join("memory")) {
            Err(error) if error.kind() != IoErrorKind::AlreadyExists => return Err(refused(error)),
            _ => {}
        }
        let real = whole
            .parent()
            .map(Path::canonicalize)
            .transpose()
            .map_err(refused)?;
        let linked = whole.canonicalize().is_ok_and(|real| !real.starts_with(root));
        if linked || real.is_none_or(|real| !real.starts_with(root)) {
            return Err(
                RpcError::bad_request(format!("the log leads out of the workspace: {path}"))
                    .hint("logs are written within the workspace only; nothing was written"),
            );
        }
        let before = match files::read(&whole, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == IoErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(refused(error)),
        };
        Ok(Self {
            path,
            before,
            whole,
            day,
            _one: one,
        })
    }

    /// Appends a section, or several: text that ends with a line end. `name` is how it is called where only a part of it could be
    /// written. Answers its first and its last line.
    ///
    /// # Errors
    /// `read-only` or `internal` with what the system said; the log is as it was, or the hint says what stands there.
    pub fn append(&self, section: &str, name: &str) -> Result<(u32, u32), RpcError> {
        let path = &self.path;
        let end = if self.before.windows(2).any(|pair| pair == b"\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let mut text = String::new();
        if self.before.is_empty() {
            text.push_str(&format!("# {}\n\n", self.day));
        } else {
            text.push_str(if self.before.ends_with(b"\n") {
                "\n"
            } else {
                "\n\n"
            });
        }
        let lines = section.matches('\n').count();
        let text = (text + section).replace('\n', end);
        let after = append::append(&self.whole, text.as_bytes()).map_err(|failed| match failed.left {
            0 => refused(path, failed.error),
            left => RpcError::internal(format!("could not append all of the text to {path}: {}", failed.error)).hint(
                format!("the first {left} bytes of the section {name:?} stand there: take them out, or say it once more when there is room"),
            ),
        })?;
        // Others may have appended before and after: where it stands is counted from the end of this write.
        let upto = usize::try_from(after).unwrap_or(usize::MAX);
        let now = files::read(&self.whole, LARGEST).map_err(|error| {
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
        let height = u32::try_from(lines.saturating_sub(1)).unwrap_or(0);
        Ok((end_line.saturating_sub(height), end_line))
    }
}

fn refused(path: &str, error: io::Error) -> RpcError {
    let what = format!("could not append to {path}: {error}");
    match error.kind() {
        IoErrorKind::PermissionDenied | IoErrorKind::ReadOnlyFilesystem => {
            RpcError::new(ErrorKind::ReadOnly, what)
                .hint("make the folder memory/ and its logs writable; nothing was written")
        }
        _ => RpcError::internal(what).hint("look after the disk of the workspace; nothing was written"),
    }
}
