//! Tests with unusual JSON that programs may write.

use super::*;

fn read(text: &str) -> Vec<String> {
    let (messages, compacted) = messages(text.as_bytes(), TranscriptFormat::Auto);
    assert_eq!(compacted.stats.malformed, 0, "{text}");
    messages
}

#[test]
fn the_last_value_of_a_repeated_field_wins() {
    let table = [
        (
            r#"{"role":"tool","call_id":"a","tool_call_id":"b","toolCallId":null,"content":"x"}"#,
            "Tool b x|",
        ),
        (
            r#"{"role":"tool","name":"f","is_error":true,"isError":false,"content":"x"}"#,
            "Tool f x|",
        ),
        (
            r#"{"role":"tool","name":"f","isError":true,"is_error":null,"content":"x"}"#,
            "Tool! f x|",
        ),
        (
            r#"{"role":"user","content":"x","content":["y"],"role":"assistant"}"#,
            "Assistant  y|",
        ),
        (
            r#"{"role":"assistant","tool_calls":[{"name":"f","input":{}}],"toolCalls":[]}"#,
            "Assistant  |f()",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(read(line), [expected], "{line}");
    }
}

#[test]
fn large_numbers_keep_their_exponent_notation() {
    let line =
        r#"{"role":"assistant","tool_calls":[{"name":"f","input":{"a":1e300,"b":1.5,"c":3.0,"d":1e-9}}]}"#;
    assert_eq!(read(line), ["Assistant  |f(a=1e300, b=1.5, c=3, d=1e-9)"]);
}

#[test]
fn excess_blocks_are_counted_and_take_no_memory() {
    let list = |block: &str, count: usize| {
        let blocks = vec![block; count].join(",");
        format!(r#"{{"role":"user","content":[{blocks},{{"text":"end"}}]}}"#)
    };
    let many = read(&list(r#"{"text":"a"}"#, 130_000));
    let end = &many[0][many[0].len() - 40..];
    assert!(end.ends_with(" more blocks]|"), "{end}");
    // The limit also applies to nested blocks.
    let inner = vec![r#"{"text":"a"}"#; 1_000].join(",");
    let nested = list(&format!(r#"{{"type":"tool_result","content":[{inner}]}}"#), 1_000);
    let tools: usize = read(&nested)
        .iter()
        .map(|message| message.matches("a\n").count())
        .sum();
    assert!((60_000..125_000).contains(&tools), "{tools}");
}

#[test]
fn tool_names_are_bounded_from_every_source() {
    let name = "n".repeat(5_000);
    let text = format!(
        r#"{{"role":"assistant","tool_calls":[{{"id":"c","name":"{name}","input":{{}}}}]}}
{{"role":"tool","tool_call_id":"c","content":"by call"}}
{{"role":"tool","name":"{name}","content":"by name"}}
"#
    );
    let summary = compacted(&text).summary;
    assert_eq!(
        summary.matches(&format!("[TOOL:{}]", "n".repeat(64))).count(),
        2,
        "{summary}"
    );
}

#[test]
fn sections_inserted_by_hippod_are_not_messages() {
    let section =
        "<!-- hippod: context -->\n- [ctx_9] file a.md @ turn 1: The secret garden.\n<!-- /hippod -->\n";
    let text = [
        message_line("user", &format!("Open the valve. {section}Then close it.")),
        message_line("system", section),
    ]
    .concat();
    let (contents, compacted) = messages(text.as_bytes(), TranscriptFormat::Auto);
    assert_eq!(contents.len(), 2, "{contents:?}");
    assert!(contents[0].contains("Open the valve. ") && contents[0].contains("Then close it."));
    assert!(
        contents.iter().all(|content| !content.contains("garden")),
        "{contents:?}"
    );
    assert!(!compacted.summary.contains("garden"), "{}", compacted.summary);
}
