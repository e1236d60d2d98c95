//! Tests of field names, field order and new fields in answers.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use std::collections::BTreeMap;
use std::fmt::Debug;

use hippo_proto::*;
use hippo_types::cycle::Cycle;
use hippo_types::entry::StrengthBand;
use hippo_types::search::SearchMode;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Asserts that the answer is serialised as `golden`, that `golden` is parsed as the answer, and that a new field is
/// ignored.
fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), golden);
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
    schema::conforms(name, golden);
    assert_eq!(&serde_json::from_str::<T>(golden).unwrap(), answer);
    let newer = golden.replacen('{', r#"{"of_tomorrow":[1],"#, 1);
    assert_eq!(&serde_json::from_str::<T>(&newer).unwrap(), answer);
}

#[test]
fn session_and_workspace_answers_keep_their_names() {
    answer(
        r#"{"protocol":1,"daemon":"0.1.0","pid":42}"#,
        &HelloResponse {
            protocol: 1,
            daemon: "0.1.0".into(),
            pid: 42,
        },
    );
    answer(
        r#"{"events":["indexed"]}"#,
        &SubscribeResponse {
            events: vec![EventName::Indexed],
        },
    );
    answer(r#"{"pid":42}"#, &ShutdownResponse { pid: 42 });
    answer(
        r#"{"root":"/w","added":true}"#,
        &WorkspaceAddResponse {
            root: "/w".into(),
            added: true,
        },
    );
    let info = WorkspaceInfo {
        root: "/w".into(),
        documents: 2,
        pending: 0,
        generation: 3,
        root_present: true,
        opening: false,
    };
    answer(
        r#"{"workspaces":[{"root":"/w","documents":2,"pending":0,"generation":3,"root_present":true}]}"#,
        &WorkspaceListResponse {
            workspaces: vec![info.clone()],
        },
    );
    answer(
        r#"{"workspaces":[{"root":"/w","documents":2,"pending":0,"generation":3,"root_present":true,"opening":true}]}"#,
        &WorkspaceListResponse {
            workspaces: vec![WorkspaceInfo {
                opening: true,
                ..info
            }],
        },
    );
    answer(
        r#"{"root":"/w"}"#,
        &WorkspaceRemoveResponse {
            root: "/w".into(),
            contexts_kept: false,
            restored: Vec::new(),
            notes: Vec::new(),
        },
    );
    answer(
        r#"{"root":"/w","restored":["memory/ROOT.md"],"notes":["it was changed"]}"#,
        &WorkspaceRemoveResponse {
            root: "/w".into(),
            contexts_kept: false,
            restored: vec!["memory/ROOT.md".into()],
            notes: vec!["it was changed".into()],
        },
    );
    answer(
        r#"{"files":2,"documents":2,"changed":1,"removed":0,"pending":0,"generation":4,"took_ms":12.5}"#,
        &WorkspaceSyncResponse {
            files: 2,
            documents: 2,
            changed: 1,
            removed: 0,
            pending: 0,
            generation: 4,
            took_ms: 12.5,
            notes: Vec::new(),
        },
    );
}

#[test]
fn search_and_get_answers_keep_their_names() {
    let hit = SearchHit {
        id: "c1f".into(),
        path: "memory/2026-01-10.md".into(),
        start_line: 12,
        end_line: 30,
        heading: vec!["Acme".into(), "Deploy".into()],
        score: 0.83,
        scores: Some(Scores {
            lexical: Some(0.71),
            vector: None,
        }),
        strength: None,
        entry: None,
        tokens: 180,
        text: "- never on Fridays".into(),
        date: Some("2026-01-10".into()),
        scope: Scope::Shared,
        copies: 0,
        speaker: None,
        superseded_by: None,
        origin: None,
        explain: None,
    };
    let explained = SearchHit {
        scores: None,
        strength: Some(0.92),
        entry: Some("acme-deploy".into()),
        date: None,
        scope: Scope::Shared,
        copies: 0,
        speaker: None,
        superseded_by: None,
        origin: None,
        explain: Some(BTreeMap::from([("bm25".into(), 0.5)])),
        ..hit.clone()
    };
    let response = SearchResponse {
        query: "when?".into(),
        mode: SearchMode::Hybrid,
        strategy: Strategy::Search,
        results: vec![hit],
        tokens: 180,
        index: IndexState {
            generation: 412,
            pending: 0,
            lag_ms: 0,
            degraded: None,
            why: None,
        },
        notes: vec![],
        trace: None,
        nothing_relevant: false,
        took_ms: 4.1,
    };
    answer(
        r#"{"query":"when?","mode":"hybrid","strategy":"search","results":[{"id":"c1f","path":"memory/2026-01-10.md","start_line":12,"end_line":30,"heading":["Acme","Deploy"],"score":0.83,"scores":{"lexical":0.71,"vector":null},"strength":null,"entry":null,"tokens":180,"text":"- never on Fridays","date":"2026-01-10"}],"tokens":180,"index":{"generation":412,"pending":0,"lag_ms":0,"degraded":null},"took_ms":4.1}"#,
        &response,
    );
    answer(
        r#"{"query":"when?","mode":"lexical","strategy":"hybrid","results":[{"id":"c1f","path":"memory/2026-01-10.md","start_line":12,"end_line":30,"heading":["Acme","Deploy"],"score":0.83,"scores":null,"strength":0.92,"entry":"acme-deploy","tokens":180,"text":"- never on Fridays","date":null,"explain":{"bm25":0.5}}],"tokens":180,"index":{"generation":1,"pending":9,"lag_ms":40,"degraded":"no-model","why":"not installed"},"notes":["tokens are bytes/4"],"trace":{"reason":"the entry is weak","matches":[{"entry":"acme-deploy","topic":"Acme deploys","relevance":0.5,"strength":0.25,"band":"decaying"}],"created":null,"refreshed":["acme-deploy"]},"took_ms":4.1}"#,
        &SearchResponse {
            mode: SearchMode::Lexical,
            strategy: Strategy::Hybrid,
            results: vec![explained],
            index: IndexState {
                generation: 1,
                pending: 9,
                lag_ms: 40,
                degraded: Some("no-model".into()),
                why: Some("not installed".into()),
            },
            notes: vec!["tokens are bytes/4".into()],
            trace: Some(SearchTrace {
                reason: "the entry is weak".into(),
                matches: vec![TraceMatch {
                    entry: "acme-deploy".into(),
                    topic: "Acme deploys".into(),
                    relevance: 0.5,
                    strength: 0.25,
                    band: StrengthBand::Decaying,
                }],
                created: None,
                refreshed: vec!["acme-deploy".into()],
            }),
            ..response
        },
    );
    answer(
        r##"{"path":"MEMORY.md","start_line":1,"end_line":2,"text":"# Rules\n","heading":["Rules"],"hash":"00ff","total_lines":9,"truncated":true}"##,
        &GetResponse {
            path: "MEMORY.md".into(),
            start_line: 1,
            end_line: 2,
            text: "# Rules\n".into(),
            heading: vec!["Rules".into()],
            hash: "00ff".into(),
            total_lines: 9,
            truncated: true,
        },
    );
}

#[test]
fn the_status_answer_keeps_its_names() {
    let workspace = WorkspaceStatus {
        root: "/w".into(),
        documents: 2,
        private: 0,
        unclaimed: 0,
        chunks: 40,
        pending: 3,
        embedded: 37,
        skipped: vec![Skipped {
            path: "memory/huge.md".into(),
            reason: "larger than 16 MiB".into(),
        }],
        skipped_count: 1,
        left_out: vec![NotIndexed {
            reason: "in node_modules".into(),
            files: 9,
            or_more: true,
        }],
        generation: 7,
        lag_ms: 120,
        degraded: Some("no-model".into()),
        why: Some("not installed".into()),
        settings: None,
        untrusted: Vec::new(),
        watcher: WatcherStatus {
            mode: WatcherMode::Notify,
            alive: true,
            last_event_ms_ago: None,
            last_canary_ms_ago: Some(20),
            last_reconcile_ms_ago: Some(30),
            changed_at_last_reconcile: 1,
        },
        disk: DiskStatus {
            files: 3,
            indexed_files: 2,
        },
        held_deletions: 0,
        root_present: true,
        vector: VectorStatus {
            backend: VectorBackend::Exact,
            vectors: 37,
            tombstones: 1,
            building: false,
            model: Some("e5@1".into()),
        },
        database_bytes: 4096,
        index: Some(IndexStatus {
            entries: 12,
            queued: 1,
            archived: 2,
            tokens: 900,
            file: "held".into(),
            trouble: Some("read-only".into()),
            held_removals: 5,
            last_cycle: None,
            next: vec![NextCycle {
                cycle: Cycle::Light,
                at: "2026-03-01T08:00:00Z".into(),
            }],
        }),
        contexts: Some(ContextsStatus {
            sessions: 3,
            open: 1,
            entries: 40,
            contents: 31,
            stored_bytes: 900,
            raw_bytes: 9000,
            budget_bytes: 100_000,
            oldest: Some("2026-02-01T08:00:00Z".into()),
        }),
        tree: Some(TreeStatus {
            last: Some("2026-03-01T08:00:00Z".into()),
            nodes: 97,
            foreign: 3,
        }),
    };
    answer(
        r#"{"version":"0.1.0","pid":42,"uptime_ms":9,"protocol":1,"socket":"/s","home":"/h","model":{"state":"ready","id":"m:384","threads":1,"loads":1,"word_pieces":900},"workspaces":[{"root":"/w","documents":2,"chunks":40,"pending":3,"embedded":37,"skipped":[{"path":"memory/huge.md","reason":"larger than 16 MiB"}],"skipped_count":1,"left_out":[{"reason":"in node_modules","files":9,"or_more":true}],"generation":7,"lag_ms":120,"degraded":"no-model","why":"not installed","watcher":{"mode":"notify","alive":true,"last_canary_ms_ago":20,"last_reconcile_ms_ago":30,"changed_at_last_reconcile":1},"disk":{"files":3,"indexed_files":2},"held_deletions":0,"root_present":true,"vector":{"backend":"exact","vectors":37,"tombstones":1,"building":false,"model":"e5@1"},"database_bytes":4096,"index":{"entries":12,"queued":1,"archived":2,"tokens":900,"file":"held","trouble":"read-only","held_removals":5,"last_cycle":null,"next":[{"cycle":"light","at":"2026-03-01T08:00:00Z"}]},"contexts":{"sessions":3,"open":1,"entries":40,"contents":31,"stored_bytes":900,"raw_bytes":9000,"budget_bytes":100000,"oldest":"2026-02-01T08:00:00Z"},"tree":{"last":"2026-03-01T08:00:00Z","nodes":97,"foreign":3}}],"memory_rss_bytes":1000,"requests_served":5}"#,
        &StatusResponse {
            version: "0.1.0".into(),
            pid: 42,
            uptime_ms: 9,
            protocol: 1,
            socket: "/s".into(),
            home: "/h".into(),
            model: ModelStatus {
                state: ModelLoad::Ready,
                id: "m:384".into(),
                reason: None,
                threads: 1,
                loads: 1,
                word_pieces: 900,
            },
            workspaces: vec![workspace],
            memory_rss_bytes: 1000,
            requests_served: 5,
        },
    );
}

#[test]
fn doctor_and_model_answers_keep_their_names() {
    answer(
        r#"{"problems":[{"id":"no-model","severity":"warning","what":"w","where":"/m","fix":"f"}],"checks":[{"id":"watcher","ok":true,"detail":"d"}]}"#,
        &DoctorResponse {
            problems: vec![Problem {
                id: "no-model".into(),
                severity: Severity::Warning,
                what: "w".into(),
                where_: "/m".into(),
                fix: "f".into(),
                fixable: false,
            }],
            checks: vec![Check {
                id: "watcher".into(),
                ok: true,
                detail: "d".into(),
                worst: None,
            }],
            fixed: Vec::new(),
        },
    );
    answer(
        r#"{"models":[{"name":"m","id":"m:384","sha256":"ab","dimension":384,"state":"absent","selected":true,"bytes":9,"licence":null,"source":"pip"}],"runtime":{"name":"onnxruntime 1.24.4","state":"installed","path":"/r"}}"#,
        &ModelListResponse {
            models: vec![ModelInfo {
                name: "m".into(),
                id: "m:384".into(),
                sha256: Some("ab".into()),
                dimension: 384,
                state: ModelState::Absent,
                selected: true,
                bytes: 9,
                licence: None,
                source: "pip".into(),
            }],
            runtime: RuntimeInfo {
                name: "onnxruntime 1.24.4".into(),
                state: ModelState::Installed,
                path: Some("/r".into()),
                reason: None,
            },
        },
    );
    let file = ModelFile {
        path: "/m/a".into(),
        bytes: 3,
        sha256: "ab".into(),
        ok: true,
        source: "cache".into(),
    };
    answer(
        r#"{"model":"m","files":[{"path":"/m/a","bytes":3,"sha256":"ab","ok":true,"source":"cache"}],"took_ms":1.5}"#,
        &ModelPullResponse {
            model: "m".into(),
            files: vec![file.clone()],
            took_ms: 1.5,
        },
    );
    answer(
        r#"{"model":"m","ok":false,"files":[{"path":"/m/a","bytes":3,"sha256":"ab","ok":true,"source":"cache"}]}"#,
        &ModelVerifyResponse {
            model: "m".into(),
            ok: false,
            files: vec![file],
        },
    );
    answer(
        r#"{"model":"e5","bytes":9}"#,
        &ModelRemoveResponse {
            model: "e5".into(),
            bytes: 9,
        },
    );
}
