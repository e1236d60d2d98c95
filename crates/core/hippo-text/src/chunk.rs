//! Division of a markdown file into sections and chunks.
//!
//! Parsing never fails: any bytes yield a [`Document`]. Offsets refer to the bytes on disk, lines count from 1, and
//! line ranges include both ends. A chunk never starts or ends inside a UTF-8 character. The running time is linear
//! in the number of bytes, and nesting in the input does not cause recursion.

mod front_matter;
pub mod line;
mod outline;
mod parse;
#[cfg(test)]
mod properties;
mod size;
mod speaker;
#[cfg(test)]
mod tests;
pub mod text;
mod turn;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use hippo_types::scope::ScopeRestriction;
use hippo_types::time::Date;

pub use front_matter::FrontMatter;
pub use speaker::{Speaker, is_role_label};

/// Version of the division of files into chunks, of the names under which files are indexed, and of the restrictions of
/// scopes. A greater version lets the daemon read all files again.
pub const VERSION: u32 = 3;

/// Parsed markdown file: front matter, sections and chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Fields between the `---` lines at the top.
    pub front_matter: FrontMatter,
    /// Title from the front matter, or the first heading.
    pub title: Option<String>,
    /// Sections in file order.
    pub sections: Vec<Section>,
    /// Chunks in file order, without overlaps.
    pub chunks: Vec<Chunk>,
    /// Byte ranges of the blocks in which hippod repeats content of other files, in file order and in whole lines. No
    /// chunk or section covers these ranges.
    pub copies: Vec<Range<usize>>,
}

impl Document {
    /// Returns the bytes of a range of the file, without the blocks listed in [`copies`](Self::copies).
    #[must_use]
    pub fn without_copies<'b>(&self, bytes: &'b [u8], of: Range<usize>) -> Cow<'b, [u8]> {
        let piece = |span: Range<usize>| bytes.get(span).unwrap_or_default();
        // The ranges are sorted, so the ones before the requested range are skipped by binary search.
        let first = self.copies.partition_point(|copy| copy.end <= of.start);
        let copies = self.copies[first..].iter();
        let end = of.end;
        let mut inside = copies.take_while(|copy| copy.start < end).peekable();
        if inside.peek().is_none() {
            return Cow::Borrowed(piece(of));
        }
        let (mut out, mut from) = (Vec::new(), of.start);
        for copy in inside {
            out.extend_from_slice(piece(from..copy.start.max(from)));
            from = copy.end;
        }
        out.extend_from_slice(piece(from..end.max(from)));
        Cow::Owned(out)
    }
}

/// Heading with the text up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Heading level, 1 to 6; 0 for text before the first heading.
    pub level: u8,
    /// Heading text without `#` marks or underline; empty at level 0.
    pub title: String,
    /// Index of the nearest preceding section with a lower level other than 0.
    pub parent: Option<u32>,
    /// Line of the heading, or of the first text at level 0.
    pub start_line: u32,
    /// Last line before the next heading.
    pub end_line: u32,
    /// Full date in the heading, such as `# 2024-04-25` or `## 2024-04-25 standup`.
    pub date: Option<Date>,
}

/// Unit of text that a search returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Type of the block.
    pub kind: ChunkKind,
    /// Index into [`Document::sections`].
    pub section: u32,
    /// First line of the chunk.
    pub start_line: u32,
    /// Last line of the chunk.
    pub end_line: u32,
    /// Offset of the chunk's first byte.
    pub start_byte: u64,
    /// Offset after the chunk's last byte.
    pub end_byte: u64,
    /// Hash of the chunk's bytes.
    pub hash: ContentHash,
    /// Author of the text.
    pub speaker: Speaker,
}

/// Type of block that a chunk contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChunkKind {
    /// A paragraph, or a part of a long one.
    #[default]
    Paragraph,
    /// A list item with its continuation lines, or several short items.
    Item,
    /// A line that names its speaker: `User: …`, `- **Caroline:** …`.
    Turn,
    /// A table, or some of its rows.
    Table,
    /// A block quote.
    Quote,
    /// Fenced or indented code.
    Code,
    /// The heading of a section without other content.
    Heading,
}

impl ChunkKind {
    /// Returns a stable number for storage: the position of the kind in this enum.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the kind with this number; [`ChunkKind::Paragraph`] for unknown numbers.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        #[rustfmt::skip] // keep the list compact
        const ALL: [ChunkKind; 7] = [
            ChunkKind::Paragraph, ChunkKind::Item, ChunkKind::Turn, ChunkKind::Table, ChunkKind::Quote, ChunkKind::Code,
            ChunkKind::Heading,
        ];
        ALL.get(usize::from(code)).copied().unwrap_or_default()
    }
}

/// BLAKE3 hash, truncated to 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ContentHash(pub [u8; 16]);

impl ContentHash {
    /// Returns the hash of the bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Self(short)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses a markdown file into sections, chunks and front matter.
#[must_use]
pub fn chunk(bytes: &[u8]) -> Document {
    parse::parse(bytes)
}

/// Returns the restriction of the scope in the front matter of a file, as [`chunk`] finds it.
#[must_use]
pub fn scope_restriction(bytes: &[u8]) -> ScopeRestriction {
    front_matter::parse_front_matter(bytes).map_or_else(
        || front_matter::read_restriction(bytes),
        |found| found.fields.restriction,
    )
}

/// Returns the titles from the outermost heading down to this section; empty for text before the first heading.
#[must_use]
pub fn heading_path(sections: &[Section], section: u32) -> Vec<String> {
    let at = |index: u32| sections.get(index as usize);
    let chain = std::iter::successors(at(section), |section| at(section.parent?));
    let headings = chain.filter(|section| section.level > 0);
    let mut path: Vec<String> = headings.map(|section| section.title.clone()).collect();
    path.reverse();
    path
}

/// Returns the last line of a section including its subsections.
#[must_use]
pub fn section_end(document: &Document, section: u32) -> u32 {
    let sections = document.sections.get(section as usize..).unwrap_or_default();
    let Some(first) = sections.first() else { return 0 };
    let inner = sections[1..]
        .iter()
        .take_while(|later| first.level > 0 && later.level > first.level);
    inner.last().unwrap_or(first).end_line
}

/// Returns the text of a chunk, with invalid UTF-8 replaced by U+FFFD. Returns an empty text if the range of the chunk
/// exceeds the bytes.
#[must_use]
pub fn chunk_text<'a>(bytes: &'a [u8], chunk: &Chunk) -> Cow<'a, str> {
    let range = usize::try_from(chunk.start_byte).unwrap_or(usize::MAX)
        ..usize::try_from(chunk.end_byte).unwrap_or(usize::MAX);
    String::from_utf8_lossy(bytes.get(range).unwrap_or_default())
}
