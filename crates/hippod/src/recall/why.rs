//! Answers to `recall.why`: why a question finds a passage, or does not find it.

use std::sync::Arc;

use hippo_proto::{
    ExplainedPassage, MAX_LIMIT, Origin, RecallWhyRequest, RecallWhyResponse, RpcError, SearchHit,
    SearchMode, SearchRequest, Viewer, nearest,
};
use hippo_rank::floor::{FLOOR, confidence};
use hippo_rank::reason::{describe_match, telling_words};
use hippo_rank::rerank::CANDIDATES;
use hippo_store::vector::PreparedQuery;
use hippo_text::terms;

use super::attempt::{answer_fresh, embed};
use super::get::is_hidden;
use super::prompted::{features, first_score};
use super::shared::explain_missed;
use super::{SearchAnswer, SearchState, Searcher, search_error};
use crate::files;
use crate::scan::{Looker, PathClass};
use crate::tasks::run_blocking_on;
use crate::verify::Verifier;
use crate::view::{SearchSnapshot, WorkspaceView};

/// Number of explained results if the request names no passage.
const EXPLAINED: usize = 5;
/// A passage up to this number of times the limit of results is found with a larger limit.
const FURTHER: usize = 3;
/// Number of words of a missed passage that the suggestion names.
const WORDS: usize = 3;
/// Maximum number of words of a passage whose frequency is looked up.
const LOOKED_UP: usize = 60;

/// Handles `recall.why`.
///
/// # Errors
/// Returns the errors of [`super::search`].
pub async fn why(
    searcher: &Arc<Searcher>,
    viewer: Viewer,
    request: RecallWhyRequest,
) -> Result<RecallWhyResponse, RpcError> {
    let view = searcher.views.get(&request.workspace).await?;
    let limit = request
        .limit
        .map_or(view.config.search.limit, |limit| limit as usize);
    let mode = request.mode.unwrap_or(view.config.search.default_mode);
    let question = SearchRequest {
        // Entries of the index file have no features.
        mode: Some(if mode == SearchMode::Index {
            SearchMode::Hybrid
        } else {
            mode
        }),
        limit: Some(MAX_LIMIT),
        // The stored answer to a repeated question has no features. With a minimum score, the daemon always searches.
        min_score: Some(0.0),
        explain: true,
        record: false,
        log: false,
        ..SearchRequest::new(&request.workspace, &request.query)
    };
    let (state, answered) = answer_fresh(searcher, viewer, question).await?;
    let mut notes = answered.response.notes.clone();
    if answered.response.nothing_relevant && request.path.is_none() {
        notes.push("No passage answers the question; these are the best of the weak ones.".to_owned());
    }
    let passages = match request.path {
        None => {
            let results = answered.response.results.iter().enumerate();
            let shown = results.take(limit.min(EXPLAINED));
            shown
                .map(|(at, hit)| explain_hit(&request.query, at, hit))
                .collect()
        }
        Some(path) => {
            let model = state
                .view
                .snapshot()
                .model
                .clone()
                .filter(|_| state.question.meaning);
            let embedded = embed(&state, model).await;
            let line = request.line.unwrap_or(1);
            let explain = move |state: &SearchState| {
                let path = files::below(&state.view.root, std::path::Path::new(&path)).unwrap_or(path);
                let vector = embedded.as_ref().map(|one| &*one.vector);
                explain_place(state, &answered, (&path, line), limit, vector)
            };
            vec![run_blocking_on(&state, explain).await?]
        }
    };
    Ok(RecallWhyResponse {
        query: request.query,
        passages,
        notes,
    })
}

/// Explains a result.
fn explain_hit(query: &str, at: usize, hit: &SearchHit) -> ExplainedPassage {
    let features = features(hit);
    let first = first_score(hit);
    let passage = format!("{} {}", hit.heading.join(" "), hit.text);
    let mut because = describe_match(query, &hit.path, &passage, &features);
    because.push(match hit.explain.as_ref().and_then(|all| all.get("rank")) {
        Some(rank) => format!(
            "The first ranking put it at place {:.0} (score {first:.2}). The second ranking, which reads the texts \
             of the best {CANDIDATES} passages, gives it the score {:.2}.",
            rank.exp().max(1.0),
            hit.score
        ),
        None => format!("Its score is {:.2}.", hit.score),
    });
    if let Some(Origin {
        share: Some(share),
        workspace,
        ..
    }) = &hit.origin
    {
        because.push(format!("The workspace {workspace} shares it ({share})."));
    }
    if let Some(newer) = &hit.superseded_by {
        because.push(format!(
            "A later text corrects it, and is ranked before it: {newer}. If that is wrong, add \
             `<!-- hippod: valid -->` to the line."
        ));
    }
    if features.vector_unit.is_some() {
        let confidence = confidence(first, &features);
        let (is, not) = match confidence >= FLOOR {
            true => ("reaches", ""),
            false => ("is below", "not "),
        };
        because.push(format!(
            "For a prompt, its confidence {confidence:.2} {is} the floor {FLOOR:.2}, so the hook would {not}add it."
        ));
    }
    ExplainedPassage {
        path: hit.path.clone(),
        start_line: hit.start_line,
        end_line: hit.end_line,
        rank: u32::try_from(at + 1).ok(),
        score: Some(hit.score),
        outcome: "given".to_owned(),
        because,
        change: None,
    }
}

/// Explains why the text at a line is in the answer, or why not. `limit` is the number of results of the answer.
fn explain_place(
    state: &SearchState,
    answered: &SearchAnswer,
    (path, line): (&str, u32),
    limit: usize,
    vector: Option<&[f32]>,
) -> Result<ExplainedPassage, RpcError> {
    let query = &state.question.request.query;
    let results = &answered.response.results;
    let is_here = |hit: &SearchHit| hit.path == path && (hit.start_line..=hit.end_line).contains(&line);
    if let Some(at) = results.iter().position(is_here) {
        let mut passage = explain_hit(query, at, &results[at]);
        if at >= limit {
            "below-limit".clone_into(&mut passage.outcome);
            let rank = at + 1;
            passage
                .because
                .push(format!("It is result {rank}, and the answer has {limit}."));
            let words = rare_words(state, &state.view.snapshot(), &results[at].text)?.join(" ");
            let words = format!("use words of the passage in the question, for example: {words}");
            passage.change = Some(match rank <= FURTHER * limit {
                true => format!("Ask for more results (--limit {rank}), or {words}"),
                false => words.replacen("use", "Use", 1),
            });
        }
        return Ok(passage);
    }
    if let Some(missed) = explain_missed(state, path, line) {
        return Ok(missed);
    }
    let missed = |outcome: &str, because: Vec<String>, change: Option<String>| ExplainedPassage {
        path: path.to_owned(),
        start_line: line,
        end_line: line,
        outcome: outcome.to_owned(),
        because,
        change,
        ..ExplainedPassage::default()
    };
    let snapshot = state.view.snapshot();
    let viewer = &state.question.filter.viewer;
    let document = snapshot
        .documents(viewer)
        .find(|(_, document)| *document.path == *path);
    let Some((row, document)) = document else {
        let paths = snapshot.documents(viewer).map(|(_, document)| &*document.path);
        let nearest = nearest(path, paths).map(str::to_owned);
        let mut documents = snapshot.corpus.documents();
        let is_hidden =
            is_hidden(&state.view, viewer, path) || documents.any(|(_, document)| *document.path == *path);
        drop(documents);
        drop(snapshot);
        let (outcome, because, change) = explain_missing_file(&state.view, path, is_hidden, nearest);
        return Ok(missed(outcome, vec![because], change));
    };
    let found = snapshot.chunk_at(document.chunks(), line).and_then(|chunk| {
        let span = snapshot.spans.get(chunk as usize).copied().flatten()?;
        let mark = snapshot.facts.get(&row)?.mark;
        Some((chunk, span, mark))
    });
    let Some((chunk, span, mark)) = found else {
        let because = "The line is blank, a comment, or not in the file, so no passage contains it.";
        let change = format!("Name a line with text; to see the lines: hippoctl get {path}");
        return Ok(missed("no-text", vec![because.to_owned()], Some(change)));
    };
    let mut passage = missed("no-match", Vec::new(), None);
    (passage.start_line, passage.end_line) = (span.start_line, span.end_line);
    let place = format!("{path}:{}", span.start_line);
    if let Some(dropped) = answered.dropped.iter().find(|dropped| dropped.place == place) {
        passage.outcome.clone_from(&dropped.outcome);
        passage.score = Some(dropped.score);
        let (because, change) = explain_drop(&dropped.outcome);
        passage.because.push(because.to_owned());
        passage.change = change.map(str::to_owned);
        return Ok(passage);
    }
    if let Some(same) = equal_text(&snapshot, chunk, results) {
        "equal-text".clone_into(&mut passage.outcome);
        passage.because.push(format!(
            "The answer contains the same text from {}:{}, and repeats no text.",
            same.path, same.start_line
        ));
        return Ok(passage);
    }
    let ranked = state.rank(&snapshot, vector, Some(&|other| other == chunk))?;
    let mut verifier = Verifier::new(&state.view.root, state.view.config.sources.max_file_bytes);
    let section = snapshot.corpus.place(chunk).map_or(0, |place| place.section);
    let heading = snapshot.heading_path(row, section).join(" ");
    let text = verifier
        .check(path, mark, span)
        .map(|hit| hit.text)
        .unwrap_or_default();
    let found = ranked.first().map(|ranked| ranked.explain).unwrap_or_default();
    passage.because = describe_match(query, path, &format!("{heading} {text}"), &found);
    let has_vector = vector
        .and_then(|vector| PreparedQuery::new(vector).ok())
        .is_none_or(|query| {
            let scores = snapshot.vectors.scores(&query, &[chunk]);
            scores.is_ok_and(|scores| scores.first().is_some_and(|score| !score.is_nan()))
        });
    if !has_vector {
        passage
            .because
            .push("It has no vector yet, so only its words can find it.".to_owned());
        let install = answered.response.index.degraded.as_deref() == Some("no-model");
        let command = if install {
            "hippoctl model pull"
        } else {
            "hippoctl sync --wait"
        };
        passage.change = Some(format!("Run: {command}"));
    }
    if let Some(ranked) = ranked.first() {
        passage.score = Some(ranked.score);
        let last = results.get(..limit).unwrap_or(results).last();
        if let Some(last) = last.filter(|last| first_score(last) > ranked.score) {
            "below-limit".clone_into(&mut passage.outcome);
            passage.because.push(format!(
                "Its score in the first ranking is {:.2}; the last result of the answer has {:.2}.",
                ranked.score,
                first_score(last)
            ));
        }
    }
    let words = rare_words(state, &snapshot, &text)?;
    if passage.change.is_none() && !words.is_empty() {
        let words = words.join(" ");
        passage.change = Some(format!(
            "Use words of the passage in the question, for example: {words}"
        ));
    }
    Ok(passage)
}

/// Returns the reason why the index does not contain a file, and the change that would index the file. A file that the
/// reader may not see is explained like a missing file.
fn explain_missing_file(
    view: &WorkspaceView,
    path: &str,
    is_hidden: bool,
    nearest: Option<String>,
) -> (&'static str, String, Option<String>) {
    if is_hidden || !hippo_fs::exists(&view.root, path) {
        let because = "The workspace contains no file with this path.".to_owned();
        let change = match nearest {
            Some(nearest) => format!("Check the path. A similar path is {nearest}."),
            None => "Check the path.".to_owned(),
        };
        return ("no-file", because, Some(change));
    }
    let class = Looker::new(&view.root, &view.rules, &view.config).look(path);
    let (because, change) = match class {
        PathClass::File(_) => (
            "The file is a memory file, but it is not indexed yet.".to_owned(),
            "Run: hippoctl sync --wait".to_owned(),
        ),
        PathClass::Skipped(reason) => (
            format!("hippod skips the file: {reason}."),
            "Remove the reason, then run: hippoctl sync --wait".to_owned(),
        ),
        _ => {
            let reason = view
                .rules
                .why_not(path)
                .map_or(String::new(), |why| format!(": {why}"));
            (
                format!("The file is not a memory file{reason}."),
                format!("Add \"{path}\" to the setting sources.include, or move the text to memory/."),
            )
        }
    };
    ("not-indexed", because, Some(change))
}

/// Returns a sentence about the reason why a passage was dropped, and the change that would return it.
fn explain_drop(outcome: &str) -> (&'static str, Option<&'static str>) {
    match outcome {
        "near-duplicate" => (
            "A better result has nearly the same words, so the answer omits it.",
            None,
        ),
        "only-heading" => (
            "It is only a heading, without a word of the question.",
            Some("Name the line below the heading."),
        ),
        "changed" => (
            "The file has changed since it was indexed, and no longer contains this text.",
            Some("Run: hippoctl sync --wait"),
        ),
        _ => (
            "The answer has no room for it.",
            Some("Ask for more results with --limit, or a larger --budget."),
        ),
    }
}

/// Returns the result that has the same text as a chunk.
fn equal_text<'h>(snapshot: &SearchSnapshot, chunk: u32, results: &'h [SearchHit]) -> Option<&'h SearchHit> {
    let mark = snapshot.corpus.place(chunk)?.mark;
    results.iter().find(|hit| {
        let document = snapshot
            .corpus
            .documents()
            .find(|(_, document)| *document.path == *hit.path);
        let other = document.and_then(|(_, document)| snapshot.chunk_at(document.chunks(), hit.start_line));
        let other = other.and_then(|other| snapshot.corpus.place(other));
        other.is_some_and(|other| other.mark == mark)
    })
}

/// Returns the words of a passage that the fewest chunks contain and that are not in the question.
fn rare_words(state: &SearchState, snapshot: &SearchSnapshot, text: &str) -> Result<Vec<String>, RpcError> {
    let asked: Vec<String> = state
        .question
        .terms
        .iter()
        .map(|term| term.term.clone())
        .collect();
    let mut words = telling_words(text);
    words.retain(|(word, terms)| {
        word.chars().all(char::is_alphanumeric) && terms.iter().all(|term| !asked.contains(&term.term))
    });
    words.truncate(LOOKED_UP);
    let expressions: Vec<String> = words
        .iter()
        .map(|(_, found)| terms::fts_query(&found[0]))
        .collect();
    let lists = state
        .view
        .postings(snapshot, &expressions)
        .map_err(|error| search_error(&state.searcher, &state.view, error))?;
    let mut by_rarity: Vec<(usize, String)> = lists
        .iter()
        .map(|list| list.len())
        .zip(words.into_iter().map(|(word, _)| word))
        .collect();
    by_rarity.sort_by_key(|(count, _)| *count);
    Ok(by_rarity.into_iter().take(WORDS).map(|(_, word)| word).collect())
}
