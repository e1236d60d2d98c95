//! Whole sections around the nearest chunks.

use std::time::{Duration, Instant};

use anyhow::Result;
use hippo_proto::{GetRequest, GetResponse, Request};
use hippo_types::tokens;

use crate::bench::BenchEnvironment;
use crate::bench::ask::{AnswerSpan, AskOutcome, Asker, BUDGETS, BenchAnswer, BenchQuestion, recall};

/// Number of sections to read.
const SECTIONS: usize = 3;
/// Time limit of one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads the whole sections around the nearest chunks, like an agent that opens the files.
///
/// # Errors
/// Fails if the daemon refuses a request.
pub fn measure(
    ground: &BenchEnvironment<'_>,
    root: &str,
    questions: &[BenchQuestion],
) -> Result<Vec<AskOutcome>> {
    let mut asker = Asker::new(ground.scratch, root)?;
    let mut client = ground.scratch.connect(PATIENCE)?;
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        let begun = Instant::now();
        let (found, _) = asker.nearest(&question.query)?;
        let mut read: Vec<(AnswerSpan, String)> = Vec::new();
        for hit in &found.results {
            let known = |span: &AnswerSpan| {
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
            let span = AnswerSpan {
                path: text.path,
                start_line: text.start_line,
                end_line: text.end_line,
            };
            // `get` returns the first of several sections with the same title.
            if known(&span) {
                read.push((span, text.text));
            }
        }
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let spans: Vec<AnswerSpan> = read.iter().map(|(span, _)| span.clone()).collect();
        let bytes: usize = read.iter().map(|(_, text)| text.len()).sum();
        let of = |spans: &[AnswerSpan], bytes: usize| BenchAnswer {
            recall: recall(spans, &question.evidence),
            tokens: tokens::of_bytes(bytes) as f64,
            ms,
            by_index: false,
        };
        outcomes.push(AskOutcome {
            plain: of(&spans, bytes),
            within: BUDGETS
                .iter()
                .map(|budget| of(&beginning(&read, *budget), bytes))
                .collect(),
        });
    }
    Ok(outcomes)
}

/// Returns the whole lines that a reader sees within the budget.
fn beginning(read: &[(AnswerSpan, String)], budget: u32) -> Vec<AnswerSpan> {
    let mut left = tokens::bytes(budget as usize);
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
            spans.push(AnswerSpan {
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
