//! Derived files contain only values that are still in a source.
//!
//! The test makes a thousand changes: it corrects, moves or deletes a fact, or renames a file. After each round of
//! changes, cycles run, and each value in a derived file must also be in a source.

use std::collections::BTreeSet;
use std::path::Path;

use hippo_proto::{Cycle, TreeCompactRequest, TreeCompactResponse};
use hippod_tests::{Dice, Scratch};

/// Number of changes.
const CHANGES: usize = 1_000;
/// Number of changes between two checks.
const ROUND: usize = 25;
/// Number of files of each kind.
const FILES: usize = 12;

/// A file with facts, each with a value that occurs only once.
struct Source {
    path: String,
    title: String,
    facts: Vec<(usize, usize)>,
}

impl Source {
    fn text(&self) -> String {
        let line = |(thing, value): &(usize, usize)| {
            format!(
                "The pump in hall {thing} delivers value{value} litres of water an hour to the old tank.\n\n"
            )
        };
        format!(
            "# {}\n\n{}",
            self.title,
            self.facts.iter().map(line).collect::<String>()
        )
    }
}

/// Returns the values in a text.
fn values(text: &str) -> BTreeSet<String> {
    let words = text.split(|mark: char| !mark.is_alphanumeric());
    let is_value = |word: &&str| {
        word.strip_prefix("value")
            .is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    words.filter(is_value).map(str::to_owned).collect()
}

/// Returns the path and the text of each file below a folder.
fn texts_below(folder: &Path) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(texts_below(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            out.push((path.display().to_string(), text));
        }
    }
    out
}

#[test]
fn derived_files_contain_no_value_that_left_the_sources() {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    let mut next = 0;
    let mut value = || {
        next += 1;
        next
    };
    let mut sources: Vec<Source> = (0..2 * FILES)
        .map(|number| Source {
            path: match number {
                0 => "MEMORY.md".to_owned(),
                _ if number < FILES => format!("knowledge/hall-{number}.md"),
                _ => format!("memory/2026-01-{:02}.md", number - FILES + 1),
            },
            title: format!("Pumps of part {number}"),
            facts: (0..3).map(|fact| (number * 10 + fact, value())).collect(),
        })
        .collect();
    for source in &sources {
        scratch.write(&source.path, source.text());
    }
    let daemon = scratch.quiet_daemon();
    let mut client = daemon.client();
    client.index(&root);
    let mut dice = Dice::new();
    for change in 1..=CHANGES {
        let at = dice.below(sources.len());
        let old = root.join(&sources[at].path);
        // The last fact of a log is never removed. Otherwise, the node of the empty log would be the only copy of the
        // day, and hippod would keep it.
        let keeps_text = at < FILES || sources[at].facts.len() > 1;
        match dice.below(5) {
            // A correction is the most frequent change.
            0 | 1 if !sources[at].facts.is_empty() => {
                let fact = dice.below(sources[at].facts.len());
                sources[at].facts[fact].1 = value();
            }
            2 if keeps_text => {
                let moved = sources[at].facts.pop();
                let to = dice.below(sources.len());
                sources[to].facts.extend(moved);
                scratch.write(&sources[to].path, sources[to].text());
            }
            3 if keeps_text => {
                sources[at].facts.pop();
                let thing = (at * 10 + dice.below(10), value());
                let to = dice.below(sources.len());
                sources[to].facts.push(thing);
                scratch.write(&sources[to].path, sources[to].text());
            }
            _ if at > 0 && at < FILES => {
                sources[at].path = format!("knowledge/hall-{at}-{change}.md");
                std::fs::rename(&old, root.join(&sources[at].path)).unwrap();
            }
            _ => {}
        }
        scratch.write(&sources[at].path, sources[at].text());
        if change % ROUND > 0 {
            continue;
        }
        client.sync(&root);
        if change % (4 * ROUND) == 0 {
            client.run(&root, Cycle::Deep);
            client.run(&root, Cycle::Archival);
        }
        client.run(&root, Cycle::Light);
        let request = TreeCompactRequest {
            workspace: root.display().to_string(),
            ..TreeCompactRequest::default()
        };
        let _: TreeCompactResponse = client.raw().call(&request.into()).expect("a tree");
        let true_now: BTreeSet<String> = sources.iter().flat_map(|source| values(&source.text())).collect();
        let paths: BTreeSet<String> = sources
            .iter()
            .map(|source| root.join(&source.path).display().to_string())
            .collect();
        let mut derived = texts_below(&root);
        derived.retain(|(path, _)| !paths.contains(path) && !path.contains("/.HIPPOCAMPUS.md."));
        let (mut shown, mut left) = (BTreeSet::new(), Vec::new());
        for (path, text) in &derived {
            let old: Vec<String> = values(text).difference(&true_now).cloned().collect();
            if !old.is_empty() {
                left.push(format!("{path} has {old:?}: {text}"));
            }
            shown.extend(values(text));
        }
        assert!(left.is_empty(), "after {change} changes: {left:#?}");
        assert!(shown.len() > FILES, "{} values are shown", shown.len());
    }
}
