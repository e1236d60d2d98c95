//! Is so much gone from the index file at once that it is not believed?

use std::collections::BTreeSet;

use hippo_core::entry::{Entry, EntryId};
use hippo_core::index_file::merge;
use hippo_core::time::Timestamp;

/// The end of what hippod keeps between marks.
const MARK: &[u8] = b"<!-- /hippod -->";
/// Its beginning.
const BEGIN: &[u8] = b"<!-- hippod: ";
/// As many entries may always go at once.
const MAY_GO: usize = 4;
/// More than this share of the entries does not go at once without a word.
const SHARE: f64 = 0.25;

/// Lines at the end that tell whether the end is there.
const LAST: usize = 3;

/// Why removals are not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Because {
    /// They are many at once.
    #[default]
    Many,
    /// The end of the file is missing.
    CutOff,
    /// The end of the file is missing, and with it words that people wrote beside the entries.
    Words,
    /// An older version was put back; of this time.
    PutBack(Timestamp),
}

/// The entries of which so much is gone at once that it is not believed, and why: the file may be half written. `None`: it
/// is believed.
pub(super) fn doubtful(
    merged: &merge::Merge,
    base: &[Entry],
    theirs: &[Entry],
    cut_off: Option<CutOff>,
) -> Option<(Vec<EntryId>, Because)> {
    let (gone, all) = (merged.tombstones.len(), base.len());
    #[expect(clippy::cast_precision_loss, reason = "a share of a number of entries")]
    let many = gone > MAY_GO && gone as f64 > SHARE * all as f64;
    // A file without any entry is more likely broken than meant.
    if many || (all > 1 && gone == all) {
        return Some((merged.tombstones.clone(), Because::Many));
    }
    let cut_off = cut_off?;
    // What is missing at the end is what stood behind the last entry that is there, and the rest of that one. Whatever
    // else differs was written on purpose.
    let at = |id: &EntryId| base.iter().position(|entry| entry.id == *id);
    let last = theirs
        .iter()
        .rev()
        .map(|entry| &entry.id)
        .find(|id| at(id).is_some());
    let behind = last.and_then(at);
    let missing = base[behind.map_or(0, |at| at + 1)..]
        .iter()
        .map(|entry| &entry.id);
    let missing = missing.filter(|id| merged.tombstones.contains(id));
    let damaged = merged
        .taken
        .iter()
        .map(|(id, _)| id)
        .filter(|id| Some(*id) == last);
    let ids: BTreeSet<&EntryId> = missing.chain(damaged).collect();
    if ids.is_empty() {
        return (cut_off == CutOff::WithWords).then(|| (Vec::new(), Because::Words));
    }
    Some((ids.into_iter().cloned().collect(), Because::CutOff))
}

/// What went with an end that is missing, besides entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutOff {
    /// What hippod makes anew, as far as anybody can tell.
    Nothing,
    /// What people wrote, of which the store knows nothing.
    WithWords,
}

/// Whether the end is missing, as where a writer was stopped in the middle. Somebody who takes lines away leaves whole
/// lines, and the end of the file or what hippod keeps between its marks.
pub(super) fn cut_off(base: &[u8], bytes: &[u8]) -> Option<CutOff> {
    match base.strip_prefix(bytes) {
        Some(rest) if !rest.is_empty() && !bytes.ends_with(b"\n") => {
            let within_a_line = !rest.starts_with(b"\n") && !rest.starts_with(b"\r\n");
            Some(if within_a_line && has_words(base, bytes.len()) {
                CutOff::WithWords
            } else {
                CutOff::Nothing
            })
        }
        _ => (lost_marks(base, bytes) && last_lines(bytes) != last_lines(base)).then_some(CutOff::Nothing),
    }
}

/// Whether people wrote something that ends behind a place of the file: not what hippod keeps between marks, nor its
/// headings and comments.
fn has_words(base: &[u8], from: usize) -> bool {
    let (mut within, mut end) = (false, 0);
    base.split_inclusive(|byte| *byte == b'\n').any(|line| {
        end += line.len();
        let line = line.trim_ascii();
        within = (within || line.starts_with(BEGIN)) && !line.starts_with(MARK);
        let made = within || line.is_empty() || line.starts_with(b"#") || line.starts_with(b"<!--");
        end > from && !made
    })
}

/// Whether there are fewer marks than there were.
fn lost_marks(base: &[u8], bytes: &[u8]) -> bool {
    let marks = |bytes: &[u8]| bytes.windows(MARK.len()).filter(|part| *part == MARK).count();
    marks(bytes) < marks(base)
}

/// Lines that hippod had listed between marks, where somebody took marks away: without them they look like entries.
pub(super) fn unmarked<'b>(base: &'b [u8], bytes: &[u8]) -> BTreeSet<&'b [u8]> {
    let mut within = false;
    let lines = base.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let listed = lines.filter(|line| {
        within = (within || line.starts_with(BEGIN)) && !line.starts_with(MARK);
        within
    });
    let all = listed.collect();
    if lost_marks(base, bytes) {
        all
    } else {
        BTreeSet::new()
    }
}

/// The last lines that are not blank.
fn last_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).take(LAST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_cut_within_a_line_are_told_from_what_hippod_makes_anew() {
        let list = "## Meta\n<!-- hippod: meta -->\n- entries in this file: 2\n<!-- /hippod -->\n";
        let of = |base: &str, upto: usize| cut_off(base.as_bytes(), &base.as_bytes()[..upto]);
        let words = format!("# T\n\n{list}\n## Own\n\nOne line.\nTwo lines of words.\n");
        let cuts = |what: &str, of: &str| of.find(what).unwrap() + 2;
        assert_eq!(of(&words, cuts("Two", &words)), Some(CutOff::WithWords));
        assert_eq!(of(&words, cuts("entries", &words)), Some(CutOff::WithWords));
        // Lines that somebody took away, with or without a line end behind the last one.
        let line = words.find("Two").unwrap();
        assert_eq!(of(&words, line), None);
        assert_eq!(of(&words, line - 1), Some(CutOff::Nothing));
        assert_eq!(of(&words, words.len()), None);
        let bare = format!("# T\n\nOne line.\n\n{list}");
        assert_eq!(of(&bare, cuts("entries", &bare)), Some(CutOff::Nothing));
        assert_eq!(of(&bare, cuts("One", &bare)), Some(CutOff::WithWords));
        let open = "# T\n\nOne line without end";
        assert_eq!(of(open, open.len() - 4), Some(CutOff::WithWords));
        let windows = "# T\r\n\r\nOne line.\r\nTwo.\r\n";
        assert_eq!(
            of(windows, windows.find("\r\nTwo").unwrap()),
            Some(CutOff::Nothing)
        );
    }
}
