//! Backup requests with all fields.

use hippo_proto::*;

/// Returns the parameters of each request as JSON, with the parsed request.
pub fn requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            r#"{"workspace":"/w","to":"/b.tar.zst"}"#,
            BackupRequest {
                workspace: Some("/w".into()),
                to: "/b.tar.zst".into(),
            }
            .into(),
        ),
        (
            r#"{"from":"/b.tar.zst"}"#,
            BackupVerifyRequest {
                from: "/b.tar.zst".into(),
            }
            .into(),
        ),
        (
            r#"{"from":"/b.tar.zst","workspace":"/w","into":"/new","other_files":true}"#,
            RestoreRequest {
                from: "/b.tar.zst".into(),
                workspace: Some("/w".into()),
                into: Some("/new".into()),
                other_files: true,
            }
            .into(),
        ),
    ]
}
