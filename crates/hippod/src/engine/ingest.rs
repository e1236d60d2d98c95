//! Indexing of one file in one transaction.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use hippo_store::StoreError;
use hippo_store::db::{DocumentChange, DocumentRecord};
use hippo_text::chunk::{self, ContentHash, Document};
use hippo_text::source;
use hippo_text::terms::Analyzer;
use hippo_tree::{BodyAuthor, Node, Period};
use hippo_types::scope::Scope;
use hippo_types::time::{Date, Timestamp};

use super::patch;
use super::reading::{FileReading, link_target, open_source, read_file};
use super::workspace::{Dirty, KnownDocument, Workspace};
use crate::scan::{Looker, PathClass, SkippedFile};
use crate::verify::FileMark;

/// Delay before another attempt to read a file that changed during a read.
const UNSETTLED: Duration = Duration::from_millis(100);
/// Delay before another attempt after a rejected write, for example on a full disk.
const TROUBLE: Duration = Duration::from_secs(5);
/// Coarsest resolution of file times in nanoseconds. If a file is read within this time after a change, a later change
/// may have the same file time.
const RACY_NS: i64 = 2_000_000_000;

/// Result of an attempt to index a path that may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshResult {
    /// The index did not change: the content is unchanged, or the path is not a memory file.
    Same,
    /// The document was added or changed.
    Changed,
    /// The document was removed from the index.
    Removed,
    /// The attempt failed and will be repeated later.
    Later,
}

/// The current time and the tools for indexing files.
pub struct Ingest<'a, 'l> {
    /// Analyzer that extracts the index terms from text. It keeps its buffers between files.
    pub analyzer: &'a mut Analyzer,
    /// Current wall-clock time.
    pub now: Timestamp,
    /// Current time of the monotonic clock.
    pub at: Instant,
    /// Converts a file time to a day in the user's time zone.
    pub to_date: &'a dyn Fn(Timestamp) -> Date,
    /// Inspects paths. It caches the ignore files that it has read.
    pub looker: &'a mut Looker<'l>,
}

impl Workspace {
    /// Updates the index for a path that may have changed.
    pub fn refresh(&mut self, path: &str, dirty: Dirty, ingest: &mut Ingest<'_, '_>) -> RefreshResult {
        let refreshed = self.try_refresh(path, dirty, ingest);
        match refreshed.and_then(|refreshed| self.remove_moved(path).map(|()| refreshed)) {
            Ok(refreshed) => {
                if refreshed == RefreshResult::Changed {
                    self.entries.note_changed_file(path, ingest.at);
                }
                if matches!(refreshed, RefreshResult::Changed | RefreshResult::Removed) {
                    self.trouble = None;
                    self.last_write = ingest.at;
                }
                refreshed
            }
            Err(error) => {
                tracing::warn!(%error, "could not index a file; retrying");
                self.trouble = Some(error);
                self.retry(path.to_owned(), dirty, ingest.at + TROUBLE);
                RefreshResult::Later
            }
        }
    }

    /// Removes a missing document if its content is now indexed under `path`, because its file was renamed.
    fn remove_moved(&mut self, path: &str) -> Result<(), StoreError> {
        let hash = self.known.get(path).map(|known| known.hash);
        if hash.is_none() || self.missing.contains_key(path) || self.held.contains(path) {
            return Ok(());
        }
        // After a folder was renamed, several missing documents can have this content. The files arrive in the same
        // order, so the first match is the right one.
        let mut gone = self.missing.keys().chain(&self.held);
        match gone
            .find(|gone| self.known.get(*gone).map(|known| known.hash) == hash)
            .cloned()
        {
            Some(moved) => self.remove(&[moved]).map(drop),
            None => Ok(()),
        }
    }

    fn try_refresh(
        &mut self,
        path: &str,
        dirty: Dirty,
        ingest: &mut Ingest<'_, '_>,
    ) -> Result<RefreshResult, StoreError> {
        let (bytes, mark) = match self.read(path, ingest.looker) {
            FileReading::Whole(bytes, mark) => (bytes, mark),
            FileReading::Shortage => {
                return Err(StoreError::TooManyOpenFiles {
                    path: self.root.join(path),
                });
            }
            FileReading::Unsettled => {
                self.retry(path.to_owned(), dirty, ingest.at + UNSETTLED);
                return Ok(RefreshResult::Later);
            }
            FileReading::Missing => {
                self.own_nodes.remove(path);
                if self.known.contains_key(path) && !self.held.contains(path) {
                    self.missing.entry(path.to_owned()).or_insert(ingest.at);
                }
                return Ok(RefreshResult::Same);
            }
            FileReading::LeftOut => return self.remove(&[path.to_owned()]),
            FileReading::Refused { reason, forget } => {
                self.skip(path, reason);
                return if forget {
                    self.remove(&[path.to_owned()])
                } else {
                    Ok(RefreshResult::Same)
                };
            }
        };
        self.missing.remove(path);
        self.held.remove(path);
        self.skipped.remove(path);

        let racy = ingest
            .now
            .0
            .saturating_mul(1_000_000)
            .saturating_sub(mark.mtime_ns)
            < RACY_NS;
        if is_own_node(path, &bytes) {
            self.own_nodes.insert(path.to_owned(), (mark, racy));
            return if self.known.contains_key(path) {
                self.remove(&[path.to_owned()])
            } else {
                Ok(RefreshResult::Same)
            };
        }
        self.own_nodes.remove(path);
        let Ok(target) = link_target(&self.root, path) else {
            self.retry(path.to_owned(), dirty, ingest.at + UNSETTLED);
            return Ok(RefreshResult::Later);
        };
        let hash = ContentHash::of(&bytes).0;
        let same = self.known.get(path).copied().filter(|known| known.hash == hash);
        let same = same.filter(|known| self.view.link_target(known.document) == target);
        if let Some(known) = same {
            self.pending.read_again(known.document);
            if !known.is_outdated {
                return self.touch(path, known, KnownDocument { mark, racy, ..known }, ingest);
            }
        }
        let document = chunk::chunk(&bytes);
        let record = DocumentRecord {
            target,
            ..record_of(path, mark, hash, &document, ingest)
        };
        let restriction = document.front_matter.restriction.clone();
        let scope = patch::scope_of(&self.view.scopes, &record, restriction);
        let is_shared = scope.is_shared();
        let change = self.write(&record, &document, &bytes, scope, ingest)?;
        self.known.insert(
            path.to_owned(),
            KnownDocument {
                document: change.document,
                mark,
                hash,
                racy,
                is_outdated: false,
                is_shared,
            },
        );
        if !is_shared {
            self.entries.note_private_file(path, &bytes, &document);
        }
        self.files_on_disk = self.files_on_disk.max(self.known.len());
        // A document that was only divided again is no news for its entries.
        Ok(match same {
            Some(_) => RefreshResult::Same,
            None => RefreshResult::Changed,
        })
    }

    /// Writes a changed document. The change is prepared in a transaction, then committed and applied to the snapshot
    /// under one lock.
    fn write(
        &mut self,
        record: &DocumentRecord,
        document: &Document,
        bytes: &[u8],
        scope: Scope,
        ingest: &mut Ingest<'_, '_>,
    ) -> Result<DocumentChange, StoreError> {
        let analyzer = &mut *ingest.analyzer;
        let mut text = String::new();
        let mut terms = |chunk: &chunk::Chunk, lead: &str, out: &mut String| {
            text.clear();
            text.push_str(lead);
            text.push('\n');
            text.push_str(&chunk::chunk_text(bytes, chunk));
            analyzer.index_terms(&text, out)
        };
        let mut batch = self.store.begin()?;
        let change = batch.put_document(record, document, &mut terms)?;
        let generation = batch.next_generation()?;
        let mut snapshot = self.view.picture_mut();
        batch.commit()?;
        patch::replace(&mut snapshot, record, document, &change, (scope, generation));
        let added: HashSet<u32> = change.added.iter().copied().collect();
        let reused: Vec<u32> = change
            .chunks
            .iter()
            .filter(|chunk| chunk.vector.is_some() && added.contains(&chunk.id))
            .map(|chunk| chunk.id)
            .collect();
        patch::insert_vectors(&mut snapshot, &self.store.vectors(&reused)?);
        drop(snapshot);
        self.untidy += (change.added.len() + change.removed.len()) as u64;
        self.pending.forget(change.document, &change.removed);
        let waiting = change
            .chunks
            .iter()
            .filter(|chunk| chunk.vector.is_none())
            .map(|chunk| chunk.id);
        self.pending.add(change.document, waiting, true);
        Ok(change)
    }

    /// Removes documents from the index.
    pub fn remove(&mut self, paths: &[String]) -> Result<RefreshResult, StoreError> {
        let mut batch = self.store.begin()?;
        let mut changes = Vec::new();
        for path in paths {
            changes.extend(batch.remove_document(path)?);
        }
        let generation = batch.next_generation()?;
        let mut snapshot = self.view.picture_mut();
        batch.commit()?;
        for change in &changes {
            patch::remove(&mut snapshot, change, generation);
        }
        drop(snapshot);
        for change in &changes {
            self.pending.forget(change.document, &change.removed);
        }
        self.entries.compare_private |= !self.entries.private_texts.is_empty();
        for path in paths {
            self.known.remove(path);
            self.missing.remove(path);
            self.held.remove(path);
            self.entries.note_changed_file(path, Instant::now());
        }
        // The last scan may not have counted the removed files any more.
        let left = self.files_on_disk.saturating_sub(changes.len());
        self.files_on_disk = left.max(self.known.len());
        Ok(if changes.is_empty() {
            RefreshResult::Same
        } else {
            RefreshResult::Removed
        })
    }

    /// Updates the size and the time of a document whose content is unchanged.
    fn touch(
        &mut self,
        path: &str,
        before: KnownDocument,
        after: KnownDocument,
        ingest: &Ingest<'_, '_>,
    ) -> Result<RefreshResult, StoreError> {
        if before.mark != after.mark {
            let mut snapshot = self.view.picture_mut();
            let place = snapshot.corpus.document(after.document);
            let former = place.and_then(|document| document.date);
            // If the date of the document comes from the file's time, the date changes as well.
            let dated = source::date_in_name(path).is_some() || former != Some(date_of(before.mark, ingest));
            let date = if dated {
                former
            } else {
                Some(date_of(after.mark, ingest))
            };
            let record = DocumentRecord {
                path: path.to_owned(),
                size: after.mark.size,
                mtime_ns: after.mark.mtime_ns,
                hash: after.hash,
                date: date.map(|date| date.to_string()),
                target: None,
            };
            let mut batch = self.store.begin()?;
            batch.touch_document(&record)?;
            let mut generation = snapshot.generation;
            if date != former {
                generation = batch.next_generation()?;
            }
            batch.commit()?;
            snapshot.generation = generation;
            if let Some(facts) = snapshot.facts.get_mut(&after.document) {
                facts.mark = after.mark;
            }
            snapshot.corpus.set_date(after.document, date);
        }
        self.known.insert(path.to_owned(), after);
        Ok(RefreshResult::Same)
    }

    fn skip(&mut self, path: &str, reason: String) {
        self.skipped
            .insert(path.to_owned(), SkippedFile::new(path, reason));
    }

    fn read(&self, path: &str, looker: &mut Looker<'_>) -> FileReading {
        match looker.look(path) {
            PathClass::File(_) => {}
            PathClass::Skipped(reason) => {
                // An unreadable file may be unchanged and stays in the index. A path that is no longer a memory file is
                // removed.
                let forget = match open_source(&self.root, path) {
                    Ok(_) => true,
                    Err(error) => error.kind() == std::io::ErrorKind::InvalidInput,
                };
                return FileReading::Refused { reason, forget };
            }
            PathClass::None if hippo_fs::exists(&self.root, path) => return FileReading::LeftOut,
            PathClass::None => return FileReading::Missing,
            PathClass::Unknown => {
                return FileReading::Refused {
                    reason: "its folder cannot be read".to_owned(),
                    forget: false,
                };
            }
        }
        read_file(&self.root, path, self.view.config.sources.max_file_bytes)
    }
}

/// Returns whether the file is a node of the compaction tree that only hippod wrote. Such a node repeats the daily logs
/// and is not indexed.
fn is_own_node(path: &str, bytes: &[u8]) -> bool {
    let node = Period::of_path(path).map(|period| Node::read(period, &String::from_utf8_lossy(bytes)));
    node.is_some_and(|node| node.writer == BodyAuthor::Hippod)
}

/// Creates the record of a document. The date is that of the front matter, or else that of the file name, or else that
/// of the file's time.
fn record_of(
    path: &str,
    mark: FileMark,
    hash: [u8; 16],
    document: &Document,
    ingest: &Ingest<'_, '_>,
) -> DocumentRecord {
    let date = document
        .front_matter
        .date
        .or_else(|| source::date_in_name(path))
        .unwrap_or_else(|| date_of(mark, ingest));
    DocumentRecord {
        path: path.to_owned(),
        size: mark.size,
        mtime_ns: mark.mtime_ns,
        hash,
        date: Some(date.to_string()),
        target: None,
    }
}

fn date_of(mark: FileMark, ingest: &Ingest<'_, '_>) -> Date {
    (ingest.to_date)(Timestamp(mark.mtime_ns / 1_000_000))
}
