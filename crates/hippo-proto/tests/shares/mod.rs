//! Requests of sharing with a team, and with other workspaces.

use hippo_proto::{
    MemoryType, Request, ShareAddRequest, ShareInitRequest, ShareListRequest, SharePublishRequest,
    ShareRemoveRequest, ShareSelectors, ShareStatusRequest,
};

/// Returns requests with all fields, each with its parameters as JSON.
pub fn requests() -> Vec<(&'static str, Request)> {
    vec![
        (
            r#"{"workspace":"/w","to":"/v","name":"api","selectors":{"paths":["a/**"],"topics":["Ports"],"tags":["release"],"types":["reference"]},"dry_run":true}"#,
            ShareAddRequest {
                workspace: "/w".into(),
                to: "/v".into(),
                name: Some("api".into()),
                selectors: ShareSelectors {
                    paths: vec!["a/**".into()],
                    topics: vec!["Ports".into()],
                    tags: vec!["release".into()],
                    types: vec![MemoryType::Reference],
                },
                dry_run: true,
            }
            .into(),
        ),
        (
            r#"{"workspace":"/w","removed":true}"#,
            ShareListRequest {
                workspace: Some("/w".into()),
                removed: true,
            }
            .into(),
        ),
        (r#"{"id":"s1"}"#, ShareRemoveRequest { id: "s1".into() }.into()),
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
