//! Rendering of context sessions and context entries.

use hippo_context::render::format_key_data;
use hippo_proto::{ContextCloseResponse, ContextFetchResponse, ContextListResponse, ContextSession};

use super::{INDENT, harmless, one_line, plural, short, table};
use crate::output::Style;

/// Maximum number of characters of a summary or a source in a table.
const SHORT: usize = 48;

/// Returns the note about fetched content: the reason that the daemon gave, or that the source of the content has
/// changed.
pub fn fetched(answer: &ContextFetchResponse) -> Option<String> {
    match &answer.reason {
        Some(reason) => Some(format!("note: {}", one_line(reason))),
        None if answer.stale => Some("note: the source has changed since the content was stored".to_owned()),
        None => None,
    }
}

/// Returns the summary and the key data of an entry whose content is not available.
pub fn render_without_content(answer: &ContextFetchResponse) -> Option<String> {
    let mut text = harmless(answer.summary.as_deref()?);
    let data = answer.entry.as_ref().and_then(|entry| entry.key_data.as_ref());
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        text += &format!("\n{INDENT}{}", one_line(&format_key_data(data)));
    }
    Some(text)
}

/// Returns the note with the number of listed sessions or entries.
pub fn count(answer: &ContextListResponse) -> String {
    let sessions = answer.sessions.as_ref().map(Vec::len);
    let shown = sessions.or(answer.entries.as_ref().map(Vec::len));
    let shown = shown.unwrap_or_default() as u64;
    let all = match answer.turn {
        Some(turn) => format!("{} in turn {turn}", plural(answer.total, "entry")),
        None => plural(answer.total, "session"),
    };
    match shown < answer.total {
        true => format!("note: {shown} of {all}"),
        false => all,
    }
}

/// Renders sessions or entries, one per line. If `workspaces` is true, the list has sessions of several workspaces, and
/// each line names the workspace.
pub fn list(answer: &ContextListResponse, workspaces: bool, style: Style) -> String {
    let sessions = answer.sessions.iter().flatten();
    let mut rows: Vec<_> = sessions.map(|session| row(session, workspaces, style)).collect();
    rows.extend(answer.entries.iter().flatten().map(|listed| {
        let entry = &listed.entry;
        let source = match entry.source.reference.as_str() {
            "" => entry.source.kind.clone(),
            reference => format!("{}:{reference}", entry.source.kind),
        };
        vec![
            style.strong(one_line(&entry.id)),
            format!("{:.2}", entry.strength),
            listed.state.name().to_owned(),
            entry.kind.name().to_owned(),
            style.path(short(&one_line(&source), SHORT)),
            match entry.source.stale {
                true => format!(
                    "(source changed or gone) {}",
                    short(&one_line(&entry.summary), SHORT)
                ),
                false => short(&one_line(&entry.summary), SHORT),
            },
        ]
    }));
    table(&rows, 6)
}

/// Renders a closed context session, and its entries that were written to long-term memory.
pub fn closed(answer: &ContextCloseResponse, style: Style) -> String {
    let mut text = format!(
        "{} {} at {}: {}, {} in long-term memory\n",
        style.strong(one_line(&answer.session)),
        if answer.already {
            "was already closed,"
        } else {
            "closed"
        },
        one_line(&answer.closed_at),
        plural(answer.entries, "entry"),
        answer.persisted.len()
    );
    for entry in &answer.persisted {
        let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = style.path(one_line(&entry.path) + &line);
        text += &format!("{INDENT}{} → {place}\n", one_line(&entry.id));
    }
    text
}

fn row(session: &ContextSession, workspaces: bool, style: Style) -> Vec<String> {
    let state = if session.closed.is_some() {
        "closed"
    } else {
        "open"
    };
    let mut row = vec![
        style.strong(one_line(&session.session)),
        state.to_owned(),
        format!("turn {}", session.turn),
        plural(session.entries, "entry"),
        one_line(&session.used),
        session.agent.as_deref().map(one_line).unwrap_or_default(),
    ];
    if workspaces {
        row.insert(5, style.path(one_line(&session.workspace)));
    }
    row
}

#[cfg(test)]
mod tests;
