//! Compaction of a session transcript into a short summary.
//!
//! Each message is classified and scored, and its score decays with its distance from the end, by the rules of the
//! hippocampus.md extension. The remaining score decides whether the summary shows the message in full, as one line
//! or as a pointer. Every line carries an id by which the full content can be fetched. docs/compaction.md describes the
//! rules.
//!
//! Input arrives in pieces of any size ([`Compactor::feed`]), so memory use does not grow with the transcript. If the
//! session abandoned a branch, the caller must feed the same bytes a second time ([`CompactionPass::Again`]).

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
    /// The only format to read; `Auto` detects the format of each record.
    pub format: TranscriptFormat,
    /// Maximum size of the summary in tokens; `None` for no limit.
    pub budget: Option<usize>,
    /// True if the caller stores the content of each message, and [`CompactionResult::dropped_list`], by its id. Only in this
    /// case does the summary say that these contents can be fetched.
    pub stored: bool,
}

/// Incremental reader of a transcript.
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
    /// The session abandoned a branch: read the same bytes again with this compactor, which skips the records that are
    /// off the active path.
    Again(Box<Compactor>),
}

/// Result of a compaction.
#[derive(Debug)]
pub struct CompactionResult {
    /// The summary, as markdown.
    pub summary: String,
    /// Statistics of the compaction.
    pub stats: CompactStats,
    /// The list of messages that the summary has no room for, one per line; empty if contents are not stored.
    /// [`CompactStats::rest`] is the id of this text.
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

    /// Reads the next bytes and passes each scored message with its id to `each`. A caller that stores these contents
    /// can resolve the ids in the summary.
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
