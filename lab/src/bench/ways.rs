//! Recall and cost of several retrieval methods (protocol §11.1).

mod pointed;
mod rows;
mod sections;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{EntryOrigin, IndexEntry, IndexListRequest, IndexListResponse, Request, SearchMode};

use super::BenchEnvironment;
use super::ask::{AT_2000, Asker, BUDGETS, BenchQuestion, mean, questions};
use super::fresh::{at_rest, fresh, switch};
use super::table::Figure;
use crate::terminal::say;
use rows::MethodRows;

/// Number of results per question in the table row `vector, 3 chunks`.
const CHUNKS: u32 = 3;
/// Token budget of an agent for an answer.
const BUDGET: u32 = BUDGETS[AT_2000];
/// Time limit for recording the questions.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures five dated conversations.
///
/// # Errors
/// Fails if the data is missing, or the daemon fails.
pub fn locomo(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let folder = ground.workspaces.data("locomo");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .with_context(|| format!("could not read {}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("conv-"))
        .collect();
    names.sort();
    let names: Vec<String> = names.into_iter().map(|name| format!("locomo/{name}")).collect();
    measure(ground, "index-locomo", "LoCoMo", &names, "questions.jsonl")
}

/// Measures explicit questions about the logs of three months.
///
/// # Errors
/// See [`locomo`].
pub fn memaware(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    measure(
        ground,
        "index-memaware",
        "memaware, explicit questions",
        &["memaware".to_owned()],
        "questions_explicit.jsonl",
    )
}

fn measure(
    ground: &mut BenchEnvironment<'_>,
    part: &'static str,
    title: &str,
    names: &[String],
    file: &str,
) -> Result<Vec<Figure>> {
    let mut ways = MethodRows::default();
    let (mut entries, mut tokens) = (Vec::new(), Vec::new());
    let mut pointed = Vec::new();
    for name in names {
        let path = ground.workspaces.data(name).join(file);
        let questions = questions(&path)?;
        let root = fresh(ground, name)?;
        ways.baseline(ground, &root, &path)?;
        without_index(ground, &root, &questions, &mut ways)?;
        let status = at_rest(&mut ground.scratch.connect(PATIENCE)?, &root)?;
        let index = status.index.unwrap_or_default();
        entries.push(index.entries as f64);
        tokens.push(index.tokens as f64);
        // The pointers are measured before any question creates an entry.
        pointed.extend(pointed::measure(ground, &root, &questions)?);
        with_index(ground, &root, &questions, &mut ways)?;
        say(format_args!("{name}: {} questions asked", questions.len()));
    }
    let title = format!(
        "{title}: {:.0} entries and {:.0} tokens of HIPPOCAMPUS.md per workspace, before the first question",
        mean(entries),
        mean(tokens)
    );
    ways.print(&title);
    pointed::print(&pointed);
    let mut figures = ways.figures(part);
    figures.push(pointed::figure(part, &pointed));
    Ok(figures)
}

fn without_index(
    ground: &BenchEnvironment<'_>,
    root: &str,
    questions: &[BenchQuestion],
    ways: &mut MethodRows,
) -> Result<()> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let chunks = asker.measure(SearchMode::Vector, Some(CHUNKS), questions)?;
    ways.take("vector, 3 chunks", chunks);
    ways.take("vector, 3 sections", sections::measure(ground, root, questions)?);
    // The same workspace is used again without an index file, so that only the entries differ.
    switch(ground, root, false)?;
    let mut asker = Asker::new(ground.scratch, root)?;
    let search = asker.measure(SearchMode::Hybrid, None, questions)?;
    ways.take(rows::SEARCH, search);
    switch(ground, root, true)
}

fn with_index(
    ground: &BenchEnvironment<'_>,
    root: &str,
    questions: &[BenchQuestion],
    ways: &mut MethodRows,
) -> Result<()> {
    let mut asker = Asker::new(ground.scratch, root)?;
    ways.take(
        "index + targeted read",
        asker.measure(SearchMode::Index, None, questions)?,
    );
    ways.take(rows::COLD, asker.measure(SearchMode::Hybrid, None, questions)?);
    let asked: Vec<&BenchQuestion> = questions.iter().step_by(2).collect();
    let before = learned(ground, root)?;
    asker.teach(BUDGET, &asked)?;
    let after = settled(ground, root)?;
    say(format_args!(
        "warm-up: {} questions created {} entries",
        asked.len(),
        after - before
    ));
    ways.take(
        "index + targeted read, after the warm-up",
        asker.measure(SearchMode::Index, None, questions)?,
    );
    ways.take(rows::WARM, asker.measure(SearchMode::Hybrid, None, questions)?);
    Ok(())
}

/// Returns all entries of a workspace.
fn listed(ground: &BenchEnvironment<'_>, root: &str) -> Result<Vec<IndexEntry>> {
    let request = IndexListRequest {
        workspace: root.to_owned(),
        ..IndexListRequest::default()
    };
    let list: IndexListResponse = ground.scratch.connect(PATIENCE)?.call(&Request::from(request))?;
    Ok(list.entries)
}

/// Returns the number of entries that questions created.
fn learned(ground: &BenchEnvironment<'_>, root: &str) -> Result<usize> {
    let entries = listed(ground, root)?;
    let made = entries
        .iter()
        .filter(|entry| entry.origin == EntryOrigin::Retrieval);
    Ok(made.count())
}

/// Waits until all questions are recorded, and returns the number of entries that they created.
///
/// # Errors
/// Fails if the time limit is exceeded.
pub fn settled(ground: &BenchEnvironment<'_>, root: &str) -> Result<usize> {
    let begun = Instant::now();
    let mut last = learned(ground, root)?;
    while begun.elapsed() < PATIENCE {
        thread::sleep(Duration::from_secs(1));
        let now = learned(ground, root)?;
        if now == last {
            return Ok(now);
        }
        last = now;
    }
    bail!("entries were still created {PATIENCE:?} after the last question")
}
