//! Which blocks does a markdown file consist of?

mod aside;

use std::ops::Range;

use super::front_matter::{self, FrontMatter};
use super::line::{self, Fence, Line, Lines, indent, is_space, trim};
use super::outline::Outline;
use super::size::{Chunks, Piece};
use super::speaker::{self, Label};
use super::turn::Turns;
use super::{ChunkKind, Diagnostic, Document, Problem, Speaker, odd_bytes};

/// Bytes of a title. What stands below a heading has its title before it, so that a longer line is text.
const LONGEST_TITLE: usize = 1_000;
/// Lines in which a name has to come again.
const AHEAD: usize = 12;

/// Reads a file line by line.
pub(super) fn parse(bytes: &[u8]) -> Document {
    let mut parser = Parser {
        bytes,
        lines: Lines::new(bytes),
        outline: Outline::default(),
        chunks: Chunks::new(bytes),
        open: None,
        fence: None,
        fence_ends: None,
        fences_followed: 0,
        copies: Vec::new(),
        list: None,
        turns: Turns::default(),
        no_comment_end: false,
        diagnostics: odd_bytes(bytes).collect(),
    };
    let front_matter = parser.front_matter();
    while let Some(line) = parser.lines.next() {
        parser.line(line);
    }
    parser.finish(front_matter)
}

struct Parser<'a> {
    bytes: &'a [u8],
    lines: Lines<'a>,
    outline: Outline,
    chunks: Chunks<'a>,
    open: Option<Block>,
    fence: Option<Fence>,
    /// Whether the fence is closed at all, once that is known.
    fence_ends: Option<bool>,
    /// How often it was looked for; each may go to the end of the file.
    fences_followed: u8,
    copies: Vec<Range<usize>>,
    /// Columns before the markers of the list's outermost items.
    list: Option<usize>,
    turns: Turns,
    /// No `-->` follows any more.
    no_comment_end: bool,
    diagnostics: Vec<Diagnostic>,
}

/// A block whose next line is not known yet.
struct Block {
    kind: ChunkKind,
    speaker: Speaker,
    nested: bool,
    first: Line,
    /// Offset of the first byte; behind the indentation except for code.
    start: usize,
    /// The last line with content.
    last: Line,
}

impl Parser<'_> {
    fn front_matter(&mut self) -> FrontMatter {
        let Some(found) = front_matter::read(self.bytes, &mut self.diagnostics) else {
            return FrontMatter::default();
        };
        if let Some((first, last)) = found.inner
            && found.fields.has_prose()
        {
            self.begin(ChunkKind::Paragraph, first, self.text_start(first));
            self.extend(last);
            self.close();
        }
        while self
            .lines
            .next()
            .is_some_and(|line| line.number < found.close.number)
        {}
        found.fields
    }

    fn line(&mut self, line: Line) {
        let raw = &self.bytes[line.start..line.end];
        let text = trim(raw);
        if self.skip_own(line, text) {
            return;
        }
        if let Some(fence) = self.fence {
            if !text.is_empty() {
                self.extend(line);
            }
            if fence.closed_by(text) {
                self.fence = None;
                self.fence_ends = None;
                self.close();
            }
            return;
        }
        if text.is_empty() {
            // Blank lines do not end indented code; what follows decides.
            if !self.is_open(ChunkKind::Code) {
                self.close();
            }
            return;
        }
        let columns = indent(raw);
        if self.is_open(ChunkKind::Code) {
            if columns >= 4 {
                return self.extend(line);
            }
            self.close();
        }
        if text.starts_with(b"<!--") && self.skip_comment(line) {
            return;
        }
        if self.list.is_none() && columns >= 4 && self.open.is_none() {
            return self.begin(ChunkKind::Code, line, line.start);
        }
        if let Some(fence) = Fence::open(text) {
            self.settle(columns);
            self.begin(ChunkKind::Code, line, line.start);
            self.fence = Some(fence);
            return;
        }
        if columns < 4 {
            let heading = line::atx_heading(text).filter(|(_, title)| title.len() <= LONGEST_TITLE);
            if let Some((level, title)) = heading {
                return self.heading(level, title, line, line);
            }
            if let Some((level, first)) = self.underlined(text) {
                self.open = None;
                let title = trim(&self.bytes[first.start..first.end]);
                return self.heading(level, title, first, line);
            }
        }
        if line::is_rule(text) {
            self.close();
            self.list = None;
            return;
        }
        if self.is_open(ChunkKind::Table) {
            if text.contains(&b'|') {
                return self.extend(line);
            }
            self.close();
        }
        if text.starts_with(b"|") || self.is_table_header(text) {
            return self.table(line, columns);
        }
        if text.starts_with(b">") && columns < 4 {
            if self.is_open(ChunkKind::Quote) {
                return self.extend(line);
            }
            self.settle(columns);
            return self.begin(ChunkKind::Quote, line, self.text_start(line));
        }
        match line::list_marker(text) {
            Some(marker) => self.item(line, columns, text, marker),
            None => self.text(line, columns, text),
        }
    }

    /// A list item starts.
    fn item(&mut self, line: Line, columns: usize, text: &[u8], marker: usize) {
        let outermost = self.list.is_none_or(|list| columns < list + 2);
        let content = trim(&text[marker.min(text.len())..]);
        if outermost {
            self.list = Some(columns);
            self.turns.end_item();
        }
        let label = self.label(content);
        self.close();
        let spoken = self.turns.speak(label, self.outline.level(), true);
        let (kind, speaker) = spoken.unwrap_or((ChunkKind::Item, self.turns.speaker()));
        self.begin(kind, line, self.text_start(line));
        if let Some(block) = &mut self.open {
            block.nested = !outermost;
            block.speaker = speaker;
        }
        if let Some(fence) = Fence::open(content) {
            self.fence = Some(fence);
            if let Some(block) = &mut self.open {
                block.kind = ChunkKind::Code;
            }
        }
    }

    /// A line with nothing special about its start.
    fn text(&mut self, line: Line, columns: usize, text: &[u8]) {
        let label = self.label(text);
        if let Some((kind, speaker)) = self.turns.speak(label, self.outline.level(), false) {
            self.close();
            self.list = None;
            self.begin(kind, line, self.text_start(line));
            if let Some(block) = &mut self.open {
                block.speaker = speaker;
            }
            self.fence = speaker::fence_behind_label(text);
            return;
        }
        if self.open.is_some() {
            return self.extend(line);
        }
        self.settle(columns);
        self.begin(ChunkKind::Paragraph, line, self.text_start(line));
        if let Some(block) = &mut self.open {
            block.nested = self.list.is_some();
        }
    }

    /// The label of a line. People answer each other: what comes once, and not right after somebody's words, is the
    /// name of a field; within an answer it is emphasis.
    fn label<'t>(&mut self, text: &'t [u8]) -> Option<Label<'t>> {
        let label = speaker::label(text)?;
        if let Label::Name(name) = label {
            let answer = self.turns.speaker() != Speaker::None;
            let known = self.turns.meet(name) || self.is_open(ChunkKind::Turn);
            if answer || !(known || self.recurs(name)) {
                return None;
            }
        }
        Some(label)
    }

    /// Whether the same name starts one of the next lines.
    fn recurs(&self, name: &str) -> bool {
        self.lines.clone().take(AHEAD).any(|line| {
            let text = trim(&self.bytes[line.start..line.end]);
            let content = &text[line::list_marker(text).unwrap_or(0)..];
            speaker::label(trim(content)) == Some(Label::Name(name))
        })
    }

    fn table(&mut self, line: Line, columns: usize) {
        let text = trim(&self.bytes[line.start..line.end]);
        if self.is_table_header(text)
            && let Some(header) = &mut self.open
        {
            header.kind = ChunkKind::Table;
            return self.extend(line);
        }
        self.settle(columns);
        self.begin(ChunkKind::Table, line, self.text_start(line));
    }

    /// Whether this is the delimiter row under a header row that is the open paragraph.
    fn is_table_header(&self, text: &[u8]) -> bool {
        line::is_table_delimiter(text)
            && self.open.as_ref().is_some_and(|block| {
                block.kind == ChunkKind::Paragraph
                    && is_one_line(block)
                    && self.bytes[block.start..block.last.end].contains(&b'|')
            })
    }

    /// The line that `text` underlines as a heading.
    fn underlined(&self, text: &[u8]) -> Option<(u8, Line)> {
        let level = line::setext_level(text)?;
        let block = self.open.as_ref()?;
        let fits =
            block.kind == ChunkKind::Paragraph && is_one_line(block) && block.last.end - block.start <= 200;
        (fits && !block.nested).then_some((level, block.first))
    }

    fn heading(&mut self, level: u8, title: &[u8], first: Line, last: Line) {
        self.close();
        self.end_section(level, first.number);
        self.list = None;
        let title = String::from_utf8_lossy(title).into_owned();
        self.turns.heading(level, &title);
        self.outline.begin(level, title, first, last);
    }

    fn end_section(&mut self, next: u8, line: u32) {
        if let Some((first, last)) = self.outline.end(next, line) {
            self.begin(ChunkKind::Heading, first, self.text_start(first));
            self.extend(last);
            self.close();
        }
    }

    /// Closes what is open before a block with this indentation, which may lie outside the list.
    fn settle(&mut self, columns: usize) {
        self.close();
        if self.list.is_some_and(|list| columns < list + 2) {
            self.list = None;
        }
        if self.list.is_none() {
            self.turns.end_item();
        }
    }

    fn begin(&mut self, kind: ChunkKind, line: Line, start: usize) {
        let speaker = self.turns.speaker();
        self.open = Some(Block {
            kind,
            speaker,
            nested: false,
            first: line,
            start,
            last: line,
        });
    }

    fn extend(&mut self, line: Line) {
        if let Some(block) = &mut self.open {
            block.last = line;
        }
    }

    fn close(&mut self) {
        let Some(block) = self.open.take() else { return };
        let content = &self.bytes[block.start..block.last.end];
        let trailing = content.iter().rev().take_while(|&&byte| is_space(byte)).count();
        self.chunks.push(Piece {
            kind: block.kind,
            section: self.outline.fill(block.first.number),
            speaker: block.speaker,
            line: block.first.number,
            start: block.start,
            end: block.last.end - trailing,
            nested: block.nested,
        });
    }

    fn is_open(&self, kind: ChunkKind) -> bool {
        self.open.as_ref().is_some_and(|block| block.kind == kind)
    }

    /// Offset of the first byte of a line that is no white space.
    fn text_start(&self, line: Line) -> usize {
        let raw = &self.bytes[line.start..line.end];
        line.start + raw.iter().take_while(|&&byte| is_space(byte)).count()
    }

    fn finish(mut self, front_matter: FrontMatter) -> Document {
        if self.fence.is_some()
            && let Some(block) = &self.open
        {
            let line = block.first.number;
            self.diagnostics.push(Diagnostic {
                line,
                problem: Problem::OpenFence,
            });
        }
        self.close();
        self.end_section(0, self.lines.number() + 1);
        let sections = self.outline.into_sections();
        let heading = sections.iter().find(|section| !section.title.is_empty());
        let title = front_matter
            .title
            .clone()
            .or_else(|| heading.map(|section| section.title.clone()));
        Document {
            front_matter,
            title,
            sections,
            chunks: self.chunks.finish(),
            copies: self.copies,
            diagnostics: self.diagnostics,
        }
    }
}

const fn is_one_line(block: &Block) -> bool {
    block.first.number == block.last.number
}
