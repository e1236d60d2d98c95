//! How does a session's transcript become a short summary in which nothing is lost?
//!
//! Messages are classified, weighed and faded by their distance from the end, as the hippocampus.md extension does it: what is left of a message
//! decides whether the summary has it whole, as a line or as a pointer. Every line has an id by which the whole content can be
//! fetched. docs/compaction.md says what differs from the extension.
//!
//! Bytes come in pieces of any size ([`Compactor::feed`]), so that memory does not grow with the transcript. Where a session turns out
//! to have left a path, a second reading of the same bytes is asked for ([`Pass::Again`]).

mod batch;
mod branch;
mod classify;
mod config;
pub(crate) mod ledger;
mod line;
mod message;
mod prepared;
pub(crate) mod read;
mod rest;
mod score;
pub(crate) mod split;
mod state;
mod summary;
#[cfg(test)]
mod tests;
mod track;
mod words;

use serde::Serialize;

pub use batch::Beside;
pub use branch::Selection;
pub use classify::{EntryType, classify};
pub use config::{CONFIG_FILE, Config};
pub use message::{ContentId, Message, Role};
pub use read::Format;
pub use score::{Facts, RECENT, Tier, importance, retention, tier};
pub use split::LONGEST;

use batch::Batch;
use ledger::Ledger;
use rest::Rest;
use split::Splitter;
use state::{Each, State, fits};

/// Problems that are told one by one; more are counted.
const PROBLEMS: usize = 50;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The numbers.
    pub config: Config,
    /// The only format that is read; none: each record as it looks.
    pub format: Option<Format>,
    /// Tokens of the summary, at most; none: as long as the rules make it.
    pub budget: Option<usize>,
    /// The caller stores the content of each message, and [`Compacted::rest`], by its id: only then the summary says that
    /// they can be fetched.
    pub stored: bool,
    /// Who helps with a long transcript; the summary is the same.
    pub beside: Option<Beside>,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, from 1; in a document the line on which the message begins.
    pub line: u64,
    /// What is wrong with it.
    pub what: &'static str,
}

/// Reads a transcript.
#[derive(Debug)]
pub struct Compactor {
    splitter: Splitter,
    state: State,
}

/// How a reading ended.
#[derive(Debug)]
pub enum Pass {
    /// The summary is made.
    Done(Box<Compacted>),
    /// The session left a path: read the same bytes once more with [`Compactor::along`].
    Again(Selection),
}

/// What became of a transcript.
#[derive(Debug)]
pub struct Compacted {
    /// The summary, markdown.
    pub summary: String,
    /// Figures.
    pub stats: Stats,
    ledger: Ledger,
    rest: Rest,
}

/// Figures of a compaction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// The format that was found.
    pub format: Option<&'static str>,
    /// Messages that were scored.
    pub messages: usize,
    /// Tokens of them, estimated.
    pub tokens_before: usize,
    /// Tokens of the summary, estimated.
    pub tokens_after: usize,
    /// One by the other.
    pub ratio: f64,
    /// Messages by tier.
    pub kept: usize,
    /// See [`Stats::kept`].
    pub compressed: usize,
    /// See [`Stats::kept`].
    pub sparse: usize,
    /// Messages for which the summary has no room: those of [`Compacted::rest_ids`].
    pub dropped: usize,
    /// The id of [`Compacted::rest`], if anything was dropped and contents are stored.
    pub rest: Option<String>,
    /// Messages before an earlier compaction, which its summary stands for.
    pub folded: usize,
    /// Records that could not be read.
    pub malformed: u64,
    /// The first of them.
    pub problems: Vec<Problem>,
}

/// The scores of one message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its place among the messages of the session, from 0.
    pub index: usize,
    /// By which its content is fetched.
    pub id: String,
    /// What kind of message it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Before it faded, 0 to 1.
    pub importance: f64,
    /// What is left of that, 0 to 1.
    pub retention: f64,
    /// How it is shown.
    pub tier: &'static str,
    /// Its size, estimated.
    pub tokens: usize,
}

impl Compactor {
    /// Reads everything, until it shows that a path was left.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::with(options, None)
    }

    /// Reads what a first reading of the same bytes found to be on the path.
    #[must_use]
    pub fn along(options: Options, selection: Selection) -> Self {
        Self::with(options, Some(selection))
    }

    fn with(options: Options, selection: Option<Selection>) -> Self {
        Self {
            splitter: Splitter::default(),
            state: State::new(options, selection),
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.feed_to(bytes, &mut None);
    }

    /// Takes the next bytes, and hands on each message that is scored with its id: what has to be kept so that ids can be fetched.
    /// Messages may come later than their bytes, until [`Compactor::finish_with`].
    pub fn feed_with(&mut self, bytes: &[u8], mut each: impl FnMut(ContentId, &Message<'_>)) {
        self.feed_to(bytes, &mut Some(&mut each));
    }

    fn feed_to(&mut self, bytes: &[u8], each: Each<'_, '_>) {
        let Self { splitter, state } = self;
        splitter.feed(bytes, &mut |piece| state.piece(piece, each));
    }

    /// Makes the summary.
    #[must_use]
    pub fn finish(self) -> Pass {
        self.finish_to(&mut None)
    }

    /// The same, with messages that were not handed on before.
    #[must_use]
    pub fn finish_with(self, mut each: impl FnMut(ContentId, &Message<'_>)) -> Pass {
        self.finish_to(&mut Some(&mut each))
    }

    fn finish_to(self, each: Each<'_, '_>) -> Pass {
        let Self { splitter, mut state } = self;
        splitter.finish(&mut |piece| state.piece(piece, each));
        state.settle(each);
        if state.selection.is_none()
            && let Some(selection) = std::mem::take(&mut state.tracker).finish()
        {
            return Pass::Again(selection);
        }
        Pass::Done(Box::new(state.compacted()))
    }
}

impl Compacted {
    /// The scores of all messages, in their order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry> {
        (0..self.ledger.cores().len()).map(|index| {
            let (core, scored) = (&self.ledger.cores()[index], self.ledger.scored(index));
            Entry {
                index,
                id: core.id().to_string(),
                kind: core.kind().name(),
                importance: rounded(scored.importance),
                retention: rounded(scored.retention),
                tier: scored.tier.name(),
                tokens: core.tokens(),
            }
        })
    }

    /// The messages for which the summary has no room, one a line: what the id of the rest stands for.
    #[must_use]
    pub fn rest(&self) -> String {
        self.rest.text(&self.ledger)
    }

    /// The ids of these messages, in their order.
    pub fn rest_ids(&self) -> impl Iterator<Item = ContentId> {
        self.rest
            .of(&self.ledger)
            .map(|index| self.ledger.cores()[index].id())
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Compacts a transcript that is in memory.
#[must_use]
pub fn compact(bytes: &[u8], options: &Options) -> Compacted {
    let mut compactor = Compactor::new(options.clone());
    loop {
        compactor.feed(bytes);
        match compactor.finish() {
            Pass::Done(compacted) => return *compacted,
            Pass::Again(selection) => compactor = Compactor::along(options.clone(), selection),
        }
    }
}
