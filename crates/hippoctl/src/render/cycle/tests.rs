//! Tests of the rendering of runs, with and without colour.

use std::collections::BTreeMap;

use hippo_proto::{Cycle, CycleFinding, CycleRefusal, CycleStep, Pending};

use super::*;

const PLAIN: Style = Style { colour: false };

fn counts(counts: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let owned = counts.iter().map(|(name, count)| ((*name).to_owned(), *count));
    owned.collect()
}

fn ids_of(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn deep() -> CycleReport {
    let step = |rule: &str, entries: &[&str], what: &str| CycleStep {
        rule: rule.into(),
        entries: ids_of(entries),
        what: what.into(),
    };
    CycleReport {
        run: Some(12),
        cycle: Cycle::Deep,
        at: "2026-03-01T02:30:00Z".into(),
        outcome: CycleOutcome::Capped,
        plan: vec![
            step("merge", &["acme", "acme-2"], "acme-2 into acme"),
            step("prune", &["old"], "to the archive: strength 0.04"),
            step(
                "quick-access",
                &["a", "b", "c", "d", "e"],
                "the five accessed most",
            ),
        ],
        applied: 3,
        refused: vec![CycleRefusal {
            rule: "loss-cap".into(),
            entries: ids_of(&["older"]),
            reason: "one run may demote 25 % of the live entries".into(),
        }],
        findings: vec![CycleFinding {
            rule: "pointer".into(),
            entry: "crane".into(),
            what: "gone\x1b[2J.md is\nnot there".into(),
        }],
        health: None,
        files: ids_of(&["HIPPOCAMPUS.md", ".hippocampus/meta.json"]),
        tree: None,
        notes: vec!["the model is absent: near-duplicates are told by words".into()],
        took_ms: 12.4,
    }
}

fn dry() -> CycleReport {
    CycleReport {
        run: None,
        cycle: Cycle::Archival,
        outcome: CycleOutcome::Planned,
        plan: deep().plan[1..2].to_vec(),
        applied: 0,
        refused: vec![],
        findings: vec![],
        health: Some(IndexHealth {
            live: 30,
            queued: 4,
            archived: 6,
            amygdala: 2,
            unlinked: 9,
            mean_strength: 0.512,
            bands: counts(&[("moderate", 20), ("strong", 10), ("weak", 0)]),
            groups: counts(&[("Projects", 12), ("Reference", 18)]),
        }),
        files: vec![],
        tree: None,
        notes: vec![],
        ..deep()
    }
}

fn runs() -> Vec<CycleRun> {
    let deep = CycleRun {
        run: 12,
        cycle: Cycle::Deep,
        started: "2026-03-01T02:30:00Z".into(),
        finished: Some("2026-03-01T02:30:01Z".into()),
        outcome: CycleOutcome::Capped,
        planned: 3,
        done: 3,
        demoted: 1,
        undone: Some("2026-03-01T08:00:00Z".into()),
    };
    let light = CycleRun {
        run: 9,
        cycle: Cycle::Light,
        started: "2026-03-01T01:30:00Z".into(),
        outcome: CycleOutcome::Done,
        planned: 1,
        done: 1,
        demoted: 0,
        undone: None,
        ..deep.clone()
    };
    let cut = CycleRun {
        run: 8,
        outcome: CycleOutcome::Interrupted,
        planned: 110,
        done: 42,
        ..light.clone()
    };
    vec![deep, light, cut]
}

#[test]
fn a_run_is_rendered_with_and_without_colour() {
    insta::assert_snapshot!(report(&deep(), false, PLAIN));
    let colour = report(&deep(), false, Style { colour: true });
    insta::assert_snapshot!(colour.replace('\x1b', "^"));
}

#[test]
fn a_dry_run_shows_the_health_of_the_index() {
    insta::assert_snapshot!(report(&dry(), false, PLAIN));
}

#[test]
fn notes_of_a_run_are_rendered() {
    insta::assert_snapshot!(notes(&deep()).join("\n"));
    assert_eq!(notes(&dry()), [""; 0]);
    let failed = CycleReport {
        outcome: CycleOutcome::Failed,
        ..dry()
    };
    assert_eq!(
        notes(&failed),
        ["note: to see the reason in the log of the daemon: hippoctl service logs"]
    );
}

#[test]
fn a_run_without_work_is_rendered_in_one_line() {
    let idle = CycleReport {
        plan: vec![],
        applied: 0,
        refused: vec![],
        findings: vec![],
        files: vec![],
        outcome: CycleOutcome::Done,
        ..deep()
    };
    assert_eq!(
        report(&idle, false, PLAIN),
        "run 12: deep, done; 0 of 0 steps, 12 ms\n"
    );
}

#[test]
fn runs_are_listed_and_one_is_shown() {
    insta::assert_snapshot!(history(&runs(), PLAIN));
    let colour = history(&runs(), Style { colour: true });
    insta::assert_snapshot!(colour.replace('\x1b', "^"));
    let answer = CycleHistoryResponse {
        runs: runs(),
        report: Some(CycleReport {
            plan: deep().plan[..1].to_vec(),
            applied: 1,
            refused: vec![],
            findings: vec![],
            ..deep()
        }),
    };
    insta::assert_snapshot!(one(&answer, 12, PLAIN));
    let older = CycleHistoryResponse {
        runs: runs()[1..].to_vec(),
        ..answer.clone()
    };
    let text = one(&older, 12, PLAIN);
    assert!(
        text.ends_with("\nundo it with: hippoctl consolidate undo 12\n"),
        "{text}"
    );
    let without = CycleHistoryResponse {
        report: None,
        ..answer
    };
    assert_eq!(one(&without, 12, PLAIN), "");
}

#[test]
fn an_undo_is_rendered() {
    let undone = |undone| CycleUndoResponse {
        undone_before: undone == 0,
        run: 12,
        undone,
        files: ids_of(&["HIPPOCAMPUS.md"]),
        notes: ids_of(&["kept: tides"]),
    };
    assert_eq!(
        super::undone(&undone(2), PLAIN),
        "undid run 12: 2 changes\nwrote HIPPOCAMPUS.md\nnote: kept: tides\n"
    );
    assert_eq!(
        super::undone(&undone(0), PLAIN),
        "run 12 was already undone; nothing was changed\n"
    );
}

#[test]
fn a_heartbeat_is_rendered_with_and_without_work() {
    let next = |cycle, at: &str| NextCycle {
        cycle,
        at: at.to_owned(),
    };
    let answer = HeartbeatResponse {
        ran: runs()[1..].to_vec(),
        pending: vec![
            Pending {
                kind: "removals-held".into(),
                text:
                    "40 entries are gone from HIPPOCAMPUS.md; accept with: hippoctl sync --accept-deletions"
                        .into(),
                paths: ids_of(&["HIPPOCAMPUS.md"]),
            },
            Pending {
                kind: "conflict".into(),
                text: "the summary of deploys: the database had \"never on Fridays\"".into(),
                paths: ids_of(&["memory/2026-01-10.md", "memory/2026-02-01.md"]),
            },
        ],
        next: vec![
            next(Cycle::Light, "2026-03-01T03:30:00Z"),
            next(Cycle::Deep, "2026-03-02T02:30:00Z"),
        ],
    };
    insta::assert_snapshot!(heartbeat(&answer, PLAIN));
    let colour = heartbeat(&answer, Style { colour: true });
    insta::assert_snapshot!(colour.replace('\x1b', "^"));
    let idle = HeartbeatResponse {
        ran: vec![],
        pending: vec![],
        next: vec![],
    };
    assert_eq!(
        heartbeat(&idle, PLAIN),
        "ran      nothing: no cycle was due\npending  nothing\n"
    );
}

#[test]
fn only_the_first_steps_of_a_rule_are_shown_unless_all_are_requested() {
    let step = |number: usize| CycleStep {
        rule: "replay".into(),
        entries: ids_of(&[&format!("e{number}")]),
        what: "reviewed".into(),
    };
    let many = |count| CycleReport {
        plan: (0..count).map(step).collect(),
        ..deep()
    };
    let lines = |count, all| {
        let text = report(&many(count), all, PLAIN);
        text.lines()
            .filter(|line| line.contains("replay"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(4, false).len(), 4);
    let shown = lines(90, false);
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(
        shown[3].contains("and 87 more") && shown[3].contains("--verbose"),
        "{shown:?}"
    );
    assert_eq!(lines(90, true).len(), 90);
}

#[test]
fn many_refused_steps_of_a_rule_are_one_line_unless_all_are_requested() {
    let refusal = |number: usize| CycleRefusal {
        rule: "value-conflict".into(),
        entries: ids_of(&[&format!("e{number}"), &format!("f{number}")]),
        reason: "not merged: different numbers".into(),
    };
    let lines = |count, all| {
        let many = CycleReport {
            refused: (0..count).map(refusal).collect(),
            ..deep()
        };
        let text = report(&many, all, PLAIN);
        let lines = text.lines().filter(|line| line.contains("value-conflict"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(4, false).len(), 4);
    let shown = lines(102, false);
    assert!(
        shown.len() == 1 && shown[0].contains("102 times") && shown[0].contains("--verbose"),
        "{shown:?}"
    );
    assert_eq!(lines(102, true).len(), 102);
}
