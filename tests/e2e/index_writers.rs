//! Is every edit there in the end, when the daemon and somebody else write into one file all the time?

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use hippo_core::index_file::{IndexFile, Settings};
use hippo_core::time::Timestamp;
use hippo_proto::CycleName;
use hippod_tests::{Caller, Daemon, Dice, PATIENCE, QUIET, Scratch};

use crate::index_file::block_of;

/// Edits of each side.
const EDITS: usize = 500;
/// Entries that the daemon edits, and as many that the other writer edits.
const EACH: usize = 20;

/// What somebody else has done to the file, for the end.
#[derive(Default)]
struct Done {
    /// Words that were added to the summary of an entry.
    words: BTreeMap<String, Vec<String>>,
    /// Topics of entries that were added.
    added: Vec<String>,
}

/// The file as it is to be after one more edit.
fn edited(file: &str, number: usize, ids: &[String], dice: &mut Dice, done: &mut Done) -> String {
    if dice.below(3) == 0 {
        let topic = format!("Note {number}");
        let item = format!("- {topic} → knowledge/{}.md\n", number % EACH);
        done.added.push(topic);
        let heading = "\n## By Time\n";
        let at = file.find(heading).expect("By Time");
        return format!("{}\n{item}{}", &file[..at], &file[at..]);
    }
    let id = dice.one_of(ids);
    let word = format!("word{number}");
    let block = block_of(file, id);
    // The summary is the line below the heading.
    let end = block.find('\n').expect("a heading") + 1;
    let end = end + block[end..].find('\n').expect("a summary");
    let changed = format!("{} {word}{}", &block[..end], &block[end..]);
    done.words.entry(id.clone()).or_default().push(word);
    file.replacen(&block, &changed, 1)
}

/// Half of the edits as editors do it, half in the file itself.
fn write_all_the_time(scratch: &Scratch, ids: &[String], mut dice: Dice) -> Done {
    let mut done = Done::default();
    let path = scratch.index_path();
    for number in 0..EDITS {
        match dice.below(4) {
            0 | 1 => {
                let file = scratch.index_file();
                let after = edited(&file, number, ids, &mut dice, &mut done);
                scratch.write("HIPPOCAMPUS.md", after);
            }
            2 => {
                let mut file = std::fs::File::options().append(true).open(&path).unwrap();
                pause(&mut dice);
                let topic = format!("Appended {number}");
                let text = format!("\n## {topic}\n→ knowledge/{}.md\n", number % EACH);
                file.write_all(text.as_bytes()).unwrap();
                done.added.push(topic);
            }
            _ => {
                let before = scratch.index_file();
                let after = edited(&before, number, ids, &mut dice, &mut done);
                let mut file = std::fs::File::options()
                    .write(true)
                    .truncate(true)
                    .open(&path)
                    .unwrap();
                pause(&mut dice);
                let (one, two) = after.as_bytes().split_at(dice.below(after.len()));
                file.write_all(one).unwrap();
                pause(&mut dice);
                file.write_all(two).unwrap();
            }
        }
        pause(&mut dice);
    }
    done
}

/// Lets others come in between, now and then.
fn pause(dice: &mut Dice) {
    for _ in 0..dice.below(4) {
        std::thread::yield_now();
    }
}

/// Waits until the daemon has let go of everything that it replaced.
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

#[test]
fn a_thousand_edits_of_the_daemon_and_another_writer_are_all_there() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    for number in 0..EACH {
        scratch.write(
            &format!("knowledge/{number}.md"),
            format!("# Machine {number}\n\nThe machine number{number} hums in hall {number} and is oiled on day {number}.\n"),
        );
        scratch.write(
            &format!("knowledge/other/{number}.md"),
            format!("# Boat {number}\n\nThe boat called vessel{number} lies at pier {number} and leaks a little.\n"),
        );
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

    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut remembered = Vec::new();
    let mut hits: BTreeMap<String, u32> = BTreeMap::new();
    let mut dice = Dice::new();
    let done = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_all_the_time(&scratch, &boats, Dice::new()));
        for number in 0..EDITS {
            match dice.below(5) {
                0 => {
                    let topic = format!("Remembered {number}");
                    let answer = client.remember(&root, &format!("Fact {number} about the harbour."), &topic);
                    remembered.push((answer.entry.expect("an entry").id, answer.path, topic));
                }
                1 => {
                    let question = format!("where does machine number{} hum", dice.below(EACH));
                    let trace = client.ask(&root, &question, true).trace.expect("a trace");
                    for id in trace.refreshed {
                        *hits.entry(id).or_default() += 1;
                    }
                }
                _ => {
                    let id = dice.one_of(&machines);
                    let all = tags.entry(id.clone()).or_default();
                    all.push(format!("tag{number}"));
                    client.edit(&root, id, |edit| edit.tags = Some(all.clone()));
                }
            }
        }
        writer.join().unwrap()
    });

    settled(&mut client, &scratch);
    client.run(&root, CycleName::Light);
    settled(&mut client, &scratch);
    let entries = client.entries(&root);
    let find = |id: &str| {
        entries
            .iter()
            .find(|entry| entry.id == id)
            .unwrap_or_else(|| panic!("{id} is gone"))
    };
    for (id, tags) in &tags {
        assert_eq!(find(id).tags, *tags, "{id}");
    }
    let log = std::fs::read_to_string(root.join(&remembered[0].1)).unwrap();
    for (id, _, topic) in &remembered {
        assert_eq!(find(id).topic, *topic);
        assert!(log.contains(&format!("\n## {topic}\n")), "{topic}");
    }
    for (id, hits) in &hits {
        assert_eq!(find(id).hits, *hits, "{id}");
    }
    for (id, words) in &done.words {
        let summary = &find(id).summary;
        let missing: Vec<_> = words.iter().filter(|word| !has_word(summary, word)).collect();
        assert!(missing.is_empty(), "{id}: {missing:?} of {summary}");
    }
    for topic in &done.added {
        let same = entries.iter().filter(|entry| entry.topic == *topic).count();
        assert_eq!(same, 1, "{topic}");
    }
    assert_file_says(&root, &entries);
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(' ').any(|there| there == word)
}

/// The index file has exactly these entries, in the same words.
pub fn assert_file_says(root: &Path, entries: &[hippo_proto::IndexEntry]) {
    let bytes = std::fs::read(root.join("HIPPOCAMPUS.md")).unwrap();
    let settings = Settings {
        offset_seconds: 0,
        undated: Timestamp(0),
        entry_level: None,
    };
    let file = IndexFile::parse(&bytes, settings);
    let said: BTreeMap<String, _> = file
        .to_entries()
        .into_iter()
        .map(|entry| (entry.id.0.clone(), entry))
        .collect();
    let (known, there): (Vec<&str>, Vec<&str>) = (
        entries.iter().map(|entry| entry.id.as_str()).collect(),
        said.keys().map(String::as_str).collect(),
    );
    assert_eq!(there, known);
    for entry in entries {
        let in_file = &said[&entry.id];
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(in_file.topic, one_line(&entry.topic));
        assert_eq!(in_file.summary, one_line(&entry.summary), "{}", entry.id);
        assert_eq!(in_file.tags, entry.tags, "{}", entry.id);
        assert_eq!(in_file.hits, entry.hits, "{}", entry.id);
    }
}
