//! Three-way merge of the text of the index file.
//!
//! [`super::merge`] merges entries by their fields. This module merges all other text: lines between the
//! entries, and lines within an entry that are not fields.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::block::IndexBlock;
use super::three_way::{self, MergedElement};
use super::{IndexFile, IndexFileOptions, IndexedEntry};
use hippo_types::entry::EntryId;

/// Identity of a part across versions of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PartKey<'a> {
    /// Line without its end.
    Line(&'a [u8]),
    /// Header, generated block or field of an entry. The key is the first line of the block, or the name of the field.
    Own(Cow<'a, [u8]>),
    /// Entry.
    Entry(&'a EntryId),
    /// Entry that our side lacks and their side added or changed.
    Changed(&'a EntryId),
}

/// Part of the file that the merge keeps or drops as a whole.
#[derive(Debug, Clone)]
struct FilePart<'a> {
    key: PartKey<'a>,
    bytes: &'a [u8],
}

/// Merges the text of two versions of the index file that derive from `base`.
///
/// Every line that `ours` or `theirs` added is kept. A line of the base that one side removed is dropped,
/// unless the other side changed it. Entries that only `theirs` added or changed are inserted at their
/// position. No entry of `ours` is removed: the layout decides which entries the file has. The header and
/// the generated blocks are those of `ours`.
#[must_use]
pub fn merge_text(base: &[u8], ours: &[u8], theirs: &[u8], settings: IndexFileOptions) -> Vec<u8> {
    if let Some(only) = only_change(base, ours, theirs) {
        return only.to_vec();
    }
    let [base, our, their] = [base, ours, theirs].map(|bytes| IndexFile::parse(bytes, settings));
    let entries = |file: &'_ IndexFile| -> BTreeMap<EntryId, IndexedEntry> {
        file.entries()
            .map(|it| (it.entry.id.clone(), it.clone()))
            .collect()
    };
    let (in_base, in_ours, in_theirs) = (entries(&base), entries(&our), entries(&their));
    let (base, ours, mut theirs) = (split_parts(&base), split_parts(&our), split_parts(&their));
    for part in &mut theirs {
        if let PartKey::Entry(id) = part.key
            && !in_ours.contains_key(id)
            && in_base.get(id).is_none_or(|base| base.bytes() != part.bytes)
        {
            part.key = PartKey::Changed(id);
        }
    }
    merge_parts(&base, &ours, &theirs, our.line_end, |part| {
        let PartKey::Entry(id) = part.key else {
            return Cow::Borrowed(part.bytes);
        };
        match in_ours.get(id).zip(in_theirs.get(id)) {
            Some((ours, theirs)) => Cow::Owned(merge_entry(in_base.get(id), ours, theirs, our.line_end)),
            None => Cow::Borrowed(part.bytes),
        }
    })
}

/// Returns the version of the only side that changed the base. If both sides agree, returns their version. Returns
/// `None` if the sides changed the base differently.
fn only_change<'b>(base: &[u8], ours: &'b [u8], theirs: &'b [u8]) -> Option<&'b [u8]> {
    if base == theirs || ours == theirs {
        return Some(ours);
    }
    (base == ours).then_some(theirs)
}

/// Merges the bytes of an entry that both sides have.
fn merge_entry(
    base: Option<&IndexedEntry>,
    ours: &IndexedEntry,
    theirs: &IndexedEntry,
    line_end: &str,
) -> Vec<u8> {
    let old = base.map_or(&b""[..], IndexedEntry::bytes);
    if let Some(only) = only_change(old, ours.bytes(), theirs.bytes()) {
        return only.to_vec();
    }
    let base = base.map_or_else(Vec::new, entry_parts);
    let (ours, theirs) = (entry_parts(ours), entry_parts(theirs));
    let find = |of: &[FilePart<'_>], key: &PartKey<'_>| {
        let part = of.iter().find(|part| part.key == *key);
        part.map(|part| part.bytes.to_vec())
    };
    merge_parts(&base, &ours, &theirs, line_end, |part| {
        let (old, new) = (find(&base, &part.key), find(&theirs, &part.key));
        // Take a field that their side changed. The layout writes the store's values into these lines later.
        let changed = matches!(part.key, PartKey::Own(_)) && old.is_some() && new != old;
        let new = new.filter(|_| changed);
        new.map_or(Cow::Borrowed(part.bytes), Cow::Owned)
    })
}

/// Merges parts. `shown` returns the text to write for a part of our side.
fn merge_parts<'a>(
    base: &[FilePart<'a>],
    ours: &[FilePart<'a>],
    theirs: &[FilePart<'a>],
    line_end: &str,
    shown: impl Fn(&FilePart<'a>) -> Cow<'a, [u8]>,
) -> Vec<u8> {
    let [in_base, in_ours, in_theirs] = [base, ours, theirs].map(part_keys);
    let pieces = three_way::merge(&in_base, &in_ours, &in_theirs, |key| {
        !matches!(key, PartKey::Line(_))
    });
    let mut out = Vec::new();
    for piece in pieces {
        let (part, bytes) = match piece {
            MergedElement::Ours(at) | MergedElement::Both(at, _) => (&ours[at], shown(&ours[at])),
            MergedElement::Theirs(at) => match theirs[at].key {
                PartKey::Line(_) | PartKey::Changed(_) => (&theirs[at], Cow::Borrowed(theirs[at].bytes)),
                PartKey::Own(_) | PartKey::Entry(_) => continue,
            },
        };
        // A part begins on a new line; only the header may follow a heading on its line.
        let open = !out.is_empty() && !out.ends_with(b"\n");
        let ends_it = bytes.starts_with(b"\n") || bytes.starts_with(b"\r\n") || bytes.is_empty();
        if open && !ends_it && part.key != PartKey::Own(Cow::Borrowed(HEADER)) {
            out.extend_from_slice(line_end.as_bytes());
        }
        out.extend_from_slice(&bytes);
    }
    out
}

const HEADER: &[u8] = b"header";

fn part_keys<'a>(parts: &[FilePart<'a>]) -> Vec<PartKey<'a>> {
    parts.iter().map(|part| part.key.clone()).collect()
}

/// Splits a file into parts, whose concatenation is the file.
fn split_parts(file: &IndexFile) -> Vec<FilePart<'_>> {
    let mut out = Vec::new();
    for block in &file.blocks {
        let bytes = block.bytes();
        let key = match block {
            IndexBlock::Text(_) | IndexBlock::Section(_) => {
                out.extend(bytes.split_inclusive(|byte| *byte == b'\n').map(line_part));
                continue;
            }
            IndexBlock::Header(_) => PartKey::Own(Cow::Borrowed(HEADER)),
            IndexBlock::Generated(_) => {
                let first = bytes.split(|byte| *byte == b'\n').next();
                PartKey::Own(Cow::Borrowed(first.unwrap_or_default().trim_ascii()))
            }
            IndexBlock::Entry(indexed) => PartKey::Entry(&indexed.entry.id),
        };
        out.push(FilePart { key, bytes });
    }
    out
}

fn line_part(bytes: &[u8]) -> FilePart<'_> {
    FilePart {
        key: PartKey::Line(bytes.trim_ascii_end()),
        bytes,
    }
}

/// Splits an entry into lines; the lines of one field are one part.
fn entry_parts(indexed: &IndexedEntry) -> Vec<FilePart<'_>> {
    let layout = &indexed.layout;
    let mut fields: Vec<(&Range<usize>, String)> = vec![(&layout.topic, "topic".to_owned())];
    fields.extend(layout.summary.iter().map(|span| (span, "summary".to_owned())));
    fields.extend(layout.comment.iter().map(|span| (span, "comment".to_owned())));
    let pointers = layout.pointers.iter().enumerate();
    fields.extend(pointers.map(|(number, span)| (span, format!("pointers {number}"))));
    fields.sort_by_key(|(span, _)| span.start);

    let text = indexed.bytes();
    let (mut out, mut start): (Vec<FilePart<'_>>, usize) = (Vec::new(), 0);
    let mut from = 0;
    for bytes in text.split_inclusive(|byte| *byte == b'\n') {
        let span = start..start + bytes.len();
        let field = fields
            .iter()
            .find(|(field, _)| field.start < span.end && field.end.max(field.start + 1) > span.start);
        let key = field.map(|(_, name)| PartKey::Own(Cow::Owned(name.clone().into_bytes())));
        match (key, out.last_mut()) {
            (Some(key), Some(last)) if last.key == key => last.bytes = &text[from..span.end],
            (Some(key), _) => {
                from = span.start;
                out.push(FilePart { key, bytes });
            }
            (None, _) => out.push(line_part(bytes)),
        }
        start = span.end;
    }
    out
}
