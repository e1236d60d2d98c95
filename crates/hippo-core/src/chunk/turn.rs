//! Who is speaking, and until when?

use std::collections::VecDeque;

use super::speaker::{Label, role_of_heading};
use super::{ChunkKind, Speaker};

/// Names that are remembered: more people seldom talk at once.
const NAMES: usize = 8;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turn: Option<Turn>,
    /// Names in front of colons since the last heading, the latest last.
    names: VecDeque<Box<str>>,
}

/// Words that go on until somebody else speaks.
#[derive(Debug)]
struct Turn {
    speaker: Speaker,
    /// A heading of this level or an outer one ends it: answers have headings of their own.
    level: u8,
    /// Said in a list item: what is not below the item ends it.
    item: bool,
}

impl Turns {
    /// Whose words the next block holds.
    pub fn speaker(&self) -> Speaker {
        self.turn.as_ref().map_or(Speaker::None, |turn| turn.speaker)
    }

    /// Takes a label into account that stands in a section of level `level`; the kind and speaker of its block.
    pub fn speak(&mut self, label: Option<Label<'_>>, level: u8, item: bool) -> Option<(ChunkKind, Speaker)> {
        match label? {
            Label::Role(speaker) => {
                // Before any heading, the first one of the outermost level ends it.
                let level = self.turn.as_ref().map_or(level.max(1), |turn| turn.level);
                self.turn = Some(Turn { speaker, level, item });
                Some((ChunkKind::Turn, speaker))
            }
            Label::Name(_) => Some((ChunkKind::Turn, Speaker::Other)),
        }
    }

    /// Whether a name was met since the last heading; it is remembered.
    pub fn meet(&mut self, name: &str) -> bool {
        if self.names.iter().any(|known| **known == *name) {
            return true;
        }
        if self.names.len() == NAMES {
            self.names.pop_front();
        }
        self.names.push_back(name.into());
        false
    }

    /// A list item, or a list, has ended.
    pub fn end_item(&mut self) {
        self.turn.take_if(|turn| turn.item);
    }

    /// A heading follows.
    pub fn heading(&mut self, level: u8, title: &str) {
        self.names.clear();
        self.turn.take_if(|turn| turn.item || level <= turn.level);
        // The heading of a whole file, `# User`, says what the file is about, not who speaks.
        if let Some(speaker) = role_of_heading(title).filter(|_| level > 1) {
            self.turn = Some(Turn {
                speaker,
                level,
                item: false,
            });
        }
    }
}
