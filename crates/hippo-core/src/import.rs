//! JSON exports of other memory programs: their memories, and the markdown that each becomes.
//!
//! docs/import.md says which fields of which program are read. Nothing here writes.

mod claude_mem;
mod mem0;
mod records;
mod section;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Map, Value};

pub use section::{Section, hashes, section};

use crate::redact::without_secrets;
use crate::text::start;
use crate::time::Timestamp;

/// Bytes that a memory says at most: a file with a larger one might not be indexed.
pub const LARGEST: usize = 4 << 20;
/// Bytes of an id that are told where a record is named.
const NAMED: usize = 60;

/// The fields of one record of an export.
type Fields = Map<String, Value>;

/// A program whose memories can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// claude-mem: the JSON that its script exports.
    ClaudeMem,
    /// mem0: the JSON of `get_all`.
    Mem0,
}

impl Memory {
    /// Bytes of all that it says.
    fn bytes(&self) -> usize {
        let title = self.title.as_ref().map_or(0, String::len);
        let tags: usize = self.tags.iter().map(String::len).sum();
        let details: usize = self.details.iter().map(|(_, said)| said.len()).sum();
        title + self.text.len() + tags + details
    }
}

impl Program {
    /// As people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeMem => "claude-mem",
            Self::Mem0 => "mem0",
        }
    }
}

/// One memory of another program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// By which the program knows it; empty where it has no id.
    pub id: String,
    /// What the program calls its kind.
    pub kind: String,
    /// What it is about, where the program says that.
    pub title: Option<String>,
    /// What it says, markdown.
    pub text: String,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The type of the topic: `project` or `user`.
    pub topic_type: Option<&'static str>,
    /// Words that it is known by.
    pub tags: Vec<String>,
    /// What else is worth a line, with its name.
    pub details: Vec<(&'static str, String)>,
}

/// What could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// Line of the file, from 1; `None` where it has none.
    pub line: Option<u32>,
    /// What is wrong.
    pub what: String,
}

impl Trouble {
    fn at(line: u32, what: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            what: what.into(),
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The memories, in the order of the source.
    pub memories: Vec<Memory>,
    /// What was passed over because it is damaged.
    pub troubles: Vec<Trouble>,
    /// Records that are no memories: sessions, prompts, what was deleted.
    pub left_out: u64,
}

/// The memories of an export: a JSON document, or a JSON object on each line.
///
/// # Errors
/// It is no export of this program at all; nothing of it can be taken.
pub fn export(program: Program, bytes: &[u8]) -> Result<Found, Trouble> {
    let groups: &[&str] = match program {
        Program::ClaudeMem => &["observations", "summaries", "sessions", "prompts"],
        Program::Mem0 => &["results", "memories"],
    };
    let records = records::read(bytes, groups)?;
    let mut found = Found::default();
    let mut explained = false;
    for record in records.records {
        let place = match (record.number, record.group) {
            (None, _) => String::new(),
            (Some(number), "") => format!("record {number}"),
            (Some(number), group) => format!("record {number} of {group:?}"),
        };
        let fields = match record.fields() {
            Ok(fields) => fields,
            Err(what) => {
                explained = true;
                let place = Some(place).filter(|place| !place.is_empty());
                let place = place.unwrap_or_else(|| "the record that begins here".to_owned());
                let what = format!("{place} is damaged: {what}");
                found.troubles.push(Trouble::at(record.line, what));
                continue;
            }
        };
        let memory = match program {
            Program::ClaudeMem => claude_mem::memory(record.group, &fields),
            Program::Mem0 => mem0::memory(&fields).map(Some),
        };
        let named = |what| named(&place, &id(&fields, "id"), what);
        found.take(memory, |what| Trouble::at(record.line, named(what)));
    }
    found.troubles.extend(records.ends);
    found.troubles.extend(records.damage.filter(|_| !explained));
    Ok(found)
}

impl Found {
    /// Takes a memory, unless it is none or too large.
    fn take(&mut self, memory: Result<Option<Memory>, String>, trouble: impl FnOnce(String) -> Trouble) {
        match memory.and_then(of_a_size) {
            Ok(Some(memory)) => self.memories.push(memory),
            Ok(None) => self.left_out += 1,
            Err(what) => self.troubles.push(trouble(what)),
        }
    }
}

/// A memory that a file has room for.
fn of_a_size(memory: Option<Memory>) -> Result<Option<Memory>, String> {
    let bytes = memory.as_ref().map_or(0, Memory::bytes);
    if bytes <= LARGEST {
        return Ok(memory);
    }
    Err(format!(
        "it says {} MiB, and a memory has {} at most: cut it into parts, or put it into files of the workspace",
        bytes.div_ceil(1 << 20),
        LARGEST >> 20
    ))
}

/// What is wrong with a record: which one it is comes first, and its id where it has one.
fn named(place: &str, id: &str, what: String) -> String {
    let id = without_secrets(id);
    match (place, start(&id, NAMED)) {
        ("", "") => what,
        ("", id) => format!("id {id:?}: {what}"),
        (place, "") => format!("{place}: {what}"),
        (place, id) => format!("{place} (id {id:?}): {what}"),
    }
}

/// The line that a byte stands on, from 1.
fn line_of(bytes: &[u8], at: usize) -> u32 {
    let before = bytes.get(..at).unwrap_or(bytes);
    let breaks = memchr::memchr_iter(b'\n', before).count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}

/// A field that is a text with something in it.
fn text<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    let text = fields.get(name)?.as_str()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// A field that names a record: a text or a number.
fn id(fields: &Fields, name: &str) -> String {
    match fields.get(name) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// A field that is a list of words: a list, a list as JSON in a text, or one word.
fn words(fields: &Fields, name: &str) -> Vec<String> {
    let value = match fields.get(name) {
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Value::Array(items),
            _ => Value::from(vec![text.clone()]),
        },
        Some(value) => value.clone(),
        None => return Vec::new(),
    };
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let words = items.iter().filter_map(Value::as_str).map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A moment: RFC 3339, a day, a day with a time that has no zone (then it is UTC), or seconds or milliseconds since 1970.
fn moment(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::Number(number) => Timestamp::from_clock(number.as_i64()?),
        Value::String(text) => {
            let text = text.trim();
            if let Ok(moment) = text.parse::<jiff::Timestamp>() {
                return Some(Timestamp(moment.as_millisecond()));
            }
            let civil: jiff::civil::DateTime = text.parse().ok()?;
            let moment = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
            Some(Timestamp(moment.as_millisecond()))
        }
        _ => None,
    }
}
