//! `status` and `doctor`, `service start` and `service stop`

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{
    AuditRequest, AuditResponse, ClientError, DoctorRequest, DoctorResponse, MetricsRequest, MetricsResponse,
    Severity, ShutdownRequest, ShutdownResponse, StatusRequest, StatusResponse,
};
use serde::Serialize;

use crate::connect::{Session, text};
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::render;
use hippoctl::args::{DoctorArgs, StatusArgs};

/// How long a daemon may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Started {
    started: bool,
    pid: u32,
}

#[derive(Serialize)]
struct Stopped {
    stopped: bool,
    pid: Option<u32>,
}

/// Starts the daemon unless it runs.
///
/// # Errors
/// It could not be started.
pub fn start(session: &Session, out: &mut Output) -> Result<(), Failure> {
    let asked = session.connect_only().and_then(|mut client| {
        client.set_timeout(Some(PATIENCE));
        client.call::<StatusResponse>(&StatusRequest {}.into())
    });
    let answer = match asked {
        Ok(status) => Started {
            started: false,
            pid: status.pid,
        },
        // The last one is gone, or going.
        Err(ClientError::Connect { .. } | ClientError::Unread(_) | ClientError::Closed) => Started {
            started: true,
            pid: launch::launch(&session.paths)?.0,
        },
        Err(error) => return Err(error.into()),
    };
    out.answer(&answer, |answer, _| {
        let what = if answer.started { "started" } else { "runs already" };
        format!("hippod {what} (process {})\n", answer.pid)
    })
}

/// Stops the daemon and waits until it is gone. That none runs is no failure.
///
/// # Errors
/// It refused, or did not end in time.
pub fn stop(session: &Session, out: &mut Output) -> Result<(), Failure> {
    let pid = end(session)?;
    let answer = Stopped {
        stopped: pid.is_some(),
        pid,
    };
    out.answer(&answer, |answer, _| match answer.pid {
        Some(pid) => format!("hippod stopped (process {pid})\n"),
        None => "no daemon runs\n".to_owned(),
    })
}

/// The same without a word; answers which process it was.
///
/// # Errors
/// As [`stop`].
pub fn end(session: &Session) -> Result<Option<u32>, Failure> {
    let ask = || {
        let mut client = session.connect_only()?;
        client.set_timeout(Some(PATIENCE));
        client.call::<ShutdownResponse>(&ShutdownRequest {}.into())
    };
    let asked = match ask() {
        // One that was going already; whether another is there is told by a second try.
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
                let what = format!("a daemon runs (process {pid}), but nothing answers at its socket");
                Err(Failure::new(Exit::Failed, what).hint(format!("end it with: kill {pid}")))
            }
            None => Ok(None),
        },
        Err(error) => Err(error.into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "files of the system")]
fn wait_until_gone(session: &Session, pid: u32) -> Result<(), Failure> {
    let begun = Instant::now();
    // Behind a socket of the service manager, a connection would start the next daemon.
    let tells = Path::new("/proc/self/stat").exists();
    let there = || {
        if tells {
            is_alive(pid)
        } else {
            session.connect_only().is_ok()
        }
    };
    while there() {
        if begun.elapsed() > PATIENCE {
            return Err(
                Failure::new(Exit::Failed, format!("the daemon did not end (process {pid})"))
                    .hint("its log may say why: hippoctl logs"),
            );
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The process that the lock names, while it runs: its socket may have been removed.
#[expect(clippy::disallowed_methods, reason = "files of the system")]
fn unreachable(session: &Session) -> Option<u32> {
    let pid = launch::locked_by(&session.paths)?;
    let name = std::fs::read_to_string(Path::new("/proc").join(format!("{pid}")).join("comm")).ok()?;
    (name.trim() == "hippod" && is_alive(pid)).then_some(pid)
}

/// Whether the process still runs, where the system tells; a zombie does not.
#[expect(clippy::disallowed_methods, reason = "files of the system")]
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| {
        stat.rsplit_once(") ")
            .is_some_and(|(_, state)| !state.starts_with('Z'))
    })
}

/// Shows how the daemon and its workspaces are.
///
/// # Errors
/// No daemon, or no answer.
pub fn status(session: &mut Session, args: &StatusArgs, out: &mut Output) -> Result<(), Failure> {
    if args.metrics {
        let answer: MetricsResponse = session.call(MetricsRequest {})?;
        return out.answer(&answer, |answer, _| answer.text.clone());
    }
    let answer: StatusResponse = session.call(StatusRequest {})?;
    out.answer(&answer, render::status::status)
}

/// Measures memory quality and shows the numbers beside the last ones.
fn audit(session: &mut Session, args: &DoctorArgs, out: &mut Output) -> Result<(), Failure> {
    let request = AuditRequest {
        workspace: session.workspace()?,
        examples: Some(args.examples),
        record: !args.no_record,
    };
    let answer: AuditResponse = session.call_patiently(request, |_| {})?;
    out.answer(&answer, render::audit::audit)
}

/// Names problems with their fixes. Fails when one of them is an error.
///
/// # Errors
/// No daemon, no answer, or an error among the problems.
pub fn doctor(session: &mut Session, args: &DoctorArgs, out: &mut Output) -> Result<(), Failure> {
    if args.audit {
        return audit(session, args, out);
    }
    let workspace = session.given_workspace()?.as_deref().map(text).transpose()?;
    let request = DoctorRequest {
        workspace,
        rebuild: args.rebuild,
        fix: args.fix,
        dry_run: args.dry_run,
    };
    let mut answer: DoctorResponse = session.call_patiently(request, |_| {})?;
    super::service::examine(session, &mut answer);
    let dry_run = args.dry_run;
    out.answer(&answer, |answer, style| {
        render::doctor::doctor(answer, dry_run, style)
    })?;
    if answer
        .problems
        .iter()
        .any(|problem| problem.severity == Severity::Error)
    {
        return Err(Failure::silent(Exit::Failed));
    }
    Ok(())
}
