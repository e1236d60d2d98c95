//! Extraction of daily log sections from a session.
//!
//! A section has the fields of an agent's checkpoint: request, analysis, decision, outcome, user feedback, references,
//! tool calls. The daemon uses no model: it selects sentences by marker words, and quotes them without secrets. From
//! tool results, it takes only names, paths and short error lines, because text from outside must not enter the memory.
//! The input arrives in pieces of any size, and the use of RAM does not grow with the transcript.

mod best;
mod called;
mod known;
pub(crate) mod said;
mod section;
mod sentence;
#[cfg(test)]
mod tests;
mod topic;

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::compaction::read::{self, RecordReader, RecordedCall, TranscriptRecord};
use crate::compaction::{Message, Role};
use hippo_text::fence::without_sections;
use hippo_text::gist::machine::is_output;
use hippo_types::time::Timestamp;
use hippo_types::transcript::{TranscriptFormat, TranscriptProblem};

use known::KnownMessages;
use topic::{SessionTopic, ToolError};

pub use known::LoggedMessageKey;
pub use section::LogSection;

/// Maximum number of sections that a flush creates, per day of the session.
const MOST: usize = 16;
/// Maximum number of topics in RAM. Above this number, adjacent topics are merged.
const HELD: usize = 4 * MOST;
/// Maximum number of tool calls that are kept until their result is read.
const CALLS: usize = 1_024;

/// Settings of one flush.
#[derive(Debug, Clone, Default)]
pub struct FlushOptions {
    /// Format of the records that are read. `Auto` reads all formats, and detects the format of each record.
    pub format: TranscriptFormat,
    /// Folder that is removed from the start of file paths in the log.
    pub root: Option<String>,
    /// Title of the topic with which an earlier flush of the session ended.
    pub topic: Option<String>,
    /// Names of the session and of the transcript, by which the flush recognises messages without a time stamp. Such a
    /// message counts as flushed if it was recorded for the first name in the list. A new message is recorded for all
    /// names. If the list is empty, all transcripts count as one.
    pub within: Vec<String>,
    /// True if the input starts where an earlier flush of the same transcript ended.
    pub resumed: bool,
}

/// Result of a flush.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlushResult {
    /// Sections in the order in which their topics began.
    pub sections: Vec<LogSection>,
    /// Number of messages that no earlier flush recorded.
    pub messages: u64,
    /// Number of messages that an earlier flush recorded.
    pub known: u64,
    /// Detected format of the transcript.
    pub format: Option<TranscriptFormat>,
    /// Number of records that could not be read, except an incomplete last line.
    pub malformed: u64,
    /// Descriptions of the first unreadable records.
    pub problems: Vec<TranscriptProblem>,
    /// Offset after the last complete line, where a later flush continues. `None` if the transcript is one JSON
    /// document, because a later flush must read it from the start.
    pub upto: Option<u64>,
    /// Title of the last topic of the session.
    pub topic: Option<String>,
}

/// Reader that converts a transcript to log sections, piece by piece.
pub struct Flusher<'a> {
    reader: RecordReader,
    fed: u64,
    upto: u64,
    state: FlushState<'a>,
}

struct FlushState<'a> {
    options: FlushOptions,
    known: KnownMessages,
    /// Returns true if a message with this key was flushed before, and records the key.
    is_known: Box<dyn FnMut(&LoggedMessageKey) -> bool + 'a>,
    /// Returns the day of a time stamp.
    day: Box<dyn Fn(Timestamp) -> Date + 'a>,
    topics: Vec<SessionTopic>,
    today: Option<Date>,
    /// Label of each tool call without a result so far, by the hash of the call's id. The label is the beginning of the
    /// command, or else the name of the tool.
    calls: BTreeMap<u64, String>,
    found: FlushResult,
}

impl<'a> Flusher<'a> {
    /// Creates a flusher. `is_known` returns true if the message with this key was flushed before, and records the
    /// key. `day` returns the day of a time stamp.
    pub fn new(
        mut options: FlushOptions,
        is_known: impl FnMut(&LoggedMessageKey) -> bool + 'a,
        day: impl Fn(Timestamp) -> Date + 'a,
    ) -> Self {
        let known = KnownMessages::new(std::mem::take(&mut options.within), options.resumed);
        Self {
            reader: RecordReader::new(options.format),
            fed: 0,
            upto: 0,
            state: FlushState {
                options,
                known,
                is_known: Box::new(is_known),
                day: Box::new(day),
                topics: Vec::new(),
                today: None,
                calls: BTreeMap::new(),
                found: FlushResult::default(),
            },
        }
    }

    /// Reads the next bytes of the transcript.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(end) = memchr::memrchr(b'\n', bytes) {
            self.upto = self.fed + end as u64 + 1;
        }
        self.fed += bytes.len() as u64;
        let Self { reader, state, .. } = self;
        reader.feed(bytes, &mut |record| state.add_record(record.unwrap_or_default()));
    }

    /// Finishes reading and creates the sections.
    #[must_use]
    pub fn finish(self) -> FlushResult {
        let Self {
            mut reader,
            upto,
            mut state,
            ..
        } = self;
        let document = reader.settle(&mut |record| state.add_record(record.unwrap_or_default()));
        let complete = (!document).then(|| (reader.malformed, reader.problems.clone()));
        reader.finish(&mut |record| state.add_record(record.unwrap_or_default()));
        // The last line may be incomplete, because the harness is still writing it. A later flush reads this line.
        let (malformed, problems) = complete.unwrap_or((reader.malformed, reader.problems));
        state.found = FlushResult {
            format: reader.format,
            upto: (!document).then_some(upto),
            malformed,
            problems,
            ..state.found
        };
        state.finish()
    }
}

impl FlushState<'_> {
    fn add_record(&mut self, record: TranscriptRecord<'_>) {
        let TranscriptRecord {
            format,
            messages,
            called,
            at,
            forked,
            ..
        } = record;
        self.known.copied |= forked;
        // Codex stamps copied messages with the time of the copy.
        let restamped = format == Some(TranscriptFormat::Codex);
        for mut message in messages {
            let known = self.known.is_known(&message, at, restamped, &mut self.is_known);
            // Some harnesses store tool results as messages of the user. The first message is always a request.
            if message.role == Role::User && self.options.topic.is_some() && is_output(&message.text) {
                message.role = Role::Tool;
            }
            let own = if message.calls.is_empty() {
                &[]
            } else {
                &called[..]
            };
            for call in own {
                let Some(id) = call.id else { continue };
                if self.calls.len() >= CALLS {
                    self.calls.pop_first();
                }
                let head = called::command_head(&call.command);
                let label = if head.is_empty() { call.tool.clone() } else { head };
                self.calls.insert(id, label);
            }
            if known {
                self.found.known += 1;
                // The messages after a known prompt belong to it, so the title of the prompt becomes the current topic.
                if message.role == Role::User
                    && let Some(asked) =
                        said::extract_prompt(&message.text).filter(|asked| !said::is_answer(asked))
                {
                    self.options.topic = Some(said::make_title(&asked));
                    if let Some(topic) = self.topics.last_mut() {
                        topic.over = true;
                    }
                }
                continue;
            }
            self.found.messages += 1;
            let day = at.map(|at| (self.day)(at)).or(self.today);
            self.today = day;
            self.add_message(&message, own, day);
        }
    }

    fn add_message(&mut self, message: &Message<'_>, calls: &[RecordedCall], day: Option<Date>) {
        let text = without_sections(&message.text);
        match message.role {
            Role::User => {
                if let Some(asked) = said::extract_prompt(&text) {
                    self.add_prompt(&asked, day);
                }
            }
            Role::Assistant => {
                let root = self.options.root.clone();
                let topic = self.current_topic(day);
                topic.messages += 1;
                topic.add_message(&text);
                for call in calls {
                    topic.add_call(call, root.as_deref());
                }
                let topic = topic.title.clone();
                self.options.topic = Some(topic);
            }
            Role::Tool => {
                let label = if message.by_call {
                    self.calls.remove(&read::hash_text(&message.name))
                } else {
                    Some(message.name.clone().into_owned())
                };
                let label = label.filter(|label| !label.is_empty());
                let label = label.unwrap_or_else(|| "tool".to_owned());
                let trouble = ToolError::find(&label, &text, message.error);
                let topic = self.current_topic(day);
                topic.messages += 1;
                topic.add_result(&label, trouble);
            }
            Role::Other => {}
        }
    }

    fn add_prompt(&mut self, asked: &str, day: Option<Date>) {
        let resumed = self
            .topics
            .last()
            .is_some_and(|topic| !topic.over && topic.day == day && topic.continues_with(asked));
        let answers = said::is_answer(asked) && self.options.topic.is_some();
        if !(resumed || answers) {
            self.push_topic(SessionTopic::new(said::make_title(asked), day));
        }
        let topic = self.current_topic(day);
        topic.messages += 1;
        topic.add_prompt(asked);
        self.options.topic = Some(topic.title.clone());
    }

    /// Returns the current topic of this day. A topic that continues after midnight gets a second section.
    fn current_topic(&mut self, day: Option<Date>) -> &mut SessionTopic {
        let fits = self
            .topics
            .last()
            .is_some_and(|topic| !topic.over && topic.day == day);
        if !fits {
            let title = self.options.topic.clone().unwrap_or_default();
            let mut topic = SessionTopic::new(title, day);
            topic.continued = true;
            self.push_topic(topic);
        }
        let last = self.topics.len() - 1;
        &mut self.topics[last]
    }

    fn push_topic(&mut self, topic: SessionTopic) {
        if self.topics.last().is_some_and(|last| !last.is_significant()) {
            self.topics.pop();
        }
        self.topics.push(topic);
        if self.topics.len() > HELD {
            topic::merge_topics(&mut self.topics, HELD / 2);
        }
    }

    fn finish(self) -> FlushResult {
        let Self {
            mut topics,
            options,
            mut found,
            ..
        } = self;
        topics.retain(SessionTopic::is_significant);
        let mut days: Vec<Option<Date>> = topics.iter().map(|topic| topic.day).collect();
        days.dedup();
        topic::merge_topics(&mut topics, MOST * days.len().max(1));
        let section = |topic: &SessionTopic| {
            let count = topics.iter().filter(|other| other.day == topic.day).count();
            LogSection::from_topic(topic, count)
        };
        found.sections = topics.iter().map(section).collect();
        found.topic = options.topic;
        found
    }
}

/// Creates the sections of a whole transcript. No message was flushed before.
#[cfg(test)]
pub(crate) fn flush(bytes: &[u8], options: FlushOptions, day: impl Fn(Timestamp) -> Date) -> FlushResult {
    let mut seen = std::collections::BTreeSet::new();
    let mut flusher = Flusher::new(options, |key| !seen.insert(*key), day);
    flusher.feed(bytes);
    flusher.finish()
}
