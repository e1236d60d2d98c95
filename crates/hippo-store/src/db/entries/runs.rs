//! Consolidation runs: plan, progress and report.
//!
//! A run is stored from its start, with all planned steps. Each step is applied and counted in one transaction.
//! Therefore, the record of an interrupted run shows exactly which steps are completed. When the run is resumed, the
//! completed steps remain in its list, and a new plan replaces the other steps.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use hippo_map::consolidation::{
    ConsolidationPlan, ConsolidationRun, Finding, Health, PlanStep, RefusedChange,
};
use hippo_map::schedule::{RunOutcome, RunRecord};
use hippo_types::time::Timestamp;

use super::super::json;
use super::row::UnreadableRow;
use super::{Store, step};
use crate::StoreError;

/// Selects the columns that [`read`] expects.
pub(super) const SELECT: &str = "SELECT id, state FROM runs";

/// Id of a run in its workspace; ids increase and are never reused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

/// A run and its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// Id of the run.
    #[serde(skip)]
    pub id: RunId,
    /// Cycle, times and outcome, as the schedule needs them.
    pub record: RunRecord,
    /// Numbers on which the plans of the run are based: live entries at the start, and entries demoted so far.
    pub run: ConsolidationRun,
    /// Number of steps in the run's list, including completed steps.
    pub planned: u32,
    /// Number of completed steps, which are at the start of the list.
    pub done: u32,
    /// Time at which the run was undone; `None` if it was not undone.
    pub undone: Option<Timestamp>,
}

/// A run with its steps and report.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetail {
    /// The run.
    pub row: RunRow,
    /// Steps of the run in order. The first `row.done` steps are completed.
    pub steps: Vec<PlanStep>,
    /// The report of the run's plan.
    pub report: RunReport,
}

/// The parts of a plan other than its steps, and notes on the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunReport {
    /// Refused changes with their reasons.
    pub refused: BTreeSet<RefusedChange>,
    /// Findings for the user to review.
    pub findings: BTreeSet<Finding>,
    /// The state of the index after the plan. Only archival runs have this.
    pub health: Option<Health>,
    /// Paths of the files that the run changed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
    /// Numbers of the versions of the index file before and after the run. Present only if the run changed the file
    /// and no other change was made to it at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<[u64; 2]>,
    /// Further notes, as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl RunReport {
    /// Creates the report of a plan.
    #[must_use]
    pub fn of(plan: &ConsolidationPlan) -> Self {
        Self {
            refused: plan.refused.clone(),
            findings: plan.findings.clone(),
            health: plan.health.clone(),
            ..Self::default()
        }
    }
}

impl Store {
    /// Stores a run that starts now, with its plan. The run counts as running until [`Store::finish_run`] is called.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, no run is stored.
    pub fn start_run(
        &mut self,
        run: &ConsolidationRun,
        plan: &ConsolidationPlan,
    ) -> Result<RunId, StoreError> {
        let row = RunRow {
            id: RunId::default(),
            record: RunRecord {
                cycle: plan.cycle,
                started: run.started,
                finished: None,
                outcome: RunOutcome::Running,
            },
            run: *run,
            planned: count(&plan.steps),
            done: 0,
            undone: None,
        };
        self.in_transaction(|transaction| {
            transaction.execute(
                "INSERT INTO runs (state, report) VALUES (?1, ?2)",
                [json(&row)?, json(&RunReport::of(plan))?],
            )?;
            let id = RunId(transaction.last_insert_rowid());
            put_steps(transaction, id, 0, &plan.steps)?;
            Ok(id)
        })
    }

    /// Resumes an interrupted run. `plan` is made for the current state, and its steps replace the steps that are not
    /// completed. The refused changes of both plans are kept.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist, was undone, or its report is unreadable; see
    /// [`StoreError`].
    pub fn resume_run(&mut self, id: RunId, plan: &ConsolidationPlan) -> Result<(), StoreError> {
        let Some(mut report) = self.report(id)? else {
            return Err(self.no_run(id, "no such run"));
        };
        let earlier = std::mem::replace(&mut report, RunReport::of(plan));
        report.refused.extend(earlier.refused);
        report.notes = earlier.notes;
        let resumed = self.in_transaction(|transaction| {
            let Some(mut row) = find(transaction, id)?.filter(|row| row.undone.is_none()) else {
                return Ok(false);
            };
            transaction.execute(
                "DELETE FROM run_steps WHERE run = ?1 AND ordinal >= ?2",
                params![id.0, row.done],
            )?;
            put_steps(transaction, id, row.done, &plan.steps)?;
            (row.record.outcome, row.record.finished) = (RunOutcome::Running, None);
            row.planned = row.done + count(&plan.steps);
            put_report(transaction, id, &report)?;
            save(transaction, &row)?;
            Ok(true)
        })?;
        match resumed {
            true => Ok(()),
            false => Err(self.no_run(id, "it was undone")),
        }
    }

    /// Applies a step and counts it as completed, in one transaction. Returns the new state of the run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist or is not running; see [`StoreError`]. After an error, the
    /// step is not applied.
    pub fn apply_step(&mut self, id: RunId, step: &PlanStep) -> Result<ConsolidationRun, StoreError> {
        let applied = self.in_transaction(|transaction| {
            let row = find(transaction, id)?.filter(|row| row.record.outcome == RunOutcome::Running);
            let Some(mut row) = row else { return Ok(None) };
            step::apply(transaction, &mut row.run, &step.change)?;
            put_steps(transaction, id, row.done, std::slice::from_ref(step))?;
            row.done += 1;
            row.planned = row.planned.max(row.done);
            save(transaction, &row)?;
            Ok(Some(row.run))
        })?;
        applied.ok_or_else(|| self.no_run(id, "it is not running"))
    }

    /// Adds notes, changed files and versions of the index file to the report of a run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist or its report is unreadable; see [`StoreError`].
    pub fn note_run(
        &mut self,
        id: RunId,
        notes: &[String],
        files: &BTreeSet<String>,
        versions: Option<[u64; 2]>,
    ) -> Result<(), StoreError> {
        let Some(mut report) = self.report(id)? else {
            return Err(self.no_run(id, "no such run"));
        };
        report.notes.extend_from_slice(notes);
        report.files.extend(files.iter().cloned());
        report.versions = versions;
        self.in_transaction(|transaction| put_report(transaction, id, &report))
    }

    /// Finishes a run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist; see [`StoreError`].
    pub fn finish_run(&mut self, id: RunId, outcome: RunOutcome, at: Timestamp) -> Result<(), StoreError> {
        let finished = self.in_transaction(|transaction| {
            let Some(mut row) = find(transaction, id)? else {
                return Ok(false);
            };
            (row.record.outcome, row.record.finished) = (outcome, Some(at));
            save(transaction, &row)?;
            Ok(true)
        })?;
        match finished {
            true => Ok(()),
            false => Err(self.no_run(id, "no such run")),
        }
    }

    /// Marks the runs that an earlier process left running as interrupted. Returns these runs, oldest first. Call
    /// this once in each process, before the first run.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the runs are unchanged.
    pub fn interrupt_runs(&mut self) -> Result<Vec<RunRow>, StoreError> {
        let mut runs = self.in_transaction(|transaction| {
            let mut runs = list(transaction)?;
            runs.retain(|run| run.record.outcome == RunOutcome::Running);
            for run in &mut runs {
                run.record.outcome = RunOutcome::Interrupted;
                save(transaction, run)?;
            }
            Ok(runs)
        })?;
        runs.sort_by_key(|run| (run.record.started, run.id));
        Ok(runs)
    }

    /// Returns a run without its steps, or `None` if it does not exist.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn run_row(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        let row = self.sql(
            self.connection
                .prepare_cached(&format!("{SELECT} WHERE id = ?1"))
                .and_then(|mut statement| statement.query_row([id.0], |row| Ok(read(row))).optional()),
        )?;
        row.map(|row| row.map_err(|UnreadableRow(reason)| self.no_run(id, &reason)))
            .transpose()
    }

    /// Returns a run with its steps and its report, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if a part of the run is unreadable; see [`StoreError`].
    pub fn run(&self, id: RunId) -> Result<Option<RunDetail>, StoreError> {
        let (Some(row), Some(report)) = (self.run_row(id)?, self.report(id)?) else {
            return Ok(None);
        };
        let steps = self.steps(id, u32::MAX)?;
        Ok(Some(RunDetail { row, steps, report }))
    }

    /// Returns the first `most` steps of a run.
    pub(super) fn steps(&self, id: RunId, most: u32) -> Result<Vec<PlanStep>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT step FROM run_steps WHERE run = ?1 AND ordinal < ?2 ORDER BY ordinal",
                )?
                .query_map(params![id.0, most], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()
        };
        let steps = self.sql(read())?;
        steps
            .iter()
            .enumerate()
            .map(|(at, step)| {
                let damaged = |error: serde_json::Error| self.no_run(id, &format!("step {at}: {error}"));
                serde_json::from_str(step).map_err(damaged)
            })
            .collect()
    }

    pub(super) fn no_run(&self, id: RunId, reason: &str) -> StoreError {
        StoreError::Row {
            path: self.path.clone(),
            row: format!("run {}", id.0),
            reason: reason.to_owned(),
        }
    }

    fn report(&self, id: RunId) -> Result<Option<RunReport>, StoreError> {
        let text: Option<String> = self.sql(
            self.connection
                .query_row("SELECT report FROM runs WHERE id = ?1", [id.0], |row| row.get(0))
                .optional(),
        )?;
        let read = |text: String| serde_json::from_str(&text);
        text.map(read)
            .transpose()
            .map_err(|error| self.no_run(id, &error.to_string()))
    }
}

/// Parses one row of [`SELECT`].
pub(super) fn read(row: &Row<'_>) -> Result<RunRow, UnreadableRow> {
    let state: String = row.get(1)?;
    Ok(RunRow {
        id: RunId(row.get(0)?),
        ..serde_json::from_str(&state)?
    })
}

/// Returns all readable runs.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<RunRow>> {
    let mut statement = connection.prepare(SELECT)?;
    let runs = statement.query_map([], |row| Ok(read(row).ok()))?;
    runs.filter_map(Result::transpose).collect()
}

/// Returns a run, unless it is unreadable.
pub(super) fn find(connection: &Connection, id: RunId) -> rusqlite::Result<Option<RunRow>> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
    let found = statement.query_row([id.0], |row| Ok(read(row).ok()));
    Ok(found.optional()?.flatten())
}

pub(super) fn save(connection: &Connection, run: &RunRow) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE runs SET state = ?2 WHERE id = ?1")?
        .execute(params![run.id.0, json(run)?])
        .map(|_| ())
}

fn put_report(connection: &Connection, id: RunId, report: &RunReport) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE runs SET report = ?2 WHERE id = ?1")?
        .execute(params![id.0, json(report)?])
        .map(|_| ())
}

fn count(steps: &[PlanStep]) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}

fn put_steps(connection: &Connection, id: RunId, from: u32, steps: &[PlanStep]) -> rusqlite::Result<()> {
    let mut put = connection
        .prepare_cached("INSERT OR REPLACE INTO run_steps (run, ordinal, step) VALUES (?1, ?2, ?3)")?;
    for (ordinal, step) in (from..).zip(steps) {
        put.execute(params![id.0, ordinal, json(step)?])?;
    }
    Ok(())
}
