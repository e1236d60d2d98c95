//! Plan of the changes that undo init.

use std::collections::BTreeMap;

use super::plan::{ChangePlan, PathChange};
use super::record::{FileRecord, InitRecord, Original};
use super::{PathReason, PathSnapshot, PathState};

/// Returns the plan that reverts the recorded changes. A change that cannot be reverted stays in the record.
pub fn take_back(there: &PathSnapshot, record: &InitRecord) -> ChangePlan {
    let mut plan = ChangePlan {
        removed_folders: record.folders.iter().rev().cloned().collect(),
        ..ChangePlan::default()
    };
    // The record can contain one file under two names, if one of the names became a link after init.
    let mut by_file: BTreeMap<&str, Vec<(&String, &FileRecord)>> = BTreeMap::new();
    for named in &record.files {
        by_file.entry(there.real(named.0)).or_default().push(named);
    }
    for (real, names) in by_file {
        match there.state(real) {
            PathState::Missing => {}
            PathState::Folder => {
                let why = "a folder exists at the path of this file";
                let kept = names.iter().map(|(path, _)| PathReason::new(*path, why));
                plan.kept.extend(kept);
            }
            PathState::Odd(why) => {
                for (path, entry) in names {
                    keep_entry(&mut plan, path, entry, why);
                }
            }
            PathState::File(now) => take_back_file(&mut plan, real, &names, now),
        }
    }
    if !plan.record.files.is_empty() {
        plan.record.version = record.version;
        plan.record.platforms.clone_from(&record.platforms);
        plan.record.full = record.full;
        plan.record.folders.clone_from(&record.folders);
    }
    plan
}

/// Keeps the entry of a file in the record, so that the next `init --undo` can revert the file.
fn keep_entry(plan: &mut ChangePlan, path: &str, entry: &FileRecord, why: &str) {
    plan.kept.push(PathReason::new(path, why));
    plan.record.files.insert(path.to_owned(), entry.clone());
}

/// Plans to revert all changes that are recorded for one file. `names` are the names under which the record lists the
/// file.
fn take_back_file(plan: &mut ChangePlan, real: &str, names: &[(&String, &FileRecord)], now: &[u8]) {
    let mut after = Some(now.to_vec());
    for (path, entry) in names {
        let Some(text) = &after else { break };
        match entry.original(text) {
            Ok(Original::Missing) => after = None,
            Ok(Original::Text(before)) => after = Some(before),
            Ok(Original::Theirs) => {
                let why = "changed since init created it";
                plan.kept.push(PathReason::new(*path, why));
            }
            Err(why) => keep_entry(plan, path, entry, &why),
        }
    }
    if after.as_deref() == Some(now) {
        return;
    }
    let link = names.iter().find(|(path, _)| *path != real);
    let what = match (&after, link) {
        (Some(_), _) => "without the part that init wrote".to_owned(),
        (None, None) => String::new(),
        (None, Some((link, _))) => format!("the link {link} pointed to it"),
    };
    plan.changes.push(PathChange {
        path: real.to_owned(),
        before: Some(now.to_vec()),
        after,
        what,
    });
}
