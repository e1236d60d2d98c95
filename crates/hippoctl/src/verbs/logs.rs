//! `service logs`: log of the daemon, from a file or the journal.

use std::fs;
use std::process::Command;

use hippo_proto::log_file::set_aside;

use super::hook;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::service::{Manager, SERVICE_UNIT};
use hippoctl::args::LogsArgs;

/// Prints the last lines of the log, and the path of the log.
///
/// # Errors
/// Fails if the log does not exist or cannot be read.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn logs(session: &DaemonSession, args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let paths = &session.paths;
    let creation = "the daemon creates the log when it starts: hippoctl service start";
    let (log, what, hint) = match args.hooks {
        true => (
            paths.state.join(hook::LOG),
            "log of hooks",
            "no hook has failed so far",
        ),
        false => (paths.log.clone(), "log", creation),
    };
    let unit = launch::locked_by(paths)
        .and_then(|pid| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok())
        .is_some_and(|cgroup| is_of_the_unit(&cgroup));
    // The journal contains the log only if the systemd unit is in use.
    let serves = || {
        Manager::of_this_system() == Ok(Manager::Systemd)
            && Manager::Systemd.ask().is_ok_and(|answer| answer.is_used())
    };
    if !args.hooks && (unit || (!log.exists() && serves())) {
        return journal(args, out);
    }
    if !log.exists() {
        let what = format!("there is no {what} yet; its path will be {}", log.display());
        return Err(Failure::new(Exit::NotFound, what).hint(hint));
    }
    out.note(&format!("reading {}", log.display()));
    let mut text = fs::read(set_aside(&log)).unwrap_or_default();
    text.extend(fs::read(&log).map_err(|error| Failure::file("read the log", &log, error))?);
    out.data(last_lines(&text, args.lines))
}

/// Returns whether a process with these control groups belongs to the systemd unit of hippod.
fn is_of_the_unit(cgroup: &str) -> bool {
    let mut parts = cgroup.lines().flat_map(|line| line.split('/'));
    parts.any(|part| part == SERVICE_UNIT)
}

/// Prints the log of the unit from the journal.
fn journal(args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let mut command = Command::new("journalctl");
    command.args(["--user", "--no-pager", "-u", SERVICE_UNIT, "-n"]);
    command.arg(args.lines.to_string());
    out.note(&format!(
        "reading the journal: journalctl --user -u {SERVICE_UNIT}"
    ));
    match command.status() {
        Ok(ended) if ended.success() => Ok(()),
        Ok(_) => Err(Failure::silent(Exit::Failed)),
        Err(error) => {
            let what = format!("could not read the journal: {error}");
            Err(Failure::new(Exit::Failed, what))
        }
    }
}

/// Returns the last lines of a text.
fn last_lines(text: &[u8], count: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match count.checked_sub(1) {
        None => &[],
        Some(before) => &text[ends.nth(before).map_or(0, |(at, _)| at + 1)..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_printed() {
        let text = b"a\nb\nc\n";
        for (count, expected) in [
            (0, ""),
            (1, "c\n"),
            (2, "b\nc\n"),
            (3, "a\nb\nc\n"),
            (9, "a\nb\nc\n"),
        ] {
            assert_eq!(last_lines(text, count), expected.as_bytes(), "{count}");
        }
        assert_eq!(last_lines(b"", 5), b"");
        assert_eq!(last_lines(b"a\nb", 1), b"b");
    }

    #[test]
    fn the_unit_is_recognised_by_its_control_group() {
        let ours = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/hippod.service\n";
        assert!(is_of_the_unit(ours));
        for other in [
            "0::/user.slice/user-1000.slice/session-2.scope\n",
            "0::/user.slice/app.slice/not-hippod.service\n",
            "",
        ] {
            assert!(!is_of_the_unit(other), "{other}");
        }
    }
}
