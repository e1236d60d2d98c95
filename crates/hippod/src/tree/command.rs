//! Summaries written by the configured program.
//!
//! Each job has a time limit. The program has a daily budget of jobs, and several consecutive failures disable it until
//! the next day.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hippo_proto::MAX_BODY_BYTES;
use hippo_tree::{NodeSource, Period, level_name};
use serde::Serialize;

use super::state::Spend;
use crate::config::TreeConfig;
use crate::environment::SERVICE_VARIABLES;
use crate::tasks::Cancellation;

/// Number of consecutive failures after which the program is disabled for the rest of the day.
pub const MOST_FAILURES: u32 = 3;

/// Input of the program, written to its standard input as JSON. Unlike `TreeJob` of the protocol, it has the texts of the sources.
#[derive(Debug, Serialize)]
pub struct SummaryJob {
    path: String,
    level: &'static str,
    period: String,
    budget_tokens: usize,
    prompt: String,
    sources: Vec<JobSource>,
}

#[derive(Debug, Serialize)]
struct JobSource {
    path: String,
    text: String,
}

impl SummaryJob {
    /// Creates the job of a node. Secrets are removed from its sources.
    pub fn new(period: Period, budget: usize, prompt: String, sources: &[NodeSource]) -> Self {
        let sources = sources.iter().map(|source| JobSource {
            path: source.path.clone(),
            text: hippo_redact::without_secrets(&source.text).into_owned(),
        });
        Self {
            path: period.path(),
            level: level_name(period.level()),
            period: period.to_string(),
            budget_tokens: budget,
            prompt,
            sources: sources.collect(),
        }
    }
}

/// Returns the reason why no job may run today, or `None` if a job may run.
pub fn held_back(spend: &Spend, settings: &TreeConfig) -> Option<String> {
    if settings.command.is_empty() {
        return Some("tree.summaries is set to command, but tree.command contains no program".to_owned());
    }
    if spend.failures >= MOST_FAILURES {
        return Some(format!(
            "the program failed {MOST_FAILURES} times in a row; hippod runs it again tomorrow"
        ));
    }
    (spend.jobs >= settings.command_daily_jobs).then(|| {
        format!(
            "the program has already written the maximum of {} summaries for today",
            settings.command_daily_jobs
        )
    })
}

/// Runs the program to write one summary.
///
/// # Errors
/// Returns a one-line message if the program could not be started, exited with an error, wrote nothing, too much or
/// invalid UTF-8, or exceeded its time limit, or if the client disconnected.
pub fn write(
    settings: &TreeConfig,
    job: &SummaryJob,
    cancellation: Cancellation<'_>,
) -> Result<String, String> {
    let Some((program, arguments)) = settings.command.split_first() else {
        return Err("no program is configured".to_owned());
    };
    let input = serde_json::to_vec(job).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for variable in SERVICE_VARIABLES {
        command.env_remove(variable);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("could not start {program}: {error}"))?;
    let deadline = Instant::now() + Duration::from_secs(settings.command_timeout_secs);
    let said = converse(&mut child, input, deadline, cancellation);
    if said.is_err() {
        end(&mut child);
    }
    let ended = wait(&mut child, deadline).map_err(|error| format!("{program}: {error}"));
    let said = said.map_err(|error| format!("{program}: {error}"))?;
    let ended = ended?;
    if !ended.success() {
        return Err(format!("{program} failed: {ended}"));
    }
    let text = String::from_utf8(said).map_err(|_| format!("{program} printed invalid UTF-8"))?;
    match text.trim() {
        "" => Err(format!("{program} printed nothing")),
        text => Ok(text.to_owned()),
    }
}

/// Writes the input and reads the output concurrently, so that neither blocks the other.
fn converse(
    child: &mut Child,
    input: Vec<u8>,
    deadline: Instant,
    cancellation: Cancellation<'_>,
) -> Result<Vec<u8>, String> {
    /// Interval between two checks whether the client is still connected.
    const LOOK: Duration = Duration::from_millis(200);
    let (told, hears) = channel();
    if let Some(mut to) = child.stdin.take() {
        // The write fails with a broken pipe if the program exits or is killed without reading its input.
        std::thread::spawn(move || to.write_all(&input));
    }
    let from = child.stdout.take().ok_or("the program has no standard output")?;
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let most = MAX_BODY_BYTES as u64 + 1;
        let read = from.take(most).read_to_end(&mut bytes).map(|_| bytes);
        // The send fails after a timeout or a cancellation, after which the caller kills the program.
        let _ = told.send(read);
    });
    let heard = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match hears.recv_timeout(left.min(LOOK)) {
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {
                cancellation.check().map_err(|gone| gone.message)?;
            }
            heard => break heard,
        }
    };
    match heard {
        Ok(Ok(bytes)) if bytes.len() > MAX_BODY_BYTES => {
            Err(format!("the program printed more than {MAX_BODY_BYTES} bytes"))
        }
        Ok(read) => read.map_err(|error: io::Error| error.to_string()),
        Err(RecvTimeoutError::Timeout) => Err("the program took too long and was stopped".to_owned()),
        Err(RecvTimeoutError::Disconnected) => Err("the output of the program could not be read".to_owned()),
    }
}

/// Waits until a program that has closed its output exits.
fn wait(child: &mut Child, deadline: Instant) -> Result<std::process::ExitStatus, String> {
    /// Polling interval.
    const LOOK: Duration = Duration::from_millis(10);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(LOOK),
            Ok(None) => {
                end(child);
                let _ = child.wait();
                return Err("the program took too long and was stopped".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Kills the program and its process group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        // The program may already have exited.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn settings(script: &str) -> TreeConfig {
        TreeConfig {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            command_timeout_secs: 20,
            ..TreeConfig::default()
        }
    }

    fn job() -> SummaryJob {
        let source = NodeSource {
            path: "memory/2026-01-10.md".to_owned(),
            text: "- decision: pier 9\n- password: hunter2-Xy81kQz\n".to_owned(),
            first_line: 1,
            date: None,
        };
        SummaryJob::new(
            Period::parse("2026-01-10").unwrap(),
            500,
            "short".to_owned(),
            &[source],
        )
    }

    #[test]
    fn a_command_reads_the_job_and_its_summary_is_redacted() {
        let said = write(&settings("cat"), &job(), Cancellation::NEVER).unwrap();
        assert!(
            said.contains("pier 9") && said.contains("\"budget_tokens\":500"),
            "{said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
    }

    #[test]
    fn failing_hanging_flooding_and_missing_commands_are_reported() {
        for (script, what) in [
            ("exit 3", "failed: "),
            ("true", "printed nothing"),
            ("yes", "more than"),
            ("printf '\\377\\376'", "invalid UTF-8"),
        ] {
            let error = write(&settings(script), &job(), Cancellation::NEVER).unwrap_err();
            assert!(error.contains(what), "{script}: {error}");
        }
        let slow = TreeConfig {
            command_timeout_secs: 1,
            ..settings("sleep 600 & sleep 600")
        };
        let begun = Instant::now();
        assert!(
            write(&slow, &job(), Cancellation::NEVER)
                .unwrap_err()
                .contains("took too long")
        );
        assert!(begun.elapsed() < Duration::from_secs(60));
        let gone = AtomicBool::new(true);
        let given_up = write(&settings("sleep 600"), &job(), Cancellation::by(&gone));
        assert!(given_up.unwrap_err().contains("client disconnected"));
        assert!(begun.elapsed() < Duration::from_secs(60));
        let none = TreeConfig {
            command: vec!["/nowhere/summarise".to_owned()],
            ..TreeConfig::default()
        };
        assert!(
            write(&none, &job(), Cancellation::NEVER)
                .unwrap_err()
                .contains("could not start")
        );
    }

    #[test]
    fn the_daily_limit_and_failures_stop_the_command() {
        let settings = settings("cat");
        let spend = |jobs, failures| Spend {
            jobs,
            failures,
            ..Spend::default()
        };
        assert_eq!(held_back(&spend(0, 0), &settings), None);
        assert!(
            held_back(&spend(20, 0), &settings)
                .unwrap()
                .contains("20 summaries")
        );
        assert!(
            held_back(&spend(3, MOST_FAILURES), &settings)
                .unwrap()
                .contains("tomorrow")
        );
        assert!(
            held_back(&spend(0, 0), &TreeConfig::default())
                .unwrap()
                .contains("contains no program")
        );
    }
}
