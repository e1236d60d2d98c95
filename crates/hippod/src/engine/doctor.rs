//! Diagnosis of workspaces for `doctor`.

mod models;
mod repairs;
mod report;
mod slow;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hippo_fs::harness::OLD_INIT_RECORD;
use hippo_map::consolidation::Place;
use hippo_proto::{RpcError, Severity};
use hippo_store::db::Reader;
use hippo_types::entry::Pointer;

use super::entries::index_path;
use super::housekeeping::look_at_database;
use super::open::database;
use super::rebuild::Lost;
use super::settings::settings_path;
use super::status::repair_is_told;
use super::turn::Hand;
use super::workspace::Workspace;
use crate::scan::{ScanResult, Skipped};
use crate::shared::Shared;
use crate::view::WorkspaceView;
use crate::watcher::Mode;
pub use models::survey_models;
use report::{Report, problem};
pub use slow::{complete, leftovers};

/// Findings of the engine, and the places still to be checked on the disk. Disk checks are slow and must not block the
/// engine.
#[derive(Debug, Default)]
pub struct Survey {
    report: Report,
    places: Vec<Surveyed>,
}

impl Survey {
    /// Adds the findings of another workspace, without duplicates.
    pub fn add(&mut self, other: Self) {
        let Survey { report, places } = other;
        self.report.add(report);
        self.places.extend(places);
    }

    /// Returns the workspaces with work in progress.
    pub fn behind(&self) -> impl Iterator<Item = &Path> {
        let behind = self.places.iter().filter(|place| place.waiting > 0);
        behind.map(|place| place.view.root.as_path())
    }
}

/// One workspace.
struct Surveyed {
    view: Arc<WorkspaceView>,
    database: PathBuf,
    /// Number of files in the index and on disk.
    disk: (usize, usize),
    waiting: usize,
    /// Skipped paths, each with the number of indexed files below it.
    skipped: Vec<(Skipped, usize)>,
    /// Pointers of entries whose target is missing or is not a document.
    doubtful: Vec<Doubt>,
    /// Description of the index file, if hippod keeps one and it has no problem.
    index_file: Option<String>,
    /// True if hippod keeps an index file in this workspace.
    indexed: bool,
}

impl std::fmt::Debug for Surveyed {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Surveyed")
            .field("root", &self.view.root)
            .finish_non_exhaustive()
    }
}

/// A pointer of an entry whose target may be missing.
struct Doubt {
    entry: String,
    /// Path of the target if it is not a document; the file may still exist, for example as JSON.
    file: Option<String>,
}

impl Hand {
    /// Reports the engine's state of a workspace. `scan` contains the files found on disk just before. Files added or
    /// removed since the last event are queued, and are not reported as missed.
    pub(super) fn survey(&self, workspace: &mut Workspace, scan: Option<ScanResult>, now: Instant) -> Survey {
        // A database that was removed while it was open is complete: the open handle holds it.
        look_at_database(&self.shared, workspace);
        if let Some(scan) = scan {
            let without_events = workspace.changed_at_reconcile;
            workspace.take_scan(scan, now);
            workspace.changed_at_reconcile = without_events;
        }
        let mut report = Report::default();
        self.examine_model_of(workspace, &mut report);
        repair_is_told(workspace);
        let places = vec![examine(workspace, &mut report)];
        Survey { report, places }
    }
}

/// Reports a workspace that could not be opened.
pub fn survey_unopened(shared: &Shared, root: &Path, error: RpcError) -> Survey {
    // A database written by a newer hippod is undamaged and is kept.
    let database = database(&shared.paths.state, root);
    let checked = Reader::open(&database).and_then(|reader| reader.check());
    let (place, fix) = (root.display().to_string(), error.data.hint);
    let mut found = problem("workspace", Severity::Error, error.message, place, fix);
    found.fixable = checked.is_err_and(|error| error.is_damage());
    let mut survey = Survey::default();
    survey.report.problems.push(found);
    survey
}

/// Reports the result of a rebuild.
pub fn survey_rebuild(root: &Path, made: Result<Option<Lost>, RpcError>) -> Survey {
    let place = root.display().to_string();
    let mut survey = Survey::default();
    let report = &mut survey.report;
    match made {
        Ok(lost) => {
            report.sound("rebuild", format!("{place}: made again from its files"));
            report
                .problems
                .extend(lost.map(|lost| repairs::was_not_all_read(root, &lost)));
        }
        Err(error) => {
            let fix = "free or mend the disk of the state folder, then run hippoctl doctor --rebuild again";
            let what = format!("the index could not be made again: {}", error.message);
            let found = problem("rebuild", Severity::Error, what, place.as_str(), fix);
            report.check("rebuild", place, vec![found]);
        }
    }
    survey
}

fn examine(workspace: &Workspace, report: &mut Report) -> Surveyed {
    let place = workspace.root.display().to_string();
    if let Some(error) = &workspace.trouble {
        let refusal = super::requests::store_error(error);
        let fixable = error.is_damage();
        let (what, fix) = (refusal.message, refusal.data.hint);
        let mut found = problem("store", Severity::Error, what, place.clone(), fix);
        found.fixable = fixable;
        report.problems.push(found);
    }
    if let Some(recovered) = &workspace.recovered {
        report.problems.push(repairs::was_gone(&place, recovered));
    }
    if let Some(mended) = &workspace.mended {
        report.problems.push(repairs::was_damaged(&place, mended));
    }
    if !workspace.root_present {
        report.problem(
            "root-missing",
            Severity::Error,
            "the folder is not there; its index is kept",
            place.clone(),
            "mount it again, or take it off the list: hippoctl workspace remove",
        );
    }
    if !workspace.held.is_empty() {
        report.problem(
            "held-deletions",
            Severity::Warning,
            format!("{} files went at once; their index is kept", workspace.held.len()),
            place.clone(),
            "bring them back, or accept it: hippoctl sync --accept-deletions",
        );
    }
    if let Some(story) = workspace.own.story() {
        report.problem(
            "settings",
            Severity::Error,
            story,
            settings_path(&workspace.root).display().to_string(),
            "mend the line that is named; hippod reads the file again when it changes",
        );
    }
    for warning in &workspace.view.config.removed {
        report.problem(
            "removed-setting",
            Severity::Info,
            warning.clone(),
            place.clone(),
            "remove it; docs/configuration.md lists the settings",
        );
    }
    for file in &workspace.own.untrusted {
        let keys: Vec<&str> = file.changes.iter().map(|change| change.key.as_str()).collect();
        report.problem(
            "untrusted",
            Severity::Info,
            format!("{} has no effect without trust: {}", file.path, keys.join(", ")),
            workspace.root.join(&file.path).display().to_string(),
            format!("read the file; to accept it: hippoctl workspace trust {place}"),
        );
    }
    if hippo_fs::exists(&workspace.root, OLD_INIT_RECORD) {
        report.problem(
            "init-record",
            Severity::Info,
            format!("{OLD_INIT_RECORD} is not used: hippod keeps the records of init in the user's state folder"),
            workspace.root.join(OLD_INIT_RECORD).display().to_string(),
            format!("read it; if an earlier version of init made it: hippoctl init --undo --trust-record {place}; otherwise delete it"),
        );
    }
    let index_file = examine_index_file(workspace, report);
    examine_watcher(workspace, &place, report);
    let mut known: Vec<&str> = workspace.known.keys().map(String::as_str).collect();
    known.sort_unstable();
    let kept = |skipped: &Skipped| (skipped.clone(), count_below(&known, &skipped.rel));
    let entries = &workspace.entries;
    Surveyed {
        view: Arc::clone(&workspace.view),
        database: workspace.store.path().to_path_buf(),
        disk: (workspace.known.len(), workspace.files_on_disk),
        waiting: workspace.unread().count() + workspace.missing.len(),
        skipped: workspace.skipped.values().map(kept).collect(),
        doubtful: doubtful(workspace),
        index_file,
        indexed: entries.enabled,
    }
}

/// Returns the number of sorted paths that equal `place` or lie below it.
fn count_below(sorted: &[&str], place: &str) -> usize {
    // The character `0` follows the slash in the sort order.
    let (from, to) = (format!("{place}/"), format!("{place}0"));
    let at = |bound: &str| sorted.partition_point(|path| *path < bound);
    at(&to) - at(&from) + usize::from(sorted.binary_search(&place).is_ok())
}

/// Reports problems with the index file; returns its description if it has none.
fn examine_index_file(workspace: &Workspace, report: &mut Report) -> Option<String> {
    let entries = &workspace.entries;
    let place = index_path(&workspace.root).display().to_string();
    if let Some(trouble) = &entries.file.trouble {
        let (what, fix) = (trouble.what.clone(), trouble.fix.clone());
        report.problem("index-file", Severity::Warning, what, place.clone(), fix);
    }
    if let Some(what) = entries.held_what() {
        let what = format!("{what}; the file is neither read nor written");
        report.problem(
            "held-removals",
            Severity::Warning,
            what,
            place.clone(),
            entries.held_fix(),
        );
    }
    for damaged in &entries.known.damaged {
        report.problem(
            "damaged-row",
            Severity::Warning,
            format!(
                "{} {} cannot be read: {}",
                damaged.table, damaged.id, damaged.reason
            ),
            workspace.store.path().display().to_string(),
            "everything else is served; hippoctl index edit or remember writes an entry anew",
        );
    }
    if let Some(what) = entries.without_room(&workspace.known).filter(|_| entries.enabled) {
        let fix = "hippoctl index forget takes entries out; sources.exclude leaves files out; or leave it: search finds all of them";
        report.problem("index-full", Severity::Info, what, place.clone(), fix);
    }
    let written = entries.file.trouble.is_none() && !entries.file.is_held();
    if !entries.enabled || !written {
        return None;
    }
    let (all, queued, archived) = entries.counts();
    Some(format!(
        "{place}: {all} entries, {queued} of them fading, {archived} archived"
    ))
}

/// Returns the pointers whose target is not among the indexed documents and sections.
fn doubtful(workspace: &Workspace) -> Vec<Doubt> {
    if !workspace.entries.enabled || !workspace.root_present {
        return Vec::new();
    }
    let picture = workspace.view.picture();
    let doubt = |pointer: &Pointer| match workspace.known.get(&pointer.path) {
        Some(known) => {
            let leads = pointer.section.as_ref().is_none_or(|section| {
                let facts = picture.facts.get(&known.document);
                facts.is_some_and(|facts| facts.sections.iter().any(|there| there.title == *section))
            });
            (!leads).then_some(None)
        }
        None => Some(Some(pointer.path.clone())),
    };
    let records = workspace.entries.known.records.values();
    let live = records.filter(|record| !matches!(record.place, Place::Archive(_)));
    live.flat_map(|record| {
        let doubts = record.entry.pointers.iter().filter_map(doubt);
        doubts.map(|file| Doubt {
            entry: record.entry.id.0.to_string(),
            file,
        })
    })
    .collect()
}

fn examine_watcher(workspace: &Workspace, place: &str, report: &mut Report) {
    let Some(watcher) = &workspace.watcher else {
        if workspace.watch_again_at.is_none() {
            return report.sound(
                "watcher",
                format!("{place}: it is being opened, watching begins at once"),
            );
        }
        report.problem(
            "watcher",
            Severity::Warning,
            "nothing watches; changes are found by comparing the disk now and then",
            place,
            "hippoctl logs tells why the watcher did not start",
        );
        return;
    };
    let state = watcher.state();
    match (state.mode, state.reason) {
        (mode, Some(reason)) => report.problem(
            "watch-limit",
            Severity::Warning,
            match mode {
                Mode::Poll => format!("changes are found by looking every few seconds: {reason}"),
                Mode::Notify => format!("some changes are found only by comparing the disk: {reason}"),
            },
            place,
            "raise the limit that is named (sysctl, or ulimit), then restart hippod",
        ),
        _ if workspace.watcher_silent => report.problem(
            "watcher",
            Severity::Warning,
            "the watcher did not report a test file; it is started again",
            place,
            "if this stays, set [watch] poll = \"always\"",
        ),
        _ => {
            let detail = match &workspace.canary_unprovable {
                Some(why) => format!("watching, but it cannot be proved: {why}"),
                None => "watching".to_owned(),
            };
            report.sound("watcher", format!("{place}: {detail}"));
        }
    }
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
