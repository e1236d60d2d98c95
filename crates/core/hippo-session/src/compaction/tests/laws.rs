//! Property tests for arbitrary bytes, transcripts and budgets.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use hippo_types::tokens;

/// Lines of every format, which tests mix and damage.
const LINES: [&str; 16] = [
    r#"{"parentUuid":"a","uuid":"b","type":"user","message":{"role":"user","content":"see src/main_1.rs"}}"#,
    r#"{"parentUuid":"b","uuid":"a","type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{"a":[1,{"b":null}]}}]}}"#,
    r#"{"uuid":"c","type":"user","isCompactSummary":true,"message":{"role":"user","content":"so far"}}"#,
    r#"{"uuid":"d","parentUuid":"d","type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"error: x","is_error":true}]}}"#,
    r#"{"type":"message","id":"a","parentId":"b","message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"token=abc"}]}}"#,
    r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"decided"}}"#,
    r#"{"type":"compaction","id":"e","parentId":"b","summary":"short","firstKeptEntryId":"a"}"#,
    r#"{"type":"message","id":"f","parentId":"e","message":{"role":"user","content":"go on"}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"x\"}"}}"#,
    r#"{"type":"compacted","payload":{"message":"folded"}}"#,
    r#"{"ts":"t","dir":"to_tui","kind":"codex_event","payload":{"msg":{"type":"exec_command_end","stdout":"\ud800","exit_code":1}}}"#,
    r#"{"role":"user","content":[{"type":"text","text":"https://example.com/a_b?c=1 план"}]}"#,
    r#"{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{"}}]}"#,
    r#"{"role":"tool","kind":"tool_result","text":"1234567 fooBar /etc/hosts"}"#,
    r#"{"messages":[{"role":"user","content":"x"}]}"#,
];

/// Generates lines in random order. Some bytes are replaced, removed or inserted.
fn transcripts() -> impl Strategy<Value = Vec<u8>> {
    let lines = vec((0..LINES.len(), any::<bool>()), 0..24);
    let damages = vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..6);
    (lines, damages, any::<bool>()).prop_map(|(lines, damages, document)| {
        let texts: Vec<&str> = lines.iter().map(|(line, _)| LINES[*line]).collect();
        let mut bytes = if document {
            format!("[{}]", texts.join(",\n")).into_bytes()
        } else {
            texts.join("\n").into_bytes()
        };
        for (at, byte, how) in damages {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}

/// Generates sessions with recurring words.
fn sessions() -> impl Strategy<Value = String> {
    let roles = prop::sample::select(vec!["user", "assistant", "tool", "system"]);
    let text = prop_oneof![
        "[a-zA-Zа-я_/.0-9 \n:=-]{0,300}",
        Just("My plan is to change src/lib/part_7.rs".to_owned()),
        Just("password: correct-horse-battery".to_owned()),
        (100..6_000_usize).prop_map(|length| "word_1 /a/b.c 4711 ".repeat(length / 19)),
    ];
    vec((roles, text), 0..40).prop_map(|messages| {
        messages
            .iter()
            .map(|(role, text)| message_line(role, text))
            .collect()
    })
}

/// Generates objects with known field names and arbitrary values.
fn objects() -> impl Strategy<Value = String> {
    use serde_json::{Map, Value};
    // The list has no `input`: a list of this name in the first line would make the whole input one document.
    const NAMES: [&str; 23] = [
        "type",
        "role",
        "kind",
        "name",
        "text",
        "id",
        "call_id",
        "content",
        "message",
        "is_error",
        "summary",
        "uuid",
        "parentUuid",
        "parentId",
        "output",
        "tool_calls",
        "payload",
        "msg",
        "item",
        "function",
        "result",
        "arguments",
        "exit_code",
    ];
    const TEXTS: [&str; 16] = [
        "user",
        "assistant",
        "tool",
        "message",
        "tool_use",
        "tool_result",
        "compaction",
        "summary",
        "response_item",
        "event_msg",
        "function_call",
        "item.completed",
        "mcp_tool_call",
        "a",
        "b",
        "see src/main_1.rs, token: x9",
    ];
    let leaf = prop_oneof![
        4 => prop::sample::select(TEXTS.to_vec()).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        let fields = vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..5);
        let object = fields.prop_map(|fields| {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            Value::Object(fields.collect::<Map<String, Value>>())
        });
        prop_oneof![2 => object, 1 => vec(inner, 0..4).prop_map(Value::Array)]
    });
    let lines = vec(vec((prop::sample::select(NAMES.to_vec()), value), 1..6), 0..12);
    lines.prop_map(|lines| {
        let line = |fields: Vec<(&str, Value)>| {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"))
                .collect();
            format!("{{{}}}\n", fields.join(","))
        };
        lines.into_iter().map(line).collect()
    })
}

fn checked(bytes: &[u8], budget: Option<usize>, format: TranscriptFormat, piece: usize) -> CompactionResult {
    let options = CompactionOptions {
        budget,
        format,
        ..CompactionOptions::default()
    };
    let mut compactor = Compactor::new(options.clone());
    loop {
        bytes
            .chunks(piece.max(1))
            .for_each(|piece| compactor.feed(piece, |_, _| {}));
        match compactor.finish(|_, _| {}) {
            CompactionPass::Done(compacted) => return *compacted,
            CompactionPass::Again(again) => compactor = *again,
        }
    }
}

fn formats() -> impl Strategy<Value = TranscriptFormat> {
    prop::sample::select(TranscriptFormat::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_compacted(bytes in vec(any::<u8>(), 0..2_000), format in formats(), budget in prop::option::of(0..500_usize)) {
        let compacted = checked(&bytes, budget, format, 333);
        prop_assert!(budget.is_none_or(|budget| tokens::of(&compacted.summary) <= budget));
    }

    #[test]
    fn any_objects_are_compacted_alike_in_any_pieces(
        text in objects(), format in formats(), budget in prop::option::of(0..500_usize), piece in 1..200_usize,
    ) {
        let whole = checked(text.as_bytes(), budget, format, usize::MAX);
        prop_assert!(budget.is_none_or(|budget| tokens::of(&whole.summary) <= budget));
        prop_assert!(whole.stats.problems.iter().all(|problem| problem.what == "not a record of the expected format"), "{:?}", whole.stats);
        let pieces = checked(text.as_bytes(), budget, format, piece);
        prop_assert_eq!(&whole.summary, &pieces.summary);
        prop_assert_eq!(whole.stats, pieces.stats);
    }

    #[test]
    fn damaged_transcripts_are_compacted_alike_in_any_pieces(
        bytes in transcripts(), format in formats(), budget in prop::option::of(0..2_000_usize), piece in 1..200_usize,
    ) {
        let whole = checked(&bytes, budget, format, usize::MAX);
        let pieces = checked(&bytes, budget, format, piece);
        prop_assert_eq!(&whole.summary, &pieces.summary);
        prop_assert_eq!(whole.stats, pieces.stats);
    }

    #[test]
    fn a_summary_never_exceeds_its_budget(text in sessions(), budget in 0..4_000_usize) {
        let compacted = compacted_within(&text, budget);
        prop_assert!(tokens::of(&compacted.summary) <= budget, "{} of {budget}", tokens::of(&compacted.summary));
        prop_assert_eq!(tokens::of(&compacted.summary) as u64, compacted.stats.tokens_after);
        prop_assert!(!compacted.summary.contains("correct-horse"));
    }

    #[test]
    fn every_message_has_its_scores(text in sessions()) {
        let compacted = compacted(&text);
        prop_assert_eq!(compacted.scores().len(), text.lines().count());
        for entry in compacted.scores() {
            prop_assert!((0.0..=1.0).contains(&entry.importance) && (0.0..=1.0).contains(&entry.retention));
            prop_assert!(entry.retention <= entry.importance || entry.retention == 0.5 || entry.retention == 0.35);
        }
        let CompactStats { kept, compressed, sparse, messages, .. } = compacted.stats;
        prop_assert_eq!(kept + compressed + sparse, messages);
    }
}
