//! Progress of long requests on the terminal.

use hippo_proto::{Progress, Request};
use indicatif::{ProgressBar, ProgressStyle};
use serde::de::DeserializeOwned;

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;

/// The template for progress in bytes.
pub const BYTES: &str = "{msg} {bytes} {bytes_per_sec}";

/// Sends a request and shows its progress on a terminal.
///
/// # Errors
/// Fails without a daemon, if the daemon refuses, or if the connection breaks.
pub fn watched<R: DeserializeOwned>(
    session: &mut DaemonSession,
    request: impl Into<Request>,
    out: &Output,
    template: &str,
) -> Result<R, Failure> {
    let bar = out.progress.then(|| {
        let style = ProgressStyle::with_template(template);
        ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    let answer = session.call_patiently(request, |notification| {
        if let (Some(bar), Some(progress)) = (&bar, notification.progress()) {
            bar.set_message(describe_progress(&progress));
            bar.set_position(progress.done);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    answer
}

fn describe_progress(progress: &Progress) -> String {
    let said = format!("{} {}", progress.stage, render::one_line(&progress.item));
    match progress.total {
        Some(total) => format!("{said} {} of {total}", progress.done),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use hippo_proto::Id;

    use super::*;

    #[test]
    fn progress_shows_the_total_if_it_is_known() {
        let mut progress = Progress {
            id: Id::from(1),
            stage: "write".into(),
            item: "memory/\n2026-03-02.md".into(),
            done: 3,
            total: Some(7),
        };
        assert_eq!(describe_progress(&progress), "write memory/ 2026-03-02.md 3 of 7");
        progress.total = None;
        assert_eq!(describe_progress(&progress), "write memory/ 2026-03-02.md");
    }
}
