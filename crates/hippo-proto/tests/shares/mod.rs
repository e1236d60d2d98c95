//! Requests of sharing with a team.

use hippo_proto::{Request, ShareInitRequest, SharePublishRequest, ShareStatusRequest};

/// Returns requests with all fields, each with its parameters as JSON.
pub fn requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            r#"{"url":"postgres://a@db/h","password_file":"/p","team":"core","writers":["ada"],"readers":["ben"]}"#,
            ShareInitRequest {
                url: Some("postgres://a@db/h".into()),
                password_file: Some("/p".into()),
                team: Some("core".into()),
                writers: vec!["ada".into()],
                readers: vec!["ben".into()],
            }
            .into(),
        ),
        (
            r#"{"workspace":"/w","dry_run":true}"#,
            SharePublishRequest {
                workspace: "/w".into(),
                dry_run: true,
            }
            .into(),
        ),
        ("{}", ShareStatusRequest {}.into()),
    ]
}
