//! Removal of entries without side effects on the text around them.

use std::collections::BTreeSet;

use super::block::IndexBlock;
use super::line::WALL;
use super::{IndexFile, IndexedEntry, text};
use hippo_text::own_block::END;
use hippo_types::entry::EntryId;

impl IndexFile {
    /// Removes an entry with all its lines and returns it.
    pub fn remove(&mut self, id: &EntryId) -> Option<IndexedEntry> {
        let taken = self.get(id)?.clone();
        self.remove_all(&BTreeSet::from([id.clone()]));
        Some(taken)
    }

    /// Removes many entries at once.
    pub fn remove_all(&mut self, ids: &BTreeSet<EntryId>) {
        let is_removed = |block: &IndexBlock| matches!(block, IndexBlock::Entry(indexed) if ids.contains(&indexed.entry.id));
        let mut below_entry = false;
        let below = self.blocks.iter().map(|block| {
            let before = below_entry;
            below_entry = match block {
                IndexBlock::Section(_) | IndexBlock::Generated(_) => false,
                IndexBlock::Entry(indexed) if indexed.level.is_some() && !is_removed(block) => true,
                _ => before,
            };
            before
        });
        let below: Vec<bool> = below.collect();
        let mut left: Vec<IndexBlock> = Vec::with_capacity(self.blocks.len());
        // Blocks are processed in reverse order, so that each entry knows whether the block after it stays.
        for (block, below) in std::mem::take(&mut self.blocks).into_iter().zip(below).rev() {
            if is_removed(&block) {
                left.extend(self.separator_before(below, left.last()));
            } else {
                left.push(block);
            }
        }
        left.reverse();
        self.blocks = left;
    }

    /// Returns the separator that replaces a removed entry. It is needed if `next` would otherwise become part of
    /// another entry: of the entry above (if `below` is true), or of a heading further up that a pointer or comment
    /// would turn into an entry.
    fn separator_before(&self, below: bool, next: Option<&IndexBlock>) -> Option<IndexBlock> {
        let Some(IndexBlock::Text(text)) = next else {
            return None;
        };
        let marked = ["hx:", "→", "->"]
            .iter()
            .any(|mark| text::find_bytes(text, mark.as_bytes()).is_some());
        let means = if below {
            !text.trim_ascii().is_empty()
        } else {
            marked
        };
        let wall = [WALL, self.line_end, END, self.line_end].concat();
        means.then(|| IndexBlock::Generated(wall.into_bytes()))
    }
}
