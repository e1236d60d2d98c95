//! Does an export tell everything, and is what comes back what was there?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hippo_core::context::{ContextEntry, Decay, EntryKind, EntrySource, Lifecycle, Modifiers};
use rusqlite::Connection;

use super::rows::columns;
use super::*;
use crate::StoreError;
use crate::contexts::{ContextReader, ContextStore, Lookup, NewContent, NewEntry};
use crate::db::Store;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// All tables of a database as lines, in a new folder.
    fn exported(&self, database: Database, file: &Path, name: &str) -> PathBuf {
        let folder = self.at(name);
        fs::create_dir(&folder).unwrap();
        let snapshot = Snapshot::begin(database, file).unwrap();
        for table in database.tables() {
            let to = folder.join(table.name).with_extension("jsonl");
            snapshot.export(table, &to).unwrap();
        }
        folder
    }
}

fn create(database: Database, file: &Path) {
    match database {
        Database::Index => drop(Store::open(file, "/w").unwrap()),
        Database::Contexts => drop(ContextStore::open(file).unwrap()),
    }
}

/// The tables that a person would call such: those behind a full-text index belong to it.
fn tables(connection: &Connection) -> Vec<String> {
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.map(Result::unwrap).collect();
    let behind = |name: &str| {
        ["lexical", "summaries", "texts"]
            .iter()
            .any(|index| name.strip_prefix(index).is_some_and(|rest| rest.starts_with('_')))
    };
    names.into_iter().filter(|name| !behind(name)).collect()
}

/// A row of each table, whatever it means, with numbers that are hard to tell.
fn fill(database: Database, file: &Path) {
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    for table in database.tables() {
        if table.name == "sqlite_sequence" {
            continue;
        }
        let mut statement = connection
            .prepare("SELECT name, type FROM pragma_table_info(?1)")
            .unwrap();
        let typed = statement
            .query_map([table.name], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
            .unwrap();
        let (names, values): (Vec<String>, Vec<String>) = typed
            .map(|typed| {
                let (name, kind) = typed.unwrap();
                let is_json = table.json.contains(&name.as_str());
                let value = match kind.as_str() {
                    // The same in all of them: rows refer to each other.
                    "INTEGER" => "7".to_owned(),
                    "REAL" => "0.1 + 0.2".to_owned(),
                    "BLOB" => "x'ff00c3'".to_owned(),
                    _ if is_json => r#"'{"a":[0.30000000000000004,null],"b":"ü"}'"#.to_owned(),
                    // The smaller one of a pair comes first.
                    _ => format!("'{name} ''quoted'' \n ü'"),
                };
                (name, value)
            })
            .unzip();
        connection
            .execute_batch(&format!(
                "INSERT INTO {} ({}) VALUES ({})",
                table.name,
                names.join(", "),
                values.join(", ")
            ))
            .unwrap_or_else(|error| panic!("{}: {error}", table.name));
    }
}

#[test]
fn an_export_tells_every_table_and_column() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/export.md")).unwrap();
    for (database, name) in [(Database::Index, "index"), (Database::Contexts, "contexts")] {
        let scratch = Scratch::new();
        let file = scratch.at("db");
        create(database, &file);
        if database == Database::Index {
            fill(database, &file);
        } else {
            session(&file);
        }
        let folder = scratch.exported(database, &file, "out");
        let connection = Connection::open(&file).unwrap();
        for table in tables(&connection) {
            let row = format!("| `{name}/{table}` |");
            let row = page.lines().find(|line| line.starts_with(&row));
            let row = row.unwrap_or_else(|| panic!("docs/export.md does not say where {name}/{table} is"));
            let left_out = LEFT_OUT
                .iter()
                .find(|(of, left, _)| *of == database && *left == table);
            let Some(told) = database.tables().iter().find(|told| told.name == table) else {
                let (_, _, why) = left_out.unwrap_or_else(|| panic!("nobody says where {table} is"));
                assert!(row.contains(why), "{row}: {why}");
                continue;
            };
            assert!(left_out.is_none(), "{table} is told");
            let lines = fs::read_to_string(folder.join(&table).with_extension("jsonl")).unwrap();
            let keys: Option<BTreeSet<String>> = lines.lines().next().map(|line| {
                let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
                row.keys().cloned().collect()
            });
            for column in columns(&connection, &table).unwrap() {
                assert!(
                    row.contains(&format!("`{column}`")),
                    "docs/export.md: {table}.{column}"
                );
                let again = told.made_again.iter().find(|(made, _)| *made == column);
                if let Some((_, why)) = again {
                    assert!(row.contains(why), "{row}: {why}");
                }
                let is_told = keys.as_ref().is_none_or(|keys| keys.contains(&column));
                assert!(is_told != again.is_some() || keys.is_none(), "{table}.{column}");
            }
        }
    }
}

/// Sessions with contents of every kind: text, bytes, one that is gone.
fn session(file: &Path) -> Vec<Vec<u8>> {
    let mut store = ContextStore::open(file).unwrap();
    let contents = [
        b"the blue pump of hall 3".to_vec(),
        vec![0xff, 0, 1, 2],
        b"shared".to_vec(),
    ];
    for (number, id) in ["s1", "s2"].iter().enumerate() {
        store.open_session(id, Some("tester"), 5).unwrap();
        for (at, bytes) in contents.iter().enumerate() {
            let entry = entry(&format!("x{number}{at}"));
            let new = NewEntry {
                session: id,
                entry: &entry,
                content: Some(NewContent {
                    bytes,
                    tokens: 3,
                    withhold: false,
                }),
                budget_bytes: 1 << 20,
                now_ms: 7,
            };
            store.put(&new).unwrap();
        }
    }
    store.close_session("s2", 9).unwrap();
    contents.to_vec()
}

fn entry(id: &str) -> ContextEntry {
    ContextEntry {
        id: id.to_owned(),
        kind: EntryKind::ToolResult,
        source: EntrySource {
            kind: "exec".to_owned(),
            reference: format!("make {id}"),
            turn: 3,
            retrievable: true,
        },
        summary: "It was built.".to_owned(),
        key_data: None,
        strength: 0.1 + 0.2,
        decay: Decay {
            rate: 0.1,
            floor: 0.05,
            last_access: 3,
        },
        modifiers: Modifiers::default(),
        lifecycle: Lifecycle::default(),
    }
}

#[test]
fn what_is_taken_in_is_told_again_as_it_was() {
    for database in [Database::Index, Database::Contexts] {
        let scratch = Scratch::new();
        let file = scratch.at("db");
        create(database, &file);
        let contents = match database {
            Database::Index => {
                fill(database, &file);
                Vec::new()
            }
            Database::Contexts => session(&file),
        };
        let told = scratch.exported(database, &file, "told");
        let again = scratch.at("again.db");
        import(database, &told, &again, "/w").unwrap();
        take_over(database, &again, "/elsewhere").unwrap();
        let told_again = scratch.exported(database, &again, "told-again");
        for table in database.tables() {
            let name = Path::new(table.name).with_extension("jsonl");
            let [before, after] =
                [&told, &told_again].map(|folder| fs::read_to_string(folder.join(&name)).unwrap());
            assert_eq!(before, after, "{database:?} {}", table.name);
        }
        if contents.is_empty() {
            continue;
        }
        let [before, after] = [&file, &again].map(|file| ContextReader::open(file).unwrap());
        let sums = |reader: &ContextReader| {
            let usage = reader.usage().unwrap();
            (
                usage.sessions,
                usage.open,
                usage.entries,
                usage.contents,
                usage.stored_bytes,
                usage.raw_bytes,
            )
        };
        assert_eq!(sums(&before), sums(&after));
        for bytes in &contents {
            let id = crate::contexts::ContentId::of(bytes);
            let Lookup::Kept(found) = after.content(id).unwrap() else {
                panic!("a content is not there")
            };
            assert_eq!(&found.bytes, bytes);
        }
        let found = |reader: &ContextReader| reader.search("s1", "blue pump", 5).unwrap();
        assert!(!found(&before).is_empty());
        assert_eq!(found(&before), found(&after));
    }
}

#[test]
fn a_line_that_cannot_be_taken_in_is_named() {
    for (line, reason) in [
        ("{\"id\":", "EOF"),
        ("{\"id\":\"a\",\"nonsense\":1}", "nonsense"),
        ("{\"id\":true}", "no number"),
        ("{\"id\":\"a\"}", "NOT NULL"),
    ] {
        let scratch = Scratch::new();
        fs::write(scratch.at("tombstones.jsonl"), format!("{line}\n")).unwrap();
        let error = import(Database::Index, scratch.0.path(), &scratch.at("db"), "/w").unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains("tombstones.jsonl") && told.contains("line 1") && told.contains(reason),
            "{told}"
        );
    }
}

#[test]
fn a_moment_is_copied_while_others_write() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.at("db"), scratch.at("copy"));
    let store = Store::open(&file, "/w").unwrap();
    let writer = Connection::open(&file).unwrap();
    writer
        .execute_batch("INSERT INTO proposed VALUES ('before')")
        .unwrap();
    let snapshot = Snapshot::begin(Database::Index, &file).unwrap();
    writer
        .execute_batch("INSERT INTO proposed VALUES ('after')")
        .unwrap();
    snapshot.copy(&copy, &|| true).unwrap();
    take_over(Database::Index, &copy, "/elsewhere").unwrap();
    let copied = Connection::open(&copy).unwrap();
    let one = |question: &str| {
        copied
            .query_row(question, [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!(one("SELECT group_concat(text) FROM proposed"), "before");
    assert_eq!(one("SELECT value FROM meta WHERE key = 'root'"), "/elsewhere");
    assert_eq!(one("PRAGMA journal_mode"), "wal");
    assert!(
        snapshot.copy(&copy, &|| true).is_err(),
        "a file that is there is not written over"
    );
    drop(store);
}

#[test]
fn a_database_of_a_stranger_s_making_is_refused() {
    for database in [Database::Index, Database::Contexts] {
        for change in [
            "CREATE TRIGGER theirs AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
            "CREATE VIEW theirs AS SELECT 1",
            "DROP TABLE entries",
        ] {
            let scratch = Scratch::new();
            let file = scratch.at("db");
            create(database, &file);
            Connection::open(&file)
                .unwrap()
                .execute_batch(&format!("PRAGMA foreign_keys = OFF; {change}"))
                .unwrap();
            let error = take_over(database, &file, "/w").unwrap_err();
            assert!(
                matches!(error, StoreError::Corrupt { .. } | StoreError::Sql { .. }),
                "{change}: {error:?}"
            );
        }
        let scratch = Scratch::new();
        let file = scratch.at("db");
        create(database, &file);
        Connection::open(&file)
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        let error = take_over(database, &file, "/w").unwrap_err();
        assert!(
            matches!(error, StoreError::NewerSchema { found: 99, .. }),
            "{error:?}"
        );
    }
}

#[test]
fn what_is_salvaged_of_a_sound_database_is_all_of_it() {
    let scratch = Scratch::new();
    let (file, again) = (scratch.at("db"), scratch.at("again.db"));
    create(Database::Index, &file);
    fill(Database::Index, &file);
    // What it says must be understood, else it is left out.
    let told =
        r#"UPDATE entries SET id = 'e'; DELETE FROM entries; DELETE FROM runs; DELETE FROM tombstones;"#;
    let connection = Connection::open(&file).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(told).unwrap();
    connection
        .execute_batch("DELETE FROM run_steps; DELETE FROM run_files; INSERT INTO tombstones VALUES ('gone', 7, '[]', '[]')")
        .unwrap();
    let salvaged = crate::db::salvage(&file, &again, "/w").unwrap();
    assert_eq!(salvaged.lost, Vec::<String>::new());
    let told = scratch.exported(Database::Index, &file, "told");
    let told_again = scratch.exported(Database::Index, &again, "told-again");
    for table in Database::Index.tables() {
        let name = Path::new(table.name).with_extension("jsonl");
        let [before, after] =
            [&told, &told_again].map(|folder| fs::read_to_string(folder.join(&name)).unwrap());
        assert_eq!(
            before.lines().count() > 0,
            after.lines().count() > 0,
            "{}",
            table.name
        );
        if table.name != "sqlite_sequence" {
            assert_eq!(before, after, "{}", table.name);
        }
    }
}
