//! Planner that runs the rules of a cycle.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::archival::{self, Health};
use super::change::{EntryChange, FieldsChange, PlanStep, RecordFields};
use super::{ConsolidationSnapshot, EntryRecord, LOSS_CAP, RecordPlace, Rule, deep, light};
use hippo_types::cycle::Cycle;
use hippo_types::entry::EntryId;

/// Maximum number of rounds. Rules that affect each other settle in three rounds.
const ROUNDS: usize = 12;

/// Plan of a run, with the refused changes and findings.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidationPlan {
    /// Kind of cycle.
    pub cycle: Cycle,
    /// Steps in order.
    pub steps: Vec<PlanStep>,
    /// Changes that were refused, with reasons.
    pub refused: BTreeSet<RefusedChange>,
    /// Findings for a person to review. The run does not act on findings.
    pub findings: BTreeSet<Finding>,
    /// Health metrics after the plan; only archival runs have them.
    pub health: Option<Health>,
}

impl ConsolidationPlan {
    /// Creates a plan without steps.
    #[must_use]
    pub const fn empty(cycle: Cycle) -> Self {
        Self {
            cycle,
            steps: Vec::new(),
            refused: BTreeSet::new(),
            findings: BTreeSet::new(),
            health: None,
        }
    }
}

/// Change that a rule refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusedChange {
    /// Rule that refused the change.
    pub rule: Rule,
    /// Ids of the entries to change, or of the proposed entry.
    pub entries: Vec<EntryId>,
    /// Reason, as text for people.
    pub reason: String,
}

/// Irregularity that a rule reports without changing anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// Rule that found the irregularity.
    pub rule: Rule,
    /// Entry with the irregularity.
    pub id: EntryId,
    /// Description, as text for people.
    pub what: String,
}

/// Returns the plan of a cycle for a snapshot. The result is deterministic.
#[must_use]
pub fn plan(snapshot: &ConsolidationSnapshot, cycle: Cycle) -> ConsolidationPlan {
    let mut planner = CyclePlanner {
        state: snapshot.clone(),
        plan: ConsolidationPlan::empty(cycle),
    };
    planner.settle(cycle);
    if cycle != Cycle::Light {
        // Replay last, because only now is it certain which entries the run keeps.
        deep::replay_reviewed(&mut planner);
        planner.settle(cycle);
    }
    if cycle == Cycle::Archival {
        planner.plan.health = Some(Health::from_snapshot(&planner.state));
    }
    planner.plan
}

/// Plan in progress, and the snapshot with all steps so far applied.
pub(super) struct CyclePlanner {
    pub state: ConsolidationSnapshot,
    pub plan: ConsolidationPlan,
}

impl CyclePlanner {
    /// Runs the rules of a cycle until none has an effect.
    fn settle(&mut self, cycle: Cycle) {
        for _ in 0..ROUNDS {
            let before = self.plan.steps.len();
            // Keep only the findings of the last round. Refusals of all rounds are kept.
            self.plan.findings.clear();
            match cycle {
                Cycle::Light => light::run_rules(self),
                Cycle::Deep => deep::run_rules(self),
                Cycle::Archival => archival::run_rules(self),
            }
            light::flush(self);
            if self.plan.steps.len() == before {
                break;
            }
        }
    }

    /// Adds a step and applies its change to the snapshot, which the following rules use.
    pub fn add_step(&mut self, rule: Rule, change: EntryChange) {
        change.apply(&mut self.state);
        self.plan.steps.push(PlanStep { rule, change });
    }

    /// Sets fields of entries in one step, unless they have these values already.
    pub fn set(&mut self, rule: Rule, wanted: Vec<(EntryId, RecordFields)>, demotes: i8) {
        let mut fields = Vec::new();
        for (id, to) in wanted {
            if let Some(record) = self.state.records.get_mut(&id) {
                let mut from = to.clone();
                from.swap_with(record);
                fields.push(FieldsChange { id, from, to });
            }
        }
        if fields.iter().any(|change| change.from != change.to) {
            self.state.run.demoted = self.state.run.demoted.saturating_add_signed(i32::from(demotes));
            let change = EntryChange::Set { fields, demotes };
            self.plan.steps.push(PlanStep { rule, change });
        }
    }

    /// Records a refused change.
    pub fn refuse(&mut self, rule: Rule, entries: Vec<EntryId>, reason: impl Into<String>) {
        let reason = reason.into();
        self.plan.refused.insert(RefusedChange {
            rule,
            entries,
            reason,
        });
    }

    /// Records a finding.
    pub fn report(&mut self, rule: Rule, id: &EntryId, what: impl Into<String>) {
        let (id, what) = (id.clone(), what.into());
        self.plan.findings.insert(Finding { rule, id, what });
    }

    /// Sets the fields that `wanted` returns for each entry. `wanted` receives the snapshot before these changes.
    pub fn set_each(
        &mut self,
        rule: Rule,
        wanted: impl Fn(&ConsolidationSnapshot, &EntryRecord) -> Option<RecordFields>,
    ) {
        let records = self.state.records.iter();
        let wanted = records.filter_map(|(id, record)| {
            let to = wanted(&self.state, record)?;
            Some((id.clone(), to))
        });
        for change in wanted.collect::<Vec<_>>() {
            self.set(rule, vec![change], 0);
        }
    }

    /// Returns, in order, the ids of the entries for which `fits` returns `true`.
    pub fn ids(&self, fits: impl Fn(&EntryRecord) -> bool) -> Vec<EntryId> {
        let fitting = self.state.records.values().filter(|record| fits(record));
        fitting.map(|record| record.entry.id.clone()).collect()
    }

    /// Returns `true` if the run may demote one more entry.
    pub fn may_demote(&self) -> bool {
        let run = self.state.run;
        let most = (f64::from(run.live) * LOSS_CAP).floor().max(1.0);
        f64::from(run.demoted) < most
    }

    /// Demotes entries, weakest first, within the run's limit.
    pub fn demote(&mut self, rule: Rule, mut ids: Vec<EntryId>, to: RecordPlace) {
        let strength = |id: &EntryId| self.state.records.get(id).map_or(0.0, |record| record.strength);
        ids.sort_by(|a, b| strength(a).total_cmp(&strength(b)).then_with(|| a.cmp(b)));
        for id in ids {
            if self.may_demote() {
                self.set(rule, vec![(id, RecordFields::Place(to))], 1);
            } else {
                self.refuse_loss(vec![id]);
            }
        }
    }

    /// Records that the run reached its demotion limit.
    pub fn refuse_loss(&mut self, entries: Vec<EntryId>) {
        let share = LOSS_CAP * 100.0;
        let reason = format!("this run has already demoted the maximum of {share:.0} % of the live entries");
        self.refuse(Rule::LossCap, entries, reason);
    }
}
