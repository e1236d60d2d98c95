//! Which sentences of a message tell what was found, decided and done?

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::control::without_escapes;
use crate::redact::without_secrets;
use crate::text::{clip, start};

use super::said::{LEAST, LOOKED_AT, harmless};

/// Bytes of a sentence that are told.
pub const SENTENCE: usize = 240;
/// How a short sentence begins that only keeps the talk going.
const FILLERS: [&str; 12] = [
    "You're right",
    "You're absolutely",
    "You’re right",
    "Great",
    "Perfect",
    "Good point",
    "Good question",
    "Got it",
    "Sure",
    "Excellent",
    "Sounds good",
    "Of course",
];
/// It has fewer bytes than this.
const POLITE: usize = 60;

/// Where the first sentence of a line ends.
pub fn sentence_end(line: &str) -> usize {
    line.char_indices()
        .find_map(|(at, mark)| {
            let end = at + mark.len_utf8();
            match mark {
                '。' | '！' | '？' => Some(end),
                '.' | '!' | '?' if line[end..].starts_with(' ') && at >= LEAST => Some(end),
                _ => None,
            }
        })
        .unwrap_or(line.len())
}

/// What a sentence tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// What was chosen.
    Decision,
    /// What was found to be so, and why.
    Analysis,
    /// What was done, or is left.
    Outcome,
    /// Nothing that lasts: what the agent is about to do.
    Step,
}

/// A sentence of an agent's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// On one line, without secrets, at most [`SENTENCE`] bytes.
    pub text: String,
    /// What it tells most of.
    pub tells: Option<Tells>,
    /// How much it tells of that.
    pub weight: u32,
}

/// The sentences of a message, without code, tables and what is too short.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let seen = without_escapes(start(text, LOOKED_AT));
    let clean = without_secrets(&seen);
    let mut found = Vec::new();
    let mut fence = false;
    for line in clean.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fence = !fence;
            continue;
        }
        // Headings say what is told, not what is so.
        let heading = bare.starts_with('#') || (bare.starts_with("**") && bare.ends_with("**"));
        if fence || heading || bare.starts_with(['|', '<']) {
            continue;
        }
        let bare = bare
            .trim_start_matches(['-', '*', '>', '•', ' '])
            .replace("**", "");
        let mut rest = bare.as_str();
        while !rest.is_empty() {
            let (sentence, behind) = rest.split_at(sentence_end(rest));
            rest = behind.trim_start();
            let polite = sentence.len() < POLITE && FILLERS.iter().any(|filler| sentence.starts_with(filler));
            if sentence.len() < LEAST || sentence.ends_with(':') || polite {
                continue;
            }
            let (tells, weight) = tells(sentence);
            found.push(Sentence {
                text: harmless(&clip(sentence, SENTENCE)),
                tells,
                weight,
            });
        }
    }
    found
}

/// Words that tell of something, and how much.
const WORDS: [(&str, Tells, u32); 62] = [
    ("decided", Tells::Decision, 3),
    ("decision", Tells::Decision, 3),
    ("we chose", Tells::Decision, 3),
    ("i chose", Tells::Decision, 3),
    ("going with", Tells::Decision, 3),
    ("settled on", Tells::Decision, 3),
    ("will use", Tells::Decision, 2),
    ("instead of", Tells::Decision, 2),
    ("rather than", Tells::Decision, 2),
    ("the plan is", Tells::Decision, 2),
    ("the approach", Tells::Decision, 1),
    ("recommend", Tells::Decision, 2),
    ("should use", Tells::Decision, 1),
    ("switched to", Tells::Decision, 2),
    ("entschieden", Tells::Decision, 3),
    ("решил", Tells::Decision, 3),
    ("будем использовать", Tells::Decision, 2),
    ("decidi", Tells::Decision, 3),
    ("décid", Tells::Decision, 3),
    ("决定", Tells::Decision, 3),
    ("root cause", Tells::Analysis, 3),
    ("the problem is", Tells::Analysis, 3),
    ("the issue is", Tells::Analysis, 3),
    ("the problem was", Tells::Analysis, 3),
    ("the issue was", Tells::Analysis, 3),
    ("turns out", Tells::Analysis, 3),
    ("because", Tells::Analysis, 2),
    ("due to", Tells::Analysis, 2),
    ("i found", Tells::Analysis, 2),
    ("found that", Tells::Analysis, 2),
    ("i see that", Tells::Analysis, 1),
    ("caused by", Tells::Analysis, 3),
    ("the reason", Tells::Analysis, 2),
    ("weil ", Tells::Analysis, 2),
    ("потому что", Tells::Analysis, 2),
    ("原因", Tells::Analysis, 2),
    ("all tests", Tells::Outcome, 3),
    ("tests pass", Tells::Outcome, 3),
    ("now works", Tells::Outcome, 3),
    ("is fixed", Tells::Outcome, 3),
    ("fixed", Tells::Outcome, 2),
    ("completed", Tells::Outcome, 2),
    ("implemented", Tells::Outcome, 2),
    ("created", Tells::Outcome, 1),
    ("updated", Tells::Outcome, 1),
    ("removed", Tells::Outcome, 1),
    ("committed", Tells::Outcome, 2),
    ("pushed", Tells::Outcome, 2),
    ("successfully", Tells::Outcome, 2),
    ("could not", Tells::Outcome, 2),
    ("couldn't", Tells::Outcome, 2),
    ("remaining", Tells::Outcome, 1),
    ("still fail", Tells::Outcome, 2),
    ("is left", Tells::Outcome, 1),
    ("erledigt", Tells::Outcome, 2),
    ("готово", Tells::Outcome, 2),
    ("完成", Tells::Outcome, 2),
    ("i'll ", Tells::Step, 2),
    ("let me ", Tells::Step, 3),
    ("i will now", Tells::Step, 3),
    ("now i need", Tells::Step, 3),
    ("i'm going to", Tells::Step, 2),
];

/// `None` would be a fault of the words; they are constants.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(WORDS.map(|(word, ..)| word))
        .ok()
});

/// What a sentence tells most of, and how much.
fn tells(sentence: &str) -> (Option<Tells>, u32) {
    const KINDS: [Tells; 4] = [Tells::Decision, Tells::Analysis, Tells::Outcome, Tells::Step];
    let mut sums = [0_u32; KINDS.len()];
    for found in FINDER.iter().flat_map(|finder| finder.find_iter(sentence)) {
        let Some((_, tells, weight)) = WORDS.get(found.pattern().as_usize()) else {
            continue;
        };
        if let Some(place) = KINDS.iter().position(|kind| kind == tells) {
            sums[place] += weight;
        }
    }
    // What is about to be done is told by what becomes of it, unless it says why.
    if sums[3] > sums[0].max(sums[1]) {
        return (Some(Tells::Step), sums[3]);
    }
    let mut best = (None, 0);
    for (kind, sum) in KINDS.into_iter().zip(sums).take(3) {
        if sum > best.1 {
            best = (Some(kind), sum);
        }
    }
    best
}
