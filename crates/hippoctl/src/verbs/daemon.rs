//! `status` and `doctor`, `service start` and `service stop`.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{
    AuditRequest, ClientError, DoctorRequest, MetricsRequest, Problem, Severity, ShutdownRequest,
    ShutdownResponse, StatusRequest, StatusResponse,
};
use serde_json::json;

use crate::connect::{DaemonSession, text};
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::render;
use hippoctl::args::{DoctorArgs, StatusArgs};

/// Maximum time for the daemon to shut down.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the daemon unless it is already running.
///
/// # Errors
/// Fails if the daemon could not be started.
pub fn start(session: &DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let asked = session.connect_only().and_then(|mut client| {
        client.set_timeout(Some(PATIENCE));
        client.call::<StatusResponse>(&StatusRequest {}.into())
    });
    let (started, pid) = match asked {
        Ok(status) => (false, status.pid),
        // No daemon is running, or the running daemon is about to exit.
        Err(ClientError::Connect { .. } | ClientError::Unread(_) | ClientError::Closed) => {
            (true, launch::launch(&session.paths)?.0)
        }
        Err(error) => return Err(error.into()),
    };
    let what = if started { "started" } else { "is already running" };
    out.answer(&json!({"started": started, "pid": pid}), |_, _| {
        format!("hippod {what} (process {pid})\n")
    })
}

/// Stops the daemon and waits until it has exited. Succeeds if no daemon is running.
///
/// # Errors
/// Fails if the daemon refuses to exit, or does not exit in time.
pub fn stop(session: &DaemonSession, out: &mut Output) -> Result<(), Failure> {
    let pid = end(session)?;
    let text = match pid {
        Some(pid) => format!("hippod stopped (process {pid})\n"),
        None => "no daemon is running\n".to_owned(),
    };
    out.answer(&json!({"stopped": pid.is_some(), "pid": pid}), |_, _| text)
}

/// Stops the daemon without any output. Returns the process id of the daemon, if a daemon was running.
///
/// # Errors
/// Fails in the same cases as [`stop`].
pub fn end(session: &DaemonSession) -> Result<Option<u32>, Failure> {
    let ask = || {
        let mut client = session.connect_only()?;
        client.set_timeout(Some(PATIENCE));
        client.call::<ShutdownResponse>(&ShutdownRequest {}.into())
    };
    let asked = match ask() {
        // The daemon was already about to exit. A second attempt reaches the next daemon, if one was started.
        Err(ClientError::Unread(_) | ClientError::Closed) => ask(),
        asked => asked,
    };
    match asked {
        Ok(stopping) => {
            wait_until_gone(session, stopping.pid)?;
            Ok(Some(stopping.pid))
        }
        Err(ClientError::Connect { .. }) => match unreachable(session) {
            Some(pid) => {
                let what = format!("a daemon is running (process {pid}), but its socket does not respond");
                Err(Failure::new(Exit::Failed, what).hint(format!("stop the daemon: kill {pid}")))
            }
            None => Ok(None),
        },
        Err(error) => Err(error.into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "system files")]
fn wait_until_gone(session: &DaemonSession, pid: u32) -> Result<(), Failure> {
    let begun = Instant::now();
    // If the service manager owns the socket, a connection would start the next daemon. Therefore, the exit of the
    // daemon is observed in `/proc`, on systems with `/proc`.
    let tells = Path::new("/proc/self/stat").exists();
    let there = || match tells {
        true => is_alive(pid),
        false => session.connect_only().is_ok(),
    };
    while there() {
        if begun.elapsed() > PATIENCE {
            let failure = Failure::new(Exit::Failed, format!("the daemon did not stop (process {pid})"));
            return Err(failure.hint("to see the log of the daemon: hippoctl service logs"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Returns the process id in the daemon's lock file, if a daemon with this id is running. The socket of this daemon may
/// have been removed.
#[expect(clippy::disallowed_methods, reason = "system files")]
fn unreachable(session: &DaemonSession) -> Option<u32> {
    let pid = launch::locked_by(&session.paths)?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    (name.trim() == "hippod" && is_alive(pid)).then_some(pid)
}

/// Returns whether a process runs, on systems with `/proc`. A zombie process does not count as running.
#[expect(clippy::disallowed_methods, reason = "system files")]
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, state)| state);
    state.is_some_and(|state| !state.starts_with('Z'))
}

/// Prints the status of the daemon and its workspaces.
///
/// # Errors
/// Fails if no daemon can be reached, or if no response arrives.
pub fn status(session: &mut DaemonSession, args: &StatusArgs, out: &mut Output) -> Result<(), Failure> {
    if args.metrics {
        return session.show(MetricsRequest {}, out, |answer, _| answer.text.clone());
    }
    let bars = out.on_terminal;
    session.show(StatusRequest {}, out, |answer, style| {
        render::status::status(answer, bars, style)
    })
}

/// Asks the daemon for an audit of the memory, and prints the findings.
fn audit(session: &mut DaemonSession, args: &DoctorArgs, out: &mut Output) -> Result<(), Failure> {
    let request = AuditRequest {
        workspace: session.workspace()?,
        examples: args.examples,
    };
    let all = args.verbose || args.examples.is_some();
    let answer = session.call_patiently(request)?;
    out.answer(&answer, |answer, style| render::audit::audit(answer, all, style))
}

/// Prints the problems that the daemon and `service status` find, with their fixes.
///
/// # Errors
/// Fails if no daemon can be reached, if no response arrives, or if any problem has the severity `error`.
pub fn doctor(session: &mut DaemonSession, args: &DoctorArgs, out: &mut Output) -> Result<(), Failure> {
    if args.audit {
        return audit(session, args, out);
    }
    let workspace = match session.given_workspace()? {
        Some(given) => Some(text(&given)?),
        None if args.all => None,
        // Outside of all workspaces, each workspace is checked.
        None => session.root().ok(),
    };
    let request = DoctorRequest {
        workspace,
        rebuild: args.rebuild,
        fix: args.fix,
        dry_run: args.dry_run,
    };
    let mut answer = super::watched::timed(session, request, "doctor", out)?;
    super::service::examine(session, &mut answer);
    let (all, dry_run) = (args.verbose, args.dry_run);
    out.answer(&answer, |answer, style| {
        render::doctor::doctor(answer, all, dry_run, style)
    })?;
    let is_error = |problem: &Problem| problem.severity == Severity::Error;
    match answer.problems.iter().any(is_error) {
        true => Err(Failure::silent(Exit::Failed)),
        false => Ok(()),
    }
}
