//! How sound is what a workspace remembers: what of it is repeated, stale, contradicted, secret, or no memory at all?
//!
//! Each question has one formula, which docs/audit.md states. What is answered names places and reasons, and no text.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::consolidation::value_conflict;
use crate::instruction;
use crate::redact;
use crate::time::Date;
use words::{Words, words};

/// Fewer words than this say too little to be said twice.
const LEAST_WORDS: usize = 4;
/// What is said with more different values than this is a form that is filled in again and again.
const MOST_VALUES: usize = 8;
/// Share of the words of two lines that are the same from which on one restates the other.
const RESTATES: f64 = 0.8;
/// A word that stands in more lines of the boot files than this leads to none of them.
const COMMON: usize = 200;

/// A watched file that is no node of the compaction tree.
#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the workspace.
    pub path: String,
    /// Its date, as searches know it.
    pub date: Option<Date>,
    /// All of it.
    pub text: String,
    /// First and last line of each of its chunks, 1-based.
    pub chunks: Vec<(u32, u32)>,
}

/// A live entry of the index file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// The first of its pointers that leads nowhere.
    pub lost: Option<String>,
}

/// What was found of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// How many.
    pub count: usize,
    /// Among how many.
    pub of: usize,
    /// The first ones.
    pub examples: Vec<Example>,
}

/// A place, and why it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The file, or the id of an entry.
    pub place: String,
    /// The line, 1-based.
    pub line: Option<u32>,
    /// Another place, a kind of secret, or the name of a rule.
    pub why: String,
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Chunks whose words stand in an earlier one.
    pub duplicate: Finding,
    /// Entries of which a pointer leads nowhere.
    pub stale: Finding,
    /// Lines that a line of a later day says again with another value.
    pub contradicted: Finding,
    /// Lines with a secret.
    pub secret_bearing: Finding,
    /// Lines that read like an instruction to an agent.
    pub instruction_like: Finding,
    /// Lines that say again what a boot file says.
    pub boot_restating: Finding,
}

/// Looks through the files, by path, the entries, and the boot files (path and text). At most `examples` are named of a kind.
#[must_use]
pub fn audit(files: &[File], entries: &[Entry], boot: &[(String, String)], examples: usize) -> Report {
    let lines: Vec<Line<'_>> = files.iter().enumerate().flat_map(lines_of).collect();
    let is_boot = |line: &&Line<'_>| !boot.iter().any(|(path, _)| *path == files[line.file].path);
    let memory: Vec<&Line<'_>> = lines.iter().filter(is_boot).collect();
    let mut report = Report {
        duplicate: duplicate(files, examples),
        stale: stale(entries, examples),
        contradicted: contradicted(files, &lines, examples),
        secret_bearing: secret_bearing(files, examples),
        instruction_like: instruction_like(files, &memory, examples),
        boot_restating: boot_restating(files, &memory, boot, examples),
    };
    report.secret_bearing.of = lines.len();
    report
}

/// A line that has a letter or a digit.
struct Line<'a> {
    file: usize,
    number: u32,
    text: &'a str,
}

fn lines_of<'a>((file, of): (usize, &'a File)) -> impl Iterator<Item = Line<'a>> {
    let numbered = (1..).zip(of.text.lines());
    let said = numbered.filter(|(_, text)| text.contains(char::is_alphanumeric));
    said.map(move |(number, text)| Line { file, number, text })
}

impl Finding {
    fn add(&mut self, place: &str, line: Option<u32>, most: usize, why: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < most {
            self.examples.push(Example {
                place: place.to_owned(),
                line,
                why: why(),
            });
        }
    }
}

fn duplicate(files: &[File], examples: usize) -> Finding {
    let mut found = Finding::default();
    let mut first: HashMap<String, (&str, u32)> = HashMap::new();
    for file in files {
        let lines: Vec<&str> = file.text.lines().collect();
        for (start, end) in &file.chunks {
            found.of += 1;
            let from = (*start as usize).saturating_sub(1).min(lines.len());
            let to = (*end as usize).clamp(from, lines.len());
            let said = words(&lines[from..to].join("\n"));
            if said.len() < LEAST_WORDS {
                continue;
            }
            match first.get(&said.joined()) {
                Some((path, line)) => {
                    found.add(&file.path, Some(*start), examples, || {
                        format!("the same as {path}:{line}")
                    });
                }
                None => {
                    first.insert(said.joined(), (&file.path, *start));
                }
            }
        }
    }
    found
}

fn stale(entries: &[Entry], examples: usize) -> Finding {
    let mut found = Finding {
        of: entries.len(),
        ..Finding::default()
    };
    for entry in entries {
        if let Some(lost) = &entry.lost {
            found.add(&entry.id, None, examples, || {
                format!("points at {lost}, which is not there")
            });
        }
    }
    found
}

/// Lines of dated files that say the same but for their values, by what they say.
fn contradicted(files: &[File], lines: &[Line<'_>], examples: usize) -> Finding {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    let mut alike: BTreeMap<String, Vec<&Line<'_>>> = BTreeMap::new();
    for line in lines.iter().filter(|line| files[line.file].date.is_some()) {
        let said = words(line.text).without_values();
        if said.len() >= LEAST_WORDS {
            alike.entry(said.joined()).or_default().push(line);
        }
    }
    let mut places = Vec::new();
    for group in alike.values().filter(|group| group.len() > 1) {
        let values: HashSet<String> = group.iter().map(|line| words(line.text).joined()).collect();
        if (2..=MOST_VALUES).contains(&values.len()) {
            places.extend(older(files, group));
        }
    }
    places.sort_unstable_by_key(|(line, _)| (line.file, line.number));
    for (line, newer) in places {
        found.add(&files[line.file].path, Some(line.number), examples, || {
            format!(
                "{}:{} says it with another value",
                files[newer.file].path, newer.number
            )
        });
    }
    found
}

/// The lines of a group that one of a later day says with another value, with the newest such line.
fn older<'a>(files: &[File], group: &[&'a Line<'a>]) -> Vec<(&'a Line<'a>, &'a Line<'a>)> {
    let date = |line: &Line<'_>| files[line.file].date;
    let newest = group.iter().filter_map(|line| date(line)).max();
    let last: Vec<&&Line<'_>> = group.iter().filter(|line| date(line) == newest).collect();
    let older = group.iter().filter(|line| date(line) < newest);
    older
        .filter_map(|line| {
            // What is still said on the last day is not taken back there.
            let conflicts: Vec<bool> = last
                .iter()
                .map(|newer| value_conflict(line.text, newer.text).is_some())
                .collect();
            let newer = last
                .last()
                .filter(|_| !conflicts.is_empty() && conflicts.iter().all(|it| *it));
            newer.map(|newer| (*line, **newer))
        })
        .collect()
}

fn secret_bearing(files: &[File], examples: usize) -> Finding {
    let mut found = Finding::default();
    for file in files {
        let shown = redact::redact_lines(&file.text);
        let both = (1..).zip(file.text.lines().zip(shown.lines()));
        for (number, (line, _)) in both.filter(|(_, (line, shown))| line != shown) {
            found.add(&file.path, Some(number), examples, || {
                let kinds: Vec<&str> = redact::kinds(line).into_iter().map(redact::Kind::name).collect();
                if kinds.is_empty() {
                    // A line in the middle of one.
                    return redact::Kind::PrivateKey.name().to_owned();
                }
                kinds.join(", ")
            });
        }
    }
    found
}

fn instruction_like(files: &[File], lines: &[&Line<'_>], examples: usize) -> Finding {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    for line in lines {
        if let Some(rule) = instruction::rule(line.text) {
            found.add(&files[line.file].path, Some(line.number), examples, || {
                rule.to_owned()
            });
        }
    }
    found
}

/// The lines of the boot files, to be found by their words.
#[derive(Default)]
struct Boot<'a> {
    lines: Vec<(&'a str, u32, usize)>,
    by_word: HashMap<String, Vec<usize>>,
}

impl<'a> Boot<'a> {
    fn of(boot: &'a [(String, String)]) -> Self {
        let mut found = Self::default();
        for (path, text) in boot {
            for (number, line) in (1..).zip(text.lines()) {
                let said = words(line).distinct();
                if said.len() < LEAST_WORDS {
                    continue;
                }
                for word in &said {
                    found
                        .by_word
                        .entry(word.clone())
                        .or_default()
                        .push(found.lines.len());
                }
                found.lines.push((path, number, said.len()));
            }
        }
        found
    }

    /// The line that says the same, by the share of their words that both have.
    fn restated(&self, said: &HashSet<String>) -> Option<(&'a str, u32)> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for lines in said.iter().filter_map(|word| self.by_word.get(word)) {
            if lines.len() <= COMMON {
                for line in lines {
                    *shared.entry(*line).or_default() += 1;
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of words")]
        let restates = |(line, both): &(usize, usize)| {
            let all = self.lines[*line].2 + said.len() - both;
            *both as f64 >= RESTATES * all as f64
        };
        let (line, _) = shared.into_iter().find(restates)?;
        let (path, number, _) = self.lines[line];
        Some((path, number))
    }
}

fn boot_restating(
    files: &[File],
    lines: &[&Line<'_>],
    boot: &[(String, String)],
    examples: usize,
) -> Finding {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    let boot = Boot::of(boot);
    if boot.lines.is_empty() {
        return found;
    }
    for line in lines {
        let said: Words = words(line.text);
        if said.len() < LEAST_WORDS {
            continue;
        }
        if let Some((path, number)) = boot.restated(&said.distinct()) {
            found.add(&files[line.file].path, Some(line.number), examples, || {
                format!("says what {path}:{number} says")
            });
        }
    }
    found
}
