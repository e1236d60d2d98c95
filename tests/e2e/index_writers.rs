//! Concurrent edits of the index file by the daemon and another writer.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_proto::{Cycle, EntryOrigin, EntryPriority, IndexEntry, Pointer};
use hippo_types::time::Timestamp;
use hippod_tests::{Caller, Daemon, Dice, PATIENCE, QUIET, Scratch};

use crate::index_file::block_of;

/// Number of edits by each side.
const EDITS: usize = 500;
/// Number of entries that each side edits.
const EACH: usize = 80;

/// Value of the edit counter after the daemon's side of the test has failed.
const FAILED: usize = usize::MAX / 2;

/// Guard that stops the other side of the test if this side panics.
struct Ending<'a>(&'a AtomicUsize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(FAILED, Ordering::Relaxed);
        }
    }
}

/// One edit of the other writer. Each edit is made once, and no two edits change the same text.
#[derive(Debug, Clone)]
enum Edit {
    Summary(String),
    Tags(String),
    Pointer(String),
    Priority(String),
    Remove(String),
    Add(usize),
    Append(usize),
}

/// Returns all edits in random order. An entry that is removed has no other edit.
fn edits(ids: &[String], dice: &mut Dice) -> Vec<Edit> {
    let (removed, kept) = ids.split_at(20);
    let mut all: Vec<Edit> = removed.iter().cloned().map(Edit::Remove).collect();
    for id in kept {
        let each = [Edit::Summary, Edit::Tags, Edit::Pointer, Edit::Priority];
        all.extend(each.map(|edit| edit(id.clone())));
    }
    let more = EDITS - all.len();
    all.extend((0..more).map(|number| {
        if number % 2 == 0 {
            Edit::Add(number)
        } else {
            Edit::Append(number)
        }
    }));
    for at in (1..all.len()).rev() {
        all.swap(at, dice.below(at + 1));
    }
    all
}

/// Returns the text of the file after an edit.
fn edited(file: &str, edit: &Edit) -> String {
    let on = |id: &str, change: &dyn Fn(&str) -> String| {
        let block = block_of(file, id);
        file.replacen(&block, &change(&block), 1)
    };
    match edit {
        // The summary is the line below the topic.
        Edit::Summary(id) => on(id, &|block| {
            let first = block.split_inclusive('\n').next().unwrap_or_default();
            format!("{first}  Somebody wrote this of {id}.\n")
        }),
        Edit::Tags(id) => on(id, &|block| {
            block.replacen(" -->", &format!(" | tags=mine-{id} -->"), 1)
        }),
        Edit::Pointer(id) => on(id, &|block| {
            block.replacen(" <!-- hx", &format!(" | knowledge/of-{id}.md <!-- hx"), 1)
        }),
        Edit::Priority(id) => on(id, &|block| block.replacen(" -->", " | pri=high -->", 1)),
        Edit::Remove(id) => on(id, &|_| String::new()),
        Edit::Add(number) => {
            let at = file.find("\n## By Time\n").expect("By Time");
            let item = format!("- Note {number} → knowledge/note.md");
            format!("{}\n## Heap {number}\n\n{item}\n{}", &file[..at], &file[at..])
        }
        Edit::Append(number) => format!("{file}{}", appended(*number)),
    }
}

fn appended(number: usize) -> String {
    format!("\n## Appended {number}\n→ knowledge/appended.md\n")
}

/// Makes half of the edits by renaming a new file, as editors do, and half of them in place. Makes them as fast as
/// the daemon makes its edits.
fn write_all_the_time(scratch: &Scratch, edits: &[Edit], others: &AtomicUsize, dice: &mut Dice) {
    let path = scratch.index_path();
    for (number, edit) in edits.iter().enumerate() {
        while others.load(Ordering::Relaxed) + dice.below(6) < number {
            std::thread::yield_now();
        }
        if others.load(Ordering::Relaxed) == FAILED {
            return;
        }
        if let Edit::Append(number) = edit {
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            pause(dice);
            file.write_all(appended(*number).as_bytes()).unwrap();
            continue;
        }
        let after = edited(&scratch.index_file(), edit);
        pause(dice);
        if dice.below(3) > 0 {
            scratch.write("HIPPOCAMPUS.md", after);
            continue;
        }
        let mut file = std::fs::File::options()
            .write(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        pause(dice);
        let (one, two) = after.as_bytes().split_at(dice.below(after.len()));
        file.write_all(one).unwrap();
        pause(dice);
        file.write_all(two).unwrap();
    }
}

/// Yields to other threads, a random number of times.
fn pause(dice: &mut Dice) {
    for _ in 0..dice.below(40) {
        std::thread::yield_now();
    }
}

/// Waits until the index file is written and the daemon has removed all older versions of this file.
pub fn settled(client: &mut Caller, scratch: &Scratch) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        client.sync(&scratch.workspace());
        let file = client.index_status().file;
        let remains = scratch.remains();
        if remains.is_empty() && file == "written" {
            return;
        }
        assert!(Instant::now() < deadline, "{file}: {remains:?}");
        std::thread::yield_now();
    }
}

fn assert_edit_is_there(edit: &Edit, entries: &BTreeMap<String, IndexEntry>) {
    let find = |id: &String| {
        entries
            .get(id)
            .unwrap_or_else(|| panic!("{edit:?}: the entry is gone"))
    };
    let with_topic = |topic: String| entries.values().filter(|entry| entry.topic == topic).count();
    match edit {
        Edit::Summary(id) => assert_eq!(find(id).summary, format!("Somebody wrote this of {id}.")),
        Edit::Tags(id) => assert!(
            find(id).tags.contains(&format!("mine-{id}")),
            "{edit:?}: {:?}",
            find(id)
        ),
        Edit::Pointer(id) => {
            let path = format!("knowledge/of-{id}.md");
            assert!(
                find(id).pointers.iter().any(|at| at.path == path),
                "{edit:?}: {:?}",
                find(id)
            );
        }
        Edit::Priority(id) => assert_eq!(find(id).priority, EntryPriority::High, "{edit:?}"),
        Edit::Remove(id) => assert!(!entries.contains_key(id), "{edit:?}"),
        Edit::Add(number) => assert_eq!(with_topic(format!("Note {number}")), 1, "{edit:?}"),
        Edit::Append(number) => assert_eq!(with_topic(format!("Appended {number}")), 1, "{edit:?}"),
    }
}

#[test]
fn a_thousand_concurrent_edits_by_two_writers_are_all_kept() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    for number in 0..EACH {
        for (folder, what) in [("machines", "Machine"), ("boats", "Boat")] {
            let text = format!(
                "# {what} {number}\n\nThe {what} called thing{number} stands at place {number}, hums, and leaks a little oil.\n"
            );
            scratch.write(&format!("knowledge/{folder}/{number}.md"), text);
        }
    }
    let mut settings = QUIET.to_vec();
    settings.extend([
        ("HIPPOD_INDEX_MAX_TOKENS", "1000000"),
        ("HIPPOD_INDEX_MAX_ENTRIES", "100000"),
    ]);
    let daemon = Daemon::start(&scratch.home(), &settings);
    let mut client = daemon.client();
    client.index(&root);
    let ids = |client: &mut Caller, word: &str| -> Vec<String> {
        let entries = client.entries(&root).into_iter();
        entries
            .filter(|entry| entry.topic.starts_with(word))
            .map(|entry| entry.id)
            .collect()
    };
    let (machines, boats) = (ids(&mut client, "Machine"), ids(&mut client, "Boat"));
    assert_eq!((machines.len(), boats.len()), (EACH, EACH));

    let mut dice = Dice::new();
    let others = edits(&boats, &mut dice);
    let done = AtomicUsize::new(0);
    let mut mine: BTreeMap<String, IndexEntry> = BTreeMap::new();
    let mut remembered = Vec::new();
    let mut hits: BTreeMap<String, u32> = BTreeMap::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_all_the_time(&scratch, &others, &done, &mut Dice::new()));
        let _ending = Ending(&done);
        for number in 0..EDITS {
            match dice.below(5) {
                0 => {
                    let topic = format!("Remembered {number}");
                    let answer = client.remember(&root, &format!("Fact {number} about the harbour."), &topic);
                    remembered.push((answer.entry.expect("an entry").id, answer.path, topic));
                }
                1 => {
                    let question = format!("where does the Machine thing{} stand", dice.below(EACH));
                    let trace = client.ask(&root, &question, true).trace.expect("a trace");
                    for id in trace.refreshed {
                        *hits.entry(id).or_default() += 1;
                    }
                }
                field => {
                    let id = dice.one_of(&machines);
                    let entry = client.edit(&root, id, |edit| match field {
                        2 => edit.summary = Some(format!("The daemon says {number}.")),
                        3 => edit.tags = Some(vec![format!("daemon-{number}"), "oil".into()]),
                        _ => {
                            let path = format!("knowledge/machines/{}.md", dice.below(EACH));
                            edit.pointers = Some(vec![Pointer { path, section: None }]);
                        }
                    });
                    mine.insert(id.clone(), entry);
                }
            }
            done.store(number + 1, Ordering::Relaxed);
        }
        writer.join().unwrap();
    });

    settled(&mut client, &scratch);
    client.run(&root, Cycle::Light);
    settled(&mut client, &scratch);
    let list = client.entries(&root);
    let entries: BTreeMap<String, IndexEntry> = list
        .iter()
        .map(|entry| (entry.id.clone(), entry.clone()))
        .collect();
    for edit in &others {
        assert_edit_is_there(edit, &entries);
    }
    for (id, entry) in &mine {
        let now = &entries[id];
        assert_eq!(
            (&now.summary, &now.tags, &now.pointers, now.version),
            (&entry.summary, &entry.tags, &entry.pointers, entry.version)
        );
    }
    let log = std::fs::read_to_string(root.join(&remembered[0].1)).unwrap();
    for (id, _, topic) in &remembered {
        assert_eq!(entries[id].topic, *topic);
        assert!(log.contains(&format!("\n## {topic}\n")), "{topic}");
    }
    for (id, hits) in &hits {
        // Removed entries keep their accesses.
        assert_eq!(client.entry(&root, id).hits, *hits, "{id}");
    }
    assert_file_says(&root, &list);
}

/// Asserts that the index file contains exactly these entries with the same text. Learned questions are ignored,
/// because they are only in the store.
pub fn assert_file_says(root: &Path, entries: &[IndexEntry]) {
    let bytes = std::fs::read(root.join("HIPPOCAMPUS.md")).unwrap();
    let settings = IndexFileOptions {
        offset_seconds: 0,
        undated: Timestamp(0),
    };
    let file = IndexFile::parse(&bytes, settings);
    let said: BTreeMap<String, _> = file
        .to_entries()
        .into_iter()
        .map(|entry| (entry.id.0.clone(), entry))
        .collect();
    // Learned questions are only in the store.
    let in_file =
        |entry: &&IndexEntry| entry.origin != EntryOrigin::Retrieval || said.contains_key(&entry.id);
    let entries: Vec<&IndexEntry> = entries.iter().filter(in_file).collect();
    let known: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(said.keys().collect::<Vec<_>>(), known);
    for entry in entries {
        let in_file = &said[&entry.id];
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(in_file.topic, one_line(&entry.topic));
        assert_eq!(in_file.summary, one_line(&entry.summary), "{}", entry.id);
        // Extracted tags are only in the store.
        let edited = entry.tags.iter().any(|tag| tag == "oil");
        let extracted = entry.origin == EntryOrigin::Auto && in_file.tags.is_empty() && !edited;
        assert!(
            extracted || in_file.tags == entry.tags,
            "{}: {:?}",
            entry.id,
            in_file.tags
        );
        assert_eq!(in_file.hits, entry.hits, "{}", entry.id);
    }
}
