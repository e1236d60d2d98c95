//! Redaction of secrets in text.
//!
//! A multi-pattern search finds candidates: texts that may belong to a secret, such as `password`, `ghp_`, `://` and
//! `-----BEGIN`. hippod then examines the text around each candidate, up to a fixed distance, so the running time is
//! linear. [`REDACTED`] replaces a secret; the label before the secret stays. docs/secrets.md defines what counts as a
//! secret.

#![warn(clippy::disallowed_methods)]

mod command;
mod derived;
#[cfg(test)]
mod format_tests;
mod kind;
mod known;
mod label;
mod near;
mod providers;
mod shape;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, Match, MatchKind};

use command::{ORDERS, WordOrder};
pub use derived::{lines_without_secrets, piece_without_secrets, value_without_secrets, without_secrets};
pub use kind::{SecretKind, find_kinds};
use known::{AZURE, COOKIES, JWT, KEY_BLOCK, PACKED_KEY, SUFFIXES, TELEGRAM, URL};
use label::{LABELS, SCHEMES, SecretLabel};
use providers::PREFIXES;

/// Replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// Maximum number of passes over a text, to keep the running time linear.
const PASSES: usize = 16;

/// Returns a text with [`REDACTED`] in place of each secret. Redacting the result again does not change it.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_repeatedly(text, false)
}

/// Works like [`redact`], but keeps the number of lines: empty lines replace the further lines of a secret.
pub fn redact_lines(text: &str) -> Cow<'_, str> {
    redact_repeatedly(text, true)
}

fn redact_repeatedly(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let mut shown = redact_once(text, keeps_lines);
    // Some secrets are recognised only after an adjacent secret was replaced. Usually, the second pass finds nothing.
    for _ in 0..PASSES {
        let Cow::Owned(before) = &shown else { break };
        match redact_once(before, keeps_lines) {
            Cow::Owned(after) if after != *before => shown = Cow::Owned(after),
            _ => break,
        }
    }
    shown
}

fn redact_once(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for_each_secret(text, |secret, _| {
        out.push_str(&text[done..secret.start]);
        out.push_str(REDACTED);
        if keeps_lines {
            let breaks = text[secret.clone()].bytes().filter(|byte| *byte == b'\n');
            breaks.for_each(|_| out.push('\n'));
        }
        done = secret.end;
    });
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Finds secrets in one pass over the text, and calls `found` with each of the secrets in order.
fn for_each_secret(text: &str, mut found: impl FnMut(Range<usize>, CandidateKind)) {
    let Some(finder) = &*FINDER else {
        return;
    };
    let hits = finder.find_candidates(text);
    let mut done = 0;
    for (number, hit) in hits.iter().enumerate() {
        if hit.start() < done {
            continue;
        }
        let candidate = SecretCandidate {
            text,
            start: hit.start(),
            end: hit.end(),
            done,
            later: hits.get(number + 1..).unwrap_or_default(),
        };
        let start = finder.meaning[hit.pattern().as_usize()];
        let secret = match start {
            CandidateKind::Label(label) => candidate.find_labelled(label),
            CandidateKind::Scheme => candidate.find_scheme_token(),
            CandidateKind::Prefix(number) => candidate.find_prefixed(&PREFIXES[number]),
            CandidateKind::Jwt => candidate.find_jwt(),
            CandidateKind::KeyBlock => candidate.find_key_block(),
            CandidateKind::Url => candidate.find_url_password(),
            CandidateKind::Telegram => candidate.find_telegram_token(),
            CandidateKind::Azure => candidate.find_azure_secret(),
            CandidateKind::Suffix(number) => candidate.find_suffixed(&SUFFIXES[number]),
            CandidateKind::Cookie => candidate.find_cookie(),
            CandidateKind::PackedKey => candidate.find_packed_key(),
            CandidateKind::Order(order) => candidate.find_by_word_order(order),
        };
        let secret = match start {
            CandidateKind::Jwt
            | CandidateKind::KeyBlock
            | CandidateKind::Telegram
            | CandidateKind::Azure
            | CandidateKind::Suffix(_)
            | CandidateKind::PackedKey => secret,
            _ => secret.and_then(|secret| candidate.exclude_key_block(secret)),
        };
        if let Some(secret) = secret {
            done = secret.end;
            found(secret, start);
        }
    }
}

/// Kind of a candidate, by the pattern that matched.
#[derive(Debug, Clone, Copy)]
enum CandidateKind {
    Label(SecretLabel),
    Scheme,
    Prefix(usize),
    Jwt,
    KeyBlock,
    Url,
    Telegram,
    Azure,
    Suffix(usize),
    Cookie,
    PackedKey,
    Order(WordOrder),
}

struct SecretFinder {
    patterns: AhoCorasick,
    /// Kind of candidate that each pattern finds.
    meaning: Vec<CandidateKind>,
}

impl SecretFinder {
    /// Returns the candidates in a text. Consecutive candidates may overlap by one byte.
    fn find_candidates(&self, text: &str) -> Vec<Match> {
        let mut hits = Vec::new();
        let mut from = 0;
        while let Some(hit) = self.patterns.find(Input::new(text).span(from..text.len())) {
            let is_prefix = matches!(self.meaning[hit.pattern().as_usize()], CandidateKind::Prefix(_));
            let is_word = |at: usize| text.as_bytes()[at].is_ascii_alphanumeric();
            // A provider prefix inside a word is not the start of a secret, but its last character may be the start of
            // another pattern: `-us` in `…a3-us12`.
            let within = is_prefix && hit.start() > 0 && is_word(hit.start() - 1) && !is_word(hit.end() - 1);
            from = hit.end() - usize::from(within);
            hits.push(hit);
        }
        hits
    }
}

/// The finder, with all patterns. It is never `None`, because the patterns are constant and valid.
static FINDER: LazyLock<Option<SecretFinder>> = LazyLock::new(|| {
    let mut patterns: Vec<&str> = Vec::new();
    let mut meaning = Vec::new();
    let mut add = |pattern, start| {
        patterns.push(pattern);
        meaning.push(start);
    };
    for (word, label) in LABELS {
        add(word, CandidateKind::Label(label));
    }
    for (mark, order) in ORDERS {
        add(mark, CandidateKind::Order(order));
    }
    SCHEMES.iter().for_each(|word| add(word, CandidateKind::Scheme));
    for (number, prefix) in PREFIXES.iter().enumerate() {
        add(prefix.mark, CandidateKind::Prefix(number));
    }
    add(JWT, CandidateKind::Jwt);
    add(KEY_BLOCK, CandidateKind::KeyBlock);
    add(URL, CandidateKind::Url);
    add(TELEGRAM, CandidateKind::Telegram);
    add(AZURE, CandidateKind::Azure);
    add(PACKED_KEY, CandidateKind::PackedKey);
    for (number, suffix) in SUFFIXES.iter().enumerate() {
        add(suffix.mark, CandidateKind::Suffix(number));
    }
    COOKIES.iter().for_each(|mark| add(mark, CandidateKind::Cookie));
    let patterns = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&patterns)
        .ok()?;
    Some(SecretFinder { patterns, meaning })
});

/// Position in a text that may belong to a secret.
#[derive(Debug, Clone, Copy)]
struct SecretCandidate<'t> {
    text: &'t str,
    /// Start of the matched pattern.
    start: usize,
    /// End of the matched pattern.
    end: usize,
    /// Offset up to which the text is already processed.
    done: usize,
    /// The candidates after this one.
    later: &'t [Match],
}

impl<'t> SecretCandidate<'t> {
    /// Shortens a secret that contains a private key, so that the secret ends where the key starts. Returns `None` if
    /// the secret overlaps processed text. Also returns `None` if [`REDACTED`] follows the secret, because an earlier
    /// pass has already accepted or rejected the secret.
    fn exclude_key_block(&self, secret: Range<usize>) -> Option<Range<usize>> {
        let mut blocks = self.slice(secret.clone()).match_indices(KEY_BLOCK);
        let block = blocks.find(|(at, _)| *at > 0);
        let end = block.map_or(secret.end, |(at, _)| secret.start + at);
        let is_mark = |mark: char| mark.is_ascii_punctuation() && mark != '[';
        let rest = start(self.text_from(end), 32).trim_start_matches(is_mark);
        let fresh = secret.start >= self.done && secret.start < end && !rest.starts_with(REDACTED);
        fresh.then_some(secret.start..end)
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Returns the byte at an offset; 0 outside the text.
    fn byte_at(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    /// Returns the byte before an offset; 0 at the start of the text. Right after a secret, returns the last byte of
    /// [`REDACTED`].
    fn byte_before(&self, at: usize) -> u8 {
        if at == self.done && at > 0 {
            return b']';
        }
        at.checked_sub(1).map_or(0, |at| self.byte_at(at))
    }

    /// Returns the end of the run of `wanted` bytes that begins at an offset. A run has at most `most` bytes.
    fn run_end(&self, from: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(from..).unwrap_or_default();
        let length = rest.iter().take(most).position(|&byte| !wanted(byte));
        from + length.unwrap_or(rest.len().min(most))
    }

    /// Returns the start of the first candidate after an offset, or the end of the text.
    fn next_candidate(&self, behind: usize) -> usize {
        let next = self.later.iter().map(Match::start).find(|start| *start > behind);
        next.unwrap_or(self.text.len())
    }

    /// Returns the text from an offset; empty if the offset is inside a character.
    fn text_from(&self, from: usize) -> &'t str {
        self.text.get(from..).unwrap_or_default()
    }

    /// Returns a range of the text; empty unless the range starts and ends between characters.
    fn slice(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }
}

/// Returns the first characters of a text, at most `most` bytes.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
