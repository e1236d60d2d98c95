//! Progress of long requests on the terminal.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{Client, Method, StatusRequest, StatusResponse, WorkspaceStatus};
use indicatif::{ProgressBar, ProgressStyle};

use crate::connect::{DaemonSession, nearest_above};
use crate::failure::Failure;
use crate::output::Output;
use crate::render::one_line;
use crate::render::status::progress;

/// The template of the progress bar.
const TEMPLATE: &str = "{msg} {bytes} of {total_bytes} {bytes_per_sec}";

/// Time between two updates of a progress bar.
const OFTEN: Duration = Duration::from_millis(500);
/// Time between two lines about the progress.
const SELDOM: Duration = Duration::from_secs(10);

/// Sends a request and returns the response. On a terminal, shows the progress of the request.
///
/// # Errors
/// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
pub fn watched<M: Method>(
    session: &mut DaemonSession,
    request: M,
    out: &Output,
) -> Result<M::Answer, Failure> {
    let bar = out.progress.then(|| {
        let style = ProgressStyle::with_template(TEMPLATE);
        ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    let answer = session.ask(None, request, |notification| {
        if let (Some(bar), Some(progress)) = (&bar, notification.progress()) {
            bar.set_message(format!("{} {}", progress.stage, one_line(&progress.item)));
            bar.set_length(progress.total.unwrap_or(progress.done));
            bar.set_position(progress.done);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(answer??)
}

/// Sends a request that waits until a workspace is searchable, and returns the response. On a terminal, shows how much
/// of the workspace is searchable; with `lines`, prints a line about it every 10 seconds.
///
/// # Errors
/// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
pub fn indexed<M: Method>(
    session: &mut DaemonSession,
    request: M,
    lines: bool,
    out: &mut Output,
) -> Result<M::Answer, Failure> {
    if !lines && !out.progress {
        return session.call_patiently(request);
    }
    // A daemon that is not running is started once, by this thread.
    session.client()?;
    let (root, other) = (session.workspace()?, session.another());
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || report(&other, Path::new(&root), lines, &is_done));
        let answer = session.call_patiently(request);
        drop(done);
        answer
    })
}

/// Reports the progress of a workspace until the sender of `is_done` is dropped.
fn report(session: &DaemonSession, root: &Path, lines: bool, is_done: &mpsc::Receiver<()>) {
    let bar = (!lines).then(ProgressBar::new_spinner);
    let mut first: Option<(Instant, u64)> = None;
    let pause = if lines { SELDOM } else { OFTEN };
    while is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        // The request itself reports the failure of the daemon.
        let ask = |mut client: Client| client.call::<StatusResponse>(&StatusRequest {}.into());
        let Ok(status) = session.connect_only().and_then(ask) else {
            continue;
        };
        let Some(workspace) = workspace_at(&status, root) else {
            continue;
        };
        let (since, before) = *first.get_or_insert((Instant::now(), workspace.embedded));
        let text = progress(
            workspace,
            workspace.embedded.saturating_sub(before),
            since.elapsed(),
        );
        match &bar {
            Some(bar) => {
                bar.set_message(text);
                bar.tick();
            }
            // If standard error is closed, the line is lost.
            None => _ = writeln!(io::stderr(), "{text}"),
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

/// Returns the status of the workspace at or nearest above a folder.
pub fn workspace_at<'a>(status: &'a StatusResponse, folder: &Path) -> Option<&'a WorkspaceStatus> {
    let roots = status.workspaces.iter().map(|workspace| workspace.root.as_str());
    let root = nearest_above(folder, roots)?;
    status.workspaces.iter().find(|workspace| workspace.root == root)
}
