//! Edits that the index file does not contain yet.
//!
//! An editor made these edits in a copy of the file that hippod had just replaced. The store keeps the edits until a
//! write has merged them into the file.

use hippo_map::index_file::{IndexFile as Parsed, IndexFileOptions, merge_text};
use hippo_types::time::Timestamp;

use super::kept::KeptBytes;

/// Key prefix for the text before an edit. The number of the edit follows the prefix.
const FROM: &str = "HIPPOCAMPUS.md.from-";
/// Key prefix for the text after an edit. The number of the edit follows the prefix.
const TO: &str = "HIPPOCAMPUS.md.to-";

/// Records an edit that changed the text `from` to `to`.
pub fn note(kept: &mut KeptBytes, from: &[u8], to: &[u8], now: Timestamp) {
    if from != to {
        let number = next(kept);
        kept.put(format!("{FROM}{number:010}"), from, now);
        kept.put(format!("{TO}{number:010}"), to, now);
    }
}

/// Returns the number of the next edit.
fn next(kept: &KeptBytes) -> u64 {
    let last = kept.of(TO).next_back();
    last.and_then(|(number, _)| number.parse().ok())
        .map_or(0, |last: u64| last + 1)
}

/// Returns whether all edits have been merged into the file.
pub fn are_none(kept: &KeptBytes) -> bool {
    kept.of(TO).next().is_none()
}

/// Merges all edits into the current content. Returns the new content, and the number of the first edit that is not
/// part of it; `None` without edits.
pub fn merge(
    kept: &KeptBytes,
    current: Option<&[u8]>,
    settings: IndexFileOptions,
    now: Timestamp,
) -> Option<(Vec<u8>, u64)> {
    if are_none(kept) {
        return None;
    }
    let mut bytes = match current.filter(|bytes| !bytes.trim_ascii().is_empty()) {
        Some(bytes) => bytes.to_vec(),
        None => Parsed::skeleton(now, settings).to_bytes(),
    };
    for (number, to) in kept.of(TO) {
        // If the text before the edit is unknown, the whole text after the edit counts as added.
        let from = kept.bytes(&format!("{FROM}{number}")).unwrap_or_default();
        bytes = merge_text(from, &bytes, &to.bytes, settings);
    }
    Some((bytes, next(kept)))
}

/// Removes the edits with a number below `upto`, because the file contains them now.
pub fn are_written(kept: &mut KeptBytes, upto: u64) {
    for number in 0..upto {
        kept.remove(&format!("{FROM}{number:010}"));
        kept.remove(&format!("{TO}{number:010}"));
    }
}

#[cfg(test)]
mod tests {
    use hippo_store::db::Store;

    use super::*;

    #[test]
    fn edits_wait_in_the_store_until_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("store.db"), "/w").unwrap();
        let merge = |kept: &KeptBytes, current: &[u8]| {
            let merged = merge(kept, Some(current), IndexFileOptions::default(), Timestamp(1));
            merged.map(|(bytes, upto)| (String::from_utf8(bytes).unwrap(), upto))
        };
        let now = Timestamp(1);
        let mut kept = KeptBytes::default();
        assert_eq!(merge(&kept, b"One.\n"), None);
        note(&mut kept, b"One.\n", b"One.\nTwo.\n", now);
        note(&mut kept, b"One.\n", b"One.\nThree.\n", now);
        kept.save(&mut store).unwrap();
        let mut kept = KeptBytes::load(&store).unwrap();
        let (merged, upto) = merge(&kept, b"Zero.\nOne.\n").unwrap();
        assert_eq!(merged, "Zero.\nOne.\nTwo.\nThree.\n");
        // An edit recorded during a write waits for the next write.
        note(&mut kept, b"One.\n", b"One.\nFour.\n", now);
        are_written(&mut kept, upto);
        kept.save(&mut store).unwrap();
        let mut kept = KeptBytes::load(&store).unwrap();
        let (merged, upto) = merge(&kept, b"One.\n").unwrap();
        assert_eq!(merged, "One.\nFour.\n");
        are_written(&mut kept, upto);
        kept.save(&mut store).unwrap();
        assert!(are_none(&KeptBytes::load(&store).unwrap()));
        assert_eq!(store.bases("HIPPOCAMPUS.md").unwrap(), []);
    }
}
