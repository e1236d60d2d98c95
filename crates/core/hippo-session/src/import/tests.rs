//! Tests of imported memories, and of the reports about damaged exports.

use super::*;

fn texts_of(found: &ImportResult) -> Vec<&str> {
    found.memories.iter().map(|memory| &*memory.text).collect()
}

#[test]
fn a_damaged_document_is_refused_with_its_line() {
    let text = "{\n  \"results\": [\n    {\"id\": 1, \"memory\": \"one\"},\n    {\"id\": 3},\n    {\"id\": 4,\n     \"memory\": \"four } ] \\\" \\u00e9\"}\n  ],\n  \"relations\": [{\"memory\": \"no\"}]\n}\n";
    let found = export(ExportProgram::Mem0, text.as_bytes()).unwrap();
    assert_eq!(texts_of(&found), ["one", "four } ] \" é"]);
    assert_eq!(found.problems.len(), 1);
    let damaged = text.replace("{\"id\": 3}", "{\"id\": }");
    let refused = export(ExportProgram::Mem0, damaged.as_bytes()).unwrap_err();
    assert!(refused.starts_with("line 4: "), "{refused}");
    for end in 0..text.trim_end().len() {
        export(ExportProgram::Mem0, &text.as_bytes()[..end]).unwrap_err();
    }
}

#[test]
fn records_on_separate_lines_are_read_line_by_line() {
    let text = b"{\"memory\":\"one\"}\n\n{\"memory\":\n\xff\xfe\n{\"memory\":\"two\",\"links\":[{\"memory\":\"no\"}]}\r\n";
    let found = export(ExportProgram::Mem0, text).unwrap();
    assert_eq!(texts_of(&found), ["one", "two"]);
    let lines: Vec<&str> = found.problems.iter().map(|problem| &problem[..8]).collect();
    assert_eq!(lines, ["line 3: ", "line 4: "]);
}

#[test]
fn files_that_are_not_exports_are_refused() {
    for (bytes, what) in [
        (&b""[..], "it is not JSON"),
        (b"  \n ", "it is not JSON"),
        (b"# Notes\n", "not JSON"),
        (b"{\"memory\": \"one\"}", "no list of records"),
        (b"[\"\xff\"]", "invalid unicode"),
        (b"\xff\xfe[\0]\0", "UTF-16"),
        (b"{\"pages\": {\"a\": 1}, \"b\": [{}]}", "no list of records"),
        (b"{\"pages\": }", "it is not JSON: expected value"),
        (b"[}{]", "it is not JSON"),
        (b"[] []", "it is not JSON"),
    ] {
        let refused = export(ExportProgram::Mem0, bytes).unwrap_err();
        assert!(refused.contains(what), "{refused}");
    }
    assert_eq!(
        export(ExportProgram::Mem0, b"{\"results\": []}").unwrap(),
        ImportResult::default()
    );
}

#[test]
fn list_items_that_are_not_memories_are_reported_by_number() {
    let told = |program, text: &str| -> Vec<String> { export(program, text.as_bytes()).unwrap().problems };
    assert_eq!(
        told(
            ExportProgram::Mem0,
            r#"{"x":[[1]],"results":[{"memory":"a"},[1,{"memory":"b"}], "t" ,{"id":"k\u001b[3"},null]}"#
        ),
        [
            "record 2 of \"results\": it is not an object",
            "record 3 of \"results\": it is not an object",
            "record 4 of \"results\": the record has no text under \"memory\"",
            "record 5 of \"results\": it is not an object",
        ]
    );
    assert_eq!(
        told(
            ExportProgram::ClaudeMem,
            r#"{"observations":[{"id":7}],"summaries":[{"id":3,"request":" "}]}"#
        ),
        [
            "record 1 of \"observations\": the record has no title and no text",
            "record 1 of \"summaries\": the record has no title and no text",
        ]
    );
}

#[test]
fn a_list_with_one_record_per_line_is_read_as_a_list() {
    for text in [
        "[\n{\"memory\":\"one\"}\n]\n",
        "{\"results\": [\n{\"memory\":\"one\"}\n]}",
    ] {
        let found = export(ExportProgram::Mem0, text.as_bytes()).unwrap();
        assert_eq!((found.memories.len(), found.problems.len()), (1, 0), "{text}");
    }
}

#[test]
fn a_memory_larger_than_a_file_is_reported() {
    let long = "x".repeat(LARGEST + 1);
    for record in [
        serde_json::json!([{"id": "a", "memory": long}, {"memory": "b"}]),
        serde_json::json!([{"id": "a", "memory": "a", "categories": [long]}, {"memory": "b"}]),
    ] {
        let found = export(ExportProgram::Mem0, record.to_string().as_bytes()).unwrap();
        assert_eq!(found.memories.len(), 1);
        let what = &found.problems[0];
        assert!(what.starts_with("record 1: it is larger than 4 MiB: "), "{what}");
    }
}

#[test]
fn an_observation_contains_its_title_facts_and_files() {
    let text = r#"{"observations":[{"id":7,"project":"orchard","type":"bugfix","title":"Zone","subtitle":"Readings","narrative":"They are UTC now.","text":null,"facts":"[\"Local\\nbefore\"]","concepts":"[\"gotcha\"]","files_read":"[\"a.rs\"]","files_modified":"[\"a.rs\",\"b.rs\"]","created_at":"2026-03-05T22:30:00.000Z","created_at_epoch":1772749800000},{"id":8}],"summaries":[{"id":1,"request":"Do it","learned":"a\nb","created_at":"2026-03-03T09:30:00Z"}],"prompts":[{"id":1,"prompt_text":"x"}]}"#;
    let found = export(ExportProgram::ClaudeMem, text.as_bytes()).unwrap();
    assert_eq!((found.left_out, found.problems.len()), (1, 1));
    let [observation, summary] = &found.memories[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        observation.text,
        "Readings\n\nThey are UTC now.\n\n- Local before"
    );
    assert_eq!(observation.created, Some(Timestamp(1_772_749_800_000)));
    assert_eq!((&*observation.id, &*observation.kind), ("7", "bugfix"));
    assert_eq!(observation.details[2], ("Files", "a.rs, b.rs".to_owned()));
    assert_eq!(summary.text, "- request: Do it\n- learned: a b");
    assert_eq!(summary.title.as_deref(), Some("Do it"));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), json in "[\\[\\]{}\",:a-c\n\\\\ ]{0,80}") {
        for program in [ExportProgram::ClaudeMem, ExportProgram::Mem0] {
            let _ = export(program, &bytes);
            let _ = export(program, json.as_bytes());
        }
    }
}
