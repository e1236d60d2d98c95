//! State of a compaction while it reads a transcript.

use std::borrow::Cow;

use super::branch::{BranchTracker, RecordReading};
use super::ledger::MessageLedger;
use super::message::{Message, Role, ShortContentId};
use super::read::{RecordReader, TranscriptRecord};
use super::{CompactionOptions, CompactionResult, round_score, summary};
use hippo_text::fence::without_sections;
use hippo_text::gist::machine::is_output;
use hippo_types::tokens;
use hippo_types::transcript::CompactStats;

/// Receiver of the messages, with their ids.
type MessageSink<'e> = &'e mut dyn FnMut(ShortContentId, &Message<'_>);

#[derive(Debug, Default)]
pub(super) struct CompactionState {
    pub options: CompactionOptions,
    pub tracker: BranchTracker,
    /// How to treat each record in the second reading, by its position; `None` in the first reading.
    pub selection: Option<Vec<RecordReading>>,
    /// Number of records so far.
    position: usize,
    ledger: MessageLedger,
}

impl CompactionState {
    pub fn new(options: CompactionOptions) -> Self {
        Self {
            ledger: MessageLedger::new(options.config.clone(), options.budget),
            options,
            ..Self::default()
        }
    }

    /// Adds the next record. A record that cannot be read (`None`) only counts as a position.
    pub fn add_record(&mut self, record: Option<TranscriptRecord<'_>>, each: MessageSink<'_>) {
        let selection = self.selection.as_ref();
        let reading = selection.and_then(|selection| selection.get(self.position).copied());
        self.position += 1;
        if selection.is_none() {
            let link = record.as_ref().map(|record| record.link).unwrap_or_default();
            self.tracker
                .note(link, record.as_ref().and_then(|record| record.format));
        }
        match (record, reading.unwrap_or(RecordReading::Keep)) {
            (Some(record), RecordReading::Keep) => self.add_contents(record, each),
            (Some(record), RecordReading::Fold) => self.ledger.folded += record.messages.len(),
            _ => {}
        }
    }

    fn add_contents(&mut self, record: TranscriptRecord<'_>, each: MessageSink<'_>) {
        if let Some(prior) = &record.prior {
            self.ledger.set_prior(prior, record.folds);
        }
        for call in &record.called {
            if let Some(id) = call.id {
                self.ledger.add_call(id, &call.tool);
            }
        }
        for mut message in record.messages {
            // The sections that hippod inserted into a prompt are not part of the session.
            if let Cow::Owned(rest) = without_sections(&message.text) {
                message.text = Cow::Owned(rest);
            }
            // Some harnesses store tool results as messages of the user. The first message is the user's goal.
            if message.role == Role::User && self.ledger.first_goal.is_some() && is_output(&message.text) {
                message.role = Role::Tool;
            }
            let id = self.ledger.push(&message, &message.content());
            each(id, &message);
        }
    }

    pub fn into_compacted(self, reader: RecordReader) -> CompactionResult {
        let Self { options, ledger, .. } = self;
        let built = summary::build(&ledger, &options);
        let [kept, compressed, sparse] = built.tiers;
        let after = tokens::of(&built.text);
        let ratio = built.tokens as f64 / after.max(1) as f64;
        let stats = CompactStats {
            format: reader.format,
            messages: ledger.cores.len() as u64,
            tokens_before: built.tokens as u64,
            tokens_after: after as u64,
            ratio: round_score(ratio),
            kept: kept as u64,
            compressed: compressed as u64,
            sparse: sparse as u64,
            dropped: built.dropped as u64,
            rest: built.rest_id.map(|id| id.to_string()),
            folded: ledger.folded as u64,
            malformed: reader.malformed,
            problems: reader.problems,
            stored: None,
        };
        CompactionResult {
            summary: built.text,
            stats,
            ledger,
            dropped_list: built.dropped_list,
        }
    }
}
