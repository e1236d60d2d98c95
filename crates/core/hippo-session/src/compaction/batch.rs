//! Parallel preparation of records.
//!
//! This crate starts no threads. Records are collected in a batch. [`ParallelRunner`] then prepares the batch on other
//! threads while this thread consumes the previous batch in order. The result does not depend on how the work is
//! distributed.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::branch::RecordReading;
use super::prepared::PreparedRecords;
use super::{CompactionState, MessageSink, read};
use hippo_types::transcript::TranscriptFormat;

/// Runs the first function on any number of other threads while it runs the second one on the calling thread. Returns
/// when all calls have returned.
pub type ParallelRunner = fn(&(dyn Fn() + Sync), &mut dyn FnMut());

/// Minimum size of a batch in bytes for using other threads. A smaller batch takes less time to prepare than to
/// distribute.
const ENOUGH: usize = if cfg!(test) { 512 } else { 256 << 10 };
/// Maximum number of records in a batch; it is limited because each record has a fixed memory cost.
const MANY: usize = 2_048;
/// Minimum bytes of the last batch before other threads are used.
const ENOUGH_AT_THE_END: usize = if cfg!(test) { 256 } else { 64 << 10 };
/// Longer records are prepared on the calling thread, so that they are not copied.
const LONG: usize = if cfg!(test) { 4_096 } else { 1 << 20 };

/// Bytes of records that a thread prepares at a time.
const PART: usize = if cfg!(test) { 100 } else { 8 << 10 };

/// Records that are waiting to be consumed.
#[derive(Debug, Default)]
pub(super) struct RecordBatch {
    /// Records that are not prepared yet, concatenated.
    bytes: Vec<u8>,
    gathered: BatchParts,
    /// Prepared records, which precede the unprepared ones.
    ready: BatchParts,
}

/// Records grouped into parts. Parts beyond `used` are empty and are reused.
#[derive(Debug, Default)]
struct BatchParts {
    parts: Vec<BatchPart>,
    used: usize,
    /// Number of records in all parts.
    count: usize,
}

/// Records that one thread prepares together.
#[derive(Debug, Default)]
struct BatchPart {
    pieces: Vec<(u64, BatchItem)>,
    /// Total bytes of the records.
    size: usize,
    prepared: Mutex<PreparedPart>,
}

/// Prepared records of a part. The flag is true when they are complete.
#[derive(Debug, Default)]
struct PreparedPart {
    done: bool,
    records: PreparedRecords,
}

#[derive(Debug)]
enum BatchItem {
    Problem(&'static str),
    Record(Range<usize>, RecordReading),
}

impl BatchParts {
    fn add(&mut self, line: u64, what: BatchItem) {
        let size = match &what {
            BatchItem::Problem(_) => 0,
            BatchItem::Record(span, _) => span.len(),
        };
        if self.parts[..self.used]
            .last()
            .is_none_or(|part| part.size >= PART)
        {
            if self.used == self.parts.len() {
                self.parts.push(BatchPart::default());
            }
            self.used += 1;
        }
        if let Some(part) = self.parts[..self.used].last_mut() {
            part.pieces.push((line, what));
            part.size += size;
        }
        self.count += 1;
    }

    fn used_parts(&self) -> &[BatchPart] {
        &self.parts[..self.used]
    }

    /// Passes each part to `each` and clears all parts.
    fn drain_with(&mut self, mut each: impl FnMut(&mut BatchPart)) {
        self.parts[..self.used].iter_mut().for_each(|part| {
            each(part);
            part.pieces.clear();
            part.size = 0;
        });
        (self.used, self.count) = (0, 0);
    }
}

impl BatchPart {
    fn prepare(&self, bytes: &[u8], format: TranscriptFormat, keep: bool) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let PreparedPart { done, records } = &mut *prepared;
        if *done {
            return;
        }
        *done = true;
        for (_, what) in &self.pieces {
            let BatchItem::Record(span, reading) = what else {
                continue;
            };
            let known = read::parse_record(&bytes[span.clone()], |record| {
                let wanted = *reading == RecordReading::Keep && super::matches_format(format, record.format);
                records.add(record, wanted, keep);
            });
            if known.is_none() {
                records.records.push(None);
            }
        }
    }
}

impl CompactionState {
    /// Reads a record now, or adds it to the batch.
    pub(super) fn add_record(&mut self, line: u64, bytes: &[u8], each: MessageSink<'_, '_>) {
        let reading = self.next_reading();
        let Some(runner) = self.options.parallel else {
            return self.read_record(line, reading, bytes, each);
        };
        if bytes.len() > LONG {
            self.consume_remaining(each);
            return self.read_record(line, reading, bytes, each);
        }
        let batch = &mut self.batch;
        let from = batch.bytes.len();
        batch.bytes.extend_from_slice(bytes);
        let span = from..batch.bytes.len();
        batch.gathered.add(line, BatchItem::Record(span, reading));
        if batch.bytes.len() >= ENOUGH || batch.gathered.count >= MANY {
            self.prepare_batch(runner, each);
        }
    }

    /// Reports a problem after all records before it have been consumed.
    pub(super) fn add_problem(&mut self, line: u64, what: &'static str) {
        if self.batch.gathered.count == 0 && self.batch.ready.count == 0 {
            return self.report_problem(line, what);
        }
        self.batch.gathered.add(line, BatchItem::Problem(what));
    }

    /// Consumes all remaining records.
    pub(super) fn consume_remaining(&mut self, each: MessageSink<'_, '_>) {
        if let Some(runner) = self.options.parallel
            && self.batch.bytes.len() >= ENOUGH_AT_THE_END
        {
            self.prepare_batch(runner, each);
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.consume_ready(&mut batch.ready, each);
        batch.gathered.drain_with(|part| {
            for (line, what) in part.pieces.drain(..) {
                match what {
                    BatchItem::Problem(what) => self.report_problem(line, what),
                    BatchItem::Record(span, reading) => {
                        self.read_record(line, reading, &batch.bytes[span], each)
                    }
                }
            }
        });
        batch.bytes.clear();
        self.batch = batch;
    }

    /// Prepares the batch, in parallel, while the previous batch is consumed.
    fn prepare_batch(&mut self, runner: ParallelRunner, each: MessageSink<'_, '_>) {
        let RecordBatch {
            mut bytes,
            gathered,
            mut ready,
        } = std::mem::take(&mut self.batch);
        let (format, keep) = (self.options.format, each.is_some());
        let next = AtomicUsize::new(0);
        let help = || {
            while let Some(part) = gathered.used_parts().get(next.fetch_add(1, Ordering::Relaxed)) {
                part.prepare(&bytes, format, keep);
            }
        };
        runner(&help, &mut || {
            self.consume_ready(&mut ready, each);
            help();
        });
        // The runner may have done nothing, so prepare whatever is missing.
        self.consume_ready(&mut ready, each);
        gathered
            .used_parts()
            .iter()
            .for_each(|part| part.prepare(&bytes, format, keep));
        bytes.clear();
        self.batch = RecordBatch {
            bytes,
            gathered: ready,
            ready: gathered,
        };
    }

    fn consume_ready(&mut self, ready: &mut BatchParts, each: MessageSink<'_, '_>) {
        ready.drain_with(|part| {
            let prepared = part.prepared.get_mut().unwrap_or_else(PoisonError::into_inner);
            prepared.done = false;
            let mut pieces = part.pieces.drain(..);
            prepared.records.drain_with(|ahead, messages| {
                for (line, what) in pieces.by_ref() {
                    match what {
                        BatchItem::Problem(what) => self.report_problem(line, what),
                        BatchItem::Record(_, reading) => {
                            return self.add_prepared(line, reading, ahead, messages, each);
                        }
                    }
                }
            });
            for (line, what) in pieces {
                if let BatchItem::Problem(what) = what {
                    self.report_problem(line, what);
                }
            }
        });
    }
}
