//! State during the reading of a transcript.

use super::branch::{BranchTracker, RecordReading, RecordSelection};
use super::ledger::{self, MessageLedger};
use super::message::{Message, ShortContentId};
use super::prepared::{PreparedMessage, PreparedRecord, ReadyMessage, strip_sections};
use super::read::{self, RecordLink, TranscriptRecord};
use super::split::TranscriptPiece;
use super::{CompactionOptions, CompactionResult, PROBLEMS, RecordBatch, round_score, summary};
use hippo_types::tokens;
use hippo_types::transcript::{CompactStats, TranscriptFormat, TranscriptProblem};

/// Receiver of the scored messages, if the caller wants them.
pub(super) type MessageSink<'e, 'f> = &'e mut Option<&'f mut dyn FnMut(ShortContentId, &Message<'_>)>;

#[derive(Debug)]
pub(super) struct CompactionState {
    pub options: CompactionOptions,
    pub tracker: BranchTracker,
    pub selection: Option<RecordSelection>,
    /// Records so far.
    position: usize,
    ledger: MessageLedger,
    format: Option<TranscriptFormat>,
    malformed: u64,
    problems: Vec<TranscriptProblem>,
    pub batch: RecordBatch,
}

/// Returns true if a record of this format is read.
pub(crate) fn matches_format(wanted: TranscriptFormat, found: Option<TranscriptFormat>) -> bool {
    found.is_some_and(|found| wanted == TranscriptFormat::Auto || wanted == found)
}

impl CompactionState {
    pub fn new(options: CompactionOptions, selection: Option<RecordSelection>) -> Self {
        Self {
            ledger: MessageLedger::new(options.config.clone(), options.budget),
            options,
            tracker: BranchTracker::default(),
            selection,
            position: 0,
            format: None,
            malformed: 0,
            problems: Vec::new(),
            batch: RecordBatch::default(),
        }
    }

    pub fn add_piece(&mut self, piece: TranscriptPiece<'_>, each: MessageSink<'_, '_>) {
        match piece {
            TranscriptPiece::Record(line, bytes) => self.add_record(line, bytes, each),
            TranscriptPiece::TooLong(line) => self.add_problem(line, "longer than 16 MiB"),
            TranscriptPiece::Cut(line) => self.add_problem(line, "the file ends inside the record"),
        }
    }

    /// Returns how to read the next record.
    pub fn next_reading(&mut self) -> RecordReading {
        let position = self.position;
        self.position += 1;
        let reading = self
            .selection
            .as_ref()
            .map(|selection| selection.reading_at(position));
        reading.unwrap_or(RecordReading::Keep)
    }

    /// Reads a record from its bytes.
    pub fn read_record(
        &mut self,
        line: u64,
        reading: RecordReading,
        bytes: &[u8],
        each: MessageSink<'_, '_>,
    ) {
        let known = read::parse_record(bytes, |record| {
            let fits = self.note_link(&record);
            match reading {
                RecordReading::Keep if fits => self.add_contents(record, each),
                RecordReading::Fold if fits => self.ledger.folded += record.messages.len(),
                _ => {}
            }
            fits
        });
        self.report_unread(line, known);
    }

    /// Adds a prepared record; `None` for input that is not a JSON object.
    pub fn add_prepared(
        &mut self,
        line: u64,
        reading: RecordReading,
        ahead: Option<PreparedRecord>,
        messages: &mut dyn Iterator<Item = ReadyMessage<'_>>,
        each: MessageSink<'_, '_>,
    ) {
        let known = ahead.map(|PreparedRecord { record, count, .. }| {
            let fits = self.note_link(&record);
            match reading {
                RecordReading::Keep if fits => {
                    self.add_contents(record, each);
                    for (prepared, message) in messages {
                        self.push_message(prepared, message.as_ref(), each);
                    }
                }
                RecordReading::Fold if fits => self.ledger.folded += count,
                _ => {}
            }
            fits
        });
        self.report_unread(line, known);
    }

    /// Notes the link of a record. Returns true if its format is read.
    fn note_link(&mut self, record: &TranscriptRecord<'_>) -> bool {
        let fits = matches_format(self.options.format, record.format);
        if self.selection.is_none() {
            let link = if fits { record.link } else { RecordLink::default() };
            self.tracker.note(link, record.format.filter(|_| fits));
        }
        if fits {
            self.format = self.format.or(record.format);
        }
        fits
    }

    fn report_unread(&mut self, line: u64, known: Option<bool>) {
        match known {
            Some(true) => {}
            Some(false) => self.report_problem(line, "not a record of the expected format"),
            None => {
                if self.selection.is_none() {
                    self.tracker.note(RecordLink::default(), None);
                }
                self.report_problem(line, "not a JSON object");
            }
        }
    }

    fn add_contents(&mut self, record: TranscriptRecord<'_>, each: MessageSink<'_, '_>) {
        if let Some(prior) = &record.prior {
            self.ledger.set_prior(prior, record.folds);
        }
        for (id, tool) in record.called {
            self.ledger.add_call(id, &tool);
        }
        for message in record.messages {
            let message = strip_sections(message);
            let content = message.content();
            self.push_message(PreparedMessage::new(&message, &content), Some(&message), each);
        }
    }

    fn push_message(
        &mut self,
        prepared: PreparedMessage<'_>,
        message: Option<&Message<'_>>,
        each: MessageSink<'_, '_>,
    ) {
        self.ledger.push(prepared);
        if let (Some(each), Some(message), Some(core)) = (each, message, self.ledger.cores().last()) {
            each(core.id(), message);
        }
    }

    pub fn report_problem(&mut self, line: u64, what: &'static str) {
        self.malformed += 1;
        if self.problems.len() < PROBLEMS {
            self.problems.push(TranscriptProblem {
                line,
                what: what.into(),
            });
        }
    }

    pub fn into_compacted(self) -> CompactionResult {
        let Self { options, ledger, .. } = self;
        let built = summary::build(&ledger, &options);
        let [kept, compressed, sparse] = built.tiers;
        let before: usize = ledger.cores().iter().map(ledger::MessageCore::tokens).sum();
        let after = tokens::of(&built.text);
        #[allow(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
        let ratio = before as f64 / after.max(1) as f64;
        let stats = CompactStats {
            format: self.format,
            messages: ledger.cores().len() as u64,
            tokens_before: before as u64,
            tokens_after: after as u64,
            ratio: round_score(ratio),
            kept: kept as u64,
            compressed: compressed as u64,
            sparse: sparse as u64,
            dropped: built.rest.count as u64,
            rest: built.rest_id.map(|id| id.to_string()),
            folded: ledger.folded as u64,
            malformed: self.malformed,
            problems: self.problems,
            stored: None,
        };
        CompactionResult {
            summary: built.text,
            stats,
            ledger,
            rest: built.rest,
        }
    }
}
