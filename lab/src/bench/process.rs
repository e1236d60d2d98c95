//! Restart time, memory and idle processor time of the daemon.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Client, Request, SearchMode, SearchRequest, SearchResponse, StatusRequest, StatusResponse,
};

use super::BenchEnvironment;
use super::latency::queries;
use super::table::Figure;
use crate::scratch::Scratch;
use crate::terminal::duration;

/// Time limit for the daemon to become idle.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of questions before the memory measurement.
const QUESTIONS: usize = 200;
/// Number of ticks per second of the processor times in `/proc`; the same on all current Linux systems.
const TICKS_PER_SECOND: f64 = 100.0;

/// Measures the time from the start of the process to the first complete answer. No file changes before the start.
///
/// # Errors
/// Fails if the daemon fails, or if it embeds a text again.
pub fn restart(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    let query = queries(ground)?.into_iter().next().context("no questions")?;
    let mut figures = Vec::new();
    for (mode, name) in [(SearchMode::Lexical, "lexical"), (SearchMode::Hybrid, "hybrid")] {
        ground.scratch.stop()?;
        let begun = Instant::now();
        ground.scratch.start()?;
        let mut client = ground.scratch.connect(PATIENCE)?;
        let took = loop {
            let request = SearchRequest {
                mode: Some(mode),
                ..SearchRequest::new(&root, &query)
            };
            match client.call::<SearchResponse>(&Request::from(request)) {
                Ok(answer) if is_complete(&answer) => break begun.elapsed(),
                Err(hippo_proto::ClientError::Refused(error)) if !error.data.retryable => {
                    return Err(error.into());
                }
                Ok(_) | Err(_) if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(1)),
                Ok(_) | Err(_) => bail!("no complete answer within {PATIENCE:?}"),
            }
        };
        let status = at_rest(&mut client, &root)?;
        let pieces = status.model.word_pieces;
        let what = format!(
            "restart with memaware: time from the process start to the first complete {name} \
                            answer"
        );
        let half_a_second = took <= Duration::from_millis(500);
        figures
            .push(Figure::new("restart", what, duration(took).to_string()).reach("≤ 0.5 s", half_a_second));
        if mode == SearchMode::Hybrid {
            let again = format!("{pieces} word pieces (the question)");
            figures.push(
                Figure::new(
                    "restart",
                    "restart with memaware: text that was embedded again",
                    again,
                )
                .reach("nothing", pieces < 64),
            );
        }
    }
    Ok(figures)
}

/// Measures resident memory and processor time.
///
/// # Errors
/// Fails if the daemon fails, or if the platform does not report these values.
pub fn memory(ground: &mut BenchEnvironment<'_>, idle_secs: u64) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    ground.scratch.stop()?;
    ground.scratch.start()?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    at_rest(&mut client, &root)?;
    let before = processor_seconds(ground.scratch)?;
    let begun = Instant::now();
    thread::sleep(Duration::from_secs(idle_secs));
    let busy = 100.0 * (processor_seconds(ground.scratch)? - before) / begun.elapsed().as_secs_f64();
    let idle = resident_mib(ground.scratch)?;
    for query in queries(ground)?.iter().cycle().take(QUESTIONS) {
        let request = SearchRequest {
            record: false,
            ..SearchRequest::new(&root, query)
        };
        let _: SearchResponse = client.call(&Request::from(request))?;
    }
    let querying = resident_mib(ground.scratch)?;
    Ok(vec![
        Figure::new(
            "memory",
            "resident memory with memaware indexed, idle, without the model",
            format!("{idle:.0} MiB"),
        )
        .reach("≤ 80 MB", idle * 1.048_576 <= 80.0),
        Figure::new(
            "memory",
            format!("resident memory with memaware indexed, after {QUESTIONS} hybrid queries"),
            format!("{querying:.0} MiB"),
        )
        .reach("≤ 350 MB", querying * 1.048_576 <= 350.0),
        Figure::new(
            "memory",
            format!("processor time while idle, over {idle_secs} s"),
            format!("{busy:.3} % of a core"),
        )
        .reach("≤ 0.2 %", busy <= 0.2),
    ])
}

fn is_complete(answer: &SearchResponse) -> bool {
    let index = &answer.index;
    !answer.results.is_empty() && index.pending == 0 && index.lag_ms == 0 && index.degraded.is_none()
}

/// Waits until the daemon has compared disk and index, and has no pending work.
fn at_rest(client: &mut Client, root: &str) -> Result<StatusResponse> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let status: StatusResponse = client.call(&Request::from(StatusRequest {}))?;
        let rests = status.workspaces.iter().any(|workspace| {
            workspace.root == root
                && workspace.pending == 0
                && workspace.lag_ms == 0
                && workspace.watcher.last_reconcile_ms_ago.is_some()
        });
        if rests {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    bail!("the daemon was not idle within {PATIENCE:?}")
}

/// Returns the user and system time of the daemon, in seconds.
///
/// # Errors
/// Fails if the platform does not provide this time.
pub fn processor_seconds(scratch: &Scratch) -> Result<f64> {
    let text = proc_file(scratch, "stat")?;
    let (_, rest) = text.rsplit_once(") ").context("could not read /proc/PID/stat")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    let (user, system) = ticks(11)
        .zip(ticks(12))
        .context("could not read /proc/PID/stat")?;
    Ok((user + system) / TICKS_PER_SECOND)
}

pub(super) fn resident_mib(scratch: &Scratch) -> Result<f64> {
    let text = proc_file(scratch, "status")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS in /proc/PID/status")?;
    let kib: f64 = line
        .trim()
        .trim_end_matches("kB")
        .trim()
        .parse()
        .context("could not read VmRSS")?;
    Ok(kib / 1024.0)
}

fn proc_file(scratch: &Scratch, name: &str) -> Result<String> {
    let path = format!("/proc/{}/{name}", scratch.process_id()?);
    fs::read_to_string(&path).with_context(|| format!("could not read {path}"))
}
