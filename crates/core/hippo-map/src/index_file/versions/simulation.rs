//! Simulation of five machines that edit the file and merge their histories as git does.

use std::collections::{BTreeMap, BTreeSet};

use super::merge_versions;
use crate::index_file::{IndexFile, IndexFileOptions};
use hippo_types::entry::{Entry, EntryId, EntryPriority, Pointer};
use hippo_types::time::Timestamp;

const SETTINGS: IndexFileOptions = IndexFileOptions {
    offset_seconds: 0,
    undated: Timestamp(0),
};
const DAY: i64 = 86_400_000;
/// Default number of simulations. Together, they make 10,000 edits.
const SEEDS: u64 = 20;
const EDITS: u64 = 500;
const MACHINES: usize = 5;
/// Start of each line that a simulated person writes.
const LINE: &str = "A person wrote line";

/// Pseudorandom numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn choose<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len().max(1));
        all.get(at).cloned()
    }
}

/// A version of the file, and the numbers of all versions from which it derives, including its own.
struct Commit {
    file: Vec<u8>,
    before: BTreeSet<usize>,
}

/// All versions, as in a repository.
struct History(Vec<Commit>);

impl History {
    fn commit(&mut self, file: Vec<u8>, parents: &[usize]) -> usize {
        let number = self.0.len();
        let before = parents.iter().flat_map(|parent| &self.0[*parent].before);
        let before = before.copied().chain([number]).collect();
        self.0.push(Commit { file, before });
        number
    }

    /// Merges two versions. If one derives from the other, returns it.
    fn merge(&mut self, ours: usize, theirs: usize) -> usize {
        if self.0[ours].before.contains(&theirs) {
            return ours;
        }
        if self.0[theirs].before.contains(&ours) {
            return theirs;
        }
        let base = self.base(ours, theirs);
        let merge = |one: usize, other: usize| {
            let [base, one, other] = [base, one, other].map(|number| &self.0[number].file);
            merge_versions(base, one, other, SETTINGS)
        };
        let file = merge(ours, theirs);
        let exchanged = merge(theirs, ours);
        Content::of(&file).assert_equals(&Content::of(&exchanged));
        self.commit(file, &[ours, theirs])
    }

    /// Returns the common version. If there are several latest common versions, merges them, as git does.
    fn base(&mut self, ours: usize, theirs: usize) -> usize {
        let common: BTreeSet<usize> = (self.0[ours].before.intersection(&self.0[theirs].before))
            .copied()
            .collect();
        let is_latest = |number: &&usize| {
            let mut others = common.iter().filter(|other| other != number);
            !others.any(|other| self.0[*other].before.contains(number))
        };
        let latest: Vec<usize> = common.iter().filter(is_latest).copied().collect();
        let merged = latest.into_iter().reduce(|one, other| self.merge(one, other));
        merged.unwrap()
    }
}

/// Content of a file, without the order of its parts.
#[derive(Debug, PartialEq)]
struct Content {
    entries: BTreeMap<EntryId, Entry>,
    lines: Vec<String>,
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        let entries = IndexFile::parse(bytes, SETTINGS).to_entries().into_iter();
        let sorted = |mut entry: Entry| {
            entry.pointers.sort_by_key(ToString::to_string);
            entry.tags.sort();
            (entry.id.clone(), entry)
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut lines: Vec<String> = lines_of(&text).map(str::to_owned).collect();
        lines.sort();
        Self {
            entries: entries.map(sorted).collect(),
            lines,
        }
    }

    fn assert_equals(&self, other: &Self) {
        for (id, entry) in &self.entries {
            assert_eq!(
                Some(entry),
                other.entries.get(id),
                "the order of the sides matters"
            );
        }
        assert_eq!(self.entries.len(), other.entries.len());
        assert_eq!(self.lines, other.lines, "the order of the sides matters");
    }
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with(LINE))
}

/// An addition of a user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Addition {
    Entry(EntryId),
    Pointer(EntryId, String),
    Tag(EntryId, String),
    Line(String),
}

/// Edits of the users of all machines.
#[derive(Default)]
struct Done {
    hits: BTreeMap<EntryId, u32>,
    added: BTreeSet<Addition>,
    /// Additions that a user removed.
    removed: BTreeSet<Addition>,
}

impl Done {
    /// Makes an edit. `now` is the time of a clock that can be wrong.
    fn edit(&mut self, bytes: &[u8], number: u64, now: Timestamp, random: &mut Random) -> Vec<u8> {
        let mut file = IndexFile::parse(bytes, SETTINGS);
        let kind = random.below(40);
        let known = file.to_entries();
        let old = random.choose(&known).filter(|_| kind > 2 || known.len() > 25);
        let id = old.as_ref().map(|old| old.id.clone());
        match (kind, old) {
            (3..6, _) => return self.write_line(bytes, number, random),
            (6, _) => return self.remove_line(bytes, random),
            (0, Some(old)) => {
                let taken = file.remove(&old.id).unwrap();
                let text = String::from_utf8(taken.bytes().to_vec()).unwrap();
                let lines = lines_of(&text).map(|line| Addition::Line(line.to_owned()));
                self.removed.extend(lines.chain([Addition::Entry(old.id)]));
            }
            (1..3, _) | (_, None) => {
                let id = EntryId(format!("entry{number}"));
                let pointer = Pointer {
                    path: format!("memory/{number}.md"),
                    ..Pointer::default()
                };
                let new = Entry {
                    id: id.clone(),
                    topic: format!("Topic {number}"),
                    summary: "new".to_owned(),
                    // An entry without a pointer is a heading, and not an item.
                    pointers: [pointer]
                        .into_iter()
                        .filter(|_| !number.is_multiple_of(3))
                        .collect(),
                    created: now,
                    accessed: now,
                    strength: 0.5,
                    version: 1,
                    ..Entry::default()
                };
                assert!(file.insert(&new, &[]));
                self.hits.insert(id.clone(), 0);
                self.added.insert(Addition::Entry(id));
            }
            (7..11, Some(old)) => {
                file.update(&Entry {
                    summary: format!("Summary number {number}"),
                    accessed: now,
                    version: old.version + 1,
                    ..old
                });
            }
            (11, Some(old)) => {
                let all = [EntryPriority::High, EntryPriority::Normal, EntryPriority::Low];
                let priority = random.choose(&all).unwrap();
                file.update(&Entry { priority, ..old });
            }
            (12..15, Some(mut old)) => {
                let path = format!("knowledge/{number}.md");
                self.added.insert(Addition::Pointer(old.id.clone(), path.clone()));
                let at = random.below(old.pointers.len() + 1);
                old.pointers.insert(
                    at,
                    Pointer {
                        path,
                        ..Pointer::default()
                    },
                );
                file.update(&old);
            }
            (15..18, Some(mut old)) => {
                old.tags.push(format!("tag{number}"));
                self.added
                    .insert(Addition::Tag(old.id.clone(), format!("tag{number}")));
                file.update(&old);
            }
            (18, Some(mut old)) => {
                if let Some(tag) = old.tags.pop() {
                    self.removed.insert(Addition::Tag(old.id.clone(), tag));
                }
                if let Some(pointer) = random.choose(&old.pointers) {
                    old.pointers.retain(|other| *other != pointer);
                    self.removed
                        .insert(Addition::Pointer(old.id.clone(), pointer.path));
                }
                file.update(&old);
            }
            (_, Some(old)) => {
                *self.hits.get_mut(&old.id).unwrap() += 1;
                file.update(&Entry {
                    hits: old.hits + 1,
                    accessed: old.accessed.max(now),
                    ..old
                });
            }
        }
        // hippod writes the header and the generated parts.
        file.set_header(known.len(), now);
        file.set_generated(&["Meta"], &format!("- entries in this file: {}", known.len()));
        debug_assert!(id.is_none_or(|id| kind == 0 || file.get(&id).is_some()));
        file.to_bytes()
    }

    /// Writes a paragraph between two parts of the file, at its end, or below the fields of an entry.
    fn write_line(&mut self, bytes: &[u8], number: u64, random: &mut Random) -> Vec<u8> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let begins = |line: &str| line.starts_with('#') || line.starts_with(LINE);
        let is_free = |at: &usize| lines.get(*at).is_none_or(|line| begins(line));
        let places: Vec<usize> = (1..=lines.len()).filter(is_free).collect();
        let line = format!("{LINE} {number}.");
        let paragraph = format!("\n{line}\n\n");
        lines.insert(random.choose(&places).unwrap(), &paragraph);
        self.added.insert(Addition::Line(line));
        lines.concat().into_bytes()
    }

    fn remove_line(&mut self, bytes: &[u8], random: &mut Random) -> Vec<u8> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let all: Vec<&str> = lines_of(&text).collect();
        let Some(line) = random.choose(&all) else {
            return bytes.to_vec();
        };
        self.removed.insert(Addition::Line(line.to_owned()));
        text.replacen(&format!("{line}\n"), "", 1).into_bytes()
    }

    /// Asserts that a file has all additions that no user removed, each once, and all accesses.
    fn check(&self, found: &Content) {
        let is_removed = |id: &EntryId| self.removed.contains(&Addition::Entry(id.clone()));
        for addition in &self.added {
            let (is_there, entry) = match addition {
                Addition::Line(line) => (found.lines.iter().filter(|there| *there == line).count(), None),
                Addition::Entry(id) => (usize::from(found.entries.contains_key(id)), Some(id)),
                Addition::Pointer(id, path) => {
                    let entry = found.entries.get(id);
                    let all = entry.iter().flat_map(|entry| &entry.pointers);
                    (all.filter(|pointer| pointer.path == *path).count(), Some(id))
                }
                Addition::Tag(id, tag) => {
                    let entry = found.entries.get(id);
                    let all = entry.iter().flat_map(|entry| &entry.tags);
                    (all.filter(|there| *there == tag).count(), Some(id))
                }
            };
            if entry.is_some_and(is_removed) {
                continue;
            }
            let expected = usize::from(!self.removed.contains(addition));
            assert_eq!(is_there, expected, "{addition:?}");
        }
        for (id, hits) in self.hits.iter().filter(|(id, _)| !is_removed(id)) {
            assert_eq!(found.entries[id].hits, *hits, "{id}");
        }
    }
}

/// Lets five machines edit and merge, and checks the result. Returns the edits.
fn simulate(seed: u64) -> Done {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut done = Done::default();
    let mut history = History(Vec::new());
    let first = IndexFile::skeleton(Timestamp(0), SETTINGS).to_bytes();
    let mut heads = [history.commit(first, &[]); MACHINES];
    let mut groups = [0; MACHINES];
    let mut number = 0;
    for round in 0.. {
        if number >= EDITS {
            break;
        }
        if round % 20 == 0 {
            // Only the machines of one group have a connection.
            groups = groups.map(|_| random.below(3));
        }
        let at = random.below(MACHINES);
        let mut file = history.0[heads[at]].file.clone();
        for _ in 0..random.below(15) {
            let skew = (i64::try_from(at).unwrap() - 2) * DAY / 2;
            let now = Timestamp(i64::try_from(number).unwrap() * 600_000 + 100 * DAY + skew);
            file = done.edit(&file, number, now, &mut random);
            number += 1;
        }
        heads[at] = history.commit(file, &[heads[at]]);
        let other = random.below(MACHINES);
        if groups[at] != groups[other] {
            continue;
        }
        let [mine, theirs] = [heads[at], heads[other]];
        let (merged, crashes) = (history.merge(mine, theirs), random.below(10) == 0);
        if !crashes {
            heads[at] = merged;
        }
        if random.below(3) == 0 {
            // Both machines merge at the same time.
            heads[other] = history.merge(theirs, mine);
        }
    }
    // Each machine merges all others in another order.
    let all = heads.map(|head| {
        let start = heads.iter().position(|other| *other == head).unwrap();
        let order = (0..MACHINES).map(|step| heads[(start * 2 + step * (start + 1)) % MACHINES]);
        let order: Vec<usize> = [head].into_iter().chain(order).chain(heads).collect();
        order
            .into_iter()
            .reduce(|one, other| history.merge(one, other))
            .unwrap()
    });
    let contents = all.map(|head| Content::of(&history.0[head].file));
    for content in &contents {
        done.check(content);
    }
    // They merge until no head changes.
    heads = all;
    loop {
        let before = heads;
        for at in 0..MACHINES {
            let other = (at + 1) % MACHINES;
            heads[at] = history.merge(heads[at], heads[other]);
            heads[other] = heads[at];
        }
        if heads == before {
            break;
        }
    }
    let files = heads.map(|head| &history.0[head].file);
    assert!(files.iter().all(|file| *file == files[0]), "the files differ");
    done.check(&Content::of(files[0]));
    done
}

#[test]
fn five_machines_converge_after_10_000_edits_and_lose_none() {
    for seed in 1..=SEEDS {
        println!("seed {seed}");
        let done = simulate(seed);
        assert!(
            done.added.len() > 80 && done.removed.len() > 10,
            "{}",
            done.removed.len()
        );
    }
}
