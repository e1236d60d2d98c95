//! Records of answered questions for the recall log.

use hippo_proto::{LoggedPassage, LoggedQuestion, RecallRequest, SearchMode, SearchResponse, Viewer};
use hippo_rank::floor::FLOOR;
use hippo_types::time::rfc3339;

use super::hit::log_hit;
use super::{SearchState, Searcher};
use crate::message::WorkspaceMessage;
use crate::view::WorkspaceView;

/// Maximum number of returned passages in a record.
const RETURNED: usize = 20;
/// Maximum number of dropped passages in a record.
const DROPPED: usize = 10;

/// Returns the first of the dropped passages.
pub(super) fn shorten(dropped: &[LoggedPassage]) -> Vec<LoggedPassage> {
    dropped.iter().take(DROPPED).cloned().collect()
}

/// Sends a search to the recall log, unless the request forbids it.
pub(super) fn log_search(state: &SearchState, response: &SearchResponse, dropped: Vec<LoggedPassage>) {
    let request = &state.question.request;
    if !request.log {
        return;
    }
    let given = response.results.iter().take(RETURNED);
    let given = given.map(|hit| log_hit(hit, "given"));
    let filters = [
        ("path", &request.path),
        ("since", &request.since),
        ("until", &request.until),
    ];
    let filters = filters.map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")));
    let filters: Vec<String> = filters.into_iter().flatten().collect();
    let record = LoggedQuestion {
        id: 0,
        at: rfc3339(state.question.at),
        method: "search".to_owned(),
        client: request.client.clone(),
        agent: state.question.filter.viewer.0.clone(),
        session: None,
        question: request.query.clone(),
        mode: response.mode,
        filters: (!filters.is_empty()).then(|| filters.join(", ")),
        reason: None,
        floor: None,
        degraded: response.index.degraded.clone(),
        nothing_relevant: response.nothing_relevant,
        passages: given.chain(dropped).collect(),
        took_ms: response.took_ms,
    };
    send(&state.searcher, &state.view, record);
}

/// A prompt, and the agent that got it.
pub(super) struct AskedPrompt {
    pub viewer: Viewer,
    pub request: RecallRequest,
}

/// Sends the decision for a prompt to the recall log, unless `recall` is turned off.
pub(super) fn log_recall(
    searcher: &Searcher,
    view: &WorkspaceView,
    AskedPrompt { viewer, request }: AskedPrompt,
    (reason, passages): (&str, Vec<LoggedPassage>),
    took_ms: f64,
) {
    if !view.config.recall.enabled {
        return;
    }
    let record = LoggedQuestion {
        id: 0,
        at: rfc3339(searcher.clock.now()),
        method: "recall".to_owned(),
        client: request.client,
        agent: viewer.0,
        session: request.session,
        question: request.prompt,
        mode: SearchMode::Hybrid,
        filters: None,
        reason: Some(reason.to_owned()),
        floor: Some(FLOOR),
        degraded: None,
        nothing_relevant: false,
        passages,
        took_ms,
    };
    send(searcher, view, record);
}

fn send(searcher: &Searcher, view: &WorkspaceView, record: LoggedQuestion) {
    if view.config.recall.log_questions > 0 {
        let message = WorkspaceMessage::LogQuestion(Box::new(record));
        searcher.engine.send_to(&view.root, message);
    }
}
