//! What does one record of a transcript say: which messages, and where in the tree of the session it stands?

mod args;
mod blocks;
mod claude;
mod codex;
mod node;
mod pi;
mod plain;

use std::borrow::Cow;
use std::fmt;

use super::message::Message;
use crate::time::Timestamp;
use blocks::Blocks;
use node::Node;

/// Who wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Claude Code's session files.
    ClaudeCode,
    /// Sessions of Pi and OpenClaw.
    Pi,
    /// Rollouts and event logs of Codex.
    Codex,
    /// Messages as model interfaces take them, and simple lists of events.
    Messages,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Pi, Self::Codex, Self::Messages];

    /// Its name on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Pi => "pi",
            Self::Codex => "codex",
            Self::Messages => "messages",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a record stands in the tree of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// Its own id, hashed.
    pub id: Option<u64>,
    /// The id of what it answers, hashed.
    pub parent: Option<u64>,
    /// Of a compaction: the first entry that stayed as it was, hashed.
    pub first_kept: Option<u64>,
    /// It is a compaction: what is before it is folded into its summary.
    pub compaction: bool,
    /// A prompt that a person wrote.
    pub prompt: bool,
}

/// What a record says.
#[derive(Debug, Default)]
pub struct Record<'a> {
    /// Its format; none for a record of no known shape.
    pub format: Option<Format>,
    /// The messages in it.
    pub messages: Vec<Message<'a>>,
    /// Its place in the tree.
    pub link: Link,
    /// The summary of an earlier compaction.
    pub prior: Option<String>,
    /// With [`Record::prior`]: what was read so far is folded into it.
    pub folds: bool,
    /// Calls of tools: the id of each, hashed, and the name of the tool.
    pub called: Vec<(u64, String)>,
    /// When it was written, where it says so.
    pub at: Option<Timestamp>,
    /// It says that the session begins with a copy of another one.
    pub forked: bool,
}

/// Reads a record and hands it on; it is no JSON object when nothing is handed on.
pub fn read<T>(bytes: &[u8], take: impl FnOnce(Record<'_>) -> T) -> Option<T> {
    if codex::is_noise(bytes) {
        return Some(take(Record {
            format: Some(Format::Codex),
            ..Record::default()
        }));
    }
    if let Ok(node) = Node::read(bytes) {
        return Some(take(record(&node)));
    }
    // One wrong byte, half of a surrogate pair or a number that is none is no reason to lose a message.
    let text = mended(bytes)?;
    let node = Node::read(text.as_bytes()).ok()?;
    Some(take(record(&node)))
}

/// What some programs write where JSON knows no number.
const NO_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The record with what JSON does not know replaced: bytes that are no text, halves of surrogate pairs, and numbers that are none.
/// None where nothing is to be replaced.
fn mended(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut replaced = matches!(text, Cow::Owned(_));
    let (mut rest, mut string) = (&*text, false);
    while let Some(at) = rest.bytes().position(|byte| match byte {
        b'"' | b'\\' => true,
        b'N' | b'I' | b'-' => !string,
        _ => false,
    }) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let (shown, length) = match found.as_bytes()[0] {
            b'\\' => escape(found),
            b'"' => {
                string = !string;
                ("\"", 1)
            }
            _ => match NO_NUMBERS.iter().find(|word| found.starts_with(**word)) {
                Some(word) => ("null", word.len()),
                None => (&found[..1], 1),
            },
        };
        replaced |= shown != &found[..length];
        out.push_str(shown);
        rest = &found[length..];
    }
    out.push_str(rest);
    replaced.then_some(out)
}

/// What stands for the escape that a text begins with, and its length.
fn escape(text: &str) -> (&str, usize) {
    // A backslash and the next character belong together, so that `\\u` is not taken for an escape.
    let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
    let unit = |from: usize| -> Option<u32> {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    match unit(0) {
        Some(0xd800..=0xdbff) if unit(6).is_some_and(|low| (0xdc00..=0xdfff).contains(&low)) => {
            (&text[..12], 12)
        }
        Some(0xd800..=0xdfff) => ("\u{fffd}", 6),
        _ => (&text[..length], length),
    }
}

fn record<'a>(node: &'a Node<'_>) -> Record<'a> {
    let readers = [claude::read, pi::read, codex::read, plain::read];
    let found = readers.into_iter().find_map(|read| read(node));
    let mut record = found.unwrap_or_default();
    let inner = node.message.0.as_deref();
    record.at = moment(&node.at).or_else(|| moment(&inner?.at));
    record
}

/// A moment as RFC 3339, or as seconds or milliseconds since 1970.
fn moment(text: &node::Text<'_>) -> Option<Timestamp> {
    let text = text.get().trim();
    if let Ok(number) = text.split('.').next().unwrap_or_default().parse::<i64>() {
        return Timestamp::from_clock(number);
    }
    let moment = text.parse::<jiff::Timestamp>().ok()?;
    Some(Timestamp(moment.as_millisecond()))
}

/// A hash of an id, the same on every machine.
pub(crate) fn hash(text: &str) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = text.len() as u64 ^ 0x51_7c_c1_b7_27_22_0a_95;
    let mut chunks = text.as_bytes().chunks_exact(8);
    let mut mix = |bytes: [u8; 8]| {
        let product = u128::from(state ^ u64::from_le_bytes(bytes)) * u128::from(PRIME);
        #[allow(clippy::cast_possible_truncation, reason = "both halves are used")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        state = (low ^ high).wrapping_add(PRIME);
    };
    for chunk in &mut chunks {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(chunk);
        mix(bytes);
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(last);
    state ^ (state >> 29)
}

fn hashed(text: &node::Text<'_>) -> Option<u64> {
    text.0.as_deref().map(hash)
}
