//! Search for chunks with the same words.

use std::collections::{BTreeMap, HashMap};

use super::words::split_words;
use super::{AuditPass, AuditTally, AuditedFile, LONGEST_TITLE};
use hippo_text::gist::{label::check_box, machine::is_machine, table::is_rule};
use hippo_text::{chunk::Speaker, source::date_in_name};

/// Minimum number of words of a duplicate.
const LEAST_WORDS: usize = 4;
/// Minimum number of words, not counting values, of a duplicate outside a run.
const LEAST_ALONE: usize = 8;
/// Maximum distance, in texts, between two duplicates of a run.
const NEAR: usize = 5;
/// Maximum number of words, not counting values, beside the links of a line that is only a reference.
const MOST_BESIDE_LINK: usize = 3;
/// Fields of a session log that hippod derives from tool calls.
const OWN_FIELDS: [&str; 3] = ["references:", "tool calls:", "errors:"];

/// A chunk that can be a duplicate.
struct ChunkText {
    /// Index of the file.
    file: usize,
    /// First line with a statement.
    line: u32,
    /// Index of the first text with the same words, possibly of this text itself.
    first: usize,
    is_long: bool,
}

impl AuditPass<'_> {
    pub(super) fn find_duplicates(&mut self, files: &[AuditedFile]) -> Option<AuditTally> {
        let mut found = AuditTally::default();
        let mut firsts: HashMap<String, usize> = HashMap::new();
        let mut texts: Vec<ChunkText> = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let is_log = date_in_name(&file.path).is_some();
            let mut is_code = false;
            for chunk in &file.chunks {
                found.of += 1;
                let text = file.text.get(chunk.bytes.clone()).unwrap_or_default();
                self.check(text.len())?;
                let statement = find_statement(text, &mut is_code);
                let said = split_words(text);
                let is_message = is_log && matches!(chunk.speaker, Speaker::User | Speaker::Assistant);
                let counts = !is_message && said.len() >= LEAST_WORDS;
                let Some((skipped, length)) = statement.filter(|_| counts) else {
                    continue;
                };
                texts.push(ChunkText {
                    file: at,
                    line: chunk.line.saturating_add(skipped),
                    first: *firsts.entry(said.joined()).or_insert(texts.len()),
                    is_long: length >= LEAST_ALONE,
                });
            }
        }
        // For each first text: the first duplicate, and the number of duplicates.
        let mut repeated: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (at, text) in texts.iter().enumerate().filter(|(at, text)| text.first < *at) {
            let both = [text, &texts[text.first]].map(|text| &files[text.file]);
            if (text.is_long || is_in_run(&texts, at)) && !is_variant(both) {
                repeated.entry(text.first).or_insert((at, 0)).1 += 1;
            }
        }
        let mut cases: Vec<(usize, usize)> = repeated.into_values().collect();
        cases.sort_unstable();
        for (at, times) in cases {
            let (file, line) = (&files[texts[at].file], texts[at].line);
            let first = &texts[texts[at].first];
            let first = format!("{}:{}", files[first.file].path, first.line);
            let why = || match times {
                1 => format!("duplicates {first}"),
                _ => format!("repeated {times} times, first at {first}"),
            };
            self.add(&mut found, &file.path, Some(line), &[(file, line)], why)?;
        }
        Some(found)
    }
}

/// Returns `true` if a text near a duplicate is at the same distance from the first text with the same words, in
/// another file.
fn is_in_run(texts: &[ChunkText], at: usize) -> bool {
    let first = texts[at].first;
    let [file, other] = [at, first].map(|at| texts[at].file);
    let of = |at: usize, file: usize| Some(texts.get(at).filter(|text| text.file == file)?.first);
    let is_same = |at: usize, first: usize| of(at, file).is_some_and(|text| of(first, other) == Some(text));
    file != other
        && (1..=NEAR).any(|by| is_same(at + by, first + by) || first >= by && is_same(at - by, first - by))
}

/// Returns the index of the first line with a statement, and the number of words of all such lines, not counting
/// values. `is_code` is `true` inside a code fence.
fn find_statement(text: &str, is_code: &mut bool) -> Option<(u32, usize)> {
    let mut found: Option<(u32, usize)> = None;
    let mut lines = (0..).zip(text.lines()).peekable();
    while let Some((at, line)) = lines.next() {
        let fence = line.trim_start().strip_prefix("```");
        let is_fence = fence.is_some_and(|rest| !rest.contains("```"));
        *is_code ^= is_fence;
        let is_head = lines.peek().is_some_and(|(_, next)| is_rule(next));
        if is_fence || !*is_code && (is_head || states_nothing(line)) {
            continue;
        }
        let plain = without_links(line);
        // A path in code counts as one word.
        let most = if *is_code { 1 } else { usize::MAX };
        let count = |word| split_words(word).without_values().len().min(most);
        let words = plain.split(' ').filter(|word| !word.contains("://"));
        let length: usize = words.map(count).sum();
        if length > 0 {
            found.get_or_insert((at, 0)).1 += length;
        }
    }
    found
}

/// Returns `true` for headings, labels, questions, links, machine output, and fields that hippod adds to a log.
fn states_nothing(line: &str) -> bool {
    let bare = check_box(line).1.trim_end();
    let end = bare.trim_end_matches(['*', '_', '"', ')']);
    let inner = bare.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    let beside = without_links(bare);
    bare.starts_with('#')
        || end.ends_with([':', '?', '：', '？'])
        || inner.is_some_and(|inner| !inner.contains("**") && !inner.ends_with('.'))
        || OWN_FIELDS.iter().any(|field| bare.starts_with(field))
        || is_machine(bare)
        || beside.len() < bare.len() && split_words(&beside).without_values().len() <= MOST_BESIDE_LINK
}

/// Returns a line without markdown links and addresses.
fn without_links(line: &str) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while let Some((before, link)) = rest.split_once("](") {
        kept.push_str(before.rsplit_once('[').map_or(before, |(before, _)| before));
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    let words = kept.split(' ').filter(|word| !word.starts_with("http"));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns `true` if the paths of two undated files differ only in a language or a number, or their titles only in a
/// date or another value: translations, copies of a template, or a series of reports.
fn is_variant(files: [&AuditedFile; 2]) -> bool {
    let plain = |text: &str| split_words(text).without_values().joined();
    let [path, other] = files.map(|file| {
        let stem = file.path.rsplit_once('.').map_or(&*file.path, |(stem, _)| stem);
        let (name, part) = stem.rsplit_once(['.', '-', '_']).unwrap_or((stem, ""));
        plain(if part.len() == 2 { name } else { stem })
    });
    let [title, newer] = files.map(|file| {
        let start = &file.text[..file.text.floor_char_boundary(LONGEST_TITLE)];
        let (line, _) = start.split_once('\n').unwrap_or_default();
        line.strip_prefix("# ").unwrap_or_default()
    });
    let is_series = title != newer && !plain(title).is_empty() && plain(title) == plain(newer);
    let is_undated = files.iter().all(|file| date_in_name(&file.path).is_none());
    is_undated && files[0].path != files[1].path && (path == other || is_series)
}
