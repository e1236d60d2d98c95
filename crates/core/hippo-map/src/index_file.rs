//! Lossless reader and editor of the index file `HIPPOCAMPUS.md`.
//!
//! docs/format.md defines the format. Parsing never fails: any input yields an [`IndexFile`], in
//! time linear in its length and without recursion. The file is a sequence of blocks that
//! own their bytes, so unknown and unchanged text is written back byte for byte.

mod block;
mod edit;
mod header;
mod indexed;
mod insert;
mod line;
pub mod merge;
mod meta;
mod parse;
mod pointer;
#[cfg(test)]
pub(crate) mod properties;
mod remove;
mod section;
#[cfg(test)]
mod tests;
mod text;
mod text_merge;
mod three_way;
mod token;
mod versions;
mod write;

use std::collections::BTreeSet;
use std::ops::Range;

use hippo_types::entry::{Entry, EntryId};
use hippo_types::time::Timestamp;

pub use indexed::IndexedEntry;
pub use section::IndexSection;
pub use text::slug;
pub use text_merge::merge_text;
pub use versions::merge_versions;
pub(crate) use write::written_text;
pub use write::{as_written, entry_text, pointer_line};

use block::IndexBlock;

/// Options for reading and writing an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexFileOptions {
    /// Offset from UTC in seconds, east positive, at most one day. Dates in the file are days at this
    /// offset.
    pub offset_seconds: i32,
    /// Creation time of entries without a date: the time of reading or the file's modification time.
    pub undated: Timestamp,
}

/// Parsed index file that can be edited and written back.
#[derive(Debug, Clone)]
pub struct IndexFile {
    settings: IndexFileOptions,
    line_end: &'static str,
    blocks: Vec<IndexBlock>,
    copied: BTreeSet<EntryId>,
    has_open_marks: bool,
}

/// Entry with its section and its position in the file.
#[derive(Debug, Clone)]
pub struct PlacedEntry<'a> {
    /// The entry.
    pub indexed: &'a IndexedEntry,
    /// Titles of the enclosing sections, outermost first, without headings of level 1.
    pub section: Vec<&'a str>,
    /// Byte range of the entry in [`IndexFile::to_bytes`].
    pub span: Range<usize>,
}

impl IndexFile {
    /// Parses a file. [`IndexFile::to_bytes`] returns the same bytes until the file is changed.
    #[must_use]
    pub fn parse(bytes: &[u8], settings: IndexFileOptions) -> Self {
        parse::parse(bytes, settings)
    }

    /// Creates a file with all sections of v1 §5.3 and no entries.
    #[must_use]
    pub fn skeleton(reindexed: Timestamp, settings: IndexFileOptions) -> Self {
        let mut file = Self::parse(section::SKELETON.as_bytes(), settings);
        file.set_header(0, reindexed);
        file
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let blocks: Vec<&[u8]> = self.blocks.iter().map(IndexBlock::bytes).collect();
        blocks.concat()
    }

    /// Returns the entries in file order.
    pub fn entries(&self) -> impl Iterator<Item = &IndexedEntry> {
        self.blocks.iter().filter_map(IndexBlock::entry)
    }

    /// Returns the entries in file order with their sections and byte ranges.
    #[must_use]
    pub fn placed_entries(&self) -> Vec<PlacedEntry<'_>> {
        let mut out = Vec::new();
        let mut path = section::SectionPath::default();
        let mut start = 0;
        for block in &self.blocks {
            let end = start + block.bytes().len();
            match block {
                IndexBlock::Section(heading) => path.enter(heading.level, &heading.title),
                IndexBlock::Entry(indexed) => out.push(PlacedEntry {
                    indexed,
                    section: path.titles().collect(),
                    span: start..end,
                }),
                _ => {}
            }
            start = end;
        }
        out
    }

    /// Returns the entry with this id.
    #[must_use]
    pub fn get(&self, id: &EntryId) -> Option<&IndexedEntry> {
        self.entries().find(|indexed| indexed.entry.id == *id)
    }

    /// Returns copies of all entries in file order, the input of [`merge::merge`].
    #[must_use]
    pub fn to_entries(&self) -> Vec<Entry> {
        self.entries().map(|indexed| indexed.entry.clone()).collect()
    }

    /// Returns the ids that occur more than once in the file. Only the first occurrence is an entry; later ones are
    /// kept as text.
    #[must_use]
    pub fn copied_ids(&self) -> &BTreeSet<EntryId> {
        &self.copied
    }

    /// Returns `true` if a code fence or a generated block has no end. Such a mark is read as text.
    #[must_use]
    pub fn has_open_marks(&self) -> bool {
        self.has_open_marks
    }
}
