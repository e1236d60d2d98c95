//! Progress of long requests.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{Client, Method, StatusRequest, StatusResponse, WorkspaceStatus};
use indicatif::{ProgressBar, ProgressStyle};

use crate::connect::{DaemonSession, nearest_above};
use crate::failure::Failure;
use crate::output::{Output, ProgressOutput};
use crate::render::status::progress;
use crate::render::{bytes, one_line};

/// The template of the progress bar.
const TEMPLATE: &str = "{msg} {bytes} of {total_bytes} {bytes_per_sec}";

/// Time between two updates of a progress bar.
const OFTEN: Duration = Duration::from_millis(500);
/// Time between two questions about the files that become searchable.
const SOON: Duration = Duration::from_millis(100);
/// Maximum time for which a verb on a terminal shows how files become searchable, after it has done its work.
const AT_MOST: Duration = Duration::from_secs(3);
/// Time between two lines about the progress.
const SELDOM: Duration = Duration::from_secs(10);

/// Sends a request and returns the response. Shows the progress that the daemon reports.
///
/// # Errors
/// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
pub fn watched<M: Method>(
    session: &mut DaemonSession,
    request: M,
    out: &Output,
) -> Result<M::Answer, Failure> {
    let bar = (out.progress == ProgressOutput::Drawn).then(|| {
        let style = ProgressStyle::with_template(TEMPLATE);
        ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    let mut last = Instant::now();
    let answer = session.ask(None, request, |notification| {
        let Some(progress) = notification.progress() else {
            return;
        };
        let what = format!("{} {}", progress.stage, one_line(&progress.item));
        if let Some(bar) = &bar {
            bar.set_message(what);
            bar.set_length(progress.total.unwrap_or(progress.done));
            bar.set_position(progress.done);
        } else if out.progress == ProgressOutput::Lines && last.elapsed() >= SELDOM {
            last = Instant::now();
            let total = progress.total.map(|total| format!(" of {}", bytes(total)));
            let done = bytes(progress.done);
            print_line(&format!("{what} {done}{}", total.unwrap_or_default()));
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(answer??)
}

/// Sends a request that waits until a workspace is searchable, and returns the response. Shows how much of the workspace
/// is searchable.
///
/// # Errors
/// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
pub fn indexed<M: Method>(
    session: &mut DaemonSession,
    request: M,
    out: &Output,
) -> Result<M::Answer, Failure> {
    let (root, other) = (session.workspace()?, session.another());
    let mut first: Option<(Instant, u64)> = None;
    reported(session, request, out.progress, move || {
        // The request itself reports the failure of the daemon.
        let ask = |mut client: Client| client.call::<StatusResponse>(&StatusRequest {}.into());
        let status = other.connect_only().and_then(ask).ok()?;
        let workspace = workspace_at(&status, Path::new(&root))?;
        let (since, before) = *first.get_or_insert((Instant::now(), workspace.embedded));
        let embedded = workspace.embedded.saturating_sub(before);
        Some(progress(workspace, embedded, since.elapsed()))
    })
}

/// Shows how the files of a workspace become searchable by keyword, until all are. On a terminal, returns after
/// [`AT_MOST`] at the latest. Does nothing if progress is not shown.
///
/// # Errors
/// Fails if standard output is closed or full.
pub fn searchable(session: &mut DaemonSession, root: &str, out: &mut Output) -> Result<(), Failure> {
    if out.progress == ProgressOutput::Hidden {
        return Ok(());
    }
    // The answer of the verb is shown first.
    out.finish()?;
    let begun = Instant::now();
    let bar = (out.progress == ProgressOutput::Drawn).then(ProgressBar::new_spinner);
    let (done, is_done) = mpsc::channel::<()>();
    let (mut done, mut line_at, mut last) = (Some(done), begun + SELDOM, None);
    let describe = || {
        // The progress is a service of the verb, which has succeeded already.
        let status = session.call(StatusRequest {}).ok();
        let found = status
            .as_ref()
            .and_then(|status| workspace_at(status, Path::new(root)));
        let is_late = bar.is_some() && begun.elapsed() >= AT_MOST;
        if is_late || found.is_none_or(is_read) {
            done = None;
        }
        let text = progress(found?, 0, begun.elapsed());
        last = Some(text.clone());
        Some(text)
    };
    report(SOON, &is_done, describe, |text| match &bar {
        Some(bar) => {
            bar.set_message(text);
            bar.tick();
        }
        None if Instant::now() >= line_at => {
            line_at += SELDOM;
            print_line(&text);
        }
        None => {}
    });
    bar.iter().for_each(ProgressBar::finish_and_clear);
    if let Some(text) = last {
        out.remark(&format!("note: {text}"));
    }
    Ok(())
}

/// Returns whether all files of a workspace are searchable by keyword.
fn is_read(workspace: &WorkspaceStatus) -> bool {
    workspace.lag_ms == 0 && workspace.degraded.as_deref() != Some("warming")
}

/// Sends a request and returns the response. Shows the time since the request.
///
/// # Errors
/// Fails if no daemon can be reached, if the daemon refuses the request, or if the connection breaks.
pub fn timed<M: Method>(
    session: &mut DaemonSession,
    request: M,
    verb: &'static str,
    out: &Output,
) -> Result<M::Answer, Failure> {
    let begun = Instant::now();
    let describe = move || Some(format!("{verb}: {} s", begun.elapsed().as_secs()));
    reported(session, request, out.progress, describe)
}

/// Sends a request, and shows the progress that `describe` returns until the response arrives.
fn reported<M: Method>(
    session: &mut DaemonSession,
    request: M,
    progress: ProgressOutput,
    describe: impl FnMut() -> Option<String> + Send,
) -> Result<M::Answer, Failure> {
    if progress == ProgressOutput::Hidden {
        return session.call_patiently(request);
    }
    // A daemon that is not running is started once, by this thread.
    session.client()?;
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if progress == ProgressOutput::Lines {
                return report(SELDOM, &is_done, describe, |text| print_line(&text));
            }
            let bar = ProgressBar::new_spinner();
            report(OFTEN, &is_done, describe, |text| {
                bar.set_message(text);
                bar.tick();
            });
            bar.finish_and_clear();
        });
        let answer = session.call_patiently(request);
        drop(done);
        answer
    })
}

/// Shows the progress after each pause until the sender of `is_done` is dropped.
fn report(
    pause: Duration,
    is_done: &mpsc::Receiver<()>,
    mut describe: impl FnMut() -> Option<String>,
    mut show: impl FnMut(String),
) {
    while is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        if let Some(text) = describe() {
            show(text);
        }
    }
}

/// Prints a line to standard error. If standard error is closed, the line is lost.
fn print_line(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Returns the status of the workspace at or nearest above a folder.
pub fn workspace_at<'a>(status: &'a StatusResponse, folder: &Path) -> Option<&'a WorkspaceStatus> {
    let roots = status.workspaces.iter().map(|workspace| workspace.root.as_str());
    let root = nearest_above(folder, roots)?;
    status.workspaces.iter().find(|workspace| workspace.root == root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_until_the_answer_arrives() {
        let (done, is_done) = mpsc::channel::<()>();
        let mut shown = Vec::new();
        let (mut count, mut done) = (0, Some(done));
        let describe = || {
            count += 1;
            if count == 3 {
                done = None;
            }
            // The second attempt finds no status.
            (count != 2).then(|| format!("step {count}"))
        };
        report(Duration::from_millis(1), &is_done, describe, |text| {
            shown.push(text)
        });
        assert_eq!(shown, ["step 1", "step 3"]);
    }
}
