//! Measurement of memory quality: duplicates, stale entries, contradictions, secrets, instructions.
//!
//! Each figure has one formula, which docs/audit.md states. Results name locations and reasons, but quote no text.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::consolidation::value_conflict;
use hippo_redact::SecretKind;
use hippo_text::instruction;
use hippo_types::time::Date;
use words::split_words;

/// Files that harnesses load into the context of every agent. They consist of instructions.
const BOOT: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "SOUL.md", "TOOLS.md", "USER.md"];
/// Minimum words of a text that can be a duplicate.
const LEAST_WORDS: usize = 4;
/// Maximum number of different values of a statement. A statement with more values is taken for a form that is filled
/// in repeatedly.
const MOST_VALUES: usize = 8;
/// Maximum length in bytes of a line that can be contradicted; it is limited because comparing values takes more than
/// linear time.
const LONGEST_FACT: usize = 2_000;

/// Error of an audit that was stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditStopped;

/// Callback before each unit of work, with the number of bytes to be read. If it returns `false`, the audit stops.
pub type ContinueCheck<'a> = &'a mut dyn FnMut(usize) -> bool;

/// Watched file that is not a node of the compaction tree.
#[derive(Debug, Clone)]
pub struct AuditedFile {
    /// Path relative to the workspace.
    pub path: String,
    /// Date of the file, as used in search.
    pub date: Option<Date>,
    /// Full text.
    pub text: String,
    /// Chunks of the text.
    pub chunks: Vec<AuditedChunk>,
}

/// Position of a chunk in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedChunk {
    /// First line, 1-based.
    pub line: u32,
    /// Byte range in the text; a range outside it counts as an empty chunk.
    pub bytes: Range<usize>,
}

/// Live entry of the index file.
#[derive(Debug, Clone)]
pub struct AuditedEntry {
    /// Id of the entry.
    pub id: String,
    /// First pointer with a missing target.
    pub lost: Option<String>,
}

/// Result for one kind of problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditTally {
    /// Number of cases.
    pub count: usize,
    /// Number of items examined.
    pub of: usize,
    /// First cases.
    pub examples: Vec<AuditCase>,
}

/// Location of a case, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCase {
    /// Path of the file, or id of the entry.
    pub place: String,
    /// Line, 1-based.
    pub line: Option<u32>,
    /// Another location, a kind of secret, or the name of a rule, depending on the finding.
    pub why: String,
}

/// Result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Chunks with the same words as an earlier one.
    pub duplicate: AuditTally,
    /// Entries with a pointer whose target is missing.
    pub stale: AuditTally,
    /// Lines that a line of a later day restates with another value.
    pub contradicted: AuditTally,
    /// Lines that contain a secret.
    pub secret_bearing: AuditTally,
    /// Lines that read like an instruction to an agent.
    pub instruction_like: AuditTally,
}

/// Audits the files (sorted by path) and the entries. Lists at most `examples` cases of
/// each kind. The running time is linear in the length of the text.
///
/// # Errors
/// Returns [`AuditStopped`] as soon as `go_on` returns `false`.
pub fn audit(
    files: &[AuditedFile],
    entries: &[AuditedEntry],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Result<AuditReport, AuditStopped> {
    let lines: Vec<AuditedLine<'_>> = files.iter().enumerate().flat_map(list_lines).collect();
    let memory: Vec<&AuditedLine<'_>> = lines
        .iter()
        .filter(|line| !BOOT.contains(&files[line.file].path.as_str()))
        .collect();
    let mut report = AuditReport {
        duplicate: find_duplicates(files, examples, go_on)?,
        stale: find_stale(entries, examples),
        contradicted: find_contradicted(files, &lines, examples, go_on)?,
        secret_bearing: find_secret_bearing(files, examples, go_on)?,
        instruction_like: find_instruction_like(files, &memory, examples, go_on)?,
    };
    report.secret_bearing.of = lines.len();
    Ok(report)
}

fn check_continue(go_on: ContinueCheck<'_>, bytes: usize) -> Result<(), AuditStopped> {
    if go_on(bytes) { Ok(()) } else { Err(AuditStopped) }
}

/// Line with a letter or a digit.
struct AuditedLine<'a> {
    file: usize,
    number: u32,
    text: &'a str,
}

fn list_lines<'a>((file, of): (usize, &'a AuditedFile)) -> impl Iterator<Item = AuditedLine<'a>> {
    let numbered = (1..).zip(of.text.lines());
    let said = numbered.filter(|(_, text)| text.contains(char::is_alphanumeric));
    said.map(move |(number, text)| AuditedLine { file, number, text })
}

impl AuditTally {
    fn add(&mut self, place: &str, line: Option<u32>, most: usize, why: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < most {
            self.examples.push(AuditCase {
                place: place.to_owned(),
                line,
                why: why(),
            });
        }
    }
}

fn find_duplicates(
    files: &[AuditedFile],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Result<AuditTally, AuditStopped> {
    let mut found = AuditTally::default();
    let mut first: HashMap<String, (&str, u32)> = HashMap::new();
    for file in files {
        for AuditedChunk { line: start, bytes } in &file.chunks {
            found.of += 1;
            let text = file.text.get(bytes.clone()).unwrap_or_default();
            check_continue(go_on, text.len())?;
            let said = split_words(text);
            if said.len() < LEAST_WORDS {
                continue;
            }
            match first.get(&said.joined()) {
                Some((path, line)) => {
                    found.add(&file.path, Some(*start), examples, || {
                        format!("duplicates {path}:{line}")
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

fn find_stale(entries: &[AuditedEntry], examples: usize) -> AuditTally {
    let mut found = AuditTally {
        of: entries.len(),
        ..AuditTally::default()
    };
    for entry in entries {
        if let Some(lost) = &entry.lost {
            found.add(&entry.id, None, examples, || {
                format!("points to {lost}, which does not exist")
            });
        }
    }
    found
}

/// Finds lines of dated files that differ from a later line only in their values.
fn find_contradicted(
    files: &[AuditedFile],
    lines: &[AuditedLine<'_>],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Result<AuditTally, AuditStopped> {
    let mut found = AuditTally {
        of: lines.len(),
        ..AuditTally::default()
    };
    let mut alike: BTreeMap<String, Vec<&AuditedLine<'_>>> = BTreeMap::new();
    let dated = |line: &&AuditedLine<'_>| files[line.file].date.is_some() && line.text.len() <= LONGEST_FACT;
    for line in lines.iter().filter(dated) {
        check_continue(go_on, line.text.len())?;
        let said = split_words(line.text).without_values();
        if said.len() >= LEAST_WORDS {
            alike.entry(said.joined()).or_default().push(line);
        }
    }
    let mut places = Vec::new();
    for group in alike.values().filter(|group| group.len() > 1) {
        check_continue(go_on, group.iter().map(|line| line.text.len()).sum())?;
        let said: Vec<String> = group.iter().map(|line| split_words(line.text).joined()).collect();
        let values: HashSet<&String> = said.iter().collect();
        if (2..=MOST_VALUES).contains(&values.len()) {
            places.extend(find_older(files, group, &said));
        }
    }
    places.sort_unstable_by_key(|(line, _)| (line.file, line.number));
    for (line, newer) in places {
        found.add(&files[line.file].path, Some(line.number), examples, || {
            format!("{}:{} states another value", files[newer.file].path, newer.number)
        });
    }
    Ok(found)
}

/// Returns the lines of a group that the last day states with a different value, each with the last line of that day.
///
/// `said` contains the words of each line. Lines with the same words are compared only once, so that the time is linear
/// in the group.
fn find_older<'a>(
    files: &[AuditedFile],
    group: &[&'a AuditedLine<'a>],
    said: &[String],
) -> Vec<(&'a AuditedLine<'a>, &'a AuditedLine<'a>)> {
    let date = |line: &AuditedLine<'_>| files[line.file].date;
    let Some(newest) = group.iter().filter_map(|line| date(line)).max() else {
        return Vec::new();
    };
    let (mut last, mut final_line) = (BTreeMap::new(), None);
    let mut earlier: Vec<(&'a AuditedLine<'a>, &String)> = Vec::new();
    for (line, said) in group.iter().copied().zip(said) {
        if date(line) == Some(newest) {
            last.entry(said).or_insert(line.text);
            final_line = Some(line);
        } else {
            earlier.push((line, said));
        }
    }
    let mut known: HashMap<&String, bool> = HashMap::new();
    let mut taken_back = |line: &AuditedLine<'_>, said| {
        // A value that the last day still states is not contradicted.
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

fn find_secret_bearing(
    files: &[AuditedFile],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Result<AuditTally, AuditStopped> {
    let mut found = AuditTally::default();
    for file in files {
        check_continue(go_on, file.text.len())?;
        let shown = hippo_redact::redact_lines(&file.text);
        let both = (1..).zip(file.text.lines().zip(shown.lines()));
        for (number, (line, _)) in both.filter(|(_, (line, shown))| line != shown) {
            found.add(&file.path, Some(number), examples, || {
                let kinds: Vec<&str> = hippo_redact::find_kinds(line)
                    .into_iter()
                    .map(SecretKind::name)
                    .collect();
                if kinds.is_empty() {
                    // An inner line of a private key.
                    return SecretKind::PrivateKey.name().to_owned();
                }
                kinds.join(", ")
            });
        }
    }
    Ok(found)
}

fn find_instruction_like(
    files: &[AuditedFile],
    lines: &[&AuditedLine<'_>],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Result<AuditTally, AuditStopped> {
    let mut found = AuditTally {
        of: lines.len(),
        ..AuditTally::default()
    };
    for line in lines {
        check_continue(go_on, line.text.len())?;
        if let Some(rule) = instruction::match_rule(line.text) {
            found.add(&files[line.file].path, Some(line.number), examples, || {
                rule.to_owned()
            });
        }
    }
    Ok(found)
}
