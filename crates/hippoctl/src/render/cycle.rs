//! Rendering of cycle runs and of pending work.

use std::collections::BTreeMap;

use hippo_proto::{
    CycleHistoryResponse, CycleOutcome, CycleReport, CycleRun, CycleUndoResponse, HeartbeatResponse,
    IndexHealth, NextCycle,
};

use super::{INDENT, one_line, plural, table};
use crate::output::Style;

/// Maximum number of entry ids that are shown for one step.
const IDS: usize = 3;

/// Number of steps of one rule that are shown unless all steps are requested.
const STEPS: usize = 3;

/// Renders the report of a cycle run: the number of steps of each rule, the command that undoes the run, the steps, the
/// refused steps, and the entries that need attention. Unless `all` steps are requested, shows the first steps of each
/// rule, and the number of the others.
pub fn report(report: &CycleReport, all: bool, style: Style) -> String {
    body(report, all, &way_back(report), style)
}

/// Renders the report of a cycle run, with a text before the steps.
fn body(report: &CycleReport, all: bool, before: &str, style: Style) -> String {
    let cycle = report.cycle.name();
    let steps = plural(report.plan.len() as u64, "step");
    let took_ms = report.took_ms;
    let mut text = match report.run {
        Some(run) => format!(
            "{}: {cycle}, {}; {} of {steps}, {took_ms:.0} ms\n",
            style.strong(format!("run {run}")),
            outcome(report.outcome, style),
            report.applied,
        ),
        None => format!(
            "{}: {cycle} as of {}; {steps}, {took_ms:.0} ms; nothing was changed\n",
            style.strong("dry run"),
            one_line(&report.at),
        ),
    };
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for step in &report.plan {
        *rules.entry(&step.rule).or_default() += 1;
    }
    if rules.len() > 1 {
        let rules = rules
            .iter()
            .map(|(rule, count)| format!("{count} {}", one_line(rule)));
        text += &format!("{INDENT}{}\n", rules.collect::<Vec<_>>().join(", "));
    }
    text += before;
    let steps = report.plan.iter();
    let steps = steps.map(|step| (&step.rule, ids(&step.entries), &step.what));
    block(&mut text, "", steps, if all { usize::MAX } else { STEPS }, style);
    let refused = report.refused.iter();
    let refused = refused.map(|it| (&it.rule, ids(&it.entries), &it.reason));
    block(
        &mut text,
        "refused:",
        refused,
        if all { usize::MAX } else { 0 },
        style,
    );
    let findings = report.findings.iter();
    let findings = findings.map(|it| (&it.rule, one_line(&it.entry), &it.what));
    block(
        &mut text,
        "check:",
        findings,
        if all { usize::MAX } else { STEPS },
        style,
    );
    text += &report.health.as_ref().map(health).unwrap_or_default();
    wrote(&mut text, &report.files, style);
    let tree = report.tree.as_ref();
    if let Some(tree) = tree.filter(|tree| !tree.nodes.is_empty() || !tree.refused.is_empty()) {
        text += &super::tree::compacted(tree, report.run.is_none(), style);
    }
    text
}

fn way_back(report: &CycleReport) -> String {
    match report.run {
        Some(run) if report.applied > 0 => format!("undo it with: hippoctl consolidate undo {run}\n"),
        _ => String::new(),
    }
}

/// Returns the notes that are printed together with the report of a cycle run.
pub fn notes(report: &CycleReport) -> Vec<String> {
    let more = match report.outcome {
        CycleOutcome::Capped => {
            Some("the run demoted the maximum number of entries; the remaining entries are listed as refused")
        }
        CycleOutcome::Failed if report.notes.is_empty() => {
            Some("to see the reason in the log of the daemon: hippoctl service logs")
        }
        _ => None,
    };
    let notes = report.notes.iter().map(String::as_str).chain(more);
    notes.map(|note| format!("note: {}", one_line(note))).collect()
}

/// Renders the stored report of a cycle run, with the times of its start and its undo, if known.
pub fn one(answer: &CycleHistoryResponse, run: i64, style: Style) -> String {
    let Some(kept) = &answer.report else {
        return String::new();
    };
    let short = answer.runs.iter().find(|short| short.run == run);
    let begun = short.map(|short| format!("started {}\n", one_line(&short.started)));
    let notes = kept
        .notes
        .iter()
        .map(|note| format!("note: {}\n", one_line(note)));
    let end = match short.and_then(|short| short.undone.as_deref()) {
        Some(when) => style.bad(format!("undone {}", one_line(when))) + "\n",
        None => way_back(kept),
    };
    let beside: String = begun.into_iter().chain(notes).collect();
    body(kept, true, "", style) + &beside + &end
}

/// Renders a list of cycle runs, one per line.
pub fn history(runs: &[CycleRun], style: Style) -> String {
    let rows = runs.iter().map(|run| {
        let undone = run
            .undone
            .as_ref()
            .map(|when| format!("undone {}", one_line(when)));
        vec![
            style.strong(run.run.to_string()),
            run.cycle.name().to_owned(),
            one_line(&run.started),
            outcome(run.outcome, style),
            format!("{} of {}", run.done, plural(run.planned, "step")),
            format!("{} demoted", run.demoted),
            undone.unwrap_or_default(),
        ]
    });
    table(&rows.collect::<Vec<_>>(), 7)
}

/// Renders the result of the undo of a cycle run.
pub fn undone(answer: &CycleUndoResponse, style: Style) -> String {
    let run = answer.run;
    if answer.undone_before {
        return format!("run {run} was already undone; nothing was changed\n");
    }
    if answer.undone == 0 && answer.files.is_empty() && answer.notes.is_empty() {
        return format!("run {run} made no changes; there is nothing to undo\n");
    }
    let run = style.strong(format!("run {run}"));
    let mut text = format!("undid {run}: {}\n", plural(answer.undone, "change"));
    wrote(&mut text, &answer.files, style);
    for note in &answer.notes {
        text += &format!("note: {}\n", one_line(note));
    }
    text
}

/// Renders the answer of `heartbeat`: the completed cycle runs, the pending work and the next cycles.
pub fn heartbeat(answer: &HeartbeatResponse, style: Style) -> String {
    let mut text = String::new();
    for run in &answer.ran {
        text += &format!("ran      {}\n", in_short(run, style));
    }
    if answer.ran.is_empty() {
        text += "ran      nothing: no cycle was due\n";
    }
    for pending in &answer.pending {
        let kind = style.strong(one_line(&pending.kind));
        text += &format!("pending  {kind}: {}\n", one_line(&pending.text));
        for path in &pending.paths {
            text += &format!("         → {}\n", style.path(one_line(path)));
        }
    }
    if answer.pending.is_empty() {
        text += "pending  nothing\n";
    }
    if !answer.next.is_empty() {
        text += &format!("next     {}\n", next(&answer.next));
    }
    text
}

/// Returns a summary of a cycle run in one line, such as "run 12: deep, done; 3 of 3 steps".
pub fn in_short(run: &CycleRun, style: Style) -> String {
    let (name, cycle) = (style.strong(format!("run {}", run.run)), run.cycle.name());
    let (outcome, steps) = (outcome(run.outcome, style), plural(run.planned, "step"));
    format!("{name}: {cycle}, {outcome}; {} of {steps}", run.done)
}

/// Returns the times of the next cycles, such as "light 2026-03-01T03:30:00Z, deep …".
pub fn next(next: &[NextCycle]) -> String {
    let one = |it: &NextCycle| format!("{} {}", it.cycle.name(), one_line(&it.at));
    next.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn outcome(outcome: CycleOutcome, style: Style) -> String {
    match outcome {
        CycleOutcome::Done | CycleOutcome::Planned | CycleOutcome::Running => style.good(outcome.name()),
        CycleOutcome::Capped | CycleOutcome::Failed | CycleOutcome::Interrupted => style.bad(outcome.name()),
    }
}

/// Appends a heading and the rows, one per line. A row contains a rule, entries and a text. If a rule has more than
/// [`STEPS`] + 1 rows, appends only `most` of its rows, and the number of the others. If there are no rows, appends
/// nothing.
fn block<'a>(
    text: &mut String,
    heading: &str,
    rows: impl Iterator<Item = (&'a String, String, &'a String)>,
    most: usize,
    style: Style,
) {
    let mut by_rule: Vec<(&str, Vec<Vec<String>>)> = Vec::new();
    for (rule, entries, what) in rows {
        let name = format!("{INDENT}{}", style.quiet(one_line(rule)));
        let row = vec![name, entries, one_line(what)];
        match by_rule.iter_mut().find(|(known, _)| known == rule) {
            Some((_, rows)) => rows.push(row),
            None => by_rule.push((rule, vec![row])),
        }
    }
    if by_rule.is_empty() {
        return;
    }
    let mut shown = Vec::new();
    for (_, rows) in by_rule {
        let count = if rows.len() <= STEPS + 1 {
            rows.len()
        } else {
            most.min(rows.len())
        };
        let more = rows.len() - count;
        let name = rows[0][0].clone();
        shown.extend(rows.into_iter().take(count));
        if more > 0 {
            shown.push(vec![
                name,
                if count > 0 {
                    format!("and {more} more")
                } else {
                    format!("{more} times")
                },
                "to show all: --verbose".to_owned(),
            ]);
        }
    }
    if !heading.is_empty() {
        *text += &format!("{heading}\n");
    }
    text.push_str(&table(&shown, 3));
}

fn ids(entries: &[String]) -> String {
    let shown = entries.iter().take(IDS).map(|id| one_line(id));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match entries.len().saturating_sub(IDS) {
        0 => shown,
        more => format!("{shown} +{more}"),
    }
}

fn health(health: &IndexHealth) -> String {
    let counts = health.bands.iter().chain(&health.groups);
    let counts = counts.filter(|(_, count)| **count > 0);
    let counts = counts.map(|(name, count)| format!("{} {count}", one_line(name)));
    format!(
        "health:\n{INDENT}{} live, {} queued, {} archived; mean strength {:.2}; {} never fade, {} without related \
         entries\n{INDENT}{}\n",
        health.live,
        health.queued,
        health.archived,
        health.mean_strength,
        health.amygdala,
        health.unlinked,
        counts.collect::<Vec<_>>().join(", ")
    )
}

fn wrote(text: &mut String, files: &[String], style: Style) {
    if files.is_empty() {
        return;
    }
    let files = files.iter().map(|file| style.path(one_line(file)));
    *text += &format!("wrote {}\n", files.collect::<Vec<_>>().join(", "));
}

#[cfg(test)]
mod tests;
