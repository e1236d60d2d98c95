//! Hostile exports of other programs as input for `import`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hippod_tests::{Daemon, Dice, Scratch, client_program};
use serde_json::{Value, json};

use crate::archives::snapshot;
use crate::scale::{Cases, attack};
use crate::stores::{TEXTS, sparse};
use crate::wire::{Wire, roomy};

/// Memory limit of the daemon, in KiB.
const MEMORY: u64 = 700 * 1024;
/// Maximum length of a refusal, in bytes.
const MESSAGE: usize = 4096;
/// Size of a large export, in bytes.
const LARGE: usize = 50 << 20;
/// Number of nesting levels in a deeply nested export.
const DEEP: usize = 100_000;
/// Names of fields in the exports of the supported programs.
const FIELDS: [&str; 19] = [
    "id",
    "memory",
    "text",
    "content",
    "created_at",
    "created_at_epoch",
    "title",
    "type",
    "narrative",
    "facts",
    "concepts",
    "metadata",
    "categories",
    "user_id",
    "agent_id",
    "request",
    "files_read",
    "tags",
    "kind",
];
/// Invalid, impossible and extreme timestamps.
const TIMES: [&str; 16] = [
    "\"0000-00-00\"",
    "\"9999-12-31T23:59:60Z\"",
    "\"-009999-01-01T00:00:00Z\"",
    "\"+275760-09-13T00:00:00Z\"",
    "\"1969-12-31T23:59:59Z\"",
    "\"2026-02-30T10:00:00Z\"",
    "\"2026-03-02T25:61:61Z\"",
    "\"../../../2026-03-02\"",
    "\"\"",
    "-1",
    "0",
    "1e308",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "253402300800000",
];
/// An export and the way it is imported.
struct Export {
    what: String,
    from: &'static str,
    path: PathBuf,
    /// `true` if the memories are written; `false` if the import is only planned.
    apply: bool,
}

/// Returns the text of a random JSON value of any type.
fn value(dice: &mut Dice) -> String {
    match dice.below(12) {
        0 => "null".to_owned(),
        1 => "true".to_owned(),
        2 => (*dice.one_of(&TIMES)).to_owned(),
        3 => "[]".to_owned(),
        4 => format!("[{},{}]", json!(dice.one_of(&TEXTS)), dice.one_of(&TIMES)),
        5 => format!("{{\"tags\":{}}}", json!(dice.one_of(&TEXTS))),
        6 => json!("x".repeat(1 << dice.below(23))).to_string(),
        7 => "\"\\ud800\"".to_owned(),
        _ => json!(dice.one_of(&TEXTS)).to_string(),
    }
}

fn record(dice: &mut Dice) -> String {
    let fields: Vec<String> = (0..dice.below(8))
        .map(|_| match *dice.one_of(&FIELDS) {
            field if field.starts_with("created") => format!("\"{field}\":{}", dice.one_of(&TIMES)),
            field => format!("\"{field}\":{}", value(dice)),
        })
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Returns an export of random records. It is a list, an object that contains lists, or one record per line. Some
/// exports are damaged.
fn document(dice: &mut Dice) -> Vec<u8> {
    let records: Vec<String> = (0..dice.below(30)).map(|_| record(dice)).collect();
    let text = match dice.below(5) {
        0 => format!("[{}]", records.join(",")),
        1 => records.join("\n"),
        2 => format!("{{\"results\":[{}]}}", records.join(",")),
        3 => format!("{{\"observations\":[{}],\"summaries\":7}}", records.join(",")),
        _ => format!(
            "{{\"memories\":{{\"results\":[{}]}},\"results\":[1]}}",
            records.join(",")
        ),
    };
    let mut bytes = text.into_bytes();
    match dice.below(4) {
        0 => bytes.truncate(dice.below(bytes.len() + 1)),
        1 if !bytes.is_empty() => {
            for _ in 0..1 + dice.below(8) {
                let at = dice.below(bytes.len());
                bytes[at] = *dice.one_of(b"\0\xff{}[]\",:\\\n");
            }
        }
        _ => {}
    }
    bytes
}

/// Returns a description and an export, which either has 50 MiB on one line or is deeply nested.
fn large(dice: &mut Dice) -> (&'static str, String) {
    let one = r#"{"memory":"a short memory that is like all the others","id":"x"}"#;
    match dice.below(6) {
        0 => (
            "one text of 50 MB",
            format!("[{{\"memory\":\"{}\"}}]", "x".repeat(LARGE)),
        ),
        1 => (
            "50 MB of records on one line",
            format!("[{one}{}]", format!(",{one}").repeat(LARGE / (one.len() + 1))),
        ),
        2 => (
            "50 MB of numbers on one line",
            format!("[{}1]", "1,".repeat(LARGE / 2)),
        ),
        3 => (
            "nested lists",
            format!("{{\"results\":[{one},{}{}]}}", "[".repeat(DEEP), "]".repeat(DEEP)),
        ),
        4 => (
            "nested objects in a field",
            format!(
                "[{{\"memory\":\"x\",\"metadata\":{}1{}}}]",
                "{\"a\":".repeat(DEEP),
                "}".repeat(DEEP)
            ),
        ),
        _ => (
            "nested lists in a text",
            format!("[{{\"memory\":\"x\",\"categories\":\"{}\"}}]", "[".repeat(DEEP)),
        ),
    }
}

fn draw(dice: &mut Dice, folder: &Path) -> Export {
    let json = folder.join("export.json");
    let from = *dice.one_of(&["mem0", "claude-mem"]);
    match dice.below(8) {
        0..=4 => {
            let bytes = document(dice);
            std::fs::write(&json, &bytes).unwrap();
            let what = format!("{:.200}", String::from_utf8_lossy(&bytes));
            Export {
                what,
                from,
                path: json,
                apply: true,
            }
        }
        5 | 6 => {
            let (what, text) = large(dice);
            std::fs::write(&json, text).unwrap();
            Export {
                what: what.to_owned(),
                from,
                path: json,
                apply: false,
            }
        }
        _ => {
            let choices: [&[u8]; 2] = [b"[{", b"SQLite format 3\0"];
            let begins = *dice.one_of(&choices);
            sparse(&json, begins);
            Export {
                what: format!("2^40 bytes behind {begins:?}"),
                from,
                path: json,
                apply: true,
            }
        }
    }
}

/// Returns the content of each file of a workspace, except hippod's own files.
fn memory(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let own = |path: &Path| {
        path.starts_with(root.join(".hippocampus"))
            || path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().contains("HIPPOCAMPUS.md"))
    };
    let all = snapshot(root).into_iter();
    all.filter(|(path, _)| !own(path))
        .filter_map(|(path, bytes)| Some((path, bytes?)))
        .collect()
}

/// Asserts that no file was removed, that only imported memories were added, and that no path is a link.
fn assert_added(what: &str, root: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let after = memory(root);
    for (path, bytes) in before {
        let now = after
            .get(path)
            .unwrap_or_else(|| panic!("{what}: {} went", path.display()));
        assert_eq!(now, bytes, "{what}: {} changed", path.display());
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        let below = path.strip_prefix(root).unwrap();
        let is_memory = below.starts_with("memory") || below.starts_with("knowledge");
        let is_note = below.extension().is_some_and(|end| end == "md");
        assert!(
            is_memory && is_note && !path.is_symlink(),
            "{what}: {}",
            below.display()
        );
    }
}

#[test]
fn a_hostile_export_writes_nothing_outside_and_stops_no_daemon() {
    let scratch = Scratch::new();
    scratch.write(
        "memory/2026-03-02.md",
        "# 2026-03-02\n\n- The lantern is green.\n",
    );
    let root = scratch.workspace();
    let world = scratch.beside("world");
    std::fs::create_dir(&world).unwrap();
    std::fs::write(world.join("mine.md"), "mine\n").unwrap();
    let daemon = Daemon::start(&scratch.home(), &roomy());
    Wire::new(&daemon).expect("workspace.add", json!({"workspace": root}));
    attack("exports", Cases::Drawn(36), |dice, _| {
        let folder = world.join("export");
        std::fs::create_dir(&folder).unwrap();
        let Export {
            what,
            from,
            path,
            apply,
        } = draw(dice, &folder);
        let before = (memory(&root), light(&world));
        let mut import = Command::new(client_program());
        import
            .args(["--no-start", "--json", "--workspace"])
            .arg(&root)
            .args(["import", from])
            .arg(&path)
            .env("HIPPOD_HOME", scratch.home());
        if apply {
            import.arg("--apply");
        }
        let output = import.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert!(
                matches!(output.status.code(), Some(2 | 4 | 5)),
                "{what}: {output:?}"
            );
            assert!(errors.len() < MESSAGE, "{what}: {} bytes", errors.len());
            let error: Value = serde_json::from_str(&errors).unwrap();
            let hint = error["error"]["hint"].as_str();
            assert!(hint.is_some_and(|hint| !hint.is_empty()), "{what}: {error}");
        }
        let mut wire = Wire::new(&daemon);
        assert!(light(&world) == before.1, "{what} changed something outside");
        assert_added(&what, &root, &before.0);
        let kept = wire.expect("search", json!({"workspace": root, "query": "lantern green"}));
        assert!(kept["results"].to_string().contains("lantern"), "{what}: {kept}");
        assert!(!daemon.log().contains("panicked"), "{what}: {}", daemon.log());
        let memory = daemon.most_memory();
        assert!(memory < MEMORY, "{what}: {memory} KiB");
        std::fs::remove_dir_all(&folder).unwrap();
        1
    });
}

/// Returns the name, size and modification time of each file below a folder. The contents are not compared, because
/// some files are too large.
fn light(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            all.extend(light(&path));
        }
        all.push((path, metadata.len(), metadata.modified().unwrap()));
    }
    all.sort();
    all
}
