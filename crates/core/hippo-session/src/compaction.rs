//! Compaction of a session transcript into a short summary.
//!
//! Each message gets a type and a score by the rules of the hippocampus.md extension. The score decays with the
//! distance of the message from the end of the transcript. The remaining score decides if the summary shows the message
//! in full, as one line or as a pointer. Every line has an id by which the full content can be fetched.
//! docs/compaction.md describes the rules.
//!
//! The input arrives in pieces of any size ([`Compactor::feed`]), so the use of RAM does not grow with the transcript.
//! If the transcript contains an abandoned branch, the caller must feed the same bytes a second time
//! ([`CompactionPass::Again`]).

mod branch;
mod classify;
mod config;
pub(crate) mod ledger;
mod line;
mod message;
pub(crate) mod read;
mod score;
mod split;
mod state;
mod summary;
#[cfg(test)]
mod tests;
mod track;
mod words;

pub use classify::{EntryType, classify};
pub use config::{CONFIG_KEY, CompactionConfig};
pub use message::{Message, Role, ShortContentId};
pub use score::{RECENT, ScoreFacts, Tier, importance, retention, tier};
pub use split::LONGEST;

use hippo_types::transcript::{CompactStats, MessageScore, TranscriptFormat};
use ledger::MessageLedger;
use read::RecordReader;
use state::CompactionState;

/// Settings of one compaction.
#[derive(Debug, Clone, Default)]
pub struct CompactionOptions {
    /// Decay rates, thresholds and limits.
    pub config: CompactionConfig,
    /// Format of the records that are read. `Auto` reads all formats, and detects the format of each record.
    pub format: TranscriptFormat,
    /// Maximum size of the summary in tokens; `None` for no limit.
    pub budget: Option<usize>,
    /// True if the caller stores the contents of all messages, and [`CompactionResult::dropped_list`], by their ids. If
    /// it is false, the summary does not say that contents can be fetched.
    pub stored: bool,
}

/// Reader that compacts a transcript, piece by piece.
#[derive(Debug)]
pub struct Compactor {
    reader: RecordReader,
    state: CompactionState,
}

/// Result of reading a transcript once.
#[derive(Debug)]
pub enum CompactionPass {
    /// The summary is complete.
    Done(Box<CompactionResult>),
    /// The transcript contains an abandoned branch. The caller must feed the same bytes to this compactor, which skips
    /// the records of abandoned branches.
    Again(Box<Compactor>),
}

/// Result of a compaction.
#[derive(Debug)]
pub struct CompactionResult {
    /// The summary, in Markdown.
    pub summary: String,
    /// Statistics of the compaction.
    pub stats: CompactStats,
    /// List of the messages for which the summary has no room, one per line; empty if contents are not stored.
    /// [`CompactStats::rest`] is the id of this list.
    pub dropped_list: String,
    ledger: MessageLedger,
}

impl Compactor {
    /// Creates a compactor that reads all records.
    #[must_use]
    pub fn new(options: CompactionOptions) -> Self {
        Self {
            reader: RecordReader::new(options.format),
            state: CompactionState::new(options),
        }
    }

    /// Reads the next bytes and passes each message with its id to `each`. A caller that stores the messages can
    /// resolve the ids in the summary.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(ShortContentId, &Message<'_>)) {
        let Self { reader, state } = self;
        reader.feed(bytes, &mut |record| state.add_record(record, &mut each));
    }

    /// Finishes reading, passes the remaining messages to `each` and creates the summary.
    #[must_use]
    pub fn finish(self, mut each: impl FnMut(ShortContentId, &Message<'_>)) -> CompactionPass {
        let Self {
            mut reader,
            mut state,
        } = self;
        reader.finish(&mut |record| state.add_record(record, &mut each));
        if state.selection.is_none()
            && let Some(selection) = std::mem::take(&mut state.tracker).finish()
        {
            let mut again = Self::new(state.options);
            again.state.selection = Some(selection);
            return CompactionPass::Again(Box::new(again));
        }
        CompactionPass::Done(Box::new(state.into_compacted(reader)))
    }
}

impl CompactionResult {
    /// Returns the scores of all messages, in transcript order.
    pub fn scores(&self) -> impl ExactSizeIterator<Item = MessageScore> {
        (0..self.ledger.cores.len()).map(|index| {
            let scored = self.ledger.score(index);
            MessageScore {
                index: index as u64,
                id: scored.core.id.to_string(),
                kind: scored.core.kind.name().into(),
                importance: round_score(scored.importance),
                retention: round_score(scored.retention),
                tier: scored.tier.name().into(),
                tokens: scored.core.tokens() as u64,
            }
        })
    }
}

fn round_score(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Compacts a transcript that is in memory.
#[must_use]
pub fn compact(bytes: &[u8], options: &CompactionOptions) -> CompactionResult {
    let mut compactor = Compactor::new(options.clone());
    loop {
        compactor.feed(bytes, |_, _| {});
        match compactor.finish(|_, _| {}) {
            CompactionPass::Done(compacted) => return *compacted,
            CompactionPass::Again(again) => compactor = *again,
        }
    }
}
