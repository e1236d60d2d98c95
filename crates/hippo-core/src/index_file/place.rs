//! Where in the file does an entry or a generated text go?

use super::block::{Block, Section};
use super::line::{BEGIN, END, WALL};
use super::section::Path;
use super::{EditError, IndexFile, Indexed, Known, edit, text};
use crate::chunk::line::{Fence, trim};
use crate::entry::{Entry, EntryId};

impl IndexFile {
    /// Puts a new entry at the end of a section, given by its titles from the outermost; sections that are missing are made.
    ///
    /// An empty path means `By Topic`. Its heading is one level below that of the section, unless the settings force a level.
    ///
    /// # Errors
    ///
    /// [`EditError::Exists`].
    pub fn insert(&mut self, entry: &Entry, section: &[&str]) -> Result<(), EditError> {
        let entry = super::as_written(entry, &self.settings);
        if self.get(&entry.id).is_some() {
            return Err(EditError::Exists(entry.id));
        }
        let (at, level) = self.place(section);
        let level = self.settings.entry_level.unwrap_or(level + 1).clamp(2, 6);
        let indexed = edit::new(&entry, level, self.line_end, &self.settings);
        self.put(at, Block::Entry(Box::new(indexed)));
        Ok(())
    }

    /// Puts the bytes that an entry had in the file to the end of a section; `false` when they are none of that entry, or it is
    /// there already. It keeps its level, and its id is stated.
    pub fn insert_bytes(&mut self, id: &EntryId, bytes: &[u8], section: &[&str]) -> bool {
        let mut text = bytes.trim_ascii_end().to_vec();
        text.extend_from_slice(self.line_end.as_bytes());
        let Some(mut indexed) = Indexed::read(text, 0, &self.settings) else {
            return false;
        };
        if self.get(id).is_some() || (indexed.has_id && indexed.entry.id != *id) {
            return false;
        }
        indexed.entry.id = id.clone();
        let entry = indexed.entry.clone();
        let (at, _) = self.place(section);
        self.put(at, Block::Entry(Box::new(indexed)));
        self.update_and_name(&entry).is_ok()
    }

    /// Moves an entry to the end of a section, with all that belongs to it; `false` when it is there already. It keeps its level.
    ///
    /// # Errors
    ///
    /// [`EditError::NoEntry`].
    pub fn relocate(&mut self, id: &EntryId, section: &[&str]) -> Result<bool, EditError> {
        let mut path = Path::default();
        for block in &self.blocks {
            match block {
                Block::Section(heading) => path.enter(heading.level, &heading.title),
                Block::Entry(indexed) if indexed.entry.id == *id && path.is(section) => return Ok(false),
                _ => {}
            }
        }
        let Some(mut indexed) = self.remove(id) else {
            return Err(EditError::NoEntry(id.clone()));
        };
        indexed.text.truncate(indexed.text.trim_ascii_end().len());
        indexed.text.extend_from_slice(self.line_end.as_bytes());
        let (at, _) = self.place(section);
        self.put(at, Block::Entry(Box::new(indexed)));
        Ok(true)
    }

    /// Makes `body` the generated text of a section, which is made when it is missing; `true` when that changed any byte.
    ///
    /// The text stands between two marks, and nothing between them is read as an entry. Other text of the section stays.
    pub fn set_generated(&mut self, section: &[&str], body: &str) -> bool {
        let (end, _) = self.place(section);
        let heading = self.blocks[..end]
            .iter()
            .rposition(|block| matches!(block, Block::Section(_)));
        let start = heading.map_or(0, |at| at + 1);
        let name = text::slug(section.last().unwrap_or(&Known::ByTopic.title()));
        let mut text = format!("{BEGIN}{name} -->\n");
        let body = text::escape_comments(body.trim_matches(['\n', '\r']));
        for line in body.lines() {
            // A fence here could close one that was left open further up.
            if Fence::parse(trim(line.as_bytes())).is_some() {
                text.push('\\');
            }
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(END);
        text.push('\n');
        let text = text.replace('\n', self.line_end).into_bytes();
        let mut own = start..end;
        let known = own.find(|&at| is_list(&self.blocks[at]));
        if let Some(at) = known {
            let old = self.blocks[at].bytes();
            let same = old.trim_ascii_end() == text.trim_ascii_end();
            if !same {
                self.blocks[at] = Block::Generated(text);
            }
            return !same;
        }
        let entry = (start..end).find(|&at| matches!(self.blocks[at], Block::Entry(_)));
        self.put(entry.unwrap_or(end), Block::Generated(text));
        true
    }

    /// Whether a section has a generated text.
    #[must_use]
    pub fn has_generated(&self, section: &[&str]) -> bool {
        let Some((at, _)) = self.find(section) else {
            return false;
        };
        let own = &self.blocks[at + 1..self.end_of(at, 6)];
        own.iter().any(is_list)
    }

    /// Index of the block after the own content of a section, and the level of its heading.
    fn place(&mut self, section: &[&str]) -> (usize, u8) {
        let section = if section.is_empty() {
            &[Known::ByTopic.title()][..]
        } else {
            section
        };
        let (mut at, mut level) = (0, 1);
        for depth in 1..=section.len() {
            match self.find(&section[..depth]) {
                Some(found) => (at, level) = found,
                // Below level 5 there is no room for a section and its entries.
                None if level >= 5 => break,
                None => {
                    let title = section[depth - 1];
                    let before = if depth == 1 {
                        self.top(title)
                    } else {
                        self.end_of(at, level)
                    };
                    level += 1;
                    at = self.make(before, level, title);
                }
            }
        }
        (self.end_of(at, 6), level)
    }

    /// Index and level of the section with this path.
    fn find(&self, section: &[&str]) -> Option<(usize, u8)> {
        let section: Vec<String> = section.iter().map(|title| text::one_line(title)).collect();
        let section: Vec<&str> = section.iter().map(String::as_str).collect();
        let mut path = Path::default();
        for (at, block) in self.blocks.iter().enumerate() {
            if let Block::Section(heading) = block {
                path.enter(heading.level, &heading.title);
                if path.is(&section) && heading.level > 1 {
                    return Some((at, heading.level));
                }
            }
        }
        None
    }

    /// Index of the next heading of a section after `at` with at most this level.
    fn end_of(&self, at: usize, level: u8) -> usize {
        let mut after = (at + 1).min(self.blocks.len())..self.blocks.len();
        let ends = |block: &Block| matches!(block, Block::Section(heading) if heading.level <= level);
        after
            .find(|&at| ends(&self.blocks[at]))
            .unwrap_or(self.blocks.len())
    }

    /// Where a new section of level 2 goes: in v1's order; one that v1 does not name before the Decay Queue.
    fn top(&self, title: &str) -> usize {
        let own = Known::of(title).unwrap_or(Known::Associations);
        let later = |block: &Block| match block {
            Block::Section(heading) => Known::of(&heading.title).is_some_and(|known| known > own),
            _ => false,
        };
        self.blocks.iter().position(later).unwrap_or(self.blocks.len())
    }

    /// Makes the heading of a section; returns its index.
    fn make(&mut self, before: usize, level: u8, title: &str) -> usize {
        let title = text::one_line(title);
        let marks = "#".repeat(usize::from(level));
        let text = format!("{marks} {}{}", text::escape_heading(&title), self.line_end);
        let text = text.into_bytes();
        self.put(before, Block::Section(Section { level, title, text }))
    }

    /// Inserts a block with an empty line before it and, where something follows, after it; returns its index.
    fn put(&mut self, mut at: usize, block: Block) -> usize {
        let end = self.line_end;
        let before = self.blocks[..at]
            .iter()
            .rev()
            .find(|block| !block.bytes().is_empty());
        let mut tail: Vec<u8> = Vec::new();
        for block in self.blocks[..at].iter().rev() {
            tail = [block.bytes(), &tail].concat();
            if tail.len() > 4 {
                break;
            }
        }
        let bare = before.is_none() || tail == b"\xEF\xBB\xBF";
        if !bare && !tail.ends_with(b"\n\n") && !tail.ends_with(b"\n\r\n") {
            let gap = if tail.ends_with(b"\n") {
                end.to_owned()
            } else {
                end.repeat(2)
            };
            self.blocks.insert(at, Block::Text(gap.into_bytes()));
            at += 1;
        }
        self.blocks.insert(at, block);
        let follows = self.blocks[at + 1..]
            .iter()
            .find(|block| !block.bytes().is_empty());
        let gapped = follows.is_none_or(|block| matches!(block.bytes(), [b'\n', ..] | [b'\r', b'\n', ..]));
        if !gapped {
            match &mut self.blocks[at] {
                // As when it is read: the empty line is the entry's, and goes with it.
                Block::Entry(indexed) => indexed.text.extend_from_slice(end.as_bytes()),
                _ => self.blocks.insert(at + 1, Block::Text(end.into())),
            }
        }
        at
    }
}

/// Whether hippod lists something here; what only parts two texts is left alone.
fn is_list(block: &Block) -> bool {
    matches!(block, Block::Generated(text) if !text.starts_with(WALL.as_bytes()))
}
