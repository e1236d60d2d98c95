//! Tests of the active path of a session.

use super::*;

/// Returns the messages of a transcript and its format.
fn read(text: &str) -> (Vec<String>, Option<TranscriptFormat>) {
    let (messages, compacted) = messages(text.as_bytes(), TranscriptFormat::Auto);
    (messages, compacted.stats.format)
}

#[test]
fn going_back_in_claude_code_drops_the_abandoned_branch() {
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
    // A compaction replaces the messages before it with a summary.
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
fn going_back_twice_in_claude_code_can_return_to_the_first_branch() {
    let line = |id: &str, parent: &str, role: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","uuid":"{id}","type":"{role}","message":{{"role":"{role}","content":"{id}"}}}}"#
        ) + "\n"
    };
    let texts_on_path = |text: &str| {
        let (messages, _) = messages(text.as_bytes(), TranscriptFormat::Auto);
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
    assert_eq!(texts_on_path(&text), "A a1 C c1");
    text += &line("D", "b1", "user");
    assert_eq!(texts_on_path(&text), "A a1 B b1 D");
    text += &(line("d1", "D", "assistant") + &line("E", "c1", "user"));
    assert_eq!(texts_on_path(&text), "A a1 C c1 E");
    // The parent of the last prompt is the first prompt, or does not exist.
    assert_eq!(texts_on_path(&(text.clone() + &line("F", "A", "user"))), "A F");
    assert_eq!(
        texts_on_path(&(text.clone() + &line("F", "x", "user"))),
        "A a1 C c1 E F"
    );
    // The record to which a prompt replies may have siblings.
    text += &(line("e1", "E", "assistant") + &line("e2", "E", "assistant") + &line("F", "e1", "user"));
    assert_eq!(texts_on_path(&text), "A a1 C c1 E e1 e2 F");
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
    assert_eq!(
        read(text),
        (expected.map(str::to_owned).to_vec(), Some(TranscriptFormat::Pi))
    );
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
    // The summary of the compaction replaces two messages: the first prompt and the message with the tool call. The
    // abandoned branch does not count.
    assert_eq!(compacted(&folded).stats.folded, 2);
    assert!(
        compacted(&folded)
            .summary
            .contains("## Prior Context\nin short\n")
    );
}

#[test]
fn cyclic_parent_links_terminate() {
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
