//! Is so much gone from the index file at once that it is not believed?

use std::collections::BTreeSet;

use hippo_core::entry::EntryId;
use hippo_core::index_file::merge;

/// The end of what hippod keeps between marks.
const MARK: &[u8] = b"<!-- /hippod -->";
/// As many entries may always go at once.
const MAY_GO: usize = 4;
/// More than this share of the entries does not go at once without a word.
const SHARE: f64 = 0.25;

/// The entries of which so much is gone at once that it is not believed: the file may be half written.
pub(super) fn doubtful(merged: &merge::Merge, all: usize, cut_off: bool) -> Vec<EntryId> {
    let gone = merged.tombstones.len();
    #[expect(clippy::cast_precision_loss, reason = "a share of a number of entries")]
    let many = gone > MAY_GO && gone as f64 > SHARE * all as f64;
    // A file without any entry is more likely broken than meant.
    if many || (all > 1 && gone == all) {
        return merged.tombstones.clone();
    }
    if !cut_off {
        return Vec::new();
    }
    let damaged = merged.taken.iter().map(|(id, _)| id);
    let ids: BTreeSet<&EntryId> = merged.tombstones.iter().chain(damaged).collect();
    ids.into_iter().cloned().collect()
}

/// Whether the end is missing, as where a writer was stopped in the middle. Somebody who takes lines away leaves whole
/// lines, and what hippod keeps between its marks.
pub(super) fn is_cut_off(base: &[u8], bytes: &[u8]) -> bool {
    let beginning = base.len() > bytes.len() && base.starts_with(bytes) && !bytes.ends_with(b"\n");
    let marks = |bytes: &[u8]| bytes.windows(MARK.len()).filter(|part| *part == MARK).count();
    beginning || marks(bytes) < marks(base)
}
