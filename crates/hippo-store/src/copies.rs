//! How does a database get from one state folder into another: copied while it is written, told table by table, taken over?
//!
//! A [`Snapshot`] is one moment of a database, on a read-only connection of its own: whoever writes waits for nothing. It is
//! copied page by page for a backup, or written table by table for an export. [`take_over`] and [`import`] make a database of
//! either that belongs to a root of this machine.

mod export;
mod import;
mod rows;
mod snapshot;
mod tables;
#[cfg(test)]
mod tests;

pub use import::import;
pub(crate) use import::take_in;
pub(crate) use rows::{Rows, bytes_of_json, columns};
pub(crate) use snapshot::copy;
pub use snapshot::{Snapshot, take_over};
pub use tables::{Database, LEFT_OUT, Table};
