//! Who is speaking, and until when?

use super::speaker::{Label, role_of_heading};
use super::{ChunkKind, Speaker};

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns(Option<Turn>);

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
        self.0.as_ref().map_or(Speaker::None, |turn| turn.speaker)
    }

    /// Takes a label into account that stands in a section of level `level`; the kind and speaker of its block.
    pub fn speak(&mut self, label: Option<Label<'_>>, level: u8, item: bool) -> Option<(ChunkKind, Speaker)> {
        match label? {
            Label::Role(speaker) => {
                // Before any heading, the first one of the outermost level ends it.
                let level = self.0.as_ref().map_or(level.max(1), |turn| turn.level);
                self.0 = Some(Turn { speaker, level, item });
                Some((ChunkKind::Turn, speaker))
            }
            // Within an answer, a marked word is emphasis.
            Label::Marked if self.0.is_none() => Some((ChunkKind::Turn, Speaker::Other)),
            Label::Marked | Label::Plain(_) => None,
        }
    }

    /// A list item, or a list, has ended.
    pub fn end_item(&mut self) {
        self.0.take_if(|turn| turn.item);
    }

    /// A heading follows.
    pub fn heading(&mut self, level: u8, title: &str) {
        self.0.take_if(|turn| turn.item || level <= turn.level);
        if let Some(speaker) = role_of_heading(title) {
            self.0 = Some(Turn {
                speaker,
                level,
                item: false,
            });
        }
    }
}
