//! Selection of sentences about findings, decisions and outcomes.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use hippo_redact::without_secrets;
use hippo_text::control::without_escapes;
use hippo_text::text::{clip, start};

use super::said::{LEAST, LOOKED_AT, neutralize_comments};

/// Maximum bytes of a sentence in the log.
pub const SENTENCE: usize = 240;
/// Beginnings of sentences that have no content if they are short.
#[rustfmt::skip] // keep the list compact
const FILLERS: [&str; 12] = [
    "You're right", "You're absolutely", "You’re right", "Great", "Perfect", "Good point", "Good question",
    "Got it", "Sure", "Excellent", "Sounds good", "Of course",
];
/// A sentence with one of the [`FILLERS`] is dropped if it has fewer bytes than this.
const POLITE: usize = 60;

/// Returns the end of the first sentence of a line.
pub fn find_sentence_end(line: &str) -> usize {
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

/// Subject of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceKind {
    /// A choice.
    Decision,
    /// A finding or its reason.
    Analysis,
    /// A result, or remaining work.
    Outcome,
    /// The next step of the agent.
    Step,
}

/// Sentence of an agent's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// One redacted line of at most [`SENTENCE`] bytes.
    pub text: String,
    /// Subject with the highest weight; `None` if the sentence has no marker words.
    pub tells: Option<SentenceKind>,
    /// Sum of the weights of this subject's marker words.
    pub weight: u32,
}

/// Extracts the sentences of a message, without code, tables and short sentences.
pub fn extract_sentences(text: &str) -> Vec<Sentence> {
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
        // Skip headings, because they name a subject but state nothing.
        let heading = bare.starts_with('#') || (bare.starts_with("**") && bare.ends_with("**"));
        if fence || heading || bare.starts_with(['|', '<']) {
            continue;
        }
        let bare = bare
            .trim_start_matches(['-', '*', '>', '•', ' '])
            .replace("**", "");
        let mut rest = bare.as_str();
        while !rest.is_empty() {
            let (sentence, behind) = rest.split_at(find_sentence_end(rest));
            rest = behind.trim_start();
            let polite = sentence.len() < POLITE && FILLERS.iter().any(|filler| sentence.starts_with(filler));
            if sentence.len() < LEAST || sentence.ends_with(':') || polite {
                continue;
            }
            let (tells, weight) = classify_sentence(sentence);
            found.push(Sentence {
                text: neutralize_comments(&clip(sentence, SENTENCE)),
                tells,
                weight,
            });
        }
    }
    found
}

/// Weight of a marker of remaining work. The next session needs it more than any result.
const OPEN: u32 = 12;

/// Marker words with their subject and weight.
#[rustfmt::skip] // keep the list compact
const WORDS: [(&str, SentenceKind, u32); 68] = {
    use SentenceKind::{Analysis, Decision, Outcome, Step};
    [
    ("decided", Decision, 3), ("decision", Decision, 3), ("we chose", Decision, 3), ("i chose", Decision, 3),
    ("going with", Decision, 3), ("settled on", Decision, 3), ("will use", Decision, 2),
    ("instead of", Decision, 2), ("rather than", Decision, 2), ("the plan is", Decision, 2),
    ("the approach", Decision, 1), ("recommend", Decision, 2), ("should use", Decision, 1),
    ("switched to", Decision, 2), ("entschieden", Decision, 3), ("решил", Decision, 3),
    ("будем использовать", Decision, 2), ("decidi", Decision, 3), ("décid", Decision, 3), ("决定", Decision, 3),
    ("from now on", Decision, 3), ("ab jetzt", Decision, 3),
    ("root cause", Analysis, 3), ("the problem is", Analysis, 3), ("the issue is", Analysis, 3),
    ("the problem was", Analysis, 3), ("the issue was", Analysis, 3), ("turns out", Analysis, 3),
    ("because", Analysis, 2), ("due to", Analysis, 2), ("i found", Analysis, 2), ("found that", Analysis, 2),
    ("i see that", Analysis, 1), ("caused by", Analysis, 3), ("the reason", Analysis, 2),
    ("weil ", Analysis, 2), ("потому что", Analysis, 2), ("原因", Analysis, 2), ("all tests", Outcome, 3),
    ("tests pass", Outcome, 3), ("now works", Outcome, 3), ("is fixed", Outcome, 3), ("fixed", Outcome, 2),
    ("completed", Outcome, 2), ("implemented", Outcome, 2), ("created", Outcome, 1), ("updated", Outcome, 1),
    ("removed", Outcome, 1), ("committed", Outcome, 2), ("pushed", Outcome, 2), ("successfully", Outcome, 2),
    ("could not", Outcome, 2), ("couldn't", Outcome, 2), ("remaining", Outcome, 1),
    ("still fail", Outcome, 2), ("is left", Outcome, 1), ("still open", Outcome, OPEN),
    ("open question", Outcome, OPEN), ("left to do", Outcome, OPEN), ("noch offen", Outcome, OPEN), ("erledigt", Outcome, 2), ("готово", Outcome, 2),
    ("完成", Outcome, 2), ("i'll ", Step, 2), ("let me ", Step, 3), ("i will now", Step, 3),
    ("now i need", Step, 3), ("i'm going to", Step, 2),
    ]
};

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(WORDS.map(|(word, ..)| word))
        .expect("the words are few and short")
});

/// Returns the predominant subject of a sentence and its weight.
fn classify_sentence(sentence: &str) -> (Option<SentenceKind>, u32) {
    let mut sums = [0_u32; 4];
    for found in FINDER.find_iter(sentence) {
        let (_, kind, weight) = WORDS[found.pattern().as_usize()];
        sums[kind as usize] += weight;
    }
    let [decision, analysis, outcome, step] = sums;
    // The sentence counts as a step unless it also states a decision or finding. A later sentence reports the outcome.
    if step > decision.max(analysis) {
        return (Some(SentenceKind::Step), step);
    }
    let (kind, most) = match decision.max(analysis).max(outcome) {
        0 => return (None, 0),
        most if decision == most => (SentenceKind::Decision, most),
        most if analysis == most => (SentenceKind::Analysis, most),
        most => (SentenceKind::Outcome, most),
    };
    (Some(kind), most)
}
