//! Terminal output of the tasks: lines, durations and progress.

use std::fmt::{Arguments, Display};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two lines of progress, for programs that print none themselves.
const SILENCE: Duration = Duration::from_millis(1900);

/// Writes a line to standard output. A pipe that its reader has closed is not an error.
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

/// Runs a command until it exits. If standard error is not a terminal, programs show no progress, so a line is printed
/// every two seconds.
///
/// # Errors
/// Fails if the command could not be run.
pub fn status(command: &mut Command, what: &str) -> io::Result<ExitStatus> {
    if io::stderr().is_terminal() {
        return command.status();
    }
    let mut child = command.spawn()?;
    let (ended, end) = mpsc::channel::<()>();
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            while end.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                note(format_args!("  {what}: {:.0} s", begun.elapsed().as_secs_f64()));
            }
        });
        let status = child.wait();
        drop(ended);
        status
    })
}
