//! Checks of entry pointers against their sources.
//!
//! If a section was moved or renamed, it is found by its content hash. A lost source is reported. An entry keeps its
//! last pointer even if the target does not exist.
//!
//! A deep cycle has all documents and checks every pointer ([`check_pointers`]). A light cycle has only new and changed
//! documents: before it creates entries, it follows content that moved into these documents ([`follow_moves`]), and
//! afterwards it records their hashes ([`record_hashes`]). Pointers to other documents are left unchanged.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::change::EntryChange;
use super::planner::CyclePlanner;
use super::{ConsolidationSnapshot, DocumentState, EntryRecord, RecordPlace, Rule, SectionState};
use hippo_redact::without_secrets;
use hippo_types::entry::{EntryId, Pointer};

type Hash = [u8; 16];
/// Pointers with the content hashes of their sources.
type PointersWithHashes = (Vec<Pointer>, Vec<Option<Hash>>);

/// Result of checking a pointer.
enum PointerOutcome {
    /// The pointer leads to this content.
    Holds(Hash),
    /// The source could not be read.
    Unknown,
    /// The content moved to this pointer.
    Moved(Pointer, Hash),
    /// The source is gone and its content was not found elsewhere.
    Gone(&'static str),
}

/// Checks all pointers of live and queued entries.
pub(super) fn check_pointers(planner: &mut CyclePlanner) {
    let mut changes = Vec::new();
    let mut findings = Vec::new();
    let contents = ContentIndex::new(&planner.state);
    let mut targets = targets(&planner.state);
    let checked = |record: &&EntryRecord| !matches!(record.place, RecordPlace::Archive(_));
    for record in planner.state.records.values().filter(checked) {
        let id = &record.entry.id;
        let from = (record.entry.pointers.clone(), record.hashes.clone());
        let mut to: PointersWithHashes = (Vec::new(), Vec::new());
        let mut lost = Vec::new();
        let mut moved = false;
        for (at, pointer) in from.0.iter().enumerate() {
            let known = from.1.get(at).copied().flatten();
            let (pointer, hash) = match contents.look_up(pointer, known, &targets) {
                PointerOutcome::Holds(hash) => (pointer.clone(), Some(hash)),
                PointerOutcome::Unknown => (pointer.clone(), known),
                PointerOutcome::Moved(pointer, hash) => {
                    moved = true;
                    (pointer, Some(hash))
                }
                PointerOutcome::Gone(what) => {
                    lost.push((pointer.clone(), known, what));
                    continue;
                }
            };
            // Two sections may have been joined: one pointer suffices.
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
            if describes_sources(record) {
                targets.extend(to.0.iter().cloned());
            }
            let rule = if moved { Rule::Pointer } else { Rule::Source };
            changes.push((rule, id.clone(), from, to));
        }
    }
    for (id, what) in findings {
        planner.report(Rule::Pointer, &id, what);
    }
    add_pointer_steps(planner, changes);
}

/// Updates pointers whose content moved into a known document. Archived entries are updated too, so that
/// archived and forgotten content is recognized under its new name.
pub(super) fn follow_moves(planner: &mut CyclePlanner) {
    if planner.state.documents.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    let contents = ContentIndex::new(&planner.state);
    let mut targets = targets(&planner.state);
    for record in planner.state.records.values() {
        let mut to: PointersWithHashes = (Vec::new(), Vec::new());
        let mut moved = false;
        for (at, pointer) in record.entry.pointers.iter().enumerate() {
            let known = record.hashes.get(at).copied().flatten();
            let (pointer, known) = match contents.look_up(pointer, known, &targets) {
                PointerOutcome::Moved(pointer, hash) => {
                    moved = true;
                    (pointer, Some(hash))
                }
                PointerOutcome::Holds(_) | PointerOutcome::Unknown | PointerOutcome::Gone(_) => {
                    (pointer.clone(), known)
                }
            };
            if !to.0.contains(&pointer) {
                to.0.push(pointer);
                to.1.push(known);
            }
        }
        if moved {
            if describes_sources(record) {
                targets.extend(to.0.iter().cloned());
            }
            let from = (record.entry.pointers.clone(), record.hashes.clone());
            changes.push((Rule::Pointer, record.entry.id.clone(), from, to));
        }
    }
    add_pointer_steps(planner, changes);
}

/// Records the content hashes of pointers into known documents, so that the content is recognized after a
/// move.
pub(super) fn record_hashes(planner: &mut CyclePlanner) {
    if planner.state.documents.is_empty() {
        return;
    }
    let mut changes = Vec::new();
    for record in planner.state.records.values() {
        let from = (record.entry.pointers.clone(), record.hashes.clone());
        let hash = |(at, pointer): (usize, &Pointer)| {
            let known = from.1.get(at).copied().flatten();
            content_hash(&planner.state, pointer, known).or(known)
        };
        let hashes = from.0.iter().enumerate().map(hash).collect();
        if hashes != from.1 {
            let to = (from.0.clone(), hashes);
            changes.push((Rule::Source, record.entry.id.clone(), from, to));
        }
    }
    add_pointer_steps(planner, changes);
}

fn add_pointer_steps(
    planner: &mut CyclePlanner,
    changes: Vec<(Rule, EntryId, PointersWithHashes, PointersWithHashes)>,
) {
    for (rule, id, from, to) in changes {
        let change = EntryChange::Point {
            id: id.clone(),
            from,
            to,
        };
        planner.add_step(rule, vec![id], change);
    }
}

/// Returns the pointers of all entries. If two places have the same content, the one without an entry is the target of
/// the move.
fn targets(snapshot: &ConsolidationSnapshot) -> BTreeSet<Pointer> {
    let describing = snapshot
        .records
        .values()
        .filter(|record| describes_sources(record));
    describing
        .flat_map(|record| &record.entry.pointers)
        .cloned()
        .collect()
}

/// Returns `true` if an entry describes its sources. An entry that a question created is about that question.
pub(super) fn describes_sources(record: &EntryRecord) -> bool {
    record.learned.is_none()
}

/// Returns the hash of the content at a pointer; `None` if it is unknown or missing.
pub(super) fn content_hash(
    snapshot: &ConsolidationSnapshot,
    pointer: &Pointer,
    known: Option<Hash>,
) -> Option<Hash> {
    let document = snapshot.documents.get(&pointer.path)?;
    match &pointer.section {
        None => Some(document.hash.0),
        Some(title) => section_hash(document, title, known),
    }
}

/// Locations by content hash; `true` marks the hash of a section, `false` of a whole file.
type ContentLocations<'s> = HashMap<(bool, Hash), Vec<(&'s str, Option<&'s str>)>>;

/// Documents and the locations of their contents.
struct ContentIndex<'s> {
    snapshot: &'s ConsolidationSnapshot,
    /// Built when the first pointer leads nowhere.
    places: OnceCell<ContentLocations<'s>>,
}

impl<'s> ContentIndex<'s> {
    const fn new(snapshot: &'s ConsolidationSnapshot) -> Self {
        Self {
            snapshot,
            places: OnceCell::new(),
        }
    }

    fn look_up(&self, pointer: &Pointer, known: Option<Hash>, targets: &BTreeSet<Pointer>) -> PointerOutcome {
        if self.snapshot.unread.contains(&pointer.path) {
            return PointerOutcome::Unknown;
        }
        if let Some(hash) = content_hash(self.snapshot, pointer, known) {
            return PointerOutcome::Holds(hash);
        }
        if let Some(known) = known
            && let Some(place) = self.find_content(pointer, known, targets)
        {
            return PointerOutcome::Moved(place, known);
        }
        if self.snapshot.documents.contains_key(&pointer.path) {
            PointerOutcome::Gone("the section no longer exists")
        } else {
            PointerOutcome::Gone("the file no longer exists")
        }
    }

    /// Returns the current location of the content of a pointer. The same file is preferred, because renamed headings
    /// are the most frequent case.
    fn find_content(&self, pointer: &Pointer, known: Hash, targets: &BTreeSet<Pointer>) -> Option<Pointer> {
        let places = self.places.get_or_init(|| index_contents(self.snapshot));
        let places = places.get(&(pointer.section.is_some(), known))?;
        let places = places.iter().map(|(path, section)| Pointer {
            path: (*path).to_owned(),
            section: section.map(str::to_owned),
        });
        let unlike = |place: &Pointer| {
            let same = (place.path == pointer.path, place.section == pointer.section);
            (!same.0, targets.contains(place), !same.1)
        };
        // Among equally good locations, the first by path is used.
        places.min_by_key(unlike)
    }
}

fn index_contents(snapshot: &ConsolidationSnapshot) -> ContentLocations<'_> {
    let mut places = ContentLocations::new();
    for (path, document) in &snapshot.documents {
        let whole = places.entry((false, document.hash.0)).or_default();
        whole.push((path.as_str(), None));
        // Skip headings that contain a secret: a pointer to one would write it to the index file.
        let shown = |section: &&SectionState| without_secrets(&section.title) == section.title.as_str();
        for section in document.sections.iter().filter(shown) {
            let named = places.entry((true, section.hash.0)).or_default();
            named.push((path.as_str(), Some(section.title.as_str())));
        }
    }
    places
}

/// Returns the content hash of the section with a title. If several sections have the title, returns the known hash if
/// one of them has it.
fn section_hash(document: &DocumentState, title: &str, known: Option<Hash>) -> Option<Hash> {
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
