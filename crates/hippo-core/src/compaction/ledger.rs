//! What is kept of each message until the summary is made, within bounded memory?
//!
//! Of every message a few bytes: id, size, type. Of those that may be shown as a line a preview; of those that may be shown whole their
//! text, without secrets, for as long as their distance from the end allows it.

use std::collections::{BTreeMap, VecDeque};

use super::classify::{EntryType, classify};
use super::config::Config;
use super::message::{ContentId, Message, Role, tokens};
use super::score::{self, Facts, Tier};
use super::track::Tracked;
use crate::redact::redact;

/// Lines that may be shown, at most: more than any context holds.
const LINES: usize = 20_000;
/// Bytes of texts that may be shown whole, at most.
const TEXTS: usize = 32 << 20;
/// Characters of a preview.
const PREVIEW: usize = 150;
/// Calls of tools that wait for their answer, at most.
const CALLS: usize = 4_096;

/// What is kept of every message.
#[derive(Debug, Clone, Copy)]
pub struct Core {
    pub id: ContentId,
    tokens: u32,
    pub kind: EntryType,
    pub referenced: bool,
}

impl Core {
    /// Its size in tokens.
    pub fn tokens(&self) -> usize {
        self.tokens as usize
    }
}

/// What a line needs.
#[derive(Debug, Clone)]
pub struct Detail {
    /// The tool, or the role.
    pub name: Box<str>,
    /// The beginning of the content on one line, without secrets.
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
    calls: BTreeMap<u64, String>,
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
            text_limit: budget.map_or(usize::MAX, |budget| budget.saturating_mul(4)),
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
    pub fn call(&mut self, id: u64, tool: String) {
        if self.calls.len() >= CALLS {
            self.calls.clear();
        }
        self.calls.insert(id, tool);
    }

    /// Takes the summary of an earlier compaction; `folds`: in place of all messages so far.
    pub fn prior(&mut self, summary: &str, folds: bool) {
        if folds {
            let (config, folded) = (self.config.clone(), self.folded + self.cores.len());
            let limit = self.text_limit;
            *self = Self::new(config, None);
            (self.text_limit, self.folded) = (limit, folded);
        }
        self.prior = Some(redact(cut(summary, TEXTS)).into_owned());
    }

    /// Takes the next message.
    pub fn push(&mut self, message: &Message<'_>) {
        let Ok(index) = u32::try_from(self.cores.len()) else {
            return;
        };
        let content = message.content();
        let kind = classify(message);
        self.cores.push(Core {
            id: ContentId::of(&content),
            tokens: u32::try_from(tokens(&content)).unwrap_or(u32::MAX),
            kind,
            referenced: false,
        });
        if content.trim_ascii().is_empty() {
            return;
        }
        let shown = redact(&content);
        let Self { cores, tracked, .. } = self;
        let said = message.role != Role::Tool;
        tracked.note(index, said, &shown, |earlier| {
            if let Some(core) = cores.get_mut(earlier as usize) {
                core.referenced = true;
            }
        });
        tracked.begin(index, &shown);
        let error = (message.role == Role::Tool)
            .then(|| first_error(&shown, message.error))
            .flatten();
        let detail = Detail {
            name: redact(&self.name(message)).into(),
            preview: preview(&shown).into(),
            error: error.map(Into::into),
        };
        self.details.insert(index, detail);
        self.hold(index, kind, &shown);
        if self.details.len() > 2 * LINES {
            self.thin_out();
        }
    }

    fn name(&mut self, message: &Message<'_>) -> String {
        let name = match message.by_call {
            true => self
                .calls
                .remove(&super::read::hash(&message.name))
                .unwrap_or_else(|| "tool".to_owned()),
            false if message.name.is_empty() && message.role == Role::Tool => "tool".to_owned(),
            false => cut(&message.name, 64).to_owned(),
        };
        name.replace(['\n', '\r', ']'], " ")
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
        let text: Box<str> = cut(shown, self.text_limit.min(TEXTS)).into();
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
            referenced: core.referenced,
        };
        let importance = score::importance(core.kind, facts);
        let retention = score::retention(&self.config, core.kind, importance, facts.age);
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
        let texts = &self.texts[self.cores.get(index as usize)?.kind as usize];
        let at = texts.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        texts.get(at).map(|(_, text)| &**text)
    }

    /// What is known of the words.
    pub fn tracked(&self) -> &Tracked {
        &self.tracked
    }
}

/// The beginning of a text, at most so many bytes, whole characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The beginning of a text on one line.
fn preview(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in cut(text, PREVIEW * 8).split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        for letter in word.chars() {
            if count >= PREVIEW {
                return out;
            }
            out.push(letter);
            count += 1;
        }
    }
    out
}

/// How lines begin that tell of an error.
const ERRORS: [&str; 9] = [
    "error:",
    "error[",
    "Error:",
    "Exception:",
    "panicked at",
    "fatal:",
    "FAILED",
    "Traceback",
    "ERR!",
];
/// Bytes of an error that are shown.
const ERROR: usize = 160;
/// Bytes of an answer that are searched for one.
const SEARCHED: usize = 64 << 10;

/// The first line that tells of an error; of a tool that failed the first line at least.
fn first_error(text: &str, failed: bool) -> Option<&str> {
    let text = cut(text, SEARCHED);
    let tells = ERRORS
        .iter()
        .filter_map(|mark| memchr::memmem::find(text.as_bytes(), mark.as_bytes()))
        .min();
    let at = match tells {
        Some(at) => at,
        None if failed => text.len() - text.trim_start().len(),
        None => return None,
    };
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next()?.trim();
    let line = if line.len() > ERROR { &text[at..] } else { line };
    let line = cut(line.lines().next()?, ERROR).trim();
    (!line.is_empty()).then_some(line)
}
