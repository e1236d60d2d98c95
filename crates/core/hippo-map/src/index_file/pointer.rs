//! Pointer lists: parser and formatter.

use super::text::{decode, encode};
use hippo_types::entry::Pointer;

/// Parses `path §section | path`. Parts without a path are skipped.
pub(super) fn parse_list(list: &str) -> Vec<Pointer> {
    list.split('|').filter_map(parse_pointer).collect()
}

fn parse_pointer(part: &str) -> Option<Pointer> {
    let (path, section) = part.split_once('§').unwrap_or((part, ""));
    // Agents often put paths into backticks.
    let path = decode(path.trim().trim_matches('`').trim());
    let section = decode(section.trim());
    let (path, section) = (path.trim(), section.trim());
    (!path.is_empty()).then(|| Pointer {
        path: path.to_owned(),
        section: (!section.is_empty()).then(|| section.to_owned()),
    })
}

/// Formats a list that [`parse_list`] parses.
pub(super) fn format_list(pointers: &[Pointer]) -> String {
    let mut out = String::new();
    for pointer in pointers {
        if !out.is_empty() {
            out.push_str(" | ");
        }
        out.push_str(&encode_part(&pointer.path, "§`"));
        if let Some(section) = &pointer.section {
            out.push_str(" §");
            out.push_str(&encode_part(section, ""));
        }
    }
    out
}

/// Encodes characters that would end the pointer, look like an arrow or start a comment.
fn encode_part(text: &str, special: &str) -> String {
    encode(text, |character| {
        matches!(character, '|' | '>' | '→' | '<') || special.contains(character)
    })
}
