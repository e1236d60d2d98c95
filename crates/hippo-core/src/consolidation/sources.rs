//! Do the pointers of an entry still lead to what it tells of?
//!
//! A section that was moved or renamed is found by the hash of its text. What is found nowhere is told, never dropped
//! in silence: an entry keeps its last pointer even when that leads nowhere.
//!
//! A deep cycle knows all documents and [`check`]s every pointer. A light one knows those that came or changed: it
//! [`follow`]s what stands in them now, before it makes entries of them, and [`note`]s what they hold; what it does not
//! find it leaves alone.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::change::Change;
use super::planner::Planner;
use super::{DocumentState, Place, Record, Rule, SectionState, Snapshot};
use crate::entry::{EntryId, Pointer};
use crate::redact::without_secrets;

type Hash = [u8; 16];
/// Pointers with the hashes of what they pointed at.
type Pointed = (Vec<Pointer>, Vec<Option<Hash>>);

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
    let mut changes = Vec::new();
    let mut findings = Vec::new();
    let mut considered = 0;
    let contents = Contents::of(&planner.state);
    let mut targets = targets(&planner.state);
    let checked = |record: &&Record| !matches!(record.place, Place::Archive(_));
    for record in planner.state.records.values().filter(checked) {
        considered += 1;
        let id = &record.entry.id;
        let from = (record.entry.pointers.clone(), record.hashes.clone());
        let mut to: Pointed = (Vec::new(), Vec::new());
        let mut lost = Vec::new();
        let mut moved = false;
        for (at, pointer) in from.0.iter().enumerate() {
            let known = from.1.get(at).copied().flatten();
            let (pointer, hash) = match contents.look_up(pointer, known, &targets) {
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
                findings.push((id.clone(), format!("{what}: {pointer}")));
                to.0.push(pointer);
                to.1.push(known);
            }
        } else {
            moved |= !lost.is_empty();
        }
        if from != to {
            if is_telling(record) {
                targets.extend(to.0.iter().cloned());
            }
            let rule = if moved { Rule::Pointer } else { Rule::Source };
            changes.push((rule, id.clone(), from, to));
        }
    }
    planner.consider(Rule::Pointer, considered);
    for (id, what) in findings {
        planner.find(Rule::Pointer, &id, what);
    }
    point(planner, changes);
}

/// Leads pointers whose content stands elsewhere now there, if it stands in a document that is known. The archived
/// entries are led as well: what was put away or forgotten is the same under its new name.
pub(super) fn follow(planner: &mut Planner) {
    if planner.state.documents.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    let contents = Contents::of(&planner.state);
    let mut targets = targets(&planner.state);
    for record in planner.state.records.values() {
        let mut to: Pointed = (Vec::new(), Vec::new());
        let mut moved = false;
        for (at, pointer) in record.entry.pointers.iter().enumerate() {
            let known = record.hashes.get(at).copied().flatten();
            let (pointer, known) = match contents.look_up(pointer, known, &targets) {
                Outcome::Moved(pointer, hash) => {
                    moved = true;
                    (pointer, Some(hash))
                }
                Outcome::Holds(_) | Outcome::Unknown | Outcome::Gone(_) => (pointer.clone(), known),
            };
            if !to.0.contains(&pointer) {
                to.0.push(pointer);
                to.1.push(known);
            }
        }
        if moved {
            if is_telling(record) {
                targets.extend(to.0.iter().cloned());
            }
            let from = (record.entry.pointers.clone(), record.hashes.clone());
            changes.push((Rule::Pointer, record.entry.id.clone(), from, to));
        }
    }
    planner.consider(Rule::Pointer, planner.state.records.len());
    point(planner, changes);
}

/// Notes what documents hold where entries point at them, so that it is known again when it has moved.
pub(super) fn note(planner: &mut Planner) {
    if planner.state.documents.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    for record in planner.state.records.values() {
        let from = (record.entry.pointers.clone(), record.hashes.clone());
        let hash = |(at, pointer): (usize, &Pointer)| {
            let known = from.1.get(at).copied().flatten();
            here(&planner.state, pointer, known).or(known)
        };
        let hashes = from.0.iter().enumerate().map(hash).collect();
        if hashes != from.1 {
            let to = (from.0.clone(), hashes);
            changes.push((Rule::Source, record.entry.id.clone(), from, to));
        }
    }
    point(planner, changes);
}

fn point(planner: &mut Planner, changes: Vec<(Rule, EntryId, Pointed, Pointed)>) {
    for (rule, id, from, to) in changes {
        let change = Change::Point {
            id: id.clone(),
            from,
            to,
        };
        planner.step(rule, vec![id], change);
    }
}

/// What entries point at already: of two places with the same content, one that has no entry is the one that was moved.
fn targets(snapshot: &Snapshot) -> BTreeSet<Pointer> {
    let telling = snapshot.records.values().filter(|record| is_telling(record));
    telling
        .flat_map(|record| &record.entry.pointers)
        .cloned()
        .collect()
}

/// Whether an entry tells of what it points at. What a question made is no telling: it is about that question.
pub(super) fn is_telling(record: &Record) -> bool {
    record.learned.is_none()
}

/// The content that stands where a pointer leads; nothing where that is not known, or nothing is there.
pub(super) fn here(snapshot: &Snapshot, pointer: &Pointer, known: Option<Hash>) -> Option<Hash> {
    let document = snapshot.documents.get(&pointer.path)?;
    match &pointer.section {
        None => Some(document.hash.0),
        Some(title) => section(document, title, known),
    }
}

/// Where content stands: sections and whole files apart.
type Places<'s> = HashMap<(bool, Hash), Vec<(&'s str, Option<&'s str>)>>;

/// Documents, and where a content stands in them.
struct Contents<'s> {
    snapshot: &'s Snapshot,
    /// Made when the first pointer leads nowhere.
    places: OnceCell<Places<'s>>,
}

impl<'s> Contents<'s> {
    const fn of(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            places: OnceCell::new(),
        }
    }

    fn look_up(&self, pointer: &Pointer, known: Option<Hash>, targets: &BTreeSet<Pointer>) -> Outcome {
        if self.snapshot.unread.contains(&pointer.path) {
            return Outcome::Unknown;
        }
        if let Some(hash) = here(self.snapshot, pointer, known) {
            return Outcome::Holds(hash);
        }
        if let Some(known) = known
            && let Some(place) = self.place(pointer, known, targets)
        {
            return Outcome::Moved(place, known);
        }
        if self.snapshot.documents.contains_key(&pointer.path) {
            Outcome::Gone("the section is gone")
        } else {
            Outcome::Gone("the file is gone")
        }
    }

    /// Where a content stands now. The same file first: a renamed heading is the most frequent of all.
    fn place(&self, pointer: &Pointer, known: Hash, targets: &BTreeSet<Pointer>) -> Option<Pointer> {
        let places = self.places.get_or_init(|| places(self.snapshot));
        let places = places.get(&(pointer.section.is_some(), known))?;
        let places = places.iter().map(|(path, section)| Pointer {
            path: (*path).to_owned(),
            section: section.map(str::to_owned),
        });
        let unlike = |place: &Pointer| {
            let same = (place.path == pointer.path, place.section == pointer.section);
            (!same.0, targets.contains(place), !same.1)
        };
        // Of equals, the first by path.
        places.min_by_key(unlike)
    }
}

fn places(snapshot: &Snapshot) -> Places<'_> {
    let mut places = Places::new();
    for (path, document) in &snapshot.documents {
        let whole = places.entry((false, document.hash.0)).or_default();
        whole.push((path.as_str(), None));
        // Nothing is led to by a heading with a secret in it: it would stand in the index file.
        let shown = |section: &&SectionState| without_secrets(&section.title) == section.title.as_str();
        for section in document.sections.iter().filter(shown) {
            let named = places.entry((true, section.hash.0)).or_default();
            named.push((path.as_str(), Some(section.title.as_str())));
        }
    }
    places
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
