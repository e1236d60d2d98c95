//! What do the tables of another program's database say, with nothing of that database touched?
//!
//! Opening a database in place can make lock files beside it, and take over a log that its own program still writes. So a
//! copy is opened, with the log that belongs to it, and the copy goes when it was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value};

/// Bytes of all texts of the tables together, at most.
const MOST: usize = 256 << 20;

/// What the names of the folders begin with that hold a copy.
pub const COPY: &str = "import-";

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The file cannot be read, or there is no room for the copy.
    #[error("could not copy the database: {0}")]
    Io(#[from] io::Error),
    /// It is no database, or a damaged one.
    #[error("could not read the database: {0}")]
    Sql(#[from] rusqlite::Error),
    /// The tables hold more than is read at once.
    #[error("the tables of the database hold more than {} MiB of text", MOST >> 20)]
    TooLarge,
}

/// The rows of a table, in the order in which they came into it, each as an object of its columns.
pub type Rows = Vec<Map<String, Value>>;

/// The rows of those of these tables that there are. The copy is made in a folder of its own below `scratch`.
///
/// Blobs are null; text that is not UTF-8 has marks in its place.
///
/// # Errors
/// As [`ForeignError`] says.
pub fn tables<'t>(
    path: &Path,
    names: &[&'t str],
    scratch: &Path,
) -> Result<Vec<(&'t str, Rows)>, ForeignError> {
    let folder = tempfile::Builder::new().prefix(COPY).tempdir_in(scratch)?;
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy)?;
    let log = beside(path, "-wal");
    if log.is_file() {
        fs::copy(&log, beside(&copy, "-wal"))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&copy, flags)?;
    let mut room = MOST;
    let mut found = Vec::new();
    for name in names {
        let there: bool = database.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)",
            [name],
            |row| row.get(0),
        )?;
        if there {
            found.push((*name, rows(&database, name, &mut room)?));
        }
    }
    Ok(found)
}

fn rows(database: &Connection, table: &str, room: &mut usize) -> Result<Rows, ForeignError> {
    // The names are constants of ours.
    let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY rowid"))?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut cursor = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let mut fields = Map::new();
        for (number, column) in columns.iter().enumerate() {
            let value = match row.get_ref(number)? {
                ValueRef::Null | ValueRef::Blob(_) => Value::Null,
                ValueRef::Integer(number) => Value::from(number),
                ValueRef::Real(number) => Value::from(number),
                ValueRef::Text(text) => {
                    *room = room.checked_sub(text.len()).ok_or(ForeignError::TooLarge)?;
                    Value::from(String::from_utf8_lossy(text))
                }
            };
            fields.insert(column.clone(), value);
        }
        rows.push(fields);
    }
    Ok(rows)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_stands_in_the_log_is_read_and_nothing_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "PRAGMA journal_mode = WAL; CREATE TABLE memories (id TEXT, n INTEGER, b BLOB);
                 INSERT INTO memories VALUES ('a', 1, x'00'), (CAST(x'ff' AS TEXT), 2, NULL);",
            )
            .unwrap();
        let before = (listed(folder.path()), fs::read(&path).unwrap());
        let found = tables(&path, &["none", "memories"], scratch.path()).unwrap();
        let [("memories", rows)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            serde_json::to_string(rows).unwrap(),
            r#"[{"b":null,"id":"a","n":1},{"b":null,"id":"�","n":2}]"#
        );
        assert_eq!((listed(folder.path()), fs::read(&path).unwrap()), before);
        assert!(listed(scratch.path()).is_empty());
    }

    #[test]
    fn what_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        fs::write(&path, "# Notes, and no database at all\n".repeat(100)).unwrap();
        let refused = tables(&path, &["memories"], folder.path()).unwrap_err();
        assert!(matches!(refused, ForeignError::Sql(_)), "{refused}");
        assert!(tables(&folder.path().join("gone.db"), &["memories"], folder.path()).is_err());
        assert_eq!(listed(folder.path()), ["notes.db"]);
    }
}
