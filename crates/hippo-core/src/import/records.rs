//! Which records does a JSON export hold, on which lines do they begin, and which of them are damaged?
//!
//! Each record is cut out and read by itself: one that is damaged costs no other one. A document that ends too early gives what is whole.

mod cut;

use serde::de::IgnoredAny;

use super::{Fields, Trouble, line_of};
use crate::text::start;
use cut::{Cutter, Piece};

/// Bytes of a name in the document that are told.
const NAME: usize = 40;

/// One record.
#[derive(Debug)]
pub(super) struct Record<'g> {
    /// The list that it stands in; empty in a list without a name, or on a line of its own.
    pub group: &'g str,
    /// Which one of its list, from 1; `None` where each has a line of its own.
    pub number: Option<u64>,
    /// Its first line, from 1.
    pub line: u32,
    /// What it says, or what is wrong with it.
    pub fields: Result<Fields, String>,
}

/// What a document holds.
#[derive(Debug, Default)]
pub(super) struct Records<'g> {
    pub records: Vec<Record<'g>>,
    /// What is wrong outside of the records.
    pub troubles: Vec<Trouble>,
}

/// Reads a list of records, an object with lists of them under names that are known, or a record on each line.
///
/// # Errors
/// It is none of them.
pub(super) fn read<'g>(bytes: &[u8], groups: &[&'g str]) -> Result<Records<'g>, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    begins_as_json(bytes)?;
    let whole: Result<IgnoredAny, _> = serde_json::from_slice(bytes);
    if whole.is_err() && is_lines(bytes) {
        return Ok(lines(bytes));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Trouble::at(line_of(bytes, error.valid_up_to()), "it is not UTF-8"))?;
    let mut found = Records::default();
    let mut cutter = Cutter::new(text, groups);
    let (mut counted, mut line, mut number, mut list) = (0, 1, 0, 0);
    while let Some(piece) = cutter.next_piece() {
        let Piece { group, start, end } = piece;
        line += line_of(&bytes[counted..], start - counted) - 1;
        counted = start;
        number = if list == cutter.lists { number + 1 } else { 1 };
        list = cutter.lists;
        found.records.push(Record {
            group,
            number: Some(number),
            line,
            fields: fields(&text[start..end]),
        });
    }
    if let Some(at) = cutter.cut_off_at() {
        let what = "the file ends in the middle of what begins here: it was cut off";
        found.troubles.push(Trouble::at(line_of(bytes, at), what));
    }
    if cutter.lists == 0 {
        return Err(whole.err().map_or_else(
            || no_list(groups, &cutter.names),
            |error| damaged(&error, "it is no JSON"),
        ));
    }
    let told = !found.troubles.is_empty() || found.records.iter().any(|record| record.fields.is_err());
    if let Err(error) = whole
        && !told
    {
        let trouble = damaged(&error, "outside of the records the JSON is damaged");
        if found.records.is_empty() {
            return Err(trouble);
        }
        found.troubles.push(trouble);
    }
    Ok(found)
}

fn begins_as_json(bytes: &[u8]) -> Result<(), Trouble> {
    let what = match bytes.trim_ascii_start() {
        [] => {
            let what = "it is empty".to_owned();
            return Err(Trouble { line: None, what });
        }
        [b'[' | b'{', ..] => return Ok(()),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16: save it as UTF-8",
        _ => "it is no JSON: neither a list nor an object begins here",
    };
    Err(Trouble::at(1, what))
}

fn no_list(groups: &[&str], names: &[&str]) -> Trouble {
    let wanted = groups.join("\", \"");
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{:?}", start(name, NAME)))
        .collect();
    let found = match names.join(", ") {
        found if found.is_empty() => String::new(),
        found => format!("; what is in it is {found}"),
    };
    let what =
        format!("there is no list of records in it: neither a list, nor one under \"{wanted}\"{found}");
    Trouble { line: None, what }
}

/// What serde says of the whole document, with its line.
fn damaged(error: &serde_json::Error, what: &str) -> Trouble {
    let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
    Trouble::at(line, format!("{what}: {}", without_place(error)))
}

/// The error without line and column: they are those of the piece that was read.
fn without_place(error: &serde_json::Error) -> String {
    let what = error.to_string();
    what.split(" at line ").next().unwrap_or(&what).to_owned()
}

fn fields(piece: &str) -> Result<Fields, String> {
    serde_json::from_str(piece).map_err(|error| match piece.bytes().next() {
        Some(b'[') if error.is_data() => "it is a list, and no object".to_owned(),
        Some(b'"') if error.is_data() => "it is a text, and no object".to_owned(),
        Some(b'{') => without_place(&error),
        _ if error.is_data() => "it is a value, and no object".to_owned(),
        _ => without_place(&error),
    })
}

/// Whether each line is a record: one of the first is an object by itself, and there are more.
fn is_lines(bytes: &[u8]) -> bool {
    let mut full = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let whole = |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<Fields>(line).is_ok();
    let first: Vec<&[u8]> = full.by_ref().take(20).collect();
    first.len() > 1 && first.iter().any(|line| whole(line))
}

fn lines<'g>(bytes: &[u8]) -> Records<'g> {
    let mut found = Records::default();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        found.records.push(Record {
            group: "",
            number: None,
            line: u32::try_from(number + 1).unwrap_or(u32::MAX),
            fields: serde_json::from_slice(line).map_err(|error| without_place(&error)),
        });
    }
    found
}
