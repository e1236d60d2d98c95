//! Tests of the requests of `consolidate` and `heartbeat`.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

mod scripted;

use std::path::Path;

use hippo_proto::{
    Call, Cycle, CycleHistoryRequest, CycleHistoryResponse, CycleOutcome, CycleReport, CycleRun,
    CycleRunRequest, CycleStep, CycleUndoRequest, CycleUndoResponse, ErrorKind, HeartbeatRequest,
    HeartbeatResponse, NextCycle, Pending, Request, RpcError, encode_error, encode_result,
};
use scripted::{Daemon, command, hippoctl, out};

const WORKSPACE: &str = "/w";

fn report(run: Option<i64>, outcome: CycleOutcome) -> CycleReport {
    CycleReport {
        run,
        cycle: Cycle::Deep,
        at: "2026-03-01T02:30:00Z".into(),
        outcome,
        plan: vec![CycleStep {
            rule: "prune".into(),
            entries: vec!["old".into()],
            what: "to the archive".into(),
        }],
        applied: u64::from(run.is_some()),
        refused: vec![],
        findings: vec![],
        health: None,
        files: vec![],
        tree: None,
        notes: vec!["tokens are bytes/4".into()],
        took_ms: 3.0,
    }
}

fn short(outcome: CycleOutcome) -> CycleRun {
    CycleRun {
        run: 12,
        cycle: Cycle::Deep,
        started: "2026-03-01T02:30:00Z".into(),
        finished: None,
        outcome,
        planned: 1,
        done: 1,
        demoted: 1,
        undone: None,
    }
}

fn beat(outcome: CycleOutcome) -> HeartbeatResponse {
    HeartbeatResponse {
        ran: vec![short(outcome)],
        pending: vec![Pending {
            kind: "orphan".into(),
            text: "nothing leads to crane".into(),
            paths: vec!["HIPPOCAMPUS.md".into()],
        }],
        next: vec![NextCycle {
            cycle: Cycle::Light,
            at: "2026-03-01T03:30:00Z".into(),
        }],
    }
}

fn conflict() -> RpcError {
    RpcError::new(ErrorKind::Conflict, "a cycle runs already").hint("try again when it is done")
}

/// Returns the answer of a daemon that has the runs 12 and 13, and the stored report of run 12.
fn answer(call: &Call) -> Vec<u8> {
    let id = &call.id;
    match &call.request {
        Request::CycleRun(request) => match request.cycle {
            Cycle::Light => encode_error(id, &conflict()),
            Cycle::Deep if request.dry_run => encode_result(id, &report(None, CycleOutcome::Planned)),
            Cycle::Deep => encode_result(id, &report(Some(12), CycleOutcome::Done)),
            Cycle::Archival => encode_result(id, &report(Some(12), CycleOutcome::Failed)),
        },
        Request::CycleHistory(request) => encode_result(
            id,
            &CycleHistoryResponse {
                runs: vec![short(CycleOutcome::Done)],
                report: (request.run == Some(12)).then(|| report(Some(12), CycleOutcome::Done)),
            },
        ),
        Request::CycleUndo(request) if request.run == 12 => encode_result(
            id,
            &CycleUndoResponse {
                undone_before: false,
                run: 12,
                undone: 1,
                files: vec!["HIPPOCAMPUS.md".into()],
                notes: Vec::new(),
            },
        ),
        Request::Heartbeat(_) => encode_result(id, &beat(CycleOutcome::Done)),
        _ => encode_error(
            id,
            &RpcError::not_found("there is no such run").hint("look: hippoctl consolidate history"),
        ),
    }
}

/// Runs the client in a workspace. Returns the exit code, standard output, standard error, and the request.
fn run_with(
    answer: impl Fn(&Call) -> Vec<u8> + Send + 'static,
    arguments: &[&str],
) -> ((i32, String, String), Request) {
    let daemon = Daemon::start(answer);
    let arguments = [&["--workspace", WORKSPACE][..], arguments].concat();
    let ended = out(&daemon.run(Path::new("/"), &arguments));
    (ended, daemon.requests.recv().unwrap())
}

fn run(arguments: &[&str]) -> ((i32, String, String), Request) {
    run_with(answer, arguments)
}

fn ended(code: i32, stdout: &str, stderr: &str) -> (i32, String, String) {
    (code, stdout.to_owned(), stderr.to_owned())
}

#[test]
fn a_cycle_runs_or_shows_its_plan() {
    let (done, asked) = run(&["consolidate", "deep"]);
    let stdout = "run 12: deep, done; 1 of 1 step, 3 ms\nundo it with: hippoctl consolidate undo 12\n   prune  old  to the archive\n";
    assert_eq!(done, ended(0, stdout, "note: tokens are bytes/4\n"));
    let request = CycleRunRequest {
        workspace: WORKSPACE.into(),
        cycle: Cycle::Deep,
        dry_run: false,
        at: None,
    };
    assert_eq!(asked, Request::from(request.clone()));

    let ((code, stdout, _), asked) = run(&["consolidate", "deep", "--dry-run", "--at", "2026-03-01"]);
    assert_eq!(code, 0);
    assert!(
        stdout.starts_with("dry run: deep as of 2026-03-01T02:30:00Z; 1 step, 3 ms; nothing was changed\n"),
        "{stdout}"
    );
    let request = CycleRunRequest {
        dry_run: true,
        at: Some("2026-03-01".into()),
        ..request
    };
    assert_eq!(asked, Request::from(request));
}

#[test]
fn a_failed_run_exits_with_1_and_a_refused_run_with_5() {
    let ((code, stdout, stderr), _) = run(&["consolidate", "archival"]);
    assert_eq!((code, stderr.as_str()), (1, "note: tokens are bytes/4\n"));
    assert!(
        stdout.starts_with("run 12: deep, failed; 1 of 1 step"),
        "{stdout}"
    );
    let (done, _) = run(&["consolidate", "light"]);
    let stderr = "hippoctl: a cycle runs already\nhint: try again when it is done\n";
    assert_eq!(done, ended(5, "", stderr));
    let read_only = |call: &Call| {
        encode_error(
            &call.id,
            &RpcError::new(ErrorKind::ReadOnly, "could not write: /w"),
        )
    };
    let ((code, ..), _) = run_with(read_only, &["consolidate", "undo", "12"]);
    assert_eq!(code, 5);
}

#[test]
fn runs_are_listed_and_one_is_shown_in_full() {
    let (done, asked) = run(&["consolidate", "history", "-n", "3"]);
    let stdout = "12  deep  2026-03-01T02:30:00Z  done  1 of 1 step  1 demoted\n";
    assert_eq!(done, ended(0, stdout, ""));
    let request = CycleHistoryRequest {
        workspace: WORKSPACE.into(),
        limit: Some(3),
        run: None,
    };
    assert_eq!(asked, Request::from(request.clone()));

    let ((code, stdout, _), asked) = run(&["consolidate", "history", "--run", "12"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("\nstarted 2026-03-01T02:30:00Z\n"), "{stdout}");
    let request = CycleHistoryRequest {
        limit: None,
        run: Some(12),
        ..request
    };
    assert_eq!(asked, Request::from(request));

    let (done, _) = run(&["consolidate", "history", "--run", "7"]);
    let stderr =
        "hippoctl: there is no report of run 7\nhint: to list the runs: hippoctl consolidate history\n";
    assert_eq!(done, ended(4, "", stderr));

    let none = |call: &Call| {
        let runs = CycleHistoryResponse {
            runs: vec![],
            report: None,
        };
        encode_result(&call.id, &runs)
    };
    let ((code, stdout, stderr), _) = run_with(none, &["consolidate", "history"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.starts_with("no cycle has run yet; "), "{stderr}");
}

#[test]
fn a_run_is_undone_and_an_unknown_run_exits_with_4() {
    let (done, asked) = run(&["consolidate", "undo", "12"]);
    assert_eq!(
        done,
        ended(0, "undid run 12: 1 change\nwrote HIPPOCAMPUS.md\n", "")
    );
    let request = CycleUndoRequest {
        workspace: WORKSPACE.into(),
        run: 12,
    };
    assert_eq!(asked, Request::from(request));
    let (done, _) = run(&["consolidate", "undo", "7"]);
    let stderr = "hippoctl: there is no such run\nhint: look: hippoctl consolidate history\n";
    assert_eq!(done, ended(4, "", stderr));
}

#[test]
fn a_heartbeat_lists_past_pending_and_next_work() {
    let (done, asked) = run(&["heartbeat"]);
    let stdout = "ran      run 12: deep, done; 1 of 1 step\npending  orphan: nothing leads to crane\n         → HIPPOCAMPUS.md\nnext     light 2026-03-01T03:30:00Z\n";
    assert_eq!(done, ended(0, stdout, ""));
    let request = HeartbeatRequest {
        workspace: WORKSPACE.into(),
    };
    assert_eq!(asked, Request::from(request));
    let failed = |call: &Call| encode_result(&call.id, &beat(CycleOutcome::Failed));
    let ((code, stdout, stderr), _) = run_with(failed, &["heartbeat"]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    assert!(stdout.contains("\nnext "), "{stdout}");
}

#[test]
fn json_answers_have_one_line() {
    fn json<T: serde::de::DeserializeOwned>(arguments: &[&str]) -> T {
        let ((code, stdout, stderr), _) = run(&[&["--json"][..], arguments].concat());
        assert_eq!((code, stdout.lines().count(), stderr.as_str()), (0, 1, ""));
        serde_json::from_str(&stdout).unwrap()
    }
    let run: CycleReport = json(&["consolidate", "deep"]);
    assert_eq!(run, report(Some(12), CycleOutcome::Done));
    let history: CycleHistoryResponse = json(&["consolidate", "history", "--run", "12"]);
    assert_eq!(history.report, Some(run));
    let undone: CycleUndoResponse = json(&["consolidate", "undo", "12"]);
    assert_eq!(undone.undone, 1);
    let heard: HeartbeatResponse = json(&["heartbeat"]);
    assert_eq!(heard, beat(CycleOutcome::Done));
}

#[test]
fn wrong_usage_exits_with_2_without_a_request() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &["consolidate", "dep"][..],
        &["consolidate", "undo", "last"],
        &["consolidate", "history", "--run"],
    ] {
        let (code, stdout, _) = out(&hippoctl(home.path(), home.path(), arguments));
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}");
    }
    let help = command(home.path(), home.path(), &["consolidate", "--help"])
        .output()
        .unwrap();
    let (code, stdout, _) = out(&help);
    assert_eq!(code, 0);
    let stdout = stdout.replace('\n', " ");
    for word in [
        "light",
        "deep",
        "archival",
        "--dry-run",
        "hippoctl consolidate undo RUN",
    ] {
        assert!(stdout.contains(word), "{word}: {stdout}");
    }
}
