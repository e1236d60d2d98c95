//! How does a session's transcript become a short summary in which nothing is lost?
//!
//! Messages are classified, weighed and faded by their distance from the end, as the hippocampus.md extension does it: what is left of a message
//! decides whether the summary has it whole, as a line or as a pointer. Every line has an id by which the whole content can be
//! fetched. docs/compaction.md says what differs from the extension.
//!
//! Bytes come in pieces of any size ([`Compactor::feed`]), so that memory does not grow with the transcript. Where a session turns out
//! to have left a path, a second reading of the same bytes is asked for ([`Pass::Again`]).

mod branch;
mod classify;
mod config;
mod ledger;
mod line;
mod message;
mod read;
mod rest;
mod score;
mod split;
mod summary;
#[cfg(test)]
mod tests;
mod track;
mod words;

use std::borrow::Cow;

use serde::Serialize;

use crate::context::render::without_sections;
use crate::tokens;

pub use branch::Selection;
pub use classify::{EntryType, classify};
pub use config::{CONFIG_FILE, Config};
pub use message::{ContentId, Message, Role};
pub use read::Format;
pub use score::{Facts, RECENT, Tier, importance, retention, tier};
pub use split::LONGEST;

use branch::{Reading, Tracker};
use ledger::Ledger;
use rest::Rest;
use split::{Piece, Splitter};

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

#[derive(Debug)]
struct State {
    options: Options,
    tracker: Tracker,
    selection: Option<Selection>,
    /// Records so far.
    place: usize,
    ledger: Ledger,
    format: Option<Format>,
    malformed: u64,
    problems: Vec<Problem>,
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
            state: State {
                ledger: Ledger::new(options.config.clone(), options.budget),
                options,
                tracker: Tracker::default(),
                selection,
                place: 0,
                format: None,
                malformed: 0,
                problems: Vec::new(),
            },
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self { splitter, state } = self;
        splitter.feed(bytes, &mut |piece| state.piece(piece, &mut |_, _| ()));
    }

    /// Takes the next bytes, and hands on each message that is scored with its id: what has to be kept so that ids can be fetched.
    pub fn feed_with(&mut self, bytes: &[u8], mut each: impl FnMut(ContentId, &Message<'_>)) {
        let Self { splitter, state } = self;
        splitter.feed(bytes, &mut |piece| state.piece(piece, &mut each));
    }

    /// Makes the summary.
    #[must_use]
    pub fn finish(self) -> Pass {
        self.finish_with(|_, _| ())
    }

    /// The same, with messages that were not complete before.
    #[must_use]
    pub fn finish_with(self, mut each: impl FnMut(ContentId, &Message<'_>)) -> Pass {
        let Self { splitter, mut state } = self;
        splitter.finish(&mut |piece| state.piece(piece, &mut each));
        if state.selection.is_none()
            && let Some(selection) = std::mem::take(&mut state.tracker).finish()
        {
            return Pass::Again(selection);
        }
        Pass::Done(Box::new(state.compacted()))
    }
}

impl State {
    fn piece(&mut self, piece: Piece<'_>, each: &mut dyn FnMut(ContentId, &Message<'_>)) {
        let (line, bytes) = match piece {
            Piece::Record(line, bytes) => (line, bytes),
            Piece::TooLong(line) => return self.problem(line, "longer than 16 MiB"),
            Piece::Cut(line) => return self.problem(line, "the file ends within it"),
        };
        let place = self.place;
        self.place += 1;
        let first = self.selection.is_none();
        let known = read::read(bytes, |record| {
            let fits = match (self.options.format, record.format) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(wanted), Some(found)) => wanted == found,
            };
            if first {
                let link = if fits { record.link } else { read::Link::default() };
                self.tracker.note(link, record.format.filter(|_| fits));
            }
            if fits {
                self.format = self.format.or(record.format);
                let reading = self.selection.as_ref().map(|selection| selection.of(place));
                match reading.unwrap_or(Reading::Take) {
                    Reading::Take => self.take(record, each),
                    Reading::Fold => self.ledger.folded += record.messages.len(),
                    Reading::Leave => {}
                }
            }
            fits
        });
        match known {
            Some(true) => {}
            Some(false) => self.problem(line, "no record of the format"),
            None => {
                if first {
                    self.tracker.note(read::Link::default(), None);
                }
                self.problem(line, "no JSON object");
            }
        }
    }

    fn take(&mut self, record: read::Record<'_>, each: &mut dyn FnMut(ContentId, &Message<'_>)) {
        if let Some(prior) = &record.prior {
            self.ledger.prior(prior, record.folds);
        }
        for (id, tool) in record.called {
            self.ledger.call(id, &tool);
        }
        for mut message in record.messages {
            // What hippod put into a prompt is nothing that the session brought.
            if let Cow::Owned(rest) = without_sections(&message.text) {
                message.text = Cow::Owned(rest);
            }
            self.ledger.push(&message);
            if let Some(core) = self.ledger.cores().last() {
                each(core.id(), &message);
            }
        }
    }

    fn problem(&mut self, line: u64, what: &'static str) {
        self.malformed += 1;
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, what });
        }
    }

    fn compacted(self) -> Compacted {
        let Self { options, ledger, .. } = self;
        let built = summary::build(&ledger, &options);
        let [kept, compressed, sparse] = built.tiers;
        let before: usize = ledger.cores().iter().map(ledger::Core::tokens).sum();
        let after = tokens::of(&built.text);
        #[allow(clippy::cast_precision_loss, reason = "a ratio of sizes")]
        let ratio = before as f64 / after.max(1) as f64;
        let stats = Stats {
            format: self.format.map(Format::name),
            messages: ledger.cores().len(),
            tokens_before: before,
            tokens_after: after,
            ratio: rounded(ratio),
            kept,
            compressed,
            sparse,
            dropped: built.rest.count,
            rest: built.rest_id.map(|id| id.to_string()),
            folded: ledger.folded,
            malformed: self.malformed,
            problems: self.problems,
        };
        Compacted {
            summary: built.text,
            stats,
            ledger,
            rest: built.rest,
        }
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
