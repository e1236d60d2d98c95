//! What of a content can be made before its entry is known, and while others use the database?

use hippo_core::retrieval::terms::Analyzer;

use super::content::Packed;
use super::search::text_terms;
use super::{ContentId, MOST_CONTENT};

/// Makes contents ready to be put; keeps the stems of words that it met.
#[derive(Default)]
pub struct Packer {
    analyzer: Analyzer,
}

/// A content as it will be stored: its name, its packed bytes, its terms.
pub struct Ready<'a> {
    pub(super) id: ContentId,
    pub(super) packed: Packed,
    pub(super) terms: String,
    bytes: &'a [u8],
}

impl Packer {
    /// Names and packs a content, and finds its terms. `None` for one that has more than [`MOST_CONTENT`] bytes.
    pub fn ready<'a>(&mut self, bytes: &'a [u8]) -> Option<Ready<'a>> {
        (bytes.len() <= MOST_CONTENT).then(|| Ready {
            id: ContentId::of(bytes),
            packed: Packed::of(bytes),
            terms: text_terms(&mut self.analyzer, bytes),
            bytes,
        })
    }
}

impl Ready<'_> {
    /// Whether it was made of these very bytes.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(self.bytes, bytes)
    }
}
