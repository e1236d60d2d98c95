//! Answers to benchmark questions, and their evidence recall.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{Client, MAX_LIMIT, Request, SearchMode, SearchRequest, SearchResponse, Strategy};
use serde::Deserialize;

use super::table::percentile;
use crate::scratch::Scratch;

/// Token budgets within which evidence recall is measured.
pub const BUDGETS: [u32; 4] = [500, 1000, 2000, 3500];
/// Index of 2,000 tokens in [`BUDGETS`].
pub const AT_2000: usize = 2;
/// Time limit of one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines of one file, from 1, inclusive.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerSpan {
    pub path: String,
    pub start_line: u32,
    pub end_line: u32,
}

/// A question and the places of its answer.
#[derive(Debug, Clone, Deserialize)]
pub struct BenchQuestion {
    pub query: String,
    #[serde(default)]
    pub evidence: Vec<AnswerSpan>,
}

/// Returns the questions with evidence, in file order.
///
/// # Errors
/// Fails if the file is missing or has another format.
pub fn questions(path: &Path) -> Result<Vec<BenchQuestion>> {
    let failed = || format!("could not read {}", path.display());
    let text = fs::read_to_string(path).with_context(failed)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut questions: Vec<BenchQuestion> = lines
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(failed)?;
    questions.retain(|question| !question.evidence.is_empty());
    Ok(questions)
}

/// Returns the share of evidence spans that overlap at least one of the found spans, 0 to 1.
pub fn recall(found: &[AnswerSpan], evidence: &[AnswerSpan]) -> f64 {
    let overlaps = |a: &AnswerSpan, b: &AnswerSpan| {
        a.path == b.path && a.start_line <= b.end_line && b.start_line <= a.end_line
    };
    let covered = evidence
        .iter()
        .filter(|span| found.iter().any(|other| overlaps(other, span)));
    covered.count() as f64 / evidence.len().max(1) as f64
}

/// One answer.
#[derive(Debug, Clone, Copy)]
pub struct BenchAnswer {
    /// Share of the evidence in the answer.
    pub recall: f64,
    /// Number of tokens of the texts in the answer.
    pub tokens: f64,
    /// Milliseconds from request to answer.
    pub ms: f64,
    /// `true` if the answer contains only text of index entries.
    pub by_index: bool,
}

/// Answers to one question: one without a budget, and one for each of [`BUDGETS`].
#[derive(Debug, Clone)]
pub struct AskOutcome {
    pub plain: BenchAnswer,
    pub within: Vec<BenchAnswer>,
}

/// A client of one workspace. Only [`Asker::teach`] records accesses to entries.
pub struct Asker {
    client: Client,
    root: String,
}

impl Asker {
    /// Connects to the daemon.
    ///
    /// # Errors
    /// Fails if the daemon does not answer.
    pub fn new(scratch: &Scratch, root: &str) -> Result<Self> {
        Ok(Self {
            client: scratch.connect(PATIENCE)?,
            root: root.to_owned(),
        })
    }

    /// Returns one answer with its time in milliseconds.
    ///
    /// # Errors
    /// Fails if the daemon returns an error, or if the answer is degraded.
    pub fn ask(&mut self, request: SearchRequest) -> Result<(SearchResponse, f64)> {
        let request = Request::from(request);
        let begun = Instant::now();
        let answer: SearchResponse = self.client.call(&request)?;
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        match &answer.index.degraded {
            Some(degraded) => bail!("the answer is degraded: {degraded}"),
            None => Ok((answer, ms)),
        }
    }

    /// Returns a search request that records no access.
    pub fn request(&self, mode: SearchMode, query: &str) -> SearchRequest {
        SearchRequest {
            mode: Some(mode),
            record: false,
            ..SearchRequest::new(&self.root, query)
        }
    }

    /// Asks each question without a budget and within each of [`BUDGETS`], with at most `limit` results.
    ///
    /// # Errors
    /// See [`Asker::ask`].
    pub fn measure(
        &mut self,
        mode: SearchMode,
        limit: Option<u32>,
        questions: &[BenchQuestion],
    ) -> Result<Vec<AskOutcome>> {
        if let Some(first) = questions.first() {
            // This first question loads the model and warms the caches.
            self.ask(self.request(mode, &first.query))?;
        }
        let mut outcomes = Vec::with_capacity(questions.len());
        for question in questions {
            let request = self.request(mode, &question.query);
            let plain = self.judge(
                SearchRequest {
                    limit,
                    ..request.clone()
                },
                question,
            )?;
            let mut within = Vec::with_capacity(BUDGETS.len());
            for budget in BUDGETS {
                // Without `limit`, the number of results depends on the budget alone.
                let limited = SearchRequest {
                    limit,
                    budget_tokens: Some(budget),
                    ..request.clone()
                };
                within.push(self.judge(limited, question)?);
            }
            outcomes.push(AskOutcome { plain, within });
        }
        Ok(outcomes)
    }

    /// Asks each question as an agent does: within a budget, and with accesses recorded.
    ///
    /// # Errors
    /// See [`Asker::ask`].
    pub fn teach(&mut self, budget: u32, questions: &[&BenchQuestion]) -> Result<()> {
        for question in questions {
            let request = SearchRequest {
                budget_tokens: Some(budget),
                record: true,
                ..self.request(SearchMode::Hybrid, &question.query)
            };
            self.ask(request)?;
        }
        Ok(())
    }

    /// Returns the results of a semantic search, best first.
    ///
    /// # Errors
    /// See [`Asker::ask`].
    pub fn nearest(&mut self, query: &str) -> Result<(SearchResponse, f64)> {
        self.ask(SearchRequest {
            limit: Some(MAX_LIMIT),
            ..self.request(SearchMode::Vector, query)
        })
    }

    fn judge(&mut self, request: SearchRequest, question: &BenchQuestion) -> Result<BenchAnswer> {
        let (answer, ms) = self.ask(request)?;
        let found: Vec<AnswerSpan> = answer
            .results
            .iter()
            .map(|hit| AnswerSpan {
                path: hit.path.clone(),
                start_line: hit.start_line,
                end_line: hit.end_line,
            })
            .collect();
        Ok(BenchAnswer {
            recall: recall(&found, &question.evidence),
            tokens: answer.tokens as f64,
            ms,
            by_index: answer.strategy == Strategy::Index,
        })
    }
}

/// Returns the mean, or 0 without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values
        .into_iter()
        .fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count == 0.0 { 0.0 } else { sum / count }
}

/// Summary of many questions.
#[derive(Debug, Clone)]
pub struct Summary {
    pub questions: usize,
    /// Mean recall within each of [`BUDGETS`], 0 to 1.
    pub within: Vec<f64>,
    /// Mean recall of the answer without a budget.
    pub recall: f64,
    /// Mean tokens of the answer without a budget.
    pub tokens: f64,
    /// Median milliseconds of the answer without a budget.
    pub p50: f64,
    /// Share of the answers within 2,000 tokens that contain only text of entries.
    pub by_index: f64,
}

impl Summary {
    /// Summarizes outcomes.
    pub fn new<'a>(outcomes: impl IntoIterator<Item = &'a AskOutcome>) -> Self {
        let all: Vec<&AskOutcome> = outcomes.into_iter().collect();
        let of = |at: usize| mean(all.iter().map(|outcome| outcome.within[at].recall));
        let times: Vec<f64> = all.iter().map(|outcome| outcome.plain.ms).collect();
        let by_index = |outcome: &&AskOutcome| f64::from(u8::from(outcome.within[AT_2000].by_index));
        Self {
            questions: all.len(),
            within: (0..BUDGETS.len()).map(of).collect(),
            recall: mean(all.iter().map(|outcome| outcome.plain.recall)),
            tokens: mean(all.iter().map(|outcome| outcome.plain.tokens)),
            p50: percentile(&times, 0.5),
            by_index: mean(all.iter().map(by_index)),
        }
    }
}
