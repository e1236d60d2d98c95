//! Which sections do the headings make?

use super::Section;
use super::line::Line;
use crate::time::find_date;

/// The sections so far; the last one is open.
#[derive(Debug, Default)]
pub(super) struct Outline {
    sections: Vec<Section>,
    /// Lines of the open section's heading while nothing has followed it.
    alone: Option<(Line, Line)>,
}

impl Outline {
    /// Level of the open section; 0 when there is none.
    pub fn level(&self) -> u8 {
        self.sections.last().map_or(0, |section| section.level)
    }

    /// The open section, which gets content that starts on this line; text before any heading opens one.
    pub fn fill(&mut self, line: u32) -> u32 {
        self.alone = None;
        if self.sections.is_empty() {
            self.push(0, String::new(), line, line);
        }
        u32::try_from(self.sections.len() - 1).unwrap_or(u32::MAX)
    }

    /// Ends the open section before a heading of level `next`, or the end of the file (0), on line `line`.
    ///
    /// When there is nothing else in it and nothing below it, its heading is what can be found: its lines are
    /// returned.
    pub fn end(&mut self, next: u8, line: u32) -> Option<(Line, Line)> {
        let section = self.sections.last_mut()?;
        section.end_line = line.saturating_sub(1).max(section.start_line);
        let leaf = next <= section.level && !section.title.is_empty();
        self.alone.take().filter(|_| leaf)
    }

    /// Opens the section of a heading.
    pub fn begin(&mut self, level: u8, title: String, first: Line, last: Line) {
        self.push(level, title, first.number, last.number);
        self.alone = Some((first, last));
    }

    pub fn into_sections(self) -> Vec<Section> {
        self.sections
    }

    fn push(&mut self, level: u8, title: String, start_line: u32, end_line: u32) {
        let (date, parent) = (find_date(&title), self.parent(level));
        self.sections.push(Section {
            level,
            title,
            parent,
            start_line,
            end_line,
            date,
        });
    }

    /// The nearest section with a lower level than this, but not the text before any heading.
    fn parent(&self, level: u8) -> Option<u32> {
        let mut at = self.sections.len().checked_sub(1)?;
        loop {
            let section = &self.sections[at];
            if section.level == 0 {
                return None;
            }
            if section.level < level {
                return u32::try_from(at).ok();
            }
            // Levels fall along the chain of parents: at most six steps.
            at = section.parent? as usize;
        }
    }
}
