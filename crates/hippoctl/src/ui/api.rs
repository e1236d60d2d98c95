//! Requests of the page to the daemon, and the events for the page.

use std::io::Write;
use std::time::{Duration, Instant};

use hippo_proto::{Request, SubscribeRequest, SubscribeResponse, parse_request};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guard::Permission;
use super::http::{HttpResponse, write_event_head};
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::verbs::prompt::compute_prompt;

/// Interval of empty lines in a stream of events, which show that the page is still open.
const ALIVE: Duration = Duration::from_secs(15);

/// A request of the page.
pub enum PageCall {
    /// A request for the daemon.
    Daemon(Box<Request>),
    /// The text that the next session gets.
    Prompt(String),
}

#[derive(Deserialize)]
struct PageMessage {
    method: String,
    #[serde(default)]
    params: Map<String, Value>,
}

/// Parses a request of the page, and returns the permission that it needs. Reads leave no trace in the strength of
/// entries.
///
/// # Errors
/// Returns the refusal of a request that is invalid or that the page may not send.
pub fn parse_call(body: &[u8]) -> Result<(PageCall, Permission), HttpResponse> {
    let refuse = |why: &str| HttpResponse::refusal("400 Bad Request", why);
    let message: PageMessage =
        serde_json::from_slice(body).map_err(|_| refuse("the body is not a request"))?;
    if message.method == "prompt" {
        let workspace = message
            .params
            .get("workspace")
            .and_then(Value::as_str)
            .unwrap_or_default();
        return Ok((PageCall::Prompt(workspace.to_owned()), Permission::Read));
    }
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": message.method, "params": message.params});
    let parsed = parse_request(line.to_string().as_bytes());
    let mut request = parsed.map_err(|reply| match reply.outcome {
        Err(error) => HttpResponse::json("400 Bad Request", &json!({"error": error})),
        Ok(_) => refuse("the body is not a request"),
    })?;
    let access = match &mut request.request {
        Request::Status(_)
        | Request::WorkspaceList(_)
        | Request::RecallLog(_)
        | Request::RecallWhy(_)
        | Request::IndexList(_)
        | Request::IndexShow(_)
        | Request::CycleHistory(_)
        | Request::ContextList(_)
        | Request::TreeShow(_)
        | Request::TreePending(_)
        | Request::ModelList(_)
        | Request::Audit(_) => Permission::Read,
        Request::Search(search) => {
            search.record = false;
            search.client = Some("ui".to_owned());
            Permission::Read
        }
        Request::Get(get) => {
            get.peek = true;
            Permission::Read
        }
        Request::ContextFetch(fetch) => {
            fetch.session = None;
            Permission::Read
        }
        Request::Doctor(doctor) if !doctor.fix && !doctor.rebuild => Permission::Read,
        Request::CycleRun(run) if run.dry_run => Permission::Read,
        Request::CycleRun(_)
        | Request::CycleUndo(_)
        | Request::IndexEdit(_)
        | Request::IndexForget(_)
        | Request::IndexRestore(_) => Permission::Write,
        other => {
            let why = format!("the page may not call {}", other.method());
            return Err(HttpResponse::refusal("403 Forbidden", &why));
        }
    };
    Ok((PageCall::Daemon(Box::new(request.request)), access))
}

/// Answers a request of the page.
pub fn answer(session: &mut DaemonSession, call: PageCall) -> HttpResponse {
    let answered = match call {
        PageCall::Daemon(request) => session.send(&request),
        PageCall::Prompt(workspace) => compute_prompt(session, workspace.as_ref(), None).and_then(|prompt| {
            serde_json::to_value(prompt).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
        }),
    };
    match answered {
        Ok(result) => HttpResponse::result(&result),
        Err(Failure {
            message, hint, kind, ..
        }) => {
            let error = json!({"error": {"message": message, "hint": hint, "kind": kind}});
            HttpResponse::json("200 OK", &error)
        }
    }
}

/// Sends the events of the daemon until the page is closed or the daemon ends.
///
/// # Errors
/// Fails if the daemon cannot be reached, or if the page is closed.
pub fn stream_events(session: &DaemonSession, stream: &mut impl Write) -> std::io::Result<()> {
    let failed = |error: hippo_proto::ClientError| std::io::Error::other(error.to_string());
    let mut client = session.connect_only().map_err(failed)?;
    let subscribe = Request::from(SubscribeRequest::default());
    client.call::<SubscribeResponse>(&subscribe).map_err(failed)?;
    write_event_head(stream)?;
    client.set_timeout(Some(ALIVE));
    loop {
        let begun = Instant::now();
        match client.notifications().next() {
            Some(event) => stream.write_all(format!("data: {}\n\n", event.params).as_bytes())?,
            None if begun.elapsed() + Duration::from_millis(100) < ALIVE => return Ok(()),
            None => stream.write_all(b":\n\n")?,
        }
    }
}
