//! Effects of queries on entries: recorded accesses and new entries.
//!
//! Accesses are first written to the journal in the store. From there, each is added exactly once to its entry's count.
//! If a query found its answer without an entry, a new entry for the query points to the answer.

use std::time::Instant;

use hippo_map::bootstrap::TimeBand;
use hippo_map::consolidation::{EntryRecord, RecordPlace};
use hippo_store::StoreError;
use hippo_store::db::Access;
use hippo_types::entry::{Entry, EntryId, EntryOrigin};
use hippo_types::time::Timestamp;

use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::message::{Lesson, QueryEffects};

/// Maximum number of entries outside the archive that queries created and no person edited.
const MAX_LEARNED: usize = 300;

/// Heading in the index file for the entries that queries create.
pub const ASKED: &str = "Questions";

impl WorkspaceWorker {
    /// Records the accesses of a query, and creates or updates the entry for the query.
    pub(in crate::engine) fn record_query(
        &mut self,
        workspace: &mut Workspace,
        trace: QueryEffects,
        at: Instant,
    ) {
        if !workspace.entries.enabled {
            return;
        }
        if let Err(error) = self.record(workspace, trace, at) {
            tracing::warn!(%error, "could not record the accesses of a search");
            workspace.trouble = Some(error);
        }
    }

    fn record(
        &mut self,
        workspace: &mut Workspace,
        trace: QueryEffects,
        at: Instant,
    ) -> Result<(), StoreError> {
        let offset = self.now_of(workspace, at).offset_seconds;
        let day = trace.at.date(offset);
        let known = &workspace.entries.known.records;
        let accessed: Vec<EntryId> = trace
            .accessed
            .into_iter()
            .filter(|id| known.contains_key(id))
            .collect();
        let accesses: Vec<Access> = accessed
            .iter()
            .map(|entry| Access {
                entry: entry.clone(),
                at: trace.at,
                day,
            })
            .collect();
        // A plan of a cycle relies on the current entries. While a plan is being made or applied, accesses wait in the
        // journal, and a query creates no entry.
        let running = workspace.entries.run.is_some();
        let lesson = trace.learned.filter(|_| !running);
        let record = lesson.map(|lesson| learned_record(workspace, lesson, trace.at, day, offset));
        let full = record
            .as_ref()
            .and_then(|record| self.to_make_room(workspace, record));
        workspace.store.write_entries(|batch| {
            batch.record_accesses(&accesses)?;
            batch.add_co_access(&accessed, trace.at)?;
            record
                .iter()
                .chain(&full)
                .try_for_each(|record| batch.put_record(record))
        })?;
        workspace.entries.known.journal += accesses.len();
        let changed: Vec<EntryRecord> = record.into_iter().chain(full).collect();
        if !changed.is_empty() {
            workspace.entries.put_known(changed);
            workspace.entries.changed(at);
        }
        if !running {
            self.fold(workspace, at)?;
        }
        Ok(())
    }

    /// Returns an archived copy of the weakest entry that a query created; `None` if queries have not created too many
    /// entries.
    fn to_make_room(&self, workspace: &Workspace, new: &EntryRecord) -> Option<EntryRecord> {
        let entries = &workspace.entries;
        let live = entries.known.records.values();
        let live = live.filter(|record| !matches!(record.place, RecordPlace::Archive(_)));
        let live =
            live.filter(|record| record.entry.id != new.entry.id && entries.is_untouched_question(record));
        let (profile, now) = (workspace.view.config.index.profile(), self.resources.clock.now());
        let strength = |record: &EntryRecord| hippo_map::decay::strength_at(&profile, &record.entry, now);
        let all: Vec<&EntryRecord> = live.collect();
        if all.len() < MAX_LEARNED {
            return None;
        }
        let weakest = all
            .into_iter()
            .min_by(|a, b| strength(a).total_cmp(&strength(b)))?;
        let mut archived = weakest.clone();
        if let Some(learned) = &mut archived.learned {
            learned.forget_answer();
        }
        archived.place = RecordPlace::Archive(now);
        archived.filed = None;
        Some(archived)
    }
}

/// Returns the record of the entry for a query: the existing entry with the new answer, or a new entry.
fn learned_record(
    workspace: &Workspace,
    lesson: Lesson,
    at: Timestamp,
    day: hippo_types::time::Date,
    offset: i32,
) -> EntryRecord {
    let records = &workspace.entries.known.records;
    let same = |record: &&EntryRecord| {
        record
            .learned
            .as_ref()
            .is_some_and(|learned| learned.cue == lesson.learned.cue)
    };
    if let Some(known) = records.values().find(same) {
        let mut record = known.clone();
        if !record.by_hand {
            record.entry.summary.clone_from(&lesson.summary);
            record.entry.pointers.clone_from(&lesson.pointers);
            record.hashes = vec![None; lesson.pointers.len()];
        }
        if matches!(record.place, RecordPlace::Archive(_))
            && !workspace.entries.known.tombstones.contains_key(&record.entry.id)
        {
            record.place = RecordPlace::Index;
            record.entry.strength = 1.0;
            record.entry.accessed = at;
            record.entry.replayed_to = None;
        }
        record.learned = Some(Box::new(lesson.learned));
        return record;
    }
    let id = workspace
        .entries
        .free_id(&hippo_map::index_file::slug(&lesson.topic));
    let entry = Entry {
        id,
        topic: lesson.topic,
        summary: lesson.summary,
        pointers: lesson.pointers,
        created: at,
        accessed: at,
        hits: 0,
        strength: 1.0,
        tags: lesson.tags,
        origin: EntryOrigin::Retrieval,
        version: 1,
        ..Entry::default()
    };
    EntryRecord {
        band: Some(TimeBand::from_date(at.date(offset), day)),
        learned: Some(Box::new(lesson.learned)),
        ..EntryRecord::new(entry, ASKED)
    }
}
