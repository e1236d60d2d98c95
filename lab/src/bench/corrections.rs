//! Ranks of corrected answers against their older versions.

use std::fs;

use anyhow::{Context, Result};
use hippo_proto::{SearchMode, SearchRequest};
use serde::Deserialize;

use super::BenchEnvironment;
use super::ask::{AnswerSpan, Asker};
use super::table::Figure;

/// Number of results in which the benchmark looks for the current and the older text.
const LIMIT: u32 = 20;

/// A question and the places of its answers. The last answer is the current one.
#[derive(Deserialize)]
struct CorrectedQuestion {
    query: String,
    evidence: Vec<AnswerSpan>,
    group: String,
}

/// Measures the rank of current texts against older ones on memaware and BEAM.
///
/// # Errors
/// Fails if the data is missing, or the client fails.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let mut sets = vec![("memaware".to_owned(), "questions_explicit.jsonl")];
    let beam = ground.workspaces.data("beam");
    for folder in fs::read_dir(&beam).with_context(|| format!("could not read {}", beam.display()))? {
        let name = folder?.file_name().to_string_lossy().into_owned();
        sets.push((format!("beam/{name}"), "questions.jsonl"));
    }
    sets.sort();
    let (mut found, mut above, mut both, mut both_above) = (0, 0, 0, 0);
    for (name, file) in sets {
        let path = ground.workspaces.data(&name).join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let root = ground.workspaces.get(&name)?.root;
        let mut asker = Asker::new(ground.scratch, &root)?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut question: CorrectedQuestion = serde_json::from_str(line)?;
            let is_update = question.group.replace('_', "-") == "knowledge-update";
            if !is_update || question.evidence.len() < 2 {
                continue;
            }
            question
                .evidence
                .sort_by(|a, b| (&a.path, a.start_line).cmp(&(&b.path, b.start_line)));
            let Some((current, older)) = question.evidence.split_last() else {
                continue;
            };
            let request = SearchRequest {
                limit: Some(LIMIT),
                ..asker.request(SearchMode::Hybrid, &question.query)
            };
            let (answer, _) = asker.ask(request)?;
            let rank = |spans: &[AnswerSpan]| {
                answer.results.iter().position(|hit| {
                    spans.iter().any(|span| {
                        span.path == hit.path
                            && span.start_line <= hit.end_line
                            && hit.start_line <= span.end_line
                    })
                })
            };
            let (current, older) = (rank(std::slice::from_ref(current)), rank(older));
            let is_above = current.is_some_and(|current| older.is_none_or(|older| current < older));
            found += u32::from(current.is_some() || older.is_some());
            above += u32::from(is_above);
            both += u32::from(current.is_some() && older.is_some());
            both_above += u32::from(is_above && older.is_some());
        }
    }
    let what = format!("corrected answers, {found} questions: the current text is above the older one");
    let value = format!("{above} of {found}, {both_above} of {both} with both among {LIMIT} results");
    Ok(vec![Figure::new("corrections", what, value)])
}
