//! What does a table say, row by row, for people and programs that know nothing of hippod?

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value};

use super::rows::{bytes_to_json, to_json};
use super::{Database, Snapshot, Table};
use crate::{StoreError, contexts};

/// Contents with the bytes behind them.
const CONTENTS: &str = "SELECT contents.*, blobs.bytes AS content
    FROM contents LEFT JOIN blobs ON blobs.content = contents.row ORDER BY contents.row";

impl Snapshot {
    /// Writes a table to a new file at `to`, one row a line: the columns by their names. Answers how many rows it has.
    ///
    /// # Errors
    /// See [`StoreError`].
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn export(&self, table: &Table, to: &Path) -> Result<u64, StoreError> {
        let failed = |source| StoreError::Io {
            what: "write the export",
            path: to.to_path_buf(),
            source,
        };
        let mut out = BufWriter::new(File::create_new(to).map_err(failed)?);
        let with_bytes = self.database == Database::Contexts && table.name == "contents";
        let select = match with_bytes {
            true => CONTENTS.to_owned(),
            false => format!("SELECT * FROM {}", table.name),
        };
        let mut statement = self.sql(self.connection.prepare(&select))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = self.sql(statement.query([]))?;
        let mut count = 0;
        while let Some(row) = self.sql(rows.next())? {
            let mut told = Map::new();
            for (at, name) in names.iter().enumerate() {
                if table.made_again.iter().any(|(column, _)| column == name) {
                    continue;
                }
                let value = self.sql(row.get_ref(at))?;
                let value = match with_bytes && name == "content" {
                    true => content(row),
                    false => to_json(value, table.json.contains(&name.as_str())),
                };
                told.insert(name.clone(), value);
            }
            serde_json::to_writer(&mut out, &told).map_err(|error| failed(error.into()))?;
            out.write_all(b"\n").map_err(failed)?;
            count += 1;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        Ok(count)
    }
}

/// The bytes of a content; nothing where they are not stored, or are not what was put.
fn content(row: &rusqlite::Row<'_>) -> Value {
    contexts::bytes_of(row).map_or(Value::Null, |bytes| bytes_to_json(&bytes))
}
