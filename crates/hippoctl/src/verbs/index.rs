//! `index list|show|edit|pin|unpin|forget|restore|export`: entries of the index file.

use hippo_proto::{
    EntryPriority, IndexEditRequest, IndexForgetRequest, IndexListRequest, IndexRestoreRequest,
    IndexShowRequest,
};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{curve, index as render};
use hippoctl::args::IndexVerb;

/// Returns the strengths of an entry in the next days, for its curve. Returns `None` if the entry does not fade.
fn strengths(session: &mut DaemonSession, request: &IndexShowRequest) -> Result<Option<Vec<f32>>, Failure> {
    let at = request.at.as_deref();
    let begin = at.map_or_else(|| Some(Timestamp::now()), timestamp);
    let Some(begin) = begin else { return Ok(None) };
    let mut strengths = Vec::new();
    for days in curve::days() {
        let request = IndexShowRequest {
            at: Some((begin + SignedDuration::from_hours(24 * i64::from(days))).to_string()),
            ..request.clone()
        };
        strengths.push(session.call(request)?.entry.strength);
    }
    let fades = strengths.iter().any(|strength| *strength != strengths[0]);
    Ok(Some(strengths).filter(|_| fades))
}

/// Parses a time that the daemon accepts: RFC 3339 or a date.
fn timestamp(at: &str) -> Option<Timestamp> {
    let day = || at.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    at.parse().ok().or_else(|| Some(day()?.timestamp()))
}

/// Runs a verb of `index`.
///
/// # Errors
/// Fails if no workspace is found, if the entry is unknown, or if the daemon refuses the request.
pub fn index(session: &mut DaemonSession, verb: IndexVerb, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    let (what, request) = match verb {
        IndexVerb::List(args) => {
            let answer = session.call(IndexListRequest {
                workspace,
                at: args.at,
                limit: args.limit,
                archived: args.archived,
                ..IndexListRequest::default()
            })?;
            for note in render::notes(&answer) {
                out.remark(&note);
            }
            let width = out.width();
            return out.answer(&answer, |answer, style| render::list(answer, width, style));
        }
        IndexVerb::Export => {
            let answer = session.call(IndexListRequest {
                workspace,
                archived: true,
                ..IndexListRequest::default()
            })?;
            out.json = true;
            out.answer(&answer, |answer, style| render::list(answer, None, style))?;
            let (shown, total) = (answer.entries.len() as u64, answer.total);
            if shown == total {
                return Ok(());
            }
            let what = format!("printed only the strongest {shown} of {total} entries");
            return Err(Failure::new(Exit::Failed, what));
        }
        IndexVerb::Show { id, at } => {
            let request = IndexShowRequest { workspace, id, at };
            let answer = session.call(request.clone())?;
            let curve = match out.on_terminal && !out.json {
                true => strengths(session, &request)?,
                false => None,
            };
            return out.answer(&answer, |answer, style| {
                let curve = curve.map(|strengths| curve::curve(&strengths, style));
                render::show(answer, style) + &curve.unwrap_or_default()
            });
        }
        IndexVerb::Forget { id } => {
            return session.show(IndexForgetRequest { workspace, id }, out, render::forgot);
        }
        IndexVerb::Restore { id } => {
            let request = IndexRestoreRequest { workspace, id };
            return session.show(request, out, |answer, style| {
                render::changed("restored", &answer.entry, style)
            });
        }
        IndexVerb::Edit(args) => {
            let request = IndexEditRequest {
                workspace,
                id: args.id,
                topic: args.changes.topic,
                summary: args.changes.summary,
                tags: args.changes.tags.map(tags),
                priority: args.changes.priority,
                ..IndexEditRequest::default()
            };
            ("changed", request)
        }
        IndexVerb::Pin { id } => ("pinned", pin(workspace, id, true)),
        IndexVerb::Unpin { id } => {
            let shown = session.call(IndexShowRequest {
                workspace: workspace.clone(),
                id: id.clone(),
                at: None,
            })?;
            let what = match shown.entry.priority {
                EntryPriority::Amygdala => "unpinned",
                _ => "not pinned:",
            };
            (what, pin(workspace, id, false))
        }
    };
    session.show(request, out, |answer, style| {
        render::changed(what, &answer.entry, style)
    })
}

fn pin(workspace: String, id: String, pinned: bool) -> IndexEditRequest {
    IndexEditRequest {
        workspace,
        id,
        pinned: Some(pinned),
        ..IndexEditRequest::default()
    }
}

/// Returns the tags without empty ones. Therefore, `--tags ""` removes all tags of an entry.
pub fn tags(given: Vec<String>) -> Vec<String> {
    let tags = given.iter().map(|tag| tag.trim());
    tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}
