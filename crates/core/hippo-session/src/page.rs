//! Conversion of a transcript to a markdown page: what the user and the assistant wrote, with times.
//!
//! A page contains no tool calls and no tool results. Each prompt of the user begins a section, whose heading is the
//! time. Secrets are redacted. The input arrives in pieces of any size.

use jiff::civil::{Date, DateTime};

use hippo_redact::without_secrets;
use hippo_text::chunk::is_role_label;
use hippo_text::chunk::line::{Fence, atx_heading, setext_level};
use hippo_text::control::without_escapes;
use hippo_text::fence::without_sections;
use hippo_text::gist::machine::is_output;
use hippo_text::text::{one_line, start};
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
    /// Creates a writer of a page with this title, for the transcript at the path `source`. `local` returns the local
    /// time of a time stamp.
    pub fn new(title: &str, source: &str, local: impl Fn(Timestamp) -> DateTime + 'a) -> Self {
        let [title, source] = [title, source].map(|text| said::neutralize_comments(&one_line(text)));
        Self {
            reader: RecordReader::new(TranscriptFormat::Auto),
            state: PageState {
                local: Box::new(local),
                text: format!("# {title}\n\n<!-- transcript: {source} -->\n"),
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
                self.push_message("User", &asked);
            }
            Role::Assistant if self.has_prompt => {
                // Secrets are redacted before the text is cut, because a part of a secret is not recognised.
                let seen = without_escapes(start(text.trim(), said::LOOKED_AT));
                let answer = said::neutralize_comments(&without_secrets(&seen));
                if !answer.is_empty() {
                    self.push_message("Assistant", &answer);
                }
            }
            _ => {}
        }
    }

    fn push_message(&mut self, role: &str, text: &str) {
        let text = plain_text(text);
        // The mark of a code block must begin its line.
        let gap = Fence::parse(text.lines().next().unwrap_or_default().as_bytes()).map_or(" ", |_| "\n");
        self.push(&format!("{role}:{gap}{text}"));
    }

    fn push(&mut self, block: &str) {
        self.text.push('\n');
        self.text.push_str(block);
        self.text.push('\n');
    }
}

/// Returns the beginning of a text without lines that would change the structure of a page: headings become plain
/// lines, a line cannot name another speaker, and a code block always ends.
fn plain_text(text: &str) -> String {
    let kept = start(text, MESSAGE);
    let mut out = String::with_capacity(kept.len());
    let mut open: Option<Fence> = None;
    for (number, line) in kept.lines().enumerate() {
        let bare = line.trim();
        match open {
            Some(fence) if fence.is_closed_by(bare.as_bytes()) => open = None,
            Some(_) => {}
            None => open = Fence::parse(bare.as_bytes()),
        }
        if number > 0 {
            out.push('\n');
        }
        if number > 0 && is_role_label(bare) {
            out.push_str("> ");
        }
        let is_text = open.is_none();
        let heading = atx_heading(bare.as_bytes()).filter(|_| is_text);
        let heading = heading.and_then(|(_, title)| std::str::from_utf8(title).ok());
        let is_underline = is_text && setext_level(bare.as_bytes()).is_some();
        out.push_str(if is_underline { "" } else { heading.unwrap_or(line) });
    }
    if kept.len() < text.len() {
        out.push_str(" …");
    }
    if let Some(fence) = open {
        out.push('\n');
        out.extend(std::iter::repeat_n(char::from(fence.mark), fence.count));
    }
    out
}

#[cfg(test)]
mod tests;
