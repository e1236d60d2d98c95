//! What is known of a transcript so far, and how does the next record change it?

use super::branch::{Reading, Selection, Tracker};
use super::ledger::{self, Ledger};
use super::message::{ContentId, Message};
use super::prepared::{Ahead, Prepared, Ready, counted};
use super::read::{self, Format, Link, Record};
use super::split::Piece;
use super::{Batch, Compacted, Options, PROBLEMS, Problem, Stats, rounded, summary};
use crate::tokens;

/// Who is handed the messages, if anybody.
pub(super) type Each<'e, 'f> = &'e mut Option<&'f mut dyn FnMut(ContentId, &Message<'_>)>;

#[derive(Debug)]
pub(super) struct State {
    pub options: Options,
    pub tracker: Tracker,
    pub selection: Option<Selection>,
    /// Records so far.
    place: usize,
    ledger: Ledger,
    format: Option<Format>,
    malformed: u64,
    problems: Vec<Problem>,
    pub batch: Batch,
}

/// Whether a record of this format is read.
pub(super) fn fits(wanted: Option<Format>, found: Option<Format>) -> bool {
    found.is_some() && wanted.is_none_or(|wanted| found == Some(wanted))
}

impl State {
    pub fn new(options: Options, selection: Option<Selection>) -> Self {
        Self {
            ledger: Ledger::new(options.config.clone(), options.budget),
            options,
            tracker: Tracker::default(),
            selection,
            place: 0,
            format: None,
            malformed: 0,
            problems: Vec::new(),
            batch: Batch::default(),
        }
    }

    pub fn piece(&mut self, piece: Piece<'_>, each: Each<'_, '_>) {
        match piece {
            Piece::Record(line, bytes) => self.add(line, bytes, each),
            Piece::TooLong(line) => self.add_problem(line, "longer than 16 MiB"),
            Piece::Cut(line) => self.add_problem(line, "the file ends within it"),
        }
    }

    /// What is to be done with the next record.
    pub fn next_reading(&mut self) -> Reading {
        let place = self.place;
        self.place += 1;
        let reading = self.selection.as_ref().map(|selection| selection.of(place));
        reading.unwrap_or(Reading::Take)
    }

    /// Takes a record from its bytes.
    pub fn record(&mut self, line: u64, reading: Reading, bytes: &[u8], each: Each<'_, '_>) {
        let known = read::read(bytes, |record| {
            let fits = self.note(&record);
            match reading {
                Reading::Take if fits => self.take(record, each),
                Reading::Fold if fits => self.ledger.folded += record.messages.len(),
                _ => {}
            }
            fits
        });
        self.tell(line, known);
    }

    /// Takes a record that was prepared; none where it was no JSON object.
    pub fn prepared(
        &mut self,
        line: u64,
        reading: Reading,
        ahead: Option<Ahead>,
        messages: &mut dyn Iterator<Item = Ready<'_>>,
        each: Each<'_, '_>,
    ) {
        let known = ahead.map(|Ahead { record, count, .. }| {
            let fits = self.note(&record);
            match reading {
                Reading::Take if fits => {
                    self.take(record, each);
                    for (prepared, message) in messages {
                        self.push(prepared, message.as_ref(), each);
                    }
                }
                Reading::Fold if fits => self.ledger.folded += count,
                _ => {}
            }
            fits
        });
        self.tell(line, known);
    }

    /// Notes where a record stands; answers whether it is read.
    fn note(&mut self, record: &Record<'_>) -> bool {
        let fits = fits(self.options.format, record.format);
        if self.selection.is_none() {
            let link = if fits { record.link } else { Link::default() };
            self.tracker.note(link, record.format.filter(|_| fits));
        }
        if fits {
            self.format = self.format.or(record.format);
        }
        fits
    }

    fn tell(&mut self, line: u64, known: Option<bool>) {
        match known {
            Some(true) => {}
            Some(false) => self.problem(line, "no record of the format"),
            None => {
                if self.selection.is_none() {
                    self.tracker.note(Link::default(), None);
                }
                self.problem(line, "no JSON object");
            }
        }
    }

    fn take(&mut self, record: Record<'_>, each: Each<'_, '_>) {
        if let Some(prior) = &record.prior {
            self.ledger.prior(prior, record.folds);
        }
        for (id, tool) in record.called {
            self.ledger.call(id, &tool);
        }
        for message in record.messages {
            let message = counted(message);
            let content = message.content();
            self.push(Prepared::of(&message, &content), Some(&message), each);
        }
    }

    fn push(&mut self, prepared: Prepared<'_>, message: Option<&Message<'_>>, each: Each<'_, '_>) {
        self.ledger.push(prepared);
        if let (Some(each), Some(message), Some(core)) = (each, message, self.ledger.cores().last()) {
            each(core.id(), message);
        }
    }

    pub fn problem(&mut self, line: u64, what: &'static str) {
        self.malformed += 1;
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, what });
        }
    }

    pub fn compacted(self) -> Compacted {
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
