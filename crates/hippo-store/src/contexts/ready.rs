//! Contents prepared for a put outside the database lock.

use hippo_core::retrieval::terms::Analyzer;

use super::content::Packed;
use super::search::text_terms;
use super::{ContentId, MAX_CONTENT};

/// Prepares contents for a put; caches the stems of words.
#[derive(Default)]
pub struct Packer {
    analyzer: Analyzer,
}

/// A prepared content: its id, packed bytes and terms.
pub struct Ready<'a> {
    pub(super) id: ContentId,
    pub(super) packed: Packed,
    pub(super) terms: String,
    bytes: &'a [u8],
}

impl Packer {
    /// Prepares a content. Returns `None` for more than [`MAX_CONTENT`] bytes.
    pub fn ready<'a>(&mut self, bytes: &'a [u8]) -> Option<Ready<'a>> {
        (bytes.len() <= MAX_CONTENT).then(|| Ready {
            id: ContentId::of(bytes),
            packed: Packed::of(bytes),
            terms: text_terms(&mut self.analyzer, bytes),
            bytes,
        })
    }
}

impl Ready<'_> {
    /// Returns whether this was prepared from exactly this slice.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(self.bytes, bytes)
    }
}
