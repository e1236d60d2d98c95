//! Which parts of a text are secrets, and how is it shown without them?
//!
//! One pass finds the few places where a secret can begin: words such as `password`, marks such as `ghp_`, `://` and
//! `-----BEGIN`. What stands around such a place decides, within bounds, so that any text takes time linear in its length.
//! The label stays, the value becomes [`REDACTED`]. docs/semantics.md says what counts as a secret and what does not.

mod known;
mod label;
mod near;
mod shape;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use known::{JWT, KEY_BLOCK, PREFIXES, TELEGRAM, URL};
use label::{LABELS, Label, SCHEMES};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// How often a text is looked through again at most.
const PASSES: usize = 16;

/// The text without its secrets. Doing it again changes nothing.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut shown = once(text);
    // What stood beside a secret may be seen to be one now.
    for _ in 0..PASSES {
        let Cow::Owned(before) = &shown else { break };
        let Cow::Owned(after) = once(before) else { break };
        if after == *before {
            break;
        }
        shown = Cow::Owned(after);
    }
    shown
}

fn once(text: &str) -> Cow<'_, str> {
    let Some(finder) = &*FINDER else {
        return Cow::Borrowed(text);
    };
    let mut out = String::new();
    let mut done = 0;
    let mut hits = finder.patterns.find_iter(text).peekable();
    while let Some(hit) = hits.next() {
        if hit.start() < done {
            continue;
        }
        let place = Place {
            text,
            start: hit.start(),
            end: hit.end(),
            done,
            next: hits.peek().map_or(text.len(), |next| next.start()),
        };
        let found = match finder.meaning[hit.pattern().as_usize()] {
            Start::Label(label) => place.labelled(label),
            Start::Scheme => place.scheme(),
            Start::Prefix(number) => place.prefix(&PREFIXES[number]),
            Start::Jwt => place.jwt(),
            Start::KeyBlock => place.key_block(),
            Start::Url => place.url(),
            Start::Telegram => place.telegram(),
        };
        if let Some(secret) = found.filter(|secret| secret.start >= done && !secret.is_empty()) {
            out.push_str(&text[done..secret.start]);
            out.push_str(REDACTED);
            done = secret.end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The same with a mark that is no word, for text that is derived: an index entry is not to be known by what was left out.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    match redact(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(text) => Cow::Owned(text.replace(REDACTED, "…")),
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
}

struct Finder {
    patterns: AhoCorasick,
    /// What each pattern means.
    meaning: Vec<Start>,
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
    SCHEMES.iter().for_each(|word| add(word, Start::Scheme));
    for (number, prefix) in PREFIXES.iter().enumerate() {
        add(prefix.mark, Start::Prefix(number));
    }
    add(JWT, Start::Jwt);
    add(KEY_BLOCK, Start::KeyBlock);
    add(URL, Start::Url);
    add(TELEGRAM, Start::Telegram);
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
    /// Where the next place starts.
    next: usize,
}

impl<'t> Place<'t> {
    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The byte at an offset; 0 outside of the text.
    fn at(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte before an offset; 0 at the start.
    fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |at| self.at(at))
    }

    /// The end of the bytes from an offset on that are as wanted, at most so many.
    fn run(&self, from: usize, most: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes().get(from..).unwrap_or_default();
        let length = rest.iter().take(most).position(|&byte| !wanted(byte));
        from + length.unwrap_or(rest.len().min(most))
    }

    /// Some bytes as text; a place between characters is given by every caller, since it looks for ASCII marks.
    fn str(&self, span: Range<usize>) -> &'t str {
        self.text.get(span).unwrap_or_default()
    }
}
