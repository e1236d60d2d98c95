//! Readers for the records of the supported transcript formats.

mod args;
mod blocks;
mod claude;
mod codex;
mod node;
mod pi;
mod plain;

use std::borrow::Cow;

use super::message::Message;
use blocks::ContentBlocks;
use hippo_types::time::Timestamp;
use hippo_types::transcript::TranscriptFormat;
use node::JsonNode;

/// Position of a record in the tree of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordLink {
    /// Id of the record, hashed.
    pub id: Option<u64>,
    /// Id of the parent record, hashed.
    pub parent: Option<u64>,
    /// Of a compaction: id of the first entry that it kept, hashed.
    pub first_kept: Option<u64>,
    /// The record is a compaction: its summary replaces the records before it.
    pub compaction: bool,
    /// The record is a prompt that a person wrote.
    pub prompt: bool,
}

/// Contents of one record.
#[derive(Debug, Default)]
pub struct TranscriptRecord<'a> {
    /// Detected format; `None` for an unknown record.
    pub format: Option<TranscriptFormat>,
    /// Messages of the record.
    pub messages: Vec<Message<'a>>,
    /// Position in the tree of the session.
    pub link: RecordLink,
    /// The summary of an earlier compaction.
    pub prior: Option<String>,
    /// With [`TranscriptRecord::prior`]: the summary replaces everything read so far.
    pub folds: bool,
    /// Tool calls: the hashed id of each, and the name of the tool.
    pub called: Vec<(u64, String)>,
    /// Time of writing, if the record states it.
    pub at: Option<Timestamp>,
    /// The record states that the session begins with a copy of another one.
    pub forked: bool,
}

/// Parses a record and passes it to `consume`. Returns `None` if the bytes are not a JSON object.
pub fn parse_record<T>(bytes: &[u8], consume: impl FnOnce(TranscriptRecord<'_>) -> T) -> Option<T> {
    if codex::is_noise(bytes) {
        return Some(consume(TranscriptRecord {
            format: Some(TranscriptFormat::Codex),
            ..TranscriptRecord::default()
        }));
    }
    if let Ok(node) = JsonNode::parse(bytes) {
        return Some(consume(convert_node(&node)));
    }
    // Repair an invalid byte, an unpaired surrogate or a `NaN` rather than lose the message.
    let text = repair(bytes)?;
    let node = JsonNode::parse(text.as_bytes()).ok()?;
    Some(consume(convert_node(&node)))
}

/// Numbers that some programs write although JSON has no literal for them.
const INVALID_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Replaces what JSON does not allow: invalid UTF-8, unpaired surrogates, and the literals in [`INVALID_NUMBERS`].
/// Returns `None` if nothing had to be replaced.
fn repair(bytes: &[u8]) -> Option<String> {
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
            b'\\' => repair_escape(found),
            b'"' => {
                string = !string;
                ("\"", 1)
            }
            _ => match INVALID_NUMBERS.iter().find(|word| found.starts_with(**word)) {
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

/// Returns the replacement of the escape sequence at the start of a text, and the length of the sequence.
fn repair_escape(text: &str) -> (&str, usize) {
    // Skip the backslash together with the next character, so that `\\u` is not mistaken for an escape.
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

fn convert_node<'a>(node: &'a JsonNode<'_>) -> TranscriptRecord<'a> {
    let readers = [claude::parse, pi::parse, codex::parse, plain::parse];
    let found = readers.into_iter().find_map(|parse| parse(node));
    let mut record = found.unwrap_or_default();
    let inner = node.message.0.as_deref();
    record.at = parse_time(&node.at).or_else(|| parse_time(&inner?.at));
    record
}

/// Parses a time as RFC 3339, or as seconds or milliseconds since 1970.
fn parse_time(text: &node::LenientText<'_>) -> Option<Timestamp> {
    let text = text.get().trim();
    if let Ok(number) = text.split('.').next().unwrap_or_default().parse::<i64>() {
        return Timestamp::from_clock(number);
    }
    let moment = text.parse::<jiff::Timestamp>().ok()?;
    Some(Timestamp(moment.as_millisecond()))
}

/// Hashes an id; the result is the same on every machine.
pub(crate) fn hash_text(text: &str) -> u64 {
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

fn hash_optional(text: &node::LenientText<'_>) -> Option<u64> {
    text.0.as_deref().map(hash_text)
}
