//! Updates of records from the entries in the index file.

use std::collections::{BTreeMap, BTreeSet};

use hippo_map::bootstrap::TimeBand;
use hippo_map::consolidation::{EntryRecord, FiledUse, RecordPlace};
use hippo_map::index_file::IndexSection;
use hippo_map::index_file::merge::EntryField;
use hippo_types::entry::{Entry, EntryId, EntryOrigin};

use super::FileEnvironment;

/// Updates a record with the result of a merge.
pub(super) fn take_fields(
    record: &mut EntryRecord,
    merged: &Entry,
    theirs: Option<&Entry>,
    taken: &BTreeSet<(&EntryId, EntryField)>,
    now: &FileEnvironment,
) {
    let took = |field| taken.contains(&(&merged.id, field));
    let (initial, accessed, hits) = (record.entry.strength, record.entry.accessed, record.entry.hits);
    let created = record.entry.created;
    let filed_hits = record.filed.map_or(hits, |filed| filed.hits);
    record.hashes = hashes_for(record, merged);
    let text = [
        EntryField::Summary,
        EntryField::Topic,
        EntryField::Pointers,
        EntryField::Tags,
    ];
    if text.into_iter().any(took) {
        // A person wrote this text, so no run overwrites it.
        record.by_hand = true;
    }
    record.entry = Entry {
        strength: if took(EntryField::Strength) {
            merged.strength
        } else {
            initial
        },
        accessed: match (took(EntryField::Strength), took(EntryField::Accessed)) {
            (true, _) => now.now,
            (false, true) => merged.accessed.max(accessed),
            (false, false) => accessed,
        },
        replayed_to: record.entry.replayed_to.filter(|at| {
            !took(EntryField::Strength) && (!took(EntryField::Accessed) || *at > merged.accessed)
        }),
        // Agents count accesses in the file. The increase since the last write is added to the current count.
        hits: if took(EntryField::Hits) {
            let sum = i64::from(hits) + i64::from(merged.hits) - i64::from(filed_hits);
            u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
        } else {
            hits
        },
        // The file contains only the day of creation. The exact time is kept unless a person changed that day.
        created: if took(EntryField::Created) {
            merged.created
        } else {
            created
        },
        // The file does not contain the tags that hippod extracted, so these are kept.
        tags: if record.by_hand {
            merged.tags.clone()
        } else {
            std::mem::take(&mut record.entry.tags)
        },
        ..merged.clone()
    };
    let (Some(filed), Some(theirs)) = (record.filed.as_mut(), theirs) else {
        return;
    };
    if took(EntryField::Strength) {
        filed.hundredths = hundredths(theirs.strength);
    }
    if took(EntryField::Accessed) {
        filed.accessed = theirs.accessed;
    }
    if took(EntryField::Hits) {
        filed.hits = theirs.hits;
    }
}

/// Returns the content hashes for the pointers of an entry; `None` for pointers that the known record does not have.
fn hashes_for(known: &EntryRecord, entry: &Entry) -> Vec<Option<[u8; 16]>> {
    let hashes: BTreeMap<_, _> = known.entry.pointers.iter().zip(&known.hashes).collect();
    let of = |pointer| hashes.get(pointer).copied().copied().flatten();
    entry.pointers.iter().map(of).collect()
}

/// Returns the record for a removed or archived entry that a person added to the file again. Data that the file lacks
/// is copied from the known record.
pub(super) fn brought_back(known: &EntryRecord, entry: &Entry, now: &FileEnvironment) -> EntryRecord {
    let was = &known.entry;
    let used_since = was.accessed >= entry.accessed;
    let same_text =
        (&was.topic, &was.summary, &was.pointers) == (&entry.topic, &entry.summary, &entry.pointers);
    EntryRecord {
        hashes: hashes_for(known, entry),
        learned: known.learned.clone(),
        group: known.group.clone(),
        by_hand: known.by_hand || !same_text,
        apart: known.apart,
        linked: known.linked.clone(),
        entry: Entry {
            hits: was.hits.max(entry.hits),
            accessed: if used_since { was.accessed } else { entry.accessed },
            replayed_to: was.replayed_to.filter(|_| used_since),
            strength: if used_since { was.strength } else { entry.strength },
            created: was.created,
            ..entry.clone()
        },
        ..adopted(entry, None, now)
    }
}

/// Moves a record to the section of the file that a person chose. Returns whether the record left the Decay Queue.
pub(super) fn put_into(record: &mut EntryRecord, section: &[String]) -> bool {
    let known = section.first().and_then(|title| IndexSection::from_title(title));
    if known == Some(IndexSection::ByTopic) {
        record.group = section.get(1).cloned().unwrap_or_default();
    }
    let revived = matches!(record.place, RecordPlace::Queue(_)) && known != Some(IndexSection::DecayQueue);
    if revived {
        record.place = RecordPlace::Index;
    }
    revived
}

/// Creates a record for an entry of the file that the store does not contain.
pub(in super::super) fn adopted(
    entry: &Entry,
    section: Option<&Vec<String>>,
    now: &FileEnvironment,
) -> EntryRecord {
    let today = now.now.date(now.offset_seconds);
    let mut record = EntryRecord {
        band: Some(TimeBand::from_date(entry.created.date(now.offset_seconds), today)),
        filed: Some(FiledUse {
            accessed: entry.accessed,
            hits: entry.hits,
            hundredths: hundredths(entry.strength),
        }),
        // The file does not contain the query that created the entry, so the same query creates another entry.
        learned: (entry.origin == EntryOrigin::Retrieval).then(Box::default),
        // A person may have written the entry.
        by_hand: true,
        ..EntryRecord::new(entry.clone(), "")
    };
    if let Some(section) = section {
        put_into(&mut record, section);
        if section.first().and_then(|title| IndexSection::from_title(title)) == Some(IndexSection::DecayQueue)
        {
            record.place = RecordPlace::Queue(now.now);
        }
    }
    record
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "strengths are in [0, 1]"
)]
fn hundredths(strength: f32) -> u8 {
    (strength * 100.0).round() as u8
}
