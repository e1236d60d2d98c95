//! Is every format read as its program means it, and is what is broken told and passed over?

use super::*;

/// The messages of a text, and the format that was found.
fn read(text: &str) -> (Vec<String>, Option<&'static str>) {
    let (messages, compacted) = messages(text.as_bytes(), None);
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
        (expected.map(str::to_owned).to_vec(), Some("claude-code"))
    );
    assert!(compacted(text).summary.contains("[TOOL:Read]"));
}

#[test]
fn going_back_in_claude_code_leaves_what_came_after() {
    let line = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","uuid":"{id}","type":"{role}","message":{{"role":"{role}","content":"{text}"}}}}"#
        ) + "\n"
    };
    let text = line("a", "", "user", "first")
        + &line("b", "a", "assistant", "one")
        + &line("c", "b", "user", "wrong way")
        + &line("d", "c", "assistant", "two")
        + &line("e", "b", "user", "right way");
    let expected = ["User  first|", "Assistant  one|", "User  right way|"];
    assert_eq!(read(&text).0, expected);
    // A compaction of its own: what was before is folded.
    let folded = text
        + r#"{"type":"user","isCompactSummary":true,"uuid":"s","parentUuid":"e","message":{"role":"user","content":"so far"}}"#
        + "\n"
        + &line("h", "s", "user", "go on now");
    let after = compacted(&folded);
    assert_eq!((after.stats.messages, after.stats.folded), (1, 3));
    assert!(
        after.summary.contains("## Prior Context\nso far\n"),
        "{}",
        after.summary
    );
}

#[test]
fn going_back_twice_in_claude_code_comes_to_the_branch_that_was_left_first() {
    let line = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","uuid":"{id}","type":"{role}","message":{{"role":"{role}","content":"{id}"}}}}"#
        ) + "\n"
    };
    let said = |text: &str| {
        let (messages, _) = messages(text.as_bytes(), None);
        let text = |message: &String| {
            message
                .trim_end_matches('|')
                .rsplit(' ')
                .next()
                .unwrap()
                .to_owned()
        };
        messages.iter().map(text).collect::<Vec<String>>().join(" ")
    };
    let mut text = line("A", "", "user") + &line("a1", "A", "assistant");
    text += &(line("B", "a1", "user") + &line("b1", "B", "assistant"));
    text += &(line("C", "a1", "user") + &line("c1", "C", "assistant"));
    assert_eq!(said(&text), "A a1 C c1");
    text += &line("D", "b1", "user");
    assert_eq!(said(&text), "A a1 B b1 D");
    text += &(line("d1", "D", "assistant") + &line("E", "c1", "user"));
    assert_eq!(said(&text), "A a1 C c1 E");
    // Before the first prompt, within a turn, and to a line that is not there.
    assert_eq!(said(&(text.clone() + &line("F", "A", "user"))), "A F");
    assert_eq!(said(&(text.clone() + &line("F", "x", "user"))), "A a1 C c1 E F");
    // Beside the answer that the next prompt hangs on there may be others.
    text += &(line("e1", "E", "assistant") + &line("e2", "E", "assistant") + &line("F", "e1", "user"));
    assert_eq!(said(&text), "A a1 C c1 E e1 e2 F");
}

#[test]
fn many_prompts_that_answer_the_first_record_take_linear_time() {
    let mut text = String::new();
    for number in 0..50_000 {
        let parent = if number == 0 { "" } else { "a0" };
        text += &format!(
            "{{\"parentUuid\":\"{parent}\",\"uuid\":\"a{number}\",\"type\":\"user\",\"message\":{{\"content\":\"x\"}}}}\n"
        );
    }
    assert_eq!(compacted(&text).stats.messages, 2);
}

#[test]
fn the_active_path_of_a_pi_session_is_read() {
    let text = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"start"}]}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"left"},{"type":"toolCall","id":"t","name":"bash","arguments":{"command":"ls -l"}}]}}
{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"t","toolName":"bash","content":[{"type":"text","text":"total 0"}],"isError":false}}
{"type":"branch_summary","id":"d","parentId":"a","summary":"it was tried"}
{"type":"model_change","id":"e","parentId":"d","modelId":"m"}
{"type":"message","id":"f","parentId":"e","message":{"role":"bashExecution","command":"make","output":"done","exitCode":2}}
"#;
    let expected = [
        "User  start|",
        "Other branch it was tried|",
        "Tool! bash $ make\ndone|",
    ];
    assert_eq!(read(text), (expected.map(str::to_owned).to_vec(), Some("pi")));
    let back = format!(
        "{text}{}\n",
        r#"{"type":"message","id":"g","parentId":"c","message":{"role":"user","content":"back"}}"#
    );
    let expected = [
        "User  start|",
        "Assistant  left|bash(command=ls -l)",
        "Tool bash total 0|",
        "User  back|",
    ];
    assert_eq!(read(&back).0, expected);
    let folded = format!(
        "{back}{}\n{}\n",
        r#"{"type":"compaction","id":"h","parentId":"g","summary":"in short","firstKeptEntryId":"c"}"#,
        r#"{"type":"message","id":"i","parentId":"h","message":{"role":"user","content":"on"}}"#
    );
    assert_eq!(
        read(&folded).0,
        ["Tool bash total 0|", "User  back|", "User  on|"]
    );
    // The start and what was called stand in the compaction's summary; what was left before is on no path.
    assert_eq!(compacted(&folded).stats.folded, 2);
    assert!(
        compacted(&folded)
            .summary
            .contains("## Prior Context\nin short\n")
    );
}

#[test]
fn parents_in_a_circle_end_somewhere() {
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{id}"}}}}"#
        ) + "\n"
    };
    let all = line("a", "c") + &line("b", "a") + &line("c", "b");
    assert_eq!(read(&all).0, ["User  a|", "User  b|", "User  c|"]);
    let own = line("a", "a") + &line("b", "b");
    assert_eq!(read(&own).0, ["User  b|"]);
    let nowhere = line("a", "") + &line("b", "gone");
    assert_eq!(read(&nowhere).0, ["User  b|"]);
}

#[test]
fn codex_is_read_from_rollouts_runs_and_screen_logs() {
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
        (expected.map(str::to_owned).to_vec(), Some("codex"))
    );
    let run = r#"{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"type":"agent_message","text":"hello"}}
{"type":"item.completed","item":{"type":"command_execution","command":"make","aggregated_output":"oops","exit_code":2}}
"#;
    assert_eq!(
        read(run).0,
        [
            "Assistant  hello|",
            "Assistant  |shell(make)",
            "Tool! shell oops|"
        ]
    );
    let screen = r#"{"ts":"2025-08-09T15:51:04.827Z","dir":"to_tui","kind":"app_event","variant":"RequestRedraw"}
{"ts":"2025-08-09T15:51:04.827Z","dir":"to_tui","kind":"codex_event","payload":{"id":"1","msg":{"type":"agent_message_delta","delta":"I'l"}}}
{"ts":"2025-08-09T15:51:04.827Z","dir":"from_tui","kind":"op","payload":{"type":"user_input","items":[{"type":"text","text":"please"}]}}
{"ts":"2025-08-09T15:51:04.827Z","dir":"to_tui","kind":"codex_event","payload":{"id":"1","msg":{"type":"agent_message","message":"I'll look."}}}
{"ts":"2025-08-09T15:51:04.827Z","dir":"to_tui","kind":"codex_event","payload":{"id":"1","msg":{"type":"exec_command_begin","call_id":"c","command":["bash","-lc","ls"]}}}
{"ts":"2025-08-09T15:51:04.827Z","dir":"to_tui","kind":"codex_event","payload":{"id":"1","msg":{"type":"exec_command_end","call_id":"c","stdout":"a","stderr":"b","exit_code":0}}}
"#;
    let expected = [
        "User  please|",
        "Assistant  I'll look.|",
        "Assistant  |exec(bash -lc ls)",
        "Tool exec a\nb|",
    ];
    assert_eq!(
        read(screen),
        (expected.map(str::to_owned).to_vec(), Some("codex"))
    );
}

#[test]
fn lists_of_messages_are_read_however_they_are_laid_out() {
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
            (expected.map(str::to_owned).to_vec(), Some("messages")),
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
fn what_is_broken_is_told_by_its_line_and_costs_nothing_else() {
    let good = said("user", "a good line");
    let text = format!("{good}{{\"role\":\"user\",\"con\n\n\0\0\0\n[1]\n{{\"x\":1}}\n{good}{{\"role\":\"us");
    let (messages, compacted) = messages(text.as_bytes(), None);
    assert_eq!(messages.len(), 2);
    let lines: Vec<u64> = compacted
        .stats
        .problems
        .iter()
        .map(|problem| problem.line)
        .collect();
    assert_eq!((compacted.stats.malformed, lines), (5, vec![2, 4, 5, 6, 8]));
    // A document that ends within a message.
    let cut = r#"[{"role":"user","content":"whole"},
{"role":"user","content":"ha"#;
    let (messages, compacted) = super::messages(cut.as_bytes(), None);
    assert_eq!(messages, ["User  whole|"]);
    assert_eq!(
        compacted.stats.problems,
        [Problem {
            line: 2,
            what: "the file ends within it"
        }]
    );
    // Bytes that are no text, and half of a surrogate pair, are replaced.
    let (messages, compacted) = super::messages(b"{\"role\":\"user\",\"content\":\"a\xffb\"}\n{\"role\":\"user\",\"content\":\"\\\\ud800 \\ud83d\\ude00 \\ud800\"}", None);
    assert_eq!(
        messages,
        ["User  a\u{fffd}b|", "User  \\ud800 \u{1f600} \u{fffd}|"]
    );
    assert_eq!(compacted.stats.malformed, 0);
}

#[test]
fn a_record_that_is_too_long_is_passed_over() {
    let good = said("user", "a good line");
    let long = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(LONGEST));
    let text = format!("{good}{long}{good}");
    let mut compactor = Compactor::new(Options::default());
    text.as_bytes()
        .chunks(100_000)
        .for_each(|piece| compactor.feed(piece));
    let Pass::Done(compacted) = compactor.finish() else {
        panic!("no second reading")
    };
    assert_eq!(compacted.stats.messages, 2);
    assert_eq!(
        compacted.stats.problems,
        [Problem {
            line: 2,
            what: "longer than 16 MiB"
        }]
    );
    let document = format!("[{},{},{}]", good.trim(), long.trim(), good.trim());
    let compacted = compact(document.as_bytes(), &Options::default());
    assert_eq!((compacted.stats.messages, compacted.stats.malformed), (2, 1));
}

#[test]
fn the_shape_does_not_depend_on_the_pieces() {
    let message = said("user", &"a long first message ".repeat(15_000));
    let list = format!("[{message},{message}]");
    let tools = "t".repeat(300_000);
    let cut = message.replace("\"}", "");
    let cases = [
        (list.clone(), 2),
        // The list comes late, or after the first line.
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
        // A first line that was cut off.
        (format!("{}\n{message}", cut.trim()), 1),
        (format!("\u{feff}{message}"), 1),
    ];
    for (number, (text, count)) in cases.iter().enumerate() {
        let whole = compact(text.as_bytes(), &Options::default());
        assert_eq!(whole.stats.messages, *count, "case {number}");
        for size in [1_000, 64 << 10, 256 << 10] {
            let mut compactor = Compactor::new(Options::default());
            text.as_bytes()
                .chunks(size)
                .for_each(|piece| compactor.feed(piece));
            let Pass::Done(pieces) = compactor.finish() else {
                panic!("no second reading")
            };
            assert_eq!(pieces.stats, whole.stats, "case {number} in pieces of {size}");
        }
    }
}

#[test]
fn a_format_that_is_asked_for_is_the_only_one_read() {
    let text = said("user", "hello");
    let (none, compacted) = messages(text.as_bytes(), Some(Format::Pi));
    assert_eq!((none.len(), compacted.stats.malformed), (0, 1));
    let (one, _) = messages(text.as_bytes(), Some(Format::Messages));
    assert_eq!(one.len(), 1);
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
}

#[test]
fn depth_costs_no_stack() {
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
        assert_eq!(stats.messages as u64 + stats.malformed, 1);
        let less = format!(
            "{{\"role\":\"user\",\"x\":1,\"message\":{}1{}}}",
            open.repeat(40),
            close.repeat(40)
        );
        let _ = compacted(&less);
    }
}
