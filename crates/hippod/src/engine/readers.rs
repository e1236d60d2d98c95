//! Questions that wait until files are read.

use std::time::Instant;

use tokio::sync::oneshot;

use super::workspace::{Dirty, Workspace};

/// A question that waits until files are read.
#[derive(Debug)]
pub struct Reader {
    /// Their paths; none stands for every file that is known to have changed.
    paths: Vec<String>,
    done: oneshot::Sender<()>,
}

impl Workspace {
    /// Reads files before others, and answers when they are read.
    pub fn read_soon(&mut self, paths: Vec<String>, done: oneshot::Sender<()>, now: Instant) {
        for path in &paths {
            self.mark_dirty(path.clone(), now);
        }
        self.readers.push(Reader { paths, done });
    }

    /// Whether a question waits for just this file.
    pub fn is_wanted(&self, path: &str) -> bool {
        self.readers
            .iter()
            .any(|reader| reader.paths.iter().any(|wanted| wanted == path))
    }

    /// Answers the questions whose files are read. A file that cannot be read now is not waited for.
    pub fn answer_readers(&mut self, now: Instant) {
        let (dirty, scans) = (&self.dirty, self.scan_at <= now);
        let is_due = |dirty: &Dirty| dirty.not_before <= now;
        for reader in std::mem::take(&mut self.readers) {
            let waits = if reader.paths.is_empty() {
                scans || dirty.values().any(is_due)
            } else {
                reader
                    .paths
                    .iter()
                    .any(|path| dirty.get(path).is_some_and(is_due))
            };
            if !waits {
                // A question that waits no longer needs no answer.
                let _ = reader.done.send(());
            } else if !reader.done.is_closed() {
                self.readers.push(reader);
            }
        }
    }
}
