//! Defaults, errors and answers of cycles, `remember` and `heartbeat`.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod schema;

use std::collections::BTreeMap;
use std::fmt::Debug;

use hippo_proto::*;
use hippo_types::cycle::Cycle;
use hippo_types::entry::{EntryOrigin, EntryPlace, EntryPriority, StrengthBand};
use hippo_types::memory::MemoryType;
use hippo_types::search::SearchMode;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn read(method: &str, params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let call = parse_request(line.as_bytes()).map_err(|reply| reply.outcome.unwrap_err())?;
    Ok(call.request)
}

/// Asserts that the answer is serialised as `golden`, that `golden` is parsed as the answer, and that a new top-level
/// field is ignored.
fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(golden: &str, answer: &T) {
    assert_eq!(serde_json::to_string(answer).unwrap(), golden);
    let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
    schema::conforms(name, golden);
    assert_eq!(&serde_json::from_str::<T>(golden).unwrap(), answer);
    let newer = golden.replacen('{', r#"{"of_tomorrow":[1],"#, 1);
    assert_eq!(&serde_json::from_str::<T>(&newer).unwrap(), answer);
}

fn run() -> CycleRun {
    CycleRun {
        run: 12,
        cycle: Cycle::Deep,
        started: "2026-03-01T02:30:00Z".into(),
        finished: Some("2026-03-01T02:30:01Z".into()),
        outcome: CycleOutcome::Capped,
        planned: 3,
        done: 2,
        demoted: 1,
        undone: None,
    }
}

const RUN: &str = r#"{"run":12,"cycle":"deep","started":"2026-03-01T02:30:00Z","finished":"2026-03-01T02:30:01Z","outcome":"capped","planned":3,"done":2,"demoted":1,"undone":null}"#;

fn report() -> CycleReport {
    CycleReport {
        run: Some(12),
        cycle: Cycle::Deep,
        at: "2026-03-01T02:30:00Z".into(),
        outcome: CycleOutcome::Capped,
        plan: vec![CycleStep {
            rule: "decayed".into(),
            entries: vec!["old".into()],
            what: "to the queue: 0.09".into(),
        }],
        applied: 1,
        refused: vec![CycleRefusal {
            rule: "demotion-cap".into(),
            entries: vec!["older".into()],
            reason: "a quarter at most".into(),
        }],
        findings: vec![CycleFinding {
            rule: "stale-pointer".into(),
            entry: "crane".into(),
            what: "gone.md is not there".into(),
        }],
        health: Some(IndexHealth {
            live: 30,
            queued: 4,
            archived: 6,
            amygdala: 2,
            unlinked: 9,
            mean_strength: 0.5,
            bands: BTreeMap::from([("strong".into(), 5)]),
            groups: BTreeMap::from([("Projects".into(), 12)]),
        }),
        files: vec!["HIPPOCAMPUS.md".into()],
        tree: None,
        notes: vec!["as of another moment".into()],
        took_ms: 12.5,
    }
}

const REPORT: &str = r#"{"run":12,"cycle":"deep","at":"2026-03-01T02:30:00Z","outcome":"capped","plan":[{"rule":"decayed","entries":["old"],"what":"to the queue: 0.09"}],"applied":1,"refused":[{"rule":"demotion-cap","entries":["older"],"reason":"a quarter at most"}],"findings":[{"rule":"stale-pointer","entry":"crane","what":"gone.md is not there"}],"health":{"live":30,"queued":4,"archived":6,"amygdala":2,"unlinked":9,"mean_strength":0.5,"bands":{"strong":5},"groups":{"Projects":12}},"files":["HIPPOCAMPUS.md"],"notes":["as of another moment"],"took_ms":12.5}"#;

#[test]
fn cycle_answers_keep_their_names() {
    answer(REPORT, &report());
    answer(
        r#"{"run":null,"cycle":"light","at":"2026-03-01T02:30:00Z","outcome":"planned","plan":[],"applied":0,"refused":[],"findings":[],"health":null,"files":[],"took_ms":0.5}"#,
        &CycleReport {
            run: None,
            cycle: Cycle::Light,
            at: "2026-03-01T02:30:00Z".into(),
            outcome: CycleOutcome::Planned,
            plan: vec![],
            applied: 0,
            refused: vec![],
            findings: vec![],
            health: None,
            files: vec![],
            tree: None,
            notes: vec![],
            took_ms: 0.5,
        },
    );
    answer(
        &format!(r#"{{"runs":[{RUN}]}}"#),
        &CycleHistoryResponse {
            runs: vec![run()],
            report: None,
        },
    );
    answer(
        &format!(r#"{{"runs":[],"report":{REPORT}}}"#),
        &CycleHistoryResponse {
            runs: vec![],
            report: Some(report()),
        },
    );
    answer(
        r#"{"run":12,"undone":2,"files":["HIPPOCAMPUS.md"]}"#,
        &CycleUndoResponse {
            undone_before: false,
            run: 12,
            undone: 2,
            files: vec!["HIPPOCAMPUS.md".into()],
            notes: Vec::new(),
        },
    );
    answer(
        &format!(
            r#"{{"ran":[{RUN}],"pending":[{{"kind":"removals-held","text":"t","paths":["HIPPOCAMPUS.md"]}}],"next":[{{"cycle":"light","at":"2026-03-01T03:30:00Z"}}]}}"#
        ),
        &HeartbeatResponse {
            ran: vec![run()],
            pending: vec![Pending {
                kind: "removals-held".into(),
                text: "t".into(),
                paths: vec!["HIPPOCAMPUS.md".into()],
            }],
            next: vec![NextCycle {
                cycle: Cycle::Light,
                at: "2026-03-01T03:30:00Z".into(),
            }],
        },
    );
}

#[test]
fn remember_answers_keep_their_names() {
    let entry = IndexEntry {
        id: "deploys".into(),
        topic: "Deploys".into(),
        summary: String::new(),
        pointers: vec![],
        strength: 1.0,
        band: StrengthBand::Strong,
        place: EntryPlace::Index,
        group: String::new(),
        tags: vec![],
        related: vec![],
        priority: EntryPriority::Normal,
        origin: EntryOrigin::Manual,
        created: "2026-03-01T08:00:00Z".into(),
        accessed: "2026-03-01T08:00:00Z".into(),
        hits: 0,
        version: 1,
        scope: Scope::Shared,
    };
    let entered = serde_json::to_string(&entry).unwrap();
    let remembered = RememberResponse {
        path: "memory/2026-03-01.md".into(),
        start_line: 12,
        end_line: 14,
        entry: Some(entry),
        secrets: vec![],
        notes: vec![],
    };
    answer(
        &format!(r#"{{"path":"memory/2026-03-01.md","start_line":12,"end_line":14,"entry":{entered}}}"#),
        &remembered,
    );
    answer(
        r#"{"path":"memory/2026-03-01.md","start_line":12,"end_line":14,"entry":null,"secrets":["password"],"notes":["the index file is off"]}"#,
        &RememberResponse {
            entry: None,
            secrets: vec!["password".into()],
            notes: vec!["the index file is off".into()],
            ..remembered
        },
    );
}

#[test]
fn cycle_enums_keep_their_names() {
    for cycle in Cycle::ALL {
        assert_eq!(serde_json::to_value(cycle).unwrap(), cycle.name());
    }
    assert_eq!(
        serde_json::to_string(&Cycle::ALL).unwrap(),
        r#"["light","deep","archival"]"#
    );
    assert_eq!(
        serde_json::to_string(&MemoryType::ALL).unwrap(),
        r#"["project","feedback","user","reference"]"#
    );
    for mode in SearchMode::ALL {
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
    }
    let outcomes = [
        CycleOutcome::Planned,
        CycleOutcome::Done,
        CycleOutcome::Capped,
        CycleOutcome::Failed,
        CycleOutcome::Interrupted,
        CycleOutcome::Running,
    ];
    assert_eq!(
        serde_json::to_string(&outcomes).unwrap(),
        r#"["planned","done","capped","failed","interrupted","running"]"#
    );
    for outcome in outcomes {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
    }
}

#[test]
fn cycle_requests_have_defaults() {
    assert_eq!(
        read("cycle.run", r#"{"workspace":"/w","cycle":"light"}"#),
        Ok(Request::CycleRun(CycleRunRequest {
            workspace: "/w".into(),
            cycle: Cycle::Light,
            dry_run: false,
            at: None,
        }))
    );
    assert_eq!(
        read("cycle.history", r#"{"workspace":"/w"}"#),
        Ok(Request::CycleHistory(CycleHistoryRequest {
            workspace: "/w".into(),
            limit: None,
            run: None,
        }))
    );
    assert_eq!(
        read("remember", r#"{"workspace":"/w","text":"t"}"#),
        Ok(Request::Remember(RememberRequest {
            workspace: "/w".into(),
            text: "t".into(),
            ..RememberRequest::default()
        }))
    );
}

#[test]
fn the_length_of_a_text_is_limited_in_bytes() {
    let remember = |text: &str| {
        let params = serde_json::json!({"workspace": "/w", "text": text});
        read("remember", &params.to_string())
    };
    assert!(remember(&"é".repeat(MAX_TEXT_BYTES / 2)).is_ok());
    let error = remember(&"é".repeat(MAX_TEXT_BYTES / 2 + 1)).unwrap_err();
    assert_eq!(error.data.kind, ErrorKind::TooLarge);
    assert!(error.message.contains("65536 bytes"), "{error}");
    assert!(!error.data.hint.is_empty());
}

#[test]
fn cycle_errors_name_the_problem_and_have_a_hint() {
    let cases = [
        (
            "cycle.run",
            r#""workspace":"/w""#,
            "missing field `cycle`",
            "protocol.md",
        ),
        (
            "cycle.run",
            r#""workspace":"/w","cycle":"depp""#,
            "unknown variant `depp`",
            "did you mean \"deep\"?",
        ),
        (
            "cycle.run",
            r#""workspace":"/w","cycle":"zzz""#,
            "unknown variant `zzz`, expected one of `light`, `deep`, `archival`",
            "protocol.md",
        ),
        (
            "cycle.run",
            r#""workspace":"/w","cycle":"deep","dryrun":true"#,
            "unknown field \"dryrun\"",
            "\"dry_run\"",
        ),
        (
            "cycle.run",
            r#""workspace":"","cycle":"deep""#,
            "\"workspace\" is empty",
            "",
        ),
        (
            "cycle.history",
            r#""workspace":"/w","limit":0"#,
            "limit 0",
            "1 to 1000",
        ),
        (
            "cycle.history",
            r#""workspace":"/w","limit":1001"#,
            "limit 1001",
            "1 to 1000",
        ),
        (
            "cycle.history",
            r#""workspace":"/w","run":"12""#,
            "field \"run\"",
            "protocol.md",
        ),
        (
            "cycle.undo",
            r#""workspace":"/w""#,
            "missing field `run`",
            "protocol.md",
        ),
        ("remember", r#""workspace":"/w""#, "\"text\" is empty", ""),
        (
            "remember",
            r#""workspace":"/w","text":" \n""#,
            "\"text\" is empty",
            "",
        ),
        (
            "remember",
            r#""workspace":"/w","text":"t","topic":" ""#,
            "\"topic\" is empty",
            "",
        ),
        (
            "remember",
            r##""workspace":"/w","text":"t","topic":"a\n# b""##,
            "\"topic\" has several lines",
            "\"text\"",
        ),
        (
            "remember",
            r#""workspace":"/w","text":"t","tags":["a",""]"#,
            "\"tags\" is empty",
            "",
        ),
        (
            "remember",
            r#""workspace":"/w","text":"t","type":"feeback""#,
            "unknown variant `feeback`",
            "did you mean \"feedback\"?",
        ),
        (
            "remember",
            r#""workspace":"/w","text":"t","priority":"urgent!""#,
            "unknown variant `urgent!`",
            "protocol.md",
        ),
        (
            "remember",
            r#""workspace":"/w","text":"t","kind":"user""#,
            "unknown field \"kind\"",
            "type",
        ),
        ("heartbeat", r#""workspace":" ""#, "\"workspace\" is empty", ""),
    ];
    for (method, params, message, hint) in cases {
        let error = read(method, &format!("{{{params}}}")).unwrap_err();
        assert_eq!(error.data.kind, ErrorKind::BadRequest, "{params}");
        assert!(error.message.contains(message), "{method} {params}: {error}");
        assert!(
            error.data.hint.contains(hint),
            "{method} {params}: {}",
            error.data.hint
        );
    }
}
