//! How are some fields of an entry changed in its bytes?

use std::ops::Range;

use super::token::may_name_a_file;
use super::write::pointer_line;
use super::{EditError, IndexFile, Indexed, Settings, as_written, block::Block, meta, pointer, text, write};
use crate::entry::{Entry, EntryId};

impl IndexFile {
    /// Makes the entry with this id say what `entry` says; `true` when that changed any byte.
    ///
    /// Only what differs is written: the line of its topic, its summary, its pointers, values in its comment. An entry without a comment gets one
    /// when a value needs it.
    ///
    /// # Errors
    ///
    /// [`EditError::NoEntry`].
    pub fn update(&mut self, entry: &Entry) -> Result<bool, EditError> {
        self.edit(entry, false)
    }

    /// Like [`IndexFile::update`], and states the id of an entry that has it from its topic alone: such an id is another
    /// one when entries above go or come.
    ///
    /// # Errors
    ///
    /// [`EditError::NoEntry`].
    pub fn update_and_name(&mut self, entry: &Entry) -> Result<bool, EditError> {
        self.edit(entry, true)
    }

    fn edit(&mut self, entry: &Entry, named: bool) -> Result<bool, EditError> {
        let id = EntryId(entry.id.0.trim().to_owned());
        let mut found = self.blocks.iter_mut().filter_map(|block| match block {
            Block::Entry(indexed) => Some(indexed),
            _ => None,
        });
        let Some(indexed) = found.find(|indexed| indexed.entry.id == id) else {
            return Err(EditError::NoEntry(id));
        };
        let mut edit = Edit::new(indexed, entry, &self.settings, self.line_end);
        edit.named = named;
        let text = edit.text();
        if text == indexed.text {
            return Ok(false);
        }
        let read = Indexed::read(text, indexed.line, &self.settings);
        let mut read = read.unwrap_or_else(|| {
            // Bytes that could not be understood any more: the whole entry anew.
            let level = indexed.level.unwrap_or(2);
            new(entry, level, self.line_end, &self.settings)
        });
        if !read.has_id {
            read.entry.id = id;
        }
        **indexed = read;
        Ok(true)
    }
}

/// An entry that the file does not have yet.
pub(super) fn new(entry: &Entry, level: u8, line_end: &str, settings: &Settings) -> Indexed {
    let text = write::entry_text(entry, level, line_end, settings).into_bytes();
    Indexed::read(text.clone(), 0, settings).unwrap_or_else(|| Indexed {
        entry: as_written(entry, settings),
        level: Some(level),
        line: 0,
        unknown: Vec::new(),
        has_id: true,
        text,
        layout: super::indexed::Layout::default(),
    })
}

/// The changes to the bytes of one entry.
struct Edit<'a> {
    it: &'a Indexed,
    old: Entry,
    new: Entry,
    /// With moments of full precision.
    given: &'a Entry,
    /// The id is to be stated.
    named: bool,
    settings: &'a Settings,
    line_end: &'a str,
    /// Replaced spans, those at the same place in the order in which they are to stand.
    splices: Vec<(Range<usize>, String)>,
}

impl<'a> Edit<'a> {
    fn new(it: &'a Indexed, given: &'a Entry, settings: &'a Settings, file_end: &'a str) -> Self {
        let line_end = match it.text.iter().position(|&byte| byte == b'\n') {
            Some(at) if at > 0 && it.text[at - 1] == b'\r' => "\r\n",
            Some(_) => "\n",
            None => file_end,
        };
        Self {
            it,
            old: as_written(&it.entry, settings),
            new: as_written(given, settings),
            given,
            named: false,
            settings,
            line_end,
            splices: Vec::new(),
        }
    }

    fn text(mut self) -> Vec<u8> {
        self.topic();
        if self.it.level.is_some() {
            self.summary();
            self.pointers();
            self.comment();
        } else {
            self.pointers();
            self.comment();
            self.summary();
        }
        self.splices.sort_by_key(|(span, _)| span.start);
        let (mut out, mut at) = (Vec::with_capacity(self.it.text.len() + 64), 0);
        for (span, new) in &self.splices {
            out.extend_from_slice(&self.it.text[at..span.start.max(at)]);
            out.extend_from_slice(new.as_bytes());
            at = span.end.max(at);
        }
        out.extend_from_slice(&self.it.text[at..]);
        out
    }

    fn topic(&mut self) {
        if self.new.topic == self.old.topic {
            return;
        }
        let topic = match self.it.level {
            Some(_) => text::escape_heading(&self.new.topic),
            // An item without a topic would be a pointer of its section.
            None if self.new.topic.is_empty() => text::escape_item(&text::one_line(&self.new.id.0)),
            None => text::escape_item(&self.new.topic),
        };
        self.replace(self.it.layout.topic.clone(), topic);
    }

    fn summary(&mut self) {
        let summary = text::escape_summary(&self.new.summary);
        if let Some(span) = self.stranded() {
            self.remove(span);
            if !summary.is_empty() {
                self.insert_after(self.it.layout.topic.end, &summary);
            }
            return;
        }
        if self.new.summary == self.old.summary {
            return;
        }
        match (&self.it.layout.summary, self.new.summary.is_empty()) {
            (Some(span), false) => self.splices.push((span.clone(), summary)),
            (Some(span), true) => self.remove(span.clone()),
            (None, true) => {}
            (None, false) if self.it.level.is_some() => self.insert_after(self.it.layout.topic.end, &summary),
            (None, false) => self.insert_after(self.item_end(), &format!("  {summary}")),
        }
    }

    /// The summary, if nothing of the entry would follow it any more once pointers below it are gone: it must go up then.
    fn stranded(&self) -> Option<Range<usize>> {
        let layout = &self.it.layout;
        let (span, comment) = (layout.summary.clone()?, layout.comment.as_ref()?);
        let stays = layout.pointers.first().filter(|_| !self.new.pointers.is_empty());
        let gone =
            self.new.pointers != self.old.pointers && stays.is_none_or(|first| first.start < span.start);
        (self.it.level.is_some() && gone && comment.start < span.start).then_some(span)
    }

    fn pointers(&mut self) {
        if self.new.pointers == self.old.pointers {
            return;
        }
        let spans = self.it.layout.pointers.clone();
        let first = spans.first().cloned();
        match (first, self.it.level.is_some()) {
            (Some(span), false) => self.replace(span, pointer::write(&self.new.pointers)),
            (Some(span), true) if !self.new.pointers.is_empty() => {
                self.splices.push((span, pointer_line(&self.new.pointers)));
                spans.into_iter().skip(1).for_each(|span| self.remove(span));
            }
            (Some(_), true) => spans.into_iter().for_each(|span| self.remove(span)),
            (None, _) => {
                let summary = self.it.layout.summary.as_ref().map(|span| span.end);
                let after = summary.unwrap_or(self.it.layout.topic.end);
                self.insert_after(after, &pointer_line(&self.new.pointers));
            }
        }
    }

    fn comment(&mut self) {
        let layout = &self.it.layout;
        let Some(span) = layout.comment.clone() else {
            if self.named || self.needs_comment() {
                let comment = meta::comment(&self.new, self.settings);
                match (self.it.level, layout.pointers.first()) {
                    (None, Some(list)) => {
                        let gap = if list.is_empty() && self.new.pointers.is_empty() {
                            ""
                        } else {
                            " "
                        };
                        self.splices.push((list.end..list.end, format!("{gap}{comment}")));
                    }
                    _ => {
                        let ends = layout.pointers.iter().chain(&layout.summary).map(|span| span.end);
                        let after = ends.max().unwrap_or(layout.topic.end);
                        self.insert_after(after, &comment);
                    }
                }
            }
            return;
        };
        let comment = &self.it.text[span.clone()];
        let mut changes = self.changes(comment);
        let renamed =
            !self.it.has_id && (self.named || !changes.is_empty() || self.new.topic != self.old.topic);
        if renamed {
            let id = meta::values(&self.new, self.settings).swap_remove(0);
            changes.insert(0, id);
        }
        if !changes.is_empty() {
            let comment = meta::rewrite(comment, &changes);
            self.splices
                .push((span, String::from_utf8_lossy(&comment).into_owned()));
        }
    }

    /// Keys whose values differ, as they are to be written. A moment that was written to the second stays one.
    fn changes(&self, comment: &[u8]) -> Vec<(&'static str, Option<String>)> {
        let fields = meta::fields(comment);
        let exact = |key: &str| {
            let field = fields.iter().find(|field| field.key == key);
            field.is_some_and(|field| field.value.contains(':'))
        };
        let (old, new) = (
            meta::values(&self.old, self.settings),
            meta::values(&self.new, self.settings),
        );
        let pairs = old.into_iter().zip(new).skip(1);
        let mut changes: Vec<_> = pairs
            .filter_map(|((key, old), (_, new))| {
                let (old, new) = match key {
                    "created" if exact(key) => seconds(self.it.entry.created, self.given.created),
                    "accessed" if exact(key) => seconds(self.it.entry.accessed, self.given.accessed),
                    _ => (old, new),
                };
                (old != new).then_some((key, new))
            })
            .collect();
        // A moment that is not stated is taken from the other one: it must not move with it.
        let moments = ["created", "accessed"];
        if changes.iter().any(|(key, _)| moments.contains(key)) {
            for (key, value) in meta::values(&self.new, self.settings) {
                let stated =
                    fields.iter().any(|field| field.key == key) || changes.iter().any(|(it, _)| *it == key);
                if moments.contains(&key) && !stated {
                    changes.push((key, value));
                }
            }
        }
        changes
    }

    /// Whether an entry without a comment would lose something, or stop being an entry.
    fn needs_comment(&self) -> bool {
        let list = pointer::write(&self.new.pointers);
        let no_entry = match self.it.level {
            Some(_) => self.new.pointers.is_empty(),
            None => !may_name_a_file(list.as_bytes()),
        };
        let no_entry = no_entry && self.new.pointers != self.old.pointers;
        no_entry || self.new.topic != self.old.topic || !self.changes(b"").is_empty()
    }

    /// Replaces words on a line, which may stand beside marks.
    fn replace(&mut self, span: Range<usize>, mut new: String) {
        let bytes = &self.it.text;
        if span
            .start
            .checked_sub(1)
            .is_some_and(|at| !bytes[at].is_ascii_whitespace())
        {
            new.insert(0, ' ');
        }
        if bytes
            .get(span.end)
            .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            new.push(' ');
        }
        self.splices.push((span, new));
    }

    /// Takes a span out, with its lines when nothing else is on them.
    fn remove(&mut self, span: Range<usize>) {
        let bytes = &self.it.text;
        let start = bytes[..span.start]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let next = self.next_line(span.end);
        let alone =
            bytes[start..span.start].trim_ascii().is_empty() && bytes[span.end..next].trim_ascii().is_empty();
        let span = if alone { start..next } else { span };
        // Words above and below the line must not become one paragraph.
        let below = bytes[next..self.next_line(next)].trim_ascii();
        let words = alone && !below.is_empty() && !text::is_construct(below);
        let left = if words {
            self.line_end.to_owned()
        } else {
            String::new()
        };
        self.splices.push((span, left));
    }

    /// Puts a line below the one that `at` is on.
    fn insert_after(&mut self, at: usize, line: &str) {
        let next = self.next_line(at);
        let open = next == 0 || self.it.text[next - 1] != b'\n';
        let end = self.line_end;
        let line = if open {
            format!("{end}{line}")
        } else {
            format!("{line}{end}")
        };
        self.splices.push((next..next, line));
    }

    fn next_line(&self, at: usize) -> usize {
        let rest = &self.it.text[at..];
        rest.iter()
            .position(|&byte| byte == b'\n')
            .map_or(self.it.text.len(), |length| at + length + 1)
    }

    /// Where the pointers and the comment of an item end.
    fn item_end(&self) -> usize {
        let layout = &self.it.layout;
        let ends = layout.pointers.iter().chain(&layout.comment).map(|span| span.end);
        ends.max().unwrap_or(layout.topic.end)
    }
}

fn seconds(old: crate::time::Timestamp, new: crate::time::Timestamp) -> (Option<String>, Option<String>) {
    (Some(meta::second(old)), Some(meta::second(new)))
}
