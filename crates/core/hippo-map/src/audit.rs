//! Measurement of memory quality: duplicates, stale entries, contradictions, secrets, instructions.
//!
//! docs/audit.md states the formula of each figure. Results name locations and reasons. They quote duplicates and
//! contradictions with secrets removed, but no lines that read like an instruction.

mod duplicates;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::truth::{DatedText, find_superseded, is_subject, may_state};
use hippo_redact::SecretKind;
use hippo_text::{chunk::Speaker, instruction, text::clip};
use hippo_types::time::Date;

/// Files that harnesses load into the context of every agent. They may contain instructions.
const BOOT: [&str; 5] = ["AGENTS.md", "CLAUDE.md", "SOUL.md", "TOOLS.md", "USER.md"];
/// Maximum number of different values of a statement. A statement with more values counts as a form that is filled in
/// repeatedly, not as a contradiction.
const MOST_VALUES: usize = 8;
/// Maximum number of bytes of a heading that are compared. The rest of a longer heading is ignored.
const LONGEST_TITLE: usize = 60;
/// Maximum length of a quoted text in bytes.
const QUOTED: usize = 160;

/// Callback before each unit of work. The argument is the number of bytes that the audit reads next. If the callback
/// returns `false`, the audit stops.
pub type ContinueCheck<'a> = &'a mut dyn FnMut(usize) -> bool;

/// Watched file that is not a node of the compaction tree.
#[derive(Debug, Clone)]
pub struct AuditedFile {
    /// Path relative to the workspace.
    pub path: String,
    /// Date of the file, as used in search.
    pub date: Option<Date>,
    /// Full text of the file.
    pub text: String,
    /// Chunks of the text.
    pub chunks: Vec<AuditedChunk>,
}

impl AuditedFile {
    /// Returns the numbers of the lines that an assistant wrote.
    fn assistant_lines(&self) -> HashSet<u32> {
        let chunks = self
            .chunks
            .iter()
            .filter(|chunk| chunk.speaker == Speaker::Assistant);
        let lines = |chunk: &AuditedChunk| {
            let text = self.text.get(chunk.bytes.clone()).unwrap_or_default();
            (chunk.line..).zip(text.lines()).map(|(number, _)| number)
        };
        chunks.flat_map(lines).collect()
    }
}

/// Position of a chunk in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedChunk {
    /// First line, 1-based.
    pub line: u32,
    /// Byte range in the text; a range outside it counts as an empty chunk.
    pub bytes: Range<usize>,
    /// Author of the chunk.
    pub speaker: Speaker,
}

/// Live entry of the index file.
#[derive(Debug, Clone)]
pub struct AuditedEntry {
    /// Id of the entry.
    pub id: String,
    /// Text of the first pointer whose target does not exist; `None` if all targets exist.
    pub lost: Option<String>,
}

/// Result for one kind of problem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditTally {
    /// Number of cases.
    pub count: usize,
    /// Number of items examined.
    pub of: usize,
    /// The first cases, up to the caller's limit.
    pub examples: Vec<AuditCase>,
}

/// Location of a case, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCase {
    /// Path of the file, or id of the entry.
    pub place: String,
    /// Line number in the file, 1-based; `None` for an entry.
    pub line: Option<u32>,
    /// Reason: another location, a kind of secret, or the name of a rule, depending on the kind of problem.
    pub why: String,
    /// Beginnings of the quoted texts: the text here and, for a contradiction, the text at the other location.
    pub quotes: Vec<String>,
}

/// Result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Texts of chunks that occur more than once.
    pub duplicate: AuditTally,
    /// Entries with a pointer whose target is missing.
    pub stale: AuditTally,
    /// Lines with an outdated value: a line of a later day states another value.
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
    let mut pass = AuditPass {
        examples,
        go_on,
        redacted: HashMap::new(),
    };
    Some(AuditReport {
        duplicate: pass.find_duplicates(files)?,
        stale: pass.find_stale(entries)?,
        contradicted: pass.find_contradicted(files, lines.len())?,
        secret_bearing: pass.find_secret_bearing(files, lines.len())?,
        instruction_like: pass.find_instruction_like(&lines)?,
    })
}

/// Line with at least one letter or digit.
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

/// Limit and callback of a running audit.
struct AuditPass<'g> {
    /// Maximum number of listed cases of each kind.
    examples: usize,
    go_on: ContinueCheck<'g>,
    /// Beginnings of all lines of each quoted file, with secrets removed. The key is the path of the file.
    redacted: HashMap<String, Vec<String>>,
}

impl AuditPass<'_> {
    fn check(&mut self, bytes: usize) -> Option<()> {
        (self.go_on)(bytes).then_some(())
    }

    /// Adds a case, with quotes from the given lines.
    fn add(
        &mut self,
        found: &mut AuditTally,
        place: &str,
        line: Option<u32>,
        quoted: &[(&AuditedFile, u32)],
        why: impl FnOnce() -> String,
    ) -> Option<()> {
        found.count += 1;
        if found.examples.len() < self.examples {
            let mut quotes = Vec::new();
            for (file, line) in quoted {
                quotes.extend(self.quote(file, *line)?);
            }
            found.examples.push(AuditCase {
                place: place.to_owned(),
                line,
                why: why(),
                quotes,
            });
        }
        Some(())
    }

    /// Returns the beginning of a line with secrets removed. Returns `Some(None)` if the line reads like an
    /// instruction, and `None` if the audit must stop.
    fn quote(&mut self, file: &AuditedFile, line: u32) -> Option<Option<String>> {
        if !self.redacted.contains_key(&file.path) {
            self.check(file.text.len())?;
            let shown = hippo_redact::redact_lines(&file.text);
            let lines = shown.lines().map(|line| clip(line, QUOTED)).collect();
            self.redacted.insert(file.path.clone(), lines);
        }
        let at = (line as usize).saturating_sub(1);
        let text = self.redacted.get(&file.path).and_then(|lines| lines.get(at));
        Some(
            text.filter(|text| instruction::match_rule(text).is_none())
                .cloned(),
        )
    }

    fn find_stale(&mut self, entries: &[AuditedEntry]) -> Option<AuditTally> {
        let mut found = AuditTally::of(entries.len());
        for entry in entries {
            if let Some(lost) = &entry.lost {
                self.add(&mut found, &entry.id, None, &[], || {
                    format!("points to {lost}, which does not exist")
                })?;
            }
        }
        Some(found)
    }

    /// Finds lines of dated files with an outdated value: a later line states another value.
    fn find_contradicted(&mut self, files: &[AuditedFile], lines: usize) -> Option<AuditTally> {
        let mut found = AuditTally::of(lines);
        let dated: Vec<(&AuditedFile, String)> = (files.iter())
            .filter_map(|file| Some((file, file.date?.to_string())))
            .filter(|(file, date)| file.path.contains(date))
            .collect();
        let mut subjects: Vec<String> = Vec::new();
        let mut stated: Vec<(usize, u32, usize, &str)> = Vec::new();
        for (at, (file, _)) in dated.iter().enumerate() {
            self.check(file.text.len())?;
            let mut headings: Vec<(usize, &str)> = Vec::new();
            let (mut is_code, mut is_new) = (false, true);
            let answered = file.assistant_lines();
            for (number, line) in (1..).zip(file.text.lines()) {
                is_code ^= line.trim_start().starts_with("```");
                if is_code {
                    continue;
                }
                let title = line.trim_start_matches('#');
                let level = line.len() - title.len();
                if (1..=6).contains(&level) && title.starts_with(' ') {
                    let title = title.trim();
                    headings.retain(|(above, _)| *above < level);
                    headings.push((level, &title[..title.floor_char_boundary(LONGEST_TITLE)]));
                    is_new = true;
                } else if may_state(line) && !answered.contains(&number) {
                    if is_new {
                        let titles = headings.iter().map(|(_, title)| *title);
                        let titles: Vec<&str> = titles.filter(|title| is_subject(title)).collect();
                        subjects.push(titles.join(" > "));
                        is_new = false;
                    }
                    stated.push((at, number, subjects.len() - 1, line));
                }
            }
        }
        let mut texts: Vec<DatedText<'_>> = Vec::with_capacity(stated.len());
        for &(at, number, subject, text) in &stated {
            let (file, date): &(&AuditedFile, String) = &dated[at];
            texts.push(DatedText {
                date: Some(date),
                place: (&file.path, number),
                heading: std::slice::from_ref(&subjects[subject]),
                text,
            });
        }
        for (older, newer) in find_superseded(&texts, MOST_VALUES).into_iter().enumerate() {
            let Some(newer) = newer else { continue };
            let [older, newer] = [older, newer].map(|at| (dated[stated[at].0].0, stated[at].1));
            self.add(&mut found, &older.0.path, Some(older.1), &[older, newer], || {
                format!("{}:{} states another value", newer.0.path, newer.1)
            })?;
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
                self.add(&mut found, &file.path, Some(number), &[], || {
                    let kinds = hippo_redact::find_kinds(line).into_iter().map(SecretKind::name);
                    let kinds: Vec<&str> = kinds.collect();
                    if kinds.is_empty() {
                        // The line is inside a private key.
                        return SecretKind::PrivateKey.name().to_owned();
                    }
                    kinds.join(", ")
                })?;
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
            let is_order = |_: &&str| instruction::is_instruction(&without_identifiers(line.text));
            if let Some(rule) = instruction::match_rule(line.text).filter(is_order) {
                let rule = || rule.to_owned();
                self.add(&mut found, &line.file.path, Some(line.number), &[], rule)?;
            }
        }
        Some(found)
    }
}

/// Removes words with an underscore between letters, which are probably names in a program. The audit only reports
/// lines; the protection of prompts does not ignore such words.
fn without_identifiers(line: &str) -> String {
    let is_mark = |mark: char| !mark.is_alphanumeric();
    let plain = (line.split(' ')).filter(|word| !word.trim_matches(is_mark).contains('_'));
    plain.collect::<Vec<_>>().join(" ")
}
