//! Number of the last acknowledged change, in its own file.
//!
//! SQLite silently drops the changes in a damaged WAL. To detect this loss, each change has a number in the database,
//! and the number of the last acknowledged change is stored in a file beside the database. If the last number in the
//! database is lower, changes were lost.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::StoreError;
use crate::in_place::{self, with_suffix};
use crate::system::PRIVATE_FILE;

/// Name of the counter in `sqlite_sequence`, SQLite's table of numbers that are never reused.
const NAME: &str = "changes";

/// The content of the file beside the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct AckRecord {
    /// The number of the last acknowledged change.
    acked: u64,
    /// Number of changes found missing so far.
    lost: u64,
}

/// Returns the number of acknowledged changes that were lost because the database or its WAL was damaged, truncated
/// or removed.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn lost_changes(path: &Path) -> u64 {
    let noted = read(path);
    let is_there = path.metadata().is_ok_and(|metadata| metadata.len() > 0);
    noted.lost + if is_there { 0 } else { noted.acked }
}

/// Increments the number of changes in the caller's transaction, and returns the new number.
pub(super) fn increment(connection: &Connection) -> rusqlite::Result<u64> {
    let next = read_counter(connection)? + 1;
    let known = connection
        .prepare_cached("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1")?
        .execute((NAME, super::to_signed(next)))?;
    if known == 0 {
        connection
            .prepare_cached("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")?
            .execute((NAME, super::to_signed(next)))?;
    }
    Ok(next)
}

/// Records that a change is durable. Errors are ignored: they only mean that a later loss is not detected.
pub(super) fn record_ack(path: &Path, acked: u64) {
    let lost = read(path).lost;
    write(path, AckRecord { acked, lost });
}

/// Renames the database and its WAL if the database file is empty although it had changes. Otherwise, SQLite would
/// delete the WAL of the empty file.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub(super) fn set_aside_if_cut(path: &Path) -> Result<(), StoreError> {
    let size = path.metadata().map_or(0, |metadata| metadata.len());
    let log = with_suffix(path, "-wal")
        .metadata()
        .map_or(0, |metadata| metadata.len());
    if size == 0 && (log > 0 || (path.exists() && read(path).acked > 0)) {
        in_place::set_aside(path)?;
    }
    Ok(())
}

/// Compares the database with the last acknowledged number. Call it before any write. Returns the number of lost
/// changes that were not counted before. If changes were lost, keeps a copy of the WAL beside the database.
pub(super) fn compare_with_acked(connection: &Connection, path: &Path) -> Result<u64, StoreError> {
    let sql = |source| StoreError::from_sql(path, source);
    let is_made = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')";
    // The table `sqlite_sequence` is missing if the WAL that contained the new tables is damaged.
    let known = match connection.query_row(is_made, [], |row| row.get(0)).map_err(sql)? {
        true => read_counter(connection).map_err(sql)?,
        false => 0,
    };
    let noted = read(path);
    let missing = noted.acked.saturating_sub(known);
    if missing > 0 {
        in_place::keep_log(path)?;
        let lost = noted.lost + missing;
        write(path, AckRecord { acked: known, lost });
    }
    Ok(missing)
}

fn read_counter(connection: &Connection) -> rusqlite::Result<u64> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?
        .query_row([NAME], |row| row.get(0))
        .optional()?;
    Ok(found.map_or(0, super::unsigned))
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn read(path: &Path) -> AckRecord {
    let text = std::fs::read_to_string(with_suffix(path, ".acked")).unwrap_or_default();
    let mut words = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let mut next = || words.next().unwrap_or(0);
    AckRecord {
        acked: next(),
        lost: next(),
    }
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn write(path: &Path, noted: AckRecord) {
    let line = format!("{:020} {:020}\n", noted.acked, noted.lost);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE)
        .open(with_suffix(path, ".acked"));
    // Ignore errors, as `record_ack` describes.
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
