//! Blocks of an index file.

use super::IndexedEntry;

/// Part of the file, with its bytes. All blocks joined together are the file.
#[derive(Debug, Clone)]
pub(super) enum IndexBlock {
    /// Text outside hippod's structures.
    Text(Vec<u8>),
    /// Header comment of the file.
    Header(Vec<u8>),
    /// Heading line of a section.
    Section(SectionHeading),
    /// Generated block below the heading of a section.
    Generated(Vec<u8>),
    /// Entry with all lines that belong to it.
    Entry(Box<IndexedEntry>),
}

/// Heading of a section.
#[derive(Debug, Clone)]
pub(super) struct SectionHeading {
    /// Heading level, 1 to 6.
    pub level: u8,
    /// Title without heading marks and comments.
    pub title: String,
    /// Bytes of the heading line, up to a header comment if the line contains one.
    pub text: Vec<u8>,
}

impl IndexBlock {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) | Self::Header(text) | Self::Generated(text) => text,
            Self::Section(section) => &section.text,
            Self::Entry(indexed) => &indexed.text,
        }
    }

    pub(super) fn header(&self) -> Option<&[u8]> {
        match self {
            Self::Header(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn entry(&self) -> Option<&IndexedEntry> {
        match self {
            Self::Entry(indexed) => Some(indexed),
            _ => None,
        }
    }
}
