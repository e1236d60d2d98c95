//! Which blocks does an index file consist of?

use super::Indexed;

/// A part of the file with its bytes; together they are the file.
#[derive(Debug, Clone)]
pub(super) enum Block {
    /// What is no concern of hippod's.
    Text(Vec<u8>),
    /// The comment that says what the file is.
    Header(Vec<u8>),
    /// The heading line of a section.
    Section(Section),
    /// What hippod makes below the heading of a section.
    Generated(Vec<u8>),
    /// An entry with everything that belongs to it.
    Entry(Box<Indexed>),
}

/// The heading of a section.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// 1 to 6.
    pub level: u8,
    /// Without marks and comments.
    pub title: String,
    /// The line, or the part of it before the file's header.
    pub text: Vec<u8>,
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) | Self::Header(text) | Self::Generated(text) => text,
            Self::Section(section) => &section.text,
            Self::Entry(indexed) => &indexed.text,
        }
    }

    pub(super) fn entry(&self) -> Option<&Indexed> {
        match self {
            Self::Entry(indexed) => Some(indexed),
            _ => None,
        }
    }
}
