//! Where does the daemon write its log?

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hippo_proto::Paths;
use jiff::Timestamp;

use crate::failure::{Exit, Failure};
use hippoctl::args::LogsArgs;

/// The name of the unit under which systemd runs the daemon.
const UNIT: &str = "hippod.service";
/// The program that reads systemd's journal.
const JOURNALCTL: &str = "journalctl";

/// Where the log is.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// In a file, as `hippoctl` has it.
    File(PathBuf),
    /// In the journal of the user's systemd.
    Journal,
}

impl fmt::Display for Source {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(log) => write!(to, "{}", log.display()),
            Self::Journal => write!(to, "the journal: {JOURNALCTL} --user -u {UNIT}"),
        }
    }
}

impl Source {
    /// The one that the daemon writes to now; where none runs, the file if there is one, else the journal if it can be read.
    pub fn of(paths: &Paths) -> Result<Self, Failure> {
        let cgroup =
            daemon(&paths.state).and_then(|pid| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok());
        if cgroup.is_some_and(|cgroup| is_of_the_unit(&cgroup)) {
            return Ok(Self::Journal);
        }
        if paths.log.exists() {
            return Ok(Self::File(paths.log.clone()));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        if std::env::split_paths(&path).any(|folder| folder.join(JOURNALCTL).is_file()) {
            return Ok(Self::Journal);
        }
        let what = format!("there is no log: {}", paths.log.display());
        Err(Failure::new(Exit::NotFound, what)
            .hint("hippoctl start begins one; a daemon that was started otherwise logs to who started it"))
    }
}

/// The process that the lock names.
fn daemon(state: &Path) -> Option<u32> {
    let lock = fs::read_to_string(state.join("hippod.lock")).ok()?;
    lock.trim().parse().ok()
}

/// Whether a process of these control groups was started by the unit.
fn is_of_the_unit(cgroup: &str) -> bool {
    cgroup
        .lines()
        .any(|line| line.split('/').any(|part| part == UNIT))
}

/// The command that reads the journal. Where lines are left out by their level, it gives all of them.
pub fn journalctl(args: &LogsArgs, from: Option<Timestamp>) -> Command {
    let mut command = Command::new(JOURNALCTL);
    command.args(["--user", "-u", UNIT, "-o", "cat", "--no-pager", "-q"]);
    if let Some(from) = from {
        command.arg(format!("--since=@{}", from.as_second()));
    }
    if args.follow {
        command.arg("-f");
    }
    if args.follow || (args.level.is_none() && from.is_none()) {
        command.args(["-n", &args.lines.to_string()]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_known_by_its_control_group() {
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
