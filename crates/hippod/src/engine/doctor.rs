//! What is wrong, where, and what to do about it.

mod report;

use std::path::{Path, PathBuf};

use hippo_core::consolidation::Place;
use hippo_core::entry::Pointer;
use hippo_core::layout::INDEX_FILE;
use hippo_proto::{DoctorRequest, DoctorResponse, Problem, RpcError, Severity};
use hippo_store::shared_file::UNMERGED;

use super::Engine;
use super::entries::index_path;
use super::settings::settings_path;
use super::workspace::Workspace;
use crate::contexts::POLICIES;
use crate::embed_worker::ModelState;
use crate::files;
use crate::scan::Skipped;
use crate::shared::Slot;
use crate::tree;
use crate::watcher::Mode;
use report::{Report, problem};

impl Engine {
    /// Answers `doctor`; with `rebuild`, makes the derived state of the workspaces again first.
    pub(super) fn doctor(&mut self, request: &DoctorRequest) -> Result<DoctorResponse, RpcError> {
        let roots = self.roots_of(request.workspace.as_deref())?;
        let mut report = Report::default();
        if request.rebuild {
            for root in &roots {
                let place = root.display().to_string();
                match self.rebuild(root) {
                    Ok(()) => report.sound("rebuild", format!("{place}: made again from its files")),
                    Err(error) => {
                        let fix = "free or mend the disk of the state folder, then run hippoctl doctor --rebuild again";
                        let what = format!("the index could not be made again: {error:#}");
                        let found = problem("rebuild", Severity::Error, what, place.as_str(), fix);
                        report.check("rebuild", place, vec![found]);
                    }
                }
            }
        }
        // What came or went just now, and was not heard of yet, is under way from here on.
        let now = self.shared.clock.monotonic();
        for workspace in self.workspaces.values_mut() {
            if roots.contains(&workspace.root) {
                let without_events = workspace.changed_at_reconcile;
                workspace.reconcile(now);
                // What waits to be heard of was not missed.
                workspace.changed_at_reconcile = without_events;
            }
        }
        self.examine_model(&mut report);
        for (root, slot) in self.shared.views.all() {
            if !roots.contains(&root) {
                continue;
            }
            if let Slot::Broken(error) = slot {
                let place = root.display().to_string();
                report.problem(
                    "workspace",
                    Severity::Error,
                    error.message,
                    place,
                    error.data.hint,
                );
            }
        }
        for workspace in self.workspaces.values() {
            if roots.contains(&workspace.root) {
                examine(workspace, &mut report);
                self.examine_contexts(&workspace.root, &mut report);
                let logs = tree::examine_logs(&self.shared, &workspace.view);
                let tree = tree::examine(&self.shared, &workspace.view);
                for (id, found) in [("logs", logs), ("tree", tree)] {
                    match found.detail {
                        Some(detail) => report.check(id, detail, found.problems),
                        None => report.problems.extend(found.problems),
                    }
                }
            }
        }
        report.problems.sort_by_key(|problem| problem.severity);
        Ok(DoctorResponse {
            problems: report.problems,
            checks: report.checks,
        })
    }

    fn examine_contexts(&self, root: &Path, report: &mut Report) {
        let contexts = &self.shared.contexts;
        match contexts.check(&self.shared, root) {
            Ok(None) => {}
            Ok(Some(file)) => report.sound("contexts", format!("{}: sound", file.display())),
            Err(error) => report.problem(
                "contexts",
                Severity::Error,
                error.message,
                root.display().to_string(),
                error.data.hint,
            ),
        }
        if let Some(story) = contexts.policies_trouble(&self.shared, root) {
            report.problem(
                "policies",
                Severity::Error,
                story,
                root.join(POLICIES).display().to_string(),
                "mend the line that is named, and try it on a transcript: hippoctl policy test FILE",
            );
        }
    }

    fn roots_of(&self, folder: Option<&str>) -> Result<Vec<PathBuf>, RpcError> {
        let Some(folder) = folder else {
            return Ok(self.registry.roots().map(Path::to_path_buf).collect());
        };
        match self.shared.views.root_of(Path::new(folder)) {
            Some(root) => Ok(vec![root]),
            None => Err(super::requests::no_workspace(Path::new(folder))),
        }
    }

    fn examine_model(&self, report: &mut Report) {
        let place = self.shared.paths.models.display().to_string();
        match self.shared.embed.state().0 {
            ModelState::Absent(why) if !self.shared.config.embed.enabled => report.sound("model", why),
            ModelState::Absent(why) => match crate::models::unsupported() {
                Some(why) => report.problem(
                    "model-unsupported",
                    Severity::Warning,
                    why,
                    place,
                    "search by words works; set [embed] enabled = false to silence this",
                ),
                None => report.problem(
                    "no-model",
                    Severity::Warning,
                    why,
                    place,
                    "hippoctl model pull (or hippoctl model import FILE without a network)",
                ),
            },
            ModelState::Failed(why) => report.problem(
                "model-failed",
                Severity::Error,
                why,
                place,
                "hippoctl model verify names damaged files, hippoctl model pull writes them again",
            ),
            state => report.sound("model", format!("{state:?}").to_lowercase()),
        }
    }
}

fn examine(workspace: &Workspace, report: &mut Report) {
    let place = workspace.root.display().to_string();
    let database = workspace.store.path().display().to_string();
    match workspace.store.check() {
        Ok(()) => report.sound("database", format!("{database}: sound")),
        Err(error) => report.problem(
            "database",
            Severity::Error,
            error.to_string(),
            database,
            "hippoctl doctor --rebuild makes it again from the files; accesses and removals are taken over where they can be read",
        ),
    }
    if let Some(error) = &workspace.trouble {
        let refusal = super::requests::store_error(error);
        report.problem(
            "store",
            Severity::Error,
            refusal.message,
            place.clone(),
            refusal.data.hint,
        );
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
    examine_index_file(workspace, report);
    examine_pointers(workspace, report);
    examine_watcher(workspace, &place, report);
    let (indexed, on_disk) = (workspace.known.len(), workspace.files_on_disk);
    let waiting = workspace.dirty.len() + workspace.missing.len() + workspace.held.len();
    report.check(
        "disk",
        format!("{place}: {on_disk} files on disk, {indexed} in the index, {waiting} under way"),
        workspace
            .skipped
            .iter()
            .map(|skipped| left_out(workspace, skipped))
            .collect(),
    );
}

/// A file or a folder that is not read: a problem where questions were answered from it before.
fn left_out(workspace: &Workspace, skipped: &Skipped) -> Problem {
    let path = workspace.root.join(&skipped.rel);
    let is_unreadable = if path.is_dir() {
        path.read_dir().is_err()
    } else {
        files::open(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    let place = path.display().to_string();
    let known = workspace.known.keys();
    let kept = known.filter(|known| Path::new(known.as_str()).starts_with(&skipped.rel));
    let kept = kept.count();
    if is_unreadable && kept > 0 {
        let what = format!(
            "{}; no answer is from there, and what the index has of it ({kept} files) is kept until it can be read",
            skipped.reason
        );
        let fix = "give hippod the right to read it, or exclude it under [sources] exclude";
        return problem("skipped", Severity::Warning, what, place, fix);
    }
    let what = format!("not indexed: {}", skipped.reason);
    let fix = "mend the file, or exclude it under [sources] exclude";
    problem("skipped", Severity::Info, what, place, fix)
}

fn examine_index_file(workspace: &Workspace, report: &mut Report) {
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
    let kept = index_path(&workspace.root).with_file_name(format!("{INDEX_FILE}{UNMERGED}"));
    if entries.enabled && kept.exists() {
        report.problem(
            "index-copy",
            Severity::Warning,
            "an older index file is kept here, because hippod cannot tell what of it is new".to_owned(),
            kept.display().to_string(),
            "take from it what you miss in the index file, and remove it",
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
    let written = entries.file.trouble.is_none() && !entries.file.is_held();
    if entries.enabled && written {
        let (all, queued, archived) = entries.counts();
        let detail = format!("{place}: {all} entries, {queued} of them fading, {archived} archived");
        report.sound("index-file", detail);
    }
}

/// Names of entries that are told.
const NAMED: usize = 5;

/// Whether the entries point at what is there, by what is known of the files.
fn examine_pointers(workspace: &Workspace, report: &mut Report) {
    if !workspace.entries.enabled || !workspace.root_present {
        return;
    }
    let picture = workspace.view.picture();
    let leads = |pointer: &Pointer| match workspace.known.get(&pointer.path) {
        Some(known) => pointer.section.as_ref().is_none_or(|section| {
            let facts = picture.facts.get(&known.document);
            facts.is_some_and(|facts| facts.sections.iter().any(|there| there.title == *section))
        }),
        // Entries of files that are no documents, JSON for instance.
        None => workspace.root.join(&pointer.path).exists(),
    };
    let (mut stale, mut of) = (0, Vec::new());
    for record in workspace.entries.known.records.values() {
        let lost = record
            .entry
            .pointers
            .iter()
            .filter(|pointer| !leads(pointer))
            .count();
        if lost > 0 && !matches!(record.place, Place::Archive(_)) {
            stale += lost;
            of.push(record.entry.id.0.as_str());
        }
    }
    if stale == 0 {
        return;
    }
    let more = match of.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    of.truncate(NAMED);
    let lead = match stale {
        1 => "1 pointer of an entry leads".to_owned(),
        _ => format!("{stale} pointers of entries lead"),
    };
    report.problem(
        "stale-pointers",
        Severity::Info,
        format!("{lead} nowhere: {}{more}", of.join(", ")),
        index_path(&workspace.root).display().to_string(),
        "hippoctl consolidate deep --dry-run lists them, with those that a deep cycle can mend; hippoctl index show ID tells of one",
    );
}

fn examine_watcher(workspace: &Workspace, place: &str, report: &mut Report) {
    let Some(watcher) = &workspace.watcher else {
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
