//! `logs`: daemon log, from its file or the journal.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hippo_proto::log_file::set_aside;

use super::hook;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::launch;
use crate::output::Output;
use crate::service::{Manager, ManagerControl, SERVICE_UNIT};
use hippoctl::args::LogsArgs;

/// Interval at which a log is read with `--follow`.
const AGAIN: Duration = Duration::from_millis(200);

/// Prints the last lines of the log. With `--follow`, continues with new lines.
///
/// # Errors
/// Fails if the log does not exist or cannot be read.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn logs(session: &DaemonSession, args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let paths = &session.paths;
    let log = match args.hooks {
        true => paths.state.join(hook::LOG),
        false => paths.log.clone(),
    };
    let unit = launch::locked_by(paths)
        .and_then(|pid| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok())
        .is_some_and(|cgroup| is_of_the_unit(&cgroup));
    // A unit that was never enabled has no journal.
    let serves =
        || Manager::of_this_system() == Ok(Manager::Systemd) && ManagerControl(Manager::Systemd).serves();
    if !args.hooks && (unit || (!log.exists() && serves())) {
        return journal(args, out);
    }
    if !log.exists() {
        let (name, hint) = match args.hooks {
            true => ("no log of hooks", "no hook has failed so far"),
            false => (
                "no log",
                "the daemon creates the log when it starts: hippoctl service start",
            ),
        };
        let what = format!("there is {name} yet; its path will be {}", log.display());
        return Err(Failure::new(Exit::NotFound, what).hint(hint));
    }
    out.note(&format!("reading {}", log.display()));
    let failed = |error: io::Error| Failure::file("read the log", &log, error);
    let mut text = fs::read(set_aside(&log)).unwrap_or_default();
    let mut file = File::open(&log).map_err(failed)?;
    file.read_to_end(&mut text).map_err(failed)?;
    out.data(last_lines(&text, args.lines))?;
    out.finish()?;
    if !args.follow {
        return Ok(());
    }
    loop {
        thread::sleep(AGAIN);
        out.data(&added(&mut file, &log).map_err(failed)?)?;
        out.finish()?;
    }
}

/// Returns whether the control groups are those of a process of the unit.
fn is_of_the_unit(cgroup: &str) -> bool {
    let mut parts = cgroup.lines().flat_map(|line| line.split('/'));
    parts.any(|part| part == SERVICE_UNIT)
}

/// Prints the log of the unit with journalctl.
fn journal(args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let mut command = Command::new("journalctl");
    command.args(["--user", "--no-pager", "-u", SERVICE_UNIT, "-n"]);
    command.arg(args.lines.to_string());
    if args.follow {
        command.arg("-f");
    }
    out.note(&format!(
        "reading the journal: journalctl --user -u {SERVICE_UNIT}"
    ));
    let ended = command.status();
    let ended =
        ended.map_err(|error| Failure::new(Exit::Failed, format!("could not read the journal: {error}")))?;
    match ended.success() {
        true => Ok(()),
        false => Err(Failure::silent(Exit::Failed)),
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

/// Returns the text that was added to a log. After the daemon has rotated the log, this is the rest of the old file
/// followed by the new file.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn added(file: &mut File, log: &Path) -> io::Result<Vec<u8>> {
    // Open the path first: once it names another file, the old file no longer grows.
    let named = File::open(log).ok();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if let Some(mut named) = named.filter(|named| !is_same(file, named)) {
        named.seek(SeekFrom::Start(0))?;
        named.read_to_end(&mut bytes)?;
        *file = named;
    }
    Ok(bytes)
}

/// Returns whether both handles refer to the same file and it was not truncated.
fn is_same(read: &mut File, named: &File) -> bool {
    let position = read.stream_position().unwrap_or(0);
    let (Ok(read), Ok(named)) = (read.metadata(), named.metadata()) else {
        return true;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if (named.dev(), named.ino()) != (read.dev(), read.ino()) {
            return false;
        }
    }
    named.len() >= position
}

#[cfg(test)]
mod tests {
    use std::io::Write;

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
    fn every_line_is_read_once_across_rotations() {
        let folder = tempfile::tempdir().unwrap();
        let (log, old) = (folder.path().join("log"), folder.path().join("log.old"));
        let add = |text: &str| {
            let mut file = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(&log)
                .unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        add("1\n");
        let mut file = File::open(&log).unwrap();
        let mut read = || String::from_utf8(added(&mut file, &log).unwrap()).unwrap();
        assert_eq!(read(), "1\n");
        add("2\n3\n");
        assert_eq!(read(), "2\n3\n");
        assert_eq!(read(), "");
        add("4\n");
        fs::rename(&log, &old).unwrap();
        assert_eq!(read(), "4\n");
        add("5\n");
        assert_eq!(read(), "5\n");
        add("6\n");
        fs::rename(&log, &old).unwrap();
        add("8\n");
        assert_eq!(read(), "6\n8\n");
        // After a file was truncated, it is read from the start.
        fs::write(&log, "").unwrap();
        read();
        add("9\n");
        assert_eq!(read(), "9\n");
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
