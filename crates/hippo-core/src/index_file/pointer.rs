//! How is a list of pointers written after an arrow, and read?

use super::text::{decode, encode};
use crate::entry::Pointer;

/// Reads `path §section | path`; parts without a path are left out.
pub(super) fn read(list: &str) -> Vec<Pointer> {
    list.split('|').filter_map(one).collect()
}

fn one(part: &str) -> Option<Pointer> {
    let (path, section) = part.split_once('§').unwrap_or((part, ""));
    // Agents like to put paths into backticks.
    let path = decode(path.trim().trim_matches('`').trim());
    let section = decode(section.trim());
    let (path, section) = (path.trim(), section.trim());
    (!path.is_empty()).then(|| Pointer {
        path: path.to_owned(),
        section: (!section.is_empty()).then(|| section.to_owned()),
    })
}

/// Writes what [`read`] reads.
pub(super) fn write(pointers: &[Pointer]) -> String {
    let mut out = String::new();
    for pointer in pointers {
        if !out.is_empty() {
            out.push_str(" | ");
        }
        out.push_str(&guarded(&pointer.path, "§`"));
        if let Some(section) = &pointer.section {
            out.push_str(" §");
            out.push_str(&guarded(section, ""));
        }
    }
    out
}

/// Without what would end the pointer, be an arrow or start a comment.
fn guarded(text: &str, special: &str) -> String {
    encode(text, |character| {
        matches!(character, '|' | '>' | '→' | '<') || special.contains(character)
    })
}
