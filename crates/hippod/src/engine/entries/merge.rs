//! What becomes of the store when somebody else wrote into the index file?

use std::collections::{BTreeMap, BTreeSet};

use hippo_core::bootstrap::TimeBand;
use hippo_core::consolidation::{Filed, Place, Record};
use hippo_core::entry::{Entry, EntryId};
use hippo_core::index_file::merge::{self, Field, Rule};
use hippo_core::index_file::{IndexFile, Known};
use hippo_core::layout::INDEX_FILE;
use hippo_store::StoreError;
use hippo_store::db::{Access, Store, Tombstone};

use super::Entries;
use super::files::{Now, old_key};

/// What to do about removals that are held.
pub const HELD_FIX: &str = "put them back, remove the file (it is written again with all of them), or accept: \
                            hippoctl sync --accept-deletions";
/// The end of what hippod keeps between marks.
const MARK: &[u8] = b"<!-- /hippod -->";
/// As many entries may always go at once.
const MAY_GO: usize = 4;
/// More than this share of the entries does not go at once without a word.
const SHARE: f64 = 0.25;

/// Where bytes come from that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The index file.
    File,
    /// What was replaced, in this slot, while somebody wrote into it.
    Replaced(u32),
}

impl Entries {
    /// Takes over what changed in the index file from `base` to `bytes`. What the file says is the base from then on. Where so
    /// much went at once that it is not believed, nothing is taken over, removals of the file itself are held, and the answer is no.
    ///
    /// # Errors
    /// See [`StoreError`]; nothing is taken over then.
    pub fn merge(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        base: &[u8],
        bytes: &[u8],
        source: Source,
    ) -> Result<bool, StoreError> {
        let settings = now.settings();
        // Whoever had an older version open has changed that one, and removed nothing of what has come since.
        let older = self.file.version_of(bytes).map(<[u8]>::to_vec);
        let is_older = older.as_ref().is_some_and(|older| older != base);
        let base = older.as_deref().unwrap_or(base);
        let (before, after) = (
            IndexFile::parse(base, settings),
            IndexFile::parse(bytes, settings),
        );
        let (base_entries, theirs) = (before.to_entries(), after.to_entries());
        let ours: Vec<Entry> = self
            .known
            .records
            .values()
            .filter(|record| !matches!(record.place, Place::Archive(_)))
            .map(|record| record.as_filed().unwrap_or_else(|| record.entry.clone()))
            .collect();
        let merged = merge::merge(&base_entries, &theirs, &ours, &self.forgotten(), &settings);
        let accepted = self.file.accept_removals && source == Source::File;
        let doubtful = doubtful(&merged, base_entries.len(), is_cut_off(base, bytes));
        if !accepted && !doubtful.is_empty() {
            if source == Source::File {
                self.hold(doubtful, base_entries.len(), now);
            }
            return Ok(false);
        }
        let (was_in, is_in) = (sections(&before), sections(&after));
        let by_id: BTreeMap<&EntryId, &Entry> = theirs.iter().map(|entry| (&entry.id, entry)).collect();
        let taken: BTreeSet<(&EntryId, Field)> =
            merged.taken.iter().map(|(id, field)| (id, *field)).collect();
        let mut revived = Vec::new();
        let mut wanted: Vec<EntryId> = merged.adopted.clone();
        let mut changed: Vec<Record> = Vec::new();
        for entry in &merged.entries {
            let section = is_in.get(&entry.id);
            let mut record = match self.known.records.get(&entry.id) {
                Some(known) if merged.adopted.contains(&entry.id) => {
                    let mut record = brought_back(known, entry, now);
                    if let Some(section) = section {
                        put_into(&mut record, section);
                    }
                    record
                }
                Some(known) => {
                    let mut record = known.clone();
                    take_fields(&mut record, entry, by_id.get(&entry.id).copied(), &taken, now);
                    if section != was_in.get(&entry.id)
                        && let Some(section) = section
                        && put_into(&mut record, section)
                    {
                        revived.push(entry.id.clone());
                    }
                    record
                }
                None => adopted(entry, section, now),
            };
            if matches!(record.place, Place::Archive(_)) && by_id.contains_key(&entry.id) {
                // Changed in the file while a run put it away: it stays.
                record.place = Place::Index;
                wanted.push(entry.id.clone());
            }
            if self.known.records.get(&entry.id) != Some(&record) {
                changed.push(record);
            }
        }
        let mut batch = store.begin_entries()?;
        for record in &changed {
            batch.put_record(record)?;
        }
        for id in &wanted {
            batch.drop_tombstone(id)?;
        }
        let mut gone = Vec::new();
        for id in &merged.tombstones {
            let pointers = self
                .known
                .records
                .get(id)
                .map(|record| record.entry.pointers.clone());
            let tombstone = Tombstone {
                pointers: pointers.unwrap_or_default(),
                at: now.now,
            };
            batch.put_tombstone(id, &tombstone)?;
            if let Some(record) = self.known.records.get(id) {
                let mut record = record.clone();
                record.place = Place::Archive(now.now);
                record.filed = None;
                batch.put_record(&record)?;
                changed.push(record);
            }
            gone.push((id.clone(), tombstone));
        }
        match source {
            Source::File => batch.put_base(INDEX_FILE, bytes, now.now)?,
            Source::Replaced(slot) => batch.put_base(&old_key(slot), bytes, now.now)?,
        }
        let day = now.now.date(now.offset_seconds);
        let accesses: Vec<Access> = revived
            .into_iter()
            .map(|entry| Access {
                entry,
                at: now.now,
                day,
            })
            .collect();
        batch.record_accesses(&accesses)?;
        batch.commit()?;

        tracing::info!(
            root = %now.root.display(),
            changed = changed.len(), adopted = merged.adopted.len(), removed = gone.len(), conflicts = merged.conflicts.len(),
            "edits of the index file are taken over"
        );
        self.file.conflicts.extend(merged.conflicts.iter().map(told));
        if source == Source::File {
            self.file.set_base(Some(bytes.to_vec()));
            self.file.held.clear();
            self.file.unwritten |= is_older;
            self.file.outdated = true;
        } else {
            self.file.note_version(bytes);
        }
        for record in changed {
            self.known.records.insert(record.entry.id.clone(), record);
        }
        for id in &wanted {
            self.known.tombstones.remove(id);
        }
        self.known.tombstones.extend(gone);
        self.known.journal += accesses.len();
        self.changed(now.at);
        Ok(true)
    }

    /// Notes removals that are not believed.
    fn hold(&mut self, gone: Vec<EntryId>, all: usize, now: Now<'_>) {
        if self.file.held.len() != gone.len() {
            tracing::warn!(
                root = %now.root.display(), entries = gone.len(), of = all,
                "many entries went from the index file at once; they are kept until that is accepted"
            );
        }
        self.file.held = gone;
    }

    /// What to tell of removals that are held.
    pub fn held_story(&self) -> Option<String> {
        let held = self.file.held.len();
        (held > 0).then(|| {
            format!(
                "{held} entries went from {INDEX_FILE} at once and are kept; the file is neither read nor written until you decide: {HELD_FIX}"
            )
        })
    }
}

/// The entries of which so much is gone at once that it is not believed: the file may be half written.
fn doubtful(merged: &merge::Merge, all: usize, cut_off: bool) -> Vec<EntryId> {
    let gone = merged.tombstones.len();
    #[expect(clippy::cast_precision_loss, reason = "a share of a number of entries")]
    let many = gone > MAY_GO && gone as f64 > SHARE * all as f64;
    // A file without any entry is more likely broken than meant.
    if many || (all > 1 && gone == all) {
        return merged.tombstones.clone();
    }
    if !cut_off {
        return Vec::new();
    }
    let damaged = merged.taken.iter().map(|(id, _)| id);
    let ids: BTreeSet<&EntryId> = merged.tombstones.iter().chain(damaged).collect();
    ids.into_iter().cloned().collect()
}

/// Whether the end is missing, as where a writer was stopped in the middle. Somebody who takes lines away leaves whole
/// lines, and what hippod keeps between its marks.
fn is_cut_off(base: &[u8], bytes: &[u8]) -> bool {
    let beginning = base.len() > bytes.len() && base.starts_with(bytes) && !bytes.ends_with(b"\n");
    let marks = |bytes: &[u8]| bytes.windows(MARK.len()).filter(|part| *part == MARK).count();
    beginning || marks(bytes) < marks(base)
}

/// Sections of the entries of a file, outermost first.
fn sections(file: &IndexFile) -> BTreeMap<EntryId, Vec<String>> {
    file.placed()
        .into_iter()
        .map(|placed| {
            let section = placed.section.into_iter().map(str::to_owned).collect();
            (placed.indexed.entry.id.clone(), section)
        })
        .collect()
}

/// Brings a record to what a merge decided.
fn take_fields(
    record: &mut Record,
    merged: &Entry,
    theirs: Option<&Entry>,
    taken: &BTreeSet<(&EntryId, Field)>,
    now: Now<'_>,
) {
    let took = |field| taken.contains(&(&merged.id, field));
    let (initial, accessed, hits) = (record.entry.strength, record.entry.accessed, record.entry.hits);
    let created = record.entry.created;
    let filed_hits = record.filed.map_or(hits, |filed| filed.hits);
    record.hashes = hashes_for(record, merged);
    if took(Field::Summary) || took(Field::Topic) || took(Field::Pointers) {
        // It is the work of a person from now on: no run writes over it.
        record.by_hand = true;
    }
    record.entry = Entry {
        strength: if took(Field::Strength) {
            merged.strength
        } else {
            initial
        },
        accessed: match (took(Field::Strength), took(Field::Accessed)) {
            (true, _) => now.now,
            (false, true) => merged.accessed.max(accessed),
            (false, false) => accessed,
        },
        // Agents count accesses in the file: theirs are added to those that are known by now.
        hits: if took(Field::Hits) {
            let sum = i64::from(hits) + i64::from(merged.hits) - i64::from(filed_hits);
            u32::try_from(sum.max(0)).unwrap_or(u32::MAX)
        } else {
            hits
        },
        // The file knows the day alone.
        created: if took(Field::Created) {
            merged.created
        } else {
            created
        },
        ..merged.clone()
    };
    let (Some(filed), Some(theirs)) = (record.filed.as_mut(), theirs) else {
        return;
    };
    if took(Field::Strength) {
        filed.hundredths = hundredths(theirs.strength);
    }
    if took(Field::Accessed) {
        filed.accessed = theirs.accessed;
    }
    if took(Field::Hits) {
        filed.hits = theirs.hits;
    }
}

/// What is known of the contents that an entry points at by now.
fn hashes_for(known: &Record, entry: &Entry) -> Vec<Option<[u8; 16]>> {
    let hashes: BTreeMap<_, _> = known.entry.pointers.iter().zip(&known.hashes).collect();
    let of = |pointer| hashes.get(pointer).copied().copied().flatten();
    entry.pointers.iter().map(of).collect()
}

/// An entry that somebody put back into the file, with what is known of it beside what the file says.
fn brought_back(known: &Record, entry: &Entry, now: Now<'_>) -> Record {
    let was = &known.entry;
    let used_since = was.accessed >= entry.accessed;
    let same_text =
        (&was.topic, &was.summary, &was.pointers) == (&entry.topic, &entry.summary, &entry.pointers);
    Record {
        hashes: hashes_for(known, entry),
        learned: known.learned.clone(),
        group: known.group.clone(),
        strong_since: known.strong_since,
        consolidated: known.consolidated,
        by_hand: known.by_hand || !same_text,
        apart: known.apart,
        linked: known.linked.clone(),
        entry: Entry {
            hits: was.hits.max(entry.hits),
            accessed: if used_since { was.accessed } else { entry.accessed },
            strength: if used_since { was.strength } else { entry.strength },
            created: was.created,
            ..entry.clone()
        },
        ..adopted(entry, None, now)
    }
}

/// Puts a record where a person moved it. Answers whether it was taken out of the Decay Queue.
fn put_into(record: &mut Record, section: &[String]) -> bool {
    let known = section.first().and_then(|title| Known::of(title));
    if known == Some(Known::ByTopic) {
        record.group = section.get(1).cloned().unwrap_or_default();
    }
    let revived = matches!(record.place, Place::Queue(_)) && known != Some(Known::DecayQueue);
    if revived {
        record.place = Place::Index;
    }
    revived
}

fn adopted(entry: &Entry, section: Option<&Vec<String>>, now: Now<'_>) -> Record {
    let today = now.now.date(now.offset_seconds);
    let mut record = Record {
        strength: entry.strength,
        place: Place::Index,
        group: String::new(),
        band: Some(TimeBand::of(entry.created.date(now.offset_seconds), today)),
        hashes: vec![None; entry.pointers.len()],
        filed: Some(Filed {
            accessed: entry.accessed,
            hits: entry.hits,
            hundredths: hundredths(entry.strength),
        }),
        strong_since: None,
        consolidated: false,
        replayed: None,
        learned: None,
        by_hand: true,
        apart: false,
        linked: BTreeSet::new(),
        entry: entry.clone(),
    };
    if let Some(section) = section {
        put_into(&mut record, section);
        if section.first().and_then(|title| Known::of(title)) == Some(Known::DecayQueue) {
            record.place = Place::Queue(now.now);
        }
    }
    record
}

fn told(conflict: &merge::Conflict) -> String {
    let id = &conflict.id;
    match conflict.rule {
        Rule::FileWins(field) => {
            let field = format!("{field:?}").to_lowercase();
            format!("{id}: {field} was changed in {INDEX_FILE} and by hippod; the file's holds")
        }
        Rule::RemovalWins => {
            format!("{id}: removed from {INDEX_FILE} while hippod changed it; it is forgotten")
        }
        Rule::ChangeBeatsPruning => {
            format!("{id}: changed in {INDEX_FILE} while hippod put it away; it stays")
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "strengths are in [0, 1]"
)]
fn hundredths(strength: f32) -> u8 {
    (strength * 100.0).round() as u8
}
