//! `consolidate` and `heartbeat`: maintenance cycles of the index file.

use hippo_proto::{
    Cycle, CycleHistoryRequest, CycleHistoryResponse, CycleOutcome, CycleReport, CycleRunRequest,
    CycleUndoRequest, CycleUndoResponse, HeartbeatRequest, HeartbeatResponse,
};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::{CycleArgs, CycleVerb, HistoryArgs};

/// Runs a cycle, lists past runs, or reverts one.
///
/// # Errors
/// Fails without a workspace, or if the daemon refuses.
pub fn consolidate(session: &mut DaemonSession, verb: CycleVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        CycleVerb::Light(args) => run(session, Cycle::Light, args, out),
        CycleVerb::Deep(args) => run(session, Cycle::Deep, args, out),
        CycleVerb::Archival(args) => run(session, Cycle::Archival, args, out),
        CycleVerb::History(args) => history(session, &args, out),
        CycleVerb::Undo { run } => undo(session, run, out),
    }
}

/// Runs a cycle, or shows its plan. Fails if another run is in progress, if a file is not writable, or if the run
/// fails.
fn run(session: &mut DaemonSession, cycle: Cycle, args: CycleArgs, out: &mut Output) -> Result<(), Failure> {
    let request = CycleRunRequest {
        workspace: session.workspace()?,
        cycle,
        dry_run: args.dry_run,
        at: args.at,
    };
    let answer: CycleReport = session.call_patiently(request, |_| {})?;
    if !out.json {
        for note in render::cycle::notes(&answer) {
            out.note(&note);
        }
    }
    out.answer(&answer, render::cycle::report)?;
    ended_well([answer.outcome])
}

/// Lists the runs, or shows the report of one run.
fn history(session: &mut DaemonSession, args: &HistoryArgs, out: &mut Output) -> Result<(), Failure> {
    let request = CycleHistoryRequest {
        workspace: session.workspace()?,
        limit: args.limit,
        run: args.run,
    };
    let answer: CycleHistoryResponse = session.call(request)?;
    if !out.json && args.run.is_none() && answer.runs.is_empty() {
        out.note("no cycle has run yet; to see what a cycle would do: hippoctl consolidate light --dry-run");
    }
    out.answer(&answer, |answer, style| match args.run {
        Some(run) => render::cycle::one(answer, run, style),
        None => render::cycle::history(&answer.runs, style),
    })?;
    match args.run {
        Some(run) if answer.report.is_none() => {
            Err(Failure::new(Exit::NotFound, format!("no such report: run {run}"))
                .hint("to list the runs: hippoctl consolidate history"))
        }
        _ => Ok(()),
    }
}

/// Reverts a run. Fails if a later change conflicts with this.
fn undo(session: &mut DaemonSession, run: i64, out: &mut Output) -> Result<(), Failure> {
    let request = CycleUndoRequest {
        workspace: session.workspace()?,
        run,
    };
    let answer: CycleUndoResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::cycle::undone)
}

/// Runs the cycles that are due, and shows the work that the agent has to do.
///
/// # Errors
/// Fails without a workspace, or if a cycle failed.
pub fn heartbeat(session: &mut DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let request = HeartbeatRequest {
        workspace: session.workspace()?,
    };
    let answer: HeartbeatResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::cycle::heartbeat)?;
    ended_well(answer.ran.iter().map(|run| run.outcome))
}

/// Fails without a message if a run failed or was interrupted. The output contains the reason already.
fn ended_well(outcomes: impl IntoIterator<Item = CycleOutcome>) -> Result<(), Failure> {
    let fails = |outcome| matches!(outcome, CycleOutcome::Failed | CycleOutcome::Interrupted);
    if outcomes.into_iter().any(fails) {
        return Err(Failure::silent(Exit::Failed));
    }
    Ok(())
}
