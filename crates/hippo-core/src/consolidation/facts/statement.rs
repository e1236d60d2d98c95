//! Which sentences and list items of a daily log state something that may be worth keeping?

use std::borrow::Cow;
use std::ops::Range;

use super::LogDay;
use crate::bootstrap::line::clean;
use crate::bootstrap::summary::split;
use crate::bootstrap::words::Words;
use crate::chunk::text::strip_comments;
use crate::chunk::{Chunk, ChunkKind, Speaker, chunk_text};
use crate::own_block::generated;
use crate::redact::redact;
use crate::retrieval::speaker;
use crate::retrieval::terms::is_unspaced;

/// Content words that a statement has at least.
const LEAST_WORDS: usize = 4;
/// Those among them that are no words of calendars and of talk.
const LEAST_TELLING: usize = 3;
/// Longest statement in bytes; what is longer tells a story.
const LONGEST: usize = 320;
/// A line of at least this many bytes may go on in the next one.
const FULL_LINE: usize = 60;

/// What machines write into logs: calls to an agent and its answers to them.
pub(crate) const MACHINE: [&str; 6] = [
    "HEARTBEAT",
    "NO_REPLY",
    "message_id",
    "Session Key",
    "Session ID",
    "System:",
];
/// Words that speak to somebody.
const ADDRESSED: [&str; 8] = [
    "you", "your", "yours", "you're", "you've", "you'd", "you'll", "yourself",
];
/// What a request to an agent begins with.
const REQUESTS: [&str; 22] = [
    "can", "could", "please", "what", "how", "why", "would", "will", "thanks", "thank", "hi", "hey", "hello",
    "wow", "yes", "no", "yeah", "okay", "ok", "let's", "sounds", "glad",
];
/// What somebody says who is about to ask for something.
const WISHES: [&str; 12] = [
    "i'm looking for",
    "i was wondering",
    "i'm wondering",
    "i'm trying to",
    "i'd like to",
    "i want to",
    "i need to",
    "i think i'll",
    "i'll ",
    "i'm thinking",
    "i'd love to",
    "i'm planning",
];

/// Something that a log states.
pub(super) struct Statement {
    /// Section that it stands in.
    pub section: u32,
    /// As written, without marks.
    pub text: String,
    /// Its content words, sorted.
    pub words: Box<[u32]>,
    /// Its content words without numbers, sorted.
    pub bare: Box<[u32]>,
}

/// Calls `sink` with what a log states, in its order.
pub(super) fn each(log: &LogDay<'_>, words: &mut Words, mut sink: impl FnMut(Statement)) {
    let generated = generated(log.bytes);
    for chunk in &log.document.chunks {
        let prose = matches!(
            chunk.kind,
            ChunkKind::Paragraph | ChunkKind::Item | ChunkKind::Turn
        );
        if !prose || chunk.speaker == Speaker::Assistant || is_within(chunk, &generated) {
            continue;
        }
        let text = chunk_text(log.bytes, chunk);
        for line in joined(&strip_comments(&text)) {
            if has_secret(&line) || MACHINE.iter().any(|mark| line.contains(mark)) {
                continue;
            }
            let line = clean(&line);
            // Somebody's name belongs to each of their sentences: "I moved to Porto" says nothing without it.
            let (name, said) = match chunk.speaker {
                Speaker::Other => speaker::name(&line).map_or((None, &*line), |name| {
                    (Some(name), line[name.len()..].trim_start_matches(':'))
                }),
                Speaker::User => (None, without_role(&line)),
                _ => (None, &*line),
            };
            for sentence in split(without_clock(said)) {
                let sentence = sentence.trim();
                let spoken = chunk.speaker != Speaker::None;
                if !is_statement(sentence) || (spoken && is_talk(sentence)) {
                    continue;
                }
                let text = match name {
                    Some(name) => format!("{name}: {sentence}"),
                    None => sentence.to_owned(),
                };
                if let Some(statement) = statement(text, chunk.section, words) {
                    sink(statement);
                }
            }
        }
    }
}

/// Whether something of a line would be left out wherever it is shown: a fact is not worth that.
fn has_secret(line: &str) -> bool {
    matches!(redact(line), Cow::Owned(_))
}

/// A text with its content words, when it has enough of them.
fn statement(text: String, section: u32, words: &mut Words) -> Option<Statement> {
    let (mut all, mut bare) = (Vec::new(), Vec::new());
    let (mut count, mut telling) = (0, 0);
    words.each(&text, |word| {
        if !word.tells() {
            return;
        }
        all.push(word.id);
        if !word.is_number() {
            bare.push(word.id);
        }
        // Scripts without spaces have words of about two characters.
        let characters = word.text.chars().filter(|mark| is_unspaced(*mark)).count();
        let words = characters.div_ceil(2).max(1);
        count += words;
        if word.tags() || word.is_number() {
            telling += words;
        }
    });
    if count < LEAST_WORDS || telling < LEAST_TELLING {
        return None;
    }
    Some(Statement {
        section,
        text,
        words: sorted(all),
        bare: sorted(bare),
    })
}

fn sorted(mut words: Vec<u32>) -> Box<[u32]> {
    words.sort_unstable();
    words.dedup();
    words.into()
}

/// Whether a sentence has the form of a statement: it is no question, and it does not only introduce what follows.
fn is_statement(sentence: &str) -> bool {
    // What stands in brackets as a whole tells of the log itself: a picture, a queue.
    let aside = sentence.starts_with(['(', '[']) && sentence.ends_with([')', ']']);
    sentence.len() <= LONGEST && !aside && !sentence.ends_with(['?', '？', ':', '：', '…'])
}

/// Without `User:` and its like.
fn without_role(line: &str) -> &str {
    let role = |(head, _): &(&str, &str)| head.len() <= 20 && head.chars().all(char::is_alphabetic);
    let parts = line.split_once([':', '：']).filter(role);
    parts.map_or(line, |(_, said)| said)
}

/// Whether a sentence of a talk is a request, a greeting or something about the other one.
fn is_talk(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let mut words = lower.split(|mark: char| !(mark.is_alphanumeric() || mark == '\''));
    let first = words.clone().find(|word| !word.is_empty()).unwrap_or_default();
    REQUESTS.contains(&first)
        || words.any(|word| ADDRESSED.contains(&word))
        || WISHES.iter().any(|wish| lower.contains(wish))
}

/// The lines of a text, those that were wrapped joined again; tasks are left out: they state nothing yet.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let item = trimmed.starts_with(['-', '*', '+', '>', '|', '#'])
            || trimmed.starts_with(|c: char| c.is_ascii_digit());
        match lines.last_mut().filter(|_| open && !item && !trimmed.is_empty()) {
            Some(last) => {
                last.push(' ');
                last.push_str(trimmed);
            }
            None => lines.push(trimmed.to_owned()),
        }
        open = line.len() >= FULL_LINE && !trimmed.ends_with(['.', '!', '?', ':', '。']);
    }
    let is_task = |line: &String| {
        ["- [", "* [", "+ ["].iter().any(|mark| line.starts_with(mark)) && line.get(4..5) == Some("]")
    };
    lines.retain(|line| !line.is_empty() && !is_task(line));
    lines
}

/// Without a time of day at the start: "10:30 — deployed".
fn without_clock(line: &str) -> &str {
    let line = line.trim_start();
    let inner = line.strip_prefix(['[', '(']).unwrap_or(line);
    let clock = inner
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b':')
        .count();
    let rest = &inner[clock..];
    if !(4..=8).contains(&clock) || !inner[..clock].contains(':') || rest.starts_with(char::is_alphanumeric) {
        return line;
    }
    rest.trim_start_matches([']', ')', ' ', '-', '–', '—', ':'])
}

fn is_within(chunk: &Chunk, ranges: &[Range<usize>]) -> bool {
    ranges.iter().any(|range| {
        let (start, end) = (range.start as u64, range.end as u64);
        chunk.start_byte < end && start < chunk.end_byte
    })
}
