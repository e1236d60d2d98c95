//! Which part of a workspace is ranked, and what is rare in it?

use std::borrow::Cow;

use hippo_core::corpus::Lengths;

use crate::view::Picture;

/// The chunks that may be answered with.
#[derive(Clone, Copy, Default)]
pub struct Part<'a> {
    within: Option<&'a (dyn Fn(u32) -> bool + Sync)>,
    apart: Option<Lengths>,
}

impl<'a> Part<'a> {
    /// Those for which `within` holds, held against all chunks of the workspace.
    pub fn of(within: &'a (dyn Fn(u32) -> bool + Sync)) -> Self {
        Self {
            within: Some(within),
            apart: None,
        }
    }

    /// The same as if the workspace had no others; `lengths` are theirs. `within` holds for all chunks of a document or for none.
    pub fn apart(within: &'a (dyn Fn(u32) -> bool + Sync), lengths: Lengths) -> Self {
        Self {
            within: Some(within),
            apart: Some(lengths),
        }
    }

    /// Whether some chunks are left out.
    pub fn is_some(&self) -> bool {
        self.within.is_some()
    }

    /// Whether a chunk is in it.
    pub fn has(&self, chunk: u32) -> bool {
        self.within.is_none_or(|within| within(chunk))
    }

    /// The chunks of a term as far as they count.
    pub fn postings<'l>(&self, chunks: &'l [u32]) -> Cow<'l, [u32]> {
        if self.apart.is_none() {
            return Cow::Borrowed(chunks);
        }
        Cow::Owned(chunks.iter().copied().filter(|chunk| self.has(*chunk)).collect())
    }

    /// What the chunks that count come to.
    pub fn lengths(&self, picture: &Picture) -> Lengths {
        self.apart.unwrap_or_else(|| picture.corpus.lengths())
    }
}
