//! `search`: search in the memory.

use std::path::PathBuf;

use hippo_proto::{ErrorKind, SearchHit, SearchMode, SearchRequest, SearchResponse, WorkspaceListRequest};
use hippo_rank::floor::RELEVANT;
use serde::Serialize;

use crate::connect::{DaemonSession, current_dir, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use crate::render::passage::TerminalView;
use hippoctl::args::SearchArgs;

/// Number of results that the daemon returns if a request limits neither their number nor their tokens.
const LIMIT: u32 = 10;
/// Searches the memory of the workspace, or of several workspaces, and prints the results.
///
/// # Errors
/// Fails silently if nothing relevant was found. Fails if no workspace is found, or if the daemon refuses the request.
pub fn search(session: &mut DaemonSession, args: SearchArgs, out: &mut Output) -> Result<(), Failure> {
    match run(session, args, out) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::silent(Exit::Failed)),
        Err(mut failure) => {
            // The exit code 1 means that the search found nothing.
            if failure.exit == Exit::Failed {
                failure.exit = Exit::Usage;
                failure.kind = failure.kind.or(Some(ErrorKind::Internal));
            }
            Err(failure)
        }
    }
}

/// Searches, and prints the results. Returns whether the search was successful: there are results, and they are not
/// irrelevant. A program that reads JSON decides itself which results are relevant.
fn run(session: &mut DaemonSession, args: SearchArgs, out: &mut Output) -> Result<bool, Failure> {
    let given = session.given_workspaces()?;
    if args.all && !given.is_empty() {
        return Err(Failure::new(Exit::Usage, "give either --all or --workspace"));
    }
    let several = args.all || given.len() > 1;
    let mut request = SearchRequest {
        workspace: String::new(),
        query: args.query.join(" "),
        mode: args.mode,
        limit: args.limit,
        budget_tokens: args.budget,
        min_score: args.min_score,
        path: args.path,
        since: args.since,
        until: args.until,
        explain: args.explain,
        record: args.record,
    };
    let answer = if several {
        let roots = match args.all {
            true => {
                let list = session.call(WorkspaceListRequest {})?.workspaces;
                list.into_iter().map(|workspace| workspace.root).collect()
            }
            false => given.iter().map(|dir| text(dir)).collect::<Result<Vec<_>, _>>()?,
        };
        let mut answers = Vec::new();
        for root in roots {
            request.workspace.clone_from(&root);
            answers.push((root, session.call(request.clone())?));
        }
        merge(answers, &request)?
    } else {
        request.workspace = session.workspace()?;
        session.call(request.clone())?
    };
    for note in render::search::notes(&answer) {
        out.remark(&note);
    }
    let root = (!several).then(|| PathBuf::from(&request.workspace));
    let view = TerminalView::new(current_dir().unwrap_or_default(), root, &answer.query);
    // An agent that records its search can have a terminal, too, but needs all results.
    let is_restricted = request.min_score.is_some() || request.explain || request.record;
    let is_irrelevant = !is_restricted && is_irrelevant(&answer, &view);
    if out.json {
        let answer = JsonAnswer {
            answer: &answer,
            nothing_relevant: is_irrelevant,
        };
        out.answer(&answer, |_, _| String::new())?;
    } else if is_irrelevant && out.on_terminal {
        out.remark("nothing relevant found; to print the weak results, add --min-score 0");
    } else {
        if is_irrelevant {
            out.remark("nothing relevant found: all results are weak");
        }
        let view = Some(&view).filter(|_| out.on_terminal && !request.record);
        out.answer(&answer, |answer, style| {
            render::search::search(answer, view, style)
        })?;
    }
    Ok(!answer.results.is_empty() && (out.json || !is_irrelevant))
}

/// The answer as JSON.
#[derive(Serialize)]
struct JsonAnswer<'a> {
    #[serde(flatten)]
    answer: &'a SearchResponse,
    /// True if all results are weak; absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nothing_relevant: bool,
}

/// Returns whether no result concerns the query: all scores are low, and no result contains all words of the query.
/// Scores of degraded answers are not comparable with [`RELEVANT`].
fn is_irrelevant(answer: &SearchResponse, view: &TerminalView) -> bool {
    let is_weak = |hit: &SearchHit| hit.score < RELEVANT && !view.has_all_words(hit);
    answer.mode == SearchMode::Hybrid
        && answer.index.degraded.is_none()
        && !answer.results.is_empty()
        && answer.results.iter().all(is_weak)
}

/// Merges the answers of several workspaces into one answer with absolute paths. Scores are comparable between
/// workspaces.
fn merge(answers: Vec<(String, SearchResponse)>, request: &SearchRequest) -> Result<SearchResponse, Failure> {
    let merged = answers.into_iter().map(|(root, mut answer)| {
        for hit in &mut answer.results {
            hit.path = format!("{root}/{}", hit.path);
            hit.superseded_by = hit.superseded_by.take().map(|newer| format!("{root}/{newer}"));
        }
        answer
            .notes
            .iter_mut()
            .for_each(|note| *note = format!("{root}: {note}"));
        answer
    });
    let merged = merged.reduce(|mut one, mut other| {
        one.results.append(&mut other.results);
        one.notes.append(&mut other.notes);
        one.index.pending += other.index.pending;
        one.index.lag_ms = one.index.lag_ms.max(other.index.lag_ms);
        if one.index.degraded.is_none() {
            (one.index.degraded, one.index.why) = (other.index.degraded, other.index.why);
        }
        one.took_ms += other.took_ms;
        one
    });
    let mut merged = merged.ok_or_else(|| {
        let what = "no workspace is registered";
        Failure::new(Exit::NotFound, what).hint("register a folder: hippoctl workspace add DIR")
    })?;
    merged.results.sort_by(|a, b| b.score.total_cmp(&a.score));
    let most = match request.budget_tokens {
        Some(_) => request.limit,
        None => Some(request.limit.unwrap_or(LIMIT)),
    };
    merged
        .results
        .truncate(most.map_or(usize::MAX, |most| most as usize));
    let mut left = request.budget_tokens.unwrap_or(u32::MAX);
    merged.results.retain(|hit| {
        let fits = hit.tokens <= left;
        left -= if fits { hit.tokens } else { 0 };
        fits
    });
    merged.tokens = merged.results.iter().map(|hit| u64::from(hit.tokens)).sum();
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(mode: &str, score: f32, degraded: Option<&str>, text: &str) -> SearchResponse {
        let hit = json!({
            "id": "c1", "path": "memory/a.md", "start_line": 1, "end_line": 1, "heading": [], "score": score,
            "scores": Value::Null, "strength": Value::Null, "entry": Value::Null,
            "tokens": 3, "text": text, "date": Value::Null,
        });
        let index = json!({"generation": 1, "pending": 0, "lag_ms": 0, "degraded": degraded});
        let answer = json!({
            "query": "q", "mode": mode, "strategy": "search", "results": [hit], "tokens": 3, "index": index,
            "took_ms": 1.0,
        });
        serde_json::from_value(answer).unwrap()
    }

    #[test]
    fn weak_results_without_the_words_of_the_query_are_irrelevant() {
        let view = TerminalView::new("/w".into(), Some("/w".into()), "when do the pumps run?");
        let of = |mode, score, degraded, text| is_irrelevant(&answer(mode, score, degraded, text), &view);
        assert!(of("hybrid", 0.4, None, "A boat."));
        assert!(of("hybrid", 0.4, None, "A pump is blue."));
        assert!(!of("hybrid", 0.4, None, "The pump runs at night."));
        assert!(!of("hybrid", 0.6, None, "A boat."));
        assert!(!of("hybrid", 0.4, Some("no-model"), "A boat."));
        assert!(!of("lexical", 0.4, None, "A boat."));
        let nothing = SearchResponse {
            results: vec![],
            ..answer("hybrid", 0.4, None, "")
        };
        assert!(!is_irrelevant(&nothing, &view));
    }
}
