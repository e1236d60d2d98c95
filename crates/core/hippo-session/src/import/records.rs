//! Records of a JSON export.

use super::ImportProblem;
use crate::json::Json;

/// Maximum number of JSON values of an export that are kept.
const VALUES: usize = 8_000_000;

/// A record.
#[derive(Debug)]
pub(super) struct ExportRecord<'r> {
    /// Name of the enclosing list; empty for an unnamed list or a JSON line.
    pub group: &'r str,
    /// Description of its place in a list: `record 3 of "results"`.
    pub place: String,
    /// Line of a JSON line, from 1.
    pub line: Option<u32>,
    pub json: Result<&'r Json<'r>, String>,
}

/// Reads a list of records, an object with lists of records under known names, or one record per line.
///
/// # Errors
/// Returns an error if the input has none of these forms, or if a document is damaged.
pub(super) fn read(
    bytes: &[u8],
    groups: &[&str],
    each: &mut dyn FnMut(ExportRecord<'_>),
) -> Result<(), ImportProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let problem = |line, what: String| ImportProblem { line, what };
    let refused = match bytes.trim_ascii_start() {
        [] => "it is empty",
        [b'[' | b'{', ..] => "",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the file is UTF-16: save it as UTF-8",
        _ => "it is not JSON: no list or object begins here",
    };
    if !refused.is_empty() {
        return Err(problem(None, refused.to_owned()));
    }
    let document = match Json::parse_any(bytes, VALUES) {
        Ok(document) => document,
        Err(_) if read_lines(bytes, each) => return Ok(()),
        Err(error) => {
            let line = u32::try_from(error.line()).ok();
            return Err(problem(line, format!("it is not JSON: {}", reason(&error))));
        }
    };
    let lists: Vec<(&str, &Json<'_>)> = match &document {
        Json::Object(fields) => fields.iter().map(|(name, value)| (&**name, value)).collect(),
        list => vec![("", list)],
    };
    let known = |(name, value): &(&str, &Json<'_>)| {
        matches!(value, Json::List(_)) && (name.is_empty() || groups.contains(name))
    };
    let lists: Vec<(&str, &Json<'_>)> = lists.into_iter().filter(known).collect();
    if lists.is_empty() {
        let wanted = groups.join("\", \"");
        let what = format!("it has no list of records, neither at the top nor under \"{wanted}\"");
        return Err(problem(None, what));
    }
    for (group, list) in lists {
        let Json::List(items) = list else { continue };
        for (number, json) in (1..).zip(items) {
            let number: u32 = number;
            each(ExportRecord {
                group,
                place: match group {
                    "" => format!("record {number}"),
                    group => format!("record {number} of {group:?}"),
                },
                line: None,
                json: Ok(json),
            });
        }
    }
    Ok(())
}

/// Returns an error without line and column.
fn reason(error: &serde_json::Error) -> String {
    let what = error.to_string();
    what.split(" at line ").next().unwrap_or(&what).to_owned()
}

/// Reads one record per line. Returns false if the first line is not a record.
fn read_lines(bytes: &[u8], each: &mut dyn FnMut(ExportRecord<'_>)) -> bool {
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    for (count, (line, bytes)) in lines
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .enumerate()
    {
        let json = Json::parse(bytes);
        if count == 0 && json.is_err() {
            return false;
        }
        each(ExportRecord {
            group: "",
            place: String::new(),
            line: Some(line),
            json: json.as_ref().map_err(reason),
        });
    }
    true
}
