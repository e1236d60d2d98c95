//! Preparation of a message independent of its position.
//!
//! Preparation does most of the work on a message: its hash, its redacted text and its words. [`super::ledger`] then
//! adds the prepared messages in order.

use std::borrow::Cow;
use std::ops::Range;

use super::classify::classify;
use super::ledger::{MessageCore, error};
use super::message::{Message, Role, ShortContentId};
use super::read::{TranscriptRecord, hash_text};
use super::track::{ScannedWords, TextWords, WordOffsets};
use hippo_redact::without_secrets;
use hippo_text::control;
use hippo_text::fence::without_sections;
use hippo_text::text::{first_characters, start};
use hippo_types::tokens;

/// Maximum characters of a preview.
const PREVIEW: usize = 150;
/// Maximum bytes of the name of a tool or a role.
pub const NAME: usize = 64;
/// Buffers above these sizes are released instead of reused.
const MOST_KEPT: usize = 64 << 10;
const MOST_MESSAGES: usize = 1_024;

/// A message before its position is known.
#[derive(Debug)]
pub struct PreparedMessage<'t> {
    pub core: MessageCore,
    /// Text of the message; `None` if the message is empty.
    pub told: Option<MessageText<'t>>,
}

/// Text of a message, prepared for display.
#[derive(Debug)]
pub struct MessageText<'t> {
    /// The author is the agent or a person, not a tool.
    pub said: bool,
    /// The redacted text.
    pub shown: Cow<'t, str>,
    /// The words of the text, if they were scanned in advance.
    pub words: Option<TextWords<'t>>,
    pub name: SpeakerName,
    /// The first characters, on one line.
    pub preview: Box<str>,
    /// The first line that reports an error.
    pub error: Option<Box<str>>,
}

impl MessageText<'_> {
    fn without_text(self) -> MessageText<'static> {
        MessageText {
            shown: Cow::Borrowed(""),
            words: None,
            said: self.said,
            name: self.name,
            preview: self.preview,
            error: self.error,
        }
    }
}

/// Tool or role of a message.
#[derive(Debug)]
pub enum SpeakerName {
    /// The tool of the call with this hashed id.
    OfCall(u64),
    /// A name as it is displayed.
    Known(Box<str>),
}

/// Removes the sections that hippod inserted into a prompt, because they are not part of the session.
pub fn strip_sections(mut message: Message<'_>) -> Message<'_> {
    if let Cow::Owned(rest) = without_sections(&message.text) {
        message.text = Cow::Owned(rest);
    }
    message
}

impl<'t> PreparedMessage<'t> {
    /// Prepares a message with this content.
    pub fn new(message: &Message<'_>, content: &'t str) -> Self {
        let core = MessageCore::new(
            ShortContentId::from_content(content),
            classify(message),
            tokens::of(content),
        );
        if content.trim_ascii().is_empty() {
            return Self { core, told: None };
        }
        let tool = message.role == Role::Tool;
        // Terminal output is shown as a person would have seen it.
        let seen = match tool {
            true => control::as_seen(content),
            false => control::without_escapes(content),
        };
        let shown = match seen {
            Cow::Borrowed(seen) => without_secrets(seen),
            Cow::Owned(seen) => Cow::Owned(without_secrets(&seen).into_owned()),
        };
        let error = if tool {
            error::find_error(&shown, message.error)
        } else {
            None
        };
        let told = MessageText {
            said: !tool,
            words: None,
            name: match message.by_call {
                true => SpeakerName::OfCall(hash_text(&message.name)),
                false => SpeakerName::Known(format_name(start(&message.name, NAME), tool)),
            },
            preview: first_characters(&shown, PREVIEW).into(),
            error: error.map(Into::into),
            shown,
        };
        Self {
            core,
            told: Some(told),
        }
    }
}

/// Formats a name for display.
pub fn format_name(name: &str, tool: bool) -> Box<str> {
    let name = control::without_escapes(name);
    match name.trim_ascii() {
        "" if tool => "tool".into(),
        name if name.contains(['\n', '\r', ']']) => name.replace(['\n', '\r', ']'], " ").into(),
        name => name.into(),
    }
}

/// Prepared records that are waiting to be consumed. The buffers are reused, because it is slow to allocate memory on
/// one thread and free it on another.
#[derive(Debug, Default)]
pub struct PreparedRecords {
    /// The records in order; `None` for input that is not a JSON object.
    pub records: Vec<Option<PreparedRecord>>,
    messages: Vec<KeptMessage>,
    /// Texts of the messages, concatenated, and their words.
    texts: String,
    words: ScannedWords,
}

/// A prepared record.
#[derive(Debug)]
pub struct PreparedRecord {
    /// The record without its messages.
    pub record: TranscriptRecord<'static>,
    /// Number of messages in the record.
    pub count: usize,
    /// Number of messages that were prepared.
    prepared: usize,
}

#[derive(Debug)]
struct KeptMessage {
    core: MessageCore,
    told: Option<MessageText<'static>>,
    /// Range of its text in `texts`, and of its words.
    text: Range<usize>,
    words: Range<WordOffsets>,
    message: Option<Message<'static>>,
}

impl PreparedRecords {
    /// Adds a record. With `messages`, its messages are prepared; with `keep`, they are also kept for the caller.
    pub fn add(&mut self, record: TranscriptRecord<'_>, messages: bool, keep: bool) {
        let TranscriptRecord {
            format,
            messages: all,
            link,
            prior,
            folds,
            called,
            at,
            forked,
        } = record;
        let count = all.len();
        let from = self.messages.len();
        for message in all.into_iter().filter(|_| messages) {
            self.add_message(strip_sections(message), keep);
        }
        self.records.push(Some(PreparedRecord {
            record: TranscriptRecord {
                format,
                messages: Vec::new(),
                link,
                prior,
                folds,
                called,
                at,
                forked,
            },
            count,
            prepared: self.messages.len() - from,
        }));
    }

    fn add_message(&mut self, message: Message<'_>, keep: bool) {
        let content = message.content();
        let PreparedMessage { core, told } = PreparedMessage::new(&message, &content);
        let (from, words) = (self.texts.len(), self.words.end());
        let told = told.map(|told| {
            self.texts.push_str(&told.shown);
            self.words.add(&told.shown);
            told.without_text()
        });
        drop(content);
        self.messages.push(KeptMessage {
            core,
            told,
            text: from..self.texts.len(),
            words: words..self.words.end(),
            message: keep.then(|| message.into_owned()),
        });
    }

    /// Passes each record with its messages to `each`, in order, and clears all records.
    pub fn drain_with(
        &mut self,
        mut each: impl FnMut(Option<PreparedRecord>, &mut dyn Iterator<Item = ReadyMessage<'_>>),
    ) {
        let Self {
            records,
            messages,
            texts,
            words,
        } = self;
        let most = messages.capacity().max(records.capacity());
        let mut messages = messages.drain(..).map(|kept| {
            let told = kept.told.map(|told| MessageText {
                shown: Cow::Borrowed(&texts[kept.text]),
                words: Some(words.between(kept.words)),
                said: told.said,
                name: told.name,
                preview: told.preview,
                error: told.error,
            });
            let core = kept.core;
            (PreparedMessage { core, told }, kept.message)
        });
        for ahead in records.drain(..) {
            let count = ahead.as_ref().map_or(0, |ahead| ahead.prepared);
            each(ahead, &mut messages.by_ref().take(count));
        }
        drop(messages);
        if texts.capacity() > MOST_KEPT || most > MOST_MESSAGES {
            *self = Self::default();
        } else {
            texts.clear();
            words.clear();
        }
    }
}

/// A prepared message, with the original where the caller wants it.
pub type ReadyMessage<'t> = (PreparedMessage<'t>, Option<Message<'static>>);
