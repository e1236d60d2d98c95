//! How does a row of a table look as a line of JSON, and how does it come back?

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use rusqlite::types::{Value as Sql, ValueRef};
use serde_json::{Map, Value, json};

use super::Table;
use crate::StoreError;

/// Longest line that is read, in bytes: contents have at most a fifth of that.
const LONGEST: u64 = 128 << 20;

/// Bytes as an export tells them: as text where they are text, else in base64.
pub(super) fn bytes_to_json(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "base64": STANDARD.encode(bytes) }),
    }
}

/// The bytes again.
pub(crate) fn bytes_of_json(value: &Value) -> Result<Vec<u8>, String> {
    match (value.get("text"), value.get("base64")) {
        (Some(Value::String(text)), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(Value::String(coded))) => STANDARD
            .decode(coded)
            .map_err(|error| format!("its base64 cannot be read: {error}")),
        _ => Err("bytes are {\"text\": …} or {\"base64\": …}".to_owned()),
    }
}

/// A value as an export tells it. Where a column is JSON, an object or a list is told as such.
pub(super) fn to_json(value: ValueRef<'_>, is_json: bool) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => {
            let nested = is_json
                .then(|| serde_json::from_slice::<Value>(text).ok())
                .flatten();
            nested
                .filter(|nested| nested.is_object() || nested.is_array())
                .unwrap_or_else(|| String::from_utf8_lossy(text).into())
        }
        ValueRef::Blob(bytes) => bytes_to_json(bytes),
    }
}

fn to_sql(value: &Value, is_json: bool) -> Result<Sql, String> {
    Ok(match value {
        Value::Object(_) | Value::Array(_) if is_json => Sql::Text(value.to_string()),
        Value::Null => Sql::Null,
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Sql::Integer(number),
            (None, Some(number)) => Sql::Real(number),
            (None, None) => return Err(format!("{number} is too large")),
        },
        Value::String(text) => Sql::Text(text.clone()),
        Value::Object(_) => Sql::Blob(bytes_of_json(value)?),
        Value::Bool(_) | Value::Array(_) => return Err("it is no number, no text and no bytes".to_owned()),
    })
}

/// The rows of one table of an export.
pub(crate) struct Rows {
    path: PathBuf,
    lines: BufReader<File>,
    number: usize,
}

impl Rows {
    /// Opens the file of a table. A file that is not there has no rows.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub(crate) fn open(folder: &Path, table: &Table) -> Result<Option<Self>, StoreError> {
        let path = folder.join(table.name).with_extension("jsonl");
        match File::open(&path) {
            Ok(file) => Ok(Some(Self {
                path,
                lines: BufReader::new(file),
                number: 0,
            })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unreadable(&path, source)),
        }
    }

    /// The next row, if there is one.
    pub(crate) fn next_row(&mut self) -> Result<Option<Map<String, Value>>, StoreError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.lines).take(LONGEST);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|source| unreadable(&self.path, source))?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        serde_json::from_slice(&line)
            .map(Some)
            .map_err(|error| self.wrong(&error.to_string()))
    }

    /// Says that the row that was read last cannot be used.
    pub(crate) fn wrong(&self, reason: &str) -> StoreError {
        StoreError::Row {
            path: self.path.clone(),
            row: format!("line {} of the export", self.number),
            reason: reason.to_owned(),
        }
    }

    /// Puts a row into its table.
    pub(crate) fn put(
        &self,
        connection: &Connection,
        table: &Table,
        columns: &[String],
        row: &Map<String, Value>,
    ) -> Result<(), StoreError> {
        let known = |name: &String| columns.contains(name);
        if let Some(unknown) = row.keys().find(|name| !known(name)) {
            return Err(self.wrong(&format!("{} has no column {unknown}", table.name)));
        }
        let names: Vec<&str> = row.keys().map(String::as_str).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let insert = format!(
            "INSERT INTO {} ({}) VALUES ({marks})",
            table.name,
            quoted.join(", ")
        );
        let mut values = Vec::with_capacity(names.len());
        for (name, value) in row {
            let is_json = table.json.contains(&name.as_str());
            values.push(to_sql(value, is_json).map_err(|reason| self.wrong(&format!("{name}: {reason}")))?);
        }
        connection
            .prepare_cached(&insert)
            .and_then(|mut statement| statement.execute(rusqlite::params_from_iter(values)))
            .map_err(|source| self.wrong(&source.to_string()))?;
        Ok(())
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Io {
        what: "read the export",
        path: path.to_path_buf(),
        source,
    }
}

/// The columns of a table.
pub(crate) fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT name FROM pragma_table_info(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect()
}
