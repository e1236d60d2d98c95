//! Import of memories from JSON exports of other programs.
//!
//! Each memory is converted to Markdown. docs/import.md lists the fields that are read for each program. This module
//! does not write files.

mod programs;
mod section;
#[cfg(test)]
mod tests;

pub use section::{MemorySection, hashes, section};

use crate::json::Json;
use hippo_types::time::Timestamp;
use hippo_types::transcript::ExportProgram;

/// Maximum size of an imported memory in bytes. The daemon might not index a larger file.
pub const LARGEST: usize = 4 << 20;
/// Maximum number of JSON values that are kept from one export. Further values are skipped.
const VALUES: usize = 8_000_000;

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
    /// Further details, such as tags, with their names.
    pub details: Vec<(&'static str, String)>,
}

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportResult {
    /// Memories in the order of the source.
    pub memories: Vec<Memory>,
    /// Descriptions of the records that were skipped, each with its line or number.
    pub problems: Vec<String>,
    /// Number of records that are not memories, such as sessions and prompts.
    pub left_out: u64,
}

/// Reads the memories of an export. The export is a list of records, an object with lists of records, or one record per
/// line.
///
/// # Errors
/// Returns a description of the problem if the file is not an export of `program`.
pub fn export(program: ExportProgram, bytes: &[u8]) -> Result<ImportResult, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let groups: &[&str] = match program {
        ExportProgram::ClaudeMem => &["observations", "summaries", "sessions", "prompts"],
        ExportProgram::Mem0 => &["results", "memories"],
    };
    let mut found = ImportResult::default();
    let document = match Json::parse_any(bytes, VALUES) {
        Ok(document) => document,
        Err(_) if has_record_lines(bytes) => {
            let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
            for (line, text) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
                let memory = match Json::parse(text) {
                    Ok(record) => memory(program, "", &record),
                    Err(error) => Err(format!("the record is damaged: {}", reason(&error))),
                };
                found.add(memory, &format!("line {line}"));
            }
            return Ok(found);
        }
        Err(_) if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") => {
            return Err("it is UTF-16: save it as UTF-8".to_owned());
        }
        Err(error) => {
            return Err(format!(
                "line {}: it is not JSON: {}",
                error.line(),
                reason(&error)
            ));
        }
    };
    let lists: Vec<(&str, &[Json<'_>])> = match &document {
        Json::List(items) => vec![("", items)],
        other => {
            let list = |group: &&'static str| Some((*group, other.list(&[group])?));
            groups.iter().filter_map(list).collect()
        }
    };
    if lists.is_empty() {
        let wanted = groups.join("\", \"");
        return Err(format!(
            "it has no list of records, neither at the top nor under \"{wanted}\""
        ));
    }
    for (group, items) in lists {
        for (number, record) in (1_u64..).zip(items) {
            let place = match group {
                "" => format!("record {number}"),
                group => format!("record {number} of {group:?}"),
            };
            found.add(memory(program, group, record), &place);
        }
    }
    Ok(found)
}

/// Returns true if the first line with content is a complete JSON object.
fn has_record_lines(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| Json::parse(line).is_ok())
}

/// Returns the text of a JSON error, without line and column.
fn reason(error: &serde_json::Error) -> String {
    let what = error.to_string();
    what.split(" at line ").next().unwrap_or(&what).to_owned()
}

/// Converts a record to a memory. Returns `None` for a session or a prompt.
fn memory(program: ExportProgram, group: &str, record: &Json<'_>) -> Result<Option<Memory>, String> {
    if !matches!(record, Json::Object(_)) {
        return Err("it is not an object".to_owned());
    }
    if matches!(group, "sessions" | "prompts") {
        return Ok(None);
    }
    let memory = match program {
        ExportProgram::ClaudeMem => programs::claude_mem(group, record)?,
        ExportProgram::Mem0 => programs::mem0(record)?,
    };
    let details: usize = memory.details.iter().map(|(_, value)| value.len()).sum();
    if memory.text.len() + memory.title.as_ref().map_or(0, String::len) + details > LARGEST {
        let most = LARGEST >> 20;
        return Err(format!(
            "it is larger than {most} MiB: split the record, or put the text into files of the workspace"
        ));
    }
    Ok(Some(Memory {
        id: record.text("id").to_owned(),
        created: record
            .time(&["created_at_epoch"])
            .or_else(|| record.time(&["created_at"])),
        ..memory
    }))
}

impl ImportResult {
    fn add(&mut self, memory: Result<Option<Memory>, String>, place: &str) {
        match memory {
            Ok(Some(memory)) => self.memories.push(memory),
            Ok(None) => self.left_out += 1,
            Err(what) => self.problems.push(format!("{place}: {what}")),
        }
    }
}
