//! Retrieval benchmark: the daemon, grep, and a full scan.

mod baseline;
mod distinct;
mod file;
mod metrics;
mod report;
mod run;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use hippo_proto::{Client, MAX_LIMIT, Paths, WorkspaceSyncRequest, WorkspaceSyncResponse};

use crate::terminal::{note, say};
pub use report::BenchReport;
use run::ModeResult;

/// Time limit of the daemon for indexing a workspace.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A row of the benchmark: one way to find answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchMode {
    /// The daemon, with keyword search and search by meaning
    Hybrid,
    /// The daemon, with keyword search only
    Lexical,
    /// The daemon, with search by meaning only
    Vector,
    /// The daemon, with the entries of the index file only
    Index,
    /// The five files that contain the most words of the question, in full
    Grep,
    /// All files, in full
    FullScan,
}

/// Unit of results that counts as one place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistinctBy {
    /// Every result
    None,
    /// Only the first result of each section, which a file and its two outermost headings identify
    Section,
    /// Only the first result of each file
    File,
}

/// Measures retrieval quality on a file of questions
#[derive(Debug, Parser)]
#[command(name = "cargo lab questions")]
pub struct QuestionArguments {
    /// Questions, one JSON object per line: {"id","query","evidence":[{"path","start_line","end_line"}],"group"}
    pub file: PathBuf,
    /// A registered workspace [default: the folder `workspace` beside the file]
    #[arg(long)]
    pub workspace: Option<PathBuf>,
    /// Rows to measure
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "hybrid,lexical,vector,grep,full-scan"
    )]
    pub modes: Vec<BenchMode>,
    /// Numbers of results k for recall@k and hit@k
    #[arg(short, value_delimiter = ',', default_value = "1,5,10", value_name = "K",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    pub k: Vec<u32>,
    /// Token budgets; each budget adds one request per question
    #[arg(long, value_delimiter = ',', default_value = "500,1000,2000,3500", value_name = "TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub budgets: Vec<u32>,
    /// Unit of results that counts as one place in the ranking
    #[arg(long, value_enum, default_value_t = DistinctBy::None)]
    pub distinct: DistinctBy,
    /// Maximum number of questions to ask, spread evenly over the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit_questions: Option<u32>,
    /// Print the figures as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures with the user's running daemon and prints the figures.
///
/// # Errors
/// Fails if no daemon runs, or if [`measure`] fails.
pub fn run(words: &[String]) -> Result<()> {
    let arguments =
        QuestionArguments::parse_from(std::iter::once("questions").chain(words.iter().map(String::as_str)));
    let paths = Paths::resolve(|name| std::env::var_os(name))?;
    let mut client = Client::connect(&paths.socket, Some(PATIENCE)).context("hippod must be running")?;
    let report = measure(&mut client, &arguments)?;
    if arguments.json {
        say(format_args!("{}", serde_json::to_string(&report)?));
        return Ok(());
    }
    for line in report.notes() {
        note(format_args!("{line}"));
    }
    say(format_args!("{}", report.tables().trim_end()));
    Ok(())
}

/// Asks every question in every mode, and returns the figures.
///
/// # Errors
/// Fails if the questions cannot be read, the workspace is not registered, or the daemon fails.
pub fn measure(client: &mut Client, arguments: &QuestionArguments) -> Result<BenchReport> {
    let failed = || format!("could not read the questions: {}", arguments.file.display());
    let text = std::fs::read_to_string(&arguments.file).with_context(failed)?;
    let asked = file::parse(&text)
        .map_err(anyhow::Error::msg)
        .with_context(failed)?;
    let questions = file::spread(asked.questions, arguments.limit_questions);
    if questions.is_empty() {
        bail!("no question has evidence: {}", arguments.file.display());
    }
    let beside = || arguments.file.with_file_name("workspace");
    let root = arguments.workspace.clone().unwrap_or_else(beside);
    let root = root
        .canonicalize()
        .with_context(|| format!("no such workspace: {}", root.display()))?;
    let workspace = root.to_string_lossy().into_owned();
    if arguments.modes.iter().any(|way| run::is_served(*way)) {
        let request = WorkspaceSyncRequest {
            workspace: workspace.clone(),
            wait: true,
            accept_deletions: false,
        };
        let synced: WorkspaceSyncResponse = client.call(&request.into())?;
        for line in &synced.notes {
            note(format_args!("note: {line}"));
        }
    }
    let (mut measured, mut left_out) = (Vec::new(), Vec::new());
    for way in &arguments.modes {
        if !run::is_served(*way) {
            measured.push((*way, baseline::measure(*way, &root, &questions, arguments)?));
            continue;
        }
        match run::measure(client, *way, &workspace, &questions, arguments)? {
            ModeResult::Outcomes(outcomes) => measured.push((*way, outcomes)),
            ModeResult::Refused(reason) => left_out.push((*way, reason)),
        }
    }
    Ok(BenchReport::new(
        workspace,
        arguments,
        &questions,
        asked.without_evidence,
        &measured,
        &left_out,
    ))
}
