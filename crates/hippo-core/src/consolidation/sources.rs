//! Do the pointers of an entry still lead to what it tells of?
//!
//! A section that was moved or renamed is found by the hash of its text. What is found nowhere is told, never dropped
//! in silence: an entry keeps its last pointer even when that leads nowhere.

use super::change::Change;
use super::planner::Planner;
use super::{DocumentState, Place, Rule, Snapshot};
use crate::entry::Pointer;

type Hash = [u8; 16];

/// What became of a pointer.
enum Outcome {
    /// It leads to this content.
    Holds(Hash),
    /// Nobody knows what is there now.
    Unknown,
    /// It leads there from now on.
    Moved(Pointer, Hash),
    /// Nothing is there, and its content is nowhere.
    Gone(&'static str),
}

/// Checks all pointers of live and queued entries.
pub(super) fn check(planner: &mut Planner) {
    let ids = planner.ids(|record| !matches!(record.place, Place::Archive(_)));
    planner.consider(Rule::Pointer, ids.len());
    for id in ids {
        let Some(record) = planner.state.records.get(&id) else {
            continue;
        };
        let from = (record.entry.pointers.clone(), record.hashes.clone());
        let mut to: (Vec<Pointer>, Vec<Option<Hash>>) = (Vec::new(), Vec::new());
        let mut lost = Vec::new();
        let mut moved = false;
        for (at, pointer) in from.0.iter().enumerate() {
            let known = from.1.get(at).copied().flatten();
            let (pointer, hash) = match look_up(&planner.state, pointer, known) {
                Outcome::Holds(hash) => (pointer.clone(), Some(hash)),
                Outcome::Unknown => (pointer.clone(), known),
                Outcome::Moved(pointer, hash) => {
                    moved = true;
                    (pointer, Some(hash))
                }
                Outcome::Gone(what) => {
                    lost.push((pointer.clone(), known, what));
                    continue;
                }
            };
            // Two sections may have been joined: one pointer is enough.
            if to.0.contains(&pointer) {
                moved = true;
            } else {
                to.0.push(pointer);
                to.1.push(hash);
            }
        }
        if to.0.is_empty() {
            for (pointer, known, what) in lost {
                planner.find(Rule::Pointer, &id, format!("{what}: {pointer}"));
                to.0.push(pointer);
                to.1.push(known);
            }
        } else {
            moved |= !lost.is_empty();
        }
        if from != to {
            let rule = if moved { Rule::Pointer } else { Rule::Source };
            let change = Change::Point {
                id: id.clone(),
                from,
                to,
            };
            planner.step(rule, vec![id], change);
        }
    }
}

fn look_up(snapshot: &Snapshot, pointer: &Pointer, known: Option<Hash>) -> Outcome {
    if snapshot.unread.contains(&pointer.path) {
        return Outcome::Unknown;
    }
    let document = snapshot.documents.get(&pointer.path);
    if let Some(document) = document {
        let here = match &pointer.section {
            None => Some(document.hash.0),
            Some(title) => section(document, title, known),
        };
        if let Some(hash) = here {
            return Outcome::Holds(hash);
        }
    }
    if let Some(known) = known {
        // The same file first: a renamed heading is the most frequent of all.
        let same = document.map(|document| (&pointer.path, document));
        let others = snapshot
            .documents
            .iter()
            .filter(|(path, _)| **path != pointer.path);
        for (path, document) in same.into_iter().chain(others) {
            if let Some(section) = content(document, pointer, known) {
                let pointer = Pointer {
                    path: path.clone(),
                    section,
                };
                return Outcome::Moved(pointer, known);
            }
        }
    }
    match document {
        None => Outcome::Gone("the file is gone"),
        Some(_) => Outcome::Gone("the section is gone"),
    }
}

/// The content of the section with a title; of several, the one that is known.
fn section(document: &DocumentState, title: &str, known: Option<Hash>) -> Option<Hash> {
    let mut named = document
        .sections
        .iter()
        .filter(|section| section.title == title)
        .map(|section| section.hash.0);
    let first = named.next()?;
    Some(
        known
            .filter(|known| named.any(|hash| hash == *known))
            .unwrap_or(first),
    )
}

/// Where in a document this content stands: `Some(None)` for the whole file.
#[allow(clippy::option_option, reason = "the inner one is a pointer's section")]
fn content(document: &DocumentState, pointer: &Pointer, known: Hash) -> Option<Option<String>> {
    if pointer.section.is_none() {
        return (document.hash.0 == known).then_some(None);
    }
    let found = document.sections.iter().find(|section| section.hash.0 == known)?;
    Some(Some(found.title.clone()))
}
