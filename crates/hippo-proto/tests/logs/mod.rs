//! Requests of the methods `recall`, and their wire format.

use hippo_proto::{RecallLogRequest, RecallRequest, RecallWhyRequest, Request, SearchMode};

pub fn requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            r#"{"workspace":"/w","prompt":"p","session":"s","wait_ms":5,"client":"hook"}"#,
            RecallRequest {
                workspace: "/w".into(),
                prompt: "p".into(),
                session: Some("s".into()),
                wait_ms: Some(5),
                client: Some("hook".into()),
            }
            .into(),
        ),
        (
            r#"{"workspace":"/w","limit":3,"before":9}"#,
            RecallLogRequest {
                workspace: "/w".into(),
                limit: Some(3),
                before: Some(9),
            }
            .into(),
        ),
        (
            r#"{"workspace":"/w","query":"q","mode":"lexical","path":"MEMORY.md","line":4,"limit":7}"#,
            RecallWhyRequest {
                workspace: "/w".into(),
                query: "q".into(),
                mode: Some(SearchMode::Lexical),
                path: Some("MEMORY.md".into()),
                line: Some(4),
                limit: Some(7),
            }
            .into(),
        ),
    ]
}
