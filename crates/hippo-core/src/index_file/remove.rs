//! What leaves the file with an entry, and what keeps the text around it as it was read?

use std::collections::BTreeSet;

use super::block::Block;
use super::line::{END, WALL};
use super::{IndexFile, Indexed, text};
use crate::entry::EntryId;

impl IndexFile {
    /// Takes an entry out of the file, with all that belongs to it.
    pub fn remove(&mut self, id: &EntryId) -> Option<Indexed> {
        let taken = self.get(id)?.clone();
        self.remove_all(&BTreeSet::from([id.clone()]));
        Some(taken)
    }

    /// Takes many entries out of the file at once.
    pub fn remove_all(&mut self, ids: &BTreeSet<EntryId>) {
        let goes = |block: &Block| matches!(block, Block::Entry(indexed) if ids.contains(&indexed.entry.id));
        let mut below_entry = false;
        let below = self.blocks.iter().map(|block| {
            let before = below_entry;
            below_entry = match block {
                Block::Section(_) | Block::Generated(_) => false,
                Block::Entry(indexed) if indexed.level.is_some() && !goes(block) => true,
                _ => before,
            };
            before
        });
        let below: Vec<bool> = below.collect();
        let mut left: Vec<Block> = Vec::with_capacity(self.blocks.len());
        // From the end: what follows an entry is known then.
        for (block, below) in std::mem::take(&mut self.blocks).into_iter().zip(below).rev() {
            if goes(&block) {
                left.extend(self.wall(below, left.last()));
            } else {
                left.push(block);
            }
        }
        left.reverse();
        self.blocks = left;
    }

    /// What is to stand in the place of an entry before `next`, lest that be taken for a part of an entry: the one that
    /// it would be `below`, or the heading further up, which a pointer or a comment makes one.
    fn wall(&self, below: bool, next: Option<&Block>) -> Option<Block> {
        let Some(Block::Text(text)) = next else {
            return None;
        };
        let marked = ["hx:", "→", "->"]
            .iter()
            .any(|mark| text::find(text, mark.as_bytes()).is_some());
        let means = if below {
            !text.trim_ascii().is_empty()
        } else {
            marked
        };
        let wall = [WALL, self.line_end, END, self.line_end].concat();
        means.then(|| Block::Generated(wall.into_bytes()))
    }
}
