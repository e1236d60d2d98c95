//! What does each way to an answer find, and at what price: the table of the protocol's §11.1, with our own figures?

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{GetRequest, GetResponse, IndexListRequest, IndexListResponse, IndexOrigin, Mode, Request};
use serde::Deserialize;

use super::Ground;
use super::ask::{
    AT_2000, Answer, Asker, BUDGETS, Outcome, Question, Span, Summary, mean, questions, recall,
};
use super::fresh::{at_rest, fresh, switch};
use super::table::{Figure, ms};
use crate::scratch::answer;
use crate::terminal::say;

/// Sections that the row of sections reads.
const SECTIONS: usize = 3;
/// Chunks that the row of chunks takes.
const CHUNKS: u32 = 3;
/// Bytes that count as one token where no tokenizer is at hand.
const TOKEN_BYTES: usize = 4;
/// Tokens that an agent has for an answer.
const BUDGET: u32 = BUDGETS[AT_2000];
/// How long what questions leave behind may take to be recorded.
const PATIENCE: Duration = Duration::from_secs(60);

/// One way of asking, over all workspaces of a data set.
#[derive(Default)]
struct Way {
    outcomes: Vec<Outcome>,
    /// Halves of the questions: 0 was asked in the warm-up, 1 was not.
    halves: Vec<usize>,
}

/// The rows by their names, in the order in which they are shown.
#[derive(Default)]
struct Ways {
    rows: Vec<(&'static str, Way)>,
    /// Rows that only the client program measures, with their weights.
    baselines: BTreeMap<String, Vec<Summary>>,
}

/// Five dated conversations.
///
/// # Errors
/// The data is not there, or the daemon fails.
pub fn locomo(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
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

/// Explicit questions about a quarter of a year of logs.
///
/// # Errors
/// As [`locomo`].
pub fn memaware(ground: &mut Ground<'_>) -> Result<Vec<Figure>> {
    measure(
        ground,
        "index-memaware",
        "memaware, explicit questions",
        &["memaware".to_owned()],
        "questions_explicit.jsonl",
    )
}

fn measure(
    ground: &mut Ground<'_>,
    part: &'static str,
    title: &str,
    names: &[String],
    file: &str,
) -> Result<Vec<Figure>> {
    let mut ways = Ways::default();
    let (mut entries, mut tokens) = (Vec::new(), Vec::new());
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
        with_index(ground, &root, &questions, &mut ways)?;
        say(format_args!("{name}: {} questions asked", questions.len()));
    }
    let title = format!(
        "{title}: {:.0} entries and {:.0} tokens of HIPPOCAMPUS.md a workspace, before the first question",
        mean(entries),
        mean(tokens)
    );
    ways.print(&title);
    Ok(ways.figures(part))
}

fn without_index(ground: &Ground<'_>, root: &str, questions: &[Question], ways: &mut Ways) -> Result<()> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let chunks = asker.measure(Mode::Vector, Some(CHUNKS), questions)?;
    ways.take("vector, 3 chunks", chunks);
    let sections = sections(ground, root, questions)?;
    ways.take("vector, 3 sections", sections);
    // The same workspace, so that nothing differs but the entries.
    switch(ground, root, false)?;
    let mut asker = Asker::new(ground.scratch, root)?;
    let search = asker.measure(Mode::Hybrid, None, questions)?;
    ways.take("search alone", search);
    switch(ground, root, true)
}

fn with_index(ground: &Ground<'_>, root: &str, questions: &[Question], ways: &mut Ways) -> Result<()> {
    let mut asker = Asker::new(ground.scratch, root)?;
    ways.take(
        "index + targeted read",
        asker.measure(Mode::Index, None, questions)?,
    );
    ways.take(
        "hybrid, before any question",
        asker.measure(Mode::Hybrid, None, questions)?,
    );
    let asked: Vec<&Question> = questions.iter().step_by(2).collect();
    let before = learned(ground, root)?;
    asker.teach(BUDGET, &asked)?;
    let after = settled(ground, root)?;
    say(format_args!(
        "warm-up: {} questions made {} entries",
        asked.len(),
        after - before
    ));
    ways.take(
        "index + targeted read, after the warm-up",
        asker.measure(Mode::Index, None, questions)?,
    );
    ways.take(
        "hybrid, after the warm-up",
        asker.measure(Mode::Hybrid, None, questions)?,
    );
    Ok(())
}

/// Reads the sections of the nearest chunks whole, as an agent does with files that it opens.
fn sections(ground: &Ground<'_>, root: &str, questions: &[Question]) -> Result<Vec<Outcome>> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        let begun = Instant::now();
        let (found, _) = asker.nearest(&question.query)?;
        let mut read: Vec<(Span, String)> = Vec::new();
        for hit in &found.results {
            let known = |span: &Span| {
                span.path == hit.path && span.start_line <= hit.start_line && hit.start_line <= span.end_line
            };
            if read.len() == SECTIONS || read.iter().any(|(span, _)| known(span)) {
                continue;
            }
            let request = GetRequest {
                workspace: Some(root.to_owned()),
                path: Some(hit.path.clone()),
                section: hit.heading.get(1).or(hit.heading.first()).cloned(),
                ..GetRequest::default()
            };
            let text: GetResponse = client.call(&Request::from(request))?;
            let span = Span {
                path: text.path,
                start_line: text.start_line,
                end_line: text.end_line,
            };
            // Of two sections with one title `get` reads the first.
            if known(&span) {
                read.push((span, text.text));
            }
        }
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let spans: Vec<Span> = read.iter().map(|(span, _)| span.clone()).collect();
        let bytes: usize = read.iter().map(|(_, text)| text.len()).sum();
        let of = |spans: &[Span], bytes: usize| Answer {
            recall: recall(spans, &question.evidence),
            tokens: (bytes / TOKEN_BYTES) as f64,
            ms,
            by_index: false,
        };
        outcomes.push(Outcome {
            plain: of(&spans, bytes),
            within: BUDGETS
                .iter()
                .map(|budget| of(&beginning(&read, *budget), bytes))
                .collect(),
        });
    }
    Ok(outcomes)
}

/// The whole lines that a reader sees who stops when the budget is used up.
fn beginning(read: &[(Span, String)], budget: u32) -> Vec<Span> {
    let mut left = budget as usize * TOKEN_BYTES;
    let mut spans = Vec::new();
    for (span, text) in read {
        let mut lines = 0;
        for line in text.split_inclusive('\n') {
            if line.len() > left {
                left = 0;
                break;
            }
            left -= line.len();
            lines += 1;
        }
        if lines > 0 {
            spans.push(Span {
                end_line: span.start_line + lines - 1,
                ..span.clone()
            });
        }
        if left == 0 {
            break;
        }
    }
    spans
}

/// Entries that questions made.
fn learned(ground: &Ground<'_>, root: &str) -> Result<usize> {
    let request = IndexListRequest {
        workspace: root.to_owned(),
        ..IndexListRequest::default()
    };
    let list: IndexListResponse = ground.scratch.connect(PATIENCE)?.call(&Request::from(request))?;
    let made = list
        .entries
        .iter()
        .filter(|entry| entry.origin == IndexOrigin::Retrieval);
    Ok(made.count())
}

/// Waits until all that was asked is recorded; answers [`learned`].
fn settled(ground: &Ground<'_>, root: &str) -> Result<usize> {
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
    bail!("entries were still made {PATIENCE:?} after the last question")
}

#[derive(Deserialize)]
struct Report {
    questions: usize,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    mode: String,
    group: Option<String>,
    recall_at: BTreeMap<u32, f64>,
    budget_recall: BTreeMap<u32, f64>,
    tokens_per_question: f64,
    latency_p50_ms: f64,
}

impl Ways {
    fn baseline(&mut self, ground: &Ground<'_>, root: &str, questions: &Path) -> Result<()> {
        let mut command = ground.scratch.hippoctl();
        command
            .args(["--json", "--workspace", root, "bench"])
            .arg(questions)
            .args(["--modes", "full-scan,grep", "-k", "5"]);
        let report: Report = answer(&mut command)?;
        for row in report.rows.iter().filter(|row| row.group.is_none()) {
            let within = BUDGETS
                .iter()
                .filter_map(|budget| row.budget_recall.get(budget).copied());
            let summary = Summary {
                questions: report.questions,
                within: within.collect(),
                recall: row.recall_at.get(&5).copied().unwrap_or_default(),
                tokens: row.tokens_per_question,
                p50: row.latency_p50_ms,
                by_index: 0.0,
            };
            self.baselines.entry(row.mode.clone()).or_default().push(summary);
        }
        Ok(())
    }

    fn take(&mut self, name: &'static str, outcomes: Vec<Outcome>) {
        let at = self
            .rows
            .iter()
            .position(|(known, _)| *known == name)
            .unwrap_or_else(|| {
                self.rows.push((name, Way::default()));
                self.rows.len() - 1
            });
        let way = &mut self.rows[at].1;
        way.halves.extend((0..outcomes.len()).map(|at| at % 2));
        way.outcomes.extend(outcomes);
    }

    fn summary(&self, name: &str, half: Option<usize>) -> Option<Summary> {
        let (_, way) = self.rows.iter().find(|(known, _)| *known == name)?;
        Some(way.summary(half))
    }

    fn print(&self, title: &str) {
        say(format_args!("\n{title}\n"));
        say(format_args!(
            "| way | questions | 500 tok | 1000 | 2000 | 3500 | tokens of an answer | recall of it | p50 | by entries alone |\n|---|---|---|---|---|---|---|---|---|---|"
        ));
        for (name, title) in [("full-scan", "full scan"), ("grep", "grep + 5 files")] {
            if let Some(rows) = self.baselines.get(name) {
                show(title, &together(rows));
            }
        }
        let halves = [
            (None, ""),
            (Some(1), ", the other half"),
            (Some(0), ", the half that was asked before"),
        ];
        for (half, which) in halves {
            for (name, way) in &self.rows {
                let warm = name.ends_with("after the warm-up");
                let shown = match half {
                    None => !warm,
                    Some(_) => warm || *name == SEARCH || *name == COLD,
                };
                if shown {
                    show(&format!("{name}{which}"), &way.summary(half));
                }
            }
        }
    }

    fn figures(&self, part: &'static str) -> Vec<Figure> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let other = |name| {
            self.summary(name, Some(1))
                .map_or(0.0, |summary| summary.within[AT_2000])
        };
        let (warm, search) = (other(WARM), other(SEARCH));
        let again = self
            .rows
            .iter()
            .find(|(name, _)| *name == WARM)
            .map(|(_, way)| way);
        let alone = self
            .rows
            .iter()
            .find(|(name, _)| *name == SEARCH)
            .map(|(_, way)| way);
        let mut pairs = Vec::new();
        if let Some((again, alone)) = again.zip(alone) {
            for (at, (warm, search)) in again.outcomes.iter().zip(&alone.outcomes).enumerate() {
                let warm = warm.within[AT_2000];
                if again.halves[at] == 0 && warm.by_index {
                    pairs.push((warm.recall, search.within[AT_2000].recall));
                }
            }
        }
        let share = self
            .summary(WARM, Some(0))
            .map_or(0.0, |summary| summary.by_index);
        let recall = mean(pairs.iter().map(|(warm, _)| *warm));
        let of_search = mean(pairs.iter().map(|(_, search)| *search));
        let ratio = if of_search > 0.0 { recall / of_search } else { 0.0 };
        let figure = |what: &str, measured: String| Figure::new(part, what, measured);
        vec![
            figure(
                "other half, hybrid after the warm-up: recall within 2,000 tokens",
                percent(warm),
            )
            .reach(format!("≥ search alone, {}", percent(search)), warm >= search),
            figure("repeated half: answered by entries alone", percent(share)).reach("≥ 50 %", share >= 0.5),
            figure(
                "these answers: recall within 2,000 tokens ÷ that of search",
                format!("{ratio:.3} ({} ÷ {})", percent(recall), percent(of_search)),
            )
            .reach("≥ 0.95", ratio >= 0.95),
        ]
    }
}

const SEARCH: &str = "search alone";
const COLD: &str = "hybrid, before any question";
const WARM: &str = "hybrid, after the warm-up";

impl Way {
    fn summary(&self, half: Option<usize>) -> Summary {
        let of_half = self.outcomes.iter().zip(&self.halves);
        let of_half = of_half.filter(|(_, known)| half.is_none_or(|half| half == **known));
        Summary::new(of_half.map(|(outcome, _)| outcome))
    }
}

/// Sums of several workspaces, weighted by their questions; the time is the weighted mean of the medians.
fn together(rows: &[Summary]) -> Summary {
    let all: f64 = rows.iter().map(|row| row.questions as f64).sum();
    let of = |value: &dyn Fn(&Summary) -> f64| {
        rows.iter()
            .map(|row| value(row) * row.questions as f64)
            .sum::<f64>()
            / all.max(1.0)
    };
    Summary {
        questions: rows.iter().map(|row| row.questions).sum(),
        within: (0..BUDGETS.len())
            .map(|at| of(&|row: &Summary| row.within.get(at).copied().unwrap_or_default()))
            .collect(),
        recall: of(&|row: &Summary| row.recall),
        tokens: of(&|row: &Summary| row.tokens),
        p50: of(&|row: &Summary| row.p50),
        by_index: 0.0,
    }
}

fn show(name: &str, summary: &Summary) {
    let percent = |share: &f64| format!("{:.1}", 100.0 * share);
    let within: Vec<String> = summary.within.iter().map(percent).collect();
    say(format_args!(
        "| {name} | {} | {} | {:.0} | {} | {} | {} |",
        summary.questions,
        within.join(" | "),
        summary.tokens,
        percent(&summary.recall),
        ms(summary.p50),
        percent(&summary.by_index),
    ));
}
