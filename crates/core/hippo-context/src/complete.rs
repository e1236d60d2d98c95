//! Retrieval of the content of an entry (v2 §7).
//!
//! The result is the first of these that is available: the stored content, the current source, the summary. The stored
//! content has priority, because it does not change when the source does. The result includes the hashes of the
//! captured content and of the current source.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use hippo_types::context::{FetchOrigin, FetchOutcome};
use serde_json::{Map, Value};

use crate::extract::parse_numbered;

/// Available sources of the content. An `Err` explains why a source is missing, for example: `it was removed after 90
/// days`.
#[derive(Debug, Clone, Copy)]
pub struct CompletionSources<'a> {
    /// The stored content.
    pub stored: Result<&'a [u8], &'a str>,
    /// The current content of the source.
    pub source: Result<&'a [u8], &'a str>,
    /// True if the entry describes the current source, so that the current source has priority over stored content.
    pub follows_source: bool,
    /// Hash of the captured content, see [`content_hash`]; `None` if it was not recorded.
    pub stored_hash: Option<&'a str>,
    /// Summary of the entry; may be empty.
    pub summary: &'a str,
    /// Key data of the entry.
    pub key_data: Option<&'a Map<String, Value>>,
}

/// Retrieved content, with its origin and completeness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion<'a> {
    /// Completeness of the result.
    pub outcome: FetchOutcome,
    /// Origin of the result; `None` if nothing is available.
    pub from: Option<FetchOrigin>,
    /// The full content, if available.
    pub content: Option<&'a [u8]>,
    /// Explains why the result is incomplete or may be outdated, and what to do about it; `None` if the result is
    /// complete and up to date.
    pub reason: Option<String>,
    /// True if the entry may be outdated: the source has changed or is unavailable.
    pub stale: bool,
    /// Hash of the captured content, if known.
    pub stored_hash: Option<String>,
    /// Hash of the current source, if readable.
    pub source_hash: Option<String>,
}

/// Returns the hash of content: `b3:` and 64 hexadecimal digits.
#[must_use]
pub fn content_hash(content: &[u8]) -> String {
    format!("b3:{}", blake3::hash(content).to_hex())
}

/// Retrieves the content from the best available source. If content is missing, the result contains the reason.
#[must_use]
pub fn complete<'a>(at_hand: &CompletionSources<'a>) -> Completion<'a> {
    // Stored content with a different hash is damaged and is not used.
    let stored = match (at_hand.stored, at_hand.stored_hash) {
        (Ok(content), Some(hash)) if content_hash(content) != hash => {
            Err("the stored copy is damaged: its hash does not match")
        }
        (stored, _) => stored,
    };
    let captured = match (at_hand.stored_hash, stored) {
        (Some(hash), _) => Some(hash.to_owned()),
        (None, Ok(content)) => Some(content_hash(content)),
        (None, Err(_)) => None,
    };
    let base = Completion {
        outcome: FetchOutcome::Full,
        from: None,
        content: None,
        reason: None,
        stale: false,
        source_hash: at_hand.source.ok().map(content_hash),
        stored_hash: captured,
    };
    match (stored, at_hand.source) {
        (Ok(content), Ok(source))
            if at_hand.follows_source && compare(source, content) != Some(CapturedPart::Whole) =>
        {
            let captured = base.stored_hash.as_deref().unwrap_or_default();
            Completion {
                from: Some(FetchOrigin::Source),
                content: Some(source),
                reason: Some(format!(
                    "the file has changed since the capture; the result is the current file; the captured content has \
                     the id {captured}"
                )),
                ..base
            }
        }
        (Ok(content), source) => {
            let changed = source.is_ok_and(|source| compare(source, content).is_none());
            Completion {
                from: Some(FetchOrigin::Store),
                content: Some(content),
                reason: changed.then(|| {
                    "the source has changed since the capture; the result is the captured content".to_owned()
                }),
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
    let stale = base.stored_hash.is_some() && !same;
    let source = match stale {
        true => "the source has changed since the capture",
        false => "its hash is not known, so the source may have changed",
    };
    let reason = format!("the captured content is not stored ({why}), and {source}");
    let reason = (!same).then(|| reason + "; the result is the current source");
    Completion {
        from: Some(FetchOrigin::Source),
        content: Some(content),
        stale,
        reason,
        ..base
    }
}

fn from_summary<'a>(
    at_hand: &CompletionSources<'_>,
    why: &str,
    gone: &str,
    base: Completion<'a>,
) -> Completion<'a> {
    let says = !at_hand.summary.trim().is_empty() || at_hand.key_data.is_some_and(|data| !data.is_empty());
    let (outcome, what) = match says {
        true => (FetchOutcome::Partial, "only the summary is available"),
        false => (FetchOutcome::Unavailable, "nothing is available"),
    };
    Completion {
        outcome,
        from: says.then_some(FetchOrigin::Summary),
        reason: Some(format!(
            "{what}, because the content is not stored ({why}) and the source cannot be read ({gone}); \
             if you need more, capture the content again"
        )),
        stale: true,
        ..base
    }
}

/// Part of a source that captured content contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturedPart {
    /// The whole source.
    Whole,
    /// An excerpt of the source.
    Excerpt,
}

/// Finds captured content in a source; returns `None` if the source does not contain the content. The content may have
/// line numbers, as file tools print them. Blank lines at its start and end do not count.
#[must_use]
pub fn compare(source: &[u8], content: &[u8]) -> Option<CapturedPart> {
    let part = |content: &[u8]| match content.trim_ascii() {
        text if text == source.trim_ascii() => Some(CapturedPart::Whole),
        text => {
            let is_found = !text.is_empty() && memchr::memmem::find(source, text).is_some();
            is_found.then_some(CapturedPart::Excerpt)
        }
    };
    part(content).or_else(|| part(strip_line_numbers(content)?.as_bytes()))
}

/// Removes the line numbers that `cat -n` and file tools write. Returns `None` if a line has no number.
fn strip_line_numbers(content: &[u8]) -> Option<String> {
    let lines = std::str::from_utf8(content).ok()?.split_inclusive('\n');
    let texts = lines.map(|line| match line.trim().is_empty() {
        true => Some(line),
        false => parse_numbered(line).map(|(_, text)| text),
    });
    texts.collect()
}

/// Extracts the file path from a reference: a path, a `file:` address, or the arguments of a call as JSON. Returns
/// `None` for sources that are not files.
#[must_use]
pub fn source_path<'r>(source_type: &str, reference: &'r str) -> Option<Cow<'r, str>> {
    #[rustfmt::skip] // keep the list compact
    const TYPES: [&str; 9] = [
        "file", "read", "file.read", "fs.read", "read_file", "readfile", "file_read", "memory", "memory_get",
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
        let path = path.filter(|path| is_path(path));
        return path.map(|path| path.to_owned().into());
    }
    let path = reference.strip_prefix("file://").unwrap_or(reference);
    is_path(path).then_some(Cow::Borrowed(path))
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() <= 4_096 && !text.contains(char::is_control)
}
