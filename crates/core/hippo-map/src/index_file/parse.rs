//! Parser of the index file into blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{IndexBlock, SectionHeading};
use super::indexed::is_entry;
use super::line::{IndexLine, LineShape};
use super::token::{IndexToken, TokenKind, may_name_a_file};
use super::{IndexFile, IndexFileOptions, IndexedEntry, line, text, token};
use hippo_types::entry::EntryId;

/// Parses any bytes.
pub(super) fn parse(bytes: &[u8], settings: IndexFileOptions) -> IndexFile {
    let settings = IndexFileOptions {
        offset_seconds: settings.offset_seconds.clamp(-86_399, 86_399),
        ..settings
    };
    let (lines, has_open_marks) = line::read_lines(bytes);
    let mut parser = IndexParser {
        bytes,
        settings,
        blocks: Vec::new(),
        end: 0,
        has_header: false,
    };
    let mut rest = &lines[..];
    while let Some(first) = rest.first() {
        let generated = matches!(first.shape, LineShape::Generated(_));
        let more = rest[1..].iter().position(|line| match line.shape {
            LineShape::Generated(first) => !generated || first,
            LineShape::Heading(_) => true,
            _ => generated,
        });
        let (group, after) = rest.split_at(more.map_or(rest.len(), |more| more + 1));
        parser.push_group(group);
        rest = after;
    }
    parser.push_text_until(bytes.len());
    let mut file = IndexFile {
        settings,
        line_end: text::find_bytes(bytes, b"\r\n").map_or("\n", |_| "\r\n"),
        blocks: parser.blocks,
        copied: BTreeSet::new(),
        has_open_marks,
    };
    assign_ids(&mut file);
    file
}

struct IndexParser<'a> {
    bytes: &'a [u8],
    settings: IndexFileOptions,
    blocks: Vec<IndexBlock>,
    /// Offset after the last block.
    end: usize,
    /// `true` once a header was found. Only the first header counts.
    has_header: bool,
}

impl IndexParser<'_> {
    /// Appends the text between the last block and `until` as a block.
    fn push_text_until(&mut self, until: usize) {
        if self.end < until {
            let text = self.take_until(until);
            self.blocks.push(IndexBlock::Text(text));
        }
    }

    /// Consumes the bytes between the last block and `until`.
    fn take_until(&mut self, until: usize) -> Vec<u8> {
        let taken = self.bytes[self.end..until].to_vec();
        self.end = until;
        taken
    }

    /// Appends one group: a generated block, a heading with the lines below it, or the lines before the
    /// first heading.
    fn push_group(&mut self, lines: &[IndexLine]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        self.push_text_until(first.start);
        if matches!(first.shape, LineShape::Generated(_)) {
            let text = self.take_until(last.next);
            self.blocks.push(IndexBlock::Generated(text));
            return;
        }
        let tokens = token::tokenize(self.bytes, lines);
        let own = count_heading_tokens(&tokens);
        let level = match first.shape {
            LineShape::Heading(level) => level,
            _ => 0,
        };
        if level >= 2 && is_entry(&tokens[..own], &tokens[own..], self.bytes) {
            let end = tokens.get(own).map_or(last.next, |token| lines[token.line].start);
            self.push_entry(&tokens[..own], lines, end);
            self.push_section_content(&tokens[own..], lines);
        } else {
            if level > 0 {
                self.push_heading(level, &tokens, first);
            }
            self.push_section_content(&tokens, lines);
        }
    }

    fn push_heading(&mut self, level: u8, tokens: &[IndexToken], line: &IndexLine) {
        let Some(TokenKind::Title { topic }) = tokens.first().map(|token| &token.kind) else {
            return;
        };
        let title = text::unescape_heading(&String::from_utf8_lossy(&self.bytes[topic.clone()]));
        // A header comment on the title's line is a block of its own.
        let header = tokens
            .get(1)
            .filter(|token| token.kind == TokenKind::Header && token.line == tokens[0].line);
        let text = self.take_until(header.map_or(line.next, |token| token.span.start));
        self.blocks
            .push(IndexBlock::Section(SectionHeading { level, title, text }));
    }

    fn push_entry(&mut self, tokens: &[IndexToken], lines: &[IndexLine], end: usize) {
        let mut indexed = IndexedEntry::from_tokens(self.bytes, lines, tokens, &self.settings);
        indexed.text = self.take_until(end);
        self.blocks.push(IndexBlock::Entry(Box::new(indexed)));
    }

    /// Appends the content below a section heading: list items that are entries, the header, text.
    fn push_section_content(&mut self, tokens: &[IndexToken], lines: &[IndexLine]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let TokenKind::Item { list, .. } = &token.kind {
                let (count, line) = item_extent(&tokens[at..], lines);
                let own = &tokens[at..at + count];
                let commented = own.iter().any(|token| token.kind == TokenKind::Hx);
                if commented || may_name_a_file(&self.bytes[list.clone()]) {
                    self.push_text_until(lines[token.line].start);
                    let last = self.last_line_of_item(&tokens[at + count..], lines, line);
                    self.push_entry(own, lines, lines[last].next);
                    at += count;
                    at += tokens[at..].iter().take_while(|token| token.line <= last).count();
                    continue;
                }
            }
            if token.kind == TokenKind::Header && !self.has_header {
                self.has_header = true;
                self.push_text_until(token.span.start);
                let text = self.take_until(token.span.end);
                self.blocks.push(IndexBlock::Header(text));
            }
            at += 1;
        }
    }

    /// Returns the last line of a list item whose fields end at `last`. Indented lines after empty lines belong to the
    /// item, up to the next item that may be an entry.
    fn last_line_of_item(&self, tokens: &[IndexToken], lines: &[IndexLine], last: usize) -> usize {
        let is_own =
            |kind: &TokenKind| matches!(kind, TokenKind::Item { .. } | TokenKind::Hx | TokenKind::Header);
        let next = tokens.iter().find(|token| is_own(&token.kind));
        let next = next.map_or(lines.len(), |token| token.line);
        let (mut end, mut fenced) = (last, false);
        for (at, line) in lines.iter().enumerate().take(next).skip(last + 1) {
            let content = &self.bytes[line.start..line.end];
            let indented = content.starts_with(b"  ") || content.starts_with(b"\t");
            fenced = line.shape == LineShape::Fenced && (fenced || indented);
            if fenced || (indented && line.shape == LineShape::Plain) {
                end = at;
            } else if line.shape != LineShape::Plain || !content.trim_ascii().is_empty() {
                break;
            }
        }
        end
    }
}

/// Counts the tokens that belong to a heading: those before the first list item with an `hx` comment.
fn count_heading_tokens(tokens: &[IndexToken]) -> usize {
    let commented = |pair: &[IndexToken]| {
        matches!(pair[0].kind, TokenKind::Item { .. })
            && pair[1].kind == TokenKind::Hx
            && pair[0].line == pair[1].line
    };
    tokens.windows(2).position(commented).unwrap_or(tokens.len())
}

/// Returns the number of tokens of the first list item, and the index of its last line. The item consists of its own
/// line with the comment, and of the indented lines directly below.
fn item_extent(tokens: &[IndexToken], lines: &[IndexLine]) -> (usize, usize) {
    let Some(first) = tokens.first() else {
        return (0, 0);
    };
    let (mut count, mut last) = (0, first.line);
    for token in tokens {
        let indented = matches!(token.kind, TokenKind::Prose { indented: true });
        if token.line == last + 1 && indented {
            last += 1;
        } else if token.line > last {
            break;
        }
        while lines[last].end < token.span.end {
            last += 1;
        }
        count += 1;
    }
    (count, last)
}

/// Assigns an id to each entry without an id. A second entry with the same id becomes text.
fn assign_ids(file: &mut IndexFile) {
    let mut taken: BTreeSet<EntryId> = BTreeSet::new();
    for block in &mut file.blocks {
        let IndexBlock::Entry(indexed) = block else {
            continue;
        };
        if indexed.has_id && !taken.insert(indexed.entry.id.clone()) {
            file.copied.insert(indexed.entry.id.clone());
            *block = IndexBlock::Text(std::mem::take(&mut indexed.text));
        }
    }
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for block in &mut file.blocks {
        let IndexBlock::Entry(indexed) = block else {
            continue;
        };
        if !indexed.has_id {
            let slug = text::slug(&indexed.entry.topic);
            let number = numbers.entry(slug.clone()).or_default();
            indexed.entry.id = loop {
                *number += 1;
                let id = if *number == 1 {
                    slug.clone()
                } else {
                    format!("{slug}-{number}")
                };
                if taken.insert(EntryId(id.clone())) {
                    break EntryId(id);
                }
            };
        }
    }
}
