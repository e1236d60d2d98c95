//! How do others help to prepare records, while this crate knows no threads?
//!
//! Records are gathered until there are enough of them. Then [`Beside`] is asked to have them prepared wherever there is a
//! processor, while those prepared before are taken in their order. Nothing of the result depends on who did what.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::branch::Reading;
use super::prepared::Records;
use super::{Each, Format, State, read};

/// Runs the first function on other threads, on any number of them, while it runs the second one here, and returns when
/// all have returned.
pub type Beside = fn(&(dyn Fn() + Sync), &mut dyn FnMut());

/// Bytes of records from which on others are asked: what they take from here has to be more than what asking costs.
const ENOUGH: usize = if cfg!(test) { 512 } else { 256 << 10 };
/// Records that are enough, however short: what is known of each takes room.
const MANY: usize = 2_048;
/// At the end of the bytes fewer are enough.
const ENOUGH_AT_THE_END: usize = if cfg!(test) { 256 } else { 64 << 10 };
/// A longer record is not held twice, and is prepared here.
const LONG: usize = if cfg!(test) { 4_096 } else { 1 << 20 };

/// Bytes of records that one thread prepares before it looks for more.
const PART: usize = if cfg!(test) { 100 } else { 8 << 10 };

/// Records whose turn has not come.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Those that are not prepared, one behind the other.
    bytes: Vec<u8>,
    gathered: Parts,
    /// Those that are, which come before them.
    ready: Parts,
}

/// Records in parts; those behind the ones in use are empty.
#[derive(Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    used: usize,
    /// Records in all.
    count: usize,
}

/// Records that are prepared together.
#[derive(Debug, Default)]
struct Part {
    pieces: Vec<(u64, What)>,
    /// Bytes of them.
    size: usize,
    prepared: Mutex<Done>,
}

/// What is known of the records of a part, once it is.
#[derive(Debug, Default)]
struct Done {
    done: bool,
    records: Records,
}

#[derive(Debug)]
enum What {
    Problem(&'static str),
    Record(Range<usize>, Reading),
}

impl Parts {
    fn add(&mut self, line: u64, what: What) {
        let size = match &what {
            What::Problem(_) => 0,
            What::Record(span, _) => span.len(),
        };
        if self.parts[..self.used]
            .last()
            .is_none_or(|part| part.size >= PART)
        {
            if self.used == self.parts.len() {
                self.parts.push(Part::default());
            }
            self.used += 1;
        }
        if let Some(part) = self.parts[..self.used].last_mut() {
            part.pieces.push((line, what));
            part.size += size;
        }
        self.count += 1;
    }

    fn all(&self) -> &[Part] {
        &self.parts[..self.used]
    }

    /// Hands on all pieces with what is known of them, and is empty then.
    fn take(&mut self, mut each: impl FnMut(&mut Part)) {
        self.parts[..self.used].iter_mut().for_each(|part| {
            each(part);
            part.pieces.clear();
            part.size = 0;
        });
        (self.used, self.count) = (0, 0);
    }
}

impl Part {
    fn prepare(&self, bytes: &[u8], format: Option<Format>, keep: bool) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let Done { done, records } = &mut *prepared;
        if *done {
            return;
        }
        *done = true;
        for (_, what) in &self.pieces {
            let What::Record(span, reading) = what else {
                continue;
            };
            let known = read::read(&bytes[span.clone()], |record| {
                let wanted = *reading == Reading::Take && super::fits(format, record.format);
                records.add(record, wanted, keep);
            });
            if known.is_none() {
                records.records.push(None);
            }
        }
    }
}

impl State {
    /// Takes a record now, or gathers it.
    pub(super) fn add(&mut self, line: u64, bytes: &[u8], each: Each<'_, '_>) {
        let reading = self.next_reading();
        let Some(beside) = self.options.beside else {
            return self.record(line, reading, bytes, each);
        };
        if bytes.len() > LONG {
            self.settle(each);
            return self.record(line, reading, bytes, each);
        }
        let batch = &mut self.batch;
        let from = batch.bytes.len();
        batch.bytes.extend_from_slice(bytes);
        let span = from..batch.bytes.len();
        batch.gathered.add(line, What::Record(span, reading));
        if batch.bytes.len() >= ENOUGH || batch.gathered.count >= MANY {
            self.prepare(beside, each);
        }
    }

    /// Tells of a problem when the records before it are taken.
    pub(super) fn add_problem(&mut self, line: u64, what: &'static str) {
        if self.batch.gathered.count == 0 && self.batch.ready.count == 0 {
            return self.problem(line, what);
        }
        self.batch.gathered.add(line, What::Problem(what));
    }

    /// Takes all records that are left.
    pub(super) fn settle(&mut self, each: Each<'_, '_>) {
        if let Some(beside) = self.options.beside
            && self.batch.bytes.len() >= ENOUGH_AT_THE_END
        {
            self.prepare(beside, each);
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.take_ready(&mut batch.ready, each);
        batch.gathered.take(|part| {
            for (line, what) in part.pieces.drain(..) {
                match what {
                    What::Problem(what) => self.problem(line, what),
                    What::Record(span, reading) => self.record(line, reading, &batch.bytes[span], each),
                }
            }
        });
        batch.bytes.clear();
        self.batch = batch;
    }

    /// Has the gathered records prepared, and takes those that are.
    fn prepare(&mut self, beside: Beside, each: Each<'_, '_>) {
        let Batch {
            mut bytes,
            gathered,
            mut ready,
        } = std::mem::take(&mut self.batch);
        let (format, keep) = (self.options.format, each.is_some());
        let next = AtomicUsize::new(0);
        let help = || {
            while let Some(part) = gathered.all().get(next.fetch_add(1, Ordering::Relaxed)) {
                part.prepare(&bytes, format, keep);
            }
        };
        beside(&help, &mut || {
            self.take_ready(&mut ready, each);
            help();
        });
        // Whatever was done beside, nothing is left undone.
        self.take_ready(&mut ready, each);
        gathered
            .all()
            .iter()
            .for_each(|part| part.prepare(&bytes, format, keep));
        bytes.clear();
        self.batch = Batch {
            bytes,
            gathered: ready,
            ready: gathered,
        };
    }

    fn take_ready(&mut self, ready: &mut Parts, each: Each<'_, '_>) {
        ready.take(|part| {
            let prepared = part.prepared.get_mut().unwrap_or_else(PoisonError::into_inner);
            prepared.done = false;
            let mut pieces = part.pieces.drain(..);
            prepared.records.take(|ahead, messages| {
                for (line, what) in pieces.by_ref() {
                    match what {
                        What::Problem(what) => self.problem(line, what),
                        What::Record(_, reading) => {
                            return self.prepared(line, reading, ahead, messages, each);
                        }
                    }
                }
            });
            for (line, what) in pieces {
                if let What::Problem(what) = what {
                    self.problem(line, what);
                }
            }
        });
    }
}
