//! Bounded store of the messages until the summary is written.
//!
//! For every message it keeps a few bytes: id, size and type. For messages that may be shown as a line it keeps a
//! preview, and for messages that may be shown in full their redacted text, for as long as their distance from the
//! end allows it.

pub(crate) mod error;

use std::collections::{BTreeMap, VecDeque};

use super::classify::EntryType;
use super::config::CompactionConfig;
use super::message::ShortContentId;
use super::prepared::{self, NAME, PreparedMessage, SpeakerName};
use super::score::{self, ScoreFacts, Tier};
use super::track::WordTracker;
use hippo_redact::without_secrets;
use hippo_text::control;
use hippo_text::fence::unfence;
use hippo_text::text::start;
use hippo_types::tokens;

/// Maximum number of lines that may be shown: more than fit into any context.
const LINES: usize = 20_000;
/// Maximum bytes of texts that may be shown in full.
const TEXTS: usize = 32 << 20;
/// Maximum number of tool calls that are waiting for their result.
const CALLS: usize = 4_096;

/// Fixed-size record of a message. It has twelve bytes, because a transcript may have millions of messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageCore {
    /// The id, then the type, then the "referenced" flag. Split in two to avoid padding.
    bits: [u32; 2],
    tokens: u32,
}

/// Flag of a message that a later one refers to.
const REFERENCED: u64 = 1 << 63;

impl MessageCore {
    /// Creates the record of a message that nothing refers to yet.
    pub fn new(id: ShortContentId, kind: EntryType, tokens: usize) -> Self {
        let mut core = Self {
            bits: [0; 2],
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        };
        core.set_packed(id.bits() | (kind as u64) << ShortContentId::BITS);
        core
    }

    fn packed(&self) -> u64 {
        u64::from(self.bits[0]) << 32 | u64::from(self.bits[1])
    }

    fn set_packed(&mut self, all: u64) {
        #[allow(clippy::cast_possible_truncation, reason = "both halves are kept")]
        let halves = [(all >> 32) as u32, all as u32];
        self.bits = halves;
    }

    /// Returns the content id.
    pub fn id(&self) -> ShortContentId {
        ShortContentId::from_bits(self.packed() & ((1 << ShortContentId::BITS) - 1))
    }

    /// Returns the type of the message.
    pub fn kind(&self) -> EntryType {
        let at = usize::try_from((self.packed() & !REFERENCED) >> ShortContentId::BITS).unwrap_or(0);
        EntryType::ALL.get(at).copied().unwrap_or(EntryType::Unknown)
    }

    /// Returns the size in tokens.
    pub fn tokens(&self) -> usize {
        self.tokens as usize
    }

    /// Returns true if a later message refers to this one.
    pub fn is_referenced(&self) -> bool {
        self.packed() & REFERENCED != 0
    }

    fn mark_referenced(&mut self) {
        self.set_packed(self.packed() | REFERENCED);
    }
}

/// Data for the line of a message.
#[derive(Debug, Clone)]
pub struct LineDetail {
    /// The tool, or the role; not redacted.
    pub name: Box<str>,
    /// The first characters of the content, on one line. Joined lines may reveal a secret that redaction by line
    /// missed.
    pub preview: Box<str>,
    /// The first line that reports an error.
    pub error: Option<Box<str>>,
}

/// A message with its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredMessage {
    pub index: usize,
    pub importance: f64,
    pub retention: f64,
    pub tier: Tier,
}

/// All messages of a transcript so far.
#[derive(Debug)]
pub struct MessageLedger {
    config: CompactionConfig,
    /// Maximum bytes that are kept of a text.
    text_limit: usize,
    cores: Vec<MessageCore>,
    details: BTreeMap<u32, LineDetail>,
    /// Texts of the last messages of each type.
    texts: [VecDeque<(u32, Box<str>)>; EntryType::COUNT],
    text_bytes: usize,
    horizons: [Option<usize>; EntryType::COUNT],
    tracked: WordTracker,
    calls: BTreeMap<u64, Box<str>>,
    /// The redacted summary of an earlier compaction.
    pub prior: Option<String>,
    /// Messages that an earlier compaction folded into [`Self::prior`].
    pub folded: usize,
}

impl MessageLedger {
    /// Creates an empty ledger. No more than `budget` tokens of a text will be shown.
    pub fn new(config: CompactionConfig, budget: Option<usize>) -> Self {
        let horizons = EntryType::ALL.map(|kind| score::horizon(&config, kind));
        Self {
            config,
            text_limit: budget.map_or(usize::MAX, tokens::bytes),
            cores: Vec::new(),
            details: BTreeMap::new(),
            texts: Default::default(),
            text_bytes: 0,
            horizons,
            tracked: WordTracker::default(),
            calls: BTreeMap::new(),
            prior: None,
            folded: 0,
        }
    }

    /// Returns the settings.
    pub fn config(&self) -> &CompactionConfig {
        &self.config
    }

    /// Stores the tool of a call, so that its result can be labelled.
    pub fn add_call(&mut self, id: u64, tool: &str) {
        if self.calls.len() >= CALLS {
            self.calls.clear();
        }
        self.calls.insert(id, start(tool, NAME).into());
    }

    /// Stores the summary of an earlier compaction. With `folds`, it replaces all messages so far.
    pub fn set_prior(&mut self, summary: &str, folds: bool) {
        if folds {
            let (config, folded) = (self.config.clone(), self.folded + self.cores.len());
            let limit = self.text_limit;
            *self = Self::new(config, None);
            (self.text_limit, self.folded) = (limit, folded);
        }
        let summary = unfence(summary).unwrap_or(summary);
        let shown = control::without_escapes(start(summary, TEXTS));
        self.prior = Some(without_secrets(&shown).into_owned());
    }

    /// Appends the next message.
    pub fn push(&mut self, prepared: PreparedMessage<'_>) {
        let Ok(index) = u32::try_from(self.cores.len()) else {
            return;
        };
        let PreparedMessage { core, told } = prepared;
        self.cores.push(core);
        let Some(told) = told else { return };
        let Self { cores, tracked, .. } = self;
        let refers = |earlier: u32| {
            if let Some(core) = cores.get_mut(earlier as usize) {
                core.mark_referenced();
            }
        };
        match told.words {
            Some(words) => tracked.scan_found(index, told.said, &told.shown, words, refers),
            None => tracked.scan(index, told.said, &told.shown, refers),
        }
        tracked.add_beginning(index, &told.shown);
        let detail = LineDetail {
            name: self.resolve_name(told.name, !told.said),
            preview: told.preview,
            error: told.error,
        };
        self.details.insert(index, detail);
        self.keep_text(index, core.kind(), &told.shown);
        if self.details.len() > 2 * LINES {
            self.remove_unlikely_lines();
        }
    }

    fn resolve_name(&mut self, name: SpeakerName, tool: bool) -> Box<str> {
        match name {
            SpeakerName::OfCall(id) => {
                let name = self.calls.remove(&id);
                prepared::format_name(name.as_deref().unwrap_or_default(), tool)
            }
            SpeakerName::Known(name) => name,
        }
    }

    fn keep_text(&mut self, index: u32, kind: EntryType, shown: &str) {
        let count = self.cores.len();
        for (texts, horizon) in self.texts.iter_mut().zip(self.horizons) {
            while let (Some(horizon), Some((first, text))) = (horizon, texts.front())
                && *first as usize + horizon < count
            {
                self.text_bytes -= text.len();
                texts.pop_front();
            }
        }
        if self.horizons[kind as usize] == Some(0) {
            return;
        }
        let text: Box<str> = start(shown, self.text_limit.min(TEXTS)).into();
        self.text_bytes += text.len();
        self.texts[kind as usize].push_back((index, text));
        while self.text_bytes > TEXTS {
            let oldest = self
                .texts
                .iter_mut()
                .min_by_key(|texts| texts.front().map_or(u32::MAX, |first| first.0));
            let Some((_, text)) = oldest.and_then(VecDeque::pop_front) else {
                break;
            };
            self.text_bytes -= text.len();
        }
    }

    /// Removes the lines that are the least likely to be shown.
    fn remove_unlikely_lines(&mut self) {
        let mut ranked: Vec<(f64, u32)> = self
            .details
            .keys()
            .map(|index| (self.score(*index as usize).retention, *index))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        for (_, index) in &ranked[LINES..] {
            self.details.remove(index);
        }
    }

    /// Returns all messages.
    pub fn cores(&self) -> &[MessageCore] {
        &self.cores
    }

    /// Returns the scores of a message as if the transcript ended here.
    pub fn score(&self, index: usize) -> ScoredMessage {
        let core = &self.cores[index];
        let facts = ScoreFacts {
            age: self.cores.len() - 1 - index,
            tokens: core.tokens(),
            referenced: core.is_referenced(),
        };
        let importance = score::importance(core.kind(), facts);
        let retention = score::retention(&self.config, core.kind(), importance, facts.age);
        ScoredMessage {
            index,
            importance,
            retention,
            tier: score::tier(&self.config, retention),
        }
    }

    /// Returns the data for the line of a message; `None` for an empty message or a line that was removed.
    pub fn detail(&self, index: usize) -> Option<&LineDetail> {
        self.details.get(&u32::try_from(index).ok()?)
    }

    /// Returns the indexes of the messages that have a line.
    pub fn line_indexes(&self) -> impl Iterator<Item = usize> {
        self.details.keys().map(|index| *index as usize)
    }

    /// Returns the text of a message, if it is still kept.
    pub fn text(&self, index: usize) -> Option<&str> {
        let index = u32::try_from(index).ok()?;
        let texts = &self.texts[self.cores.get(index as usize)?.kind() as usize];
        let at = texts.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        texts.get(at).map(|(_, text)| &**text)
    }

    /// Returns the words of the transcript.
    pub fn tracked(&self) -> &WordTracker {
        &self.tracked
    }
}
