//! Detection of suspicious removals in the index file.

use std::collections::BTreeSet;

use hippo_map::index_file::merge;
use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Timestamp;

/// End mark of a part that hippod generates.
const MARK: &[u8] = b"<!-- /hippod -->";
/// Start of the opening mark.
const BEGIN: &[u8] = b"<!-- hippod: ";
/// Number of entries whose simultaneous disappearance never needs confirmation.
const MAY_GO: usize = 4;
/// Share of the entries above which simultaneous removals need confirmation.
const SHARE: f64 = 0.25;

/// Number of final lines that are compared to check whether the end of the file is present.
const LAST: usize = 3;

/// Suspicious removals from the index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRemovals {
    /// The removed entries.
    pub entries: Vec<EntryId>,
    /// Reason for holding them.
    pub because: HoldReason,
}

/// Reason for holding removals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    /// Many entries disappeared at once.
    Many,
    /// The end of the file is missing, perhaps with text of people that the store lacks.
    CutOff,
    /// An older version, written at this time, was restored.
    PutBack(Timestamp),
}

impl HeldRemovals {
    /// Returns whether the end of the file is missing.
    pub fn is_cut_off(&self) -> bool {
        self.because == HoldReason::CutOff
    }
}

/// Returns the entries whose removal or change needs confirmation, and the reason, such as a half-written file. Returns
/// `None` if the changes are plausible.
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
    // A file without any entry is more likely to be damaged than intended.
    if many || (all > 1 && gone == all) {
        return Some(held(merged.tombstones.clone(), HoldReason::Many));
    }
    let cut_off = cut_off?;
    // A missing end affects the last remaining entry and all entries after it. All other differences are intentional.
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

/// Content, other than entries, that was lost with the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutOff {
    /// Only content that hippod generates, as far as can be determined.
    Nothing,
    /// Text of people, which the store lacks.
    WithWords,
}

/// Returns whether the end is missing, as after an interrupted write. A person who deletes text deletes whole lines,
/// and leaves either the end of the file or the generated parts between marks in place.
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

/// Returns whether text of people ends after offset `from`. Generated parts, headings and comments do not count.
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

/// Returns whether the content has fewer end marks than before.
fn lost_marks(base: &[u8], bytes: &[u8]) -> bool {
    let marks = |bytes: &[u8]| bytes.windows(MARK.len()).filter(|part| *part == MARK).count();
    marks(bytes) < marks(base)
}

/// Returns the generated lines whose marks were removed. Without their marks, these lines look like entries.
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

/// Returns the last non-blank lines.
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
        // Whole lines that a person deleted, with or without a final newline.
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
