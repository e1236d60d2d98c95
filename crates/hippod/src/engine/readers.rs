//! Queries that wait until changed files have been indexed.

use std::time::Instant;

use tokio::sync::oneshot;

use super::agenda::Chore;
use super::workspace::{Dirty, Workspace};

/// A query that waits until changed files have been indexed.
#[derive(Debug)]
pub struct WaitingQuery {
    /// Paths of the files for which the query waits. An empty list means all files that may have changed.
    paths: Vec<String>,
    done: oneshot::Sender<bool>,
}

impl Workspace {
    /// Queues these files for indexing at once, and signals `done` when the files have been read. The signal is true if
    /// all of them are in the index.
    pub fn read_soon(&mut self, paths: Vec<String>, done: oneshot::Sender<bool>, now: Instant) {
        for path in &paths {
            self.mark_dirty(path.clone(), now);
        }
        self.readers.push(WaitingQuery { paths, done });
    }

    /// Returns whether a query waits for this file.
    pub fn is_wanted(&self, path: &str) -> bool {
        self.readers
            .iter()
            .any(|reader| reader.paths.iter().any(|wanted| wanted == path))
    }

    /// Answers the waiting queries whose files have been read. A query does not wait for a file that can only be read
    /// later.
    pub fn answer_readers(&mut self, now: Instant) {
        let (dirty, scans) = (&self.dirty, self.agenda.is_due(Chore::Scan, now));
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
                let is_known = |path: &String| !dirty.contains_key(path) && self.known.contains_key(path);
                // A cancelled query needs no answer.
                let _ = reader.done.send(reader.paths.iter().all(is_known));
            } else if !reader.done.is_closed() {
                self.readers.push(reader);
            }
        }
    }
}
