//! Three-way merge of the text of the index file.
//!
//! Entries are merged by their fields elsewhere ([`super::merge`]); this merges everything else that people write: lines
//! beside the entries, and lines within an entry that are none of its fields.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::block::Block;
use super::three_way::{self, Piece};
use super::{IndexFile, Indexed, Settings};
use crate::entry::EntryId;

/// What makes two parts of the file the same part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    /// A line, without its end.
    Line(&'a [u8]),
    /// The header, a generated block by its first line, or a field of an entry by its name.
    Own(Cow<'a, [u8]>),
    /// An entry.
    Entry(&'a EntryId),
    /// An entry that their side changed and ours does not have.
    Changed(&'a EntryId),
}

/// A part of the file that the merge keeps or drops as a whole.
#[derive(Debug, Clone)]
struct Part<'a> {
    key: Key<'a>,
    bytes: &'a [u8],
}

/// Merges the text of two versions of the index file that come from `base`.
///
/// Every line that `ours` or `theirs` added is in the result. A line of the base that one side removed is not, unless the
/// other changed it. Entries that only `theirs` added or changed are inserted where they are there; no entry of `ours` is removed:
/// the layout decides which entries the file has. The header and generated blocks are those of `ours`.
#[must_use]
pub fn merge_words(base: &[u8], ours: &[u8], theirs: &[u8], settings: Settings) -> Vec<u8> {
    if base == theirs || ours == theirs {
        return ours.to_vec();
    }
    if base == ours {
        return theirs.to_vec();
    }
    let [base, our, their] = [base, ours, theirs].map(|bytes| IndexFile::parse(bytes, settings));
    let entries = |file: &'_ IndexFile| -> BTreeMap<EntryId, Indexed> {
        file.entries()
            .map(|it| (it.entry.id.clone(), it.clone()))
            .collect()
    };
    let (in_base, in_ours, in_theirs) = (entries(&base), entries(&our), entries(&their));
    let (base, ours, mut theirs) = (parts(&base), parts(&our), parts(&their));
    for part in &mut theirs {
        if let Key::Entry(id) = part.key
            && !in_ours.contains_key(id)
            && in_base.get(id).is_none_or(|base| base.bytes() != part.bytes)
        {
            part.key = Key::Changed(id);
        }
    }
    let pieces = three_way::merge(&keys(&base), &keys(&ours), &keys(&theirs), |key| {
        !matches!(key, Key::Line(_))
    });
    let mut out = Out::new(our.line_end);
    for piece in pieces {
        match piece {
            Piece::Ours(at) | Piece::Both(at, _) => {
                let part = &ours[at];
                let both = match part.key {
                    Key::Entry(id) => in_ours.get(id).zip(in_theirs.get(id)),
                    _ => None,
                };
                match both {
                    Some((our, their)) => {
                        let base = in_base.get(&our.entry.id);
                        out.push(part, &merged_entry(base, our, their, out.line_end));
                    }
                    None => out.push(part, part.bytes),
                }
            }
            Piece::Theirs(at) => {
                let part = &theirs[at];
                let wanted = match part.key {
                    Key::Line(_) | Key::Changed(_) => true,
                    Key::Own(_) | Key::Entry(_) => false,
                };
                if wanted {
                    out.push(part, part.bytes);
                }
            }
        }
    }
    out.bytes
}

/// The bytes of an entry that both sides have.
fn merged_entry(base: Option<&Indexed>, ours: &Indexed, theirs: &Indexed, line_end: &str) -> Vec<u8> {
    let old = base.map_or(&b""[..], Indexed::bytes);
    if old == theirs.bytes() || ours.bytes() == theirs.bytes() {
        return ours.bytes().to_vec();
    }
    if old == ours.bytes() {
        return theirs.bytes().to_vec();
    }
    let base = base.map_or_else(Vec::new, lines_of);
    let (ours, theirs) = (lines_of(ours), lines_of(theirs));
    let find = |of: &[Part<'_>], key: &Key<'_>| {
        let part = of.iter().find(|part| part.key == *key);
        part.map(|part| part.bytes.to_vec())
    };
    let pieces = three_way::merge(&keys(&base), &keys(&ours), &keys(&theirs), |key| {
        matches!(key, Key::Own(_))
    });
    let mut out = Out::new(line_end);
    for piece in pieces {
        match piece {
            Piece::Ours(at) | Piece::Both(at, _) => {
                let part = &ours[at];
                let (old, new) = (find(&base, &part.key), find(&theirs, &part.key));
                // The layout writes the fields of the store into these lines.
                let changed = matches!(part.key, Key::Own(_)) && old.is_some() && new != old;
                match new.filter(|_| changed) {
                    Some(new) => out.push(part, &new),
                    None => out.push(part, part.bytes),
                }
            }
            Piece::Theirs(at) if matches!(theirs[at].key, Key::Line(_)) => {
                out.push(&theirs[at], theirs[at].bytes);
            }
            Piece::Theirs(_) => {}
        }
    }
    out.bytes
}

/// The merged file, part by part.
struct Out<'a> {
    bytes: Vec<u8>,
    line_end: &'a str,
}

impl<'a> Out<'a> {
    const fn new(line_end: &'a str) -> Self {
        Self {
            bytes: Vec::new(),
            line_end,
        }
    }

    /// Appends a part on a line of its own; the header may follow a heading on its line.
    fn push(&mut self, part: &Part<'_>, bytes: &[u8]) {
        let open = !self.bytes.is_empty() && !self.bytes.ends_with(b"\n");
        let ends_it = bytes.starts_with(b"\n") || bytes.starts_with(b"\r\n") || bytes.is_empty();
        if open && !ends_it && part.key != Key::Own(Cow::Borrowed(HEADER)) {
            self.bytes.extend_from_slice(self.line_end.as_bytes());
        }
        self.bytes.extend_from_slice(bytes);
    }
}

const HEADER: &[u8] = b"header";

fn keys<'a>(parts: &[Part<'a>]) -> Vec<Key<'a>> {
    parts.iter().map(|part| part.key.clone()).collect()
}

/// The parts of a file; together they are the file.
fn parts(file: &IndexFile) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    for block in &file.blocks {
        let bytes = block.bytes();
        let key = match block {
            Block::Text(_) | Block::Section(_) => {
                out.extend(bytes.split_inclusive(|byte| *byte == b'\n').map(line));
                continue;
            }
            Block::Header(_) => Key::Own(Cow::Borrowed(HEADER)),
            Block::Generated(_) => {
                let first = bytes.split(|byte| *byte == b'\n').next();
                Key::Own(Cow::Borrowed(first.unwrap_or_default().trim_ascii()))
            }
            Block::Entry(indexed) => Key::Entry(&indexed.entry.id),
        };
        out.push(Part { key, bytes });
    }
    out
}

fn line(bytes: &[u8]) -> Part<'_> {
    Part {
        key: Key::Line(bytes.trim_ascii_end()),
        bytes,
    }
}

/// The lines of an entry; those of one field are one part.
fn lines_of(indexed: &Indexed) -> Vec<Part<'_>> {
    let layout = &indexed.layout;
    let mut fields: Vec<(&Range<usize>, String)> = vec![(&layout.topic, "topic".to_owned())];
    fields.extend(layout.summary.iter().map(|span| (span, "summary".to_owned())));
    fields.extend(layout.comment.iter().map(|span| (span, "comment".to_owned())));
    let pointers = layout.pointers.iter().enumerate();
    fields.extend(pointers.map(|(number, span)| (span, format!("pointers {number}"))));
    fields.sort_by_key(|(span, _)| span.start);

    let text = indexed.bytes();
    let (mut out, mut start): (Vec<Part<'_>>, usize) = (Vec::new(), 0);
    let mut from = 0;
    for bytes in text.split_inclusive(|byte| *byte == b'\n') {
        let span = start..start + bytes.len();
        let field = fields
            .iter()
            .find(|(field, _)| field.start < span.end && field.end.max(field.start + 1) > span.start);
        let key = field.map(|(_, name)| Key::Own(Cow::Owned(name.clone().into_bytes())));
        match (key, out.last_mut()) {
            (Some(key), Some(last)) if last.key == key => last.bytes = &text[from..span.end],
            (Some(key), _) => {
                from = span.start;
                out.push(Part { key, bytes });
            }
            (None, _) => out.push(line(bytes)),
        }
        start = span.end;
    }
    out
}
