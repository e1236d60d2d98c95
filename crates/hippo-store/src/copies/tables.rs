//! Which tables does an export tell, and which does it leave out, for what reason?

use std::path::Path;

use rusqlite::Connection;

use crate::{StoreError, contexts, db};

/// One of the two databases of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// `index.db`: documents, entries, accesses, runs.
    Index,
    /// `contexts.db`: sessions and what they stored.
    Contexts,
}

/// A table that is told row by row.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name, and that of its file without `.jsonl`.
    pub name: &'static str,
    /// Columns whose text is JSON, told as it is.
    pub(super) json: &'static [&'static str],
    /// Columns that are made again, and what of.
    pub made_again: &'static [(&'static str, &'static str)],
}

const fn table(name: &'static str, json: &'static [&'static str]) -> Table {
    Table {
        name,
        json,
        made_again: &[],
    }
}

/// A table comes after those that it refers to; numbers that were given out come last.
const INDEX: [Table; 12] = [
    table("entries", &["rest"]),
    table("tombstones", &["pointers", "hashes"]),
    table("accesses", &[]),
    table("access_days", &[]),
    table("co_access", &[]),
    table("runs", &["report"]),
    table("run_steps", &["step"]),
    table("run_files", &[]),
    table("quick_access", &[]),
    table("proposed", &[]),
    table("bases", &[]),
    table("sqlite_sequence", &[]),
];

const CONTEXTS: [Table; 9] = [
    Table {
        name: "sessions",
        json: &[],
        made_again: &[("entries", "counted when its entries are taken in")],
    },
    Table {
        name: "contents",
        json: &[],
        made_again: &[
            ("stored", "measured when the content is packed again"),
            ("coding", "chosen when the content is packed again"),
            ("holds", "counted from entries and sessions"),
        ],
    },
    table("entries", &["entry", "use"]),
    table("compactions", &[]),
    table("transcripts", &[]),
    table("told", &[]),
    table("flushes", &[]),
    table("flush_parts", &[]),
    table("accepted", &[]),
];

/// Tables that no export has, and why.
pub const LEFT_OUT: [(Database, &str, &str); 14] = [
    (
        Database::Index,
        "meta",
        "counters of the derived tables; the root is that of the import",
    ),
    (Database::Index, "documents", "made again from the files"),
    (Database::Index, "checksums", "checksums of the derived tables"),
    (Database::Index, "sections", "made again from the files"),
    (Database::Index, "chunks", "made again from the files"),
    (
        Database::Index,
        "embedders",
        "of the machine that the import is on",
    ),
    (
        Database::Index,
        "vectors",
        "made again from the files by the model",
    ),
    (Database::Index, "lexical", "made again from the files"),
    (
        Database::Index,
        "fresh",
        "after an import the light cycle looks at all documents",
    ),
    (Database::Contexts, "sums", "counted when the rows are taken in"),
    (
        Database::Contexts,
        "blobs",
        "told as `content` of the row in contents",
    ),
    (
        Database::Contexts,
        "summaries",
        "words of the entries, found again",
    ),
    (Database::Contexts, "texts", "words of the contents, found again"),
    (
        Database::Contexts,
        "sqlite_sequence",
        "told by the highest number of flushes and accepted, which are taken up within seconds",
    ),
];

impl Database {
    /// The newest schema that this build knows.
    #[must_use]
    pub const fn schema(self) -> i64 {
        match self {
            Self::Index => db::SCHEMA,
            Self::Contexts => contexts::SCHEMA,
        }
    }

    /// The tables that an export tells, in the order in which they can be taken in.
    #[must_use]
    pub const fn tables(self) -> &'static [Table] {
        match self {
            Self::Index => &INDEX,
            Self::Contexts => &CONTEXTS,
        }
    }

    /// The tables, indexes and triggers of a connection to a database that is as this build makes it.
    pub(super) fn fresh(self) -> Result<Connection, StoreError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(|source| StoreError::from_sql(path, source))?;
        match self {
            Self::Index => db::make(&connection, path)?,
            Self::Contexts => contexts::make(&connection, path)?,
        }
        Ok(connection)
    }
}
