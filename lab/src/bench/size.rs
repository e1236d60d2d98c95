//! Package sizes, start times, and cost of MCP.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{Client, Request, SearchRequest, SearchResponse};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::BenchEnvironment;
use super::client::{add, root_of};
use super::table::{Figure, ms, percentile};
use crate::house::{self, ProjectDirs, describe, succeeded};
use crate::scratch::{Scratch, copy_folder};
use crate::setup;

/// Number of runs of each program.
const RUNS: usize = 200;
/// Number of MCP servers that are started.
const SERVERS: usize = 40;
/// Number of questions that are asked over the socket, and over MCP.
const QUESTIONS: usize = 200;
/// Time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Builds the packages and measures the archive. The questions use the daemon that all benchmarks share.
///
/// # Errors
/// Fails if the packages cannot be built, or if a program fails.
pub fn run(ground: &BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let unpacked = UnpackedArchive::make(ground.house)?;
    let mut figures = unpacked.figures()?;
    figures.extend(over_mcp(ground.house, ground.scratch)?);
    Ok(figures)
}

/// Measures the packages with a daemon of their own, without another build.
///
/// # Errors
/// Fails if the packages cannot be built, or if a program fails.
pub fn alone(house: &ProjectDirs) -> Result<Vec<Figure>> {
    let unpacked = UnpackedArchive::make(house)?;
    let mut figures = unpacked.figures()?;
    let scratch = Scratch::of_programs(&unpacked.root.join("bin"), &setup::run(house)?)?;
    scratch.start()?;
    figures.extend(over_mcp(house, &scratch)?);
    scratch.stop()?;
    scratch.remove()?;
    Ok(figures)
}

/// The packages, and the unpacked archive.
struct UnpackedArchive {
    /// Size of the archive and of the Debian package, in bytes.
    packages: [u64; 2],
    root: PathBuf,
    _folder: TempDir,
}

impl UnpackedArchive {
    fn make(house: &ProjectDirs) -> Result<Self> {
        let folder = tempfile::tempdir().context("could not create a temporary folder")?;
        let out = folder.path().join("packages");
        house::run(house.cargo().args(["xtask", "dist", "--out"]).arg(&out))?;
        let (mut archive, mut debian) = (None, None);
        for entry in fs::read_dir(&out).with_context(|| format!("could not read {}", out.display()))? {
            let path = entry?.path();
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("gz") => archive = Some(path),
                Some("deb") => debian = Some(path),
                _ => {}
            }
        }
        let (archive, debian) = archive
            .zip(debian)
            .context("cargo xtask dist created no packages")?;
        let mut tar = Command::new("tar");
        house::run(tar.arg("-xzf").arg(&archive).arg("-C").arg(folder.path()))?;
        let name = archive
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        Ok(Self {
            packages: [fs::metadata(&archive)?.len(), fs::metadata(&debian)?.len()],
            root: folder.path().join(name.trim_end_matches(".tar.gz")),
            _folder: folder,
        })
    }

    fn figures(&self) -> Result<Vec<Figure>> {
        let mut figures = sizes(self.packages, &self.root)?;
        figures.extend(starts(&self.root.join("bin"))?);
        Ok(figures)
    }
}

fn sizes([archive, debian]: [u64; 2], unpacked: &Path) -> Result<Vec<Figure>> {
    let mb = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let mut figures = Vec::new();
    for name in ["hippod", "hippoctl"] {
        let size = fs::metadata(unpacked.join("bin").join(name))?.len();
        figures.push(Figure::new("size", format!("`{name}`, stripped"), mb(size)));
    }
    figures.push(Figure::new(
        "size",
        "size of the archive, including the model and the runtime library",
        mb(archive),
    ));
    figures.push(
        Figure::new(
            "size",
            "size of the .deb, including the model and the runtime library",
            mb(debian),
        )
        .reach("≤ 140 MB", debian <= 140_000_000),
    );
    Ok(figures)
}

/// Times processes that only print their version. They alternate with a process that does nothing, as the lower bound.
fn starts(bin: &Path) -> Result<Vec<Figure>> {
    let commands = || {
        let version = |name: &str| {
            let mut command = Command::new(bin.join(name));
            command.arg("--version");
            command
        };
        [Command::new("true"), version("hippoctl"), version("hippod")]
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        for (mut command, times) in commands().into_iter().zip(&mut times) {
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let begun = Instant::now();
            let status = command.status();
            let took = begun.elapsed();
            let name = describe(&command);
            succeeded(&name, status.with_context(|| format!("could not run {name}"))?)?;
            times.push(took.as_secs_f64() * 1e3);
        }
    }
    let names = ["`true`", "`hippoctl --version`", "`hippod --version`"];
    let figures = names.into_iter().zip(&times).map(|(name, times)| {
        let middle = percentile(times, 0.5);
        let measured = format!("{} / {}", ms(middle), ms(percentile(times, 0.95)));
        let figure = Figure::new("size", format!("{name}, whole process, p50 / p95"), measured);
        match name {
            "`hippoctl --version`" => figure.reach("≤ 5 ms", middle <= 5.0),
            _ => figure,
        }
    });
    Ok(figures.collect())
}

/// Asks the same questions over the socket and through an MCP server, alternately.
fn over_mcp(house: &ProjectDirs, scratch: &Scratch) -> Result<Vec<Figure>> {
    let workspace = scratch.folder.join("example");
    copy_folder(&house.root.join("examples/workspace"), &workspace)?;
    let root = root_of(&workspace)?;
    let mut client = scratch.connect(PATIENCE)?;
    add(&mut client, &root)?;

    let mut begins = Vec::new();
    for _ in 0..SERVERS {
        let (server, took) = McpProcess::start(scratch, &root)?;
        begins.push(took);
        server.end()?;
    }
    let (mut server, _) = McpProcess::start(scratch, &root)?;
    let questions = questions(&house.root.join("examples/questions.jsonl"))?;
    let (mut socket, mut mcp) = (Vec::new(), Vec::new());
    for question in &questions {
        // The first question loads the model, and creates entries of the index file.
        ask(&mut client, &root, question)?;
        server.ask(question)?;
    }
    for (at, question) in questions.iter().cycle().take(QUESTIONS).enumerate() {
        if at % 2 == 0 {
            socket.push(ask(&mut client, &root, question)?);
            mcp.push(server.ask(question)?);
        } else {
            mcp.push(server.ask(question)?);
            socket.push(ask(&mut client, &root, question)?);
        }
    }
    server.end()?;
    let more: Vec<f64> = mcp
        .iter()
        .zip(&socket)
        .map(|(mcp, socket)| mcp - socket)
        .collect();
    let both = |times: &[f64]| format!("{} / {}", ms(percentile(times, 0.5)), ms(percentile(times, 0.95)));
    let first = percentile(&begins, 0.5);
    Ok(vec![
        Figure::new(
            "size",
            "`hippoctl mcp`: process start to the answer to `initialize`, p50 / p95",
            both(&begins),
        )
        .reach("≤ 50 ms", first <= 50.0),
        Figure::new("size", "search over the socket, p50 / p95", both(&socket)),
        Figure::new("size", "`memory_search` over MCP, p50 / p95", both(&mcp)),
        Figure::new(
            "size",
            "extra time of a question over MCP compared with the socket, p50 / p95",
            both(&more),
        )
        .reach("≤ 5 ms", percentile(&more, 0.5) <= 5.0),
    ])
}

fn questions(path: &Path) -> Result<Vec<String>> {
    let failed = || format!("could not read the questions: {}", path.display());
    let text = fs::read_to_string(path).with_context(failed)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let query = |line: &str| -> Option<String> {
        let value: Value = serde_json::from_str(line).ok()?;
        Some(value["query"].as_str()?.to_owned())
    };
    lines.map(query).collect::<Option<_>>().with_context(failed)
}

/// Returns the milliseconds of one question over the socket. The request is the one that the MCP server sends.
fn ask(client: &mut Client, root: &str, question: &str) -> Result<f64> {
    let request = Request::from(SearchRequest::new(root, question));
    let begun = Instant::now();
    let answer: SearchResponse = client.call(&request)?;
    let took = begun.elapsed();
    if let Some(missing) = answer.index.degraded {
        bail!("the answer is degraded ({missing}): {question}");
    }
    Ok(took.as_secs_f64() * 1e3)
}

/// A running `hippoctl mcp`.
struct McpProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl McpProcess {
    /// Starts the server. Returns it with the milliseconds until it answered `initialize`.
    fn start(scratch: &Scratch, root: &str) -> Result<(Self, f64)> {
        let mut command = scratch.hippoctl();
        command.args(["mcp", "--workspace", root]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().context("could not run hippoctl mcp")?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.context("hippoctl mcp has no pipes")?;
        let mut server = Self {
            child,
            input,
            output: BufReader::new(output),
        };
        let about = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
        server.call("initialize", &hello)?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok((server, took))
    }

    /// Asks one question over MCP, and returns the milliseconds.
    fn ask(&mut self, question: &str) -> Result<f64> {
        let call = json!({"name": "memory_search", "arguments": {"query": question}});
        let begun = Instant::now();
        let answer = self.call("tools/call", &call)?;
        let took = begun.elapsed();
        if answer["result"]["structuredContent"]["results"].is_null() {
            bail!("no results over MCP: {answer}");
        }
        Ok(took.as_secs_f64() * 1e3)
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))?;
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .context("could not read from hippoctl mcp")?;
        serde_json::from_str(&line).with_context(|| format!("could not read the answer to {method}: {line}"))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}").context("could not write to hippoctl mcp")
    }

    /// Closes the input of the server, and waits until the process exits.
    fn end(mut self) -> Result<()> {
        drop(self.input);
        let status = self.child.wait().context("could not wait for hippoctl mcp")?;
        succeeded("hippoctl mcp", status)
    }
}
