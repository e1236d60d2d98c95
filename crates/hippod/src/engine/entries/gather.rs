//! Input for the plan of a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hippo_fs::WorkspaceDir;
use hippo_map::bootstrap::{self, ENTRIES_PER_FILE, MOST_ENTRIES, MemoryFile};
use hippo_map::consolidation::{
    self, ConsolidationPlan, ConsolidationSnapshot, DocumentState, EntryRecord, EntryText, RecordPlace,
};
use hippo_map::decay;
use hippo_map::hierarchy::MOST_LIVE;
use hippo_text::chunk::{ContentHash, chunk_text};
use hippo_text::source::SourceKind;
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryId;
use hippo_types::time::Timestamp;

use super::EntryVectors;
use super::documents::{self, IndexedDocument, ReadDocument};
use crate::embed_worker::EmbedWorker;

/// Approximate maximum of the total size in bytes of the files that one plan reads. Changed files are read first.
pub const AT_ONCE: u64 = 256 << 20;
/// Maximum number of unchanged files that one plan reads. They only show how rare each word is.
const UNCHANGED: usize = 500;
/// Pause after each text that the model embeds, so that the model can also embed queries of clients.
const BREATH: Duration = Duration::from_millis(4);

/// Input for the plan of a cycle, copied from the state of the workspace.
pub struct CycleInput {
    /// Kind of cycle.
    pub cycle: Cycle,
    /// The run, the entries and the thresholds. [`CycleInput::plan`] fills the other fields of the snapshot from files. For
    /// a light cycle without changed documents, only the entries that it changes.
    pub snapshot: ConsolidationSnapshot,
    /// Root of the workspace.
    pub root: PathBuf,
    /// All shared documents; empty for a light cycle without changed documents.
    pub documents: Vec<IndexedDocument>,
    /// Paths of the documents that are not shared. No plan reads them.
    pub private: BTreeSet<String>,
    /// Documents added or changed since the last light cycle.
    pub fresh: BTreeSet<String>,
    /// Start time of the last finished run of the same kind of cycle.
    pub last: Option<Timestamp>,
    /// Maximum size of a file that is read, in bytes.
    pub limit: u64,
    /// Cached vectors of entries.
    pub vectors: EntryVectors,
    /// Hashes of the texts that the last deep cycle compared.
    pub compared: BTreeSet<[u8; 16]>,
    /// Embedding model, if available.
    pub model: Option<(EmbedWorker, Arc<str>)>,
}

impl CycleInput {
    /// Reads the files that the cycle needs, and makes the plan. Returns the plan, and the hashes of the entry texts
    /// that were compared to find similar entries.
    pub fn plan(mut self) -> (ConsolidationPlan, BTreeSet<[u8; 16]>) {
        let now = self.snapshot.run.started;
        let profile = self.snapshot.settings.profile;
        for record in self.snapshot.records.values_mut() {
            record.strength = decay::strength_at(&profile, &record.entry, now);
        }
        if self.cycle != Cycle::Light {
            self.look_at_documents();
        }
        if !self.fresh.is_empty() || self.cycle != Cycle::Light {
            self.look_for_entries();
        }
        let mut compared = BTreeSet::new();
        if self.cycle == Cycle::Deep {
            compared = self.compare().unwrap_or_default();
        }
        let plan = consolidation::plan(&self.snapshot, self.cycle);
        (plan, compared)
    }

    fn changed_since(&self, document: &IndexedDocument) -> bool {
        self.last.is_none_or(|last| document.modified >= last)
    }

    fn look_at_documents(&mut self) {
        let pointed = self
            .snapshot
            .records
            .values()
            .flat_map(|record| &record.entry.pointers);
        let pointed: BTreeSet<&str> = pointed.map(|pointer| pointer.path.as_str()).collect();
        let pointed = pointed.into_iter().filter(|path| !self.private.contains(*path));
        let states = documents::states(&self.root, &self.documents, pointed, self.limit);
        self.snapshot.documents = states.read;
        self.snapshot.unread = states.unread;
        self.snapshot.unread.extend(self.private.iter().cloned());
        let reviewed = self.documents.iter().filter(|document| {
            let looked_at = self.cycle == Cycle::Deep || document.kind == SourceKind::DailyLog;
            looked_at && self.changed_since(document) && !self.snapshot.unread.contains(&document.path)
        });
        self.snapshot.reviewed = reviewed.map(|document| document.path.clone()).collect();
    }

    /// Creates candidate entries and new texts of entries from the new and changed files.
    fn look_for_entries(&mut self) {
        let mut changed = self.fresh.clone();
        if self.cycle == Cycle::Deep {
            let since = self
                .documents
                .iter()
                .filter(|document| self.changed_since(document));
            changed.extend(since.map(|document| document.path.clone()));
        }
        let known: BTreeSet<&str> = self.documents.iter().map(|known| known.path.as_str()).collect();
        let is_lost = |record: &&EntryRecord| {
            let mut paths = record.entry.pointers.iter().map(|pointer| pointer.path.as_str());
            let looked_at = self.cycle == Cycle::Deep || paths.clone().any(|path| changed.contains(path));
            looked_at && paths.all(|path| !known.contains(path) && self.is_gone(path))
        };
        let lost = self.snapshot.records.values().filter(is_lost);
        self.snapshot.lost = lost.flat_map(|record| record.entry.pointers.clone()).collect();
        if changed.is_empty() {
            return;
        }
        let read = self.read(&changed);
        let memory: Vec<MemoryFile<'_>> = read
            .iter()
            .map(|(known, read)| MemoryFile {
                path: &known.path,
                kind: known.kind,
                document: &read.document,
                bytes: &read.bytes,
                modified: known.modified,
                known: !changed.contains(&known.path),
            })
            .collect();
        let records = &self.snapshot.records;
        let of_changed = |record: &EntryRecord| {
            record
                .entry
                .pointers
                .iter()
                .any(|pointer| changed.contains(&pointer.path))
        };
        let taken = records.iter().filter(|(_, record)| !of_changed(record));
        let settings = bootstrap::BootstrapSettings {
            now: self.snapshot.run.started,
            offset_seconds: self.snapshot.settings.offset_seconds,
            taken: taken.map(|(id, _)| id.clone()).collect(),
            max_entries: Some(self.room(changed.len())),
        };
        let made = bootstrap::bootstrap(&memory, &settings);
        let light = (self.cycle == Cycle::Light).then(|| {
            let states = read.iter().filter(|(known, _)| changed.contains(&known.path));
            let state = |known: &IndexedDocument, read: &ReadDocument| {
                documents::state(&known.path, &read.bytes, Some(&read.document))
            };
            let states: BTreeMap<_, _> = states
                .map(|(known, read)| (known.path.clone(), state(known, read)))
                .collect();
            let unread = self.elsewhere(&states);
            (states, unread)
        });
        let mut lost = BTreeSet::new();
        let mut texts: BTreeMap<EntryId, EntryText> = BTreeMap::new();
        for new in &made {
            let known = records.get(&new.entry.id);
            if known.is_some_and(|record| record.entry.pointers == new.entry.pointers) {
                let text = EntryText::from(&new.entry);
                texts.insert(new.entry.id.clone(), text);
            }
        }
        // Other entries that point to a changed file, such as those that `remember` created, get a new summary but keep
        // their topic and tags.
        let documents = read.iter().filter(|(known, _)| changed.contains(&known.path));
        let documents: BTreeMap<&str, &ReadDocument> = documents
            .map(|(known, read)| (known.path.as_str(), read))
            .collect();
        for (id, record) in records {
            let first = record.entry.pointers.first();
            let Some(first) = first.filter(|_| !texts.contains_key(id)) else {
                continue;
            };
            let Some(document) = documents.get(first.path.as_str()) else {
                continue;
            };
            let Some(said) = pointed_text(document, first.section.as_deref()) else {
                lost.insert(first.clone());
                continue;
            };
            let (summary, _) = bootstrap::extract_gist(&record.entry.topic, &said);
            let text = EntryText {
                summary,
                ..EntryText::from(&record.entry)
            };
            texts.insert(id.clone(), text);
        }
        self.snapshot.texts = texts;
        self.snapshot.lost.append(&mut lost);
        self.snapshot.candidates = made;
        if let Some((states, unread)) = light {
            (self.snapshot.documents, self.snapshot.unread) = (states, unread);
        }
    }

    /// Returns the targets of pointers that were not read but count as unchanged, because they exist, may exist, or are
    /// indexed. A file whose removal is held back is missing on disk but still indexed.
    fn elsewhere(&self, read: &BTreeMap<String, DocumentState>) -> BTreeSet<String> {
        let records = self.snapshot.records.values();
        let paths = records.flat_map(|record| &record.entry.pointers);
        let paths: BTreeSet<&str> = paths.map(|pointer| pointer.path.as_str()).collect();
        let documents: BTreeSet<&str> = self.documents.iter().map(|known| known.path.as_str()).collect();
        let unread = paths.into_iter().filter(|path| !read.contains_key(*path));
        let there = unread.filter(|path| documents.contains(path) || !self.is_gone(path));
        there.map(str::to_owned).collect()
    }

    /// Returns whether nothing exists at a path.
    fn is_gone(&self, path: &str) -> bool {
        match WorkspaceDir::open(&self.root).and_then(|dir| dir.resolve(path)) {
            Ok(_) => false,
            Err(error) => hippo_fs::is_absence(&error),
        }
    }

    /// Returns the maximum number of entries to create for `files` files: at least one entry per file, unless the index
    /// is almost full.
    fn room(&self, files: usize) -> usize {
        let most = (files * ENTRIES_PER_FILE).min(MOST_ENTRIES).max(files);
        if self.cycle == Cycle::Light {
            most.min(MOST_LIVE.saturating_sub(live(&self.snapshot.records)))
        } else {
            most
        }
    }

    /// Returns the documents in `first` with their text, and an even selection of at most [`UNCHANGED`] other documents.
    /// Stops when `AT_ONCE` bytes have been read.
    fn read(&self, first: &BTreeSet<String>) -> Vec<(&IndexedDocument, ReadDocument)> {
        let (first, rest): (Vec<&IndexedDocument>, Vec<&IndexedDocument>) = self
            .documents
            .iter()
            .partition(|known| first.contains(&known.path));
        let mut bytes = 0;
        let mut read = Vec::new();
        let every = rest.len().div_ceil(UNCHANGED).max(1);
        for known in first.into_iter().chain(rest.into_iter().step_by(every)) {
            if bytes > AT_ONCE {
                break;
            }
            if let Some(document) = documents::read(&self.root, known, self.limit) {
                bytes += document.bytes.len() as u64;
                read.push((known, document));
            }
        }
        read
    }

    /// Finds similar entries by the vectors of their texts. Returns the hashes of the compared texts; `None` if the
    /// model is not available.
    fn compare(&mut self) -> Option<BTreeSet<[u8; 16]>> {
        let (worker, model) = self.model.clone()?;
        let live: Vec<(&EntryId, String)> = self
            .snapshot
            .records
            .iter()
            .filter(|(_, record)| record.place == RecordPlace::Index && record.learned.is_none())
            .map(|(id, record)| (id, format!("{}. {}", record.entry.topic, record.entry.summary)))
            .collect();
        let before = &self.compared;
        let mut compared = BTreeSet::new();
        let (mut ids, mut vectors, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        for (id, text) in live {
            let hash = ContentHash::of(format!("{model}\n{text}").as_bytes()).0;
            let kept = {
                let kept = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
                kept.get(&hash).cloned()
            };
            let vector = match kept {
                Some(vector) => vector,
                None => {
                    let query = worker.query(Arc::clone(&model), text).blocking_recv();
                    let vector = Arc::new(query.ok().flatten()?.vector);
                    std::thread::sleep(BREATH);
                    let mut kept = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.insert(hash, Arc::clone(&vector));
                    vector
                }
            };
            compared.insert(hash);
            ids.push(id.clone());
            vectors.push((*vector).clone());
            fresh.push(!before.contains(&hash));
        }
        let mut kept = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|hash, _| compared.contains(hash));
        drop(kept);
        let settings = &self.snapshot.settings;
        let least = settings.merge_above.min(settings.merge_above_shared);
        self.snapshot.similar = consolidation::find_similar(&ids, &vectors, &fresh, least);
        Some(compared)
    }
}

/// Returns the number of entries in the index and the Decay Queue, without the entries that queries created.
pub fn live(records: &BTreeMap<EntryId, EntryRecord>) -> usize {
    let live =
        |record: &&EntryRecord| !matches!(record.place, RecordPlace::Archive(_)) && record.learned.is_none();
    records.values().filter(live).count()
}

/// Returns the text of a section with its subsections, or of the whole file if `section` is `None`.
fn pointed_text(read: &ReadDocument, section: Option<&str>) -> Option<String> {
    let sections = &read.document.sections;
    let mut inside = vec![section.is_none(); sections.len()];
    for (at, this) in sections.iter().enumerate() {
        let above = this.parent.is_some_and(|parent| inside[parent as usize]);
        inside[at] = above || inside[at] || section.is_some_and(|title| this.title == title);
    }
    let chunks = read.document.chunks.iter();
    let chunks = chunks.filter(|chunk| inside.get(chunk.section as usize).copied().unwrap_or(false));
    let texts: Vec<_> = chunks.map(|chunk| chunk_text(&read.bytes, chunk)).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
