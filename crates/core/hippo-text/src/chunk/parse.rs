//! Line-by-line markdown parser.

mod aside;

use std::ops::Range;

use super::front_matter::{self, FoundFrontMatter, FrontMatter};
use super::line::{self, Fence, MarkdownLine, MarkdownLines, indent, is_space, trim};
use super::outline::SectionOutline;
use super::size::{ChunkBuilder, SourceBlock};
use super::speaker::{self, SpeakerLabel};
use super::turn::TurnTracker;
use super::{ChunkKind, Document, Speaker};

/// Maximum bytes of a title. Titles are repeated before their content, so a longer heading is read as text.
const LONGEST_TITLE: usize = 1_000;
/// A name is a speaker if it occurs again within this number of lines.
const AHEAD: usize = 12;

/// Parses the bytes of a markdown file.
pub(super) fn parse(bytes: &[u8]) -> Document {
    let mut parser = MarkdownParser {
        bytes,
        lines: MarkdownLines::new(bytes),
        outline: SectionOutline::default(),
        chunks: ChunkBuilder::new(bytes),
        open: None,
        fence: None,
        fence_ends: None,
        fences_followed: 0,
        copies: Vec::new(),
        list: None,
        turns: TurnTracker::default(),
        no_comment_end: false,
    };
    let front_matter = parser.read_front_matter();
    while let Some(line) = parser.lines.next() {
        parser.read_line(line);
    }
    parser.close_block();
    // A note without text is found by the names in its front matter.
    if let Some(front) = front_matter.as_ref().filter(|front| front.fields.has_names())
        && parser.outline.is_empty()
    {
        parser.add_front_matter(front);
    }
    let fields = front_matter.map_or_else(
        || FrontMatter {
            restriction: front_matter::read_restriction(bytes),
            ..FrontMatter::default()
        },
        |front| front.fields,
    );
    parser.finish(fields)
}

struct MarkdownParser<'a> {
    bytes: &'a [u8],
    lines: MarkdownLines<'a>,
    outline: SectionOutline,
    chunks: ChunkBuilder<'a>,
    open: Option<OpenBlock>,
    fence: Option<Fence>,
    /// True if a later line closes the open fence; `None` until the parser has searched for that line.
    fence_ends: Option<bool>,
    /// Number of fences for whose end the parser has searched. Each search may read to the end of the file.
    fences_followed: u8,
    copies: Vec<Range<usize>>,
    /// Indentation of the list's outermost items, in columns.
    list: Option<usize>,
    turns: TurnTracker,
    /// True if the rest of the file contains no `-->`.
    no_comment_end: bool,
}

/// Block that may be continued by the next line.
struct OpenBlock {
    kind: ChunkKind,
    speaker: Speaker,
    nested: bool,
    first: MarkdownLine,
    /// Offset of the first byte. It is after the indentation, except for code.
    start: usize,
    /// Last line with content.
    last: MarkdownLine,
}

impl MarkdownParser<'_> {
    fn read_front_matter(&mut self) -> Option<FoundFrontMatter> {
        let found = front_matter::parse_front_matter(self.bytes)?;
        if found.fields.has_prose {
            self.add_front_matter(&found);
        }
        let close = found.close.number;
        while self.lines.next().is_some_and(|line| line.number < close) {}
        Some(found)
    }

    fn add_front_matter(&mut self, front: &FoundFrontMatter) {
        if let Some((first, last)) = front.inner {
            self.open_block(ChunkKind::Paragraph, first, self.text_start(first));
            self.extend_block(last);
            self.close_block();
        }
    }

    fn read_line(&mut self, line: MarkdownLine) {
        let raw = &self.bytes[line.start..line.end];
        let text = trim(raw);
        if self.skip_generated_block(line, text) {
            return;
        }
        if let Some(fence) = self.fence {
            if !text.is_empty() {
                self.extend_block(line);
            }
            if fence.is_closed_by(text) {
                self.fence = None;
                self.fence_ends = None;
                self.close_block();
            }
            return;
        }
        if text.is_empty() {
            // A blank line does not end indented code; the line after the blank line decides.
            if !self.is_open(ChunkKind::Code) {
                self.close_block();
            }
            return;
        }
        let columns = indent(raw);
        if self.is_open(ChunkKind::Code) {
            if columns >= 4 {
                return self.extend_block(line);
            }
            self.close_block();
        }
        if text.starts_with(b"<!--") && self.skip_comment(line) {
            return;
        }
        if self.list.is_none() && columns >= 4 && self.open.is_none() {
            self.open_block(ChunkKind::Code, line, line.start);
            return;
        }
        if let Some(fence) = Fence::parse(text) {
            self.close_before(columns);
            self.open_block(ChunkKind::Code, line, line.start);
            self.fence = Some(fence);
            return;
        }
        if columns < 4 {
            let heading = line::atx_heading(text).filter(|(_, title)| title.len() <= LONGEST_TITLE);
            if let Some((level, title)) = heading {
                return self.add_heading(level, title, line, line);
            }
            if let Some((level, first)) = self.find_underlined_heading(text) {
                self.open = None;
                let title = trim(&self.bytes[first.start..first.end]);
                return self.add_heading(level, title, first, line);
            }
        }
        if line::is_rule(text) {
            self.close_block();
            self.list = None;
            return;
        }
        if self.is_open(ChunkKind::Table) {
            if text.contains(&b'|') {
                return self.extend_block(line);
            }
            self.close_block();
        }
        if text.starts_with(b"|") || self.is_table_header(text) {
            return self.read_table_row(line, columns);
        }
        if text.starts_with(b">") && columns < 4 {
            if self.is_open(ChunkKind::Quote) {
                return self.extend_block(line);
            }
            self.close_before(columns);
            self.open_block(ChunkKind::Quote, line, self.text_start(line));
            return;
        }
        match line::list_marker(text) {
            Some(marker) => self.start_item(line, columns, text, marker),
            None => self.read_text(line, columns, text),
        }
    }

    fn start_item(&mut self, line: MarkdownLine, columns: usize, text: &[u8], marker: usize) {
        let outermost = self.list.is_none_or(|list| columns < list + 2);
        let content = trim(&text[marker.min(text.len())..]);
        if outermost {
            self.list = Some(columns);
            self.turns.end_item();
        }
        let label = self.find_label(content);
        self.close_block();
        let spoken = self.turns.apply_label(label, self.outline.level(), true);
        let (kind, speaker) = spoken.unwrap_or((ChunkKind::Item, self.turns.speaker()));
        self.fence = Fence::parse(content);
        let kind = self.fence.map_or(kind, |_| ChunkKind::Code);
        let block = self.open_block(kind, line, self.text_start(line));
        block.nested = !outermost;
        block.speaker = speaker;
    }

    /// Reads a line without special syntax at its start.
    fn read_text(&mut self, line: MarkdownLine, columns: usize, text: &[u8]) {
        let label = self.find_label(text);
        if let Some((kind, speaker)) = self.turns.apply_label(label, self.outline.level(), false) {
            self.close_block();
            self.list = None;
            self.open_block(kind, line, self.text_start(line)).speaker = speaker;
            self.fence = speaker::parse_fence_after_label(text);
            return;
        }
        if self.open.is_some() {
            return self.extend_block(line);
        }
        self.close_before(columns);
        let nested = self.list.is_some();
        self.open_block(ChunkKind::Paragraph, line, self.text_start(line))
            .nested = nested;
    }

    /// Returns the speaker label of a line. In a dialogue, names recur. A name that occurs only once, and not directly
    /// after a turn of another speaker, is therefore treated as the name of a field. A name inside a turn of the user
    /// or of the assistant is treated as emphasis.
    fn find_label<'t>(&mut self, text: &'t [u8]) -> Option<SpeakerLabel<'t>> {
        let label = speaker::parse_label(text)?;
        // `User: ada` alone is a field. In a dialogue, the assistant answers.
        let is_first = self.turns.speaker() == Speaker::None && !self.is_open(ChunkKind::Turn);
        if label == SpeakerLabel::Role(Speaker::User) && is_first && is_one_word(text) && !self.is_answered()
        {
            return None;
        }
        if let SpeakerLabel::Name(name) = label {
            let answer = self.turns.speaker() != Speaker::None;
            let known = self.turns.remember(name) || self.is_open(ChunkKind::Turn);
            if answer || !(known || self.recurs(name)) {
                return None;
            }
        }
        Some(label)
    }

    /// Returns true if one of the next [`AHEAD`] lines starts with the label of the assistant.
    fn is_answered(&self) -> bool {
        self.lines.clone().take(AHEAD).any(|line| {
            let label = speaker::parse_label(trim(&self.bytes[line.start..line.end]));
            label == Some(SpeakerLabel::Role(Speaker::Assistant))
        })
    }

    /// Returns true if one of the next [`AHEAD`] lines starts with the same name.
    fn recurs(&self, name: &str) -> bool {
        self.lines.clone().take(AHEAD).any(|line| {
            let text = trim(&self.bytes[line.start..line.end]);
            let content = &text[line::list_marker(text).unwrap_or(0)..];
            speaker::parse_label(trim(content)) == Some(SpeakerLabel::Name(name))
        })
    }

    fn read_table_row(&mut self, line: MarkdownLine, columns: usize) {
        let text = trim(&self.bytes[line.start..line.end]);
        if self.is_table_header(text)
            && let Some(header) = &mut self.open
        {
            header.kind = ChunkKind::Table;
            return self.extend_block(line);
        }
        self.close_before(columns);
        self.open_block(ChunkKind::Table, line, self.text_start(line));
    }

    /// Returns true for a delimiter row if the line above, the open paragraph, is a header row.
    fn is_table_header(&self, text: &[u8]) -> bool {
        line::is_table_delimiter(text)
            && self.open.as_ref().is_some_and(|block| {
                block.kind == ChunkKind::Paragraph
                    && is_one_line(block)
                    && self.bytes[block.start..block.last.end].contains(&b'|')
            })
    }

    /// Returns the heading that `text` underlines, with its level.
    fn find_underlined_heading(&self, text: &[u8]) -> Option<(u8, MarkdownLine)> {
        let level = line::setext_level(text)?;
        let block = self.open.as_ref()?;
        let fits =
            block.kind == ChunkKind::Paragraph && is_one_line(block) && block.last.end - block.start <= 200;
        (fits && !block.nested).then_some((level, block.first))
    }

    fn add_heading(&mut self, level: u8, title: &[u8], first: MarkdownLine, last: MarkdownLine) {
        self.close_block();
        self.end_section(level, first.number);
        self.list = None;
        let title = String::from_utf8_lossy(title).into_owned();
        self.turns.start_section(level, &title);
        self.outline.begin_section(level, title, first, last);
    }

    fn end_section(&mut self, next: u8, line: u32) {
        if let Some((first, last)) = self.outline.end_section(next, line) {
            self.open_block(ChunkKind::Heading, first, self.text_start(first));
            self.extend_block(last);
            self.close_block();
        }
    }

    /// Closes the open block before a block with this indentation, and the list if the new block is outside it.
    fn close_before(&mut self, columns: usize) {
        self.close_block();
        if self.list.is_some_and(|list| columns < list + 2) {
            self.list = None;
        }
        if self.list.is_none() {
            self.turns.end_item();
        }
    }

    fn open_block(&mut self, kind: ChunkKind, line: MarkdownLine, start: usize) -> &mut OpenBlock {
        self.open.insert(OpenBlock {
            kind,
            speaker: self.turns.speaker(),
            nested: false,
            first: line,
            start,
            last: line,
        })
    }

    fn extend_block(&mut self, line: MarkdownLine) {
        if let Some(block) = &mut self.open {
            block.last = line;
        }
    }

    fn close_block(&mut self) {
        let Some(block) = self.open.take() else { return };
        let content = &self.bytes[block.start..block.last.end];
        if matches!(block.kind, ChunkKind::Paragraph | ChunkKind::Item) && line::is_only_embeds(content) {
            return;
        }
        let trailing = content.iter().rev().take_while(|&&byte| is_space(byte)).count();
        self.chunks.push(SourceBlock {
            kind: block.kind,
            section: self.outline.open_section(block.first.number),
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

    /// Returns the offset of the first byte of a line that is not white space.
    fn text_start(&self, line: MarkdownLine) -> usize {
        let raw = &self.bytes[line.start..line.end];
        line.start + raw.iter().take_while(|&&byte| is_space(byte)).count()
    }

    fn finish(mut self, front_matter: FrontMatter) -> Document {
        self.end_section(0, self.lines.number() + 1);
        let sections = self.outline.into_sections();
        let headings = sections.iter().map(|section| &section.title);
        let mut titles = front_matter
            .title
            .iter()
            .chain(headings.filter(|title| !title.is_empty()));
        let title = titles.next().cloned();
        Document {
            front_matter,
            title,
            sections,
            chunks: self.chunks.finish(),
            copies: self.copies,
        }
    }
}

const fn is_one_line(block: &OpenBlock) -> bool {
    block.first.number == block.last.number
}

/// Returns true if one word without a mark at its end follows the colon of a label.
fn is_one_word(line: &[u8]) -> bool {
    let after = line
        .iter()
        .position(|&byte| byte == b':')
        .map_or(line, |colon| &line[colon + 1..]);
    let word = trim(after);
    !word.iter().any(u8::is_ascii_whitespace) && word.last().is_some_and(u8::is_ascii_alphanumeric)
}
