//! Division of a large topics file into files by the paths of the memory files.

use std::collections::{BTreeMap, BTreeSet};

use super::SelectionItem;
use crate::index_file::slug;
use hippo_text::text;
use hippo_types::entry::EntryId;

/// Maximum size of the entries of a topics file, in the unit of [`SelectionItem::tokens`]. The layout counts bytes.
const MOST: usize = 18_000;
/// Maximum length of the part of a file's name that comes from a path, in bytes.
const NAME: usize = 40;

/// Adds the entries of a topics file to `files`. If they do not fit into one file, entries about memory files whose
/// paths begin alike share a file. So a new entry changes only the files near it.
pub(super) fn divide(
    path: &str,
    mut items: Vec<&SelectionItem>,
    files: &mut BTreeMap<String, BTreeSet<EntryId>>,
) {
    items.sort_by(|a, b| (&a.file, &a.id).cmp(&(&b.file, &b.id)));
    let stem = path.strip_suffix(".md").unwrap_or(path);
    divide_from(stem, None, &items, files);
}

/// `start` is the beginning of the paths of `items`; `None` if the items are all entries of the file.
fn divide_from(
    stem: &str,
    start: Option<&str>,
    items: &[&SelectionItem],
    files: &mut BTreeMap<String, BTreeSet<EntryId>>,
) {
    let common = common_start(items);
    let same = items.iter().all(|item| item.file.len() == common);
    if size(items) <= MOST || same {
        let name = match start {
            Some(start) => format!("{stem}-{}.md", text::start(&slug(start), NAME).trim_matches('-')),
            None => format!("{stem}.md"),
        };
        let ids = items.iter().map(|item| item.id.clone());
        files.entry(name).or_default().extend(ids);
        return;
    }
    let begins = |item: &SelectionItem| {
        let next = item.file[common..].chars().next().map_or(0, char::len_utf8);
        item.file[..common + next].to_owned()
    };
    let mut parts: Vec<(String, Vec<&SelectionItem>)> = Vec::new();
    for alike in items.chunk_by(|a, b| begins(a) == begins(b)) {
        match parts.last_mut() {
            Some((_, part)) if size(part) + size(alike) <= MOST => part.extend(alike),
            _ => parts.push((begins(alike[0]), alike.to_vec())),
        }
    }
    for (start, part) in parts {
        divide_from(stem, Some(&start), &part, files);
    }
}

fn size(items: &[&SelectionItem]) -> usize {
    items.iter().map(|item| item.tokens).sum()
}

/// Returns the number of bytes with which the paths of all items begin. The items are sorted by path.
fn common_start(items: &[&SelectionItem]) -> usize {
    let (Some(first), Some(last)) = (items.first(), items.last()) else {
        return 0;
    };
    let both = first.file.char_indices().zip(last.file.chars());
    let mut alike = both.take_while(|((_, one), other)| one == other);
    let length = alike.by_ref().last();
    length.map_or(0, |((at, mark), _)| at + mark.len_utf8())
}
