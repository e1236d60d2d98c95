//! Entry of the index file and the positions of its fields.

use std::collections::BTreeSet;
use std::ops::Range;

use super::line::{IndexLine, LineShape};
use super::token::{IndexToken, TokenKind, may_name_a_file};
use super::{IndexFileOptions, line, meta, pointer, text, token};
use hippo_types::entry::{Entry, EntryOrigin};

/// Entry as read from the file.
#[derive(Debug, Clone, Default)]
pub struct IndexedEntry {
    /// Parsed fields.
    pub entry: Entry,
    /// Heading level, 2 to 6; `None` for a list item.
    pub level: Option<u8>,
    /// `true` if the entry's comment has keys that v1 does not define.
    pub(super) has_unknown: bool,
    /// `true` if the entry's comment contains an id.
    pub(super) has_id: bool,
    /// Bytes of the entry, from its first line to the next heading or item.
    pub(super) text: Vec<u8>,
    /// Positions of the entry's fields in `text`.
    pub(super) layout: EntryLayout,
}

/// Byte ranges of the fields of an entry.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryLayout {
    /// Topic, including the closing marks of the heading.
    pub topic: Range<usize>,
    /// All lines of the summary.
    pub summary: Option<Range<usize>>,
    /// Pointer lines with their arrows; for an item, the text after its arrow.
    pub pointers: Vec<Range<usize>>,
    /// The `hx` comment.
    pub comment: Option<Range<usize>>,
}

impl IndexedEntry {
    /// Returns all bytes of the entry. Its removal deletes exactly these bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Returns `true` if the entry's comment contains an id; otherwise the id is derived from the topic.
    #[must_use]
    pub const fn states_id(&self) -> bool {
        self.has_id
    }

    /// Returns `true` if the entry's bytes contain more than its fields: prose, code or unknown keys.
    #[must_use]
    pub fn has_other_content(&self) -> bool {
        self.has_unknown || !self.other_text().trim_ascii().is_empty()
    }

    /// Returns `true` if the entry has a line, apart from its fields, that an earlier version of it lacks.
    pub(super) fn adds_text_to(&self, earlier: &Self) -> bool {
        let [new, old] = [self, earlier].map(Self::other_text);
        let lines = |text: &'_ [u8]| -> BTreeSet<Vec<u8>> {
            let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            lines
                .filter(|line| !line.is_empty())
                .map(<[u8]>::to_vec)
                .collect()
        };
        !lines(&new).is_subset(&lines(&old))
    }

    /// Returns the bytes of the entry with spaces in place of its fields.
    pub(super) fn other_text(&self) -> Vec<u8> {
        let EntryLayout {
            topic,
            summary,
            pointers,
            comment,
        } = &self.layout;
        let first = self.level.map_or(pointers.first(), |_| Some(topic));
        let start = 0..first.map_or(0, |span| span.end);
        let mut rest = self.text.clone();
        for known in [&start].into_iter().chain(summary).chain(pointers).chain(comment) {
            rest[known.clone()].fill(b' ');
        }
        rest
    }

    /// Parses the bytes of one entry. Returns `None` if the bytes are no longer an entry.
    pub(super) fn parse(text: Vec<u8>, settings: &IndexFileOptions) -> Option<Self> {
        let (lines, _) = line::read_lines(&text);
        let tokens = token::tokenize(&text, &lines);
        let start = tokens.first()?;
        match start.kind {
            TokenKind::Title { .. } => is_entry(&tokens, &[], &text).then_some(())?,
            TokenKind::Item { .. } => {}
            _ => return None,
        }
        let mut it = Self::from_tokens(&text, &lines, &tokens, settings);
        it.text = text;
        Some(it)
    }

    /// Builds an entry from its tokens, of which the first is the heading or list item. Offsets become relative to the
    /// start of the entry. The caller sets the entry's bytes.
    pub(super) fn from_tokens(
        text: &[u8],
        lines: &[IndexLine],
        tokens: &[IndexToken],
        settings: &IndexFileOptions,
    ) -> Self {
        let first = &lines[tokens.first().map_or(0, |token| token.line)];
        let base = first.start;
        let mut entry = Entry {
            strength: 1.0,
            version: 1,
            ..Entry::default()
        };
        let level = match first.shape {
            LineShape::Heading(level) => Some(level),
            _ => None,
        };
        let read = |span: &Range<usize>| String::from_utf8_lossy(&text[span.clone()]).into_owned();
        let moved = |span: &Range<usize>| span.start - base..span.end - base;
        let mut layout = EntryLayout::default();
        let mut facts = None;
        for token in tokens {
            match &token.kind {
                TokenKind::Title { topic } => {
                    entry.topic = text::unescape_heading(&read(topic));
                    layout.topic = moved(&token.span);
                }
                TokenKind::Item { topic, list } if level.is_none() && layout.pointers.is_empty() => {
                    entry.topic = text::unescape_item(&read(topic));
                    layout.topic = moved(topic);
                    layout.pointers.push(moved(list));
                    entry.pointers = pointer::parse_list(&read(list));
                }
                TokenKind::Item { list, .. } if !may_name_a_file(&text[list.clone()]) => {}
                TokenKind::Pointer { list } | TokenKind::Labelled { list } | TokenKind::Item { list, .. } => {
                    layout.pointers.push(moved(&token.span));
                    entry.pointers.extend(pointer::parse_list(&read(list)));
                }
                TokenKind::Hx if layout.comment.is_none() => layout.comment = Some(moved(&token.span)),
                TokenKind::Facts => facts = text::parse_facts(&text[token.span.clone()]),
                _ => {}
            }
        }
        if let Some(span) = find_summary(tokens, level.is_some()) {
            entry.summary = text::unescape_summary(&read(&span));
            layout.summary = Some(moved(&span));
        }
        let comment = layout.comment.clone();
        let mut fields = comment.map(|span| meta::parse_fields(&text[base + span.start..base + span.end]));
        let broken = tokens.iter().find(|token| token.kind == TokenKind::BrokenHx);
        if let (None, Some(token)) = (&fields, broken) {
            // The comment has no end. Its known keys are still read, so that the entry does not count as removed; the
            // comment itself remains text.
            let mut known = meta::parse_fields(&[&text[token.span.clone()], b"-->"].concat());
            known.retain(|field| meta::KEYS.contains(&&*field.key));
            fields = Some(known);
        }
        let pairs: Vec<(&str, &str)> = match &fields {
            Some(fields) => fields.iter().map(|field| (&*field.key, &*field.value)).collect(),
            None => {
                // hippod always writes a comment, so an entry without one was written by a person or an agent.
                entry.origin = EntryOrigin::Manual;
                let facts = facts.iter().flatten();
                facts.map(|(key, value)| (*key, &**value)).collect()
            }
        };
        let has_id = meta::apply_fields(&pairs, &mut entry, settings);
        Self {
            has_unknown: pairs.iter().any(|(key, _)| !meta::KEYS.contains(key)),
            entry,
            level,
            has_id,
            text: Vec::new(),
            layout,
        }
    }
}

/// Returns `true` if the tokens of a heading make the heading an entry: a comment of its own, or pointers.
///
/// A heading with the title of a protocol section is an entry only if it has a comment. Labelled items count only if no
/// item has an arrow. `items` are the tokens of list items below the heading.
pub(super) fn is_entry(tokens: &[IndexToken], items: &[IndexToken], text: &[u8]) -> bool {
    let Some(TokenKind::Title { topic }) = tokens.first().map(|token| &token.kind) else {
        return false;
    };
    let has = |wanted: fn(&TokenKind) -> bool| tokens.iter().any(|token| wanted(&token.kind));
    if has(|kind| matches!(kind, TokenKind::Hx | TokenKind::BrokenHx)) {
        return true;
    }
    let title = text::unescape_heading(&String::from_utf8_lossy(&text[topic.clone()]));
    let named = super::IndexSection::from_title(&title).is_some();
    let pointer = has(|kind| matches!(kind, TokenKind::Pointer { .. }));
    let item = tokens.iter().any(
        |token| matches!(&token.kind, TokenKind::Item { list, .. } if may_name_a_file(&text[list.clone()])),
    );
    let labelled = has(|kind| matches!(kind, TokenKind::Labelled { .. })) && !item && items.is_empty();
    !named && (pointer || labelled)
}

/// Finds the summary. For a heading, this is the first paragraph of plain words, if another field of the entry follows
/// or the entry has no comment. For an item, the summary is the indented lines directly below.
fn find_summary(tokens: &[IndexToken], heading: bool) -> Option<Range<usize>> {
    let prose =
        |token: &IndexToken| matches!(token.kind, TokenKind::Prose { indented } if heading || indented);
    let first = tokens.iter().position(prose)?;
    let comments = |token: &IndexToken| matches!(token.kind, TokenKind::Hx | TokenKind::BrokenHx);
    let comment = tokens.iter().position(comments);
    let own = tokens.first()?.line;
    let part = |token: &IndexToken| {
        let counts = matches!(
            token.kind,
            TokenKind::Hx | TokenKind::Pointer { .. } | TokenKind::Labelled { .. }
        );
        counts && token.line > own
    };
    let last = tokens.iter().rposition(part);
    if heading && comment.is_some() && last.is_some_and(|last| last < first) {
        return None;
    }
    let mut end = &tokens[first];
    for token in &tokens[first + 1..] {
        if !prose(token) || token.line != end.line + 1 {
            break;
        }
        end = token;
    }
    Some(tokens[first].span.start..end.span.end)
}
