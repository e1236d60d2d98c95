//! What does an entry of the file say, and which of its bytes say it?

use std::ops::Range;

use super::line::{Line, Shape};
use super::token::{Kind, Token, may_name_a_file};
use super::{Diagnostic, Problem, Settings, line, meta, pointer, text, token};
use crate::entry::{Entry, Origin};

/// An entry as it stands in the file.
#[derive(Debug, Clone)]
pub struct Indexed {
    /// Its fields as understood.
    pub entry: Entry,
    /// Level of its heading, 2 to 6; `None` for a list item.
    pub level: Option<u8>,
    /// Line of its heading or item when the file was read; 0 for one inserted since.
    pub line: u32,
    /// Keys of its comment that are none of v1's, with their values as written.
    pub unknown: Vec<(String, String)>,
    /// Whether its comment states an id.
    pub(super) has_id: bool,
    /// Its bytes, from its first line to the next heading or item.
    pub(super) text: Vec<u8>,
    /// What stands where in them.
    pub(super) layout: Layout,
}

/// Where the parts of an entry stand in its bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// Topic, with the closing marks of its heading.
    pub topic: Range<usize>,
    /// Summary, all its lines.
    pub summary: Option<Range<usize>>,
    /// Pointer lines with their arrows; for an item, what follows its arrow.
    pub pointers: Vec<Range<usize>>,
    /// The `hx` comment.
    pub comment: Option<Range<usize>>,
}

impl Indexed {
    /// Its bytes, with all that belongs to it: what its removal takes out of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.text
    }

    /// Whether its comment states its id; else the id comes from its topic.
    #[must_use]
    pub const fn states_id(&self) -> bool {
        self.has_id
    }

    /// Whether its bytes say something that none of its fields does: prose, code, unknown keys.
    #[must_use]
    pub fn says_more(&self) -> bool {
        let Layout {
            topic,
            summary,
            pointers,
            comment,
        } = &self.layout;
        let first = if self.level.is_some() {
            Some(topic)
        } else {
            pointers.first()
        };
        let start = 0..first.map_or(0, |span| span.end);
        let rest = summary.iter().chain(pointers).chain(comment).cloned();
        let mut known: Vec<Range<usize>> = std::iter::once(start).chain(rest).collect();
        known.sort_by_key(|span| span.start);
        let (mut at, mut more) = (0, !self.unknown.is_empty());
        for span in known {
            more |= !self.text[at..span.start.max(at)].trim_ascii().is_empty();
            at = span.end.max(at);
        }
        more || !self.text[at..].trim_ascii().is_empty()
    }

    /// Reads the bytes of one entry again; `None` when they are none any more.
    pub(super) fn read(text: Vec<u8>, line: u32, settings: &Settings) -> Option<Self> {
        let mut unread = Vec::new();
        let lines = line::read(&text, line, &mut unread);
        let tokens = token::tokens(&text, &lines);
        let start = tokens.first()?;
        match start.kind {
            Kind::Title { .. } => is_entry(&tokens, &[], &text).then_some(())?,
            Kind::Item { .. } => {}
            _ => return None,
        }
        let mut it = Self::understand(&text, &lines, &tokens, settings, &mut unread);
        it.text = text;
        Some(it)
    }

    /// Understands the tokens of one entry, its heading or item first; offsets become those of its own bytes, which the
    /// caller adds.
    pub(super) fn understand(
        text: &[u8],
        lines: &[Line],
        tokens: &[Token],
        settings: &Settings,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let first = &lines[tokens.first().map_or(0, |token| token.line)];
        let base = first.start;
        let mut entry = Entry {
            strength: 1.0,
            version: 1,
            ..Entry::default()
        };
        let level = match first.shape {
            Shape::Heading(level) => Some(level),
            _ => None,
        };
        let read = |span: &Range<usize>| String::from_utf8_lossy(&text[span.clone()]).into_owned();
        let moved = |span: &Range<usize>| span.start - base..span.end - base;
        let mut layout = Layout::default();
        let mut facts = None;
        for token in tokens {
            match &token.kind {
                Kind::Title { topic } => {
                    entry.topic = text::read_heading(&read(topic));
                    layout.topic = moved(&token.span);
                }
                Kind::Item { topic, list } if level.is_none() && layout.pointers.is_empty() => {
                    entry.topic = text::read_item(&read(topic));
                    layout.topic = moved(topic);
                    layout.pointers.push(moved(list));
                    entry.pointers = pointer::read(&read(list));
                }
                Kind::Pointer { list } | Kind::Labelled { list } => {
                    layout.pointers.push(moved(&token.span));
                    entry.pointers.extend(pointer::read(&read(list)));
                }
                Kind::Item { list, .. } if may_name_a_file(&text[list.clone()]) => {
                    layout.pointers.push(moved(&token.span));
                    entry.pointers.extend(pointer::read(&read(list)));
                }
                Kind::Hx if layout.comment.is_none() => layout.comment = Some(moved(&token.span)),
                Kind::Hx => diagnostics.push(Diagnostic {
                    line: lines[token.line].number,
                    problem: Problem::SecondComment,
                }),
                Kind::Facts => facts = text::facts(&text[token.span.clone()]),
                _ => {}
            }
        }
        if let Some(span) = summary(tokens, level.is_some()) {
            entry.summary = text::read_summary(&read(&span));
            layout.summary = Some(moved(&span));
        }
        let comment = layout.comment.clone();
        let mut fields = comment.map(|span| meta::fields(&text[base + span.start..base + span.end]));
        let broken = tokens.iter().find(|token| token.kind == Kind::BrokenHx);
        if let (None, Some(token)) = (&fields, broken) {
            // Somebody lost its end: the entry must not look as if it had been removed. It is text when it is written.
            let known = meta::fields(&[&text[token.span.clone()], b"-->"].concat());
            fields = Some(
                known
                    .into_iter()
                    .filter(|field| meta::KEYS.contains(&&*field.key))
                    .collect(),
            );
        }
        let pairs: Vec<(&str, &str)> = match (&fields, &facts) {
            (Some(fields), _) => fields.iter().map(|field| (&*field.key, &*field.value)).collect(),
            (None, facts) => {
                // Nobody but a person or an agent writes an entry without a comment.
                entry.origin = Origin::Manual;
                let facts = facts.iter().flatten();
                facts.map(|(key, value)| (*key, &**value)).collect()
            }
        };
        let at = tokens
            .iter()
            .find(|token| matches!(token.kind, Kind::Hx | Kind::BrokenHx))
            .map_or(first.number, |token| lines[token.line].number);
        let has_id = meta::apply(&pairs, &mut entry, settings, at, diagnostics);
        if !has_id && fields.is_some() {
            diagnostics.push(Diagnostic {
                line: at,
                problem: Problem::NoId,
            });
        }
        let unknown = pairs.iter().filter(|(key, _)| !meta::KEYS.contains(key));
        Self {
            unknown: unknown
                .map(|&(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            entry,
            level,
            line: first.number,
            has_id,
            text: Vec::new(),
            layout,
        }
    }
}

/// Whether the tokens of a heading, and those of the `items` that follow them, make it an entry: a comment of its own, or pointers.
///
/// A section that the protocol names is one only with a comment. Labelled items count where no item has an arrow.
pub(super) fn is_entry(tokens: &[Token], items: &[Token], text: &[u8]) -> bool {
    let Some(Kind::Title { topic }) = tokens.first().map(|token| &token.kind) else {
        return false;
    };
    let has = |wanted: fn(&Kind) -> bool| tokens.iter().any(|token| wanted(&token.kind));
    if has(|kind| matches!(kind, Kind::Hx | Kind::BrokenHx)) {
        return true;
    }
    let title = text::read_heading(&String::from_utf8_lossy(&text[topic.clone()]));
    let named = super::section::is_known(&title);
    let pointer = has(|kind| matches!(kind, Kind::Pointer { .. }));
    let item = tokens.iter().any(|token| match &token.kind {
        Kind::Item { list, .. } => may_name_a_file(&text[list.clone()]),
        _ => false,
    });
    let labelled = has(|kind| matches!(kind, Kind::Labelled { .. })) && !item && items.is_empty();
    !named && (pointer || labelled)
}

/// The first paragraph of plain words, if something of the entry follows it or there is no comment; for an item, the
/// indented words right below it.
fn summary(tokens: &[Token], heading: bool) -> Option<Range<usize>> {
    let prose = |token: &Token| matches!(token.kind, Kind::Prose { indented } if heading || indented);
    let first = tokens.iter().position(prose)?;
    let comments = |token: &Token| matches!(token.kind, Kind::Hx | Kind::BrokenHx);
    let comment = tokens.iter().position(comments);
    let own = tokens.first()?.line;
    let part = |token: &Token| {
        let counts = matches!(
            token.kind,
            Kind::Hx | Kind::Pointer { .. } | Kind::Labelled { .. }
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
