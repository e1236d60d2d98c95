//! Tests of settings files and records with arbitrary bytes.

use super::super::json::{self, JsonInsertion};
use super::super::plan::check_toml;
use super::super::record::InitRecord;
use crate::inputs::assert_holds_for_any_bytes;

const HOOKS: JsonInsertion = JsonInsertion::Hooks(&[
    ("SessionStart", "hippoctl hook session-start"),
    ("PreCompact", "hippoctl hook pre-compact"),
]);

const SETTINGS: [&str; 6] = [
    "{\n  \"a\": 1, // why\n  \"hooks\": {\"PreCompact\": [ { \"hooks\": [{ \"type\": \"command\", \"command\": \"echo\" }] }, ],},\n}\n",
    "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"hippoctl hook session-start\"}]}]},\"instructions\":[\"./memory/ROOT.md\"]}",
    "{ /* mine */ \"instructions\": [\r\n\t\"docs/*.md\"\r\n] }\r\n",
    "// only a comment\n",
    "{\"hooks\": [], \"hooks\": {\"PreCompact\": {}}}",
    "[1, 2.5e3, \"\\u00e9\", null]",
];

const TOML: [&str; 4] = [
    "model = \"o\" # mine\n[mcp_servers.x]\ncommand = \"x\"\nenv = { A.b = \"1\" }\n",
    "[hooks]\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\n",
    "a = [\"\"\"\n[[{{\n\"\"\", '''\n]]''']\n",
    "# hippod: hooks\n# /hippod\n",
];

const RECORDS: [&str; 4] = [
    r#"{"version":1,"platforms":["claude-code","codex"],"registered":true,"index_is_new":false,"folders":["memory"],"files":{"AGENTS.md":{"made":false,"hash":"00","was":"11","splice":{"at":2,"old":"a","new":"b\n"},"blocks":[{"name":"root","hash_marks":false,"lead":"\n"}]}}}"#,
    r#"{"version":1,"platforms":[],"registered":false,"index_is_new":true,"folders":[],"files":{"opencode.json":{"made":true,"hash":"00","json":{"made":["hooks","hooks/A"],"hooks":["A"],"instructions":["memory/ROOT.md"]},"rest":"22"}}}"#,
    r#""a.md":{"made":true,"hash":"","splice":{"at":18446744073709551615,"old":"","new":""},"blocks":[{"name":"","hash_marks":true,"lead":""},{"name":"x\n","hash_marks":true,"lead":"é"}]},"#,
    "<!-- hippod: root -->\n- one\n<!-- /hippod -->\n",
];

fn rest(data: &[u8]) -> &[u8] {
    data.split_first().map_or(data, |(_, rest)| rest)
}

/// Checks that entries can be inserted once and then removed, or that the error is short.
fn settings(data: &[u8]) {
    let bytes = rest(data);
    match json::enter(bytes, &HOOKS) {
        Ok(Some((made, entered))) => {
            assert_eq!(json::enter(&made, &HOOKS), Ok(None));
            let back = json::take_out(&made, &entered);
            assert!(back.is_ok_and(|back| json::parse(&back).is_ok()));
        }
        Ok(None) => assert!(json::parse(bytes).is_ok()),
        Err(what) => assert!(what.len() < 500, "{what}"),
    }
}

/// Checks that a TOML file is accepted or that the error is short.
fn toml(data: &[u8]) {
    let what = check_toml(rest(data)).err().unwrap_or_default();
    assert!(what.len() < 500, "{what}");
}

/// Checks that a record is unchanged after it is written and read, and that reverting any file with the record does not
/// panic.
fn record(data: &[u8]) {
    let Ok(record) = InitRecord::parse(rest(data)) else {
        return;
    };
    assert_eq!(InitRecord::parse(&record.to_bytes()).as_ref(), Ok(&record));
    for entry in record.files.values() {
        for now in [
            &b""[..],
            b"{\"hooks\": {\"A\": []}}",
            RECORDS[3].as_bytes(),
            b"\xff\n",
        ] {
            let _ = entry.original(now);
            let _ = entry.strip(now);
        }
    }
}

#[test]
fn any_settings_file_is_edited_or_refused() {
    assert_holds_for_any_bytes("settings", settings, &SETTINGS);
}

#[test]
fn any_toml_bytes_are_parsed_or_refused() {
    assert_holds_for_any_bytes("toml", toml, &TOML);
}

#[test]
fn any_record_bytes_survive_a_round_trip_or_are_refused() {
    assert!(
        RECORDS[..2]
            .iter()
            .all(|seed| InitRecord::parse(seed.as_bytes()).is_ok())
    );
    assert_holds_for_any_bytes("record", record, &RECORDS);
}
