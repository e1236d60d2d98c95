//! Answers of `metrics`, `doctor` and `audit`.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use std::fmt::Debug;

use hippo_proto::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(json: &str, shape: &T) {
    assert_eq!(serde_json::to_string(shape).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), shape);
}

fn read(method: &str, params: &str) -> Result<Request, RpcError> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    match parse_request(line.as_bytes()) {
        Ok(call) => Ok(call.request),
        Err(refusal) => Err(refusal.outcome.unwrap_err()),
    }
}

#[test]
fn the_metrics_answer_keeps_its_names() {
    answer(r#"{"text":"x 1\n"}"#, &MetricsResponse { text: "x 1\n".into() });
    assert_eq!(read("metrics", "{}"), Ok(Request::Metrics(MetricsRequest {})));
}

#[test]
fn the_answer_of_a_doctor_with_fixes_keeps_its_names() {
    let problem = Problem {
        id: "leftover".into(),
        severity: Severity::Info,
        what: "w".into(),
        where_: "/s".into(),
        fix: "f".into(),
        fixable: true,
    };
    let fixed = |failed: Option<&str>| Fixed {
        id: "leftover".into(),
        where_: "/s".into(),
        what: "remove the file".into(),
        failed: failed.map(str::to_owned),
    };
    answer(
        r#"{"problems":[{"id":"leftover","severity":"info","what":"w","where":"/s","fix":"f","fixable":true}],"checks":[],"fixed":[{"id":"leftover","where":"/s","what":"remove the file"},{"id":"leftover","where":"/s","what":"remove the file","failed":"no"}]}"#,
        &DoctorResponse {
            problems: vec![problem],
            checks: vec![],
            fixed: vec![fixed(None), fixed(Some("no"))],
        },
    );
    let both = DoctorRequest {
        fix: true,
        dry_run: true,
        ..DoctorRequest::default()
    };
    assert_eq!(read("doctor", r#"{"fix":true,"dry_run":true}"#), Ok(both.into()));
    let refusal = read("doctor", r#"{"dry_run":true}"#).unwrap_err();
    assert!(refusal.message.contains("dry_run"), "{refusal}");
}

#[test]
fn the_audit_answer_keeps_its_names() {
    answer(
        r#"{"at":"2026-03-02T10:00:00Z","files":3,"unread":1,"findings":[{"kind":"secret-bearing","count":1,"of":4,"share":0.25,"examples":[{"path":"a.md","line":7,"why":"password","quotes":["a door"]},{"path":"entry","why":"x"}]}],"took_ms":1.5}"#,
        &AuditResponse {
            at: "2026-03-02T10:00:00Z".into(),
            files: 3,
            unread: 1,
            findings: vec![AuditFinding {
                kind: AuditKind::SecretBearing,
                count: 1,
                of: 4,
                share: 0.25,
                examples: vec![
                    AuditExample {
                        path: "a.md".into(),
                        line: Some(7),
                        why: "password".into(),
                        quotes: vec!["a door".into()],
                    },
                    AuditExample {
                        path: "entry".into(),
                        line: None,
                        why: "x".into(),
                        quotes: vec![],
                    },
                ],
            }],
            took_ms: 1.5,
        },
    );
    let kinds = [
        AuditKind::Duplicate,
        AuditKind::Stale,
        AuditKind::Contradicted,
        AuditKind::SecretBearing,
        AuditKind::InstructionLike,
    ];
    assert_eq!(
        serde_json::to_string(&kinds).unwrap(),
        r#"["duplicate","stale","contradicted","secret-bearing","instruction-like"]"#
    );
    let alone = AuditRequest {
        workspace: "/w".into(),
        examples: None,
    };
    assert_eq!(read("audit", r#"{"workspace":"/w"}"#), Ok(alone.into()));
    assert!(read("audit", r#"{"workspace":"/w","examples":101}"#).is_err());
}
