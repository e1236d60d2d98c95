//! Plan of the changes that undo init.

use std::collections::BTreeMap;

use super::plan::{ChangePlan, PathChange};
use super::record::{FileRecord, InitRecord, Original};
use super::{KeptPath, PathSnapshot, PathState};

/// Returns the plan that reverts the recorded changes. Changes that cannot be reverted remain in the record.
pub fn take_back(there: &PathSnapshot, record: &InitRecord) -> ChangePlan {
    let mut plan = ChangePlan::default();
    // If a link was created since, one file may be recorded under two names.
    let mut by_file: BTreeMap<&str, Vec<(&String, &FileRecord)>> = BTreeMap::new();
    for named in &record.files {
        by_file.entry(there.real(named.0)).or_default().push(named);
    }
    for (real, names) in by_file {
        let mut stays = |path: &String, why: &str| {
            plan.kept.push(KeptPath {
                path: path.clone(),
                why: why.to_owned(),
            });
        };
        match there.state(real) {
            PathState::Missing => {}
            PathState::Folder => names
                .iter()
                .for_each(|(path, _)| stays(path, "a folder exists at the path of this file")),
            PathState::Odd(why) => {
                for (path, entry) in names {
                    stays(path, why);
                    plan.record.files.insert(path.clone(), entry.clone());
                }
            }
            PathState::File(now) => {
                let taken = taken_back(real, &names, now);
                plan.changes.extend(taken.change);
                for (path, entry, why) in taken.stays {
                    plan.kept.push(KeptPath {
                        path: path.clone(),
                        why: why.unwrap_or_else(|| "changed since init created it".to_owned()),
                    });
                    // The entry remains in the record, so that the next undo tries again.
                    if let Some(entry) = entry {
                        plan.record.files.insert(path.clone(), entry.clone());
                    }
                }
            }
        }
    }
    plan.removed_folders = record.folders.iter().rev().cloned().collect();
    if !plan.record.files.is_empty() {
        plan.record = InitRecord {
            version: record.version,
            platforms: record.platforms.clone(),
            folders: record.folders.clone(),
            ..plan.record
        };
    }
    plan
}

/// The result of reverting one file.
struct RevertedFile<'a> {
    change: Option<PathChange>,
    /// The names under which a part of the file remains. If an entry has a reason, our parts could not be removed;
    /// otherwise, the file belongs to the user.
    stays: Vec<(&'a String, Option<&'a FileRecord>, Option<String>)>,
}

/// Reverts, one after the other, the changes recorded for one file under these names.
fn taken_back<'a>(real: &str, names: &[(&'a String, &'a FileRecord)], now: &[u8]) -> RevertedFile<'a> {
    let mut stays = Vec::new();
    let mut after = Some(now.to_vec());
    for (path, entry) in names {
        let Some(text) = &after else { break };
        match entry.original(text) {
            Ok(Original::Missing) => after = None,
            Ok(Original::Text(before)) => after = Some(before),
            Ok(Original::Theirs) => stays.push((*path, None, None)),
            Err(why) => stays.push((*path, Some(*entry), Some(why))),
        }
    }
    let change = (after.as_deref() != Some(now)).then(|| {
        let link = names.iter().find(|(path, _)| path.as_str() != real);
        let what = match (&after, link) {
            (Some(_), _) => "the part that init wrote is removed".to_owned(),
            (None, None) => "removed".to_owned(),
            (None, Some((link, _))) => format!("removed; the link {link} pointed here"),
        };
        PathChange {
            path: real.to_owned(),
            before: Some(now.to_vec()),
            after,
            what,
        }
    });
    RevertedFile { change, stays }
}
