//! Into which sections and small units does a markdown file fall?
//!
//! Parsing never fails: any bytes give a [`Document`]. Offsets are offsets in the bytes on disk, lines count from 1
//! and both ends belong to the span. A chunk never starts or ends inside a UTF-8 character. The work is linear in
//! the number of bytes and nothing recurses on the input's depth.

mod front_matter;
pub(crate) mod line;
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

use crate::time::Date;

pub use front_matter::FrontMatter;
pub use speaker::Speaker;

/// What a file says: its fields, its outline and its retrieval units.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Fields between the `---` lines at the top; empty when there are none.
    pub front_matter: FrontMatter,
    /// Title: from the front matter, else the first heading.
    pub title: Option<String>,
    /// Sections in the order of the file.
    pub sections: Vec<Section>,
    /// Chunks in the order of the file; they never overlap.
    pub chunks: Vec<Chunk>,
    /// Bytes of what hippod wrote into the file and stands elsewhere as well, in whole lines and in order: no chunk and no section is of them.
    pub copies: Vec<Range<usize>>,
    /// What could not be read as it was perhaps meant.
    pub diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// Some of the file's bytes without what hippod copied into it: what people and agents see there as theirs.
    #[must_use]
    pub fn without_copies<'b>(&self, bytes: &'b [u8], of: Range<usize>) -> Cow<'b, [u8]> {
        let piece = |span: Range<usize>| bytes.get(span).unwrap_or_default();
        // Copies are in order: those before the piece are skipped at once.
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

/// A heading and the text up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1 to 6; 0 for text before any heading.
    pub level: u8,
    /// The heading without its marks; empty at level 0.
    pub title: String,
    /// The nearest section before it of a lower level that is not 0.
    pub parent: Option<u32>,
    /// Line of the heading, or of the first text at level 0.
    pub start_line: u32,
    /// Last line before the next heading.
    pub end_line: u32,
    /// A full date in the heading, such as `# 2024-04-25` or `## 2024-04-25 standup`.
    pub date: Option<Date>,
}

/// The small unit that retrieval works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// What it is made of.
    pub kind: ChunkKind,
    /// Index into [`Document::sections`].
    pub section: u32,
    /// First line.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// First byte.
    pub start_byte: u64,
    /// The byte after the last one.
    pub end_byte: u64,
    /// Hash of exactly these bytes.
    pub hash: ContentHash,
    /// Whose words these are.
    pub speaker: Speaker,
}

/// What a chunk is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ChunkKind {
    /// A paragraph, or a part of a long one.
    #[default]
    Paragraph,
    /// A list item with its continuation, or several tiny ones.
    Item,
    /// A line that names its speaker: `User: …`, `- **Caroline:** …`.
    Turn,
    /// A table, or some of its rows.
    Table,
    /// A block quote.
    Quote,
    /// Fenced or indented code.
    Code,
    /// The heading of a section that has nothing else.
    Heading,
}

impl ChunkKind {
    /// A number that keeps its meaning, for storing.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Paragraph => 0,
            Self::Item => 1,
            Self::Turn => 2,
            Self::Table => 3,
            Self::Quote => 4,
            Self::Code => 5,
            Self::Heading => 6,
        }
    }

    /// The kind with this number; unknown numbers read as [`ChunkKind::Paragraph`].
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Item,
            2 => Self::Turn,
            3 => Self::Table,
            4 => Self::Quote,
            5 => Self::Code,
            6 => Self::Heading,
            _ => Self::Paragraph,
        }
    }
}

/// BLAKE3 of some content, cut to 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ContentHash(pub [u8; 16]);

impl ContentHash {
    /// Hashes `bytes`.
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

/// Something odd about a file that did not keep it from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where it starts.
    pub line: u32,
    /// What it is.
    pub problem: Problem,
}

/// What [`chunk`] found odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The front matter has no second `---` line; it is read as text.
    #[error("front matter is not closed")]
    OpenFrontMatter,
    /// A code fence runs to the end of the file.
    #[error("code fence is not closed")]
    OpenFence,
    /// Bytes that are no UTF-8; they are shown as U+FFFD.
    #[error("not valid utf-8")]
    InvalidUtf8,
    /// A NUL byte, as in binary files.
    #[error("contains a nul byte")]
    Nul,
}

/// Reads a markdown file: sections, chunks and front matter.
#[must_use]
pub fn chunk(bytes: &[u8]) -> Document {
    parse::parse(bytes)
}

/// Where a file stops being text, if it does.
fn odd_bytes(bytes: &[u8]) -> impl Iterator<Item = Diagnostic> {
    let nul = bytes
        .iter()
        .position(|&byte| byte == 0)
        .map(|at| (at, Problem::Nul));
    let invalid = std::str::from_utf8(bytes).err();
    let invalid = invalid.map(|error| (error.valid_up_to(), Problem::InvalidUtf8));
    nul.into_iter().chain(invalid).map(|(at, problem)| {
        let before = bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
        Diagnostic {
            line: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
            problem,
        }
    })
}

/// Titles from the outermost heading down to this section's own; empty for text before any heading.
#[must_use]
pub fn heading_path(sections: &[Section], section: u32) -> Vec<String> {
    let mut path = Vec::new();
    let mut next = Some(section);
    while let Some(section) = next.and_then(|index| sections.get(index as usize)) {
        if section.level > 0 {
            path.push(section.title.clone());
        }
        next = section.parent;
    }
    path.reverse();
    path
}

/// Last line of a section together with the sections below it.
#[must_use]
pub fn section_end(document: &Document, section: u32) -> u32 {
    let sections = document.sections.get(section as usize..).unwrap_or_default();
    let Some(first) = sections.first() else { return 0 };
    let inner = sections[1..]
        .iter()
        .take_while(|later| first.level > 0 && later.level > first.level);
    inner.last().unwrap_or(first).end_line
}

/// The text of a chunk; bytes that are no UTF-8 are replaced by U+FFFD. Empty when the chunk is of other bytes.
#[must_use]
pub fn chunk_text<'a>(bytes: &'a [u8], chunk: &Chunk) -> Cow<'a, str> {
    let range = usize::try_from(chunk.start_byte).unwrap_or(usize::MAX)
        ..usize::try_from(chunk.end_byte).unwrap_or(usize::MAX);
    String::from_utf8_lossy(bytes.get(range).unwrap_or_default())
}
