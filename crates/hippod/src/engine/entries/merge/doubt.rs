//! Detection of accidental removals from the index file.

use std::collections::BTreeSet;

use hippo_map::index_file::merge;
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Timestamp;

/// Closing mark of a part of the file that hippod generates.
const MARK: &[u8] = b"<!-- /hippod -->";
/// Start of the opening mark of a generated part.
const BEGIN: &[u8] = b"<!-- hippod: ";
/// Number of entries that a person can remove at once without confirmation, unless the file lacks all entries or its
/// end.
const MAY_GO: usize = 4;
/// Share of all entries, from 0 to 1, above which removals at once need confirmation.
const SHARE: f64 = 0.25;

/// Number of last lines that are compared to find out whether the end of the file is missing.
const LAST: usize = 3;

/// Removals from the index file that are held back until a person confirms them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRemovals {
    /// The removed entries.
    pub entries: Vec<EntryId>,
    /// Reason why the removals are held back.
    pub because: HoldReason,
}

/// Reason why removals are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    /// Many entries disappeared at once.
    Many,
    /// The end of the file is missing, perhaps with text that people wrote and that the store does not contain.
    CutOff,
    /// A person restored an older version of the file, which was written at this time.
    PutBack(Timestamp),
}

impl HeldRemovals {
    /// Returns whether the end of the file is missing.
    pub fn is_cut_off(&self) -> bool {
        self.because == HoldReason::CutOff
    }
}

/// Returns the entries whose removal or change needs confirmation, and the reason; `None` if the changes are plausible.
pub(super) fn doubtful(
    merged: &merge::Merge,
    base: &[Entry],
    theirs: &[Entry],
    cut_off: Option<CutOff>,
) -> Option<HeldRemovals> {
    let held = |entries: Vec<EntryId>, because| HeldRemovals { entries, because };
    let (gone, all) = (merged.tombstones.len(), base.len());
    #[expect(
        clippy::cast_precision_loss,
        reason = "the number of entries is far below 2^52"
    )]
    let many = gone > MAY_GO && gone as f64 > SHARE * all as f64;
    // A file that lacks all entries is probably damaged.
    if many || (all > 1 && gone == all) {
        return Some(held(merged.tombstones.clone(), HoldReason::Many));
    }
    let cut_off = cut_off?;
    // If the end of the file is missing, only the last remaining entry and the entries after it are affected. All other
    // differences are intentional.
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
    let is_doubtful = !ids.is_empty() || cut_off == CutOff::WithWords;
    is_doubtful.then(|| held(ids.into_iter().cloned().collect(), HoldReason::CutOff))
}

/// Content that is missing with the end of the file, apart from entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutOff {
    /// No text of people, as far as can be determined.
    Nothing,
    /// Text that people wrote and that the store does not contain.
    WithWords,
}

/// Checks whether the end of the file is missing, as after an interrupted write, and returns what is missing; `None` if
/// the end is present. A person deletes whole lines, and keeps either the end of the file or the marks of the generated
/// parts.
pub fn cut_off(base: &[u8], bytes: &[u8]) -> Option<CutOff> {
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

/// Returns whether people wrote text that extends beyond the offset `from`. Generated parts, headings and comments do
/// not count.
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

/// Returns whether `bytes` has fewer closing marks of generated parts than `base`.
fn lost_marks(base: &[u8], bytes: &[u8]) -> bool {
    let marks = |bytes: &[u8]| bytes.windows(MARK.len()).filter(|part| *part == MARK).count();
    marks(bytes) < marks(base)
}

/// Returns the lines of the generated parts of `base` if marks of these parts were removed, and otherwise nothing.
/// Without the marks, such lines look like entries.
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

/// Returns the last lines that are not blank, at most [`LAST`].
fn last_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).take(LAST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_user_text_is_distinguished_from_generated_text() {
        let list = "## Meta\n<!-- hippod: meta -->\n- entries in this file: 2\n<!-- /hippod -->\n";
        let of = |base: &str, upto: usize| cut_off(base.as_bytes(), &base.as_bytes()[..upto]);
        let words = format!("# T\n\n{list}\n## Own\n\nOne line.\nTwo lines of words.\n");
        let cuts = |what: &str, of: &str| of.find(what).unwrap() + 2;
        assert_eq!(of(&words, cuts("Two", &words)), Some(CutOff::WithWords));
        assert_eq!(of(&words, cuts("entries", &words)), Some(CutOff::WithWords));
        // A person deleted whole lines, with or without the newline before them.
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
