//! Records of a JSON export, with line numbers and damage reports.
//!
//! Each record is located and parsed separately: a damaged record does not affect the others, and only one record at a
//! time is in memory as JSON values, which take many times the bytes of the text. The complete records of a truncated
//! document are still read.

mod cut;

use serde::de::IgnoredAny;

use super::{Fields, ImportProblem, LARGEST, line_of};
use cut::{Cutter, RecordPosition};
use hippo_text::text::start;

/// Maximum bytes of a document name in a message.
const NAME: usize = 40;

/// Maximum bytes of a record: the text of the largest memory, doubled.
pub(super) const LARGEST_RECORD: usize = 2 * LARGEST;
/// Maximum number of records of an export.
pub(super) const MOST_RECORDS: usize = 500_000;

/// A record.
#[derive(Debug)]
pub(super) struct ExportRecord<'r> {
    /// Name of the enclosing list; empty for an unnamed list or a JSON line.
    pub group: &'r str,
    /// Number in its list, from 1; `None` for a JSON line.
    pub number: Option<u64>,
    /// First line, from 1.
    pub line: u32,
    /// Text of the record.
    json: &'r [u8],
}

/// Content of a document.
#[derive(Debug, Default)]
pub(super) struct ExportRecords<'r> {
    pub records: Vec<ExportRecord<'r>>,
    /// Location where the records end early.
    pub ends: Option<ImportProblem>,
    /// Damage of the whole document, reported unless damaged records explain it.
    pub damage: Option<ImportProblem>,
}

impl<'r> ExportRecords<'r> {
    /// Adds a record, unless there are too many.
    fn add(&mut self, record: ExportRecord<'r>) -> bool {
        if self.records.len() == MOST_RECORDS {
            let what = format!("the file has more than {MOST_RECORDS} records: import the rest in parts");
            self.ends = Some(ImportProblem::at(record.line, what));
            return false;
        }
        self.records.push(record);
        true
    }
}

impl ExportRecord<'_> {
    /// Returns the fields.
    ///
    /// # Errors
    /// Returns a description of the problem if the record is too large or is not a JSON object.
    pub fn fields(&self) -> Result<Fields, String> {
        if self.json.len() > LARGEST_RECORD {
            return Err(format!(
                "it has {} MiB, and the maximum for a record is {} MiB: split the record",
                self.json.len().div_ceil(1 << 20),
                LARGEST_RECORD >> 20
            ));
        }
        serde_json::from_slice(self.json).map_err(|error| match self.json.first() {
            Some(b'[') if error.is_data() => "it is a list instead of an object".to_owned(),
            Some(b'"') if error.is_data() => "it is a string instead of an object".to_owned(),
            Some(b'{') => without_place(&error),
            _ if error.is_data() => "it is a value instead of an object".to_owned(),
            _ => without_place(&error),
        })
    }
}

/// Reads a list of records, an object with lists of records under known names, or one record per line.
///
/// # Errors
/// Returns an error if the input has none of these forms.
pub(super) fn read<'r>(bytes: &'r [u8], groups: &[&'r str]) -> Result<ExportRecords<'r>, ImportProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    begins_as_json(bytes)?;
    let whole: Result<IgnoredAny, _> = serde_json::from_slice(bytes);
    if whole.is_err() && is_lines(bytes) {
        return Ok(lines(bytes));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ImportProblem::at(line_of(bytes, error.valid_up_to()), "it is not UTF-8"))?;
    let mut found = ExportRecords::default();
    let mut cutter = Cutter::new(text, groups);
    let (mut counted, mut line, mut number, mut list) = (0, 1, 0, 0);
    while let Some(piece) = cutter.next_piece() {
        let RecordPosition { group, start, end } = piece;
        line += line_of(&bytes[counted..], start - counted) - 1;
        counted = start;
        number = if list == cutter.lists { number + 1 } else { 1 };
        list = cutter.lists;
        let json = &bytes[start..end];
        let number = Some(number);
        if !found.add(ExportRecord {
            group,
            number,
            line,
            json,
        }) {
            return Ok(found);
        }
    }
    if cutter.lists == 0 {
        return Err(whole.err().map_or_else(
            || no_list(groups, &cutter.names),
            |error| damaged(&error, "it is not JSON"),
        ));
    }
    if let Some(at) = cutter.cut_off_at() {
        let what = "the file ends inside this record: it was truncated";
        found.ends = Some(ImportProblem::at(line_of(bytes, at), what));
    } else if let Err(error) = whole {
        let trouble = damaged(&error, "the JSON outside the records is damaged");
        if found.records.is_empty() {
            return Err(trouble);
        }
        found.damage = Some(trouble);
    }
    Ok(found)
}

fn begins_as_json(bytes: &[u8]) -> Result<(), ImportProblem> {
    let what = match bytes.trim_ascii_start() {
        [] => {
            let what = "it is empty".to_owned();
            return Err(ImportProblem { line: None, what });
        }
        [b'[' | b'{', ..] => return Ok(()),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the file is UTF-16: save it as UTF-8",
        _ => "it is not JSON: no list or object begins here",
    };
    Err(ImportProblem::at(1, what))
}

fn no_list(groups: &[&str], names: &[&str]) -> ImportProblem {
    let wanted = groups.join("\", \"");
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{:?}", start(name, NAME)))
        .collect();
    let found = match names.join(", ") {
        found if found.is_empty() => String::new(),
        found => format!("; it contains {found}"),
    };
    let what = format!("it has no list of records, neither at the top nor under \"{wanted}\"{found}");
    ImportProblem { line: None, what }
}

/// Converts a serde error for the whole document, with its line.
fn damaged(error: &serde_json::Error, what: &str) -> ImportProblem {
    let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
    ImportProblem::at(line, format!("{what}: {}", without_place(error)))
}

/// Returns the error without line and column, which refer to the parsed piece.
fn without_place(error: &serde_json::Error) -> String {
    let what = error.to_string();
    what.split(" at line ").next().unwrap_or(&what).to_owned()
}

/// Returns true if each line is a record: one of the first lines is a complete object, and there are more lines.
fn is_lines(bytes: &[u8]) -> bool {
    let mut full = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let whole = |line: &[u8]| {
        line.starts_with(b"{")
            && line.len() <= LARGEST_RECORD
            && serde_json::from_slice::<Fields>(line).is_ok()
    };
    let first: Vec<&[u8]> = full.by_ref().take(20).collect();
    first.len() > 1 && first.iter().any(|line| whole(line))
}

fn lines(bytes: &[u8]) -> ExportRecords<'_> {
    let mut found = ExportRecords::default();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record = ExportRecord {
            group: "",
            number: None,
            line: u32::try_from(number + 1).unwrap_or(u32::MAX),
            json: line.trim_ascii(),
        };
        if !found.add(record) {
            break;
        }
    }
    found
}
