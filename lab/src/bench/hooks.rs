//! Run time of hooks, and the daemon's work for them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Request, SessionFlushRequest, SessionFlushResponse, WorkspaceAddRequest, WorkspaceAddResponse,
};

use super::BenchEnvironment;
use super::table::{Figure, percentile};
use super::transcripts;
use crate::house::{describe, succeeded};

/// Time limit of the daemon for the ingestion of a transcript.
const PATIENCE: Duration = Duration::from_secs(120);
/// Size of a transcript in bytes.
const SIZE: usize = 10_000_000;
/// Number of runs of each program.
const RUNS: usize = 40;
/// Name of each hook, and its maximum milliseconds, if there is a target.
const HOOKS: [(&str, Option<f64>); 4] = [
    ("session-start", Some(30.0)),
    ("pre-compact", Some(100.0)),
    ("task-completed", None),
    ("session-end", None),
];

/// Runs each hook many times with a session of 10 MB, alternating with `hippoctl --version`. Ingests a transcript of
/// each format once.
///
/// # Errors
/// Fails if a hook fails, or the daemon refuses a request.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.scratch.folder.join("hooks");
    fs::create_dir_all(root.join("memory"))?;
    let line = "- pumps of hall 3 [project, 3d]: blue, relay, Finder → memory/2026-03-02.md\n";
    fs::write(
        root.join("memory/ROOT.md"),
        format!("# Root\n\n{}", line.repeat(150)),
    )?;
    let root = fs::canonicalize(&root)?;
    let workspace = root
        .to_str()
        .context("the name of the folder is not Unicode")?
        .to_owned();
    let mut client = ground.scratch.connect(PATIENCE)?;
    let _: WorkspaceAddResponse = client.call(&Request::from(WorkspaceAddRequest {
        workspace: workspace.clone(),
    }))?;
    let mut figures = Vec::new();
    let mut sessions = Vec::new();
    let raw = ground.workspaces.eval().join("transcripts/raw");
    for (format, number) in [("claude-code", 1), ("pi", 2), ("codex", 3)] {
        let path = ground.scratch.folder.join(format!("session-{format}.jsonl"));
        let size = long(&raw.join(format), &path)?;
        let begun = Instant::now();
        let request = SessionFlushRequest {
            workspace: workspace.clone(),
            path: path.display().to_string(),
            session: Some(format!("bench-{number}")),
            ..SessionFlushRequest::default()
        };
        let answer: SessionFlushResponse = client.call(&Request::from(request))?;
        let took = begun.elapsed();
        let written: usize = answer.appended.iter().map(|log| log.topics.len()).sum();
        figures.push(Figure::new(
            "hooks",
            format!(
                "session.flush of {:.1} MB of {format}, {} messages, {written} sections in {} logs",
                size as f64 / 1e6,
                answer.messages,
                answer.appended.len()
            ),
            format!("{} ms", took.as_millis()),
        ));
        sessions.push(path);
    }
    let bare: Vec<f64> = (0..RUNS)
        .map(|_| time(ground.scratch.hippoctl().arg("--version"), ""))
        .collect::<Result<_>>()?;
    let bare = percentile(&bare, 0.5);
    figures.push(Figure::new(
        "hooks",
        "hippoctl --version",
        format!("{bare:.1} ms"),
    ));
    for (name, most) in HOOKS {
        let mut times = Vec::new();
        for run in 0..RUNS {
            // The session grows between two runs, so that each hook finds new messages.
            let session = &sessions[run % sessions.len()];
            let mut file = fs::OpenOptions::new().append(true).open(session)?;
            writeln!(
                file,
                "{{\"role\":\"user\",\"content\":\"Please paint the pump of run {name} {run}\"}}"
            )?;
            let event = serde_json::json!({"session_id": format!("bench-{run}"), "transcript_path": session, "cwd": root, "hook_event_name": name});
            times.push(time(
                ground.scratch.hippoctl().args(["hook", name]),
                &event.to_string(),
            )?);
        }
        let (middle, late) = (percentile(&times, 0.5), percentile(&times, 0.95));
        let what = format!(
            "hook {name}, transcript of 10 MB: median, p95, median ÷ median of `hippoctl \
                            --version`"
        );
        let figure = Figure::new(
            "hooks",
            what,
            format!("{middle:.1} ms, {late:.1} ms, {:.1}", middle / bare),
        );
        figures.push(match most {
            Some(most) => figure.reach(format!("≤ {most} ms"), late <= most),
            None => figure,
        });
    }
    Ok(figures)
}

/// Returns the run time in milliseconds of a program with this standard input.
fn time(command: &mut Command, input: &str) -> Result<f64> {
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let name = describe(command);
    let begun = Instant::now();
    let mut child = command.spawn().with_context(|| format!("could not run {name}"))?;
    if let Some(mut to) = child.stdin.take() {
        // A program that reads no input may have exited already.
        let _ = to.write_all(input.as_bytes());
    }
    let status = child.wait()?;
    let took = begun.elapsed();
    succeeded(&name, status)?;
    Ok(took.as_secs_f64() * 1e3)
}

/// Repeats the largest transcript of a folder up to the required size. The dates of each copy are in another year, so
/// that all messages are new.
fn long(folder: &Path, to: &Path) -> Result<usize> {
    let files = transcripts::files(folder)?;
    let size = |path: &PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let largest = files.into_iter().max_by_key(size).context("no transcript")?;
    let text = transcripts::read(&largest)?;
    let mut long = String::new();
    for year in 10..90 {
        for mark in ["\"timestamp\":\"2025", "\"ts\":\"2025"] {
            if text.contains(mark) {
                long.push_str(&text.replace(mark, &format!("{}{year}", &mark[..mark.len() - 2])));
                break;
            }
        }
        if long.len() >= SIZE {
            fs::write(to, &long)?;
            return Ok(long.len());
        }
    }
    bail!("{} is too short, or its messages have no time", largest.display())
}
