//! Undo of a cycle's run, without loss of later changes.

use std::collections::BTreeSet;
use std::time::Instant;

use hippo_map::consolidation::{
    ConsolidationSnapshot, EntryChange, EntryRecord, EntryText, FieldsChange, RecordFields, RecordPlace, Rule,
};
use hippo_map::layout::INDEX_FILE;
use hippo_proto::{CycleUndoResponse, ErrorKind, RpcError};
use hippo_store::StoreError;
use hippo_store::db::{RunDetail, RunId};
use hippo_text::text::plural;
use hippo_types::entry::{Entry, EntryId, EntryPriority};

use super::requests::run_detail;
use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::errors::refused;

/// Maximum number of entries that a response lists by name.
const NAMED: usize = 10;

impl WorkspaceWorker {
    pub(super) fn undo(
        &mut self,
        workspace: &mut Workspace,
        id: RunId,
        at: Instant,
    ) -> Result<CycleUndoResponse, RpcError> {
        self.before_a_change(workspace, at)?;
        let detail = run_detail(workspace, id)?;
        let response = |undone, files, notes| CycleUndoResponse {
            run: id.0,
            undone,
            undone_before: false,
            files,
            notes,
        };
        if detail.row.undone.is_some() {
            return Ok(CycleUndoResponse {
                undone_before: true,
                ..response(0, Vec::new(), Vec::new())
            });
        }
        let later = later_runs(workspace, &detail).map_err(refused)?;
        if !later.is_empty() {
            let ids: Vec<String> = later.iter().map(|id| id.0.to_string()).collect();
            return Err(RpcError::new(
                ErrorKind::Conflict,
                format!("later runs changed the same entries: {}", ids.join(", ")),
            )
            .hint(format!(
                "undo these runs first: hippoctl consolidate undo {}",
                ids.first().map_or("", String::as_str)
            )));
        }
        let steps = detail.steps.iter().take(detail.row.done as usize);
        let forgotten = workspace.entries.forgotten();
        let changes = taken_back(
            &workspace.entries.known.records,
            &forgotten,
            steps.map(|step| &step.change).rev(),
        );
        let now_at = self.resources.clock.now();
        let apart = unmerged(&detail);
        let undone = workspace.store.undo_run(id, &changes, &apart, now_at);
        undone.map_err(refused)?;
        // Never resume a run that was undone.
        workspace.entries.interrupted.retain(|row| row.id != id);
        for change in &changes {
            workspace.entries.with_snapshot(|snapshot| change.apply(snapshot));
        }
        let notes = untold_again(workspace, &detail, &changes);
        for id in &apart {
            if let Some(record) = workspace.entries.known.records.get_mut(id) {
                record.apart = true;
            }
        }
        workspace.entries.changed(at);
        let mut files = BTreeSet::new();
        if !changes.is_empty() {
            let now = self.now_of(workspace, at);
            // Do not write the earlier version of the file if it may contain entries that a person has removed since.
            let mut touched = detail.steps.iter().flat_map(|step| step.change.ids());
            let is_forgotten = touched.any(|id| forgotten.contains(id));
            let mut put_back = false;
            if let Some(versions) = detail.report.versions.filter(|_| !is_forgotten) {
                let written = workspace.entries.put_back(&mut workspace.store, &now, versions);
                put_back = written.map_err(refused)?;
            }
            let written = workspace.entries.write(&mut workspace.store, &now);
            files = written.map_err(refused)?;
            files.extend(put_back.then(|| INDEX_FILE.to_owned()));
        }
        self.refresh_run(workspace, id).map_err(refused)?;
        workspace.entries.publish(&workspace.view);
        self.publish(workspace, at, 0, 0);
        Ok(response(changes.len() as u64, files.into_iter().collect(), notes))
    }
}

/// Marks files as new if the undo removed their entries. The next light cycle then creates the entries again. Returns
/// messages about these files, and about entries that the run created and the undo did not remove.
fn untold_again(workspace: &mut Workspace, of: &RunDetail, changes: &[EntryChange]) -> Vec<String> {
    let removed: BTreeSet<&EntryId> = changes
        .iter()
        .filter_map(|change| match change {
            EntryChange::Remove { record } => Some(&record.entry.id),
            _ => None,
        })
        .collect();
    let (mut files, mut kept) = (BTreeSet::new(), Vec::new());
    for step in of.steps.iter().take(of.row.done as usize) {
        let EntryChange::Add { record } = &step.change else {
            continue;
        };
        let id = &record.entry.id;
        if removed.contains(id) {
            let paths = record.entry.pointers.iter().map(|pointer| &pointer.path);
            files.extend(paths.filter(|path| workspace.known.contains_key(*path)).cloned());
        } else if let Some(now) = workspace.entries.known.records.get(id) {
            let pinned = now.entry.priority == EntryPriority::Amygdala;
            kept.push(format!("{}{}", id.0, if pinned { " (pinned)" } else { "" }));
        }
    }
    let mut notes = Vec::new();
    if !kept.is_empty() {
        let (number, names) = (kept.len(), kept[..kept.len().min(NAMED)].join(", "));
        let more = if number > NAMED { ", …" } else { "" };
        notes.push(format!(
            "kept {} of the run because of later changes or uses: {names}{more}; to remove an entry: hippoctl \
             index forget ID",
            plural(number as u64, "entry")
        ));
    }
    if !files.is_empty() {
        notes.push(format!(
            "{} without an entry now; the next light cycle creates the entries again; to remove an entry \
             permanently: hippoctl index forget ID",
            plural(files.len() as u64, "file")
        ));
    }
    workspace.entries.fresh.extend(files);
    notes
}

/// Returns the entries that a run merged. After the undo, cycles never merge these entries again.
fn unmerged(of: &RunDetail) -> Vec<EntryId> {
    let steps = of.steps.iter().take(of.row.done as usize);
    let merged = steps.filter_map(|step| step.change.merged());
    merged
        .flat_map(|(kept, absorbed)| [kept.id.clone(), absorbed.clone()])
        .collect()
}

/// Returns the later runs that changed the same entries, newest first. Updates of the strengths in the index file do
/// not count, because every run makes such updates.
fn later_runs(workspace: &Workspace, of: &RunDetail) -> Result<Vec<RunId>, StoreError> {
    let counts = |rule: Rule| rule != Rule::Flush;
    let touched = |detail: &RunDetail| -> BTreeSet<EntryId> {
        let done = detail.steps.iter().take(detail.row.done as usize);
        done.filter(|step| counts(step.rule))
            .flat_map(|step| step.change.ids().into_iter().cloned())
            .collect()
    };
    let mine = touched(of);
    let mut later = Vec::new();
    for row in &workspace.entries.known.runs {
        if row.id <= of.row.id || row.undone.is_some() || row.done == 0 {
            continue;
        }
        if let Some(detail) = workspace.store.run(row.id)?
            && !touched(&detail).is_disjoint(&mine)
        {
            later.push(row.id);
        }
    }
    later.sort_unstable_by(|a, b| b.cmp(a));
    Ok(later)
}

/// Returns the inverses of `changes`, in the given order. Values that have changed since the run are kept, and entries
/// that a person removed are not restored.
fn taken_back<'c>(
    records: &std::collections::BTreeMap<EntryId, EntryRecord>,
    forgotten: &BTreeSet<EntryId>,
    changes: impl Iterator<Item = &'c EntryChange>,
) -> Vec<EntryChange> {
    let mut state = ConsolidationSnapshot {
        records: records.clone(),
        ..ConsolidationSnapshot::default()
    };
    let mut inverses = Vec::new();
    for change in changes {
        if let Some(inverse) = inverse_of(&state, forgotten, change) {
            // A change may depend on an earlier change of the same run, so apply each inverse at once.
            inverse.apply(&mut state);
            inverses.push(inverse);
        } else if let EntryChange::Add { record } = change
            && let Some(now) = records.get(&record.entry.id)
        {
            // The undo keeps this entry, so the file still shows its values. Keep the record of these values.
            let id = record.entry.id.clone();
            let from = state.records.get(&id).and_then(|record| record.filed);
            let (from, to) = (RecordFields::Filed(from), RecordFields::Filed(now.filed));
            inverses.push(EntryChange::Set {
                fields: vec![FieldsChange { id, from, to }],
                demotes: 0,
            });
        }
    }
    inverses
}

fn inverse_of(
    state: &ConsolidationSnapshot,
    forgotten: &BTreeSet<EntryId>,
    change: &EntryChange,
) -> Option<EntryChange> {
    let record = |id: &EntryId| state.records.get(id);
    let mut inverse = change.inverse();
    match (change, &mut inverse) {
        (EntryChange::Add { record: added }, _) => {
            let now = record(&added.entry.id);
            return now.is_none_or(|now| is_untouched(now, added)).then_some(inverse);
        }
        (EntryChange::Set { .. }, EntryChange::Set { fields, .. }) if change.merged().is_some() => {
            for FieldsChange { id, from, to } in fields {
                match (record(id), from, to) {
                    (Some(now), RecordFields::Merged(merged, _), RecordFields::Merged(back, hashes)) => {
                        keep_what_is_new(back, merged, &now.entry);
                        if now.entry.pointers != merged.pointers {
                            hashes.clone_from(&now.hashes);
                        }
                    }
                    (Some(now), _, RecordFields::Place(place)) if forgotten.contains(id) => {
                        *place = now.place;
                    }
                    _ => {}
                }
            }
        }
        (EntryChange::Set { .. }, EntryChange::Set { fields, .. }) => {
            fields.retain(|change| {
                let gone = forgotten.contains(&change.id)
                    && matches!(change.to, RecordFields::Place(_) | RecordFields::Filed(_));
                !gone && record(&change.id).is_none_or(|now| holds(&change.from, now))
            });
            if fields.is_empty() {
                return None;
            }
        }
        _ => {}
    }
    Some(inverse)
}

/// Returns whether the fields of a record still have the values that a run set.
fn holds(set: &RecordFields, now: &EntryRecord) -> bool {
    match set {
        RecordFields::Text(text, _) => EntryText::from(&now.entry) == *text,
        RecordFields::Sources(pointers, _) => now.entry.pointers == *pointers,
        RecordFields::Related(related, _) => now.entry.related == *related,
        RecordFields::Vigour {
            accessed,
            replayed_to,
            ..
        } => (now.entry.accessed, now.entry.replayed_to) == (*accessed, *replayed_to),
        RecordFields::Place(place) => now.place == *place,
        RecordFields::Filed(filed) => now.filed == *filed,
        RecordFields::Group(group) => now.group == *group,
        RecordFields::Band(_) | RecordFields::Merged(..) => true,
    }
}

/// Returns whether an entry is archived, or was neither used nor edited since it was added.
fn is_untouched(now: &EntryRecord, added: &EntryRecord) -> bool {
    let (is, was) = (&now.entry, &added.entry);
    let removed = matches!(now.place, RecordPlace::Archive(_));
    let same_text = (&is.topic, &is.summary, &is.pointers, &is.tags)
        == (&was.topic, &was.summary, &was.pointers, &was.tags);
    let same_use = (is.hits, is.version, is.priority) == (was.hits, was.version, was.priority);
    removed || (same_text && same_use && now.group == added.group && now.by_hand == added.by_hand)
}

/// Copies the changes that were made after a merge into `back`, the entry before the merge. `merged` is the entry right
/// after the merge, and `now` is the current entry.
fn keep_what_is_new(back: &mut Entry, merged: &Entry, now: &Entry) {
    if now.hits > merged.hits {
        // Accesses after the merge count for the entry that absorbed the other one.
        back.hits = back.hits.saturating_add(now.hits - merged.hits);
        back.accessed = now.accessed;
        back.replayed_to = now.replayed_to;
        back.strength = now.strength;
    }
    if now.topic != merged.topic {
        back.topic.clone_from(&now.topic);
    }
    if now.summary != merged.summary {
        back.summary.clone_from(&now.summary);
    }
    if now.pointers != merged.pointers {
        back.pointers.clone_from(&now.pointers);
    }
    if now.tags != merged.tags {
        back.tags.clone_from(&now.tags);
    }
    if now.related != merged.related {
        back.related.clone_from(&now.related);
    }
    if (now.priority, &now.priority_rule) != (merged.priority, &merged.priority_rule) {
        back.priority = now.priority;
        back.priority_rule.clone_from(&now.priority_rule);
    }
}
