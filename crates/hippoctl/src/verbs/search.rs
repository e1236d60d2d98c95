//! `search`: search in the memory.

use std::path::PathBuf;

use hippo_proto::{SearchRequest, SearchResponse, WorkspaceListRequest};

use crate::connect::{DaemonSession, current_dir};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use crate::render::passage::TerminalView;
use hippoctl::args::SearchArgs;

/// Number of results that the daemon returns if a request limits neither their number nor their tokens.
const LIMIT: u32 = 10;

/// Searches the memory of the workspace, or of all workspaces, and prints the results.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon refuses the request.
pub fn search(session: &mut DaemonSession, args: SearchArgs, out: &mut Output) -> Result<(), Failure> {
    let all = args.all;
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
    let answer = if all {
        let mut answers = Vec::new();
        for workspace in session.call(WorkspaceListRequest {})?.workspaces {
            request.workspace.clone_from(&workspace.root);
            answers.push((workspace.root, session.call(request.clone())?));
        }
        merge(answers, &request)?
    } else {
        request.workspace = session.workspace()?;
        session.call(request.clone())?
    };
    for note in render::search::notes(&answer) {
        out.remark(&note);
    }
    let view = match out.is_terminal() {
        true => {
            let root = (!all).then(|| PathBuf::from(&request.workspace));
            Some(TerminalView::new(current_dir()?, root, &answer.query))
        }
        false => None,
    };
    out.answer(&answer, |answer, style| {
        render::search::search(answer, view.as_ref(), style)
    })
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
