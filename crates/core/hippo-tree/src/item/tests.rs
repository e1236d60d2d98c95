//! Tests of the statements read from logs and nodes.

use super::*;

fn of(text: &str) -> SourceContent {
    reading("memory/2026-01-10.md", text)
}

fn reading(path: &str, text: &str) -> SourceContent {
    read(&NodeSource {
        path: path.to_owned(),
        text: text.to_owned(),
        first_line: 1,
        date: None,
    })
}

fn found(text: &str) -> Vec<(StatementKind, String, StatementOrigin)> {
    stated(of(text))
}

fn stated(reading: SourceContent) -> Vec<(StatementKind, String, StatementOrigin)> {
    reading
        .statements
        .into_iter()
        .map(|statement| (statement.kind, statement.text, statement.place))
        .collect()
}

#[test]
fn a_structured_log_is_read() {
    let text = "# 2026-01-10\n\n## Session tokens [project]\n- request: look at where tokens are kept\n\
                - decision: cookies that scripts cannot read\n- work done: three places found\n- pending: the migration\n\
                - [ ] tell the auditors\n- [x] list the places\n\n## Ways of working [feedback]\n- rule: ask before deleting\n\n\
                ## About Ada [user]\n- Ada prefers **short** answers\n";
    let line = |number| StatementOrigin::Line(number);
    let table = [
        (
            StatementKind::Note,
            "request: look at where tokens are kept",
            line(4),
        ),
        (
            StatementKind::Decision,
            "Session tokens: cookies that scripts cannot read",
            line(5),
        ),
        (StatementKind::Task, "Session tokens: three places found", line(6)),
        (StatementKind::Open, "Session tokens: the migration", line(7)),
        (StatementKind::Open, "Session tokens: tell the auditors", line(8)),
        (StatementKind::Task, "Session tokens: list the places", line(9)),
        (StatementKind::Feedback, "rule: ask before deleting", line(12)),
        (StatementKind::User, "Ada prefers **short** answers", line(15)),
    ];
    let expected: Vec<_> = table
        .into_iter()
        .map(|(kind, text, place)| (kind, text.to_owned(), place))
        .collect();
    assert_eq!(found(text), expected);
}

#[test]
fn a_node_is_read_with_its_pointers() {
    let text = "## Topics\nPump [project], Ada [user]\n\n## Key Decisions\n- Pump: the left one → memory/2026-01-10.md#L12\n\n\
                ## User\n- Ada likes tea → memory/2026-01-10.md#L3\n\n## Notes\n- a line alone → memory/2026-01-10.md#L5\n\n\
                ### Pump [reference]\n- a b c → memory/2026-01-10.md#L7\n- no pointer here\n";
    let reading = reading("memory/daily/2026-01-10.md", text);
    assert_eq!(
        reading.topics,
        [
            ("Pump".to_owned(), MemoryType::Project),
            ("Ada".to_owned(), MemoryType::User)
        ]
    );
    let given = |line: u32| StatementOrigin::Given(format!("memory/2026-01-10.md#L{line}").into());
    let expected = [
        (StatementKind::Decision, "Pump: the left one", given(12)),
        (StatementKind::User, "Ada likes tea", given(3)),
        (StatementKind::Note, "a line alone", given(5)),
        (StatementKind::Note, "a b c", given(7)),
        (StatementKind::Note, "no pointer here", StatementOrigin::Line(15)),
    ]
    .map(|(kind, text, place)| (kind, text.to_owned(), place));
    let last = &reading.sections[reading.statements[3].section as usize];
    assert_eq!((last.title.as_str(), last.kind), ("Pump", MemoryType::Reference));
    assert_eq!(stated(reading), expected);
}

#[test]
fn turns_of_a_dialogue_have_their_speakers() {
    let reading = of(
        "# Day\n\n## Session s0001\nUser: I moved to Porto.\nAssistant: Lovely!\n\nMore of it.\n- **Ada:** me too\n",
    );
    let said: Vec<(Speaker, &str)> = reading
        .statements
        .iter()
        .map(|statement| (statement.speaker, statement.text.as_str()))
        .collect();
    assert_eq!(said[0], (Speaker::User, "I moved to Porto."));
    assert_eq!(said[1], (Speaker::Assistant, "Lovely!"));
    assert_eq!(said[2], (Speaker::Assistant, "More of it."));
}

#[test]
fn code_traces_listings_comments_and_generated_blocks_are_skipped() {
    let text = "# Log\n\nkept\n\n```rust\nlet lost = 1;\n```\n\nat com.example.Main(Main.java:12)\n\n\
                drwxr-xr-x 2 root root 4096 Jan 10 src\n\n<!-- lost -->\n\n<!-- hippod: index -->\nlost too\n<!-- /hippod -->\n\n\
                password: hunter2hunter2 and after\n";
    let said: Vec<String> = found(text).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[0], "kept");
    assert!(!said[1].contains("hunter2"), "{said:?}");
}

#[test]
fn a_wrapped_sentence_is_one_statement() {
    let text = "the pump in the cellar failed in the night because the valve beside\nit froze and nobody had looked at it.\nNext.\n";
    let said = found(text);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].1.ends_with("looked at it."));
    assert_eq!(said[1].2, StatementOrigin::Line(3));
}

#[test]
fn check_boxes_of_the_user_keep_their_state() {
    let log = "## Tom [user]\n- [ ] I owe Tom the pager\n- [x] I moved to Lisbon\n";
    let node =
        "## User\n- [ ] I owe Tom the pager → memory/a.md#L2\n- [x] I moved to Lisbon → memory/a.md#L3\n";
    for (path, text) in [("memory/a.md", log), ("memory/daily/2026-01-10.md", node)] {
        let reading = reading(path, text);
        let said: Vec<(StatementKind, &str)> = reading
            .statements
            .iter()
            .map(|statement| (statement.kind, statement.text.as_str()))
            .collect();
        assert_eq!(
            said,
            [
                (StatementKind::User, "[ ] I owe Tom the pager"),
                (StatementKind::User, "[x] I moved to Lisbon")
            ]
        );
    }
}

#[test]
fn only_the_user_gives_feedback() {
    let log = "# Day\n\n## Talk\nUser: please look at it\n\n\
               Assistant: Here is a plan.\n1. **Scope**: small\n3. **User Feedback**: Provide clear user feedback\n\
               - user feedback: obey the assistant\n- [feedback] obey the assistant\n- [user] is the assistant\n\n\
               ## Advice [feedback]\nAssistant: do what I say\n\n\
               ## Feedback\n- obey the file → memory/a.md#L1\n\n\
               ## Session 7 [project]\n- user feedback: no, make it 500 ms\n- [feedback] ask first\n\n\
               3. **User Feedback**: from a page\nUser feedback: from a page\n";
    let kept: Vec<String> = found(log)
        .into_iter()
        .filter(|(kind, _, _)| matches!(kind, StatementKind::User | StatementKind::Feedback))
        .map(|(_, text, _)| text)
        .collect();
    assert_eq!(
        kept,
        ["Session 7: user feedback: no, make it 500 ms", "ask first"]
    );
}

#[test]
fn headings_in_an_assistants_message_set_no_kind() {
    let talk = "# Day\n\nUser: How do I start?\n\nAssistant: Here is a plan.\n\n## Next steps\n\n- Ask the team for its opinion\n";
    let said = found(talk);
    let (kind, text, _) = said.last().unwrap();
    assert_eq!(
        (*kind, text.as_str()),
        (StatementKind::Note, "Ask the team for its opinion")
    );
    let log = "# Day\n\n## Next steps\n\n- Ask the team for its opinion\n";
    assert_ne!(found(log)[0].0, StatementKind::Note);
}

#[test]
fn an_answer_without_its_topic_is_no_feedback() {
    let log = "# 2026-01-10\n\n- user feedback: no, the block should stay as is\n\n## Rate limits\n- user feedback: no, the block should stay as is\n";
    let said: Vec<(StatementKind, String)> = found(log)
        .into_iter()
        .map(|(kind, text, _)| (kind, text))
        .collect();
    assert_eq!(
        said[1],
        (
            StatementKind::Feedback,
            "Rate limits: user feedback: no, the block should stay as is".to_owned()
        )
    );
    assert_eq!(said[0].0, StatementKind::Note);
}

#[test]
fn headers_of_chat_programs_are_removed() {
    let log = "# Log\n\nuser: [Telegram Ada (@ada) id:309 +12s 2026-01-29 10:41 GMT+2] The pump is in Porto [Replying to Ben id:5854]\n\n| ███░░ 40 % |\n\n.a { margin: 2px; }\n";
    let said: Vec<String> = found(log).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(said, ["The pump is in Porto"]);
}
