//! Construction of sections from headings.

use super::Section;
use super::line::MarkdownLine;
use hippo_types::time::find_date;

/// Sections that were found so far. The last section is open.
#[derive(Debug, Default)]
pub(super) struct SectionOutline {
    sections: Vec<Section>,
    /// First and last line of the open section's heading, as long as the section has no content.
    alone: Option<(MarkdownLine, MarkdownLine)>,
}

impl SectionOutline {
    /// Returns whether the file has neither headings nor text so far.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the level of the open section; 0 if there is none.
    pub fn level(&self) -> u8 {
        self.sections.last().map_or(0, |section| section.level)
    }

    /// Returns the index of the open section, for content on this line. Opens a section of level 0 if there is none.
    pub fn open_section(&mut self, line: u32) -> u32 {
        self.alone = None;
        if self.sections.is_empty() {
            self.push_section(0, String::new(), line, line);
        }
        u32::try_from(self.sections.len() - 1).unwrap_or(u32::MAX)
    }

    /// Ends the open section before a heading of level `next` on line `line`, or at the end of the file (level 0).
    ///
    /// Returns the lines of the section's heading if the section has no content and no subsections. In this case, the
    /// heading itself becomes a chunk.
    pub fn end_section(&mut self, next: u8, line: u32) -> Option<(MarkdownLine, MarkdownLine)> {
        let section = self.sections.last_mut()?;
        section.end_line = line.saturating_sub(1).max(section.start_line);
        let leaf = next <= section.level && !section.title.is_empty();
        self.alone.take().filter(|_| leaf)
    }

    /// Opens the section of a heading.
    pub fn begin_section(&mut self, level: u8, title: String, first: MarkdownLine, last: MarkdownLine) {
        self.push_section(level, title, first.number, last.number);
        self.alone = Some((first, last));
    }

    pub fn into_sections(self) -> Vec<Section> {
        self.sections
    }

    fn push_section(&mut self, level: u8, title: String, start_line: u32, end_line: u32) {
        let (date, parent) = (find_date(&title), self.find_parent(level));
        self.sections.push(Section {
            level,
            title,
            parent,
            start_line,
            end_line,
            date,
        });
    }

    /// Returns the nearest section with a lower level, except the text before the first heading.
    fn find_parent(&self, level: u8) -> Option<u32> {
        let mut at = self.sections.len().checked_sub(1)?;
        loop {
            let section = &self.sections[at];
            if section.level == 0 {
                return None;
            }
            if section.level < level {
                return u32::try_from(at).ok();
            }
            // Levels decrease along the chain of parents, so there are at most six steps.
            at = section.parent? as usize;
        }
    }
}
