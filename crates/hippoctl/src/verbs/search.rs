//! `search`: search in the memory.

use std::path::PathBuf;

use hippo_proto::{ErrorKind, SearchHit, SearchRequest, SearchResponse, WorkspaceListRequest};

use crate::connect::{DaemonSession, current_dir, text};
use crate::failure::{Exit, Failure};
use crate::live::{self, Screen};
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
    let searched = match args.interactive {
        true => interactive(session, args, out).map(|()| true),
        false => run(session, args, out),
    };
    match searched {
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
    let all = args.all;
    let mut request = request(args);
    let answer = if several {
        let roots = match all {
            true => {
                let list = session.call(WorkspaceListRequest {})?.workspaces;
                list.into_iter().map(|workspace| workspace.root).collect()
            }
            false => given.iter().map(|dir| text(dir)).collect::<Result<Vec<_>, _>>()?,
        };
        let mut answers = Vec::new();
        for root in roots {
            let request = SearchRequest {
                workspace: root.clone(),
                // An answer from an entry has no features. With a minimum score, the daemon always searches.
                min_score: request.min_score.or(Some(0.0)),
                explain: true,
                ..request.clone()
            };
            let mut answer = session.call(request)?;
            // With --all, each text is a result of its own workspace.
            let is_shared =
                |hit: &SearchHit| hit.origin.as_ref().is_some_and(|origin| origin.share.is_some());
            answer.results.retain(|hit| !(all && is_shared(hit)));
            answers.push((root, answer));
        }
        use_one_scale(&mut answers);
        let mut merged = merge(answers, &request)?;
        if !request.explain {
            merged.results.iter_mut().for_each(|hit| hit.explain = None);
        }
        merged
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
    let is_irrelevant = answer.nothing_relevant && !is_restricted && !out.json;
    if is_irrelevant && out.on_terminal {
        out.remark(
            "nothing relevant found; this is the nearest passage (for all weak results: --min-score 0)",
        );
        let mut nearest = answer.clone();
        nearest.results.truncate(1);
        out.answer(&nearest, |nearest, style| {
            render::search::search(nearest, Some(&view), style)
        })?;
    } else {
        if is_irrelevant {
            out.remark("nothing relevant found: all results are weak");
        }
        let view = Some(&view).filter(|_| out.on_terminal && !request.record);
        out.answer(&answer, |answer, style| {
            render::search::search(answer, view, style)
        })?;
    }
    Ok(!answer.results.is_empty() && !is_irrelevant)
}

/// Returns the request of a search, without a workspace.
fn request(args: SearchArgs) -> SearchRequest {
    SearchRequest {
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
        client: Some(if args.record { "agent" } else { "cli" }.to_owned()),
        log: true,
    }
}

/// Searches while the user types.
fn interactive(session: &mut DaemonSession, args: SearchArgs, out: &Output) -> Result<(), Failure> {
    let request = SearchRequest {
        workspace: session.workspace()?,
        ..request(args)
    };
    let screen = Screen::open(
        "search --interactive",
        "without a terminal: hippoctl search QUERY",
        out,
    )?;
    live::find::find(session, screen, request)
}

/// Makes the scores of the answers comparable: if a workspace has only scores of the first ranking, for example because
/// it has no vectors yet, uses the scores of the first ranking for all.
fn use_one_scale(answers: &mut [(String, SearchResponse)]) {
    let first = |hit: &SearchHit| hit.explain.as_ref()?.get("first").copied();
    let has_second = |hit: &SearchHit| first(hit).is_some();
    let hits = || answers.iter().flat_map(|(_, answer)| &answer.results);
    if hits().any(has_second) && !hits().all(has_second) {
        for hit in answers.iter_mut().flat_map(|(_, answer)| &mut answer.results) {
            hit.score = first(hit).unwrap_or(hit.score);
        }
    }
}

/// Merges the answers of several workspaces into one answer with absolute paths. All scores have the same scale.
fn merge(answers: Vec<(String, SearchResponse)>, request: &SearchRequest) -> Result<SearchResponse, Failure> {
    let merged = answers.into_iter().map(|(root, mut answer)| {
        for hit in answer.results.iter_mut().filter(|hit| hit.origin.is_none()) {
            hit.path = format!("{root}/{}", hit.path);
            hit.superseded_by = hit.superseded_by.take().map(|newer| format!("{root}/{newer}"));
        }
        answer
            .notes
            .iter_mut()
            .for_each(|note| *note = format!("{root}: {note}"));
        answer
    });
    let is_weak = |answer: &SearchResponse| answer.nothing_relevant || answer.results.is_empty();
    let merged = merged.reduce(|mut one, mut other| {
        one.nothing_relevant = is_weak(&one) && is_weak(&other);
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
    merged.nothing_relevant &= !merged.results.is_empty();
    merged.tokens = merged.results.iter().map(|hit| u64::from(hit.tokens)).sum();
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(score: f32, explain: serde_json::Value) -> (String, SearchResponse) {
        let hit = json!({
            "id": "c1", "path": "a.md", "start_line": 1, "end_line": 1, "heading": [], "score": score, "tokens": 1,
            "text": "a", "explain": explain,
        });
        let answer = json!({
            "query": "q", "mode": "hybrid", "strategy": "search", "results": [hit], "tokens": 1, "took_ms": 1.0,
            "index": {"generation": 1, "pending": 0, "lag_ms": 0}, "notes": [],
        });
        (String::new(), serde_json::from_value(answer).unwrap())
    }

    #[test]
    fn scores_of_the_second_ranking_are_compared_only_with_each_other() {
        let scores = |mut answers: Vec<(String, SearchResponse)>| -> Vec<f32> {
            use_one_scale(&mut answers);
            answers
                .iter()
                .map(|(_, answer)| answer.results[0].score)
                .collect()
        };
        let second = || answer(0.25, json!({"first": 0.75, "lexical_unit": 0.5}));
        let first = || answer(0.5, json!({"lexical_unit": 0.5}));
        assert_eq!(scores(vec![second(), first()]), [0.75, 0.5]);
        assert_eq!(scores(vec![second(), second()]), [0.25, 0.25]);
        assert_eq!(scores(vec![first(), first()]), [0.5, 0.5]);
    }
}
