//! Reversible replacement of one piece of a text.

use serde::{Deserialize, Serialize};

/// A replacement of one piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The byte offset of the piece in the text.
    pub at: usize,
    /// The piece before the replacement.
    pub old: String,
    /// The piece after the replacement.
    pub new: String,
}

impl Splice {
    /// Returns the smallest replacement that changes `old` into `new`, or `None` if one of the two pieces is not
    /// UTF-8.
    pub fn between(old: &[u8], new: &[u8]) -> Option<Self> {
        let same = |(a, b): (&u8, &u8)| a == b;
        let mut at = old.iter().zip(new).take_while(|&pair| same(pair)).count();
        // The pieces must begin and end at character boundaries. Pieces that contain invalid UTF-8 are rejected below.
        while at > 0 && (is_inner(old.get(at)) || is_inner(new.get(at))) {
            at -= 1;
        }
        let tails = || old[at..].iter().rev().zip(new[at..].iter().rev());
        let mut tail = tails().take_while(|&pair| same(pair)).count();
        while tail > 0 && is_inner(old.get(old.len() - tail)) {
            tail -= 1;
        }
        let piece = |text: &[u8]| String::from_utf8(text[at..text.len() - tail].to_vec()).ok();
        Some(Self {
            at,
            old: piece(old)?,
            new: piece(new)?,
        })
    }

    /// Returns `now` with the replacement undone, or `None` if the new piece is not at its recorded position.
    pub fn undo(&self, now: &[u8]) -> Option<Vec<u8>> {
        let end = self.at.checked_add(self.new.len())?;
        (now.get(self.at..end)? == self.new.as_bytes()).then(|| self.replaced(now, self.at))
    }

    /// Returns `now` with the replacement undone, even if other parts were edited. Returns `None` unless the new piece
    /// occurs exactly once.
    pub fn undo_moved(&self, now: &str) -> Option<Vec<u8>> {
        let mut places = now.match_indices(&self.new);
        let (at, _) = places.next().filter(|_| !self.new.trim().is_empty())?;
        places.next().is_none().then(|| self.replaced(now.as_bytes(), at))
    }

    fn replaced(&self, now: &[u8], at: usize) -> Vec<u8> {
        [&now[..at], self.old.as_bytes(), &now[at + self.new.len()..]].concat()
    }
}

/// Returns whether a byte is a continuation byte of UTF-8.
fn is_inner(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte & 0xC0 == 0x80)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moved_piece_is_found_if_it_occurs_once() {
        let splice = Splice::between(b"a\nb\n", b"a\nnew\nb\n").unwrap();
        assert_eq!(
            (splice.at, splice.old.as_str(), splice.new.as_str()),
            (2, "", "new\n")
        );
        assert_eq!(splice.undo_moved("x\na\nnew\nb\n"), Some(b"x\na\nb\n".to_vec()));
        assert_eq!(splice.undo_moved("new\na\nnew\nb\n"), None);
        assert_eq!(splice.undo_moved("a\nb\n"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_splice_can_be_undone(
            before in "[aé€\r\n]{0,8}", old in "[aé€\r\n]{0,6}", new in "[aè€\r\n]{0,6}", after in "[aé€\r\n]{0,8}",
            noise in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            let make = |piece: &str| [&noise, before.as_bytes(), piece.as_bytes(), after.as_bytes()].concat();
            let (old, new) = (make(&old), make(&new));
            if let Some(splice) = Splice::between(&old, &new) {
                prop_assert_eq!(splice.undo(&new), Some(old));
            } else {
                prop_assert!(!noise.is_ascii());
            }
        }
    }
}
