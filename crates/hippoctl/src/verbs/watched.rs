//! Progress of long requests on the terminal.

use hippo_proto::Method;
use indicatif::{ProgressBar, ProgressStyle};

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::one_line;

/// The template of the progress bar.
const TEMPLATE: &str = "{msg} {bytes} of {total_bytes} {bytes_per_sec}";

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
