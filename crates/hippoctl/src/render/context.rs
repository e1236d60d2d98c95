//! Rendering of context sessions and their entries.

use std::fmt::Write;

use hippo_context::render::format_key_data;
use hippo_proto::{
    ContextCloseResponse, ContextEntry, ContextFetchResponse, ContextListResponse, ContextListed,
    ContextOpenResponse, ContextPutOutcome, ContextPutResponse, ContextRenderResponse, ContextSession,
    ContextTouchResponse, ContextTurnResponse,
};

use super::{INDENT, count_entries, harmless, one_line, plural, short, table};
use crate::output::Style;

/// Maximum number of characters of a summary or a reference in a table.
const SHORT: usize = 48;

/// Returns the note that is printed after the id of a session.
pub fn opened(answer: &ContextOpenResponse) -> String {
    let ContextOpenResponse {
        session: _,
        turn,
        entries: count,
        resumed,
    } = answer;
    if *resumed {
        format!("resumed, in turn {turn}, with {}", count_entries(*count))
    } else {
        "opened; close it with: hippoctl context close --session ID".to_owned()
    }
}

/// Renders the outcome of storing content.
pub fn put(answer: &ContextPutResponse, style: Style) -> String {
    let ContextPutResponse {
        entry,
        outcome,
        reason,
        rule,
        content_id: _,
        tokens,
        entry_tokens,
        notes: _,
    } = answer;
    let tokens = plural(*tokens, "token");
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match (outcome, entry) {
        (ContextPutOutcome::Passed, _) => {
            writeln!(text, "passed: the content has only {tokens}; nothing was stored")
        }
        (ContextPutOutcome::Dropped, _) => writeln!(text, "dropped: {tokens}; nothing was stored"),
        (ContextPutOutcome::Entry, Some(entry)) => {
            text.push_str(&headed("entry", entry, style));
            let id = one_line(&entry.id);
            writeln!(
                text,
                "{INDENT}{entry_tokens} instead of {tokens}; full content: hippoctl context fetch {id}"
            )
        }
        (ContextPutOutcome::Known, Some(entry)) => {
            text.push_str(&headed("known as", entry, style));
            Ok(())
        }
        (ContextPutOutcome::Entry | ContextPutOutcome::Known, None) => writeln!(text, "kept {tokens}"),
    };
    if let Some(why) = reason.as_ref().or(rule.as_ref()) {
        let _ = writeln!(text, "{INDENT}{}", style.quiet(one_line(why)));
    }
    text
}

/// Renders an entry after an access.
pub fn touched(answer: &ContextTouchResponse, style: Style) -> String {
    let entry = &answer.entry;
    let access = entry.decay.last_access;
    headed("touched", entry, style) + &format!("{INDENT}strength {:.2} in turn {access}\n", entry.strength)
}

/// Renders the result of a turn.
pub fn turn(answer: &ContextTurnResponse, style: Style) -> String {
    let ContextTurnResponse {
        turn,
        active,
        dormant,
        expired,
        tokens,
        cycle,
        moved,
        note: _,
    } = answer;
    let mut text = format!(
        "turn {turn}: {active} active, {dormant} dormant, {expired} expired; {}; {cycle} consolidation\n",
        plural(*tokens, "token")
    );
    for change in moved {
        let id = style.strong(one_line(&change.id));
        let _ = writeln!(text, "{INDENT}{id} {} → {}", change.from.name(), change.to.name());
    }
    text
}

/// Returns the note that is printed after the text for a prompt.
pub fn shown(answer: &ContextRenderResponse) -> String {
    let ContextRenderResponse {
        markdown: _,
        entries: shown,
        tokens,
        left_out,
        dormant,
        retrievable_tokens,
        notes: _,
    } = answer;
    format!(
        "{} in {}; {left_out} omitted, {dormant} dormant; {} can be fetched",
        count_entries(shown.len() as u64),
        plural(*tokens, "token"),
        plural(*retrievable_tokens, "token"),
    )
}

/// Returns a note about fetched content: why it is missing, or that its source has changed.
pub fn fetched(answer: &ContextFetchResponse) -> Option<String> {
    match &answer.reason {
        Some(reason) => Some(format!("note: {}", one_line(reason))),
        None if answer.stale => Some("note: the source has changed since the content was stored".to_owned()),
        None => None,
    }
}

/// Returns the summary and key data of an entry whose content is not available.
pub fn render_without_content(answer: &ContextFetchResponse) -> Option<String> {
    let mut text = harmless(answer.summary.as_deref()?);
    let data = answer.entry.as_ref().and_then(|entry| entry.key_data.as_ref());
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let _ = write!(text, "\n{INDENT}{}", one_line(&format_key_data(data)));
    }
    Some(text)
}

/// Returns the note with the counts of a list.
pub fn count(answer: &ContextListResponse) -> String {
    let shown = answer.sessions.as_ref().map(Vec::len);
    let shown = shown
        .or(answer.entries.as_ref().map(Vec::len))
        .unwrap_or_default() as u64;
    let total = answer.total;
    let all = match answer.turn {
        Some(turn) => format!("{} in turn {turn}", count_entries(total)),
        None => plural(total, "session"),
    };
    if shown < total {
        format!("note: {shown} of {all}")
    } else {
        all
    }
}

/// Renders sessions or entries, one per line. If the sessions of several workspaces are listed, each line names the
/// workspace.
pub fn list(answer: &ContextListResponse, workspaces: bool, style: Style) -> String {
    let sessions = answer.sessions.iter().flatten();
    let mut rows: Vec<_> = sessions.map(|session| row(session, workspaces, style)).collect();
    rows.extend(answer.entries.iter().flatten().map(|listed| {
        let ContextListed { entry, state } = listed;
        let source = match entry.source.reference.as_str() {
            "" => entry.source.kind.clone(),
            reference => format!("{}:{reference}", entry.source.kind),
        };
        vec![
            style.strong(one_line(&entry.id)),
            format!("{:.2}", entry.strength),
            state.name().to_owned(),
            entry.kind.name().to_owned(),
            style.path(short(&one_line(&source), SHORT)),
            short(&one_line(&entry.summary), SHORT),
        ]
    }));
    table(&rows, 6)
}

/// Renders a closed session and the entries that were written to long-term memory.
pub fn closed(answer: &ContextCloseResponse, style: Style) -> String {
    let ContextCloseResponse {
        session,
        entries: count,
        persisted,
        closed_at,
        already,
        notes: _,
    } = answer;
    let was = if *already { "was already closed," } else { "closed" };
    let mut text = format!(
        "{} {was} at {}: {}, {} in long-term memory\n",
        style.strong(one_line(session)),
        one_line(closed_at),
        count_entries(*count),
        persisted.len()
    );
    for entry in persisted {
        let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = style.path(one_line(&entry.path) + &line);
        let _ = writeln!(text, "{INDENT}{} → {place}", one_line(&entry.id));
    }
    text
}

fn row(session: &ContextSession, workspaces: bool, style: Style) -> Vec<String> {
    let ContextSession {
        session: id,
        workspace,
        agent,
        turn,
        entries: count,
        opened: _,
        used,
        closed,
    } = session;
    let state = if closed.is_some() { "closed" } else { "open" };
    let mut row = vec![
        style.strong(one_line(id)),
        state.to_owned(),
        format!("turn {turn}"),
        count_entries(*count),
        one_line(used),
        agent.as_deref().map(one_line).unwrap_or_default(),
    ];
    if workspaces {
        row.insert(5, style.path(one_line(workspace)));
    }
    row
}

/// Returns the id and summary of an entry, with its key data below.
fn headed(what: &str, entry: &ContextEntry, style: Style) -> String {
    let id = style.strong(one_line(&entry.id));
    let mut text = format!("{what} {id}: {}\n", one_line(&entry.summary));
    if let Some(data) = entry.key_data.as_ref().filter(|data| !data.is_empty()) {
        let _ = writeln!(text, "{INDENT}{}", one_line(&format_key_data(data)));
    }
    text
}

#[cfg(test)]
mod tests;
