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

pub use section::{MemorySection, hashes, section};

use crate::json::Json;
use hippo_redact::without_secrets;
use hippo_text::text::start;
use hippo_types::time::Timestamp;
use hippo_types::transcript::ExportProgram;

/// Maximum size of a memory in bytes; a larger file might not be indexed.
pub const LARGEST: usize = 4 << 20;
/// Maximum bytes of an id in a message.
const NAMED: usize = 60;

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

impl Memory {
    /// Returns the total bytes of the texts.
    fn bytes(&self) -> usize {
        let title = self.title.as_ref().map_or(0, String::len);
        let tags: usize = self.tags.iter().map(String::len).sum();
        let details: usize = self.details.iter().map(|(_, said)| said.len()).sum();
        title + self.text.len() + tags + details
    }
}

/// A problem in an export and its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// Line of the file, from 1; `None` if unknown.
    pub line: Option<u32>,
    /// Description of the problem.
    pub what: String,
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
    let mut found = ImportResult::default();
    records::read(bytes, groups, &mut |record| {
        let memory = match (&record.json, program) {
            (Ok(fields @ Json::Object(_)), ExportProgram::ClaudeMem) => {
                claude_mem::memory(record.group, fields)
            }
            (Ok(fields @ Json::Object(_)), ExportProgram::Mem0) => mem0::memory(fields).map(Some),
            (Ok(_), _) => Err("it is not an object".to_owned()),
            (Err(reason), _) => Err(format!("the record is damaged: {reason}")),
        };
        match memory.and_then(of_a_size) {
            Ok(Some(memory)) => found.memories.push(memory),
            Ok(None) => found.left_out += 1,
            Err(what) => {
                let id = record.json.as_ref().map_or("", |fields| fields.text("id"));
                found.troubles.push(ImportProblem {
                    line: record.line,
                    what: named(&record.place, id, what),
                });
            }
        }
    })?;
    Ok(found)
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

/// Returns a field with non-blank text.
fn text<'f>(fields: &'f Json<'_>, name: &str) -> Option<&'f str> {
    fields.find_text(&[name]).filter(|text| !text.trim().is_empty())
}

/// Returns a field with a list of words: a list, a JSON list in a text, or one word.
fn words(fields: &Json<'_>, name: &str) -> Vec<String> {
    let words = |items: &[Json<'_>]| -> Vec<String> {
        let words = items.iter().filter(|item| matches!(item, Json::Text(_)));
        let words = words.map(|word| word.said().trim());
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    match fields.value(&[name]) {
        Some(Json::List(items)) => words(items),
        Some(one @ Json::Text(text)) => match Json::parse_any(text.as_bytes(), 1_000) {
            Ok(Json::List(items)) => words(&items),
            _ => words(std::slice::from_ref(one)),
        },
        _ => Vec::new(),
    }
}
