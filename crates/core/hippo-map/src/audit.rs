//! Measurement of memory quality: duplicates, stale entries, contradictions, secrets, instructions.
//!
//! Each figure has one formula, which docs/audit.md states. Results name locations and reasons, but quote no text.

#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use crate::consolidation::value_conflict;
use hippo_redact::SecretKind;
use hippo_text::instruction;
use hippo_types::time::Date;
use words::split_words;

/// Files that harnesses load into the context of every agent. They may contain instructions.
const BOOT: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "SOUL.md", "TOOLS.md", "USER.md"];
/// Minimum words of a text that can be a duplicate.
const LEAST_WORDS: usize = 4;
/// Maximum number of different values of a statement. A statement with more values is taken for a form that is filled
/// in repeatedly.
const MOST_VALUES: usize = 8;
/// Maximum length in bytes of a line that can be contradicted; it is limited because comparing values takes more than
/// linear time.
const LONGEST_FACT: usize = 2_000;

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

/// Audits the files (sorted by path) and the entries. Lists at most `examples` cases of each kind. The running time is
/// linear in the length of the text.
///
/// Returns `None` as soon as `go_on` returns `false`.
pub fn audit(
    files: &[AuditedFile],
    entries: &[AuditedEntry],
    examples: usize,
    go_on: ContinueCheck<'_>,
) -> Option<AuditReport> {
    let lines: Vec<AuditedLine<'_>> = files.iter().flat_map(list_lines).collect();
    let mut pass = AuditPass { examples, go_on };
    Some(AuditReport {
        duplicate: pass.find_duplicates(files)?,
        stale: pass.find_stale(entries),
        contradicted: pass.find_contradicted(&lines)?,
        secret_bearing: pass.find_secret_bearing(files, lines.len())?,
        instruction_like: pass.find_instruction_like(&lines)?,
    })
}

/// Line with a letter or a digit.
struct AuditedLine<'a> {
    file: &'a AuditedFile,
    number: u32,
    text: &'a str,
}

fn list_lines(file: &AuditedFile) -> impl Iterator<Item = AuditedLine<'_>> {
    let numbered = (1..).zip(file.text.lines());
    let said = numbered.filter(|(_, text)| text.contains(char::is_alphanumeric));
    said.map(move |(number, text)| AuditedLine { file, number, text })
}

impl AuditTally {
    fn of(of: usize) -> Self {
        Self {
            of,
            ..Self::default()
        }
    }
}

/// Options of one audit.
struct AuditPass<'g> {
    /// Maximum number of cases listed of each kind.
    examples: usize,
    go_on: ContinueCheck<'g>,
}

impl AuditPass<'_> {
    fn check(&mut self, bytes: usize) -> Option<()> {
        (self.go_on)(bytes).then_some(())
    }

    fn add(&self, found: &mut AuditTally, place: &str, line: Option<u32>, why: impl FnOnce() -> String) {
        found.count += 1;
        if found.examples.len() < self.examples {
            found.examples.push(AuditCase {
                place: place.to_owned(),
                line,
                why: why(),
            });
        }
    }

    fn add_line(&self, found: &mut AuditTally, line: &AuditedLine<'_>, why: impl FnOnce() -> String) {
        self.add(found, &line.file.path, Some(line.number), why);
    }

    fn find_duplicates(&mut self, files: &[AuditedFile]) -> Option<AuditTally> {
        let mut found = AuditTally::default();
        let mut first: HashMap<String, (&str, u32)> = HashMap::new();
        for file in files {
            for AuditedChunk { line: start, bytes } in &file.chunks {
                found.of += 1;
                let text = file.text.get(bytes.clone()).unwrap_or_default();
                self.check(text.len())?;
                let said = split_words(text);
                if said.len() < LEAST_WORDS {
                    continue;
                }
                let here = (file.path.as_str(), *start);
                let (path, line) = *first.entry(said.joined()).or_insert(here);
                if (path, line) != here {
                    self.add(&mut found, &file.path, Some(*start), || {
                        format!("duplicates {path}:{line}")
                    });
                }
            }
        }
        Some(found)
    }

    fn find_stale(&self, entries: &[AuditedEntry]) -> AuditTally {
        let mut found = AuditTally::of(entries.len());
        for entry in entries {
            if let Some(lost) = &entry.lost {
                self.add(&mut found, &entry.id, None, || {
                    format!("points to {lost}, which does not exist")
                });
            }
        }
        found
    }

    /// Finds lines of dated files that differ from a later line only in their values.
    fn find_contradicted(&mut self, lines: &[AuditedLine<'_>]) -> Option<AuditTally> {
        let mut found = AuditTally::of(lines.len());
        let mut alike: BTreeMap<String, Vec<&AuditedLine<'_>>> = BTreeMap::new();
        let dated = |line: &&AuditedLine<'_>| line.file.date.is_some() && line.text.len() <= LONGEST_FACT;
        for line in lines.iter().filter(dated) {
            self.check(line.text.len())?;
            let said = split_words(line.text).without_values();
            if said.len() >= LEAST_WORDS {
                alike.entry(said.joined()).or_default().push(line);
            }
        }
        let mut places = Vec::new();
        for group in alike.values().filter(|group| group.len() > 1) {
            self.check(group.iter().map(|line| line.text.len()).sum())?;
            let said: Vec<String> = group.iter().map(|line| split_words(line.text).joined()).collect();
            let values: HashSet<&String> = said.iter().collect();
            if (2..=MOST_VALUES).contains(&values.len()) {
                places.extend(find_older(group, &said));
            }
        }
        places.sort_unstable_by_key(|(line, _)| (&line.file.path, line.number));
        for (line, newer) in places {
            self.add_line(&mut found, line, || {
                format!("{}:{} states another value", newer.file.path, newer.number)
            });
        }
        Some(found)
    }

    fn find_secret_bearing(&mut self, files: &[AuditedFile], lines: usize) -> Option<AuditTally> {
        let mut found = AuditTally::of(lines);
        for file in files {
            self.check(file.text.len())?;
            let shown = hippo_redact::redact_lines(&file.text);
            let both = (1..).zip(file.text.lines().zip(shown.lines()));
            for (number, (line, _)) in both.filter(|(_, (line, shown))| line != shown) {
                self.add(&mut found, &file.path, Some(number), || {
                    let kinds = hippo_redact::find_kinds(line).into_iter().map(SecretKind::name);
                    let kinds: Vec<&str> = kinds.collect();
                    if kinds.is_empty() {
                        // An inner line of a private key.
                        return SecretKind::PrivateKey.name().to_owned();
                    }
                    kinds.join(", ")
                });
            }
        }
        Some(found)
    }

    fn find_instruction_like(&mut self, lines: &[AuditedLine<'_>]) -> Option<AuditTally> {
        let mut found = AuditTally::default();
        for line in lines
            .iter()
            .filter(|line| !BOOT.contains(&line.file.path.as_str()))
        {
            found.of += 1;
            self.check(line.text.len())?;
            if let Some(rule) = instruction::match_rule(line.text) {
                self.add_line(&mut found, line, || rule.to_owned());
            }
        }
        Some(found)
    }
}

/// Returns the lines of a group that the last day states with a different value, each with the last line of that day.
///
/// `said` contains the words of each line. Lines with the same words are compared only once, so that the time is linear
/// in the group.
fn find_older<'a>(
    group: &[&'a AuditedLine<'a>],
    said: &[String],
) -> Vec<(&'a AuditedLine<'a>, &'a AuditedLine<'a>)> {
    let newest = group.iter().filter_map(|line| line.file.date).max();
    let both = group.iter().copied().zip(said);
    let (last, earlier): (Vec<_>, Vec<_>) = both.partition(|(line, _)| line.file.date == newest);
    let Some((newer, _)) = last.last().copied() else {
        return Vec::new();
    };
    let last: BTreeMap<&String, &str> = last.iter().rev().map(|(line, said)| (*said, line.text)).collect();
    let mut known: HashMap<&String, bool> = HashMap::new();
    // A value that the last day still states is not contradicted.
    let mut is_taken_back = |line: &AuditedLine<'_>, said| {
        let all = || {
            last.values()
                .all(|newer| value_conflict(line.text, newer).is_some())
        };
        *known.entry(said).or_insert_with(all)
    };
    let older = earlier
        .into_iter()
        .filter(|(line, said)| is_taken_back(line, *said));
    older.map(|(line, _)| (line, newer)).collect()
}
