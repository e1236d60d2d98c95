//! What of a message can be told from it alone, whatever stands before and after it?
//!
//! Nearly all the work on a message: its hash, its text without secrets, its words. [`super::ledger`] does the rest, one message
//! after the other.

use std::borrow::Cow;
use std::ops::Range;

use super::classify::classify;
use super::ledger::{Core, error};
use super::message::{ContentId, Message, Role};
use super::read::{Record, hash};
use super::track::{Found, Place, Words};
use crate::context::render::without_sections;
use crate::control;
use crate::redact::without_secrets;
use crate::text::{first_characters, start};
use crate::tokens;

/// Characters of a preview.
const PREVIEW: usize = 150;
/// Bytes of the name of a tool or a role.
pub const NAME: usize = 64;
/// Buffers for more bytes of texts, or for more messages, are not kept.
const MOST_KEPT: usize = 64 << 10;
const MOST_MESSAGES: usize = 1_024;

/// A message before its place is known.
#[derive(Debug)]
pub struct Prepared<'t> {
    pub core: Core,
    /// None for a message that says nothing.
    pub told: Option<Told<'t>>,
}

/// What a message says.
#[derive(Debug)]
pub struct Told<'t> {
    /// By the agent or a person, not by a tool.
    pub said: bool,
    /// The text as it may be shown.
    pub shown: Cow<'t, str>,
    /// The words of it, where they were looked for.
    pub words: Option<Found<'t>>,
    pub name: Name,
    /// The beginning on one line.
    pub preview: Box<str>,
    /// The first line that tells of an error.
    pub error: Option<Box<str>>,
}

impl Told<'_> {
    fn without_text(self) -> Told<'static> {
        Told {
            shown: Cow::Borrowed(""),
            words: None,
            said: self.said,
            name: self.name,
            preview: self.preview,
            error: self.error,
        }
    }
}

/// Who answers or speaks.
#[derive(Debug)]
pub enum Name {
    /// The tool of the call with this id, hashed.
    OfCall(u64),
    /// A name as it is shown.
    Known(Box<str>),
}

/// A message as it counts: what hippod put into a prompt is nothing that the session brought.
pub fn counted(mut message: Message<'_>) -> Message<'_> {
    if let Cow::Owned(rest) = without_sections(&message.text) {
        message.text = Cow::Owned(rest);
    }
    message
}

impl<'t> Prepared<'t> {
    /// Prepares a message by its content.
    pub fn of(message: &Message<'_>, content: &'t str) -> Self {
        let core = Core::new(ContentId::of(content), classify(message), tokens::of(content));
        if content.trim_ascii().is_empty() {
            return Self { core, told: None };
        }
        let tool = message.role == Role::Tool;
        // What a tool wrote to a terminal is known as a person would have seen it.
        let seen = match tool {
            true => control::as_seen(content),
            false => control::without_escapes(content),
        };
        let shown = match seen {
            Cow::Borrowed(seen) => without_secrets(seen),
            Cow::Owned(seen) => Cow::Owned(without_secrets(&seen).into_owned()),
        };
        let error = if tool {
            error::first(&shown, message.error)
        } else {
            None
        };
        let told = Told {
            said: !tool,
            words: None,
            name: match message.by_call {
                true => Name::OfCall(hash(&message.name)),
                false => Name::Known(name(start(&message.name, NAME), tool)),
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

/// A name as it is shown.
pub fn name(name: &str, tool: bool) -> Box<str> {
    let name = control::without_escapes(name);
    match name.trim_ascii() {
        "" if tool => "tool".into(),
        name if name.contains(['\n', '\r', ']']) => name.replace(['\n', '\r', ']'], " ").into(),
        name => name.into(),
    }
}

/// Records before their turn has come. The buffers are used again: memory that one thread takes and another one gives back is slow.
#[derive(Debug, Default)]
pub struct Records {
    /// In their order; none for what is no JSON object.
    pub records: Vec<Option<Ahead>>,
    messages: Vec<Kept>,
    /// Texts of messages, one behind the other, and their words.
    texts: String,
    words: Words,
}

/// A record before its turn.
#[derive(Debug)]
pub struct Ahead {
    /// The record without its messages.
    pub record: Record<'static>,
    /// Messages that are in it.
    pub count: usize,
    /// Those that were prepared.
    prepared: usize,
}

#[derive(Debug)]
struct Kept {
    core: Core,
    told: Option<Told<'static>>,
    /// Where its text lies, and its words.
    text: Range<usize>,
    words: Range<Place>,
    message: Option<Message<'static>>,
}

impl Records {
    /// Prepares a record; `messages`: they count, and `keep`: they are handed on.
    pub fn add(&mut self, record: Record<'_>, messages: bool, keep: bool) {
        let Record {
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
            self.message(counted(message), keep);
        }
        self.records.push(Some(Ahead {
            record: Record {
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

    fn message(&mut self, message: Message<'_>, keep: bool) {
        let content = message.content();
        let Prepared { core, told } = Prepared::of(&message, &content);
        let (from, words) = (self.texts.len(), self.words.end());
        let told = told.map(|told| {
            self.texts.push_str(&told.shown);
            self.words.add(&told.shown);
            told.without_text()
        });
        drop(content);
        self.messages.push(Kept {
            core,
            told,
            text: from..self.texts.len(),
            words: words..self.words.end(),
            message: keep.then(|| message.into_owned()),
        });
    }

    /// Hands on each record and its messages, in their order, and is empty then.
    pub fn take(&mut self, mut each: impl FnMut(Option<Ahead>, &mut dyn Iterator<Item = Ready<'_>>)) {
        let Self {
            records,
            messages,
            texts,
            words,
        } = self;
        let most = messages.capacity().max(records.capacity());
        let mut messages = messages.drain(..).map(|kept| {
            let told = kept.told.map(|told| Told {
                shown: Cow::Borrowed(&texts[kept.text]),
                words: Some(words.found(kept.words)),
                said: told.said,
                name: told.name,
                preview: told.preview,
                error: told.error,
            });
            let core = kept.core;
            (Prepared { core, told }, kept.message)
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

/// A message whose turn has come, and what is handed on of it.
pub type Ready<'t> = (Prepared<'t>, Option<Message<'static>>);
