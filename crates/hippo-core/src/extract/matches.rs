//! In which files and lines was something found, by `grep` or its kin?

use std::collections::BTreeMap;

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::trace;
use super::words::counted;
use crate::text::clip;

/// Files that are told apart.
const FILES: usize = 4_000;
/// Matches that are told at most.
const KEPT: usize = 200;
/// Matches of one file that are kept.
const TURNS: usize = 50;

/// Path, line and words of `path:12:words`.
pub(super) fn found(line: &str) -> Option<(&str, u32, &str)> {
    let (path, number) = trace::place_of(line)?;
    let rest = line.get(path.len() + 1..)?;
    let words = rest.split_once(':')?.1;
    (!path.contains("//") && path.len() < 300).then_some((path, number, words))
}

pub(super) fn draft(text: &Text<'_>) -> Option<Draft> {
    let mut files: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut count, mut kept) = (0_usize, Vec::new());
    for line in text.lines() {
        let Some((path, number, words)) = found(line.text) else {
            continue;
        };
        count += 1;
        let place = files.len();
        if place < FILES || files.contains_key(path) {
            files.entry(path).or_insert((0, place)).0 += 1;
        }
        // One place of each file before further ones of the same: only the first few of a file can come that far.
        let turn = files.get(path).map_or(usize::MAX, |(count, _)| *count);
        if turn <= TURNS && (kept.len() < KEPT || turn == 1 && kept.len() < FILES) {
            kept.push((turn, path, number, words));
        }
    }
    if count == 0 {
        return None;
    }
    let said = format!("{} in {}", counted(count, "match"), counted(files.len(), "file"));
    let mut draft = Draft::new(Kind::Matches, said);
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    kept.sort_by_key(|(turn, ..)| *turn);
    let kept = kept.into_iter().take(KEPT);
    let places = kept.map(|(_, path, number, words)| (format!("{path}:{number}"), clip(words, 60)));
    draft.pairs("matches", places, 2);
    draft.pairs(
        "files",
        files
            .into_iter()
            .map(|(path, (count, _))| (path.to_owned(), count)),
        2,
    );
    Some(draft)
}
