//! Consolidation runs: plan, progress and report.
//!
//! A run is stored from its start, with all planned steps. Each step is applied and counted in one transaction, so that
//! the record of an interrupted run states exactly which steps are done. When the run is resumed, it gets a new plan
//! and keeps the completed steps in its list.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use hippo_map::consolidation::{
    ConsolidationPlan, ConsolidationRun, Finding, Health, PlanStep, RefusedChange,
};
use hippo_map::schedule::{RunOutcome, RunRecord};
use hippo_types::cycle::Cycle;
use hippo_types::time::Timestamp;

use super::super::number;
use super::row::{self, UnreadableRow, from_name, json, name_of};
use super::{Store, step};
use crate::StoreError;

/// The columns for [`read`].
pub(super) const COLUMNS: &str =
    "id, cycle, started, finished, outcome, live, demoted, planned, done, undone";

/// Id of a run in its workspace; ids increase and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

/// A run and its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// Cycle, times and outcome, as the schedule needs them.
    pub record: RunRecord,
    /// The basis of its plans: the number of live entries, and of entries demoted so far.
    pub run: ConsolidationRun,
    /// Number of steps in its list, including completed steps.
    pub planned: u32,
    /// Number of completed steps, which come first in the list.
    pub done: u32,
    /// Time at which the run was undone.
    pub undone: Option<Timestamp>,
}

/// A run with its steps and report.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetail {
    /// The run.
    pub row: RunRow,
    /// Its steps in order. The first `row.done` steps are completed.
    pub steps: Vec<PlanStep>,
    /// The report of its plan.
    pub report: RunReport,
}

/// The parts of a plan other than its steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunReport {
    /// Refused changes with their reasons.
    pub refused: BTreeSet<RefusedChange>,
    /// Findings for the user to review.
    pub findings: BTreeSet<Finding>,
    /// The state of the index after the plan; present only for archival runs.
    pub health: Option<Health>,
    /// Paths of the files that the run changed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<String>,
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
    /// Stores a run that starts now, with its plan. The run counts as running until [`Store::finish_run`].
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, no run is stored.
    pub fn start_run(
        &mut self,
        run: &ConsolidationRun,
        plan: &ConsolidationPlan,
    ) -> Result<RunId, StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute(
                "INSERT INTO runs (cycle, started, outcome, live, demoted, planned, done, report)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)",
                params![
                    name_of(plan.cycle)?,
                    run.started.0,
                    name_of(RunOutcome::Running)?,
                    run.live,
                    run.demoted,
                    number(plan.steps.len()),
                    json(&RunReport::of(plan))?
                ],
            )?;
            let id = RunId(transaction.last_insert_rowid());
            put_steps(transaction, id, 0, &plan.steps)?;
            Ok(id)
        })
    }

    /// Resumes an interrupted run with a plan for the current state. The new steps replace those that are not
    /// completed. The refusals of both plans are kept.
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
            let done: Option<u32> = transaction
                .query_row(
                    "SELECT done FROM runs WHERE id = ?1 AND undone IS NULL",
                    [id.0],
                    |row| row.get(0),
                )
                .optional()?;
            let Some(done) = done else { return Ok(false) };
            transaction.execute(
                "DELETE FROM run_steps WHERE run = ?1 AND ordinal >= ?2",
                params![id.0, done],
            )?;
            put_steps(transaction, id, done, &plan.steps)?;
            transaction.execute(
                "UPDATE runs SET outcome = ?2, finished = NULL, planned = done + ?3, report = ?4 WHERE id = ?1",
                params![
                    id.0,
                    name_of(RunOutcome::Running)?,
                    number(plan.steps.len()),
                    json(&report)?
                ],
            )?;
            Ok(true)
        })?;
        if resumed {
            Ok(())
        } else {
            Err(self.no_run(id, "it was undone"))
        }
    }

    /// Applies a step and counts it as done, in one transaction. Returns the new state of the run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist or is not running; see [`StoreError`]. After an error, the
    /// step is not applied.
    pub fn apply_step(&mut self, id: RunId, step: &PlanStep) -> Result<ConsolidationRun, StoreError> {
        let applied = self.in_transaction(|transaction| {
            let Some((done, mut run)) = run_progress(transaction, id)? else {
                return Ok(None);
            };
            step::apply(transaction, &mut run, &step.change)?;
            put_steps(transaction, id, done, std::slice::from_ref(step))?;
            transaction
                .prepare_cached(
                    "UPDATE runs SET done = done + 1, planned = max(planned, done + 1), demoted = ?2 WHERE id = ?1",
                )?
                .execute(params![id.0, run.demoted])?;
            Ok(Some(run))
        })?;
        applied.ok_or_else(|| self.no_run(id, "it is not running"))
    }

    /// Adds notes and changed files to the report of a run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist or its report is unreadable; see [`StoreError`].
    pub fn note_run(
        &mut self,
        id: RunId,
        notes: &[String],
        files: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let Some(mut report) = self.report(id)? else {
            return Err(self.no_run(id, "no such run"));
        };
        report.notes.extend_from_slice(notes);
        report.files.extend(files.iter().cloned());
        self.in_transaction(|transaction| {
            transaction.execute(
                "UPDATE runs SET report = ?2 WHERE id = ?1",
                params![id.0, json(&report)?],
            )
        })?;
        Ok(())
    }

    /// Finishes a run.
    ///
    /// # Errors
    /// Returns [`StoreError::Row`] if the run does not exist; see [`StoreError`].
    pub fn finish_run(&mut self, id: RunId, outcome: RunOutcome, at: Timestamp) -> Result<(), StoreError> {
        let changed = self.in_transaction(|transaction| {
            transaction.execute(
                "UPDATE runs SET outcome = ?2, finished = ?3 WHERE id = ?1",
                params![id.0, name_of(outcome)?, at.0],
            )
        })?;
        match changed {
            0 => Err(self.no_run(id, "no such run")),
            _ => Ok(()),
        }
    }

    /// Marks the runs that the last process left running as interrupted, and returns them, oldest first. Call it once
    /// in each process, before the first run.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the runs are unchanged.
    pub fn interrupt_runs(&mut self) -> Result<Vec<RunRow>, StoreError> {
        let mut runs: Vec<RunRow> = self.in_transaction(|transaction| {
            transaction
                .prepare(&format!(
                    "UPDATE runs SET outcome = ?1 WHERE outcome = ?2 RETURNING {COLUMNS}"
                ))?
                .query_map(
                    [name_of(RunOutcome::Interrupted)?, name_of(RunOutcome::Running)?],
                    |row| Ok(read(row).ok()),
                )?
                .filter_map(Result::transpose)
                .collect()
        })?;
        runs.sort_by_key(|run| (run.record.started, run.id));
        Ok(runs)
    }

    /// Returns a run without its steps, or `None`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn run_row(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        let row = self.sql(
            self.connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))
                .and_then(|mut statement| statement.query_row([id.0], |row| Ok(read(row))).optional()),
        )?;
        row.map(|row| row.map_err(|UnreadableRow(reason)| self.no_run(id, &reason)))
            .transpose()
    }

    /// Returns a run with its steps and its report, or `None`.
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

    pub(super) fn in_transaction<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                let value = run(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        done.map_err(|source| StoreError::from_sql(&self.path, source))
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

/// Parses one row of [`COLUMNS`].
pub(super) fn read(row: &Row<'_>) -> Result<RunRow, UnreadableRow> {
    let cycle: String = row.get(1)?;
    let outcome: String = row.get(4)?;
    let started = Timestamp(row.get(2)?);
    Ok(RunRow {
        id: RunId(row.get(0)?),
        record: RunRecord {
            cycle: from_name::<Cycle>(&cycle)?,
            started,
            finished: row::time(row, 3)?,
            outcome: from_name(&outcome)?,
        },
        run: ConsolidationRun {
            started,
            live: row.get(5)?,
            demoted: row.get(6)?,
        },
        planned: row.get(7)?,
        done: row.get(8)?,
        undone: row::time(row, 9)?,
    })
}

/// Returns the number of done steps and the state of a running run.
fn run_progress(connection: &Connection, id: RunId) -> rusqlite::Result<Option<(u32, ConsolidationRun)>> {
    connection
        .prepare_cached("SELECT started, live, demoted, done FROM runs WHERE id = ?1 AND outcome = ?2")?
        .query_row(params![id.0, name_of(RunOutcome::Running)?], |row| {
            Ok((row.get(3)?, parse_start(row)?))
        })
        .optional()
}

/// Returns the state of a run that is not running.
pub(super) fn ended_run(connection: &Connection, id: RunId) -> rusqlite::Result<Option<ConsolidationRun>> {
    connection
        .prepare_cached("SELECT started, live, demoted FROM runs WHERE id = ?1 AND outcome <> ?2")?
        .query_row(params![id.0, name_of(RunOutcome::Running)?], parse_start)
        .optional()
}

fn parse_start(row: &Row<'_>) -> rusqlite::Result<ConsolidationRun> {
    Ok(ConsolidationRun {
        started: Timestamp(row.get(0)?),
        live: row.get(1)?,
        demoted: row.get(2)?,
    })
}

fn put_steps(connection: &Connection, id: RunId, from: u32, steps: &[PlanStep]) -> rusqlite::Result<()> {
    let mut put = connection
        .prepare_cached("INSERT OR REPLACE INTO run_steps (run, ordinal, step) VALUES (?1, ?2, ?3)")?;
    for (ordinal, step) in (from..).zip(steps) {
        put.execute(params![id.0, ordinal, json(step)?])?;
    }
    Ok(())
}
