//! Changes of entries that clients request.

use std::time::Instant;

use hippo_map::bootstrap::TimeBand;
use hippo_map::consolidation::{EntryRecord, FiledUse, RecordPlace, RemovedEntry};
use hippo_map::decay;
use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, ErrorKind, IndexEditRequest, IndexEditResponse,
    IndexForgetResponse, IndexRestoreResponse, RpcError,
};
use hippo_store::db::{RunDetail, RunId, Tombstone};
use hippo_types::entry::{Entry, EntryId, EntryPriority, StrengthBand};

use super::WorkspaceEntries;
use super::report;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::errors::{refused, root_missing};
use crate::index::answers;
use crate::message::EntryCommand;

/// Default number of runs in the response to `cycle.history`.
const SHOWN: u32 = 20;

impl WorkspaceWorker {
    /// Applies a change that a client requested, and sends the answer.
    pub(super) fn change_entries(&mut self, workspace: &mut Workspace, change: EntryCommand, at: Instant) {
        match change {
            EntryCommand::Edit(request, reply) => {
                let _ = reply.send(self.edit(workspace, &request, at));
            }
            EntryCommand::Forget(id, reply) => {
                let _ = reply.send(self.forget(workspace, &id, at));
            }
            EntryCommand::Restore(id, reply) => {
                let _ = reply.send(self.restore(workspace, &id, at));
            }
            EntryCommand::Undo(run, reply) => {
                let _ = reply.send(self.undo(workspace, RunId(run), at));
            }
            EntryCommand::Remembered(remembered) => self.remembered(workspace, *remembered, at),
        }
    }

    fn edit(
        &mut self,
        workspace: &mut Workspace,
        request: &IndexEditRequest,
        at: Instant,
    ) -> Result<IndexEditResponse, RpcError> {
        self.before_a_change(workspace, at)?;
        let mut record = known(&workspace.entries, &request.id)?;
        if let Some(topic) = &request.topic {
            record.entry.topic.clone_from(topic);
        }
        if let Some(summary) = &request.summary {
            record.entry.summary.clone_from(summary);
        }
        if let Some(tags) = &request.tags {
            record.entry.tags.clone_from(tags);
        }
        if let Some(pointers) = &request.pointers {
            record.entry.pointers.clone_from(pointers);
            record.hashes = vec![None; record.entry.pointers.len()];
        }
        if let Some(priority) = request.priority {
            record.entry.priority = priority;
            record.entry.priority_rule = None;
        }
        match request.pinned {
            Some(true) => pin(&mut record.entry),
            Some(false) => unpin(&mut record.entry),
            None => {}
        }
        record.by_hand |= request.topic.is_some()
            || request.summary.is_some()
            || request.pointers.is_some()
            || request.tags.is_some();
        record.entry.version = record.entry.version.saturating_add(1);
        let entry = self.put(workspace, record, at)?;
        Ok(IndexEditResponse { entry })
    }

    fn forget(
        &mut self,
        workspace: &mut Workspace,
        id: &str,
        at: Instant,
    ) -> Result<IndexForgetResponse, RpcError> {
        self.before_a_change(workspace, at)?;
        let mut record = known(&workspace.entries, id)?;
        let now = self.resources.clock.now();
        let tombstone = Tombstone {
            removed: RemovedEntry::from(&record),
            at: now,
        };
        let entry = record.entry.id.clone();
        record.place = RecordPlace::Archive(now);
        record.filed = None;
        let written = workspace.store.write_entries(|batch| {
            batch.put_record(&record)?;
            batch.put_tombstone(&entry, &tombstone)?;
            Ok(())
        });
        written.map_err(refused)?;
        workspace
            .entries
            .known
            .tombstones
            .insert(entry.clone(), tombstone);
        workspace.entries.known.records.insert(entry.clone(), record);
        self.after_a_change(workspace, at)?;
        Ok(IndexForgetResponse { id: entry.0 })
    }

    fn restore(
        &mut self,
        workspace: &mut Workspace,
        id: &str,
        at: Instant,
    ) -> Result<IndexRestoreResponse, RpcError> {
        self.before_a_change(workspace, at)?;
        let mut record = known(&workspace.entries, id)?;
        if record.place == RecordPlace::Index {
            return Err(RpcError::new(
                ErrorKind::Conflict,
                format!("the entry is already in the index: {id}"),
            )
            .hint("to show the place of the entry: hippoctl index show"));
        }
        let now = self.resources.clock.now();
        let profile = workspace.view.config.index.profile();
        record.place = RecordPlace::Index;
        record.apart = true;
        // The restore counts as an access. Otherwise, a weak entry would be archived again by the next cycle.
        decay::record_access(&profile, &mut record.entry, now, 1);
        record.entry.strength = record.entry.strength.max(StrengthBand::Moderate.threshold());
        let written = workspace.store.write_entries(|batch| {
            batch.put_record(&record)?;
            batch.drop_tombstone(&record.entry.id)?;
            Ok(())
        });
        written.map_err(refused)?;
        workspace.entries.known.tombstones.remove(&record.entry.id);
        let entry = self.put(workspace, record, at)?;
        Ok(IndexRestoreResponse { entry })
    }

    /// Merges and removes the replaced copies of the index file, before the workspace is closed.
    pub(in crate::engine) fn close_index_file(&self, workspace: &mut Workspace, at: Instant) {
        if !workspace.root_present || !workspace.store.is_in_place() {
            return;
        }
        let now = self.now_of(workspace, at);
        if let Err(error) = workspace.entries.close_file(&mut workspace.store, &now) {
            tracing::warn!(%error, "could not remove the previous versions of the index file; the next start \
                                    retries");
        }
    }

    /// Prepares a change that a client requested: merges edits of the index file, and applies recorded accesses.
    pub(super) fn before_a_change(&mut self, workspace: &mut Workspace, at: Instant) -> Result<(), RpcError> {
        if !workspace.entries.enabled {
            return Err(RpcError::bad_request("the index is disabled for this workspace")
                .hint("set `index.enabled = true` in the configuration"));
        }
        if !workspace.root_present {
            return Err(root_missing(&workspace.root));
        }
        let now = self.now_of(workspace, at);
        workspace.entries.file.look(at);
        let taken = workspace.entries.tend_file(&mut workspace.store, &now);
        taken.map_err(refused)?;
        self.fold(workspace, at).map_err(refused)
    }

    /// Stores a record, writes the index file, and returns the entry in wire format.
    pub(super) fn put(
        &mut self,
        workspace: &mut Workspace,
        mut record: EntryRecord,
        at: Instant,
    ) -> Result<hippo_proto::IndexEntry, RpcError> {
        let now = self.resources.clock.now();
        let profile = workspace.view.config.index.profile();
        record.strength = decay::strength_at(&profile, &record.entry, now);
        record.filed = FiledUse::with_strength(&record, record.strength);
        if record.band.is_none() && record.place == RecordPlace::Index {
            let offset = self.now_of(workspace, at).offset_seconds;
            record.band = Some(TimeBand::from_date(
                record.entry.created.date(offset),
                now.date(offset),
            ));
        }
        let written = workspace.store.write_entries(|batch| {
            batch.put_record(&record)?;
            Ok(())
        });
        written.map_err(refused)?;
        let answer = answers::described(&record, record.strength);
        workspace.entries.put_known([record]);
        self.after_a_change(workspace, at)?;
        Ok(answer)
    }

    fn after_a_change(&mut self, workspace: &mut Workspace, at: Instant) -> Result<(), RpcError> {
        let now = self.now_of(workspace, at);
        let written = workspace.entries.write(&mut workspace.store, &now);
        workspace.entries.changed(at);
        // The next query of the client must see the change.
        workspace.entries.publish(&workspace.view);
        self.publish(workspace, at, 0, 0);
        // If only the file cannot be written, the request succeeds, because the store contains the change. `status`
        // reports the problem.
        written.map(|_| ()).map_err(refused)
    }

    /// Handles `cycle.history`.
    pub(in crate::engine) fn history(
        &self,
        workspace: &Workspace,
        request: &CycleHistoryRequest,
    ) -> Result<CycleHistoryResponse, RpcError> {
        let runs = workspace.entries.known.runs.iter().rev();
        let runs = runs
            .take(request.limit.unwrap_or(SHOWN) as usize)
            .map(report::run)
            .collect();
        let detail = request
            .run
            .map(|run| run_detail(workspace, RunId(run)))
            .transpose()?;
        let report = detail.as_ref().map(report::past);
        Ok(CycleHistoryResponse { runs, report })
    }
}

pub(super) fn run_detail(workspace: &Workspace, id: RunId) -> Result<RunDetail, RpcError> {
    let detail = workspace.store.run(id).map_err(refused)?;
    detail.ok_or_else(|| {
        RpcError::not_found(format!("could not find the run: {}", id.0))
            .hint("to list all runs: hippoctl consolidate history")
    })
}

/// Prefix of the priority rule of a pinned entry. The entry's earlier priority follows the prefix. The index file
/// contains the rule, so an edit of the entry preserves the earlier priority.
const PINNED: &str = "pinned, before: ";

fn pin(entry: &mut Entry) {
    if entry.priority != EntryPriority::Amygdala {
        let before = match entry.priority {
            EntryPriority::High => Some("high"),
            EntryPriority::Low => Some("low"),
            EntryPriority::Normal | EntryPriority::Amygdala => None,
        };
        entry.priority_rule = before.map(|before| format!("{PINNED}{before}"));
        entry.priority = EntryPriority::Amygdala;
    }
}

fn unpin(entry: &mut Entry) {
    if entry.priority == EntryPriority::Amygdala {
        let rule = entry.priority_rule.take();
        entry.priority = match rule.as_deref().and_then(|rule| rule.strip_prefix(PINNED)) {
            Some("high") => EntryPriority::High,
            Some("low") => EntryPriority::Low,
            _ => EntryPriority::Normal,
        };
    }
}

/// Returns a copy of the record with this id.
fn known(entries: &WorkspaceEntries, id: &str) -> Result<EntryRecord, RpcError> {
    let record = entries.known.records.get(&EntryId(id.to_owned()));
    record
        .cloned()
        .ok_or_else(|| answers::unknown(id, entries.known.records.keys().map(|id| id.0.as_str())))
}
