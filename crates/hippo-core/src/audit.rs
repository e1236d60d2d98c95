//! How sound is what a workspace remembers: what of it is repeated, stale, contradicted, secret, or no memory at all?
//!
//! Each question has one formula, which docs/audit.md states. What is answered names places and reasons, and no text.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

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
/// Bytes of a line that can contradict another one: comparing values takes more than linear time.
const LONGEST_FACT: usize = 2_000;

/// The audit was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Asked before each piece of work with the bytes that are read next; `false` stops the audit.
pub type GoOn<'a> = &'a mut dyn FnMut(usize) -> bool;

/// A watched file that is no node of the compaction tree.
#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the workspace.
    pub path: String,
    /// Its date, as searches know it.
    pub date: Option<Date>,
    /// All of it.
    pub text: String,
    /// Its chunks.
    pub chunks: Vec<Chunk>,
}

/// The place of a chunk in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// First line, 1-based.
    pub line: u32,
    /// Bytes of the text; a range that is not in the text is an empty chunk.
    pub bytes: Range<usize>,
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

/// Audits the files, sorted by path, the entries, and the boot files (path and text). Each kind names at most `examples`.
/// The work is linear in the text.
///
/// # Errors
/// [`Stopped`] as soon as `go_on` returns `false`.
pub fn audit(
    files: &[File],
    entries: &[Entry],
    boot: &[(String, String)],
    examples: usize,
    go_on: GoOn<'_>,
) -> Result<Report, Stopped> {
    let lines: Vec<Line<'_>> = files.iter().enumerate().flat_map(lines_of).collect();
    let is_boot = |line: &&Line<'_>| !boot.iter().any(|(path, _)| *path == files[line.file].path);
    let memory: Vec<&Line<'_>> = lines.iter().filter(is_boot).collect();
    let mut report = Report {
        duplicate: duplicate(files, examples, go_on)?,
        stale: stale(entries, examples),
        contradicted: contradicted(files, &lines, examples, go_on)?,
        secret_bearing: secret_bearing(files, examples, go_on)?,
        instruction_like: instruction_like(files, &memory, examples, go_on)?,
        boot_restating: boot_restating(files, &memory, boot, examples, go_on)?,
    };
    report.secret_bearing.of = lines.len();
    Ok(report)
}

fn ask(go_on: GoOn<'_>, bytes: usize) -> Result<(), Stopped> {
    if go_on(bytes) { Ok(()) } else { Err(Stopped) }
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

fn duplicate(files: &[File], examples: usize, go_on: GoOn<'_>) -> Result<Finding, Stopped> {
    let mut found = Finding::default();
    let mut first: HashMap<String, (&str, u32)> = HashMap::new();
    for file in files {
        for Chunk { line: start, bytes } in &file.chunks {
            found.of += 1;
            let text = file.text.get(bytes.clone()).unwrap_or_default();
            ask(go_on, text.len())?;
            let said = words(text);
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
    Ok(found)
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
fn contradicted(
    files: &[File],
    lines: &[Line<'_>],
    examples: usize,
    go_on: GoOn<'_>,
) -> Result<Finding, Stopped> {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    let mut alike: BTreeMap<String, Vec<&Line<'_>>> = BTreeMap::new();
    let dated = |line: &&Line<'_>| files[line.file].date.is_some() && line.text.len() <= LONGEST_FACT;
    for line in lines.iter().filter(dated) {
        ask(go_on, line.text.len())?;
        let said = words(line.text).without_values();
        if said.len() >= LEAST_WORDS {
            alike.entry(said.joined()).or_default().push(line);
        }
    }
    let mut places = Vec::new();
    for group in alike.values().filter(|group| group.len() > 1) {
        ask(go_on, group.iter().map(|line| line.text.len()).sum())?;
        let said: Vec<String> = group.iter().map(|line| words(line.text).joined()).collect();
        let values: HashSet<&String> = said.iter().collect();
        if (2..=MOST_VALUES).contains(&values.len()) {
            places.extend(older(files, group, &said));
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
    Ok(found)
}

/// Returns the lines of a group that the last day states with another value, each with the last line of that day.
///
/// `said` holds the words of each line. Lines of the same words are compared once, so that the time is linear in the group.
fn older<'a>(files: &[File], group: &[&'a Line<'a>], said: &[String]) -> Vec<(&'a Line<'a>, &'a Line<'a>)> {
    let date = |line: &Line<'_>| files[line.file].date;
    let Some(newest) = group.iter().filter_map(|line| date(line)).max() else {
        return Vec::new();
    };
    let (mut last, mut final_line) = (BTreeMap::new(), None);
    let mut earlier: Vec<(&'a Line<'a>, &String)> = Vec::new();
    for (line, said) in group.iter().copied().zip(said) {
        if date(line) == Some(newest) {
            last.entry(said).or_insert(line.text);
            final_line = Some(line);
        } else {
            earlier.push((line, said));
        }
    }
    let mut known: HashMap<&String, bool> = HashMap::new();
    let mut taken_back = |line: &Line<'_>, said| {
        // A value that the last day still states is not taken back there.
        let all = || {
            last.values()
                .all(|newer| value_conflict(line.text, *newer).is_some())
        };
        *known.entry(said).or_insert_with(all)
    };
    earlier.retain(|(line, said)| taken_back(line, *said));
    let newer = |(line, _)| final_line.map(|newer| (line, newer));
    earlier.into_iter().filter_map(newer).collect()
}

fn secret_bearing(files: &[File], examples: usize, go_on: GoOn<'_>) -> Result<Finding, Stopped> {
    let mut found = Finding::default();
    for file in files {
        ask(go_on, file.text.len())?;
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
    Ok(found)
}

fn instruction_like(
    files: &[File],
    lines: &[&Line<'_>],
    examples: usize,
    go_on: GoOn<'_>,
) -> Result<Finding, Stopped> {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    for line in lines {
        ask(go_on, line.text.len())?;
        if let Some(rule) = instruction::rule(line.text) {
            found.add(&files[line.file].path, Some(line.number), examples, || {
                rule.to_owned()
            });
        }
    }
    Ok(found)
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
    go_on: GoOn<'_>,
) -> Result<Finding, Stopped> {
    let mut found = Finding {
        of: lines.len(),
        ..Finding::default()
    };
    let boot = Boot::of(boot);
    if boot.lines.is_empty() {
        return Ok(found);
    }
    for line in lines {
        ask(go_on, line.text.len())?;
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
    Ok(found)
}
