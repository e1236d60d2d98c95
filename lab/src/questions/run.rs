//! Answers of the daemon, and their latency.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use hippo_proto::{Client, ClientError, ErrorKind, MAX_LIMIT, SearchMode, SearchRequest, SearchResponse};

use super::distinct::ranking;
use super::file::EvidenceQuestion;
use super::metrics::{RankingFigures, judge, recall};
use super::{BenchMode, DistinctBy, QuestionArguments};

/// Outcome of one question in one mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionOutcome {
    /// Figures of the ranking.
    pub judged: RankingFigures,
    /// Evidence recall within each token budget.
    pub budget_recall: BTreeMap<u32, f64>,
    /// Number of tokens of the texts in the answer.
    pub tokens: f64,
    /// Time from request to answer in milliseconds, measured in the client.
    pub latency_ms: f64,
    /// Missing part that the daemon reported, if the answer was degraded.
    pub degraded: Option<String>,
}

/// Outcome of one mode.
#[derive(Debug, Clone, PartialEq)]
pub enum ModeResult {
    /// One outcome per question, in order.
    Outcomes(Vec<QuestionOutcome>),
    /// The daemon refused the mode, because a requirement is missing. The string is the reason.
    Refused(String),
}

/// Returns `true` if the daemon answers the questions of this row.
pub fn is_served(mode: BenchMode) -> bool {
    wire_mode(mode).is_some()
}

fn wire_mode(mode: BenchMode) -> Option<SearchMode> {
    match mode {
        BenchMode::Hybrid => Some(SearchMode::Hybrid),
        BenchMode::Lexical => Some(SearchMode::Lexical),
        BenchMode::Vector => Some(SearchMode::Vector),
        BenchMode::Index => Some(SearchMode::Index),
        BenchMode::Grep | BenchMode::FullScan => None,
    }
}

/// Asks every question once for the ranking, and once more for each budget. No access is recorded.
///
/// # Errors
/// Fails if the daemon fails, or if it refuses a request although no requirement is missing.
pub fn measure(
    client: &mut Client,
    mode: BenchMode,
    workspace: &str,
    questions: &[EvidenceQuestion],
    args: &QuestionArguments,
) -> Result<ModeResult> {
    let request = |question: &EvidenceQuestion| SearchRequest {
        mode: wire_mode(mode),
        record: false,
        ..SearchRequest::new(workspace, question.query.as_str())
    };
    if let Some(first) = questions.first() {
        // This question loads the model and warms the caches, so that no measurement includes this time.
        match client.call::<SearchResponse>(&request(first).into()) {
            Err(ClientError::Refused(error)) if error.data.kind == ErrorKind::Degraded => {
                return Ok(ModeResult::Refused(error.message));
            }
            answer => answer?,
        };
    }
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        let ranked = SearchRequest {
            limit: Some(depth(args)),
            ..request(question)
        };
        let begun = Instant::now();
        let answer: SearchResponse = client.call(&ranked.into())?;
        let latency_ms = begun.elapsed().as_secs_f64() * 1000.0;
        let mut budget_recall = BTreeMap::new();
        for budget in &args.budgets {
            let within = SearchRequest {
                limit: Some(MAX_LIMIT),
                budget_tokens: Some(*budget),
                ..request(question)
            };
            let answer: SearchResponse = client.call(&within.into())?;
            let found = ranking(&answer.results, DistinctBy::None);
            budget_recall.insert(*budget, recall(&found, &question.evidence));
        }
        outcomes.push(QuestionOutcome {
            judged: judge(
                &ranking(&answer.results, args.distinct),
                &question.evidence,
                &args.k,
            ),
            budget_recall,
            tokens: answer.tokens as f64,
            latency_ms,
            degraded: answer.index.degraded,
        });
    }
    Ok(ModeResult::Outcomes(outcomes))
}

/// Returns the number of results to request. It is the largest k of the figures, or the maximum if results of the same
/// place are merged afterwards.
fn depth(args: &QuestionArguments) -> u32 {
    match args.distinct {
        DistinctBy::None => args.k.iter().copied().max().unwrap_or(1).clamp(10, MAX_LIMIT),
        DistinctBy::Section | DistinctBy::File => MAX_LIMIT,
    }
}
