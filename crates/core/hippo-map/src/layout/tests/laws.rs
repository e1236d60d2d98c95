//! Property tests of the layout for any entries, limits and files.

use proptest::prelude::*;

use super::*;
use crate::index_file::properties::{any_entry, index_text};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Owned arguments of [`lay_out`].
#[derive(Clone)]
struct LayoutCase {
    current: Option<Vec<u8>>,
    records: BTreeMap<EntryId, EntryRecord>,
    forgotten: BTreeSet<EntryId>,
    quick_access: Vec<EntryId>,
    limits: Limits,
    settings: IndexFileOptions,
}

/// Prints only the parts that help to explain a failure.
impl std::fmt::Debug for LayoutCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let current = self.current.as_deref().map(String::from_utf8_lossy);
        writeln!(
            f,
            "{current:?}\nforgotten {:?}, quick {:?}",
            self.forgotten, self.quick_access
        )?;
        writeln!(f, "{:?} {:?}", self.limits, self.settings)?;
        for record in self.records.values() {
            writeln!(
                f,
                "{:?} {:?}: {:?} {:?}",
                record.place, record.group, record.filed, record.entry
            )?;
        }
        Ok(())
    }
}

impl LayoutCase {
    fn laid_out(&self, current: Option<&[u8]>, now: Timestamp) -> LaidOutFiles {
        lay_out(
            current,
            &LayoutInput {
                records: &self.records,
                forgotten: &self.forgotten,
                quick_access: &self.quick_access,
                limits: self.limits,
                settings: self.settings,
                now,
            },
        )
    }

    /// Lays out the files and checks all invariants.
    fn check(&self) -> Result<LaidOutFiles, TestCaseError> {
        let files = self.laid_out(self.current.as_deref(), NOW);
        let again = self.laid_out(Some(&files.master), NOW.plus(DAY));
        prop_assert_eq!(
            String::from_utf8_lossy(&again.master),
            String::from_utf8_lossy(&files.master)
        );
        prop_assert_eq!(&again, &files);
        prop_assert_eq!(
            hippo_types::tokens::of_bytes(files.master.len()) <= self.limits.max_tokens
                || self.all_annotated(&files),
            true
        );
        self.check_each_entry_is_in_one_file(&files)?;
        Ok(files)
    }

    /// Returns `true` if no entry in the file can leave the file.
    fn all_annotated(&self, files: &LaidOutFiles) -> bool {
        let file = IndexFile::parse(&files.master, self.settings);
        let known = |id: &EntryId| self.records.contains_key(id) || self.forgotten.contains(id);
        file.entries()
            .filter(|there| known(&there.entry.id))
            .all(|there| there.has_other_content() || file.copied_ids().contains(&there.entry.id))
    }

    fn check_each_entry_is_in_one_file(&self, files: &LaidOutFiles) -> Result<(), TestCaseError> {
        let mut live: BTreeMap<EntryId, Entry> = BTreeMap::new();
        let mut archived: BTreeSet<EntryId> = BTreeSet::new();
        for (id, record) in &self.records {
            if self.forgotten.contains(id) {
                continue;
            }
            if let RecordPlace::Archive(_) = record.place {
                archived.insert(as_written(&record.entry, &self.settings).id);
            } else if let Some(filed) = record.as_filed() {
                let written = as_written(&filed, &self.settings);
                live.entry(written.id.clone()).or_insert(written);
            }
        }
        let entries = |bytes: &[u8]| IndexFile::parse(bytes, self.settings).to_entries();
        let mut found: BTreeMap<EntryId, Entry> = BTreeMap::new();
        for entry in entries(&files.master) {
            // Lines that were not adopted as entries belong to people, not to hippod.
            if live.contains_key(&entry.id)
                || archived.contains(&entry.id)
                || self.forgotten.contains(&entry.id)
            {
                found.insert(entry.id.clone(), as_written(&entry, &self.settings));
            }
        }
        prop_assert_eq!(found.len(), files.entries);
        for (path, bytes) in files.others.iter().filter(|(path, _)| path.ends_with(".md")) {
            prop_assert!(is_generated_path(path), "{}", path);
            for entry in entries(bytes) {
                if path.contains("/archive/") {
                    prop_assert!(archived.contains(&entry.id), "{}", entry.id);
                } else {
                    let twice = found.insert(entry.id.clone(), entry);
                    prop_assert_eq!(twice, None);
                }
            }
        }
        prop_assert_eq!(&found, &live);
        Ok(())
    }
}

fn any_group() -> impl Strategy<Value = String> {
    let group = prop::sample::select(vec![
        "Projects",
        "projects",
        DAILY_LOGS,
        "",
        "  ",
        "Two  words",
        "C# #",
        "Meta",
        "Decay Queue",
        "<!-- x -->",
        "日記",
        "\n→ a.md",
    ]);
    group.prop_map(str::to_owned)
}

fn any_record() -> impl Strategy<Value = EntryRecord> {
    let entry = prop_oneof![
        any_entry(),
        (0_u8..40, any_entry()).prop_map(|(number, any)| Entry {
            tags: any.tags,
            related: vec![EntryId(format!("e{}", number / 2))],
            hits: any.hits % 9,
            ..entry(&format!("e{number}"))
        }),
    ];
    let place = prop_oneof![
        5 => Just(RecordPlace::Index),
        2 => Just(RecordPlace::Queue(NOW)),
        1 => (0_i64..90).prop_map(|days| RecordPlace::Archive(NOW.plus(-days * DAY))),
    ];
    let band = prop::option::of(prop::sample::select(vec![
        TimeBand::ThisWeek,
        TimeBand::ThisMonth,
        TimeBand::Older,
    ]));
    let filed = (0..4_102_444_800_000_i64, 0_u32..99, 0_u8..=100, any::<u8>());
    (entry, place, any_group(), band, filed).prop_map(|(mut entry, place, group, band, filed)| {
        // Use the id that the entry has after it is written to a file and read back.
        entry.id = as_written(&entry, &IndexFileOptions::default()).id;
        EntryRecord {
            place,
            group,
            band,
            filed: (filed.3 > 20).then_some(FiledUse {
                accessed: Timestamp(filed.0),
                hits: filed.1,
                hundredths: filed.2,
            }),
            ..record(entry)
        }
    })
}

fn any_case(current: impl Strategy<Value = Option<Vec<u8>>>) -> impl Strategy<Value = LayoutCase> {
    let limits = (0_usize..6_000, 0_usize..60, 0.5_f32..=1.0);
    (
        current,
        prop::collection::vec(any_record(), 0..40),
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        limits,
        any::<u64>(),
    )
        .prop_map(|(current, records, forgotten, quick, limits, which)| {
            let settings = IndexFileOptions {
                offset_seconds: 3_600,
                undated: NOW,
            };
            let mut by_id: BTreeMap<EntryId, EntryRecord> = BTreeMap::new();
            // Each entry in the file is known, except those that must be removed.
            let theirs = IndexFile::parse(current.as_deref().unwrap_or_default(), settings);
            for (at, there) in theirs.entries().enumerate() {
                let known = which >> (at % 64) & 1 == 1;
                if known || !there.states_id() {
                    by_id.insert(there.entry.id.clone(), record(there.entry.clone()));
                }
            }
            for record in records {
                by_id.entry(record.entry.id.clone()).or_insert(record);
            }
            let pick = |of: Vec<prop::sample::Index>| -> Vec<EntryId> {
                let some = of.iter().filter(|_| !by_id.is_empty());
                some.map(|at| {
                    by_id
                        .keys()
                        .nth(at.index(by_id.len()))
                        .cloned()
                        .unwrap_or_default()
                })
                .collect()
            };
            LayoutCase {
                forgotten: pick(forgotten).into_iter().collect(),
                quick_access: pick(quick),
                current,
                records: by_id,
                limits: Limits {
                    max_tokens: limits.0,
                    max_entries: limits.1,
                    fill: limits.2,
                    other_tokens: 0,
                },
                settings,
            }
        })
}

/// Returns the non-empty lines outside entries and generated text.
fn foreign(bytes: &[u8], settings: IndexFileOptions) -> Vec<Vec<u8>> {
    let file = IndexFile::parse(bytes, settings);
    if !file.copied_ids().is_empty() {
        // If the file has a second copy of an entry, removing the entry turns this copy into the entry.
        return Vec::new();
    }
    let mut rest: Vec<u8> = Vec::new();
    let mut at = 0;
    for placed in file.placed_entries() {
        rest.extend_from_slice(&bytes[at..placed.span.start]);
        at = placed.span.end;
    }
    rest.extend_from_slice(&bytes[at..]);
    let rest = without_blocks(&rest);
    lines_of(&rest)
        .into_iter()
        .filter(|line| !String::from_utf8_lossy(line).contains("hippo"))
        .collect()
}

/// Returns the text without generated blocks.
fn without_blocks(bytes: &[u8]) -> Vec<u8> {
    let mut left = Vec::new();
    let mut rest = bytes;
    while let Some(start) = find(rest, b"<!-- hippod:") {
        left.extend_from_slice(&rest[..start]);
        let next = find(&rest[start + 1..], b"<!-- hippod:").map_or(rest.len(), |at| start + 1 + at);
        let end = find(&rest[start..next], b"<!-- /hippod -->").map_or(start, |at| start + at);
        left.extend_from_slice(&rest[end..next]);
        rest = &rest[next..];
    }
    left.extend_from_slice(rest);
    left
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    let lines = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}

/// Asserts that `some` is a subsequence of `all`.
fn assert_subsequence(some: &[Vec<u8>], all: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let mut rest = all.iter();
    for line in some {
        prop_assert!(
            rest.any(|other| other == line),
            "{}",
            String::from_utf8_lossy(line)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn laying_out_twice_changes_nothing(case in any_case(Just(None))) {
        case.check()?;
    }

    #[test]
    fn the_layout_of_any_index_keeps_text_written_by_users(case in any_case(index_text().prop_map(|text| Some(text.into_bytes())))) {
        let files = case.check()?;
        let before = case.current.clone().unwrap_or_default();
        assert_subsequence(&foreign(&before, case.settings), &lines_of(&files.master))?;
    }

    #[test]
    fn arbitrary_bytes_are_kept(case in any_case(prop::collection::vec(any::<u8>(), 1..600).prop_map(Some))) {
        let files = case.check()?;
        let before = case.current.clone().unwrap_or_default();
        assert_subsequence(&foreign(&before, case.settings), &lines_of(&files.master))?;
    }

    #[test]
    fn a_file_with_random_edits_settles_too(
        case in any_case(Just(None)), other in any_case(Just(None)),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = case.laid_out(None, NOW).master;
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        LayoutCase { current: Some(bytes), ..other }.check()?;
    }
}
