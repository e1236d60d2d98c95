//! Tests of the transcript readers and of broken input.

use super::*;
use hippo_types::transcript::TranscriptProblem;

/// Returns the messages of a transcript and its format.
fn read(text: &str) -> (Vec<String>, Option<TranscriptFormat>) {
    let (messages, compacted) = messages(text.as_bytes(), TranscriptFormat::Auto);
    (messages, compacted.stats.format)
}

#[test]
fn claude_code_is_read() {
    let text = r#"{"type":"summary","summary":"A title","leafUuid":"z"}
{"type":"file-history-snapshot","messageId":"m","snapshot":{}}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Add a test"},"uuid":"a"}
{"parentUuid":"a","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]},"uuid":"b"}
{"parentUuid":"b","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I read it."}]},"uuid":"c"}
{"parentUuid":"c","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.py","limit":5}}]},"uuid":"d"}
{"parentUuid":"d","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"def a()"}],"is_error":true}]},"toolUseResult":{"x":[1,2]},"uuid":"e"}
{"parentUuid":"d","isSidechain":true,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"another agent"}]},"uuid":"f"}
{"parentUuid":"e","isSidechain":false,"isMeta":true,"type":"user","message":{"role":"user","content":"a caveat"},"uuid":"g"}
"#;
    let expected = [
        "Other summary A title|",
        "User  Add a test|",
        "Assistant  I read it.|",
        "Assistant  |Read(file_path=/w/a.py, limit=5)",
        "Tool! t1 def a()|",
        "Other meta a caveat|",
    ];
    assert_eq!(
        read(text),
        (
            expected.map(str::to_owned).to_vec(),
            Some(TranscriptFormat::ClaudeCode)
        )
    );
    assert!(compacted(text).summary.contains("[TOOL:Read]"));
}

#[test]
fn codex_is_read_from_rollouts() {
    let rollout = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"what is it"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"what is it"}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\",\"-l\"]}","call_id":"c1"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"total 1\",\"metadata\":{\"exit_code\":0}}"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is so."}]}}
"#;
    let expected = [
        "Other context <environment_context>x</environment_context>|",
        "User  what is it|",
        "Assistant  |shell(command=[ls, -l])",
        "Tool c1 total 1|",
        "Assistant  It is so.|",
    ];
    assert_eq!(
        read(rollout),
        (
            expected.map(str::to_owned).to_vec(),
            Some(TranscriptFormat::Codex)
        )
    );
}

#[test]
fn message_lists_are_read_in_every_layout() {
    let messages = r#"[{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "a, [b]"}, {"type": "image_url"}]},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]},
 {"role": "tool", "tool_call_id": "c", "content": "say \"}]\" \\"}]"#;
    let expected = [
        "Other system be brief|",
        "User  a, [b]\n[image]|",
        "Assistant  |f(x=1)",
        "Tool c say \"}]\" \\|",
    ];
    let lines: String = serde_json::from_str::<Vec<serde_json::Value>>(messages)
        .unwrap()
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let wrapped = format!("{{\"model\": \"m\", \"messages\": {messages}, \"stop\": []}}");
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(&wrapped).unwrap()).unwrap();
    let history = pretty.replace("\"messages\"", "\"history\"");
    for text in [
        messages,
        &lines,
        &wrapped,
        &pretty,
        &history,
        &format!("\u{feff}{lines}"),
        &lines.replace('\n', "\r\n\r\n"),
    ] {
        assert_eq!(
            read(text),
            (
                expected.map(str::to_owned).to_vec(),
                Some(TranscriptFormat::Messages)
            ),
            "{text}"
        );
    }
    let anthropic = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"r"},{"type":"text","text":"and"}]}]"#;
    assert_eq!(read(anthropic).0, ["Assistant  |f()", "Tool u r|", "User  and|"]);
    let events = r#"{"i":0,"role":"user","kind":"text","text":"go"}
{"i":1,"role":"assistant","kind":"thinking","text":"hm"}
{"i":2,"role":"assistant","kind":"tool_call","name":"Glob","call_id":"c","text":"{\"pattern\": \"*.py\"}"}
{"i":3,"role":"tool","kind":"tool_result","name":"Glob","call_id":"c","text":"a.py"}
"#;
    assert_eq!(
        read(events).0,
        ["User  go|", "Assistant  |Glob(pattern=*.py)", "Tool Glob a.py|"]
    );
}

#[test]
fn broken_records_are_reported_with_their_line_and_skipped() {
    let good = message_line("user", "a good line");
    let text = format!("{good}{{\"role\":\"user\",\"con\n\n\0\0\0\n[1]\n{{\"x\":1}}\n{good}{{\"role\":\"us");
    let (messages, compacted) = messages(text.as_bytes(), TranscriptFormat::Auto);
    assert_eq!(messages.len(), 2);
    let lines: Vec<u64> = compacted
        .stats
        .problems
        .iter()
        .map(|problem| problem.line)
        .collect();
    assert_eq!((compacted.stats.malformed, lines), (5, vec![2, 4, 5, 6, 8]));
    // The document ends inside a message.
    let cut = r#"[{"role":"user","content":"whole"},
{"role":"user","content":"ha"#;
    let (_, compacted) = super::messages(cut.as_bytes(), TranscriptFormat::Auto);
    assert_eq!(
        compacted.stats.problems,
        [TranscriptProblem {
            line: 2,
            what: "the document is damaged".into(),
        }]
    );
    // Invalid UTF-8 and an unpaired surrogate are replaced.
    let (messages, compacted) = super::messages(b"{\"role\":\"user\",\"content\":\"a\xffb\"}\n{\"role\":\"user\",\"content\":\"\\\\ud800 \\ud83d\\ude00 \\ud800\"}", TranscriptFormat::Auto);
    assert_eq!(
        messages,
        ["User  a\u{fffd}b|", "User  \\ud800 \u{1f600} \u{fffd}|"]
    );
    assert_eq!(compacted.stats.malformed, 0);
}

#[test]
fn values_after_a_message_list_are_read() {
    let lists = r#"{"messages":[{"role":"user","content":"one"}]}
{"messages":[{"role":"user","content":"two"}]}
"#;
    assert_eq!(messages(lists.as_bytes(), TranscriptFormat::Auto).0.len(), 2);
    let plain = r#"{"messages":[{"role":"user","content":"one"}]}
{"role":"user","content":"two"}
{"messages":[{"role":"user","content":"three"}]}
"#;
    let (messages, compacted) = messages(plain.as_bytes(), TranscriptFormat::Auto);
    assert_eq!((messages.len(), compacted.stats.malformed), (3, 0));
}

#[test]
fn a_record_that_is_too_long_is_skipped() {
    let good = message_line("user", "a good line");
    let long = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(LONGEST));
    let text = format!("{good}{long}{good}");
    let mut compactor = Compactor::new(CompactionOptions::default());
    text.as_bytes()
        .chunks(100_000)
        .for_each(|piece| compactor.feed(piece, |_, _| {}));
    let CompactionPass::Done(compacted) = compactor.finish(|_, _| {}) else {
        panic!("no second reading")
    };
    assert_eq!(compacted.stats.messages, 2);
    assert_eq!(
        compacted.stats.problems,
        [TranscriptProblem {
            line: 2,
            what: "longer than 16 MiB".into(),
        }]
    );
    let document = format!("[{},{}]", good.trim(), " ".repeat(64 << 20));
    let compacted = compact(document.as_bytes(), &CompactionOptions::default());
    assert_eq!((compacted.stats.messages, compacted.stats.malformed), (0, 1));
}

#[test]
fn the_detected_shape_does_not_depend_on_the_pieces() {
    let message = message_line("user", &"a long first message ".repeat(15_000));
    let list = format!("[{message},{message}]");
    let tools = "t".repeat(300_000);
    let cut = message.replace("\"}", "");
    let cases = [
        (list.clone(), 2),
        // The list of messages is not at the start of the document, or not in the first line.
        (
            format!(r#"{{"model":"m","tools":"{tools}","messages":{list}}}"#),
            2,
        ),
        (
            format!("{{\"model\":\"m\",\n\"tools\":\"{tools}\",\n\"messages\":{list}}}"),
            2,
        ),
        (format!("{{\n{}\"messages\":{list}}}", " ".repeat(100_000)), 2),
        (format!("{message}{message}"), 2),
        (message.trim().to_owned(), 1),
        // The first line is truncated.
        (format!("{}\n{message}", cut.trim()), 1),
        (format!("\u{feff}{message}"), 1),
    ];
    for (number, (text, count)) in cases.iter().enumerate() {
        let whole = compact(text.as_bytes(), &CompactionOptions::default());
        assert_eq!(whole.stats.messages, *count as u64, "case {number}");
        for size in [1_000, 64 << 10, 256 << 10] {
            let mut compactor = Compactor::new(CompactionOptions::default());
            text.as_bytes()
                .chunks(size)
                .for_each(|piece| compactor.feed(piece, |_, _| {}));
            let CompactionPass::Done(pieces) = compactor.finish(|_, _| {}) else {
                panic!("no second reading")
            };
            assert_eq!(pieces.stats, whole.stats, "case {number} in pieces of {size}");
        }
    }
}

#[test]
fn only_the_requested_format_is_read() {
    let text = message_line("user", "hello");
    let (none, compacted) = messages(text.as_bytes(), TranscriptFormat::Pi);
    assert_eq!((none.len(), compacted.stats.malformed), (0, 1));
    let (one, _) = messages(text.as_bytes(), TranscriptFormat::Messages);
    assert_eq!(one.len(), 1);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for (open, close) in [
        ("{\"message\":", "}"),
        ("{\"content\":[", "]}"),
        ("[", "]"),
        ("{\"input\":[", "]}"),
    ] {
        let text = format!(
            "{{\"role\":\"user\",\"content\":{}1{}}}",
            open.repeat(5_000),
            close.repeat(5_000)
        );
        let stats = compacted(&text).stats;
        assert_eq!(stats.messages + stats.malformed, 1);
        let less = format!(
            "{{\"role\":\"user\",\"x\":1,\"message\":{}1{}}}",
            open.repeat(40),
            close.repeat(40)
        );
        let _ = compacted(&less);
    }
}
