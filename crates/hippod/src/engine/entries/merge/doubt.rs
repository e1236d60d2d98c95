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
    /// An older version was put back; of this time.
    PutBack(Timestamp),
}

/// The entries of which so much is gone at once that it is not believed, and why: the file may be half written.
pub(super) fn doubtful(
    merged: &merge::Merge,
    base: &[Entry],
    theirs: &[Entry],
    cut_off: bool,
) -> (Vec<EntryId>, Because) {
    let (gone, all) = (merged.tombstones.len(), base.len());
    #[expect(clippy::cast_precision_loss, reason = "a share of a number of entries")]
    let many = gone > MAY_GO && gone as f64 > SHARE * all as f64;
    // A file without any entry is more likely broken than meant.
    if many || (all > 1 && gone == all) {
        return (merged.tombstones.clone(), Because::Many);
    }
    if !cut_off {
        return (Vec::new(), Because::CutOff);
    }
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
    (ids.into_iter().cloned().collect(), Because::CutOff)
}

/// Whether the end is missing, as where a writer was stopped in the middle. Somebody who takes lines away leaves whole
/// lines, and the end of the file or what hippod keeps between its marks.
pub(super) fn is_cut_off(base: &[u8], bytes: &[u8]) -> bool {
    let beginning = base.len() > bytes.len() && base.starts_with(bytes) && !bytes.ends_with(b"\n");
    beginning || (lost_marks(base, bytes) && last_lines(bytes) != last_lines(base))
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
