//! Import of memories from JSON exports of other programs.
//!
//! Each memory is converted to Markdown. docs/import.md lists the fields that are read for each program. This module
//! does not write files.

mod claude_mem;
mod mem0;
mod records;
mod section;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Map, Value};

pub use section::{MemorySection, hashes, section};

use hippo_redact::without_secrets;
use hippo_text::text::start;
use hippo_types::time::Timestamp;
use hippo_types::transcript::ExportProgram;

/// Maximum size of a memory in bytes; a larger file might not be indexed.
pub const LARGEST: usize = 4 << 20;
/// Maximum bytes of an id in a message.
const NAMED: usize = 60;

/// The fields of one record of an export.
type Fields = Map<String, Value>;

impl Memory {
    /// Returns the total bytes of the texts.
    fn bytes(&self) -> usize {
        let title = self.title.as_ref().map_or(0, String::len);
        let tags: usize = self.tags.iter().map(String::len).sum();
        let details: usize = self.details.iter().map(|(_, said)| said.len()).sum();
        title + self.text.len() + tags + details
    }
}

/// A memory of another program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// Id in the other program; empty if there is none.
    pub id: String,
    /// Kind in the other program.
    pub kind: String,
    /// Title, if the program stores one.
    pub title: Option<String>,
    /// Text in Markdown.
    pub text: String,
    /// Time of creation.
    pub created: Option<Timestamp>,
    /// Type of the topic: `project` or `user`.
    pub topic_type: Option<&'static str>,
    /// Tags.
    pub tags: Vec<String>,
    /// Further details with their names.
    pub details: Vec<(&'static str, String)>,
}

/// A problem in an export and its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// Line of the file, from 1; `None` if unknown.
    pub line: Option<u32>,
    /// Description of the problem.
    pub what: String,
}

impl ImportProblem {
    fn at(line: u32, what: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            what: what.into(),
        }
    }
}

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Memories in the order of the source.
    pub memories: Vec<Memory>,
    /// Damaged parts that were skipped.
    pub troubles: Vec<ImportProblem>,
    /// Number of records that are not memories: sessions, prompts, deleted records.
    pub left_out: u64,
}

/// Returns the memories of an export: a JSON document, or a JSON object per line.
///
/// # Errors
/// Returns an error if the file is not an export of this program.
pub fn export(program: ExportProgram, bytes: &[u8]) -> Result<ImportResult, ImportProblem> {
    let groups: &[&str] = match program {
        ExportProgram::ClaudeMem => &["observations", "summaries", "sessions", "prompts"],
        ExportProgram::Mem0 => &["results", "memories"],
    };
    let records = records::read(bytes, groups)?;
    let mut found = ImportResult::default();
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
                found.troubles.push(ImportProblem::at(record.line, what));
                continue;
            }
        };
        let memory = match program {
            ExportProgram::ClaudeMem => claude_mem::memory(record.group, &fields),
            ExportProgram::Mem0 => mem0::memory(&fields).map(Some),
        };
        let named = |what| named(&place, &id(&fields, "id"), what);
        found.take(memory, |what| ImportProblem::at(record.line, named(what)));
    }
    found.troubles.extend(records.ends);
    found.troubles.extend(records.damage.filter(|_| !explained));
    Ok(found)
}

impl ImportResult {
    /// Adds a memory, unless the record is not a memory or is too large.
    fn take(
        &mut self,
        memory: Result<Option<Memory>, String>,
        trouble: impl FnOnce(String) -> ImportProblem,
    ) {
        match memory.and_then(of_a_size) {
            Ok(Some(memory)) => self.memories.push(memory),
            Ok(None) => self.left_out += 1,
            Err(what) => self.troubles.push(trouble(what)),
        }
    }
}

/// Returns the memory, or an error if it is too large for a file.
fn of_a_size(memory: Option<Memory>) -> Result<Option<Memory>, String> {
    let bytes = memory.as_ref().map_or(0, Memory::bytes);
    if bytes <= LARGEST {
        return Ok(memory);
    }
    Err(format!(
        "it has {} MiB of text, and the maximum is {} MiB: split the record, or put the text into files of \
         the workspace",
        bytes.div_ceil(1 << 20),
        LARGEST >> 20
    ))
}

/// Prefixes an error with the location of the record and its id, if any.
fn named(place: &str, id: &str, what: String) -> String {
    let id = without_secrets(id);
    match (place, start(&id, NAMED)) {
        ("", "") => what,
        ("", id) => format!("id {id:?}: {what}"),
        (place, "") => format!("{place}: {what}"),
        (place, id) => format!("{place} (id {id:?}): {what}"),
    }
}

/// Returns the line of a byte offset, from 1.
fn line_of(bytes: &[u8], at: usize) -> u32 {
    let before = bytes.get(..at).unwrap_or(bytes);
    let breaks = memchr::memchr_iter(b'\n', before).count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}

/// Returns a field with non-blank text.
fn text<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    let text = fields.get(name)?.as_str()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Returns a field with the id of a record: a text or a number.
fn id(fields: &Fields, name: &str) -> String {
    match fields.get(name) {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        _ => String::new(),
    }
}

/// Returns a field with a list of words: a list, a JSON list in a text, or one word.
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

/// Parses a time: RFC 3339, a date, a date and time without a zone (UTC), or seconds or milliseconds since 1970.
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
