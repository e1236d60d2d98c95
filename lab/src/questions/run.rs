//! Answers of the daemon, and their latency.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use hippo_proto::{Client, ClientError, ErrorKind, MAX_LIMIT, Mode, SearchRequest, SearchResponse};

use super::distinct::ranking;
use super::file::Question;
use super::metrics::{Judged, judge, recall};
use super::{Arguments, Distinct, Way};

/// Result of one question in one mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Figures of the ranking.
    pub judged: Judged,
    /// Evidence recall within each token budget.
    pub budget_recall: BTreeMap<u32, f64>,
    /// Tokens of the answer's texts.
    pub tokens: f64,
    /// Milliseconds from request to answer, as seen by the client.
    pub latency_ms: f64,
    /// Missing part, as reported by the daemon.
    pub degraded: Option<String>,
}

/// Result of one mode.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// One outcome per question, in order.
    Outcomes(Vec<Outcome>),
    /// The daemon lacks a requirement of the mode. The string is the reason.
    Refused(String),
}

/// Returns `true` if the daemon serves this row.
pub fn is_served(mode: Way) -> bool {
    wire_mode(mode).is_some()
}

fn wire_mode(mode: Way) -> Option<Mode> {
    match mode {
        Way::Hybrid => Some(Mode::Hybrid),
        Way::Lexical => Some(Mode::Lexical),
        Way::Vector => Some(Mode::Vector),
        Way::Index => Some(Mode::Index),
        Way::Grep | Way::FullScan => None,
    }
}

/// Asks every question once for the ranking, and once more for each budget, without recording.
///
/// # Errors
/// Fails if the daemon fails, or if it refuses for any reason other than a missing requirement.
pub fn measure(
    client: &mut Client,
    mode: Way,
    workspace: &str,
    questions: &[Question],
    args: &Arguments,
) -> Result<Measured> {
    let request = |question: &Question| SearchRequest {
        mode: wire_mode(mode),
        record: false,
        ..SearchRequest::new(workspace, question.query.as_str())
    };
    if let Some(first) = questions.first() {
        // Loads the model and warms the caches, so that no measured question includes this time.
        match client.call::<SearchResponse>(&request(first).into()) {
            Err(ClientError::Refused(error)) if error.data.kind == ErrorKind::Degraded => {
                return Ok(Measured::Refused(error.message));
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
            let found = ranking(&answer.results, Distinct::None);
            budget_recall.insert(*budget, recall(&found, &question.evidence));
        }
        outcomes.push(Outcome {
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
    Ok(Measured::Outcomes(outcomes))
}

/// Returns the number of requested results: the depth of the deepest figure, or the maximum if places are merged
/// afterwards.
fn depth(args: &Arguments) -> u32 {
    match args.distinct {
        Distinct::None => args.k.iter().copied().max().unwrap_or(1).clamp(10, MAX_LIMIT),
        Distinct::Section | Distinct::File => MAX_LIMIT,
    }
}
