//! Tests that requests keep their names and defaults.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod backups;
mod contexts;
mod logs;
mod models;
mod schema;
mod shares;

use std::collections::BTreeSet;

use hippo_proto::*;
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryPriority;
use hippo_types::memory::MemoryType;
use hippo_types::search::SearchMode;
use hippo_types::transcript::TranscriptFormat;

/// Asserts that the line is parsed as this request, and that the request is serialised as this line.
fn request(line: &str, request: impl Into<Request>) -> &'static str {
    let request = request.into();
    let given = serde_json::from_str::<serde_json::Value>(line).unwrap()["params"].to_string();
    let params = format!("Methods/properties/{}/properties/params", request.method());
    schema::conforms(&params, &given);
    let call = parse_request(line.as_bytes()).unwrap();
    assert_eq!((call.id, &call.request), (Id::from(1), &request));
    let written = serde_json::from_slice(&request.to_line(&Id::from(1)).unwrap()).unwrap();
    assert_eq!(
        given_members(written),
        given_members(serde_json::from_str(line).unwrap())
    );
    request.method()
}

/// Removes the parameters that are null or false, because omitting them has the same meaning.
fn given_members(mut line: serde_json::Value) -> serde_json::Value {
    fn prune(value: &mut serde_json::Value) {
        if let Some(members) = value.as_object_mut() {
            members.retain(|_, value| !value.is_null() && *value != false);
            members.values_mut().for_each(prune);
        }
    }
    prune(&mut line["params"]);
    line
}

fn line(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

#[test]
fn requests_with_all_fields_keep_their_names() {
    let workspace = || "/w".to_owned();
    let mut seen = BTreeSet::new();
    let mut golden = |params: &str, shape: Request| {
        seen.insert(request(&line(shape.method(), params), shape.clone()));
    };
    golden(
        r#"{"protocol":1,"client":"hippoctl/0.1.0"}"#,
        HelloRequest {
            protocol: 1,
            client: "hippoctl/0.1.0".into(),
        }
        .into(),
    );
    golden("{}", StatusRequest {}.into());
    golden("{}", MetricsRequest {}.into());
    golden(
        r#"{"workspace":"/w","examples":3}"#,
        AuditRequest {
            workspace: workspace(),
            examples: Some(3),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","rebuild":true}"#,
        DoctorRequest {
            workspace: Some(workspace()),
            rebuild: true,
            ..DoctorRequest::default()
        }
        .into(),
    );
    golden("{}", ShutdownRequest {}.into());
    golden(
        r#"{"workspace":"/w","events":["indexed","degraded","job","cycle"]}"#,
        SubscribeRequest {
            workspace: Some(workspace()),
            events: Some(vec![
                EventName::Indexed,
                EventName::Degraded,
                EventName::Job,
                EventName::Cycle,
            ]),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w"}"#,
        WorkspaceAddRequest {
            workspace: workspace(),
        }
        .into(),
    );
    golden("{}", WorkspaceListRequest {}.into());
    golden(
        r#"{"workspace":"/w","files":{".hippocampus/config.toml":"00"},"revoke":true,"dry_run":true}"#,
        WorkspaceTrustRequest {
            workspace: workspace(),
            files: Some([(".hippocampus/config.toml".to_owned(), "00".to_owned())].into()),
            revoke: true,
            dry_run: true,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w"}"#,
        WorkspaceRemoveRequest {
            workspace: workspace(),
            ..WorkspaceRemoveRequest::default()
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","purge":true,"dry_run":true}"#,
        WorkspaceRemoveRequest {
            workspace: workspace(),
            purge: true,
            dry_run: true,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","wait":true,"accept_deletions":true}"#,
        WorkspaceSyncRequest {
            workspace: workspace(),
            wait: true,
            accept_deletions: true,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","query":"who signed?","mode":"vector","limit":200,"budget_tokens":500,"min_score":0.25,"path":"memory/**","since":"2026-01-01","until":"2026-01-31","explain":true,"record":false,"client":"cli","log":false}"#,
        SearchRequest {
            workspace: workspace(),
            query: "who signed?".into(),
            mode: Some(SearchMode::Vector),
            limit: Some(200),
            budget_tokens: Some(500),
            min_score: Some(0.25),
            path: Some("memory/**".into()),
            since: Some("2026-01-01".into()),
            until: Some("2026-01-31".into()),
            explain: true,
            record: false,
            client: Some("cli".into()),
            log: false,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","path":"MEMORY.md","section":"Rules","from":3,"count":9,"peek":true}"#,
        GetRequest {
            workspace: Some(workspace()),
            path: Some("MEMORY.md".into()),
            section: Some("Rules".into()),
            from: Some(3),
            count: Some(9),
            id: None,
            peek: true,
        }
        .into(),
    );
    golden(
        r#"{"id":"c1f","peek":false}"#,
        GetRequest {
            id: Some("c1f".into()),
            ..GetRequest::default()
        }
        .into(),
    );
    let id = || "acme-deploy".to_owned();
    golden(
        r#"{"workspace":"/w","at":"2026-03-01","limit":10000,"archived":true}"#,
        IndexListRequest {
            workspace: workspace(),
            at: Some("2026-03-01".into()),
            limit: Some(MAX_ENTRIES),
            archived: true,
            private: false,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","id":"acme-deploy","at":"2026-03-01T08:00:00Z"}"#,
        IndexShowRequest {
            workspace: workspace(),
            id: id(),
            at: Some("2026-03-01T08:00:00Z".into()),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","id":"acme-deploy","topic":"Deploys","summary":"","tags":["deploy"],"pointers":[{"path":"a.md","section":"Steps"},{"path":"b.md"}],"priority":"amygdala"}"#,
        IndexEditRequest {
            workspace: workspace(),
            id: id(),
            topic: Some("Deploys".into()),
            summary: Some(String::new()),
            tags: Some(vec!["deploy".into()]),
            pointers: Some(vec![
                Pointer {
                    path: "a.md".into(),
                    section: Some("Steps".into()),
                },
                Pointer {
                    path: "b.md".into(),
                    section: None,
                },
            ]),
            priority: Some(EntryPriority::Amygdala),
            pinned: None,
        }
        .into(),
    );
    let params = r#"{"workspace":"/w","id":"acme-deploy"}"#;
    let forget = IndexForgetRequest {
        workspace: workspace(),
        id: id(),
    };
    golden(params, forget.into());
    let restore = IndexRestoreRequest {
        workspace: workspace(),
        id: id(),
    };
    golden(params, restore.into());
    golden(
        r#"{"workspace":"/w","cycle":"archival","dry_run":true,"at":"2026-03-01"}"#,
        CycleRunRequest {
            workspace: workspace(),
            cycle: Cycle::Archival,
            dry_run: true,
            at: Some("2026-03-01".into()),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","limit":1000,"run":12}"#,
        CycleHistoryRequest {
            workspace: workspace(),
            limit: Some(MAX_RUNS),
            run: Some(12),
        }
        .into(),
    );
    let undo = CycleUndoRequest {
        workspace: workspace(),
        run: 12,
    };
    golden(r#"{"workspace":"/w","run":12}"#, undo.into());
    golden(
        r#"{"workspace":"/w","text":"never on Fridays","topic":"Deploys","type":"feedback","tags":["deploy"],"priority":"high"}"#,
        RememberRequest {
            workspace: workspace(),
            text: "never on Fridays".into(),
            topic: Some("Deploys".into()),
            type_: Some(MemoryType::Feedback),
            tags: Some(vec!["deploy".into()]),
            priority: Some(EntryPriority::High),
            private: false,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","path":"/t.jsonl","session":"s","agent":"scribe","format":"pi","wait":false,"compact":true,"close":true,"tree":true}"#,
        SessionFlushRequest {
            workspace: workspace(),
            path: "/t.jsonl".into(),
            session: Some("s".into()),
            agent: Some("scribe".parse().unwrap()),
            format: Some(TranscriptFormat::Pi),
            wait: false,
            compact: true,
            close: true,
            tree: true,
        }
        .into(),
    );
    let heartbeat = HeartbeatRequest {
        workspace: workspace(),
    };
    golden(r#"{"workspace":"/w"}"#, heartbeat.into());
    golden(
        r#"{"workspace":"/w","at":"2026-03-20","dry_run":true,"when_due":true,"take_over":true}"#,
        TreeCompactRequest {
            workspace: workspace(),
            at: Some("2026-03-20".into()),
            dry_run: true,
            when_due: true,
            take_over: true,
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","limit":3}"#,
        TreePendingRequest {
            workspace: workspace(),
            limit: Some(3),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","node":"2026-03-20","body":"b","source_digest":"00ff00ff00ff00ff"}"#,
        TreeSubmitRequest {
            workspace: workspace(),
            node: "2026-03-20".into(),
            body: "b".into(),
            source_digest: Some("00ff00ff00ff00ff".into()),
        }
        .into(),
    );
    golden(
        r#"{"workspace":"/w","node":"ROOT"}"#,
        TreeShowRequest {
            workspace: workspace(),
            node: Some("ROOT".into()),
        }
        .into(),
    );
    for shapes in [
        contexts::requests(),
        backups::requests(),
        logs::requests(),
        models::requests(),
        shares::requests(),
    ] {
        for (params, shape) in shapes {
            golden(params, shape);
        }
    }
    assert_eq!(seen, METHODS.iter().copied().collect::<BTreeSet<_>>());
}

#[test]
fn requests_have_defaults() {
    let read = |method: &str, params: &str| parse_request(line(method, params).as_bytes()).unwrap().request;
    assert_eq!(
        read("search", r#"{"workspace":"/w","query":"q"}"#),
        Request::Search(SearchRequest::new("/w", "q"))
    );
    let SearchRequest {
        mode,
        limit,
        explain,
        record,
        log,
        ..
    } = SearchRequest::new("/w", "q");
    assert_eq!(
        (mode, limit, explain, record, log),
        (None, None, false, true, true)
    );
    let sync = WorkspaceSyncRequest {
        workspace: "/w".into(),
        wait: false,
        accept_deletions: false,
    };
    assert_eq!(
        read("workspace.sync", r#"{"workspace":"/w"}"#),
        Request::WorkspaceSync(sync)
    );
    assert_eq!(
        read("doctor", "{}"),
        Request::Doctor(DoctorRequest {
            workspace: None,
            rebuild: false,
            ..DoctorRequest::default()
        })
    );
    assert_eq!(
        read("subscribe", "{}"),
        Request::Subscribe(SubscribeRequest::default())
    );
    assert_eq!(
        read("model.pull", "{}"),
        Request::ModelPull(ModelPullRequest::default())
    );
    let without_params = br#"{"jsonrpc":"2.0","id":1,"method":"status"}"#;
    assert_eq!(
        parse_request(without_params).unwrap().request,
        Request::Status(StatusRequest {})
    );
}
