//! Which records does a JSON export hold, on which lines do they begin, and which of them are damaged?
//!
//! Each record is cut out and read by itself: one that is damaged costs no other one. A document that ends too early gives what is whole.

use super::{Fields, Trouble, line_of};

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'g> {
    /// The list that it stands in; empty in a list without a name, or on a line of its own.
    pub group: &'g str,
    /// Its first line, from 1.
    pub line: u32,
    /// What it says.
    pub fields: Fields,
}

/// What a document holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Records<'g> {
    pub records: Vec<Record<'g>>,
    pub troubles: Vec<Trouble>,
}

/// Reads a list of records, an object with lists of them under names that are known, or a record on each line.
///
/// # Errors
/// It is none of them.
pub(super) fn read<'g>(bytes: &[u8], groups: &[&'g str]) -> Result<Records<'g>, Trouble> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match bytes.trim_ascii_start().first() {
        None => {
            return Err(Trouble {
                line: None,
                what: "it is empty".to_owned(),
            });
        }
        Some(b'[' | b'{') => {}
        Some(_) => {
            return Err(Trouble::at(
                1,
                "it is no JSON: neither a list nor an object begins here",
            ));
        }
    }
    if is_lines(bytes) {
        return Ok(lines(bytes));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Trouble::at(line_of(bytes, error.valid_up_to()), "it is not UTF-8"))?;
    let mut found = Records::default();
    let mut cutter = Cutter::new(text, groups);
    let mut lists = false;
    let (mut counted, mut line) = (0, 1);
    while let Some(piece) = cutter.next_piece() {
        lists = true;
        let Piece { group, start, end } = piece;
        line += line_of(&bytes[counted..], start - counted) - 1;
        counted = start;
        match serde_json::from_str(&text[start..end]) {
            Ok(fields) => found.records.push(Record { group, line, fields }),
            Err(error) => found.troubles.push(Trouble::at(line, wrong(&error))),
        }
    }
    if cutter.depth > 0 || cutter.in_text {
        let at = cutter.open.unwrap_or(bytes.len());
        let what = "the file ends in the middle of what begins here: it was cut off";
        found.troubles.push(Trouble::at(line_of(bytes, at), what));
    }
    if !lists && !cutter.saw_list {
        let names = groups.join("\", \"");
        return Err(Trouble {
            line: None,
            what: format!("there is no list of records in it: neither a list, nor one under \"{names}\""),
        });
    }
    Ok(found)
}

fn wrong(error: &serde_json::Error) -> String {
    let what = error.to_string();
    // Its line and column are those of the piece.
    let what = what.split(" at line ").next().unwrap_or(&what);
    format!("the record that begins here is damaged: {what}")
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
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(fields) => found.records.push(Record {
                group: "",
                line: number,
                fields,
            }),
            Err(error) => found.troubles.push(Trouble::at(number, wrong(&error))),
        }
    }
    found
}

/// Where a record stands in the text.
struct Piece<'g> {
    group: &'g str,
    start: usize,
    end: usize,
}

/// Finds the records without reading what they say: brackets are counted, texts are skipped.
struct Cutter<'t, 'g> {
    text: &'t str,
    groups: &'t [&'g str],
    at: usize,
    depth: usize,
    in_text: bool,
    /// Depth of the objects that are records now, and the name of their list.
    records: Option<(usize, &'g str)>,
    /// Where the record begins that is being passed.
    open: Option<usize>,
    /// The last text at the first depth: the name of what follows.
    name: Option<&'g str>,
    saw_list: bool,
}

impl<'t, 'g> Cutter<'t, 'g> {
    fn new(text: &'t str, groups: &'t [&'g str]) -> Self {
        Self {
            text,
            groups,
            at: 0,
            depth: 0,
            in_text: false,
            records: None,
            open: None,
            name: None,
            saw_list: false,
        }
    }

    fn next_piece(&mut self) -> Option<Piece<'g>> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            let here = self.at;
            self.at += 1;
            match byte {
                b'"' => self.pass_text(here),
                b'[' => {
                    self.depth += 1;
                    self.begin_list();
                }
                b'{' => {
                    self.depth += 1;
                    if self.records.is_some_and(|(depth, _)| depth == self.depth) {
                        self.open = Some(here);
                    }
                }
                b'}' | b']' => {
                    let closed = self.depth;
                    self.depth = closed.saturating_sub(1);
                    if let Some((depth, group)) = self.records {
                        if depth == closed
                            && let Some(start) = self.open.take()
                        {
                            let end = self.at;
                            return Some(Piece { group, start, end });
                        }
                        if closed < depth {
                            self.records = None;
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// A list begins: of records, where it stands at the top or under a known name.
    fn begin_list(&mut self) {
        if self.records.is_some() {
            return;
        }
        let group = match self.depth {
            1 => Some(""),
            2 => self.name,
            _ => None,
        };
        if let Some(group) = group {
            self.saw_list = true;
            self.records = Some((self.depth + 1, group));
        }
    }

    /// Goes behind the text that begins at `start`.
    fn pass_text(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        self.in_text = true;
        while let Some(rest) = bytes.get(self.at..)
            && let Some(next) = memchr::memchr2(b'"', b'\\', rest)
        {
            self.at += next + 1;
            if bytes[self.at - 1] == b'"' {
                self.in_text = false;
                break;
            }
            self.at += 1;
        }
        if self.in_text {
            self.at = bytes.len();
        } else if self.depth == 1 {
            let said = self.text.get(start + 1..self.at - 1);
            self.name = self.groups.iter().find(|name| Some(**name) == said).copied();
        }
    }
}
