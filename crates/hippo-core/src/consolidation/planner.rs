//! How do the rules of a cycle become a plan?

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::archival::{self, Health};
use super::change::{Change, Step};
use super::{Cycle, Place, Record, Rule, Snapshot, deep, light};
use crate::entry::EntryId;

/// Rounds after which planning ends in any case. Rules that feed each other settle in three.
const ROUNDS: usize = 12;

/// What a run will do, and what it looked at and left.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Which cycle.
    pub cycle: Cycle,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What is not done, and why.
    pub refused: BTreeSet<Refusal>,
    /// How many entries, pairs or facts each rule looked at.
    pub considered: BTreeMap<Rule, usize>,
    /// What a person may want to look at; nothing is done about it.
    pub findings: BTreeSet<Finding>,
    /// The state of the index after the plan; archival runs alone.
    pub health: Option<Health>,
}

impl Plan {
    /// A plan that does nothing.
    #[must_use]
    pub const fn empty(cycle: Cycle) -> Self {
        Self {
            cycle,
            steps: Vec::new(),
            refused: BTreeSet::new(),
            considered: BTreeMap::new(),
            findings: BTreeSet::new(),
            health: None,
        }
    }
}

/// Something that a rule would have done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// The rule that forbids it.
    pub rule: Rule,
    /// The entries, as ids, or the proposed one.
    pub entries: Vec<EntryId>,
    /// The reason, for people.
    pub reason: String,
}

/// Something odd that is only told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that found it.
    pub rule: Rule,
    /// The entry.
    pub id: EntryId,
    /// What it is, for people.
    pub what: String,
}

/// What a cycle does to a snapshot. The same snapshot gives the same plan.
#[must_use]
pub fn plan(snapshot: &Snapshot, cycle: Cycle) -> Plan {
    carry_out(snapshot.clone(), cycle).0
}

/// What a cycle does to a snapshot, and the snapshot after it: [`plan`] and [`super::apply`] without a copy.
#[must_use]
pub fn carry_out(snapshot: Snapshot, cycle: Cycle) -> (Plan, Snapshot) {
    let mut planner = Planner {
        state: snapshot,
        plan: Plan::empty(cycle),
    };
    planner.settle(cycle);
    if cycle != Cycle::Light {
        // Only now is it known what the run keeps.
        deep::replay(&mut planner);
        planner.settle(cycle);
    }
    if cycle == Cycle::Archival {
        planner.plan.health = Some(Health::of(&planner.state));
    }
    (planner.plan, planner.state)
}

/// A plan in the making, and the snapshot as its steps leave it.
pub(super) struct Planner {
    pub state: Snapshot,
    pub plan: Plan,
}

impl Planner {
    /// Tries the rules of a cycle until none has anything to do.
    fn settle(&mut self, cycle: Cycle) {
        for _ in 0..ROUNDS {
            let before = self.plan.steps.len();
            // Counts and findings are of the last round; what was refused once stays refused in this run.
            self.plan.findings.clear();
            self.plan.considered.clear();
            match cycle {
                Cycle::Light => light::rules(self),
                Cycle::Deep => deep::rules(self),
                Cycle::Archival => archival::rules(self),
            }
            light::flush(self);
            if self.plan.steps.len() == before {
                break;
            }
        }
    }

    /// Adds a step; what it changes holds for the rules that follow.
    pub fn step(&mut self, rule: Rule, entries: Vec<EntryId>, change: Change) {
        change.apply(&mut self.state);
        self.plan.steps.push(Step {
            rule,
            entries,
            change,
        });
    }

    /// Notes that something is not done.
    pub fn refuse(&mut self, rule: Rule, entries: Vec<EntryId>, reason: impl Into<String>) {
        let reason = reason.into();
        self.plan.refused.insert(Refusal {
            rule,
            entries,
            reason,
        });
    }

    /// Notes something to look at.
    pub fn find(&mut self, rule: Rule, id: &EntryId, what: impl Into<String>) {
        let (id, what) = (id.clone(), what.into());
        self.plan.findings.insert(Finding { rule, id, what });
    }

    /// Notes how much a rule looked at.
    pub fn consider(&mut self, rule: Rule, count: usize) {
        *self.plan.considered.entry(rule).or_default() += count;
    }

    /// Makes, for each entry that fits, the change that a rule wants of it alone.
    pub fn each(
        &mut self,
        rule: Rule,
        fits: impl Fn(&Record) -> bool,
        change: impl Fn(&EntryId, &Record) -> Option<Change>,
    ) {
        let mut considered = 0;
        let mut changes = Vec::new();
        for (id, record) in self.state.records.iter().filter(|(_, record)| fits(record)) {
            considered += 1;
            changes.extend(change(id, record).map(|change| (id.clone(), change)));
        }
        self.consider(rule, considered);
        for (id, change) in changes {
            self.step(rule, vec![id], change);
        }
    }

    /// Ids of the entries that fit, in their order.
    pub fn ids(&self, fits: impl Fn(&Record) -> bool) -> Vec<EntryId> {
        let fitting = self.state.records.values().filter(|record| fits(record));
        fitting.map(|record| record.entry.id.clone()).collect()
    }

    /// Whether the run may demote one more entry.
    pub fn may_demote(&self) -> bool {
        let run = self.state.run;
        let share = f64::from(self.state.settings.loss_cap.clamp(0.0, 1.0));
        let most = (f64::from(run.live) * share).floor().max(1.0);
        f64::from(run.demoted) < most
    }

    /// Demotes entries, the weakest first, as far as the run may.
    pub fn demote(&mut self, rule: Rule, mut ids: Vec<EntryId>, to: Place) {
        let strength = |id: &EntryId| self.state.records.get(id).map_or(0.0, |record| record.strength);
        ids.sort_by(|a, b| strength(a).total_cmp(&strength(b)).then_with(|| a.cmp(b)));
        for id in ids {
            let Some(from) = self.state.records.get(&id).map(|record| record.place) else {
                continue;
            };
            if !self.may_demote() {
                self.refuse_loss(vec![id]);
                continue;
            }
            let change = Change::Move {
                id: id.clone(),
                from,
                to,
                demotes: 1,
            };
            self.step(rule, vec![id], change);
        }
    }

    /// Notes that the run has demoted all that it may.
    pub fn refuse_loss(&mut self, entries: Vec<EntryId>) {
        let share = self.state.settings.loss_cap * 100.0;
        let reason = format!("this run has demoted {share:.0} % of the live entries already");
        self.refuse(Rule::LossCap, entries, reason);
    }
}
