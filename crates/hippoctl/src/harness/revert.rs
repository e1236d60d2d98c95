//! Which files change, and how, so that what init made is gone and nothing else?

use std::collections::BTreeMap;

use super::plan::{Change, Plan};
use super::record::{Entry, Original, Record};
use super::{Kept, Snapshot, State};

/// The plan that takes back what is recorded. What cannot be taken back stays in the record.
pub fn take_back(there: &Snapshot, record: &Record) -> Plan {
    let mut plan = Plan::default();
    // Where a link was made since, two names may lead to one file.
    let mut by_file: BTreeMap<&str, Vec<(&String, &Entry)>> = BTreeMap::new();
    for named in &record.files {
        by_file.entry(there.real(named.0)).or_default().push(named);
    }
    for (real, names) in by_file {
        let mut stays = |path: &String, why: &str| {
            plan.kept.push(Kept {
                path: path.clone(),
                why: why.to_owned(),
            });
        };
        match there.state(real) {
            State::Missing => {}
            State::Folder => names
                .iter()
                .for_each(|(path, _)| stays(path, "a folder stands in its place")),
            State::Odd(why) => {
                for (path, entry) in names {
                    stays(path, why);
                    plan.record.files.insert(path.clone(), entry.clone());
                }
            }
            State::File(now) => {
                let taken = taken_back(real, &names, now);
                plan.changes.extend(taken.change);
                for (path, entry, why) in taken.stays {
                    plan.kept.push(Kept {
                        path: path.clone(),
                        why: why.unwrap_or_else(|| "changed since it was made".to_owned()),
                    });
                    // What is stuck is tried again.
                    if let Some(entry) = entry {
                        plan.record.files.insert(path.clone(), entry.clone());
                    }
                }
            }
        }
    }
    plan.removed_folders = record.folders.iter().rev().cloned().collect();
    if !plan.record.files.is_empty() {
        plan.record = Record {
            version: record.version,
            platforms: record.platforms.clone(),
            folders: record.folders.clone(),
            ..plan.record
        };
    }
    plan
}

/// What becomes of a file.
struct Taken<'a> {
    change: Option<Change>,
    /// Names under which something of it stays; with the entry and a reason where our parts cannot be taken out, else it belongs to people.
    stays: Vec<(&'a String, Option<&'a Entry>, Option<String>)>,
}

/// A file without what was put into it under these names, one after the other.
fn taken_back<'a>(real: &str, names: &[(&'a String, &'a Entry)], now: &[u8]) -> Taken<'a> {
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
            (Some(_), _) => "our part is taken out".to_owned(),
            (None, None) => "removed".to_owned(),
            (None, Some((link, _))) => format!("removed; the link {link} led here"),
        };
        Change {
            path: real.to_owned(),
            before: Some(now.to_vec()),
            after,
            what,
        }
    });
    Taken { change, stays }
}
