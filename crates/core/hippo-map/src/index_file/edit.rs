//! Field edits of one entry in place.

use std::ops::Range;

use super::token::may_name_a_file;
use super::write::pointer_line;
use super::{
    IndexFile, IndexFileOptions, IndexedEntry, as_written, block::IndexBlock, meta, pointer, text, write,
};
use hippo_types::entry::{Entry, EntryId};

impl IndexFile {
    /// Writes the fields of `entry` to the entry with the same id. Returns `true` if any byte changed. Returns `false`
    /// if nothing changed or the file has no entry with this id.
    ///
    /// Only the differences are written: topic line, summary, pointers, values of the comment. An entry without a
    /// comment gets one only if a value needs a comment.
    pub fn update(&mut self, entry: &Entry) -> bool {
        self.edit(entry, false)
    }

    /// Like [`IndexFile::update`]. If `write_id` is true and the file has no id for the entry, also writes the id.
    /// Without a written id, hippod derives the id from the topic and the entries above, so the id could change.
    pub(crate) fn edit(&mut self, entry: &Entry, write_id: bool) -> bool {
        let id = EntryId(entry.id.0.trim().to_owned());
        let has_id = |block: &&mut IndexBlock| block.entry().is_some_and(|indexed| indexed.entry.id == id);
        let Some(IndexBlock::Entry(indexed)) = self.blocks.iter_mut().find(has_id) else {
            return false;
        };
        let text = EntryEdit::new(indexed, entry, &self.settings, self.line_end, write_id).text();
        if text == indexed.text {
            return false;
        }
        let read = IndexedEntry::parse(text, &self.settings);
        // If the edited bytes no longer parse as an entry, write the whole entry anew.
        let new = || new_entry(entry, indexed.level, self.line_end, &self.settings);
        let mut read = read.unwrap_or_else(new);
        if !read.has_id {
            read.entry.id = id;
        }
        **indexed = read;
        true
    }
}

/// Creates an entry that the file does not have yet. The entry becomes a list item if `level` is `None` and a list item
/// would be read back as the same entry. Otherwise, it becomes a heading.
pub(super) fn new_entry(
    entry: &Entry,
    level: Option<u8>,
    line_end: &str,
    settings: &IndexFileOptions,
) -> IndexedEntry {
    let text = write::entry_text(entry, level, line_end, settings).into_bytes();
    let read = IndexedEntry::parse(text.clone(), settings);
    if level.is_none()
        && !read
            .as_ref()
            .is_some_and(|read| read.entry == as_written(entry, settings) && !read.has_other_content())
    {
        return new_entry(entry, Some(4), line_end, settings);
    }
    read.unwrap_or_else(|| IndexedEntry {
        entry: as_written(entry, settings),
        level,
        has_id: true,
        text,
        ..IndexedEntry::default()
    })
}

/// Pending changes to the bytes of one entry.
struct EntryEdit<'a> {
    indexed: &'a IndexedEntry,
    old: Entry,
    new: Entry,
    /// `true` if the id is written even if no field changed.
    write_id: bool,
    settings: &'a IndexFileOptions,
    line_end: &'a str,
    /// Spans to replace, with their new text. Those at the same offset are in output order.
    splices: Vec<(Range<usize>, String)>,
}

impl<'a> EntryEdit<'a> {
    fn new(
        indexed: &'a IndexedEntry,
        given: &'a Entry,
        settings: &'a IndexFileOptions,
        file_end: &'a str,
        write_id: bool,
    ) -> Self {
        let line_end = match memchr::memchr(b'\n', &indexed.text) {
            Some(at) if indexed.text[..at].ends_with(b"\r") => "\r\n",
            Some(_) => "\n",
            None => file_end,
        };
        Self {
            indexed,
            old: as_written(&indexed.entry, settings),
            new: as_written(given, settings),
            write_id,
            settings,
            line_end,
            splices: Vec::new(),
        }
    }

    fn text(mut self) -> Vec<u8> {
        self.topic();
        if self.indexed.level.is_some() {
            self.summary();
            self.pointers();
            self.comment();
        } else {
            self.pointers();
            self.comment();
            self.summary();
        }
        self.splices.sort_by_key(|(span, _)| span.start);
        let (mut out, mut at) = (Vec::with_capacity(self.indexed.text.len() + 64), 0);
        for (span, new) in &self.splices {
            out.extend_from_slice(&self.indexed.text[at..span.start.max(at)]);
            out.extend_from_slice(new.as_bytes());
            at = span.end.max(at);
        }
        out.extend_from_slice(&self.indexed.text[at..]);
        out
    }

    fn topic(&mut self) {
        if self.new.topic == self.old.topic {
            return;
        }
        let topic = match self.indexed.level {
            Some(_) => text::escape_heading(&self.new.topic),
            // Write the id as the topic: an item without a topic would be read as a pointer of its section.
            None if self.new.topic.is_empty() => text::escape_item(&text::one_line(&self.new.id.0)),
            None => text::escape_item(&self.new.topic),
        };
        self.replace(self.indexed.layout.topic.clone(), topic);
    }

    fn summary(&mut self) {
        let summary = text::escape_summary(&self.new.summary);
        if let Some(span) = self.stranded_summary() {
            self.remove(span);
            if !summary.is_empty() {
                self.insert_after(self.indexed.layout.topic.end, &summary);
            }
            return;
        }
        if self.new.summary == self.old.summary {
            return;
        }
        match (&self.indexed.layout.summary, self.new.summary.is_empty()) {
            (Some(span), false) => self.splices.push((span.clone(), summary)),
            (Some(span), true) => self.remove(span.clone()),
            (None, true) => {}
            (None, false) if self.indexed.level.is_some() => {
                self.insert_after(self.indexed.layout.topic.end, &summary)
            }
            (None, false) => self.insert_after(self.item_end(), &format!("  {summary}")),
        }
    }

    /// Returns the span of a summary that must move up. If the summary stayed, no field of the entry would follow it
    /// once the pointers below are removed, and the text would no longer be read as a summary.
    fn stranded_summary(&self) -> Option<Range<usize>> {
        let layout = &self.indexed.layout;
        let (span, comment) = (layout.summary.clone()?, layout.comment.as_ref()?);
        let stays = layout.pointers.first().filter(|_| !self.new.pointers.is_empty());
        let gone =
            self.new.pointers != self.old.pointers && stays.is_none_or(|first| first.start < span.start);
        (self.indexed.level.is_some() && gone && comment.start < span.start).then_some(span)
    }

    fn pointers(&mut self) {
        if self.new.pointers == self.old.pointers {
            return;
        }
        let spans = self.indexed.layout.pointers.clone();
        let first = spans.first().cloned();
        match (first, self.indexed.level.is_some()) {
            (Some(span), false) => self.replace(span, pointer::format_list(&self.new.pointers)),
            (Some(span), true) => {
                let kept = usize::from(!self.new.pointers.is_empty());
                if kept > 0 {
                    self.splices.push((span, pointer_line(&self.new.pointers)));
                }
                spans.into_iter().skip(kept).for_each(|span| self.remove(span));
            }
            (None, _) => {
                let summary = self.indexed.layout.summary.as_ref().map(|span| span.end);
                let after = summary.unwrap_or(self.indexed.layout.topic.end);
                self.insert_after(after, &pointer_line(&self.new.pointers));
            }
        }
    }

    fn comment(&mut self) {
        let layout = &self.indexed.layout;
        let Some(span) = layout.comment.clone() else {
            if self.write_id || self.needs_comment() {
                let comment = meta::format_comment(&self.new, self.settings);
                match (self.indexed.level, layout.pointers.first()) {
                    (None, Some(list)) => {
                        let is_empty = list.is_empty() && self.new.pointers.is_empty();
                        let gap = if is_empty { "" } else { " " };
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
        let comment = &self.indexed.text[span.clone()];
        let mut changes = self.changes();
        let renamed = !self.indexed.has_id
            && (self.write_id || !changes.is_empty() || self.new.topic != self.old.topic);
        if renamed {
            let id = meta::format_values(&self.new, self.settings).swap_remove(0);
            changes.insert(0, id);
        }
        if !changes.is_empty() {
            let comment = meta::rewrite_comment(comment, &changes);
            self.splices
                .push((span, String::from_utf8_lossy(&comment).into_owned()));
        }
    }

    /// Returns the keys whose values differ, with their new text. A missing timestamp defaults to the other timestamp,
    /// so both are written if either changes.
    fn changes(&self) -> Vec<(&'static str, Option<String>)> {
        let [old, new] = [&self.old, &self.new].map(|entry| meta::format_values(entry, self.settings));
        let [days, other_days] = [&self.old, &self.new].map(|entry| (entry.created, entry.accessed));
        let pairs = old.into_iter().zip(new).skip(1);
        let changed = pairs.filter(|((key, old), (_, new))| {
            old != new || days != other_days && matches!(*key, "created" | "accessed")
        });
        changed.map(|(_, new)| new).collect()
    }

    /// Returns `true` if the entry needs a comment because, without one, it would lose a value or not be read as an
    /// entry.
    fn needs_comment(&self) -> bool {
        let list = pointer::format_list(&self.new.pointers);
        let no_entry = match self.indexed.level {
            Some(_) => self.new.pointers.is_empty(),
            None => !may_name_a_file(list.as_bytes()),
        };
        let no_entry = no_entry && self.new.pointers != self.old.pointers;
        no_entry || self.new.topic != self.old.topic || !self.changes().is_empty()
    }

    /// Replaces a span on a line. Spaces separate the new words from adjacent marks.
    fn replace(&mut self, span: Range<usize>, mut new: String) {
        let (before, after) = (&self.indexed.text[..span.start], &self.indexed.text[span.end..]);
        if before.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            new.insert(0, ' ');
        }
        if after.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
            new.push(' ');
        }
        self.splices.push((span, new));
    }

    /// Removes a span. A line on which nothing else remains is removed completely.
    fn remove(&mut self, span: Range<usize>) {
        let bytes = &self.indexed.text;
        let start = memchr::memrchr(b'\n', &bytes[..span.start]).map_or(0, |at| at + 1);
        let next = self.next_line(span.end);
        let alone =
            bytes[start..span.start].trim_ascii().is_empty() && bytes[span.end..next].trim_ascii().is_empty();
        let span = if alone { start..next } else { span };
        // Keep an empty line, so that the text above and the text below do not become one paragraph.
        let below = bytes[next..self.next_line(next)].trim_ascii();
        let words = alone && !below.is_empty() && !text::is_construct(below);
        let left = if words { self.line_end } else { "" };
        self.splices.push((span, left.to_owned()));
    }

    /// Inserts a line below the line that contains `at`.
    fn insert_after(&mut self, at: usize, line: &str) {
        let next = self.next_line(at);
        let open = next == 0 || self.indexed.text[next - 1] != b'\n';
        let (before, after) = if open {
            (self.line_end, "")
        } else {
            ("", self.line_end)
        };
        self.splices.push((next..next, format!("{before}{line}{after}")));
    }

    fn next_line(&self, at: usize) -> usize {
        let text = &self.indexed.text;
        memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1)
    }

    /// Returns the position after the pointers and the comment of a list item.
    fn item_end(&self) -> usize {
        let layout = &self.indexed.layout;
        let ends = layout.pointers.iter().chain(&layout.comment).map(|span| span.end);
        ends.max().unwrap_or(layout.topic.end)
    }
}
