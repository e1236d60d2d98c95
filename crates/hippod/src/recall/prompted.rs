//! Answers to `recall` requests: passages for a prompt that did not ask for the memory.
//!
//! `recall` runs a search that records nothing. It returns only passages above a floor, each once per session, and no
//! text that reads like an instruction. The decisions are in the recall log.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::{
    LoggedPassage, RecallRequest, RecallResponse, RecalledPassage, RpcError, SearchHit, SearchMode,
    SearchRequest, SearchResponse, Viewer,
};
use hippo_rank::floor::{self, FLOOR, least_confidence};
use hippo_rank::rank::Features;
use hippo_redact::without_secrets;
use hippo_text::fence::{FENCE, fenced};
use hippo_text::instruction::is_instruction;
use hippo_text::source::SourceKind;
use hippo_text::text::{one_line, start};
use hippo_types::tokens;

use parking_lot::Mutex;

use super::{Searcher, log, search};
use crate::view::WorkspaceView;

/// Maximum number of passages in an answer.
const MOST: usize = 3;
/// Maximum size of the section in tokens.
const BUDGET: usize = 300;
/// Minimum room in bytes for the text of a further passage.
const LEAST: usize = 120;
/// Number of passages that the search returns.
const CANDIDATES: u32 = 10;
/// Number of candidates in the recall log.
const EXPLAINED: usize = 5;
/// Maximum number of bytes at the beginning of a prompt that the daemon searches for.
const READ: usize = 4 * 1024;
/// Default maximum time for the search. A prompt must not wait, for example while the model is loaded.
const PATIENCE: Duration = Duration::from_millis(300);
/// Number of sessions whose passages are kept.
const SESSIONS: usize = 256;

/// The workspace and the id of a session.
type SessionKey = (String, String);

/// Ids of the passages that each session was given, latest session last.
#[derive(Debug, Default)]
pub struct Recalls(Mutex<VecDeque<(SessionKey, HashSet<String>)>>);

impl Recalls {
    /// Forgets the passages that a session was given, because its context was replaced by a summary.
    pub fn forget(&self, session: &str) {
        self.0.lock().retain(|((_, known), _)| known != session);
    }

    fn given(&self, session: Option<&SessionKey>) -> HashSet<String> {
        let given = self.0.lock();
        let known = session.and_then(|key| given.iter().find(|(known, _)| known == key));
        known.map(|(_, ids)| ids.clone()).unwrap_or_default()
    }

    /// Adds the passages that a session was given.
    fn add(&self, session: SessionKey, passages: &[RecalledPassage]) {
        let mut given = self.0.lock();
        let at = given.iter().position(|(known, _)| *known == session);
        let known = at.and_then(|at| given.remove(at));
        let (key, mut ids) = known.unwrap_or_else(|| (session, HashSet::new()));
        ids.extend(passages.iter().map(|passage| passage.id.clone()));
        given.push_back((key, ids));
        if given.len() > SESSIONS {
            given.pop_front();
        }
    }
}

/// Handles `recall`.
///
/// # Errors
/// Returns the errors of [`search`].
pub async fn recall(
    searcher: &Arc<Searcher>,
    viewer: Viewer,
    request: RecallRequest,
) -> Result<RecallResponse, RpcError> {
    let begun = Instant::now();
    let view = searcher.views.get(&request.workspace).await?;
    let root = view.root.display().to_string();
    let session = request.session.clone().map(|session| (root.clone(), session));
    let mut choice = match candidates(searcher, &view, viewer.clone(), &request).await? {
        Ok(hits) => choose(&hits, &searcher.recalls.given(session.as_ref())),
        Err(reason) => Choice {
            reason,
            ..Choice::default()
        },
    };
    let took_ms = begun.elapsed().as_secs_f64() * 1e3;
    let candidates = std::mem::take(&mut choice.candidates);
    let request = log::AskedPrompt { viewer, request };
    log::log_recall(searcher, &view, request, (&choice.reason, candidates), took_ms);
    if let Some(session) = session.filter(|_| !choice.passages.is_empty()) {
        searcher.recalls.add(session, &choice.passages);
    }
    Ok(RecallResponse {
        tokens: tokens::of(&choice.text) as u64,
        text: choice.text,
        passages: choice.passages,
        reason: choice.reason,
        took_ms,
    })
}

/// Searches for the prompt. Returns the results, or the reason why there are none.
async fn candidates(
    searcher: &Arc<Searcher>,
    view: &WorkspaceView,
    viewer: Viewer,
    request: &RecallRequest,
) -> Result<Result<Vec<SearchHit>, String>, RpcError> {
    let prompt = start(&request.prompt, READ);
    if !view.config.recall.enabled {
        return Ok(Err("the setting recall.enabled is false".to_owned()));
    }
    if !floor::is_telling(prompt) {
        return Ok(Err("the prompt has fewer than two words to search for".to_owned()));
    }
    let question = SearchRequest {
        mode: Some(SearchMode::Hybrid),
        limit: Some(CANDIDATES),
        // The stored answer to a repeated question has no features. With a minimum score, the daemon always searches.
        min_score: Some(0.0),
        explain: true,
        record: false,
        log: false,
        ..SearchRequest::new(&request.workspace, prompt)
    };
    let limit = request
        .wait_ms
        .map_or(PATIENCE, |limit| Duration::from_millis(limit.into()));
    let Ok(answer) = tokio::time::timeout(limit, search(searcher, viewer, question)).await else {
        return Ok(Err(format!(
            "the search took longer than {} ms",
            limit.as_millis()
        )));
    };
    let SearchResponse {
        mut results, index, ..
    } = answer?;
    // A prompt contains no text that was changed on the server of the team.
    results.retain(|hit| hit.origin.as_ref().is_none_or(|origin| origin.verified));
    let by_meaning = results.iter().any(|hit| features(hit).vector_unit.is_some());
    Ok(match (results.is_empty(), by_meaning) {
        (true, _) => Err("no passage matches the prompt".to_owned()),
        (false, true) => Ok(results),
        (false, false) => {
            let why = index.why.unwrap_or_else(|| "search by meaning is off".to_owned());
            Err(format!("recall needs search by meaning: {why}"))
        }
    })
}

/// The decision for a prompt.
#[derive(Debug, Default)]
struct Choice {
    text: String,
    passages: Vec<RecalledPassage>,
    candidates: Vec<LoggedPassage>,
    reason: String,
}

/// Chooses the passages for a prompt from the results of a search.
fn choose(hits: &[SearchHit], given: &HashSet<String>) -> Choice {
    let excluded = |hit: &SearchHit| match hit {
        _ if hit.superseded_by.is_some() => Some("superseded"),
        _ if is_quarantined(hit) => Some("instruction"),
        _ if given.contains(&hit.id) => Some("given-before"),
        _ if SourceKind::from_path(&hit.path) == SourceKind::Session => Some("session"),
        _ => None,
    };
    let judged: Vec<_> = (hits.iter())
        .map(|hit| {
            (
                hit,
                floor::confidence(first_score(hit), &features(hit)),
                excluded(hit),
            )
        })
        .collect();
    let best = |eligible: bool| {
        let judged = judged
            .iter()
            .filter(|(_, _, excluded)| !eligible || excluded.is_none());
        judged.map(|(_, confidence, _)| *confidence).fold(0.0, f32::max)
    };
    let best_given = best(true);
    let mut body = String::new();
    let mut choice = Choice::default();
    for (hit, confidence, excluded) in &judged {
        let outcome = match excluded {
            _ if *confidence < least_confidence(best_given, &features(hit)) => "below-floor",
            Some(excluded) => excluded,
            None if choice.passages.len() == MOST => "not-needed",
            None => match add(&mut body, hit, *confidence) {
                Some(passage) => {
                    choice.passages.push(passage);
                    "given"
                }
                None => "no-room",
            },
        };
        if choice.candidates.len() < EXPLAINED || outcome == "given" {
            choice.candidates.push(LoggedPassage {
                place: format!("{}:{}", hit.path, hit.start_line),
                score: *confidence,
                outcome: outcome.to_owned(),
                ..LoggedPassage::default()
            });
        }
    }
    choice.text = fenced(&body, BUDGET, "hippoctl search");
    choice.reason = match choice.passages.len() {
        0 if best(false) >= FLOOR => "no passage above the floor may be returned".to_owned(),
        0 => format!("no passage reaches the floor of {FLOOR:.2}"),
        count => format!("passages chosen: {count} of {}", hits.len()),
    };
    choice
}

/// Appends a passage to the body of the section, if the section has room for it.
fn add(body: &mut String, hit: &SearchHit, confidence: f32) -> Option<RecalledPassage> {
    let heading = hit
        .heading
        .last()
        .map(|title| without_secrets(&one_line(title)).into_owned());
    let heading = heading.filter(|title| !title.is_empty());
    let origin = hit
        .origin
        .as_ref()
        .map(|origin| format!("not from this workspace, but from {}", origin.workspace));
    let about: Vec<String> = heading
        .into_iter()
        .chain(hit.date.clone())
        .chain(origin)
        .collect();
    let head = format!(
        "{}:{}-{} ({})\n",
        hit.path,
        hit.start_line,
        hit.end_line,
        about.join(", ")
    );
    let room = tokens::bytes(BUDGET).saturating_sub(FENCE + 96 + body.len() + head.len() + 1);
    let text = without_secrets(&hit.text);
    let text = text.trim();
    if text.is_empty() || room < LEAST.min(text.len()) {
        return None;
    }
    let text = match text.len() > room {
        true => format!("{} …", start(text, room - 4).trim_end()),
        false => text.to_owned(),
    };
    body.push_str(&head);
    body.push_str(&text);
    body.push('\n');
    Some(RecalledPassage {
        id: hit.id.clone(),
        path: hit.path.clone(),
        start_line: hit.start_line,
        end_line: hit.end_line,
        heading: hit
            .heading
            .iter()
            .map(|title| without_secrets(title).into_owned())
            .collect(),
        date: hit.date.clone(),
        scope: hit.scope.clone(),
        confidence,
        text,
    })
}

/// Returns whether the text of a result, its path or a heading above it reads like an instruction.
fn is_quarantined(hit: &SearchHit) -> bool {
    let texts = [&hit.text, &hit.path];
    texts
        .into_iter()
        .chain(&hit.heading)
        .any(|text| is_instruction(text))
}

/// Returns the score of the first ranking. The confidence is fitted to this score.
pub(super) fn first_score(hit: &SearchHit) -> f32 {
    let first = hit.explain.as_ref().and_then(|all| all.get("first"));
    first.copied().unwrap_or(hit.score)
}

/// Returns the features of a result that the confidence depends on.
pub(super) fn features(hit: &SearchHit) -> Features {
    let named = |name: &str| hit.explain.as_ref().and_then(|all| all.get(name)).copied();
    Features {
        lexical_unit: named("lexical_unit").unwrap_or(0.0),
        lexical_window: named("lexical_window").unwrap_or(0.0),
        lexical_passage: named("lexical_passage").unwrap_or(0.0),
        vector_unit: named("vector_unit"),
        vector_window: named("vector_window"),
        ..Features::default()
    }
}
