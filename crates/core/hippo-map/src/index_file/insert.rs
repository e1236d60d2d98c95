//! Insertion of entries and generated blocks.

use super::block::{IndexBlock, SectionHeading};
use super::line::WALL;
use super::section::{SectionPath, same_path};
use super::{IndexFile, IndexSection, IndexedEntry, edit, text};
use hippo_text::chunk::line::{Fence, trim};
use hippo_text::own_block::{BEGIN, END};
use hippo_types::entry::{Entry, EntryId};

impl IndexFile {
    /// Inserts a new entry at the end of a section. `section` contains the titles of the section and its parents,
    /// outermost first. Missing sections are created.
    ///
    /// An empty `section` means `By Topic`. The entry is a list item if it has pointers, otherwise a heading. Returns
    /// `false` if the file already has an entry with this id.
    pub fn insert(&mut self, entry: &Entry, section: &[&str]) -> bool {
        let entry = super::as_written(entry, &self.settings);
        if self.get(&entry.id).is_some() {
            return false;
        }
        let at = self.ensure_section(section);
        let indexed = edit::new_entry(&entry, None, self.line_end, &self.settings);
        self.insert_block(at, IndexBlock::Entry(Box::new(indexed)));
        true
    }

    /// Inserts the original bytes of an entry at the end of a section. The entry keeps its level, and the file gets its
    /// id.
    ///
    /// Returns `false` if the bytes are not an entry or have another id, or if the entry is already in the file.
    pub fn insert_bytes(&mut self, id: &EntryId, bytes: &[u8], section: &[&str]) -> bool {
        let mut text = bytes.trim_ascii_end().to_vec();
        text.extend_from_slice(self.line_end.as_bytes());
        let Some(mut indexed) = IndexedEntry::parse(text, &self.settings) else {
            return false;
        };
        if self.get(id).is_some() || (indexed.has_id && indexed.entry.id != *id) {
            return false;
        }
        indexed.entry.id = id.clone();
        let entry = indexed.entry.clone();
        let at = self.ensure_section(section);
        self.insert_block(at, IndexBlock::Entry(Box::new(indexed)));
        self.edit(&entry, true);
        true
    }

    /// Moves an entry with all its lines to the end of a section. The entry keeps its level. Returns `false` if the
    /// entry is already in that section or not in the file.
    pub fn relocate(&mut self, id: &EntryId, section: &[&str]) -> bool {
        let placed = self.placed_entries();
        let mut placed = placed.iter().filter(|placed| placed.indexed.entry.id == *id);
        if placed.any(|placed| same_path(&placed.section, section)) {
            return false;
        }
        let Some(mut indexed) = self.remove(id) else {
            return false;
        };
        indexed.text.truncate(indexed.text.trim_ascii_end().len());
        indexed.text.extend_from_slice(self.line_end.as_bytes());
        let at = self.ensure_section(section);
        self.insert_block(at, IndexBlock::Entry(Box::new(indexed)));
        true
    }

    /// Replaces the generated block of a section with `body`. A missing section is created. Returns `true` if any byte
    /// changed.
    ///
    /// No text between the marks of a generated block is read as an entry. Other text of the section is not changed. If
    /// `body` is empty, a section without a block does not get one.
    pub fn set_generated(&mut self, section: &[&str], body: &str) -> bool {
        let before = self.blocks.len();
        let end = self.ensure_section(section);
        let heading = self.blocks[..end]
            .iter()
            .rposition(|block| matches!(block, IndexBlock::Section(_)));
        let start = heading.map_or(0, |at| at + 1);
        let name = text::slug(section.last().unwrap_or(&IndexSection::ByTopic.name()));
        let mut text = format!("{BEGIN}{name} -->\n");
        let body = text::escape_comments(body.trim_matches(['\n', '\r']));
        for line in body.lines() {
            // A fence here could close an unclosed fence further up.
            let is_fence = Fence::parse(trim(line.as_bytes())).is_some();
            text.push_str(if is_fence { "\\" } else { "" });
            text.push_str(&format!("{line}\n"));
        }
        text.push_str(&format!("{END}\n"));
        let text = text.replace('\n', self.line_end).into_bytes();
        if let Some(at) = (start..end).find(|&at| has_listing(&self.blocks[at])) {
            let same = self.blocks[at].bytes().trim_ascii_end() == text.trim_ascii_end();
            if !same {
                self.blocks[at] = IndexBlock::Generated(text);
            }
            return !same;
        }
        if body.is_empty() {
            return self.blocks.len() != before;
        }
        let entry = (start..end).find(|&at| matches!(self.blocks[at], IndexBlock::Entry(_)));
        self.insert_block(entry.unwrap_or(end), IndexBlock::Generated(text));
        true
    }

    /// Finds or creates a section. Returns the index after the section's own blocks.
    pub(crate) fn ensure_section(&mut self, section: &[&str]) -> usize {
        let section = if section.is_empty() {
            &[IndexSection::ByTopic.name()][..]
        } else {
            section
        };
        let (mut at, mut level) = (0, 1);
        for depth in 1..=section.len() {
            match self.find_section(&section[..depth]) {
                Some(found) => (at, level) = found,
                // Below level 5, no levels would remain for a section and its entries.
                None if level >= 5 => break,
                None => {
                    let title = section[depth - 1];
                    let before = if depth == 1 {
                        self.new_section_index(title)
                    } else {
                        self.section_end(at, level)
                    };
                    level += 1;
                    at = self.insert_heading(before, level, title);
                }
            }
        }
        self.section_end(at, 6)
    }

    /// Returns the index and level of the section with this path.
    fn find_section(&self, section: &[&str]) -> Option<(usize, u8)> {
        let mut path = SectionPath::default();
        for (at, block) in self.blocks.iter().enumerate() {
            if let IndexBlock::Section(heading) = block {
                path.enter(heading.level, &heading.title);
                if same_path(&path.titles().collect::<Vec<_>>(), section) && heading.level > 1 {
                    return Some((at, heading.level));
                }
            }
        }
        None
    }

    /// Returns the index of the next section heading after `at` whose level is at most `level`.
    fn section_end(&self, at: usize, level: u8) -> usize {
        let ends =
            |block: &IndexBlock| matches!(block, IndexBlock::Section(heading) if heading.level <= level);
        let mut after = (at + 1)..self.blocks.len();
        after
            .find(|&at| ends(&self.blocks[at]))
            .unwrap_or(self.blocks.len())
    }

    /// Returns the index for a new section of level 2. The sections are in the order of v1; sections that v1 does not
    /// define are placed before the Decay Queue.
    fn new_section_index(&self, title: &str) -> usize {
        let own = IndexSection::from_title(title).unwrap_or(IndexSection::Associations);
        let later = |block: &IndexBlock| match block {
            IndexBlock::Section(heading) => {
                IndexSection::from_title(&heading.title).is_some_and(|known| known > own)
            }
            _ => false,
        };
        self.blocks.iter().position(later).unwrap_or(self.blocks.len())
    }

    /// Inserts a section heading and returns its index.
    fn insert_heading(&mut self, before: usize, level: u8, title: &str) -> usize {
        let title = text::one_line(title);
        let marks = "#".repeat(usize::from(level));
        let text = format!("{marks} {}{}", text::escape_heading(&title), self.line_end);
        let text = text.into_bytes();
        self.insert_block(before, IndexBlock::Section(SectionHeading { level, title, text }))
    }

    /// Inserts a block and returns its index. An empty line separates the block from the text before it and from a
    /// block after it. Two successive items have no empty line between them.
    fn insert_block(&mut self, mut at: usize, block: IndexBlock) -> usize {
        let end = self.line_end;
        let item = |block: &IndexBlock| block.entry().is_some_and(|indexed| indexed.level.is_none());
        let last = self.blocks[..at].last_mut();
        let neighbour = last.filter(|above| item(above) && item(&block));
        let tight = neighbour.is_some();
        if let Some(IndexBlock::Entry(above)) = neighbour {
            above.text.truncate(above.text.trim_ascii_end().len());
            above.text.extend_from_slice(end.as_bytes());
        }
        let mut above: Vec<u8> = Vec::new();
        for block in self.blocks[..at].iter().rev() {
            above = [block.bytes(), &above].concat();
            if above.len() > 4 {
                break;
            }
        }
        let bare = above.is_empty() || above == b"\xEF\xBB\xBF";
        if !(bare || tight || above.ends_with(b"\n\n") || above.ends_with(b"\n\r\n")) {
            let gap = end.repeat(if above.ends_with(b"\n") { 1 } else { 2 });
            self.blocks.insert(at, IndexBlock::Text(gap.into_bytes()));
            at += 1;
        }
        self.blocks.insert(at, block);
        let mut below = self.blocks[at + 1..].iter().map(IndexBlock::bytes);
        let below = below.find(|below| !below.is_empty());
        if below.is_some_and(|below| !below.starts_with(b"\n") && !below.starts_with(b"\r\n")) {
            match &mut self.blocks[at] {
                // The empty line belongs to the entry, as after parsing, and is removed with the entry.
                IndexBlock::Entry(indexed) => indexed.text.extend_from_slice(end.as_bytes()),
                _ => self.blocks.insert(at + 1, IndexBlock::Text(end.into())),
            }
        }
        at
    }
}

/// Returns `true` for a generated block with content, not a mere separator.
fn has_listing(block: &IndexBlock) -> bool {
    matches!(block, IndexBlock::Generated(text) if !text.starts_with(WALL.as_bytes()))
}
