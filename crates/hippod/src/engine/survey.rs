//! Survey of an open workspace for `doctor`.

mod repairs;

use std::sync::Arc;
use std::time::Instant;

use hippo_map::hierarchy::advise;
use hippo_map::layout::INDEX_FILE;
use hippo_proto::Severity;
use hippo_text::source::original_of_copy;
use hippo_text::text::plural;
use hippo_types::scope::Scope;

use super::agenda::Chore;
use super::embedding::model_state;
use super::housekeeping::look_at_database;
use super::settings::settings_path;
use super::status::repair_is_told;
use super::worker::WorkspaceWorker;
use super::workspace::Workspace;
use crate::embed_worker::ModelPhase;
use crate::files::index_path;
use crate::scan::{ScanResult, SkippedFile};
use crate::survey::{Survey, SurveyedWorkspace, examine_model, problem};

impl WorkspaceWorker {
    /// Collects the state and the problems of an open workspace. `scan` is the result of a scan that `doctor` has just
    /// made. Differences that this scan finds are queued, but do not count as changes that the watcher missed.
    pub(super) fn survey(&self, workspace: &mut Workspace, scan: Option<ScanResult>, now: Instant) -> Survey {
        // If the database file was removed while open, write it again now: the open handle still has all data.
        look_at_database(&self.resources, workspace);
        if let Some(scan) = scan {
            let without_events = workspace.changed_at_reconcile;
            workspace.take_scan(scan, now);
            workspace.changed_at_reconcile = without_events;
        }
        let mut survey = Survey::default();
        self.examine_model_of(workspace, &mut survey);
        repair_is_told(workspace);
        let place = examine(workspace, &mut survey);
        survey.places.push(place);
        survey
    }

    /// Reports the state of the model of a workspace, if it is not the daemon's model.
    fn examine_model_of(&self, workspace: &Workspace, survey: &mut Survey) {
        let name = workspace.view.config.embed.model.as_str();
        if name == self.resources.config.embed.model {
            return;
        }
        let state = match model_state(&self.resources, workspace) {
            // The model has not been loaded yet, so check its files.
            ModelPhase::Unloaded => self.resources.models.state_of(name),
            state => state,
        };
        examine_model(&self.resources.models, name, state, survey);
    }
}

fn examine(workspace: &Workspace, survey: &mut Survey) -> SurveyedWorkspace {
    let place = workspace.root.display().to_string();
    if let Some(error) = &workspace.trouble {
        let refusal = crate::errors::store_error(error);
        let (what, fix) = (refusal.message, refusal.data.hint);
        let mut found = problem("store", Severity::Error, what, place.clone(), fix);
        found.fixable = error.is_damage();
        survey.problems.push(found);
    }
    let recovered = workspace.recovered.iter();
    let recovered = recovered.map(|recovered| repairs::was_gone(&place, recovered));
    let mended = workspace
        .mended
        .iter()
        .map(|mended| repairs::was_damaged(&place, mended));
    survey.problems.extend(recovered.chain(mended));
    if !workspace.root_present {
        let what = "the folder does not exist; its files stay in the index";
        let fix = "make the folder available again, or unregister it: hippoctl workspace remove";
        survey.problem("root-missing", Severity::Error, what, &place, fix);
    }
    if !workspace.held.is_empty() {
        let held = plural(workspace.held.len() as u64, "file");
        let what = format!("{held} disappeared at once; hippod keeps them in the index until you decide");
        let fix = "restore the files, or confirm the deletion: hippoctl sync --accept-deletions";
        survey.problem("held-deletions", Severity::Warning, what, &place, fix);
    }
    if let Some(story) = workspace.own.describe_error() {
        let file = settings_path(&workspace.root).display().to_string();
        let fix = "correct the reported line; hippod reads the file again after each change";
        survey.problem("settings", Severity::Error, story, file, fix);
    }
    for file in &workspace.own.untrusted {
        let keys: Vec<&str> = file.changes.iter().map(|change| change.key.as_str()).collect();
        let (path, keys) = (&file.path, keys.join(", "));
        let what = format!("{path} is not trusted, so these settings have no effect: {keys}");
        let there = workspace.root.join(path).display().to_string();
        let fix = format!("read the file; to accept the settings: hippoctl workspace trust {place}");
        survey.problem("untrusted", Severity::Info, what, there, fix);
    }
    examine_scopes(workspace, survey);
    let index_file = examine_index_file(workspace, survey);
    examine_copies(workspace, survey);
    examine_watcher(workspace, &place, survey);
    let mut known: Vec<&str> = workspace.known.keys().map(String::as_str).collect();
    known.sort_unstable();
    let kept = |skipped: &SkippedFile| (skipped.clone(), count_below(&known, &skipped.rel));
    let skipped = workspace.skipped.values();
    let skipped = skipped.filter(|skipped| workspace.view.scope_of_path(&skipped.rel).is_shared());
    let entries = &workspace.entries;
    SurveyedWorkspace {
        view: Arc::clone(&workspace.view),
        database: workspace.store.path().to_path_buf(),
        disk: (workspace.known.len(), workspace.files_on_disk),
        waiting: workspace.unread().count() + workspace.missing.len(),
        skipped: skipped.map(kept).collect(),
        index_file,
        indexed: entries.enabled,
    }
}

/// Reports the files that not everybody finds.
fn examine_scopes(workspace: &Workspace, survey: &mut Survey) {
    let snapshot = workspace.view.snapshot();
    let (private, unclaimed): (Vec<&Scope>, Vec<&Scope>) = snapshot
        .scopes
        .values()
        .partition(|scope| matches!(scope, Scope::Private(_)));
    let place = workspace.root.display().to_string();
    if !private.is_empty() {
        let files = plural(private.len() as u64, "file");
        let what = format!("{files} private to one agent: only requests of this agent find them");
        let fix = "to search as an agent: hippoctl search --agent ID QUERY".to_owned();
        survey.problem("private-files", Severity::Info, what, place.clone(), fix);
    }
    if !unclaimed.is_empty() {
        let files = plural(unclaimed.len() as u64, "file");
        let what = format!("{files} private, but to no agent or to several: no request finds them");
        let fix =
            "name one agent in `agent:` of the front matter, or move the file to the folder of an agent";
        survey.problem("unclaimed-files", Severity::Info, what, place, fix.to_owned());
    }
}

/// Reports the conflict copies of programs that synchronize folders: those of memory files, and those of the index file
/// that could not be merged.
fn examine_copies(workspace: &Workspace, survey: &mut Survey) {
    let name = |path: &str| path.rsplit('/').next().and_then(original_of_copy);
    let of_memory = workspace
        .known
        .keys()
        .filter_map(|path| Some((path, name(path)?)));
    let of_memory = of_memory.map(|(path, original)| (path, original, "both versions are searched"));
    let of_index = workspace.entries.file.copies.iter();
    let of_index = of_index.map(|(path, why)| (path, INDEX_FILE.to_owned(), why.as_str()));
    for (path, original, why) in of_memory.chain(of_index) {
        let what =
            format!("this is a conflict copy of {original} from a program that synchronizes folders; {why}");
        let place = workspace.root.join(path).display().to_string();
        let fix =
            format!("compare the copy with {original}, copy what is missing there, then delete the copy");
        survey.problem("conflict-copy", Severity::Warning, what, place, fix);
    }
}

/// Returns the number of sorted paths that equal `place` or lie below it.
fn count_below(sorted: &[&str], place: &str) -> usize {
    // `0` directly follows `/` in the sort order.
    let (from, to) = (format!("{place}/"), format!("{place}0"));
    let at = |bound: &str| sorted.partition_point(|path| *path < bound);
    at(&to) - at(&from) + usize::from(sorted.binary_search(&place).is_ok())
}

/// Reports problems with the index file. If there are none, returns a description of the file with its numbers of
/// entries.
fn examine_index_file(workspace: &Workspace, survey: &mut Survey) -> Option<String> {
    let entries = &workspace.entries;
    let place = index_path(&workspace.root).display().to_string();
    if let Some(trouble) = &entries.file.trouble {
        let (what, fix) = (trouble.what.clone(), trouble.fix.clone());
        survey.problem("index-file", Severity::Warning, what, place.clone(), fix);
    }
    if let Some((what, fix)) = entries.held_problem() {
        let what = format!("{what}; hippod neither reads nor writes the file");
        survey.problem("held-removals", Severity::Warning, what, place.clone(), fix);
    }
    for damaged in &entries.known.damaged {
        let what = format!(
            "{} {} cannot be read: {}",
            damaged.table, damaged.id, damaged.reason
        );
        let database = workspace.store.path().display().to_string();
        let fix =
            "everything else works; `hippoctl index edit` or `hippoctl remember` writes the entry again";
        survey.problem("damaged-row", Severity::Warning, what, database, fix);
    }
    if let Some(what) = entries.without_room(&workspace.known).filter(|_| entries.enabled) {
        let fix = "no change is necessary, because search finds all files; to make room, remove entries with \
                   `hippoctl index forget`, or exclude files with sources.exclude";
        survey.problem("index-full", Severity::Info, what, place.clone(), fix);
    }
    let written = entries.file.trouble.is_none() && entries.file.held.is_none();
    if !entries.enabled || !written {
        return None;
    }
    let (all, queued, archived) = entries.counts();
    Some(format!(
        "{place}: {}, {queued} fading, {archived} archived; {}",
        plural(all, "entry"),
        advise(all)
    ))
}

fn examine_watcher(workspace: &Workspace, place: &str, survey: &mut Survey) {
    let mut warn =
        |id: &str, what: String, fix: &str| survey.problem(id, Severity::Warning, what, place, fix);
    let reason = workspace.watcher.as_ref().map(|watcher| watcher.state().reason);
    let detail = match (reason, &workspace.canary_unprovable) {
        (None, _) if workspace.agenda.is_planned(Chore::StartWatcher) => {
            let what = "the watcher is not running; changes are found only when hippod compares the disk with the index";
            return warn(
                "watcher",
                what.to_owned(),
                "to see why the watcher did not start: hippoctl service logs",
            );
        }
        (None, _) => "the workspace is being opened; the watcher starts soon".to_owned(),
        (Some(Some(reason)), _) => {
            return warn(
                "watch-limit",
                format!("hippod polls for changes every few seconds: {reason}"),
                "raise the limit that the message names (sysctl or ulimit), then restart hippod",
            );
        }
        _ if workspace.watcher_silent => {
            let what = "the watcher did not report a test file in time; hippod is restarting the watcher";
            return warn(
                "watcher",
                what.to_owned(),
                "if this message persists, set `watch.poll = \"always\"` in the configuration",
            );
        }
        (_, Some(why)) => format!("the watcher is running, but its test file cannot be written: {why}"),
        (_, None) => "watching".to_owned(),
    };
    survey.sound("watcher", format!("{place}: {detail}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_path_are_counted_including_the_path() {
        let known = ["a", "a-b/c.md", "a.md", "a/b.md", "a/c/d.md", "a0", "b.md"];
        assert_eq!(count_below(&known, "a"), 3);
        assert_eq!(count_below(&known, "b.md"), 1);
        assert_eq!(count_below(&known, "c"), 0);
    }
}
