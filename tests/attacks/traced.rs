//! Daemons under `strace`, for recording and fault injection.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hippod_tests::{PATIENCE, program};

use crate::wire::pause;

/// Returns `true` if `strace` works. Otherwise, reports on standard error that the attack is skipped.
pub fn is_possible(attack: &str) -> bool {
    let tried = Command::new("strace")
        .args(["-D", "-f", "--seccomp-bpf", "-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let works = tried.is_ok_and(|status| status.success());
    if !works {
        use std::io::Write as _;
        let why = "it needs Linux and strace (Debian: apt install strace)";
        let _ = writeln!(std::io::stderr(), "the attack {attack} is left out: {why}");
    }
    works
}

/// Returns a command that starts a daemon under `strace` with additional options. The started process is the daemon.
/// `strace` writes its output to `record`.
pub fn command(record: &Path, options: &[String]) -> Command {
    let mut command = Command::new("strace");
    command
        .args(["-D", "-f", "--seccomp-bpf", "-q", "-o"])
        .arg(record)
        .args(options)
        .arg(program())
        .arg("run");
    command
}

/// Returns the complete `strace` output for a daemon that has exited.
///
/// # Panics
/// Panics if the output does not contain the exit of the daemon in time.
pub fn record_of(path: &Path, pid: u32) -> String {
    let deadline = Instant::now() + PATIENCE;
    // `strace` prints the name of a thread after the id of the thread, or omits the name.
    let ends = [format!("\n{pid} "), format!("\n{pid}<")];
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let last = ends.iter().filter_map(|end| text.rfind(end)).max();
        let last = last.map_or("", |at| &text[at..]);
        if last.contains("+++ ") {
            return text;
        }
        assert!(Instant::now() < deadline, "no end in the record: {last:.200}");
        pause(Duration::from_millis(5));
    }
}
