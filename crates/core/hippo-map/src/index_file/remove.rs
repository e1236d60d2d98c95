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
        let mut below = vec![false];
        for (at, block) in self.blocks.iter().enumerate() {
            below.push(match block {
                IndexBlock::Section(_) | IndexBlock::Generated(_) => false,
                IndexBlock::Entry(indexed) if indexed.level.is_some() && !is_removed(block) => true,
                _ => below[at],
            });
        }
        let mut left: Vec<IndexBlock> = Vec::new();
        // Process the blocks in reverse order, so that the block that will follow a removed entry is known.
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

    /// Separates a section's heading from text below, if this text would turn the heading into an entry with a known
    /// id. This can happen after the items that prevented it were removed.
    pub fn separate_headings(&mut self, is_known: impl Fn(&EntryId) -> bool) {
        for at in (0..self.blocks.len()).rev() {
            let [IndexBlock::Section(heading), IndexBlock::Text(below), rest @ ..] = &self.blocks[at..]
            else {
                continue;
            };
            let has_items = matches!(rest, [IndexBlock::Entry(next), ..] if next.level.is_none());
            let is_taken = is_known(&EntryId(text::slug(&heading.title)));
            let lines = [heading.text.as_slice(), below].concat();
            if !has_items && is_taken && IndexedEntry::parse(lines, &self.settings).is_some() {
                self.blocks.insert(at + 1, self.wall());
            }
        }
    }

    /// Returns the separator that replaces a removed entry, or `None` if none is needed. Without a separator, the text
    /// in `next` could become part of the entry above (if `below` is true). A pointer or comment in `next` could also
    /// turn a heading further up into an entry.
    fn separator_before(&self, below: bool, next: Option<&IndexBlock>) -> Option<IndexBlock> {
        let Some(IndexBlock::Text(text)) = next else {
            return None;
        };
        let marked = text::find_bytes(text, b"hx:").is_some() || text::find_last_arrow(text).is_some();
        let means = marked || below && !text.trim_ascii().is_empty();
        means.then(|| self.wall())
    }

    /// Returns an empty generated block.
    fn wall(&self) -> IndexBlock {
        IndexBlock::Generated([WALL, self.line_end, END, self.line_end].concat().into_bytes())
    }
}
