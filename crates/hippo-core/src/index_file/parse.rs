//! Into which blocks does an index file fall?

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Section};
use super::indexed::is_entry;
use super::line::{Line, Shape};
use super::token::{Kind, Token, may_name_a_file};
use super::{Diagnostic, IndexFile, Indexed, Problem, Settings, line, text, token};
use crate::entry::EntryId;

/// Reads any bytes.
pub(super) fn parse(bytes: &[u8], settings: Settings) -> IndexFile {
    let settings = Settings {
        offset_seconds: settings.offset_seconds.clamp(-86_399, 86_399),
        entry_level: settings.entry_level.map(|level| level.clamp(2, 6)),
        ..settings
    };
    let mut diagnostics = Vec::new();
    let lines = line::read(bytes, 1, &mut diagnostics);
    let mut parser = Parser {
        bytes,
        settings,
        blocks: Vec::new(),
        end: 0,
        headed: false,
        diagnostics,
    };
    let mut rest = &lines[..];
    while let Some(first) = rest.first() {
        let generated = matches!(first.shape, Shape::Generated(_));
        let more = rest[1..].iter().position(|line| match line.shape {
            Shape::Generated(first) => !generated || first,
            Shape::Heading(_) => true,
            _ => generated,
        });
        let (group, after) = rest.split_at(more.map_or(rest.len(), |more| more + 1));
        parser.group(group);
        rest = after;
    }
    parser.text_until(bytes.len());
    let mut file = IndexFile {
        settings,
        line_end: if text::find(bytes, b"\r\n").is_some() {
            "\r\n"
        } else {
            "\n"
        },
        blocks: parser.blocks,
        diagnostics: parser.diagnostics,
    };
    name(&mut file);
    file.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    file
}

struct Parser<'a> {
    bytes: &'a [u8],
    settings: Settings,
    blocks: Vec<Block>,
    /// Offset after the last block.
    end: usize,
    /// Whether the header was found: the first counts.
    headed: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    /// What lies between the last block and `until`, as text.
    fn text_until(&mut self, until: usize) {
        if self.end < until {
            let text = self.bytes[self.end..until].to_vec();
            self.blocks.push(Block::Text(text));
            self.end = until;
        }
    }

    /// The bytes from the last block to `until`.
    fn take(&mut self, until: usize) -> Vec<u8> {
        let taken = self.bytes[self.end..until].to_vec();
        self.end = until;
        taken
    }

    /// A generated block, or a heading and the lines below it, or the lines before the first heading.
    fn group(&mut self, lines: &[Line]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        self.text_until(first.start);
        if matches!(first.shape, Shape::Generated(_)) {
            let text = self.take(last.next);
            self.blocks.push(Block::Generated(text));
            return;
        }
        let tokens = token::tokens(self.bytes, lines);
        for token in tokens.iter().filter(|token| token.kind == Kind::BrokenHx) {
            self.report(lines[token.line].number, Problem::OpenComment);
        }
        let own = own(&tokens);
        let level = match first.shape {
            Shape::Heading(level) => level,
            _ => 0,
        };
        if level >= 2 && is_entry(&tokens[..own], &tokens[own..], self.bytes) {
            let end = tokens.get(own).map_or(last.next, |token| lines[token.line].start);
            self.entry(&tokens[..own], lines, end);
            self.loose(&tokens[own..], lines);
        } else {
            if level > 0 {
                self.section(level, &tokens, first);
            }
            self.loose(&tokens, lines);
        }
    }

    fn section(&mut self, level: u8, tokens: &[Token], line: &Line) {
        let Some(Kind::Title { topic }) = tokens.first().map(|token| &token.kind) else {
            return;
        };
        let title = text::read_heading(&String::from_utf8_lossy(&self.bytes[topic.clone()]));
        // A comment on the line of the title is a block of its own.
        let header = tokens
            .get(1)
            .filter(|token| token.kind == Kind::Header && token.line == tokens[0].line);
        let text = self.take(header.map_or(line.next, |token| token.span.start));
        self.blocks.push(Block::Section(Section { level, title, text }));
    }

    fn entry(&mut self, tokens: &[Token], lines: &[Line], end: usize) {
        let mut indexed =
            Indexed::understand(self.bytes, lines, tokens, &self.settings, &mut self.diagnostics);
        indexed.text = self.take(end);
        self.blocks.push(Block::Entry(Box::new(indexed)));
    }

    /// What is below a section's heading: list items that are entries, the header, text.
    fn loose(&mut self, tokens: &[Token], lines: &[Line]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Kind::Item { list, .. } = &token.kind {
                let (count, line) = item_extent(&tokens[at..], lines);
                let own = &tokens[at..at + count];
                let commented = own.iter().any(|token| token.kind == Kind::Hx);
                if commented || may_name_a_file(&self.bytes[list.clone()]) {
                    self.text_until(lines[token.line].start);
                    self.entry(own, lines, lines[line].next);
                    at += count;
                    continue;
                }
            }
            if token.kind == Kind::Hx {
                self.report(lines[token.line].number, Problem::StrayComment);
            }
            if token.kind == Kind::Header && !self.headed {
                self.headed = true;
                self.text_until(token.span.start);
                let text = self.take(token.span.end);
                self.blocks.push(Block::Header(text));
            }
            at += 1;
        }
    }

    fn report(&mut self, line: u32, problem: Problem) {
        self.diagnostics.push(Diagnostic { line, problem });
    }
}

/// How many tokens belong to a heading: those before the first list item with an `hx` comment.
fn own(tokens: &[Token]) -> usize {
    let commented = |pair: &[Token]| {
        matches!(pair[0].kind, Kind::Item { .. }) && pair[1].kind == Kind::Hx && pair[0].line == pair[1].line
    };
    tokens.windows(2).position(commented).unwrap_or(tokens.len())
}

/// How many tokens belong to the list item that comes first, and the index of its last line: its own line with the
/// comment on it, and the indented words right below.
fn item_extent(tokens: &[Token], lines: &[Line]) -> (usize, usize) {
    let Some(first) = tokens.first() else {
        return (0, 0);
    };
    let (mut count, mut last) = (0, first.line);
    for token in tokens {
        let indented = matches!(token.kind, Kind::Prose { indented: true });
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

/// Gives ids to entries that state none; a second entry of an id becomes text again.
fn name(file: &mut IndexFile) {
    let mut taken: BTreeSet<EntryId> = BTreeSet::new();
    for block in &mut file.blocks {
        let Block::Entry(indexed) = block else { continue };
        if indexed.has_id && !taken.insert(indexed.entry.id.clone()) {
            file.diagnostics.push(Diagnostic {
                line: indexed.line,
                problem: Problem::DuplicateId(indexed.entry.id.clone()),
            });
            *block = Block::Text(std::mem::take(&mut indexed.text));
        }
    }
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    for block in &mut file.blocks {
        let Block::Entry(indexed) = block else { continue };
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
