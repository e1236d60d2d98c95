//! Readers for the records of the supported transcript formats.

mod blocks;
mod claude;
mod codex;
mod pi;
mod plain;

use std::hash::{DefaultHasher, Hasher as _};

use super::message::Message;
use super::split::{LISTS, Splitter, TranscriptPiece};
use crate::json::Json;
use blocks::ContentBlocks;
pub(crate) use blocks::RecordedCall;
use hippo_types::time::Timestamp;
use hippo_types::transcript::{TranscriptFormat, TranscriptProblem};

/// Position of a record in the tree of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordLink {
    /// Id of the record, hashed.
    pub id: Option<u64>,
    /// Id of the parent record, hashed.
    pub parent: Option<u64>,
    /// Hash of the id of the first entry that a compaction kept.
    pub first_kept: Option<u64>,
    /// True if the record is a compaction, whose summary replaces the records before it.
    pub compaction: bool,
    /// True if the record is a prompt that a person wrote.
    pub prompt: bool,
}

/// Contents of one record.
#[derive(Debug, Default)]
pub struct TranscriptRecord<'a> {
    /// Detected format; `None` for an unknown record.
    pub format: Option<TranscriptFormat>,
    /// Messages of the record.
    pub messages: Vec<Message<'a>>,
    /// Position of the record in the tree of the session.
    pub link: RecordLink,
    /// The summary of an earlier compaction.
    pub prior: Option<String>,
    /// True if the summary in [`TranscriptRecord::prior`] replaces all earlier records.
    pub folds: bool,
    /// Tool calls of the record. All of them belong to the same message.
    pub called: Vec<RecordedCall>,
    /// Time at which the record was written, if the record states it.
    pub at: Option<Timestamp>,
    /// True if the record states that the session begins with a copy of another session.
    pub forked: bool,
}

impl TranscriptRecord<'_> {
    fn new(format: TranscriptFormat) -> Self {
        Self {
            format: Some(format),
            ..Self::default()
        }
    }
}

/// Maximum number of JSON values that are kept from one document. Further values are skipped.
const DOCUMENT_VALUES: usize = 2_000_000;
/// Maximum number of problems that are listed. Further problems are only counted.
const PROBLEMS: usize = 50;

/// Reader of transcript records, with a list of the records that it could not read.
#[derive(Debug, Default)]
pub struct RecordReader {
    /// Format of the records that are read. `Auto` reads all formats, and detects the format of each record.
    wanted: TranscriptFormat,
    splitter: Splitter,
    /// True if a record contained a list of messages.
    has_list: bool,
    /// The detected format.
    pub format: Option<TranscriptFormat>,
    /// Number of unreadable records.
    pub malformed: u64,
    /// Descriptions of the first unreadable records.
    pub problems: Vec<TranscriptProblem>,
}

/// Receiver of the records in order. It gets `None` for a record that cannot be read or that has another format.
type RecordSink<'e> = &'e mut dyn FnMut(Option<TranscriptRecord<'_>>);

impl RecordReader {
    /// Creates a reader for records of this format.
    pub fn new(wanted: TranscriptFormat) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Reads the records that are complete so far. Returns true if the input does not consist of one record per line.
    pub fn settle(&mut self, each: RecordSink<'_>) -> bool {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.settle(&mut |piece| self.read(piece, each));
        self.splitter = splitter;
        self.splitter.is_document() || self.has_list
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8], each: RecordSink<'_>) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(bytes, &mut |piece| self.read(piece, each));
        self.splitter = splitter;
    }

    /// Reads the last record, which ends at the end of the input.
    pub fn finish(&mut self, each: RecordSink<'_>) {
        let splitter = std::mem::take(&mut self.splitter);
        splitter.finish(&mut |piece| self.read(piece, each));
    }

    fn read(&mut self, piece: TranscriptPiece<'_>, each: RecordSink<'_>) {
        match piece {
            TranscriptPiece::Line(line, bytes) => {
                // Repair an invalid byte or an unpaired surrogate, so that the message is not lost.
                let repaired;
                let mut node = Json::parse(bytes);
                if node.is_err()
                    && let Some(text) = repair(bytes)
                {
                    repaired = text;
                    node = Json::parse(repaired.as_bytes());
                }
                match node {
                    Ok(node) => self.add(line, &node, each),
                    Err(_) => {
                        each(None);
                        self.report(line, "not a JSON object");
                    }
                }
            }
            TranscriptPiece::Document(bytes) => match Json::parse_any(bytes, DOCUMENT_VALUES) {
                Ok(Json::List(items)) => self.add_all(&items, each),
                Ok(node) => self.add(1, &node, each),
                Err(error) => self.report(error.line() as u64, "the document is damaged"),
            },
            TranscriptPiece::TooLong(line, what) => self.report(line, what),
        }
    }

    fn add_all(&mut self, items: &[Json<'_>], each: RecordSink<'_>) {
        for (number, item) in (1..).zip(items) {
            self.add(number, item, each);
        }
    }

    /// Passes a record to `each`. If the record contains a list of messages, passes each message instead.
    fn add(&mut self, line: u64, node: &Json<'_>, each: RecordSink<'_>) {
        let record = convert_node(node);
        if record.format.is_none()
            && let Some(items) = node.list(&LISTS)
        {
            self.has_list = true;
            return self.add_all(items, each);
        }
        let format = record.format;
        let fits = |format| self.wanted == TranscriptFormat::Auto || self.wanted == format;
        let fits = format.is_some_and(fits);
        self.format = self.format.or(format.filter(|_| fits));
        each(Some(record).filter(|_| fits));
        if !fits {
            self.report(line, "not a record of the expected format");
        }
    }

    fn report(&mut self, line: u64, what: &'static str) {
        self.malformed += 1;
        if self.problems.len() < PROBLEMS {
            self.problems.push(TranscriptProblem {
                line,
                what: what.into(),
            });
        }
    }
}

/// Replaces what JSON does not allow: invalid UTF-8 and unpaired surrogates. Returns `None` if nothing had to be
/// replaced.
fn repair(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (before, found) = rest.split_at(at);
        let (shown, length) = repair_escape(found);
        out.push_str(before);
        out.push_str(shown);
        rest = &found[length..];
    }
    out.push_str(rest);
    (out.as_bytes() != bytes).then_some(out)
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

fn convert_node<'a>(node: &'a Json<'_>) -> TranscriptRecord<'a> {
    let readers = [claude::parse, pi::parse, codex::parse, plain::parse];
    let found = readers.into_iter().find_map(|parse| parse(node));
    let mut record = found.unwrap_or_default();
    let time = |node: &Json<'_>| node.time(&["timestamp", "ts", "created_at"]);
    record.at = time(node).or_else(|| time(node.object("message")?));
    record
}

/// Hashes an id or a word, for comparisons within one transcript.
pub(crate) fn hash_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

fn hash_optional(text: Option<&str>) -> Option<u64> {
    text.map(hash_text)
}
