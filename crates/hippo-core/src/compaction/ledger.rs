//! What is kept of each message until the summary is made, within bounded memory?
//!
//! Of every message a few bytes: id, size, type. Of those that may be shown as a line a preview; of those that may be shown whole their
//! text, without secrets, for as long as their distance from the end allows it.

pub(crate) mod error;

use std::collections::{BTreeMap, VecDeque};

use super::classify::EntryType;
use super::config::Config;
use super::message::ContentId;
use super::prepared::{self, NAME, Name, Prepared};
use super::score::{self, Facts, Tier};
use super::track::Tracked;
use crate::context::render::unfenced;
use crate::control;
use crate::redact::without_secrets;
use crate::text::start;
use crate::tokens;

/// Lines that may be shown, at most: more than any context holds.
const LINES: usize = 20_000;
/// Bytes of texts that may be shown whole, at most.
const TEXTS: usize = 32 << 20;
/// Calls of tools that wait for their answer, at most.
const CALLS: usize = 4_096;

/// What is kept of every message: twelve bytes, as there may be millions of messages.
#[derive(Debug, Clone, Copy)]
pub struct Core {
    /// The id; above it the type, and whether a later message refers to it. In two halves, for the size.
    bits: [u32; 2],
    tokens: u32,
}

/// The mark of a message that a later one refers to.
const REFERENCED: u64 = 1 << 63;

impl Core {
    /// A message that nothing refers to yet.
    pub fn new(id: ContentId, kind: EntryType, tokens: usize) -> Self {
        let mut core = Self {
            bits: [0; 2],
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        };
        core.put(id.bits() | (kind as u64) << ContentId::BITS);
        core
    }

    fn all(&self) -> u64 {
        u64::from(self.bits[0]) << 32 | u64::from(self.bits[1])
    }

    fn put(&mut self, all: u64) {
        #[allow(clippy::cast_possible_truncation, reason = "both halves are kept")]
        let halves = [(all >> 32) as u32, all as u32];
        self.bits = halves;
    }

    /// By which its content is known.
    pub fn id(&self) -> ContentId {
        ContentId::from_bits(self.all() & ((1 << ContentId::BITS) - 1))
    }

    /// What kind of message it is.
    pub fn kind(&self) -> EntryType {
        let at = usize::try_from((self.all() & !REFERENCED) >> ContentId::BITS).unwrap_or(0);
        EntryType::ALL.get(at).copied().unwrap_or(EntryType::Unknown)
    }

    /// Its size in tokens.
    pub fn tokens(&self) -> usize {
        self.tokens as usize
    }

    /// Whether a later message refers to it.
    pub fn is_referenced(&self) -> bool {
        self.all() & REFERENCED != 0
    }

    fn refer(&mut self) {
        self.put(self.all() | REFERENCED);
    }
}

/// What a line needs.
#[derive(Debug, Clone)]
pub struct Detail {
    /// The tool, or the role; not without secrets.
    pub name: Box<str>,
    /// The beginning of the content on one line, which may show a secret that two lines did not.
    pub preview: Box<str>,
    /// The first line that tells of an error.
    pub error: Option<Box<str>>,
}

/// A message with its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub index: usize,
    pub importance: f64,
    pub retention: f64,
    pub tier: Tier,
}

/// What is kept of all messages.
#[derive(Debug)]
pub struct Ledger {
    config: Config,
    /// A text is kept up to so many bytes.
    text_limit: usize,
    cores: Vec<Core>,
    details: BTreeMap<u32, Detail>,
    /// For each type the texts of its last messages.
    texts: [VecDeque<(u32, Box<str>)>; EntryType::COUNT],
    text_bytes: usize,
    horizons: [Option<usize>; EntryType::COUNT],
    tracked: Tracked,
    calls: BTreeMap<u64, Box<str>>,
    /// The summary of an earlier compaction, without secrets.
    pub prior: Option<String>,
    /// Messages that an earlier compaction has folded into it.
    pub folded: usize,
}

impl Ledger {
    /// Nothing was read yet. No more than `budget` tokens of a text will be shown.
    pub fn new(config: Config, budget: Option<usize>) -> Self {
        let horizons = EntryType::ALL.map(|kind| score::horizon(&config, kind));
        Self {
            config,
            text_limit: budget.map_or(usize::MAX, tokens::bytes),
            cores: Vec::new(),
            details: BTreeMap::new(),
            texts: Default::default(),
            text_bytes: 0,
            horizons,
            tracked: Tracked::default(),
            calls: BTreeMap::new(),
            prior: None,
            folded: 0,
        }
    }

    /// The numbers.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Remembers which tool a call went to, so that its answer can be named.
    pub fn call(&mut self, id: u64, tool: &str) {
        if self.calls.len() >= CALLS {
            self.calls.clear();
        }
        self.calls.insert(id, start(tool, NAME).into());
    }

    /// Takes the summary of an earlier compaction; `folds`: in place of all messages so far.
    pub fn prior(&mut self, summary: &str, folds: bool) {
        if folds {
            let (config, folded) = (self.config.clone(), self.folded + self.cores.len());
            let limit = self.text_limit;
            *self = Self::new(config, None);
            (self.text_limit, self.folded) = (limit, folded);
        }
        let summary = unfenced(summary).unwrap_or(summary);
        let shown = control::without_escapes(start(summary, TEXTS));
        self.prior = Some(without_secrets(&shown).into_owned());
    }

    /// Takes the next message.
    pub fn push(&mut self, prepared: Prepared<'_>) {
        let Ok(index) = u32::try_from(self.cores.len()) else {
            return;
        };
        let Prepared { core, told } = prepared;
        self.cores.push(core);
        let Some(told) = told else { return };
        let Self { cores, tracked, .. } = self;
        let refers = |earlier: u32| {
            if let Some(core) = cores.get_mut(earlier as usize) {
                core.refer();
            }
        };
        match told.words {
            Some(words) => tracked.note_found(index, told.said, &told.shown, words, refers),
            None => tracked.note(index, told.said, &told.shown, refers),
        }
        tracked.begin(index, &told.shown);
        let detail = Detail {
            name: self.name(told.name, !told.said),
            preview: told.preview,
            error: told.error,
        };
        self.details.insert(index, detail);
        self.hold(index, core.kind(), &told.shown);
        if self.details.len() > 2 * LINES {
            self.thin_out();
        }
    }

    fn name(&mut self, name: Name, tool: bool) -> Box<str> {
        match name {
            Name::OfCall(id) => {
                let name = self.calls.remove(&id);
                prepared::name(name.as_deref().unwrap_or_default(), tool)
            }
            Name::Known(name) => name,
        }
    }

    fn hold(&mut self, index: u32, kind: EntryType, shown: &str) {
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

    /// Forgets the lines that are the least likely to be shown.
    fn thin_out(&mut self) {
        let mut ranked: Vec<(f64, u32)> = self
            .details
            .keys()
            .map(|index| (self.scored(*index as usize).retention, *index))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        for (_, index) in &ranked[LINES..] {
            self.details.remove(index);
        }
    }

    /// All messages.
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// The scores of a message as they are when no other follows.
    pub fn scored(&self, index: usize) -> Scored {
        let core = &self.cores[index];
        let facts = Facts {
            age: self.cores.len() - 1 - index,
            tokens: core.tokens(),
            referenced: core.is_referenced(),
        };
        let importance = score::importance(core.kind(), facts);
        let retention = score::retention(&self.config, core.kind(), importance, facts.age);
        Scored {
            index,
            importance,
            retention,
            tier: score::tier(&self.config, retention),
        }
    }

    /// What a line of this message needs; none for one that says nothing, or whose line was forgotten.
    pub fn detail(&self, index: usize) -> Option<&Detail> {
        self.details.get(&u32::try_from(index).ok()?)
    }

    /// The messages that have a line.
    pub fn lines(&self) -> impl Iterator<Item = usize> {
        self.details.keys().map(|index| *index as usize)
    }

    /// The text of a message, if it is still kept.
    pub fn text(&self, index: usize) -> Option<&str> {
        let index = u32::try_from(index).ok()?;
        let texts = &self.texts[self.cores.get(index as usize)?.kind() as usize];
        let at = texts.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        texts.get(at).map(|(_, text)| &**text)
    }

    /// What is known of the words.
    pub fn tracked(&self) -> &Tracked {
        &self.tracked
    }
}
