//! Statements in the sentences and list items of a daily log.

use std::borrow::Cow;
use std::ops::Range;

use super::LogDay;
use hippo_redact::redact;
use hippo_text::chunk::text::strip_comments;
use hippo_text::chunk::{Chunk, ChunkKind, Speaker, chunk_text};
use hippo_text::gist::label::check_box;
use hippo_text::gist::line::{clean, rejoin_lines};
use hippo_text::gist::machine::is_machine;
use hippo_text::gist::sentence::split_sentences;
use hippo_text::gist::words::WordCounts;
use hippo_text::own_block::generated_ranges;
use hippo_text::speaker;
use hippo_text::terms::is_unspaced;

/// Minimum number of content words of a statement.
const LEAST_WORDS: usize = 4;
/// Minimum number of content words outside the vocabulary of calendars and talk.
const LEAST_TELLING: usize = 3;
/// Maximum length of a statement in bytes; longer sentences are narrative.
const LONGEST: usize = 320;

/// Words of direct address.
const ADDRESSED: [&str; 8] = [
    "you", "your", "yours", "you're", "you've", "you'd", "you'll", "yourself",
];
/// Words at the start of a request to an agent.
const REQUESTS: [&str; 22] = [
    "can", "could", "please", "what", "how", "why", "would", "will", "thanks", "thank", "hi", "hey", "hello",
    "wow", "yes", "no", "yeah", "okay", "ok", "let's", "sounds", "glad",
];
/// Phrases that introduce a request.
#[rustfmt::skip] // keep the list compact
const WISHES: [&str; 12] = [
    "i'm looking for", "i was wondering", "i'm wondering", "i'm trying to", "i'd like to", "i want to",
    "i need to", "i think i'll", "i'll ", "i'm thinking", "i'd love to", "i'm planning",
];

/// Statement from a log.
pub(super) struct LogStatement {
    /// Index of its section.
    pub section: u32,
    /// Original wording without marks.
    pub text: String,
    /// Sorted content words.
    pub words: Box<[u32]>,
    /// Sorted content words without numbers.
    pub bare: Box<[u32]>,
}

/// Calls `sink` with each statement of a log, in order.
pub(super) fn for_each_statement(
    log: &LogDay<'_>,
    words: &mut WordCounts,
    mut sink: impl FnMut(LogStatement),
) {
    let generated = generated_ranges(log.bytes);
    for chunk in &log.document.chunks {
        let prose = matches!(
            chunk.kind,
            ChunkKind::Paragraph | ChunkKind::Item | ChunkKind::Turn
        );
        if !prose || chunk.speaker == Speaker::Assistant || is_within(chunk, &generated) {
            continue;
        }
        let text = chunk_text(log.bytes, chunk);
        for (_, line) in rejoin_lines(&strip_comments(&text)) {
            // Tasks are not facts yet.
            if check_box(&line).0.is_some() || has_secret(&line) || is_machine(&line) {
                continue;
            }
            let line = clean(&line);
            // The speaker's name is added to each sentence, because "I moved to Porto" means nothing without it.
            let (name, said) = match chunk.speaker {
                Speaker::Other => speaker::name(&line).map_or((None, &*line), |name| {
                    (Some(name), line[name.len()..].trim_start_matches(':'))
                }),
                Speaker::User => (None, strip_role(&line)),
                _ => (None, &*line),
            };
            for sentence in split_sentences(strip_clock(said)) {
                let sentence = sentence.trim();
                let spoken = chunk.speaker != Speaker::None;
                if !is_statement(sentence) || (spoken && is_talk(sentence)) {
                    continue;
                }
                let text = match name {
                    Some(name) => format!("{name}: {sentence}"),
                    None => sentence.to_owned(),
                };
                if let Some(statement) = build_statement(text, chunk.section, words) {
                    sink(statement);
                }
            }
        }
    }
}

/// Returns `true` if a line contains text that would be redacted.
fn has_secret(line: &str) -> bool {
    matches!(redact(line), Cow::Owned(_))
}

/// Returns the statement for a text with enough content words.
fn build_statement(text: String, section: u32, words: &mut WordCounts) -> Option<LogStatement> {
    let (mut all, mut bare) = (Vec::new(), Vec::new());
    let (mut count, mut telling) = (0, 0);
    words.for_each_word(&text, |word| {
        if !word.is_significant() {
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
        if word.is_taggable() || word.is_number() {
            telling += words;
        }
    });
    if count < LEAST_WORDS || telling < LEAST_TELLING {
        return None;
    }
    Some(LogStatement {
        section,
        text,
        words: sort_words(all),
        bare: sort_words(bare),
    })
}

fn sort_words(mut words: Vec<u32>) -> Box<[u32]> {
    words.sort_unstable();
    words.dedup();
    words.into()
}

/// Returns `true` if a sentence has the form of a statement: not a question and not an introduction of the
/// next sentence.
fn is_statement(sentence: &str) -> bool {
    // A sentence in brackets describes the log itself: a snapshot, a queue.
    let aside = sentence.starts_with(['(', '[']) && sentence.ends_with([')', ']']);
    sentence.len() <= LONGEST && !aside && !sentence.ends_with(['?', '？', ':', '：', '…'])
}

/// Strips a role such as `User:`.
fn strip_role(line: &str) -> &str {
    let role = |(head, _): &(&str, &str)| head.len() <= 20 && head.chars().all(char::is_alphabetic);
    let parts = line.split_once([':', '：']).filter(role);
    parts.map_or(line, |(_, said)| said)
}

/// Returns `true` if a spoken sentence is a request, a greeting or about the other speaker.
fn is_talk(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let mut words = lower.split(|mark: char| !(mark.is_alphanumeric() || mark == '\''));
    let first = words.clone().find(|word| !word.is_empty()).unwrap_or_default();
    REQUESTS.contains(&first)
        || words.any(|word| ADDRESSED.contains(&word))
        || WISHES.iter().any(|wish| lower.contains(wish))
}

/// Strips a time of day at the start: "10:30 — deployed".
fn strip_clock(line: &str) -> &str {
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
