//! Drawing of the live view.

use hippo_proto::{IndexEntry, LoggedQuestion, NextCycle, WorkspaceStatus};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Activity;
use crate::live::{Theme, put, rule, span};
use crate::render::status::{progress, searchable};
use crate::render::{age, bar, bytes, plural};
use crate::verbs::watched::workspace_at;

/// Width of a bar.
const BAR: usize = 10;

/// Draws the state of the workspace, its entries, the questions and the events.
pub fn draw(frame: &mut Frame<'_>, activity: &Activity, theme: Theme) {
    let (width, height) = (frame.area().width, frame.area().height);
    let mut y = 0;
    for line in head(activity, theme) {
        put(frame, y, &line);
        y += 1;
    }
    // Three sections, each with a title, and the line with the keys.
    let room = height.saturating_sub(y + 4) / 3;
    let entries = entries(activity, room.into(), theme);
    let questions = activity.questions.iter().map(|it| question(it, theme));
    let events = activity.events.iter().map(|(at, text)| {
        let text = span(text, Style::new());
        Line::from(vec![time(*at, theme), text])
    });
    let sections = [
        ("Entries", entries),
        ("Questions", questions.take(room.into()).collect()),
        ("Events", events.take(room.into()).collect()),
    ];
    for (title, lines) in sections {
        let title = vec![Span::styled(title, theme.strong())];
        put(frame, y, &rule(title, width, theme));
        for (at, line) in (y + 1..).zip(&lines) {
            put(frame, at, line);
        }
        y += 1 + room;
    }
    let last = height.saturating_sub(1);
    if y <= last {
        put(frame, last, &Line::styled("q leave", theme.quiet()));
    }
}

/// Returns the lines about the daemon, the backlog, the cycles and the counts.
fn head(activity: &Activity, theme: Theme) -> [Line<'static>; 4] {
    let root = span(&activity.workspace, theme.path());
    let trouble = activity.trouble.as_ref().map(|why| span(why, theme.bad()));
    let Some(status) = &activity.status else {
        let state = trouble.unwrap_or_else(|| Span::styled("connecting …", theme.quiet()));
        return [
            Line::from(root),
            Line::from(state),
            Line::default(),
            Line::default(),
        ];
    };
    let daemon = format!(
        "hippod {} · up {} · {} · ",
        status.version,
        age(status.uptime_ms),
        bytes(status.memory_rss_bytes)
    );
    let daemon = Line::from(vec![span(&daemon, Style::new()), root]);
    let found = workspace_at(status, activity.workspace.as_ref());
    let backlog = match (trouble, found) {
        (Some(trouble), _) => Line::from(trouble),
        (None, None) => Line::styled("the workspace is not registered", theme.bad()),
        (None, Some(workspace)) => backlog(activity, workspace, theme),
    };
    let next = found.and_then(|workspace| workspace.index.as_ref());
    let next = next.map_or(&[][..], |index| &index.next);
    let sessions = found.and_then(|workspace| workspace.contexts.as_ref());
    let sessions = sessions.map_or(0, |contexts| contexts.open);
    let counts = [
        plural(activity.edits, "edit"),
        plural(activity.asked, "question"),
        plural(activity.prompts, "prompt") + " of hooks",
        format!("{} strengthened", activity.strengthened.len()),
        plural(sessions, "session"),
    ];
    let elapsed = u64::try_from(activity.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let counts = format!("in {}: {}", age(elapsed), counts.join(" · "));
    [
        daemon,
        backlog,
        cycles(next, theme),
        Line::from(span(&counts, Style::new())),
    ]
}

/// Returns the line about the passages that are not searchable yet.
fn backlog(activity: &Activity, workspace: &WorkspaceStatus, theme: Theme) -> Line<'static> {
    if let Some(degraded) = &workspace.degraded {
        let why = workspace.why.as_deref().unwrap_or_default();
        return Line::from(span(&format!("degraded: {degraded}: {why}"), theme.bad()));
    }
    let since = workspace.embedded.saturating_sub(activity.embedded);
    let text = match workspace.pending {
        0 => format!(
            "{} in {}, all searchable",
            plural(workspace.embedded, "passage"),
            plural(workspace.documents, "file")
        ),
        _ => progress(workspace, since, activity.begun.elapsed()),
    };
    Line::from(vec![
        Span::styled(bar(searchable(workspace), BAR), theme.good()),
        span(&format!(" {text}"), Style::new()),
    ])
}

/// Returns the line about the cycles that are due next.
fn cycles(next: &[NextCycle], theme: Theme) -> Line<'static> {
    let now = Timestamp::now();
    let next = next.iter().filter_map(|next| {
        let at: Timestamp = next.at.parse().ok()?;
        let left = u64::try_from(at.as_millisecond() - now.as_millisecond()).unwrap_or(0);
        Some(format!("{} in {}", next.cycle.name(), age(left)))
    });
    let next: Vec<String> = next.collect();
    Line::from(vec![
        Span::styled("cycles: ", theme.quiet()),
        span(&next.join(" · "), Style::new()),
    ])
}

/// Returns the entries that were strengthened, and then those that fade.
fn entries(activity: &Activity, room: usize, theme: Theme) -> Vec<Line<'static>> {
    let by_id = |id: &String| activity.entries.iter().find(|entry| entry.id == *id);
    let strengthened = activity.strengthened.iter().filter_map(|(id, before)| {
        let change = format!("↑ from {before:.2}");
        Some(entry(by_id(id)?, span(&change, theme.good()), theme))
    });
    let mut lines: Vec<Line<'static>> = strengthened.take(room.div_ceil(2)).collect();
    let is_shown = |entry: &&&IndexEntry| activity.strengthened.iter().any(|(id, _)| *id == entry.id);
    let fading = activity.fading();
    let fading = fading.iter().filter(|entry| !is_shown(entry));
    let fading = fading.map(|it| entry(it, span(it.band.name(), theme.quiet()), theme));
    lines.extend(fading.take(room.saturating_sub(lines.len())));
    lines
}

fn entry(entry: &IndexEntry, state: Span<'static>, theme: Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled(bar(entry.strength.into(), BAR), theme.path()),
        Span::raw(format!(" {:.2} ", entry.strength)),
        state,
        span(&format!("  {}", entry.topic), Style::new()),
    ])
}

/// Returns the line of a question: its time, its client, the best passage and the text.
fn question(question: &LoggedQuestion, theme: Theme) -> Line<'static> {
    let at = question.at.parse().unwrap_or_default();
    let best = question.passages.iter().find(|it| it.outcome == "given");
    let best = match best {
        Some(best) => span(&format!(" → {}", best.place), theme.path()),
        None => Span::styled(" → nothing", theme.quiet()),
    };
    let client = question.client.as_deref().unwrap_or("?");
    Line::from(vec![
        time(at, theme),
        span(&format!("{client}: "), theme.quiet()),
        span(&question.question, Style::new()),
        best,
    ])
}

/// Returns a time of day in the time zone of the user.
fn time(at: Timestamp, theme: Theme) -> Span<'static> {
    let local = at.to_zoned(TimeZone::system());
    Span::styled(local.strftime("%H:%M:%S ").to_string(), theme.quiet())
}
