//! Division of a large file of entries by the paths of the memory files.

use std::collections::{BTreeMap, BTreeSet};

use super::SelectionItem;
use crate::index_file::slug;
use hippo_types::entry::EntryId;

/// Maximum size of the entries of a file, in the unit of [`SelectionItem::tokens`]. The layout counts bytes.
const MOST: usize = 18_000;
/// Maximum length of the part of a file's name that comes from a path, in bytes.
const NAME: usize = 40;

/// Adds a file of entries to `files`. If the entries do not fit into one file, entries about memory files whose paths
/// begin alike share a file. So a new entry changes only the files near it.
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
        let ids = items.iter().map(|item| item.id.clone()).collect();
        files.insert(free_name(stem, start, files), ids);
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

/// Returns a name that no file has yet. It contains the end of `start`, in which the parts of a file differ.
fn free_name(stem: &str, start: Option<&str>, files: &BTreeMap<String, BTreeSet<EntryId>>) -> String {
    let Some(start) = start else {
        return format!("{stem}.md");
    };
    let slug = slug(start);
    let from = slug.ceil_char_boundary(slug.len().saturating_sub(NAME));
    let name = format!("{stem}-{}", slug[from..].trim_matches('-'));
    let more = (2..).map(|number| format!("{name}-{number}.md"));
    let mut names = std::iter::once(format!("{name}.md")).chain(more);
    names.find(|name| !files.contains_key(name)).unwrap_or(name)
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
