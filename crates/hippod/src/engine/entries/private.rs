//! Removal of entries whose text became private.
//!
//! Entries are made from shared files only, because everybody reads the index file. If a shared file becomes private,
//! its entries are removed. Entries that a person wrote stay.

use std::collections::BTreeSet;
use std::time::Instant;

use hippo_map::consolidation::EntryRecord;
use hippo_store::StoreError;
use hippo_text::chunk::ContentHash;
use hippo_types::entry::{EntryId, Pointer};

use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;

impl WorkspaceWorker {
    /// Removes the entries whose text became private. Waits until no run changes entries, because the plan of a run may
    /// contain the text. The caller has merged the edits of the index file.
    ///
    /// # Errors
    /// See [`StoreError`]. The next turn tries again.
    pub(in crate::engine) fn withdraw_private(
        &mut self,
        workspace: &mut Workspace,
        at: Instant,
    ) -> Result<(), StoreError> {
        let entries = &mut workspace.entries;
        if entries.withdrawn.is_empty() && !entries.compare_private || entries.run.is_some() {
            return Ok(());
        }
        let is_known = |path: &str| workspace.known.contains_key(path);
        // The text of a missing file may be in a private file now.
        let was_moved = |record: &EntryRecord| {
            let hash = record.hashes.first().copied().flatten();
            let is_missing = |pointer: &Pointer| !is_known(&pointer.path);
            record.entry.pointers.first().is_some_and(is_missing)
                && hash.is_some_and(|hash| entries.private_texts.contains(&ContentHash(hash)))
        };
        let withdrawn = &entries.withdrawn;
        let mut gone: BTreeSet<EntryId> = BTreeSet::new();
        let mut kept: Vec<EntryRecord> = Vec::new();
        for record in entries.known.records.values().filter(|record| !record.by_hand) {
            // The answer to a question is searched again, so it need not be compared with the private texts.
            let is_lost_answer = record.learned.is_some() && paths(record).any(|path| !is_known(path));
            if is_lost_answer || was_moved(record) {
                gone.insert(record.entry.id.clone());
                continue;
            }
            match shorten(record, withdrawn) {
                Withdrawal::None => {}
                Withdrawal::Some(record) => kept.push(*record),
                Withdrawal::All => _ = gone.insert(record.entry.id.clone()),
            }
        }
        if gone.is_empty() && kept.is_empty() {
            entries.compare_private = false;
            entries.withdrawn.clear();
            return Ok(());
        }
        let quick_access = entries.known.quick_access.iter();
        let quick_access: Vec<EntryId> = quick_access.filter(|id| !gone.contains(id)).cloned().collect();
        let related = |record: &&EntryRecord| record.entry.related.iter().any(|id| gone.contains(id));
        let ids: BTreeSet<EntryId> = kept.iter().map(|record| record.entry.id.clone()).collect();
        let others = entries.known.records.values().filter(related);
        let others =
            others.filter(|record| !gone.contains(&record.entry.id) && !ids.contains(&record.entry.id));
        kept.extend(others.cloned().collect::<Vec<_>>());
        for record in &mut kept {
            record.entry.related.retain(|id| !gone.contains(id));
            record.entry.version = record.entry.version.saturating_add(1);
        }
        workspace.store.write_entries(|batch| {
            gone.iter().try_for_each(|id| batch.drop_record(id))?;
            kept.iter().try_for_each(|record| batch.put_record(record))?;
            batch.put_quick_access(&quick_access)
        })?;
        entries.known.records.retain(|id, _| !gone.contains(id));
        entries.known.quick_access = quick_access;
        entries.put_known(kept);
        entries.withdrawn.clear();
        entries.compare_private = false;
        entries.changed(at);
        entries.publish(&workspace.view);
        if !entries.enabled {
            return Ok(());
        }
        let now = self.now_of(workspace, at);
        workspace.entries.write(&mut workspace.store, &now).map(drop)
    }
}

/// Effect of paths that became private on an entry.
enum Withdrawal {
    /// The entry does not point to the paths.
    None,
    /// The entry keeps its other pointers, and its text, which comes from the first of them.
    Some(Box<EntryRecord>),
    /// The text of the entry comes from one of the paths.
    All,
}

/// Returns the paths from which an entry has its text.
fn paths(record: &EntryRecord) -> impl Iterator<Item = &str> {
    let passages = record.learned.iter().flat_map(|learned| &learned.passages);
    let pointers = record.entry.pointers.iter().map(|pointer| pointer.path.as_str());
    pointers.chain(passages.map(|passage| passage.path.as_str()))
}

fn shorten(record: &EntryRecord, withdrawn: &BTreeSet<String>) -> Withdrawal {
    let pointers = &record.entry.pointers;
    let is_gone = |at: usize| {
        pointers
            .get(at)
            .is_some_and(|pointer| withdrawn.contains(&pointer.path))
    };
    if !paths(record).any(|path| withdrawn.contains(path)) {
        return Withdrawal::None;
    }
    if is_gone(0) || record.learned.is_some() {
        return Withdrawal::All;
    }
    let mut record = record.clone();
    let mut hashes = Vec::new();
    let mut left = Vec::new();
    for (at, pointer) in record.entry.pointers.iter().enumerate() {
        if !withdrawn.contains(&pointer.path) {
            left.push(pointer.clone());
            hashes.push(record.hashes.get(at).copied().flatten());
        }
    }
    (record.entry.pointers, record.hashes) = (left, hashes);
    Withdrawal::Some(Box::new(record))
}
