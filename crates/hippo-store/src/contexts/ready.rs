//! Preparation of content for a put, without the database lock.

use hippo_text::terms::Analyzer;

use super::content::PackedBytes;
use super::search::text_terms;
use super::{ContentId, MAX_CONTENT};

/// Packer that prepares contents for a put. It caches the stems of words.
#[derive(Default)]
pub struct ContentPacker {
    analyzer: Analyzer,
}

/// Prepared content: the id, the packed bytes and the terms.
pub struct PackedContent<'a> {
    pub(super) id: ContentId,
    pub(super) packed: PackedBytes,
    pub(super) terms: String,
    bytes: &'a [u8],
}

impl ContentPacker {
    /// Prepares content. Returns `None` for more than [`MAX_CONTENT`] bytes.
    pub fn pack_content<'a>(&mut self, bytes: &'a [u8]) -> Option<PackedContent<'a>> {
        (bytes.len() <= MAX_CONTENT).then(|| PackedContent {
            id: ContentId::of(bytes),
            packed: PackedBytes::of(bytes),
            terms: text_terms(&mut self.analyzer, bytes),
            bytes,
        })
    }
}

impl PackedContent<'_> {
    /// Returns whether this was prepared from exactly this slice.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        std::ptr::eq(self.bytes, bytes)
    }
}
