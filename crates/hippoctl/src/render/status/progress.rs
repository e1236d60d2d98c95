//! Progress of the indexing of a workspace.

use std::fmt::Write as _;
use std::time::Duration;

use hippo_proto::WorkspaceStatus;

use crate::output::Style;
use crate::render::{bar, plural};

/// Width of a bar.
const BAR: usize = 10;

/// Describes how much of a workspace is searchable. `embedded` passages became searchable by meaning within `elapsed`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate"
)]
pub fn progress(workspace: &WorkspaceStatus, embedded: u64, elapsed: Duration) -> String {
    let (files, read) = (workspace.disk.files.max(workspace.documents), workspace.documents);
    let total = workspace.embedded + workspace.pending;
    let mut text = match read < files {
        true => format!("{read} of {} read; ", plural(files, "file")),
        false => format!("{} searchable by keyword; ", plural(files, "file")),
    };
    let _ = write!(
        text,
        "{} of {} searchable by meaning",
        workspace.embedded,
        plural(total, "passage")
    );
    let rate = embedded as f64 / elapsed.as_secs_f64().max(0.001);
    if rate >= 0.5 && workspace.pending > 0 {
        let left = Duration::from_secs((workspace.pending as f64 / rate) as u64 + 1);
        let left = match left.as_secs() {
            seconds @ ..120 => format!("{seconds} s"),
            seconds => format!("{} min", seconds.div_ceil(60)),
        };
        let _ = write!(text, ", {rate:.0}/s, about {left} left");
    }
    text
}

/// Draws the share of a workspace that is searchable by meaning as a bar, and describes it.
pub fn backlog(workspace: &WorkspaceStatus, style: Style) -> String {
    let bar = bar(searchable(workspace), BAR);
    format!("{} {}", style.good(bar), progress(workspace, 0, Duration::ZERO))
}

/// Returns the share of the passages of a workspace that is searchable by meaning.
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub fn searchable(workspace: &WorkspaceStatus) -> f64 {
    match workspace.embedded + workspace.pending {
        0 => 1.0,
        total => workspace.embedded as f64 / total as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plain;
    use super::*;

    #[test]
    fn the_progress_names_what_is_searchable_and_the_time_left() {
        let workspace = |documents, files, embedded, pending| {
            let mut status = plain("/w");
            (status.documents, status.disk.files) = (documents, files);
            (status.embedded, status.pending) = (embedded, pending);
            status
        };
        let text = progress(&workspace(40, 100, 0, 600), 0, Duration::from_secs(3));
        assert_eq!(
            text,
            "40 of 100 files read; 0 of 600 passages searchable by meaning"
        );
        let text = progress(&workspace(100, 100, 300, 600), 200, Duration::from_secs(10));
        let rest = "300 of 900 passages searchable by meaning, 20/s, about 31 s left";
        assert_eq!(text, format!("100 files searchable by keyword; {rest}"));
        let text = progress(&workspace(100, 100, 300, 6_000), 200, Duration::from_secs(10));
        assert!(text.ends_with("20/s, about 6 min left"), "{text}");
        let text = backlog(&workspace(100, 100, 300, 600), Style::default());
        assert!(
            text.starts_with("━━━╌╌╌╌╌╌╌ 100 files searchable by keyword; 300 of 900"),
            "{text}"
        );
        let text = progress(&workspace(1, 1, 1, 0), 0, Duration::from_secs(3));
        assert_eq!(
            text,
            "1 file searchable by keyword; 1 of 1 passage searchable by meaning"
        );
        assert!(!progress(&workspace(100, 100, 900, 0), 600, Duration::from_secs(10)).contains("left"));
    }
}
