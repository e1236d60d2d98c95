//! Which parts of a text are secrets, and how is it shown without them?
//!
//! One pass finds the few places where a secret can begin: words such as `password`, marks such as `ghp_`, `://` and
//! `-----BEGIN`. What stands around such a place decides, within bounds, so that any text takes time linear in its length.
//! The label stays, the value becomes [`REDACTED`]. docs/semantics.md says what counts as a secret and what does not.

mod command;
mod derived;
#[cfg(test)]
mod formats;
mod kind;
mod known;
mod label;
#[cfg(test)]
mod labelled;
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

use command::{ORDERS, Order};
pub use derived::without_secrets;
pub(crate) use derived::{lines_without_secrets, piece_without_secrets, value_without_secrets};
pub use kind::{Kind, kinds};
use known::{AZURE, COOKIES, JWT, KEY_BLOCK, PACKED_KEY, SUFFIXES, TELEGRAM, URL};
use label::{LABELS, Label, SCHEMES};
use providers::PREFIXES;

use crate::text::start;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How often a text is looked through again at most, so that the time stays linear.
const PASSES: usize = 16;

/// The text without its secrets. Doing it again changes nothing.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    passes(text, false)
}

/// The same with as many lines: where a secret has several, empty ones follow it.
pub(crate) fn redact_lines(text: &str) -> Cow<'_, str> {
    passes(text, true)
}

fn passes(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let mut shown = pass(text, keeps_lines);
    // What stood beside a secret may be seen to be one now: nearly always the first pass over the rest finds nothing.
    for _ in 0..PASSES {
        let Cow::Owned(before) = &shown else { break };
        let Cow::Owned(after) = pass(before, keeps_lines) else {
            break;
        };
        if after == *before {
            break;
        }
        shown = Cow::Owned(after);
    }
    shown
}

fn pass(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    each(text, |secret, _| {
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

/// Tells of each secret that one pass finds, in their order.
fn each(text: &str, mut found: impl FnMut(Range<usize>, Start)) {
    let Some(finder) = &*FINDER else {
        return;
    };
    let hits = finder.hits(text);
    let mut done = 0;
    for (number, hit) in hits.iter().enumerate() {
        if hit.start() < done {
            continue;
        }
        let place = Place {
            text,
            start: hit.start(),
            end: hit.end(),
            done,
            later: hits.get(number + 1..).unwrap_or_default(),
        };
        let start = finder.meaning[hit.pattern().as_usize()];
        let secret = match start {
            Start::Label(label) => place.labelled(label).and_then(|secret| place.cut(secret)),
            Start::Scheme => place.scheme().and_then(|secret| place.cut(secret)),
            Start::Prefix(number) => place
                .prefix(&PREFIXES[number])
                .and_then(|secret| place.cut(secret)),
            Start::Jwt => place.jwt(),
            Start::KeyBlock => place.key_block(),
            Start::Url => place.url().and_then(|secret| place.cut(secret)),
            Start::Telegram => place.telegram(),
            Start::Azure => place.azure(),
            Start::Suffix(number) => place.suffix(&SUFFIXES[number]),
            Start::Cookie => place.cookie().and_then(|secret| place.cut(secret)),
            Start::PackedKey => place.packed_key(),
            Start::Order(order) => place.ordered(order).and_then(|secret| place.cut(secret)),
        };
        if let Some(secret) = secret {
            done = secret.end;
            found(secret, start);
        }
    }
}

/// Where a secret may begin, or is named.
#[derive(Debug, Clone, Copy)]
enum Start {
    Label(Label),
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
    Order(Order),
}

struct Finder {
    patterns: AhoCorasick,
    /// What each pattern means.
    meaning: Vec<Start>,
}

impl Finder {
    /// Places where a secret may begin, or is named. Most do not overlap.
    fn hits(&self, text: &str) -> Vec<Match> {
        let mut hits = Vec::new();
        let mut from = 0;
        while let Some(hit) = self.patterns.find(Input::new(text).span(from..text.len())) {
            let is_prefix = matches!(self.meaning[hit.pattern().as_usize()], Start::Prefix(_));
            let is_word = |at: usize| text.as_bytes()[at].is_ascii_alphanumeric();
            // Within a word it begins no secret, and its last mark may belong to another: `-us` in `…a3-us12`.
            let within = is_prefix && hit.start() > 0 && is_word(hit.start() - 1) && !is_word(hit.end() - 1);
            from = hit.end() - usize::from(within);
            hits.push(hit);
        }
        hits
    }
}

/// `None` would be a fault of the patterns; they are constants.
static FINDER: LazyLock<Option<Finder>> = LazyLock::new(|| {
    let mut patterns: Vec<&str> = Vec::new();
    let mut meaning = Vec::new();
    let mut add = |pattern, start| {
        patterns.push(pattern);
        meaning.push(start);
    };
    for (word, label) in LABELS {
        add(word, Start::Label(label));
    }
    for (mark, order) in ORDERS {
        add(mark, Start::Order(order));
    }
    SCHEMES.iter().for_each(|word| add(word, Start::Scheme));
    for (number, prefix) in PREFIXES.iter().enumerate() {
        add(prefix.mark, Start::Prefix(number));
    }
    add(JWT, Start::Jwt);
    add(KEY_BLOCK, Start::KeyBlock);
    add(URL, Start::Url);
    add(TELEGRAM, Start::Telegram);
    add(AZURE, Start::Azure);
    add(PACKED_KEY, Start::PackedKey);
    for (number, suffix) in SUFFIXES.iter().enumerate() {
        add(suffix.mark, Start::Suffix(number));
    }
    COOKIES.iter().for_each(|mark| add(mark, Start::Cookie));
    let patterns = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&patterns)
        .ok()?;
    Some(Finder { patterns, meaning })
});

/// A place where something was found that may belong to a secret.
#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    text: &'t str,
    /// Where it starts.
    start: usize,
    /// Where it ends.
    end: usize,
    /// Everything before is done with.
    done: usize,
    /// The places after it.
    later: &'t [Match],
}

impl<'t> Place<'t> {
    /// A secret without a key block that follows it; `None` when what follows it was redacted, and was judged with it then.
    fn cut(&self, secret: Range<usize>) -> Option<Range<usize>> {
        let block = self
            .str(secret.clone())
            .match_indices(KEY_BLOCK)
            .map(|(at, _)| at)
            .find(|at| *at > 0);
        let end = block.map_or(secret.end, |at| secret.start + at);
        let rest = start(self.rest(end), 32)
            .trim_start_matches(|mark: char| mark.is_ascii_punctuation() && mark != '[');
        let fresh = secret.start >= self.done && secret.start < end && !rest.starts_with(REDACTED);
        fresh.then_some(secret.start..end)
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The byte at an offset; 0 outside of the text.
    fn at(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte before an offset; 0 at the start. After a secret it is what stands in the place of that.
    fn before(&self, at: usize) -> u8 {
        if at == self.done && at > 0 {
            return b']';
        }
        at.checked_sub(1).map_or(0, |at| self.at(at))
    }

    /// The end of the bytes from an offset on that are as wanted, at most so many.
    fn run(&self, from: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(from..).unwrap_or_default();
        let length = rest.iter().take(most).position(|&byte| !wanted(byte));
        from + length.unwrap_or(rest.len().min(most))
    }

    /// Where the first place starts that lies behind an offset; the end of the text when there is none.
    fn next(&self, behind: usize) -> usize {
        let next = self.later.iter().map(Match::start).find(|start| *start > behind);
        next.unwrap_or(self.text.len())
    }

    /// The text from an offset on; nothing within a character.
    fn rest(&self, from: usize) -> &'t str {
        self.text.get(from..).unwrap_or_default()
    }

    /// Some bytes as text; a place between characters is given by every caller, since it looks for ASCII marks.
    fn str(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }
}
