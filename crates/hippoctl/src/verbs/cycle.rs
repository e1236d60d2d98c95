//! `consolidate`, `history`, `undo`, `heartbeat`: what do the cycles do to the index file?

use hippo_proto::{
    CycleHistoryRequest, CycleHistoryResponse, CycleOutcome, CycleReport, CycleRunRequest, CycleUndoRequest,
    CycleUndoResponse, HeartbeatRequest, HeartbeatResponse,
};

use crate::connect::Session;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::{ConsolidateArgs, HistoryArgs};

/// Runs a cycle, or says what it would do.
///
/// # Errors
/// No workspace, another run is under way, the files may not be written, or the run failed.
pub fn consolidate(session: &mut Session, args: ConsolidateArgs, out: &mut Output) -> Result<(), Failure> {
    let ConsolidateArgs { cycle, dry_run, at } = args;
    let request = CycleRunRequest {
        workspace: session.workspace()?,
        cycle: cycle.into(),
        dry_run,
        at,
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

/// Lists the runs, or shows the report of one.
///
/// # Errors
/// No workspace, or no such run.
pub fn history(session: &mut Session, args: &HistoryArgs, out: &mut Output) -> Result<(), Failure> {
    let request = CycleHistoryRequest {
        workspace: session.workspace()?,
        limit: args.limit,
        run: args.run,
    };
    let answer: CycleHistoryResponse = session.call(request)?;
    if !out.json && args.run.is_none() && answer.runs.is_empty() {
        out.note("no cycle has run yet; see what one would do with: hippoctl consolidate light --dry-run");
    }
    out.answer(&answer, |answer, style| match args.run {
        Some(run) => render::cycle::one(answer, run, style),
        None => render::cycle::history(&answer.runs, style),
    })?;
    match args.run {
        Some(run) if answer.report.is_none() => Err(Failure::new(
            Exit::NotFound,
            format!("no report is kept of run {run}"),
        )
        .hint("the runs are listed by: hippoctl history")),
        _ => Ok(()),
    }
}

/// Takes a run back.
///
/// # Errors
/// No workspace, no such run, or something was changed since that cannot be taken back.
pub fn undo(session: &mut Session, run: i64, out: &mut Output) -> Result<(), Failure> {
    let request = CycleUndoRequest {
        workspace: session.workspace()?,
        run,
    };
    let answer: CycleUndoResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::cycle::undone)
}

/// Runs what is due and shows what waits for the agent.
///
/// # Errors
/// No workspace, or a cycle failed.
pub fn heartbeat(session: &mut Session, out: &mut Output) -> Result<(), Failure> {
    let request = HeartbeatRequest {
        workspace: session.workspace()?,
    };
    let answer: HeartbeatResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::cycle::heartbeat)?;
    ended_well(answer.ran.iter().map(|run| run.outcome))
}

/// Fails without a word where one did not come to its end: what was printed says it.
fn ended_well(outcomes: impl IntoIterator<Item = CycleOutcome>) -> Result<(), Failure> {
    let fails = |outcome| matches!(outcome, CycleOutcome::Failed | CycleOutcome::Interrupted);
    if outcomes.into_iter().any(fails) {
        return Err(Failure::silent(Exit::Failed));
    }
    Ok(())
}
