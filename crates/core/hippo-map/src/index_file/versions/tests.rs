//! Tests of the merge of two machines' files, and a simulation of machines that exchange their files.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use hippo_types::entry::{EntryId, Pointer};
use hippo_types::time::Timestamp;

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 0,
    undated: Timestamp(0),
};
const DAY: i64 = 86_400_000;

fn entry(id: &str, summary: &str) -> Entry {
    Entry {
        id: EntryId(id.to_owned()),
        topic: format!("Topic {id}"),
        summary: summary.to_owned(),
        pointers: vec![Pointer {
            path: format!("memory/{id}.md"),
            ..Pointer::default()
        }],
        strength: 0.5,
        hits: 3,
        version: 1,
        ..Entry::default()
    }
}

fn file(entries: &[Entry]) -> Vec<u8> {
    let mut file = IndexFile::skeleton(Timestamp(0), SETTINGS);
    for entry in entries {
        assert!(file.insert(entry, &[]));
    }
    file.to_bytes()
}

fn entries(bytes: &[u8]) -> BTreeMap<String, Entry> {
    let file = IndexFile::parse(bytes, SETTINGS);
    let entries = file.to_entries().into_iter();
    entries.map(|entry| (entry.id.0.clone(), entry)).collect()
}

fn merged(base: &[Entry], ours: &[Entry], theirs: &[Entry]) -> BTreeMap<String, Entry> {
    let [base, ours, theirs] = [base, ours, theirs].map(file);
    let one = entries(&merge_versions(&base, &ours, &theirs, SETTINGS));
    let other = entries(&merge_versions(&base, &theirs, &ours, SETTINGS));
    for (id, entry) in &one {
        let mut same = other[id].clone();
        same.tags.sort();
        let mut expected = entry.clone();
        expected.tags.sort();
        assert_eq!(same, expected, "the order of the sides matters for {id}");
    }
    assert_eq!(one.len(), other.len());
    one
}

#[test]
fn both_machines_changes_of_one_entry_are_kept() {
    let base = entry("pump", "The pump runs at night");
    let ours = Entry {
        hits: 5,
        accessed: Timestamp(3 * DAY),
        tags: vec!["water".to_owned()],
        ..base.clone()
    };
    let theirs = Entry {
        hits: 4,
        accessed: Timestamp(2 * DAY),
        summary: "The pump runs at noon".to_owned(),
        tags: vec!["power".to_owned()],
        ..base.clone()
    };
    let found = &merged(&[base], &[ours], &[theirs])["pump"];
    assert_eq!(found.hits, 6);
    assert_eq!(found.accessed, Timestamp(3 * DAY));
    assert_eq!(found.summary, "The pump runs at noon");
    assert_eq!(found.tags, ["water", "power"]);
}

#[test]
fn the_later_access_decides_between_two_summaries() {
    let base = entry("pump", "old");
    let earlier = Entry {
        summary: "first".to_owned(),
        accessed: Timestamp(DAY),
        ..base.clone()
    };
    let later = Entry {
        summary: "second".to_owned(),
        accessed: Timestamp(2 * DAY),
        ..base.clone()
    };
    assert_eq!(merged(&[base], &[earlier], &[later])["pump"].summary, "second");
}

#[test]
fn a_removal_wins_over_an_unchanged_entry_and_a_change_over_a_removal() {
    let (kept, gone) = (entry("kept", "stays"), entry("gone", "goes"));
    let changed = Entry {
        hits: 9,
        ..kept.clone()
    };
    let base = [kept, gone.clone()];
    let found = merged(&base, &[], &[changed, gone]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["kept"]);
}

#[test]
fn without_a_common_version_all_entries_are_kept_and_no_count_is_added_twice() {
    let (one, two, both) = (entry("one", "a"), entry("two", "b"), entry("both", "c"));
    let [ours, theirs] = [[one, both.clone()], [two, both]].map(|side| file(&side));
    let found = entries(&merge_versions(b"", &ours, &theirs, SETTINGS));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["both", "one", "two"]);
    assert_eq!(found["both"].hits, 3);
}

#[test]
fn equal_entries_keep_their_bytes() {
    let base = "# Index\n\n## By Topic\n\n- Pump → memory/pump.md\n";
    let [ours, theirs] = ["One.", "Two."].map(|line| format!("{base}\n{line}\n"));
    let settings = IndexFileOptions {
        undated: Timestamp(DAY),
        ..SETTINGS
    };
    let merged = merge_versions(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), settings);
    let text = String::from_utf8(merged).unwrap();
    assert!(text.starts_with(base) && !text.contains("hx:"), "{text}");
    assert!(text.contains("One.") && text.contains("Two."), "{text}");
}

/// A machine with its file and the version of the common file that it merged last.
struct Machine {
    file: Vec<u8>,
    base: Vec<u8>,
    /// Difference of its clock in milliseconds.
    skew: i64,
}

/// Edits of the simulated users.
#[derive(Default)]
struct Done {
    hits: BTreeMap<String, u32>,
    lines: Vec<String>,
    removed: BTreeSet<String>,
}

/// Pseudorandom numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

impl Machine {
    /// Makes some edits.
    fn edit(&mut self, numbers: std::ops::Range<u64>, random: &mut Random, done: &mut Done) {
        let mut file = IndexFile::parse(&self.file, SETTINGS);
        let mut lines = String::new();
        for number in numbers {
            let now = Timestamp(i64::try_from(number).unwrap() * 60_000 + 100 * DAY + self.skew);
            let known = file.to_entries();
            let one = usize::try_from(random.below(known.len().max(1) as u64)).unwrap();
            match (random.below(20), known.get(one)) {
                (0, _) | (_, None) => {
                    let id = format!("entry{number}");
                    let new = Entry {
                        created: now,
                        accessed: now,
                        hits: 0,
                        ..entry(&id, "new")
                    };
                    file.insert(&new, &[]);
                    done.hits.insert(id, 0);
                }
                (1, _) => {
                    let line = format!("A person wrote line {number}.");
                    lines += &format!("\n{line}\n");
                    done.lines.push(line);
                }
                (2, Some(old)) if known.len() > 20 => {
                    file.remove(&old.id);
                    done.removed.insert(old.id.0.clone());
                }
                (3..6, Some(old)) => {
                    file.update(&Entry {
                        summary: format!("Summary number {number}"),
                        accessed: now,
                        version: old.version + 1,
                        ..old.clone()
                    });
                }
                (_, Some(old)) => {
                    file.update(&Entry {
                        hits: old.hits + 1,
                        accessed: old.accessed.max(now),
                        ..old.clone()
                    });
                    *done.hits.entry(old.id.0.clone()).or_default() += 1;
                }
            }
        }
        self.file = file.to_bytes();
        self.file.extend_from_slice(lines.as_bytes());
    }

    /// Merges the common file. The merged file becomes the common file, unless the machine crashes before.
    fn sync(&mut self, common: &mut Vec<u8>, crashes: bool) {
        self.file = merge_versions(&self.base, &self.file, common, SETTINGS);
        if !crashes {
            common.clone_from(&self.file);
        }
        self.base.clone_from(common);
    }
}

#[test]
fn five_machines_converge_after_10_000_edits_and_lose_none() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut common = file(&[]);
    let mut machines: Vec<Machine> = (0..5)
        .map(|at| Machine {
            file: common.clone(),
            base: common.clone(),
            skew: (at - 2) * DAY / 2,
        })
        .collect();
    let mut done = Done::default();
    for round in 0..400 {
        let at = usize::try_from(random.below(5)).unwrap();
        machines[at].edit(round * 25..round * 25 + 25, &mut random, &mut done);
        // Each machine has no connection for a fifth of the time.
        let is_away = round / 16 % 5 == at as u64;
        if !is_away && random.below(2) == 0 {
            let crashes = random.below(10) == 0;
            machines[at].sync(&mut common, crashes);
        }
    }
    for _ in 0..2 {
        for machine in &mut machines {
            machine.sync(&mut common, false);
        }
    }
    for machine in &machines {
        assert!(machine.file == common, "the files of the machines differ");
    }
    let found = entries(&common);
    let text = String::from_utf8(common).unwrap();
    let missing: Vec<&String> = (done.lines.iter()).filter(|line| !text.contains(*line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(done.lines.len() > 300 && done.removed.len() > 100 && found.len() > 20);
    for (id, hits) in done.hits.iter().filter(|(id, _)| !done.removed.contains(*id)) {
        assert_eq!(found[id].hits, *hits, "{id}");
    }
}
