//! Checks of entry pointers against their sources.
//!
//! A section that was moved or renamed is found by its content hash. If all sources of an entry are lost, the entry
//! keeps its pointers, and the run reports the lost sources.
//!
//! A deep cycle has all documents and checks every pointer ([`check_pointers`]). A light cycle has only new and changed
//! documents. Before it creates entries, it follows content that moved into these documents ([`follow_moves`]).
//! Afterwards, it records the hashes of their content ([`record_hashes`]). Pointers to other documents are left
//! unchanged.

use std::collections::{BTreeSet, HashMap};

use super::change::{RecordFields, SourceHashes};
use super::planner::CyclePlanner;
use super::{ConsolidationSnapshot, DocumentState, EntryRecord, RecordPlace, Rule, SectionState};
use hippo_redact::without_secrets;
use hippo_types::entry::Pointer;

type Hash = [u8; 16];

/// Result of checking a pointer.
enum PointerOutcome {
    /// The pointer leads to content with this hash.
    Holds(Hash),
    /// The source could not be read.
    Unknown,
    /// The content moved to the target of this pointer.
    Moved(Pointer, Hash),
    /// The source is missing, for this reason, and its content was not found elsewhere.
    Gone(&'static str),
}

/// Checks all pointers of live and queued entries.
pub(super) fn check_pointers(planner: &mut CyclePlanner) {
    update_pointers(planner, true);
}

/// Updates pointers whose content moved into a known document. Archived entries are updated too, so that
/// archived and forgotten content is recognized under its new name.
pub(super) fn follow_moves(planner: &mut CyclePlanner) {
    if !planner.state.documents.is_empty() {
        update_pointers(planner, false);
    }
}

/// Updates pointers. If `all` is false, updates only pointers to moved content.
fn update_pointers(planner: &mut CyclePlanner, all: bool) {
    let mut changes = Vec::new();
    let mut findings = Vec::new();
    let contents = index_contents(&planner.state);
    let mut targets = targets(&planner.state);
    let checked = |record: &&EntryRecord| !(all && matches!(record.place, RecordPlace::Archive(_)));
    for record in planner.state.records.values().filter(checked) {
        let id = &record.entry.id;
        let (mut pointers, mut hashes): (Vec<Pointer>, SourceHashes) = (Vec::new(), Vec::new());
        let mut lost = Vec::new();
        let mut moved = false;
        for (at, pointer) in record.entry.pointers.iter().enumerate() {
            let known = record.hashes.get(at).copied().flatten();
            let (pointer, hash) = match look_up(&planner.state, &contents, pointer, known, &targets) {
                PointerOutcome::Holds(hash) if all => (pointer.clone(), Some(hash)),
                PointerOutcome::Moved(pointer, hash) => {
                    moved = true;
                    (pointer, Some(hash))
                }
                PointerOutcome::Gone(what) if all => {
                    lost.push((pointer.clone(), known, what));
                    continue;
                }
                _ => (pointer.clone(), known),
            };
            // Two sections may have been joined into one, for which one pointer suffices.
            if pointers.contains(&pointer) {
                moved = true;
            } else {
                pointers.push(pointer);
                hashes.push(hash);
            }
        }
        if pointers.is_empty() {
            for (pointer, known, what) in lost {
                findings.push((id.clone(), format!("{what}: {pointer}")));
                pointers.push(pointer);
                hashes.push(known);
            }
        } else {
            moved |= !lost.is_empty();
        }
        if moved || all && hashes != record.hashes {
            if describes_sources(record) {
                targets.extend(pointers.iter().cloned());
            }
            let rule = if moved { Rule::Pointer } else { Rule::Source };
            changes.push((rule, id.clone(), RecordFields::Sources(pointers, hashes)));
        }
    }
    for (id, what) in findings {
        planner.report(Rule::Pointer, &id, what);
    }
    for (rule, id, fields) in changes {
        planner.set(rule, vec![(id, fields)], 0);
    }
}

/// Records the content hashes of pointers to known documents, so that the content is recognized after a move.
pub(super) fn record_hashes(planner: &mut CyclePlanner) {
    planner.set_each(Rule::Source, |state, record| {
        let pointers = &record.entry.pointers;
        let hash = |(at, pointer): (usize, &Pointer)| {
            let known = record.hashes.get(at).copied().flatten();
            content_hash(state, pointer, known).or(known)
        };
        let hashes: SourceHashes = pointers.iter().enumerate().map(hash).collect();
        (hashes != record.hashes).then(|| RecordFields::Sources(pointers.clone(), hashes))
    });
}

/// Returns the pointers of all entries that describe their sources. If moved content is found at two places, a place to
/// which none of these pointers leads is preferred.
fn targets(snapshot: &ConsolidationSnapshot) -> BTreeSet<Pointer> {
    let records = snapshot.records.values();
    let describing = records.filter(|record| describes_sources(record));
    let pointers = describing.flat_map(|record| &record.entry.pointers);
    pointers.cloned().collect()
}

/// Returns `true` if an entry describes its sources. The text of an entry that a question created is about the
/// question.
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

/// Checks a pointer against the current documents.
fn look_up(
    snapshot: &ConsolidationSnapshot,
    contents: &ContentLocations<'_>,
    pointer: &Pointer,
    known: Option<Hash>,
    targets: &BTreeSet<Pointer>,
) -> PointerOutcome {
    if snapshot.unread.contains(&pointer.path) {
        return PointerOutcome::Unknown;
    }
    if let Some(hash) = content_hash(snapshot, pointer, known) {
        return PointerOutcome::Holds(hash);
    }
    if let Some(known) = known
        && let Some(place) = find_content(contents, pointer, known, targets)
    {
        return PointerOutcome::Moved(place, known);
    }
    PointerOutcome::Gone(match snapshot.documents.contains_key(&pointer.path) {
        true => "the section no longer exists",
        false => "the file no longer exists",
    })
}

/// Returns the current location of the content of a pointer. The same file is preferred, because renamed headings
/// are the most frequent case.
fn find_content(
    contents: &ContentLocations<'_>,
    pointer: &Pointer,
    known: Hash,
    targets: &BTreeSet<Pointer>,
) -> Option<Pointer> {
    let places = contents.get(&(pointer.section.is_some(), known))?;
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

/// Returns the content hash of the section with a title. If several sections have the title, returns the known
/// hash if a section has it, otherwise the hash of the first section.
fn section_hash(document: &DocumentState, title: &str, known: Option<Hash>) -> Option<Hash> {
    let named = document.sections.iter().filter(|section| section.title == title);
    let mut hashes = named.map(|section| section.hash.0);
    let first = hashes.next()?;
    let known = known.filter(|known| hashes.any(|hash| hash == *known));
    known.or(Some(first))
}
