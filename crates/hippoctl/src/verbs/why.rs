//! `why`: explanations of answers.

use std::collections::BTreeSet;

use hippo_map::truth::{DatedText, find_superseded, own_date};
use hippo_proto::{
    GetResponse, LoggedQuestion, RecallLogRequest, RecallWhyRequest, SearchHit, SearchRequest,
};
use hippo_text::chunk::Speaker;
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
            Ok((workspace, mut text)) => {
                if names_line(&question, &text) {
                    keep_first_line(&mut text);
                }
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

/// Returns whether a pointer to `text` has the form `PATH:LINE`. `hippoctl get` prints the text from this line to the end.
fn names_line(pointer: &str, text: &GetResponse) -> bool {
    let line = split_number(pointer).filter(|_| text.path != pointer);
    line.is_some_and(|(head, line)| line == text.start_line && split_number(head).is_none())
}

/// Removes all lines but the first from a text.
fn keep_first_line(text: &mut GetResponse) {
    text.end_line = text.start_line;
    let end = text.text.find('\n').unwrap_or(text.text.len());
    text.text.truncate(end);
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
pub(super) fn last_questions(
    session: &mut DaemonSession,
    limit: Option<u32>,
) -> Result<Vec<LoggedQuestion>, Failure> {
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

/// Searches for the lines that correct the lines of a text, and for the lines that the same lines correct.
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
    let lines: Vec<SearchHit> = hits.iter().flat_map(split_lines).collect();
    Ok(CorrectionChain {
        texts: chain(lines, text),
    })
}

/// Returns the lines of a result that are not blank, each as a result.
fn split_lines(hit: &SearchHit) -> Vec<SearchHit> {
    // A block of code states nothing, and needs the lines around it to be recognized. The text of a result has no
    // comments, so its lines can be fewer than those of the file.
    let count = (hit.start_line..=hit.end_line).count();
    if hit.text.contains("```") || hit.text.trim_end().lines().count() != count {
        return vec![hit.clone()];
    }
    let numbered = (hit.start_line..).zip(hit.text.lines());
    let lines = numbered.filter(|(_, line)| !line.trim().is_empty());
    let line = |(number, line): (u32, &str)| SearchHit {
        start_line: number,
        end_line: number,
        text: line.to_owned(),
        superseded_by: None,
        origin: None,
        ..hit.clone()
    };
    lines.map(line).collect()
}

/// Returns the lines about the facts that a text states, from the oldest to the latest. Returns nothing if no line
/// corrects another one.
fn chain(mut lines: Vec<SearchHit>, text: &GetResponse) -> Vec<SearchHit> {
    let superseded = find_superseded(&lines.iter().map(dated).collect::<Vec<_>>(), usize::MAX);
    let is_here = |hit: &SearchHit| {
        hit.path == text.path && hit.start_line <= text.end_line && text.start_line <= hit.end_line
    };
    let asked = (0..lines.len()).filter(|at| is_here(&lines[*at]));
    let latest: BTreeSet<usize> = asked.map(|at| superseded[at].unwrap_or(at)).collect();
    let is_corrected = |at: &usize| superseded[*at].is_some_and(|newer| latest.contains(&newer));
    let older: Vec<usize> = (0..lines.len()).filter(is_corrected).collect();
    let is_latest = |at: &usize| older.iter().any(|older| superseded[*older] == Some(*at));
    let mut shown: Vec<usize> = latest.iter().copied().filter(is_latest).collect();
    shown.extend(&older);
    let place = |hit: &SearchHit| format!("{}:{}", hit.path, hit.start_line);
    let places: Vec<String> = lines.iter().map(place).collect();
    for at in older {
        lines[at].superseded_by = superseded[at].map(|newer| places[newer].clone());
    }
    let mut texts: Vec<SearchHit> = shown.into_iter().map(|at| lines[at].clone()).collect();
    texts.sort_by(|one, other| (&one.date, one.start_line).cmp(&(&other.date, other.start_line)));
    texts
}

fn dated(hit: &SearchHit) -> DatedText<'_> {
    let speaker = hit.speaker.as_deref().map(Speaker::from_name).unwrap_or_default();
    DatedText {
        date: own_date(hit.date.as_deref(), &hit.path, &hit.heading, speaker),
        place: (&hit.path, hit.start_line),
        heading: &hit.heading,
        text: &hit.text,
    }
}
