//! Requests of the `context.*` methods with all fields.

use hippo_proto::*;
use hippo_types::context::{ContextEncoding, ContextKind, ContextPriority};
use hippo_types::transcript::TranscriptFormat;
use serde_json::json;

/// Returns the parameters of each request as JSON, with the parsed request.
pub fn requests() -> Vec<(&'static str, Request)> {
    let session = || "s1".to_owned();
    let put = ContextPutRequest {
        session: session(),
        turn: 3,
        type_: ContextKind::ToolResult,
        source: ContextPutSource {
            type_: "exec".into(),
            reference: "make test".into(),
        },
        content: "all\nof it".into(),
        summary: Some("Two tests failed.".into()),
        key_data: json!({"failed": 2}).as_object().cloned(),
        modifiers: Some(ContextPutModifiers {
            priority: Some(ContextPriority::High),
            encoding: Some(ContextEncoding::Manual),
            associations: Some(vec!["ctx_1".into()]),
        }),
        lifecycle: Some(ContextPutLifecycle {
            expires: Some(50),
            persist: Some(true),
        }),
        error: true,
    };
    let compact = SessionCompactRequest {
        workspace: Some("/w".into()),
        path: Some("/t.jsonl".into()),
        messages: None,
        format: Some(TranscriptFormat::ClaudeCode),
        config: json!({"sparseThreshold": 0.2}).as_object().cloned(),
        budget_tokens: Some(500),
    };
    let messages = SessionCompactRequest {
        messages: Some(vec![json!({"role": "user"})]),
        ..SessionCompactRequest::default()
    };
    vec![
        (
            r#"{"workspace":"/w","agent":"scribe","session":"s1"}"#,
            ContextOpenRequest {
                workspace: "/w".into(),
                agent: Some("scribe".into()),
                session: Some(session()),
            }
            .into(),
        ),
        (
            r#"{"session":"s1","turn":3,"type":"tool_result","source":{"type":"exec","ref":"make test"},"content":"all\nof it","summary":"Two tests failed.","key_data":{"failed":2},"modifiers":{"priority":"high","encoding":"manual","associations":["ctx_1"]},"lifecycle":{"expires":50,"persist":true},"error":true}"#,
            put.into(),
        ),
        (
            r#"{"session":"s1","turn":4,"context_tokens":90,"context_limit":100}"#,
            ContextTurnRequest {
                session: session(),
                turn: 4,
                context_tokens: Some(90),
                context_limit: Some(100),
            }
            .into(),
        ),
        (
            r#"{"session":"s1","budget_tokens":500,"cue":"which tests?"}"#,
            ContextRenderRequest {
                session: session(),
                budget_tokens: Some(500),
                cue: Some("which tests?".into()),
            }
            .into(),
        ),
        (
            r#"{"session":"s1","id":"ctx_1"}"#,
            ContextFetchRequest {
                session: Some(session()),
                id: "ctx_1".into(),
            }
            .into(),
        ),
        (
            r#"{"session":"s1","id":"ctx_1","turn":5}"#,
            ContextTouchRequest {
                session: session(),
                id: "ctx_1".into(),
                turn: Some(5),
            }
            .into(),
        ),
        (
            r#"{"workspace":"/w","session":"s1","at_turn":9,"limit":10000}"#,
            ContextListRequest {
                workspace: Some("/w".into()),
                session: Some(session()),
                at_turn: Some(9),
                limit: Some(MAX_ENTRIES),
            }
            .into(),
        ),
        (
            r#"{"session":"s1"}"#,
            ContextCloseRequest { session: session() }.into(),
        ),
        (
            r#"{"workspace":"/w","path":"/t.jsonl","format":"claude-code","config":{"sparseThreshold":0.2},"budget_tokens":500}"#,
            compact.into(),
        ),
        (r#"{"messages":[{"role":"user"}]}"#, messages.into()),
    ]
}
