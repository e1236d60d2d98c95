//! Where does the daemon write its log?

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hippo_proto::Paths;
use jiff::Timestamp;
use serde::Deserialize;

use crate::failure::{Exit, Failure};
use crate::launch;
use crate::service::{Control, Manager, SERVICE_UNIT};
use crate::verbs::hook;
use hippoctl::args::LogsArgs;

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
            Self::Journal => write!(to, "the journal: {JOURNALCTL} --user -u {SERVICE_UNIT}"),
        }
    }
}

impl Source {
    /// The log of hooks.
    ///
    /// # Errors
    /// There is none: no hook had a problem.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn of_hooks(paths: &Paths) -> Result<Self, Failure> {
        let log = paths.state.join(hook::LOG);
        if log.exists() {
            return Ok(Self::File(log));
        }
        let what = format!("there is no log of hooks; it would be {}", log.display());
        Err(Failure::new(Exit::NotFound, what).hint("no hook had a problem yet"))
    }

    /// The one that the daemon writes to now; where none runs, the file if there is one, else the journal if a service writes there.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn of(paths: &Paths) -> Result<Self, Failure> {
        let cgroup =
            launch::locked_by(paths).and_then(|pid| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok());
        if cgroup.is_some_and(|cgroup| is_of_the_unit(&cgroup)) {
            return Ok(Self::Journal);
        }
        if paths.log.exists() {
            return Ok(Self::File(paths.log.clone()));
        }
        // A unit that was never switched on has said nothing.
        if Manager::here() == Ok(Manager::Systemd) && Control(Manager::Systemd).serves() {
            return Ok(Self::Journal);
        }
        let what = format!("there is no log yet; it would be {}", paths.log.display());
        Err(Failure::new(Exit::NotFound, what)
            .hint("hippoctl start begins it; a daemon that was started otherwise logs to who started it"))
    }
}

/// Whether a process of these control groups was started by the unit.
fn is_of_the_unit(cgroup: &str) -> bool {
    cgroup
        .lines()
        .any(|line| line.split('/').any(|part| part == SERVICE_UNIT))
}

/// What the journal says of a line, in JSON.
#[derive(Deserialize)]
struct Entry {
    /// Microseconds since the Unix epoch.
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    at: String,
    #[serde(rename = "PRIORITY", default)]
    priority: String,
    /// Bytes where it is not UTF-8; nothing where it is very long.
    #[serde(rename = "MESSAGE")]
    message: Option<Text>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Words(String),
    Bytes(Vec<u8>),
}

/// A line of the journal as it would stand in a file: with time and level, which the journal keeps beside it. One that has both in
/// itself, as JSON, stays as it is. Nothing for what is no line of the journal.
pub fn line_of(json: &str) -> Option<String> {
    let entry: Entry = serde_json::from_str(json).ok()?;
    let text = match entry.message? {
        Text::Words(words) => words,
        Text::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    if text.starts_with('{') {
        return Some(text + "\n");
    }
    let at = Timestamp::from_microsecond(entry.at.parse().ok()?).ok()?;
    let level = match entry.priority.as_str() {
        "0" | "1" | "2" | "3" => "ERROR",
        "4" => "WARN",
        "7" => "DEBUG",
        _ => "INFO",
    };
    Some(format!("{at:.6} {level:>5} {text}\n"))
}

/// The command that reads the journal. Where lines are left out by their level, it gives all of them.
pub fn journalctl(args: &LogsArgs, from: Option<Timestamp>) -> Command {
    let mut command = Command::new(JOURNALCTL);
    command.args(["--user", "-u", SERVICE_UNIT, "-o", "json", "--no-pager", "-q"]);
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
    use hippoctl::args::Level;

    use super::super::line::Filter;
    use super::*;

    #[test]
    fn a_line_of_the_journal_has_its_time_and_its_level() {
        let entry = |rest: &str| {
            line_of(&format!(
                r#"{{"__REALTIME_TIMESTAMP":"1770000000000000",{rest}}}"#
            ))
        };
        let said = entry(r#""PRIORITY":"4","MESSAGE":"could not read it: /x""#).unwrap();
        assert_eq!(said, "2026-02-02T02:40:00.000000Z  WARN could not read it: /x\n");
        let mut filter = Filter::new(None, Some(Level::Warn));
        assert!(filter.admits(&said));
        assert!(!filter.admits(&entry(r#""PRIORITY":"6","MESSAGE":"hippod answers""#).unwrap()));
        assert!(
            entry(r#""PRIORITY":"3","MESSAGE":[104,105,255]"#)
                .unwrap()
                .contains("ERROR hi\u{fffd}")
        );
        let json = r#"{"timestamp":"2026-02-02T02:40:00Z","level":"INFO"}"#;
        let quoted = serde_json::to_string(json).unwrap();
        assert_eq!(
            entry(&format!(r#""MESSAGE":{quoted}"#)).unwrap(),
            format!("{json}\n")
        );
        assert_eq!(entry(r#""MESSAGE":null"#), None);
        assert_eq!(line_of("-- no entries --"), None);
    }

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
