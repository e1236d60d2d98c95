//! Tracking of the current speaker.

use std::collections::VecDeque;

use super::speaker::{SpeakerLabel, parse_heading_role};
use super::{ChunkKind, Speaker};

/// Maximum number of remembered names; a dialogue rarely has more speakers.
const NAMES: usize = 8;

/// State of a dialogue.
#[derive(Debug, Default)]
pub(super) struct TurnTracker {
    turn: Option<OpenTurn>,
    /// Names that occurred before a colon since the last heading, the latest last.
    names: VecDeque<Box<str>>,
}

/// Text of one speaker, which lasts until another speaker begins.
#[derive(Debug)]
struct OpenTurn {
    speaker: Speaker,
    /// A heading of this level or a higher one ends the turn; deeper headings belong to its text.
    level: u8,
    /// True if the turn is inside a list item. The end of the item then ends the turn.
    item: bool,
}

impl TurnTracker {
    /// Returns the author of the next block.
    pub fn speaker(&self) -> Speaker {
        self.turn.as_ref().map_or(Speaker::None, |turn| turn.speaker)
    }

    /// Updates the state for a label in a section of level `level`. Returns the kind and author of the block that the
    /// label begins.
    pub fn apply_label(
        &mut self,
        label: Option<SpeakerLabel<'_>>,
        level: u8,
        item: bool,
    ) -> Option<(ChunkKind, Speaker)> {
        match label? {
            SpeakerLabel::Role(speaker) => {
                // A turn before the first heading ends at the first heading of level 1.
                let level = self.turn.as_ref().map_or(level.max(1), |turn| turn.level);
                self.turn = Some(OpenTurn { speaker, level, item });
                Some((ChunkKind::Turn, speaker))
            }
            SpeakerLabel::Name(_) => Some((ChunkKind::Turn, Speaker::Other)),
        }
    }

    /// Remembers a name. Returns true if the name already occurred since the last heading.
    pub fn remember(&mut self, name: &str) -> bool {
        if self.names.iter().any(|known| **known == *name) {
            return true;
        }
        if self.names.len() == NAMES {
            self.names.pop_front();
        }
        self.names.push_back(name.into());
        false
    }

    /// Ends the current turn if it is inside a list item.
    pub fn end_item(&mut self) {
        self.turn.take_if(|turn| turn.item);
    }

    /// Updates the state for a heading.
    pub fn start_section(&mut self, level: u8, title: &str) {
        self.names.clear();
        self.turn.take_if(|turn| turn.item || level <= turn.level);
        // The heading of a whole file, `# User`, names its subject, not a speaker.
        if let Some(speaker) = parse_heading_role(title).filter(|_| level > 1) {
            self.turn = Some(OpenTurn {
                speaker,
                level,
                item: false,
            });
        }
    }
}
