//! Reports of runs in wire format.

use std::time::Duration;

use hippo_map::consolidation::{
    ConsolidationPlan, EntryChange, Finding, Health, PlanStep, RecordFields, RecordPlace, RefusedChange, Rule,
};
use hippo_map::schedule::RunOutcome;
use hippo_proto::{CycleFinding, CycleOutcome, CycleRefusal, CycleReport, CycleRun, CycleStep, IndexHealth};
use hippo_store::db::{RunDetail, RunRow};
use hippo_text::text::plural;
use hippo_types::cycle::Cycle;
use hippo_types::time::Timestamp;

use crate::clock::rfc3339;

/// Maximum number of steps that a report lists. A note in the report states the number of further steps.
const LISTED: usize = 2_000;

/// Returns the report of a plan that is not applied yet.
pub fn planned(cycle: Cycle, started: Timestamp, plan: &ConsolidationPlan, took: Duration) -> CycleReport {
    CycleReport {
        run: None,
        cycle,
        at: rfc3339(started),
        outcome: CycleOutcome::Planned,
        plan: steps(&plan.steps),
        applied: 0,
        refused: plan.refused.iter().map(refusal).collect(),
        findings: plan.findings.iter().map(finding).collect(),
        health: plan.health.as_ref().map(health),
        files: Vec::new(),
        tree: None,
        notes: omitted_note(plan.steps.len()),
        took_ms: took.as_secs_f64() * 1e3,
    }
}

/// Returns the report of a finished run.
pub fn past(detail: &RunDetail) -> CycleReport {
    let RunDetail {
        row,
        steps: done,
        report,
    } = detail;
    let finished = row.record.finished.unwrap_or(row.record.started);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a run takes far fewer than 2^52 milliseconds"
    )]
    let took_ms = finished.since(row.record.started) as f64;
    CycleReport {
        run: Some(row.id.0),
        cycle: row.record.cycle,
        at: rfc3339(row.record.started),
        outcome: outcome(row.record.outcome),
        plan: steps(done),
        applied: u64::from(row.done),
        refused: report.refused.iter().map(refusal).collect(),
        findings: report.findings.iter().map(finding).collect(),
        health: report.health.as_ref().map(health),
        files: report.files.iter().cloned().collect(),
        tree: None,
        notes: report
            .notes
            .iter()
            .cloned()
            .chain(omitted_note(done.len()))
            .collect(),
        took_ms,
    }
}

/// Returns the summary of a run for the history.
pub fn run(row: &RunRow) -> CycleRun {
    CycleRun {
        run: row.id.0,
        cycle: row.record.cycle,
        started: rfc3339(row.record.started),
        finished: row.record.finished.map(rfc3339),
        outcome: outcome(row.record.outcome),
        planned: u64::from(row.planned),
        done: u64::from(row.done),
        demoted: u64::from(row.run.demoted),
        undone: row.undone.map(rfc3339),
    }
}

/// Converts an outcome to wire format.
pub const fn outcome(outcome: RunOutcome) -> CycleOutcome {
    match outcome {
        RunOutcome::Running => CycleOutcome::Running,
        RunOutcome::Done => CycleOutcome::Done,
        RunOutcome::Capped => CycleOutcome::Capped,
        RunOutcome::Failed => CycleOutcome::Failed,
        RunOutcome::Interrupted => CycleOutcome::Interrupted,
    }
}

fn omitted_note(steps: usize) -> Vec<String> {
    let more = steps.saturating_sub(LISTED);
    (more > 0)
        .then(|| format!("{more} more steps are not listed"))
        .into_iter()
        .collect()
}

fn steps(steps: &[PlanStep]) -> Vec<CycleStep> {
    let listed = steps.iter().take(LISTED);
    listed
        .map(|step| CycleStep {
            rule: rule(step.rule),
            entries: step.change.ids().into_iter().map(|id| id.0.clone()).collect(),
            what: describe_change(&step.change),
        })
        .collect()
}

/// Returns the name of a rule in wire format.
fn rule(rule: Rule) -> String {
    let value = serde_json::to_value(rule).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn refusal(refusal: &RefusedChange) -> CycleRefusal {
    CycleRefusal {
        rule: rule(refusal.rule),
        entries: refusal.entries.iter().map(|id| id.0.clone()).collect(),
        reason: refusal.reason.clone(),
    }
}

fn finding(finding: &Finding) -> CycleFinding {
    CycleFinding {
        rule: rule(finding.rule),
        entry: finding.id.0.clone(),
        what: finding.what.clone(),
    }
}

fn health(health: &Health) -> IndexHealth {
    let bands = ["silent", "decaying", "weak", "moderate", "strong"];
    let bands = bands.into_iter().zip(health.bands);
    IndexHealth {
        live: health.live as u64,
        queued: health.queued as u64,
        archived: health.archived as u64,
        amygdala: health.amygdala as u64,
        unlinked: health.unlinked as u64,
        mean_strength: health.mean_strength,
        bands: bands
            .map(|(name, count)| (name.to_owned(), count as u64))
            .collect(),
        groups: health
            .groups
            .iter()
            .map(|(name, count)| (name.clone(), *count as u64))
            .collect(),
    }
}

/// Describes a change in a few words. The description contains no text of entries, because logs and terminals keep
/// reports.
fn describe_change(change: &EntryChange) -> String {
    match change {
        EntryChange::Add { record } => format!("a new entry in {}", record.group),
        EntryChange::Remove { .. } => "the entry is removed".to_owned(),
        EntryChange::Set { fields, .. } => match (change.merged(), fields.as_slice()) {
            (Some((kept, absorbed)), _) => format!("{} absorbs {absorbed}", kept.id),
            (_, [first, ..]) => describe_fields(&first.from, &first.to, fields.len()),
            _ => "no entry changes".to_owned(),
        },
        EntryChange::QuickAccess { to, .. } => format!("lists {}", plural(to.len() as u64, "entry")),
    }
}

/// Describes a change of `count` records. `from` and `to` are the values of the first one.
fn describe_fields(from: &RecordFields, to: &RecordFields, count: usize) -> String {
    let place = |fields: &RecordFields| match fields {
        RecordFields::Place(RecordPlace::Queue(_)) => "the Decay Queue",
        RecordFields::Place(RecordPlace::Archive(_)) => "the archive",
        _ => "the index",
    };
    match to {
        RecordFields::Place(_) => format!("from {} to {}", place(from), place(to)),
        RecordFields::Filed(Some(to)) => format!(
            "the index file shows strength {:.2}, {}",
            f32::from(to.hundredths) / 100.0,
            plural(to.hits.into(), "access")
        ),
        RecordFields::Filed(None) => "is removed from the index file".to_owned(),
        RecordFields::Sources(pointers, _) => {
            let pointers: Vec<String> = pointers.iter().map(ToString::to_string).collect();
            format!("points to {}", pointers.join(" | "))
        }
        RecordFields::Related(ids, _) if ids.is_empty() => "has no related entries".to_owned(),
        RecordFields::Related(ids, _) => {
            let ids: Vec<&str> = ids.iter().map(|id| id.0.as_str()).collect();
            format!("is related to {}", ids.join(", "))
        }
        RecordFields::Text(..) => "a new text extracted from the source".to_owned(),
        RecordFields::Vigour { strength, .. } => format!("reviewed and kept: strength {strength:.2}"),
        RecordFields::Group(group) => {
            format!("moved to the section {group}: {}", plural(count as u64, "entry"))
        }
        RecordFields::Band(Some(band)) => format!("is listed under {}", band.name()),
        RecordFields::Band(None) => "is removed from the section By Time".to_owned(),
        RecordFields::Merged(..) => "absorbs another entry".to_owned(),
    }
}
