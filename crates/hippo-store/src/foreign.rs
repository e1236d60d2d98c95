//! What do the tables of another program's database say, with nothing of that database touched?
//!
//! Opening a database in place can make lock files beside it, and take over a log that its own program still writes. So a
//! copy is opened, with the log that belongs to it, and the copy goes when it was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Map, Value};

/// Bytes of all texts of the tables together, at most.
const MOST: usize = 256 << 20;

/// Bytes of a database that is copied, and of the log beside it, at most.
const LARGEST: u64 = 4 << 30;
/// Fields of all rows together, at most.
const FIELDS: usize = 4_000_000;
/// Bytes of a name of a column that is read, at most.
const NAME: i64 = 64;
/// Bytes of one value that is read, at most; a larger one is read as null.
const VALUE: usize = 64 << 20;

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
    #[error("the tables of the database hold more than {} MiB of text, or {FIELDS} values", MOST >> 20)]
    TooLarge,
    /// The file is larger than what is copied.
    #[error("the database has more than {} GiB", LARGEST >> 30)]
    LargeFile,
}

/// The rows of a table, in the order in which they came into it, each as an object of its columns.
pub type Rows = Vec<Map<String, Value>>;

/// A table, as far as it can be read.
#[derive(Debug)]
pub struct Table<'t> {
    /// Its name.
    pub name: &'t str,
    /// What can be read of it.
    pub rows: Rows,
    /// Where the database is damaged in the middle of it.
    pub gap: Option<Gap>,
}

/// Rows that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Gap {
    /// Number in the database of the last row before them; `None` where they begin with the first one.
    pub after: Option<i64>,
    /// Number in the database of the first row behind them; `None` where they end with the last one.
    pub before: Option<i64>,
    /// What the library says.
    pub why: String,
}

/// The rows of those of these tables that there are. The copy is made in a folder of its own below `scratch`.
///
/// Blobs are null; text that is not UTF-8 has marks in its place. Views, virtual tables and generated columns are left out:
/// reading them would run code that the file brings. What cannot be read in the middle of a table costs no row before or
/// behind it.
///
/// # Errors
/// As [`ForeignError`] says.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn tables<'t>(path: &Path, names: &[&'t str], scratch: &Path) -> Result<Vec<Table<'t>>, ForeignError> {
    let log = beside(path, "-wal");
    for file in [path, &log] {
        if fs::metadata(file).is_ok_and(|metadata| metadata.len() > LARGEST) {
            return Err(ForeignError::LargeFile);
        }
    }
    let folder = tempfile::Builder::new().prefix(COPY).tempdir_in(scratch)?;
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy)?;
    if log.is_file() {
        fs::copy(&log, beside(&copy, "-wal"))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&copy, flags)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    let mut room = Room {
        bytes: MOST,
        fields: FIELDS,
    };
    let mut found = Vec::new();
    for name in names {
        let there: bool = database.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0)",
            [name],
            |row| row.get(0),
        )?;
        if there {
            found.push(table(&database, name, &mut room)?);
        }
    }
    Ok(found)
}

/// What the tables may still hold.
struct Room {
    bytes: usize,
    fields: usize,
}

/// Names of the columns of a table that are stored.
fn columns(database: &Connection, table: &str) -> Result<Vec<String>, ForeignError> {
    let mut statement = database
        .prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 AND octet_length(name) <= ?2")?;
    let names = statement.query_map(params![table, NAME], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Reads a table from its beginning, and where that stops from its end as well.
fn table<'t>(database: &Connection, name: &'t str, room: &mut Room) -> Result<Table<'t>, ForeignError> {
    let columns = columns(database, name)?;
    let mut list = String::from("rowid");
    for column in &columns {
        let quoted = column.replace('"', "\"\"");
        // The length is known without reading the value.
        list.push_str(&format!(
            ", iif(octet_length(\"{quoted}\") <= {VALUE}, \"{quoted}\", NULL)"
        ));
    }
    // The names of tables are constants of ours.
    let sql = |rest: &str| format!("SELECT {list} FROM \"{name}\" {rest}");
    let forwards = run(database, &sql("ORDER BY rowid"), &columns, room)?;
    let mut rows = forwards.rows;
    let mut gap = None;
    if let Some(why) = forwards.stopped {
        let after = forwards.last;
        let from = after.map_or_else(String::new, |last| format!("WHERE rowid > {last}"));
        let mut behind = run(
            database,
            &sql(&format!("{from} ORDER BY rowid DESC")),
            &columns,
            room,
        )?;
        if rows.is_empty() && behind.rows.is_empty() {
            return Err(why.into());
        }
        behind.rows.reverse();
        rows.append(&mut behind.rows);
        gap = Some(Gap {
            after,
            before: behind.last,
            why: why.to_string(),
        });
    }
    Ok(Table { name, rows, gap })
}

/// Rows that were read one after the other.
struct Run {
    rows: Rows,
    /// Number of the last one.
    last: Option<i64>,
    /// Why it was the last one, where more follow.
    stopped: Option<rusqlite::Error>,
}

/// The first column is the number of the row.
fn run(database: &Connection, sql: &str, columns: &[String], room: &mut Room) -> Result<Run, ForeignError> {
    let mut statement = database.prepare(sql)?;
    let mut cursor = statement.query([])?;
    let mut run = Run {
        rows: Vec::new(),
        last: None,
        stopped: None,
    };
    loop {
        match cursor.next() {
            Ok(Some(row)) => {
                run.rows.push(fields(row, columns, room)?);
                run.last = Some(row.get(0)?);
            }
            Ok(None) => return Ok(run),
            Err(error) => {
                run.stopped = Some(error);
                return Ok(run);
            }
        }
    }
}

/// The number of the row comes before its columns.
fn fields(row: &Row<'_>, columns: &[String], room: &mut Room) -> Result<Map<String, Value>, ForeignError> {
    let mut fields = Map::new();
    room.fields = room
        .fields
        .checked_sub(columns.len())
        .ok_or(ForeignError::TooLarge)?;
    for (number, column) in columns.iter().enumerate() {
        let value = match row.get_ref(number + 1)? {
            ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Value::from(number),
            ValueRef::Text(text) => {
                room.bytes = room.bytes.checked_sub(text.len()).ok_or(ForeignError::TooLarge)?;
                Value::from(String::from_utf8_lossy(text))
            }
        };
        fields.insert(column.clone(), value);
    }
    Ok(fields)
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
        let [
            Table {
                name: "memories",
                rows,
                gap: None,
            },
        ] = &found[..]
        else {
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
    fn a_damaged_page_costs_the_rows_on_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "CREATE TABLE memories (id INTEGER PRIMARY KEY, text TEXT);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
                 INSERT INTO memories SELECT i, printf('memory %d %.*c', i, 400, 'x') FROM n;",
            )
            .unwrap();
        drop(theirs);
        let mut bytes = fs::read(&path).unwrap();
        let needle = b"memory 100 ";
        let at = bytes
            .windows(needle.len())
            .position(|part| part == needle)
            .unwrap();
        let page = at / 4096 * 4096;
        bytes[page..page + 4096].fill(0xee);
        fs::write(&path, bytes).unwrap();
        let found = tables(&path, &["memories"], folder.path()).unwrap();
        let gap = found[0].gap.as_ref().unwrap();
        let (after, before) = (gap.after.unwrap(), gap.before.unwrap());
        assert!(
            (85..100).contains(&after) && (101..115).contains(&before),
            "{gap:?}"
        );
        assert!(gap.why.contains("malformed"), "{gap:?}");
        let ids: Vec<i64> = found[0]
            .rows
            .iter()
            .map(|row| row["id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, (1..=after).chain(before..=200).collect::<Vec<_>>());
    }

    #[test]
    fn code_that_a_database_brings_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "CREATE TABLE memories (id INTEGER, \"a\"\"b\" TEXT, large TEXT AS (hex(zeroblob(1000))));
                 INSERT INTO memories VALUES (1, 'x');
                 CREATE VIEW history AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n;
                 CREATE VIRTUAL TABLE observations USING fts5(text);",
            )
            .unwrap();
        let names = ["memories", "history", "observations"];
        let found = tables(&path, &names, scratch.path()).unwrap();
        let [Table { rows, .. }] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(serde_json::to_string(rows).unwrap(), r#"[{"a\"b":"x","id":1}]"#);
    }

    #[test]
    fn a_database_of_a_terabyte_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let refused = tables(&path, &["memories"], scratch.path()).unwrap_err();
        assert!(matches!(refused, ForeignError::LargeFile), "{refused}");
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
