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
pub struct PackedContent {
    pub(super) id: ContentId,
    pub(super) packed: PackedBytes,
    pub(super) terms: String,
}

impl ContentPacker {
    /// Prepares content. Returns `None` for more than [`MAX_CONTENT`] bytes.
    pub fn pack_content(&mut self, bytes: &[u8]) -> Option<PackedContent> {
        (bytes.len() <= MAX_CONTENT).then(|| PackedContent {
            id: ContentId::of(bytes),
            packed: PackedBytes::of(bytes),
            terms: text_terms(&mut self.analyzer, bytes),
        })
    }
}
