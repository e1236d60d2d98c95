//! `consolidate` and `heartbeat`: maintenance cycles of the index file.

use hippo_proto::{
    Cycle, CycleHistoryRequest, CycleOutcome, CycleRunRequest, CycleUndoRequest, HeartbeatRequest,
};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::cycle as render;
use hippoctl::args::{CycleArgs, CycleVerb, HistoryArgs};

/// Runs a cycle, lists past runs, or reverts a run.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon refuses the request.
pub fn consolidate(session: &mut DaemonSession, verb: CycleVerb, out: &mut Output) -> Result<(), Failure> {
    match verb {
        CycleVerb::Light(args) => run(session, Cycle::Light, args, out),
        CycleVerb::Deep(args) => run(session, Cycle::Deep, args, out),
        CycleVerb::Archival(args) => run(session, Cycle::Archival, args, out),
        CycleVerb::History(args) => history(session, &args, out),
        CycleVerb::Undo { run } => {
            let workspace = session.workspace()?;
            let answer = session.call_patiently(CycleUndoRequest { workspace, run })?;
            out.answer(&answer, render::undone)
        }
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
    let answer = session.call_patiently(request)?;
    for note in render::notes(&answer) {
        out.remark(&note);
    }
    out.answer(&answer, |answer, style| {
        render::report(answer, args.verbose, style)
    })?;
    ended_well([answer.outcome])
}

/// Lists the runs, or shows the report of one run.
fn history(session: &mut DaemonSession, args: &HistoryArgs, out: &mut Output) -> Result<(), Failure> {
    let request = CycleHistoryRequest {
        workspace: session.workspace()?,
        limit: args.limit,
        run: args.run,
    };
    let answer = session.call(request)?;
    if args.run.is_none() && answer.runs.is_empty() {
        let how = "to see what a cycle would do: hippoctl consolidate light --dry-run";
        out.remark(&format!("no cycle has run yet; {how}"));
    }
    out.answer(&answer, |answer, style| match args.run {
        Some(run) => render::one(answer, run, style),
        None => render::history(&answer.runs, style),
    })?;
    match args.run {
        Some(run) if answer.report.is_none() => {
            let failure = Failure::new(Exit::NotFound, format!("there is no report of run {run}"));
            Err(failure.hint("to list the runs: hippoctl consolidate history"))
        }
        _ => Ok(()),
    }
}

/// Runs the cycles that are due, and shows the pending work of the agent.
///
/// # Errors
/// Fails if no workspace is found, or if a cycle failed.
pub fn heartbeat(session: &mut DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    let answer = session.call_patiently(HeartbeatRequest { workspace })?;
    out.answer(&answer, render::heartbeat)?;
    ended_well(answer.ran.iter().map(|run| run.outcome))
}

/// Fails without a message if a run failed or was interrupted. The output already contains the reason.
fn ended_well(outcomes: impl IntoIterator<Item = CycleOutcome>) -> Result<(), Failure> {
    let fails = |outcome| matches!(outcome, CycleOutcome::Failed | CycleOutcome::Interrupted);
    if outcomes.into_iter().any(fails) {
        return Err(Failure::silent(Exit::Failed));
    }
    Ok(())
}
