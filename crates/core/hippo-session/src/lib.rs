//! Session transcripts: readers, compaction, flush into the log, pages, import of other programs' records.
#![warn(clippy::disallowed_methods)]

pub mod compaction;
pub mod flush;
pub mod import;
mod json;
pub mod page;

#[cfg(test)]
mod secret_tests;
