//! Output of tasks: plain lines, and progress bars on terminals.

use std::fmt::{Arguments, Display};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use hippo_embed::acquire::{PullProgress, PullStep};
use indicatif::{ProgressBar, ProgressStyle};

/// Writes a line to standard output. A closed output is not an error.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Writes a line to standard error.
pub fn note(line: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Formats a duration: `2 min 5 s`, `3.4 s`, `12 ms`, `0.8 ms`.
pub fn duration(time: Duration) -> impl Display {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s >= 60.0 => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 0.01 => format!("{:.0} ms", s * 1e3),
        s => format!("{:.1} ms", s * 1e3),
    }
}

/// Progress of an installation. It is shown as a bar on a terminal, otherwise as one line for each step.
pub struct Meter {
    bar: Option<ProgressBar>,
    current: Option<(String, PullStep)>,
}

impl Meter {
    /// Creates a meter with a bar if standard error is a terminal.
    pub fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = "{msg:36} {bar:30} {bytes:>10} of {total_bytes:<10} {eta:>4}";
            let bar = ProgressBar::new(0);
            // The template is constant and valid. With an invalid template, the default bar would be used.
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        Self { bar, current: None }
    }

    /// Shows a progress report.
    pub fn show(&mut self, progress: PullProgress<'_>) {
        let PullProgress {
            artifact,
            step,
            done,
            total,
        } = progress;
        let new = self
            .current
            .as_ref()
            .is_none_or(|(known, at)| known != artifact || *at != step);
        if new {
            self.current = Some((artifact.to_owned(), step));
        }
        let line = format!("{} {artifact}", step.name());
        match (&self.bar, step) {
            (Some(bar), PullStep::Done) => {
                let line = format!("  {line}");
                bar.suspend(|| note(format_args!("{line}")));
            }
            (Some(bar), _) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(line);
            }
            (None, PullStep::Done) => note(format_args!("  {line}")),
            (None, _) if new => note(format_args!("  {line} ({:.1} MB)", total as f64 / 1e6)),
            (None, _) => {}
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
