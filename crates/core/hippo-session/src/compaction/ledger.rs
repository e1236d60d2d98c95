//! Bounded store of the messages for a summary.
//!
//! For every message, the ledger keeps a few bytes: id, size and type. For the last messages, it also keeps a preview,
//! which the summary can show as a line, and the redacted text, which the summary can show in full.

pub(crate) mod error;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use super::classify::{EntryType, classify};
use super::config::CompactionConfig;
use super::message::{Message, Role, ShortContentId};
use super::read::hash_text;
use super::score::{self, ScoreFacts, Tier};
use super::track::WordTracker;
use hippo_redact::without_secrets;
use hippo_text::control;
use hippo_text::fence::unfence;
use hippo_text::instruction;
use hippo_text::text::{first_characters, start};
use hippo_types::tokens;

/// Previews of this number of messages, counted from the end of the transcript, are kept. No context has room for more
/// lines.
const LINES: usize = 40_000;
/// Maximum total bytes of the texts that are kept for display in full.
const TEXTS: usize = 16 << 20;
/// Maximum characters of a preview.
const PREVIEW: usize = 150;
/// Maximum bytes of the name of a tool or a role.
const NAME: usize = 64;
/// Maximum number of tool calls that are kept until their result is read.
const CALLS: usize = 4_096;

/// Fixed-size record of a message. It is small, because a transcript may have millions of messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageCore {
    /// Id of the content.
    pub id: ShortContentId,
    /// Type of the message.
    pub kind: EntryType,
    /// True if a later message refers to this one.
    pub referenced: bool,
    tokens: u32,
}

impl MessageCore {
    /// Returns the size in tokens.
    pub fn tokens(&self) -> usize {
        self.tokens as usize
    }
}

/// Data for the one-line form of a message.
#[derive(Debug, Clone)]
pub struct LineDetail {
    /// Name of the tool, or the role; not redacted.
    pub name: Box<str>,
    /// The first characters of the content, on one line. Redact this line again: joined lines may contain a secret that
    /// the redaction of single lines missed.
    pub preview: Box<str>,
    /// The first line of a tool result that reports an error.
    pub error: Option<Box<str>>,
}

/// A message with its scores.
#[derive(Debug, Clone, Copy)]
pub struct ScoredMessage<'l> {
    pub index: usize,
    pub core: &'l MessageCore,
    pub importance: f64,
    pub retention: f64,
    pub tier: Tier,
}

/// All messages of a transcript so far.
#[derive(Debug, Default)]
pub struct MessageLedger {
    /// Settings of the compaction.
    pub config: CompactionConfig,
    /// Maximum bytes that are kept of the text of one message.
    text_limit: usize,
    /// Records of all messages, in transcript order.
    pub cores: Vec<MessageCore>,
    details: BTreeMap<usize, LineDetail>,
    /// The first message that states a goal. Its line is always kept.
    pub first_goal: Option<usize>,
    /// Positions and texts of the last messages.
    texts: VecDeque<(usize, Box<str>)>,
    text_bytes: usize,
    /// Statistics of the words in the transcript.
    pub tracked: WordTracker,
    calls: BTreeMap<u64, Box<str>>,
    /// The redacted summary of an earlier compaction.
    pub prior: Option<String>,
    /// Number of messages that the summary in [`Self::prior`] replaces.
    pub folded: usize,
}

impl MessageLedger {
    /// Creates an empty ledger, which keeps at most `budget` tokens of the text of a message.
    pub fn new(config: CompactionConfig, budget: Option<usize>) -> Self {
        Self {
            config,
            text_limit: budget.map_or(TEXTS, |budget| tokens::bytes(budget).min(TEXTS)),
            ..Self::default()
        }
    }

    /// Stores the name of the tool for a call id. The result of the call is later labelled with this name.
    pub fn add_call(&mut self, id: u64, tool: &str) {
        if self.calls.len() >= CALLS {
            self.calls.clear();
        }
        self.calls.insert(id, start(tool, NAME).into());
    }

    /// Stores the summary of an earlier compaction. If `folds` is true, the summary replaces all messages so far.
    pub fn set_prior(&mut self, summary: &str, folds: bool) {
        if folds {
            *self = Self {
                config: std::mem::take(&mut self.config),
                text_limit: self.text_limit,
                folded: self.folded + self.cores.len(),
                ..Self::default()
            };
        }
        let summary = unfence(summary).unwrap_or(summary);
        let shown = control::without_escapes(start(summary, TEXTS));
        self.prior = Some(without_secrets(&shown).into_owned());
    }

    /// Appends the next message and its content. Returns the id of the message.
    pub fn push(&mut self, message: &Message<'_>, content: &str) -> ShortContentId {
        let core = MessageCore {
            id: ShortContentId::from_content(content),
            kind: classify(message),
            referenced: false,
            tokens: u32::try_from(tokens::of(content)).unwrap_or(u32::MAX),
        };
        let index = self.cores.len();
        let Ok(number) = u32::try_from(index) else {
            return core.id;
        };
        self.cores.push(core);
        if content.trim_ascii().is_empty() {
            return core.id;
        }
        let tool = message.role == Role::Tool;
        // Keep terminal output as a person would have seen it on the screen.
        let seen = match tool {
            true => control::as_seen(content),
            false => control::without_escapes(content),
        };
        let told = without_secrets(&seen);
        // Only the user gives instructions. In other messages, a mark replaces each line that reads like an
        // instruction.
        let shown = match message.role {
            Role::User => told,
            _ => Cow::Owned(instruction::quarantine(&told).into_owned()),
        };
        let Self { cores, tracked, .. } = self;
        tracked.scan(number, !tool, &shown, |earlier| {
            if let Some(core) = cores.get_mut(earlier as usize) {
                core.referenced = true;
            }
        });
        tracked.add_beginning(number, &shown);
        let error = tool.then(|| error::find_error(&shown, message.error)).flatten();
        let detail = LineDetail {
            name: self.display_name(message),
            preview: first_characters(&shown, PREVIEW).into(),
            error: error.map(Into::into),
        };
        self.details.insert(index, detail);
        if core.kind == EntryType::UserIntent {
            self.first_goal.get_or_insert(index);
        }
        self.keep_text(index, &shown);
        if self.details.len() > LINES {
            let mut oldest = self.details.keys().copied();
            let oldest = oldest.find(|at| Some(*at) != self.first_goal);
            self.details.remove(&oldest.unwrap_or(index));
        }
        core.id
    }

    /// Returns the name of the tool, or the role, as the summary shows it.
    fn display_name(&mut self, message: &Message<'_>) -> Box<str> {
        let called = match message.by_call {
            true => self.calls.remove(&hash_text(&message.name)).unwrap_or_default(),
            false => start(&message.name, NAME).into(),
        };
        match control::without_escapes(&called).trim_ascii() {
            "" if message.role == Role::Tool => "tool".into(),
            name => name.replace(['\n', '\r', ']'], " ").into(),
        }
    }

    fn keep_text(&mut self, index: usize, shown: &str) {
        let text: Box<str> = start(shown, self.text_limit).into();
        self.text_bytes += text.len();
        self.texts.push_back((index, text));
        while self.text_bytes > TEXTS
            && let Some((_, text)) = self.texts.pop_front()
        {
            self.text_bytes -= text.len();
        }
    }

    /// Returns the scores of a message as if the transcript ended here.
    pub fn score(&self, index: usize) -> ScoredMessage<'_> {
        let core = &self.cores[index];
        let facts = ScoreFacts {
            age: self.cores.len() - 1 - index,
            tokens: core.tokens(),
            referenced: core.referenced,
        };
        let importance = score::importance(core.kind, facts);
        let retention = score::retention(&self.config, core.kind, importance, facts.age);
        ScoredMessage {
            index,
            core,
            importance,
            retention,
            tier: score::tier(&self.config, retention),
        }
    }

    /// Returns the data for the one-line form of a message; `None` if the message is empty or its data was removed.
    pub fn detail(&self, index: usize) -> Option<&LineDetail> {
        self.details.get(&index)
    }

    /// Returns the messages that can be shown as a line, with the data for the line.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = (ScoredMessage<'_>, &LineDetail)> {
        self.details
            .iter()
            .map(|(index, detail)| (self.score(*index), detail))
    }

    /// Returns the text of a message, if it is still kept.
    pub fn text(&self, index: usize) -> Option<&str> {
        let at = self
            .texts
            .binary_search_by_key(&index, |(index, _)| *index)
            .ok()?;
        self.texts.get(at).map(|(_, text)| &**text)
    }
}
