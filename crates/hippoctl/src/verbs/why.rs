//! `why`: explanations of answers.

use hippo_proto::{
    GetResponse, LoggedQuestion, RecallLogRequest, RecallWhyRequest, SearchHit, SearchRequest,
};
use serde::Serialize;

use super::get::{pointed_text, split_number};
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::WhyArgs;

/// Number of bytes of a text for which similar texts are searched.
const SEARCHED: usize = 500;

/// Explains an answer, a missed passage, or the corrections of a text; or lists the last questions.
///
/// # Errors
/// Fails if no workspace is found, or if the daemon refuses the request.
pub fn why(session: &mut DaemonSession, args: WhyArgs, out: &mut Output) -> Result<(), Failure> {
    let mut question = args.question.join(" ");
    if args.last && args.missed.is_none() {
        let asked = last_questions(session, Some(1))?;
        return out.answer(&asked, |asked, style| render::why::details(asked, style));
    }
    if args.last {
        question = last_questions(session, Some(1))?.remove(0).question;
    }
    if let Some(missed) = args.missed {
        if question.is_empty() {
            let what = "--missed needs a question";
            return Err(Failure::new(Exit::Usage, what).hint("give the question, or --last"));
        }
        if split_number(&missed).is_none() && !missed.contains('#') {
            let hint = format!("add the line: --missed {missed}:LINE");
            return Err(Failure::new(Exit::Usage, "--missed needs a line").hint(hint));
        }
        let found = pointed_text(session, &missed, out);
        let (path, line) = match found {
            Ok((_, text)) => (text.path, text.start_line),
            // The daemon explains why it knows no such text.
            Err(_) => match split_number(&missed) {
                Some((path, line)) => (path.to_owned(), line),
                None => (missed, 1),
            },
        };
        return explain(session, question, Some((path, line)), args.limit, out);
    }
    if question.is_empty() {
        let asked = last_questions(session, args.limit)?;
        return out.answer(&asked, |asked, style| render::why::list(asked, style));
    }
    let is_pointer = matches!(&args.question[..], [word] if word.contains([':', '#']));
    if is_pointer {
        match pointed_text(session, &question, out) {
            Ok((workspace, text)) => {
                let chain = corrections(session, workspace, &text)?;
                return out.answer(&chain, |chain, style| {
                    render::why::corrections(&text, &chain.texts, style)
                });
            }
            Err(failure) if names_markdown(&question) => return Err(failure),
            // A question can contain `:` and `#`.
            Err(_) => {}
        }
    }
    explain(session, question, None, args.limit, out)
}

/// Returns `true` for a pointer to a markdown file, which is not a question.
fn names_markdown(word: &str) -> bool {
    let path = word.split_once('#').map_or(word, |(path, _)| path);
    let path = split_number(path).map_or(path, |(path, _)| path);
    path.ends_with(".md")
}

/// Texts about the same fact, from the oldest to the latest.
#[derive(Serialize)]
struct CorrectionChain {
    texts: Vec<SearchHit>,
}

fn explain(
    session: &mut DaemonSession,
    query: String,
    place: Option<(String, u32)>,
    limit: Option<u32>,
    out: &mut Output,
) -> Result<(), Failure> {
    let (path, line) = place.unzip();
    let request = RecallWhyRequest {
        workspace: session.workspace()?,
        query,
        path,
        line,
        limit,
        mode: None,
    };
    session.show(request, out, render::why::explanation)
}

/// Returns the last questions in the recall log.
///
/// # Errors
/// Fails if the log is turned off or empty.
fn last_questions(session: &mut DaemonSession, limit: Option<u32>) -> Result<Vec<LoggedQuestion>, Failure> {
    let workspace = session.workspace()?;
    let answer = session.call(RecallLogRequest {
        workspace,
        limit,
        before: None,
    })?;
    let (what, hint) = match answer.limit {
        0 => (
            "the recall log is turned off",
            "set recall.log_questions in config.toml",
        ),
        _ => (
            "the recall log contains no question",
            "ask one: hippoctl search QUESTION",
        ),
    };
    match answer.questions.is_empty() {
        true => Err(Failure::new(Exit::NotFound, what).hint(hint)),
        false => Ok(answer.questions),
    }
}

/// Searches for the texts that correct a text, and for the texts that the same text corrects.
fn corrections(
    session: &mut DaemonSession,
    workspace: String,
    text: &GetResponse,
) -> Result<CorrectionChain, Failure> {
    let words = &text.text[..text.text.floor_char_boundary(SEARCHED)];
    let request = SearchRequest {
        limit: Some(50),
        min_score: Some(0.0),
        record: false,
        log: false,
        ..SearchRequest::new(workspace, words)
    };
    let hits = session.call(request)?.results;
    let is_here = |hit: &&SearchHit| {
        hit.path == text.path && hit.start_line <= text.end_line && text.start_line <= hit.end_line
    };
    let place = |hit: &SearchHit| format!("{}:{}", hit.path, hit.start_line);
    let latest: Vec<String> = (hits.iter().filter(is_here))
        .map(|hit| hit.superseded_by.clone().unwrap_or_else(|| place(hit)))
        .collect();
    let is_corrected = |hit: &&SearchHit| {
        hit.superseded_by
            .as_ref()
            .is_some_and(|newer| latest.contains(newer))
    };
    let older: Vec<&SearchHit> = hits.iter().filter(is_corrected).collect();
    let is_latest = |hit: &&SearchHit| {
        let place = Some(place(hit));
        older.iter().any(|older| older.superseded_by == place)
    };
    let mut texts: Vec<SearchHit> = hits
        .iter()
        .filter(is_latest)
        .chain(older.iter().copied())
        .cloned()
        .collect();
    texts.sort_by(|one, other| one.date.cmp(&other.date));
    Ok(CorrectionChain { texts })
}
