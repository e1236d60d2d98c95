//! What does a cycle plan from? Reads and compares beside the engine, and plans there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hippo_core::bootstrap::{self, ENTRIES_PER_FILE, MOST_ENTRIES, MemoryFile, StateFile};
use hippo_core::chunk::ContentHash;
use hippo_core::consolidation::{
    self, Cycle, DocumentState, LogDay, Place, Plan, Record, Snapshot, find_repeated_facts,
};
use hippo_core::decay::{self, DecayCurve};
use hippo_core::entry::{EntryId, Pointer};
use hippo_core::source::{SourceKind, date_in_name};
use hippo_core::time::Timestamp;
use hippo_fs::WorkspaceDir;

use super::documents::{self, Known, Read};
use super::{Documents, EntryVectors};
use crate::embed_worker::EmbedWorker;

/// Bytes of files that are read at once to know how rare words are; of more, those that changed come first.
pub const AT_ONCE: u64 = 256 << 20;
/// Entries of memory, those of questions not counted, from which on cycles make no more by themselves.
pub const MOST_LIVE: usize = 10_000;
/// Between two texts that are embedded the model is left to questions for this long.
const BREATH: Duration = Duration::from_millis(4);

/// Everything that a plan is made from, taken from the engine.
pub struct Input {
    /// Which cycle.
    pub cycle: Cycle,
    /// Entries, thresholds and the run; the rest is gathered.
    pub snapshot: Snapshot,
    /// The numbers of the curve.
    pub profile: DecayCurve,
    /// Root of the workspace.
    pub root: PathBuf,
    /// All documents.
    pub documents: Vec<Known>,
    /// Of these, those that came or changed since the last light cycle.
    pub fresh: BTreeSet<String>,
    /// When the last finished run of this cycle started.
    pub last: Option<Timestamp>,
    /// Largest file that is read, in bytes.
    pub limit: u64,
    /// Contents of documents.
    pub kept: Documents,
    /// Vectors of entries.
    pub vectors: EntryVectors,
    /// Texts that the last deep cycle compared.
    pub compared: BTreeSet<[u8; 16]>,
    /// The model, if there is one.
    pub model: Option<(EmbedWorker, Arc<str>)>,
}

impl Input {
    /// Reads what the cycle needs, and plans. Answers also the texts that were compared for it.
    pub fn plan(mut self) -> (Plan, BTreeSet<[u8; 16]>) {
        let now = self.snapshot.run.started;
        self.snapshot.settings.profile = self.profile;
        for record in self.snapshot.records.values_mut() {
            record.strength = decay::strength_at(&self.profile, &record.entry, now);
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
        if self.cycle == Cycle::Archival {
            self.collect_facts();
        }
        let plan = consolidation::plan(&self.snapshot, self.cycle);
        (plan, compared)
    }

    fn changed_since(&self, document: &Known) -> bool {
        self.last.is_none_or(|last| document.modified >= last)
    }

    fn look_at_documents(&mut self) {
        let pointed = self
            .snapshot
            .records
            .values()
            .flat_map(|record| &record.entry.pointers);
        let pointed: BTreeSet<&str> = pointed.map(|pointer| pointer.path.as_str()).collect();
        let states = documents::states(
            &self.root,
            &self.documents,
            pointed.into_iter(),
            self.limit,
            &self.kept,
        );
        self.snapshot.documents = states.read;
        self.snapshot.unread = states.unread;
        let reviewed = self.documents.iter().filter(|document| {
            let looked_at = self.cycle == Cycle::Deep || document.kind == SourceKind::DailyLog;
            looked_at && self.changed_since(document) && !self.snapshot.unread.contains(&document.path)
        });
        self.snapshot.reviewed = reviewed.map(|document| document.path.clone()).collect();
    }

    /// Entries for what has none, and what summaries would say today of what changed.
    fn look_for_entries(&mut self) {
        let mut changed = self.fresh.clone();
        if self.cycle == Cycle::Deep {
            let since = self
                .documents
                .iter()
                .filter(|document| self.changed_since(document));
            changed.extend(since.map(|document| document.path.clone()));
        }
        let state = self.state_files();
        if changed.is_empty() && state.is_empty() {
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
        let state: Vec<StateFile<'_>> = state
            .iter()
            .map(|(path, bytes, modified)| StateFile {
                path,
                bytes,
                modified: *modified,
            })
            .collect();
        let records = &self.snapshot.records;
        let of_changed = |record: &Record| {
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
            max_entries: Some(self.room(changed.len() + state.len())),
            ..bootstrap::BootstrapSettings::default()
        };
        let made = bootstrap::bootstrap(&memory, &state, &settings);
        let light = (self.cycle == Cycle::Light).then(|| {
            let states = read.iter().filter(|(known, _)| changed.contains(&known.path));
            let state =
                |known: &Known, read: &Read| documents::state(&known.path, &read.bytes, Some(&read.document));
            let states: BTreeMap<_, _> = states
                .map(|(known, read)| (known.path.clone(), state(known, read)))
                .collect();
            let unread = self.elsewhere(&states);
            (states, unread)
        });
        for new in &made {
            let known = records.get(&new.entry.id);
            if known.is_some_and(|record| record.entry.pointers == new.entry.pointers) {
                self.snapshot
                    .summaries
                    .insert(new.entry.id.clone(), new.entry.summary.clone());
            }
        }
        self.snapshot.candidates = made;
        if let Some((states, unread)) = light {
            (self.snapshot.documents, self.snapshot.unread) = (states, unread);
        }
    }

    /// Of the files that entries point at, those that were not read and are on disk, or may be, or are known to the index: they
    /// hold what they hold. One whose removal is held is not on disk, and not gone.
    fn elsewhere(&self, read: &BTreeMap<String, DocumentState>) -> BTreeSet<String> {
        let records = self.snapshot.records.values();
        let paths = records.flat_map(|record| &record.entry.pointers);
        let paths: BTreeSet<&str> = paths.map(|pointer| pointer.path.as_str()).collect();
        let documents: BTreeSet<&str> = self.documents.iter().map(|known| known.path.as_str()).collect();
        let is_gone = |path: &str| match WorkspaceDir::open(&self.root).and_then(|dir| dir.resolve(path)) {
            Ok(_) => false,
            Err(error) => hippo_fs::is_absence(&error),
        };
        let unread = paths.into_iter().filter(|path| !read.contains_key(*path));
        let there = unread.filter(|path| documents.contains(path) || !is_gone(path));
        there.map(str::to_owned).collect()
    }

    /// Entries that so many files may get: one each, where there is room.
    fn room(&self, files: usize) -> usize {
        let most = (files * ENTRIES_PER_FILE).min(MOST_ENTRIES).max(files);
        if self.cycle == Cycle::Light {
            most.min(MOST_LIVE.saturating_sub(live(&self.snapshot.records)))
        } else {
            most
        }
    }

    /// State files that no entry points at.
    fn state_files(&self) -> Vec<(String, Vec<u8>, Timestamp)> {
        if self.cycle == Cycle::Light && self.last.is_some() {
            return Vec::new();
        }
        let told: BTreeSet<&str> = self
            .snapshot
            .records
            .values()
            .flat_map(|record| &record.entry.pointers)
            .map(|pointer| pointer.path.as_str())
            .collect();
        let mut files = documents::state_files(&self.root);
        files.retain(|(path, _, _)| !told.contains(path.as_str()));
        files
    }

    /// Documents with their text, those in `first` before all others, as many as may be held at once.
    fn read(&self, first: &BTreeSet<String>) -> Vec<(&Known, Read)> {
        let (first, rest): (Vec<&Known>, Vec<&Known>) = self
            .documents
            .iter()
            .partition(|known| first.contains(&known.path));
        let mut bytes = 0;
        let mut read = Vec::new();
        for known in first.into_iter().chain(rest) {
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

    /// Entries that look alike, by the vectors of what they say. Answers the texts that were compared.
    fn compare(&mut self) -> Option<BTreeSet<[u8; 16]>> {
        let (worker, model) = self.model.clone()?;
        let live: Vec<(&EntryId, String)> = self
            .snapshot
            .records
            .iter()
            .filter(|(_, record)| record.place == Place::Index && record.learned.is_none())
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
                    let vector = Arc::new(
                        worker
                            .query(Arc::clone(&model), text)
                            .blocking_recv()
                            .ok()
                            .flatten()?,
                    );
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

    /// What the daily logs repeat.
    fn collect_facts(&mut self) {
        let logs = self.documents.iter().filter_map(|known| {
            let date = (known.kind == SourceKind::DailyLog).then(|| date_in_name(&known.path))??;
            Some((known, date, documents::read(&self.root, known, self.limit)?))
        });
        let logs: Vec<_> = logs.collect();
        let days = logs.iter().map(|(known, date, read)| LogDay {
            path: &known.path,
            date: *date,
            document: &read.document,
            bytes: &read.bytes,
        });
        let mut hits: BTreeMap<&Pointer, u32> = BTreeMap::new();
        for record in self.snapshot.records.values() {
            for pointer in &record.entry.pointers {
                let sum = hits.entry(pointer).or_default();
                *sum = sum.saturating_add(record.entry.hits);
            }
        }
        self.snapshot.facts = find_repeated_facts(days, |pointer| hits.get(pointer).copied().unwrap_or(0));
    }
}

/// Entries of memory in the index and the Decay Queue.
pub fn live(records: &BTreeMap<EntryId, Record>) -> usize {
    let live = |record: &&Record| !matches!(record.place, Place::Archive(_)) && record.learned.is_none();
    records.values().filter(live).count()
}
