//! Conversion of a transcript to a markdown page: what the user and the assistant wrote, with times.
//!
//! A page contains no tool calls and no tool results. Each prompt of the user begins a section, whose heading is the
//! time. Secrets are redacted. The input arrives in pieces of any size.

use jiff::civil::{Date, DateTime};

use hippo_redact::without_secrets;
use hippo_text::chunk::is_role_label;
use hippo_text::chunk::line::{Fence, atx_heading};
use hippo_text::control::without_escapes;
use hippo_text::fence::without_sections;
use hippo_text::gist::machine::is_output;
use hippo_text::text::start;
use hippo_types::time::Timestamp;
use hippo_types::transcript::TranscriptFormat;

use crate::compaction::read::{RecordReader, TranscriptRecord};
use crate::compaction::{Message, Role};
use crate::flush::said;

/// Maximum bytes of one message on a page.
const MESSAGE: usize = 8 << 10;
/// Maximum bytes of a page. Further messages are left out.
const PAGE: usize = 4 << 20;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage {
    /// The page in Markdown.
    pub text: String,
    /// Day of the first message with a time.
    pub day: Option<Date>,
}

/// Writer that converts a transcript to a page, piece by piece.
pub struct PageWriter<'a> {
    reader: RecordReader,
    state: PageState<'a>,
}

struct PageState<'a> {
    /// Returns the local time of a time stamp.
    local: Box<dyn Fn(Timestamp) -> DateTime + 'a>,
    text: String,
    day: Option<Date>,
    /// Time of the current record.
    now: Option<DateTime>,
    /// True if the page contains a prompt.
    has_prompt: bool,
}

impl<'a> PageWriter<'a> {
    /// Creates a writer of a page with this title. `local` returns the local time of a time stamp.
    pub fn new(title: &str, local: impl Fn(Timestamp) -> DateTime + 'a) -> Self {
        Self {
            reader: RecordReader::new(TranscriptFormat::Auto),
            state: PageState {
                local: Box::new(local),
                text: format!("# {title}\n"),
                day: None,
                now: None,
                has_prompt: false,
            },
        }
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let state = &mut self.state;
        self.reader
            .feed(bytes, &mut |record| state.add_record(record.unwrap_or_default()));
    }

    /// Finishes reading. Returns `None` if the transcript has no prompt of a person.
    #[must_use]
    pub fn finish(self) -> Option<SessionPage> {
        let Self {
            mut reader,
            mut state,
        } = self;
        reader.finish(&mut |record| state.add_record(record.unwrap_or_default()));
        let PageState {
            text,
            day,
            has_prompt,
            ..
        } = state;
        has_prompt.then_some(SessionPage { text, day })
    }
}

impl PageState<'_> {
    fn add_record(&mut self, record: TranscriptRecord<'_>) {
        self.now = record.at.map(|at| (self.local)(at)).or(self.now);
        for message in &record.messages {
            if self.text.len() < PAGE {
                self.add_message(message);
            }
        }
    }

    fn add_message(&mut self, message: &Message<'_>) {
        let text = without_sections(&message.text);
        match message.role {
            Role::User if !is_output(&text) => {
                let Some(asked) = said::extract_prompt(&text) else {
                    return;
                };
                self.has_prompt = true;
                if let Some(now) = self.now {
                    self.day = self.day.or(Some(now.date()));
                    let heading = now.strftime("%Y-%m-%d %H:%M").to_string();
                    self.push(&format!("## {heading}"));
                }
                self.push(&format!("User: {}", start(&asked, MESSAGE)));
            }
            Role::Assistant if self.has_prompt => {
                let told = plain_text(start(text.trim(), MESSAGE));
                if !told.is_empty() {
                    self.push(&format!("Assistant: {told}"));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, block: &str) {
        self.text.push('\n');
        self.text.push_str(block);
        self.text.push('\n');
    }
}

/// Returns the text of a message without secrets, and without lines that would change the structure of a page: headings
/// become plain lines, a line cannot name another speaker, and a code block always ends.
fn plain_text(text: &str) -> String {
    let seen = without_escapes(text);
    let clean = said::neutralize_comments(&without_secrets(&seen));
    let mut out = String::with_capacity(clean.len());
    let mut open: Option<Fence> = None;
    for (number, line) in clean.lines().enumerate() {
        let bare = line.trim();
        match open {
            Some(fence) if fence.is_closed_by(bare.as_bytes()) => open = None,
            Some(_) => {}
            None => open = Fence::parse(bare.as_bytes()),
        }
        if number > 0 {
            out.push('\n');
        }
        let is_text = open.is_none();
        let heading = atx_heading(bare.as_bytes()).filter(|_| is_text);
        let heading = heading.and_then(|(_, title)| std::str::from_utf8(title).ok());
        if number > 0 && is_role_label(bare) {
            out.push_str("> ");
        }
        out.push_str(heading.unwrap_or(line));
    }
    if let Some(fence) = open {
        out.push('\n');
        out.extend(std::iter::repeat_n(char::from(fence.mark), fence.count));
    }
    out
}

#[cfg(test)]
mod tests;
