//! What does the index file say, and how is it changed without touching anything else?
//!
//! docs/format.md is binding. Reading never fails: any bytes give an [`IndexFile`] and diagnostics, in time linear in their number, and
//! nothing recurses on their depth. The file is a sequence of blocks that own their bytes, so what was not understood or not
//! changed is written as it was read, byte for byte.

mod block;
mod edit;
mod header;
mod indexed;
mod line;
pub mod merge;
mod meta;
mod parse;
mod place;
mod pointer;
#[cfg(test)]
pub(crate) mod properties;
mod remove;
mod section;
#[cfg(test)]
mod tests;
mod text;
mod three_way;
mod token;
mod words;
mod write;

use std::ops::Range;

use crate::entry::{Entry, EntryId};
use crate::time::Timestamp;

pub use header::Header;
pub use indexed::Indexed;
pub use section::Known;
pub use text::slug;
pub use words::merge_words;
pub(crate) use write::written_text;
pub use write::{as_written, entry_text, pointer_line};

pub(crate) use line::{BEGIN, END};

use block::Block;

/// What reading and writing depend on besides the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Distance from UTC in seconds, east positive, at most a day: dates in the file are days there.
    pub offset_seconds: i32,
    /// When entries that state no date were made: the time of reading or the file's modification time.
    pub undated: Timestamp,
    /// Level of new entries, 2 to 6; `None`: one below the heading that they are placed under.
    pub entry_level: Option<u8>,
}

/// The index file, read and perhaps changed.
#[derive(Debug, Clone)]
pub struct IndexFile {
    settings: Settings,
    line_end: &'static str,
    blocks: Vec<Block>,
    diagnostics: Vec<Diagnostic>,
}

/// An entry and where it stands.
#[derive(Debug, Clone)]
pub struct Placed<'a> {
    /// The entry.
    pub indexed: &'a Indexed,
    /// Titles of the sections that it is in, the outermost first; headings of level 1 do not count.
    pub section: Vec<&'a str>,
    /// Where its bytes stand in [`IndexFile::to_bytes`].
    pub span: Range<usize>,
}

/// Something odd about the file that did not keep it from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where it starts; counts from 1.
    pub line: u32,
    /// What it is.
    pub problem: Problem,
}

/// What reading found odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A code fence runs to the end of the file; it is read as text.
    #[error("code fence is not closed")]
    OpenFence,
    /// A generated block has no last line; it is read as text.
    #[error("generated block is not closed")]
    OpenGenerated,
    /// An `hx` comment has no `-->` before the next heading.
    #[error("hx comment is not closed")]
    OpenComment,
    /// An `hx` comment below no entry.
    #[error("hx comment belongs to no entry")]
    StrayComment,
    /// An entry has more than one `hx` comment; the first counts.
    #[error("entry has a second hx comment")]
    SecondComment,
    /// An `hx` comment without an id; one is made from the topic.
    #[error("hx comment states no id")]
    NoId,
    /// An id that stands further up as well; the first counts, this one stays as text.
    #[error("id {0} is taken by an entry further up")]
    DuplicateId(EntryId),
    /// A key that stands twice in one comment; the first counts.
    #[error("key {0} is repeated")]
    RepeatedKey(&'static str),
    /// A value that is none for its key; the default counts, for `str` the nearest end of [0, 1].
    #[error("value of {0} cannot be used")]
    BadValue(&'static str),
}

/// Why an entry could not be put into the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no such entry.
    #[error("no entry {0} in the index file")]
    NoEntry(EntryId),
    /// There is one already.
    #[error("entry {0} is in the index file already")]
    Exists(EntryId),
}

impl IndexFile {
    /// Reads a file. `to_bytes` gives the same bytes until something is changed.
    #[must_use]
    pub fn parse(bytes: &[u8], settings: Settings) -> Self {
        parse::parse(bytes, settings)
    }

    /// A new file with all sections of v1 §5.3, without entries.
    #[must_use]
    pub fn skeleton(reindexed: Timestamp, settings: Settings) -> Self {
        let mut file = Self::parse(section::skeleton().as_bytes(), settings);
        file.set_header(0, reindexed);
        file
    }

    /// The file as it is to be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.blocks.iter().map(|block| block.bytes().len()).sum());
        for block in &self.blocks {
            out.extend_from_slice(block.bytes());
        }
        out
    }

    /// Entries in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = &Indexed> {
        self.blocks.iter().filter_map(Block::entry)
    }

    /// Entries in the order of the file, with the places where they stand.
    #[must_use]
    pub fn placed(&self) -> Vec<Placed<'_>> {
        let mut out = Vec::new();
        let mut path = section::Path::default();
        let mut start = 0;
        for block in &self.blocks {
            let end = start + block.bytes().len();
            match block {
                Block::Section(heading) => path.enter(heading.level, &heading.title),
                Block::Entry(indexed) => out.push(Placed {
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

    /// The entry with this id.
    #[must_use]
    pub fn get(&self, id: &EntryId) -> Option<&Indexed> {
        self.entries().find(|indexed| indexed.entry.id == *id)
    }

    /// Copies of all entries in the order of the file, as [`merge::merge`] takes them.
    #[must_use]
    pub fn to_entries(&self) -> Vec<Entry> {
        self.entries().map(|indexed| indexed.entry.clone()).collect()
    }

    /// What was odd when the file was read, in the order of lines.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
