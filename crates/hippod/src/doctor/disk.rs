//! Disk checks of a diagnosis, run outside the engine.

use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::layout::INDEX_FILE;
use hippo_proto::{DoctorResponse, Problem, Severity};
use hippo_store::contexts::lost_changes;
use hippo_store::db::StoreReader;
use hippo_store::shared_file::UNMERGED;
use hippo_text::text::plural;

use super::Doctor;
use crate::contexts;
use crate::files::index_path;
use crate::instance;
use crate::registry;
use crate::scan::{self, SkippedFile, describe_left_out};
use crate::survey::{Survey, SurveyedWorkspace, problem};
use crate::tree;
use crate::trust::POLICIES;

/// Adds the disk checks, which run outside the engine, and returns the complete diagnosis.
pub fn complete(doctor: &Doctor, mut survey: Survey) -> DoctorResponse {
    let places = std::mem::take(&mut survey.places);
    examine_folders(doctor, &mut survey);
    for place in &places {
        examine_database(place, &mut survey);
        examine_index_copy(place, &mut survey);
        examine_disk(place, &mut survey);
        examine_contexts(doctor, &place.view.root, &mut survey);
        let (found, nodes) = tree::examine(&doctor.trees, &place.view);
        match nodes {
            Some(nodes) => survey.check(
                "tree",
                format!("{}: {}", place.view.root.display(), plural(nodes as u64, "node")),
                found,
            ),
            None => survey.problems.extend(found),
        }
    }
    survey.problems.sort_by_key(|problem| problem.severity);
    DoctorResponse {
        problems: survey.problems,
        checks: survey.checks,
        fixed: Vec::new(),
    }
}

/// Checks that only the user can read the state folders.
fn examine_folders(doctor: &Doctor, survey: &mut Survey) {
    for folder in instance::open_to_others(&doctor.paths) {
        let mut found = problem(
            super::PERMISSIONS,
            Severity::Warning,
            "other users of this machine can read this folder",
            folder.display().to_string(),
            format!("chmod 700 {}", folder.display()),
        );
        found.fixable = true;
        survey.problems.push(found);
    }
}

fn examine_database(place: &SurveyedWorkspace, survey: &mut Survey) {
    let database = place.database.display().to_string();
    match StoreReader::open(&place.database).and_then(|reader| reader.check()) {
        Ok(()) => survey.sound("database", format!("{database}: sound")),
        Err(error) => {
            let mended = error.is_damage();
            let fix = "`hippoctl doctor --rebuild` rebuilds the database from the files and keeps all \
                       accesses and removals that can be read";
            let mut found = problem("database", Severity::Error, error.to_string(), database, fix);
            found.fixable = mended;
            survey.problems.push(found);
        }
    }
}

fn examine_index_copy(place: &SurveyedWorkspace, survey: &mut Survey) {
    let file = index_path(&place.view.root);
    let kept = file.with_file_name(format!("{INDEX_FILE}{UNMERGED}"));
    if place.indexed && hippo_fs::exists(&place.view.root, format!("{INDEX_FILE}{UNMERGED}")) {
        survey.problem(
            "index-copy",
            Severity::Warning,
            "this is an earlier version of the index file; it is kept because hippod cannot determine which \
             of its lines the index file lacks",
            kept.display().to_string(),
            "copy the missing lines into the index file, then remove this file",
        );
    }
    let Some(detail) = &place.index_file else { return };
    if hippo_fs::exists(&place.view.root, INDEX_FILE) {
        survey.sound("index-file", detail.clone());
    } else if hippo_fs::is_present(&place.view.root) {
        survey.problem(
            "index-missing",
            Severity::Info,
            "the index file was removed, or has not been written yet",
            file.display().to_string(),
            "the next light cycle writes the index file; to write it now: hippoctl consolidate light",
        );
    }
}

fn examine_disk(place: &SurveyedWorkspace, survey: &mut Survey) {
    let (indexed, on_disk) = place.disk;
    let skipped = place.skipped.iter();
    let root = place.view.root.display();
    let detail = match place.waiting {
        0 if indexed == on_disk => format!("{root}: {}, all indexed", plural(on_disk as u64, "file")),
        waiting => {
            let on_disk = plural(on_disk as u64, "file");
            format!("{root}: {on_disk} on disk, {indexed} indexed, {waiting} waiting to be read")
        }
    };
    let status = place.view.status();
    let pending = status.as_ref().map_or(0, |status| status.pending);
    let detail = match pending {
        0 => detail,
        pending => format!(
            "{detail}; {} not searchable by meaning yet",
            plural(pending, "passage")
        ),
    };
    let not_indexed = status.and_then(|status| describe_left_out(&status.left_out, 0));
    let detail = match not_indexed {
        Some(not_indexed) => format!("{detail}; {not_indexed}"),
        None => detail,
    };
    survey.check(
        "disk",
        detail,
        skipped
            .map(|(skipped, kept)| left_out(&place.view.root, skipped, *kept))
            .collect(),
    );
}

/// Reports a file or folder that is not read. This is a problem if the index still contains files from that path.
fn left_out(root: &Path, skipped: &SkippedFile, kept: usize) -> Problem {
    let path = root.join(&skipped.rel);
    if scan::is_own_place(&skipped.rel) {
        let (place, fix) = (path.display().to_string(), "remove the link");
        return problem("link", Severity::Warning, skipped.reason.clone(), place, fix);
    }
    let is_refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
    let is_unreadable = WorkspaceDir::open(root).is_ok_and(|dir| match dir.resolve(&skipped.rel) {
        Ok(real) if dir.is_folder(&real) => dir.entries(real).is_err(),
        Ok(real) => dir.open_file(real).is_err_and(is_refused),
        Err(error) => is_refused(error),
    });
    let place = path.display().to_string();
    if is_unreadable && kept > 0 {
        let what = format!(
            "{}; the index keeps {} below this folder until the folder can be read again",
            skipped.reason,
            plural(kept as u64, "file")
        );
        let fix = "give hippod permission to read the folder, or add the folder to sources.exclude";
        return problem("skipped", Severity::Warning, what, place, fix);
    }
    let what = format!("not indexed: {}", skipped.reason);
    let fix = "correct the file, or add it to sources.exclude";
    problem("skipped", Severity::Info, what, place, fix)
}

fn examine_contexts(doctor: &Doctor, root: &Path, survey: &mut Survey) {
    let kept = &doctor.contexts;
    match kept.check(root) {
        Ok(None) => {}
        Ok(Some(file)) => survey.sound("contexts", format!("{}: sound", file.display())),
        Err(error) => survey.problem(
            "contexts",
            Severity::Error,
            error.message,
            root.display().to_string(),
            error.data.hint,
        ),
    }
    let file = registry::state_folder(&doctor.paths.state, root).join(contexts::FILE);
    let lost = lost_changes(&file);
    if lost > 0 {
        survey.problem(
            "contexts-lost",
            Severity::Warning,
            format!("{lost} stored changes of sessions are missing: the database or its log was damaged, truncated or removed"),
            file.display().to_string(),
            "the damaged database or log is kept beside the current one as contexts.db.damaged; to restore \
             the changes from a backup: hippoctl restore",
        );
        kept.loss_is_told(root);
    }
    if let Some(story) = kept.policies_trouble(root) {
        survey.problem(
            "policies",
            Severity::Error,
            story,
            root.join(POLICIES).display().to_string(),
            "correct the reported line",
        );
    }
}
