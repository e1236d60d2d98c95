//! Latency of questions over the socket and with the client.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{Client, Request, SearchMode, SearchRequest, SearchResponse};
use serde::Deserialize;

use super::table::{Figure, ms, percentile};
use super::{BenchEnvironment, bare};
use crate::scratch::answer;

/// Number of times that every question is asked. The first time only warms the caches.
const ROUNDS: usize = 4;
/// Number of runs of the client program.
const PROCESSES: usize = 100;

#[derive(Deserialize)]
struct LatencyQuestion {
    query: String,
}

/// Measures the explicit questions of memaware in each mode.
///
/// # Errors
/// Fails if the data is missing, or if the daemon refuses a request.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    let queries = queries(ground)?;
    let mut client = ground.scratch.connect(Duration::from_secs(30))?;
    let lexical = ask_all(&mut client, &root, SearchMode::Lexical, &queries)?;
    let hybrid = ask_all(&mut client, &root, SearchMode::Hybrid, &queries)?;
    let bare = bare::questions(ground, &queries)?;
    let ratio = hybrid.p50() / bare;
    let rest = ms(hybrid.p50() - bare);
    let whole = processes(ground, &root, &queries)?;
    Ok(vec![
        Figure::new("latency", "embedding of a question without hippod, p50", ms(bare)),
        Figure::new(
            "latency",
            "hybrid query over the socket, p50",
            format!(
                "{} = {ratio:.2} × the embedding alone; the rest takes {rest}",
                ms(hybrid.p50())
            ),
        )
        .reach("≤ 2.5 × bare", ratio <= 2.5),
        Figure::new("latency", "the same, p95", ms(hybrid.p95())),
        Figure::new("latency", "lexical query over the socket, p50", ms(lexical.p50()))
            .reach("≤ 3 ms", lexical.p50() <= 3.0),
        Figure::new("latency", "the same, p95", ms(lexical.p95())),
        Figure::new(
            "latency",
            "`hippoctl search`, whole process, lexical, p50",
            ms(whole.p50()),
        )
        .reach("≤ 20 ms", whole.p50() <= 20.0),
    ])
}

/// Returns the explicit questions of memaware.
///
/// # Errors
/// Fails if the questions are missing.
pub fn queries(ground: &BenchEnvironment<'_>) -> Result<Vec<String>> {
    let path = ground
        .workspaces
        .data("memaware")
        .join("questions_explicit.jsonl");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let questions = text.lines().filter(|line| !line.trim().is_empty());
    questions
        .map(|line| serde_json::from_str::<LatencyQuestion>(line).map(|question| question.query))
        .collect::<Result<_, _>>()
        .with_context(|| format!("could not read {}", path.display()))
}

/// Measured times in milliseconds.
struct Latencies(Vec<f64>);

impl Latencies {
    fn p50(&self) -> f64 {
        percentile(&self.0, 0.5)
    }

    fn p95(&self) -> f64 {
        percentile(&self.0, 0.95)
    }
}

fn ask_all(client: &mut Client, root: &str, mode: SearchMode, queries: &[String]) -> Result<Latencies> {
    let mut times = Vec::new();
    for (at, query) in queries.iter().cycle().take(ROUNDS * queries.len()).enumerate() {
        let request = SearchRequest {
            mode: Some(mode),
            record: false,
            ..SearchRequest::new(root, query)
        };
        let request = Request::from(request);
        let begun = Instant::now();
        let answer: SearchResponse = client.call(&request)?;
        let took = begun.elapsed();
        if let Some(degraded) = answer.index.degraded {
            bail!("the answer is degraded: {degraded}");
        }
        if at >= queries.len() {
            times.push(took.as_secs_f64() * 1e3);
        }
    }
    Ok(Latencies(times))
}

fn processes(ground: &BenchEnvironment<'_>, root: &str, queries: &[String]) -> Result<Latencies> {
    let mut times = Vec::new();
    for query in queries.iter().cycle().take(PROCESSES) {
        let mut command = ground.scratch.hippoctl();
        command.args([
            "--json",
            "--workspace",
            root,
            "search",
            "--mode",
            "lexical",
            "--",
            query,
        ]);
        let begun = Instant::now();
        let _: SearchResponse = answer(&mut command)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Latencies(times))
}
