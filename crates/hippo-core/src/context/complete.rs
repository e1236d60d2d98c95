//! What is given for an entry: what was stored, its source as it is now, or the summary alone (v2 §7)?
//!
//! Stored content comes first, as it was captured, even where its source is another one by now: that is reported with both
//! hashes. The source comes second, the summary last.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

/// What is at hand. `Err` is why something is not, for people: `it was removed after 90 days`.
#[derive(Debug, Clone, Copy)]
pub struct AtHand<'a> {
    /// The content as it was stored.
    pub stored: Result<&'a [u8], &'a str>,
    /// What the source gives now.
    pub source: Result<&'a [u8], &'a str>,
    /// Hash of the content as it was captured, see [`hash_of`]; `None`: it was not kept.
    pub stored_hash: Option<&'a str>,
    /// The summary of the entry; may be empty.
    pub summary: &'a str,
    /// Its key data.
    pub key_data: Option<&'a Map<String, Value>>,
}

/// How much of an entry is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All of a content.
    Full,
    /// Summary and key data.
    Partial,
    /// Nothing.
    Unavailable,
}

/// Where what is given comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// What was stored.
    Store,
    /// The source as it is now.
    Source,
    /// The entry itself.
    Summary,
}

/// What is given, and how far it can be relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion<'a> {
    /// How much is given.
    pub outcome: Outcome,
    /// Where it comes from; `None` with nothing.
    pub from: Option<Origin>,
    /// The content, when all of it is given.
    pub content: Option<&'a [u8]>,
    /// Why not all is given, or how it differs from what was captured, and what to do; `None`: it is what was captured.
    pub reason: Option<String>,
    /// The entry is not to be relied on for what its source says now: the source is another one, or cannot be had.
    pub stale: bool,
    /// Hash of the content as it was captured, where it is known.
    pub stored_hash: Option<String>,
    /// Hash of the source now, where it can be read.
    pub source_hash: Option<String>,
}

/// The name of a content: `b3:` and 64 hexadecimal digits.
#[must_use]
pub fn hash_of(content: &[u8]) -> String {
    format!("b3:{}", blake3::hash(content).to_hex())
}

/// What is given. Never a panic, never silence: whatever is missing, the reason says so.
#[must_use]
pub fn complete<'a>(at_hand: &AtHand<'a>) -> Completion<'a> {
    // Bytes that are not those that were captured are no stored content, whoever changed them.
    let stored = match (at_hand.stored, at_hand.stored_hash) {
        (Ok(content), Some(hash)) if hash_of(content) != hash => {
            Err("it is damaged: its bytes have another hash")
        }
        (stored, _) => stored,
    };
    let captured = match (at_hand.stored_hash, stored) {
        (Some(hash), _) => Some(hash.to_owned()),
        (None, Ok(content)) => Some(hash_of(content)),
        (None, Err(_)) => None,
    };
    let base = Completion {
        outcome: Outcome::Full,
        from: None,
        content: None,
        reason: None,
        stale: false,
        source_hash: at_hand.source.ok().map(hash_of),
        stored_hash: captured,
    };
    match (stored, at_hand.source) {
        (Ok(content), source) => {
            let changed = source.is_ok_and(|source| !holds(source, content));
            Completion {
                from: Some(Origin::Store),
                content: Some(content),
                reason: changed.then(|| "the source has changed since; this is what was captured".to_owned()),
                stale: changed,
                ..base
            }
        }
        (Err(why), Ok(content)) => from_source(content, why, base),
        (Err(why), Err(gone)) => from_summary(at_hand, why, gone, base),
    }
}

fn from_source<'a>(content: &'a [u8], why: &str, base: Completion<'a>) -> Completion<'a> {
    let same = base.stored_hash.is_some() && base.stored_hash == base.source_hash;
    let reason = match (&base.stored_hash, same) {
        (_, true) => None,
        (None, _) => Some(format!(
            "what was captured is not stored ({why}) and its hash is not known; this is the source as it is now"
        )),
        (Some(_), _) => Some(format!(
            "what was captured is not stored ({why}); the source has changed since, and this is what it says now"
        )),
    };
    Completion {
        from: Some(Origin::Source),
        content: Some(content),
        stale: base.stored_hash.is_some() && !same,
        reason,
        ..base
    }
}

fn from_summary<'a>(at_hand: &AtHand<'_>, why: &str, gone: &str, base: Completion<'a>) -> Completion<'a> {
    let says = !at_hand.summary.trim().is_empty() || at_hand.key_data.is_some_and(|data| !data.is_empty());
    let (outcome, from, what) = if says {
        (
            Outcome::Partial,
            Some(Origin::Summary),
            "only the summary is left",
        )
    } else {
        (Outcome::Unavailable, None, "nothing is left")
    };
    Completion {
        outcome,
        from,
        reason: Some(format!(
            "{what}; not stored: {why}; not at its source: {gone}; capture it again if more is needed"
        )),
        stale: true,
        ..base
    }
}

/// Whether a source still has what was captured from it: the same bytes, or a part of it as tools show one, with numbers
/// before the lines.
fn holds(source: &[u8], content: &[u8]) -> bool {
    if source == content {
        return true;
    }
    let found = |part: &[u8]| !part.is_empty() && memchr::memmem::find(source, part).is_some();
    found(content.trim_ascii()) || unnumbered(content).is_some_and(|text| found(text.trim_ascii()))
}

/// A text without the line numbers that `cat -n` and file tools write; `None` when a line has none.
fn unnumbered(content: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            out.extend_from_slice(line);
            continue;
        }
        let text = line.trim_ascii_start();
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = text.get(digits..).filter(|_| digits > 0)?;
        let mark = ["\t".as_bytes(), "→".as_bytes(), "|".as_bytes()];
        out.extend_from_slice(mark.iter().find_map(|mark| rest.strip_prefix(*mark))?);
    }
    Some(out)
}

/// The path of the file that a source is of, from its reference: a path, a `file:` address, or the arguments of a call as
/// JSON. `None` for sources that are no file.
#[must_use]
pub fn file_of<'r>(source_type: &str, reference: &'r str) -> Option<Cow<'r, str>> {
    const TYPES: [&str; 9] = [
        "file",
        "read",
        "file.read",
        "fs.read",
        "read_file",
        "readfile",
        "file_read",
        "memory",
        "memory_get",
    ];
    const NAMES: [&str; 5] = ["file_path", "path", "filePath", "filename", "file"];
    let lower = source_type.to_ascii_lowercase();
    if !TYPES.contains(&lower.as_str()) {
        return None;
    }
    let reference = reference.trim();
    if reference.starts_with('{') {
        let call: Map<String, Value> = serde_json::from_str(reference).ok()?;
        let path = NAMES.iter().find_map(|name| call.get(*name)?.as_str());
        return path
            .filter(|path| is_path(path))
            .map(|path| Cow::Owned(path.to_owned()));
    }
    let path = reference.strip_prefix("file://").unwrap_or(reference);
    is_path(path).then_some(Cow::Borrowed(path))
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4_096 && !text.contains(char::is_control)
}
