//! Comparison table of several ways to find an answer.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::bench::BenchEnvironment;
use crate::bench::ask::{AT_2000, AskOutcome, BUDGETS, Summary, mean};
use crate::bench::client::ask;
use crate::bench::table::{Figure, ms};
use crate::terminal::say;

/// Names of the rows that are compared.
pub const SEARCH: &str = "search alone";
pub const COLD: &str = "hybrid, before any question";
pub const WARM: &str = "hybrid, after the warm-up";

/// One way to find answers, over all workspaces of a data set.
#[derive(Default)]
struct MethodRow {
    outcomes: Vec<AskOutcome>,
    /// For each question, 0 if the warm-up asked the question, otherwise 1.
    halves: Vec<usize>,
}

/// Rows by name, in display order.
#[derive(Default)]
pub struct MethodRows {
    rows: Vec<(&'static str, MethodRow)>,
    /// Summaries of the rows that need no daemon, by name.
    baselines: BTreeMap<String, Vec<Summary>>,
}

impl MethodRows {
    /// Measures the rows that need no daemon.
    ///
    /// # Errors
    /// Fails if the measurement fails.
    pub fn baseline(&mut self, ground: &BenchEnvironment<'_>, root: &str, questions: &Path) -> Result<()> {
        let arguments = ["--modes", "full-scan,grep", "-k", "5"];
        let report = ask(ground.scratch, root, questions, &arguments)?;
        for row in report.all() {
            let within = BUDGETS
                .iter()
                .filter_map(|budget| row.budget_recall.get(budget).copied());
            let summary = Summary {
                questions: report.questions,
                within: within.collect(),
                recall: row.recall_at.get(&5).copied().unwrap_or_default(),
                tokens: row.tokens_per_question,
                p50: row.latency_p50_ms,
                by_index: 0.0,
            };
            self.baselines.entry(row.mode.clone()).or_default().push(summary);
        }
        Ok(())
    }

    /// Adds the outcomes of one workspace to a row, in file order.
    pub fn take(&mut self, name: &'static str, outcomes: Vec<AskOutcome>) {
        let at = self
            .rows
            .iter()
            .position(|(known, _)| *known == name)
            .unwrap_or_else(|| {
                self.rows.push((name, MethodRow::default()));
                self.rows.len() - 1
            });
        let way = &mut self.rows[at].1;
        way.halves.extend((0..outcomes.len()).map(|at| at % 2));
        way.outcomes.extend(outcomes);
    }

    fn summary(&self, name: &str, half: Option<usize>) -> Option<Summary> {
        let (_, way) = self.rows.iter().find(|(known, _)| *known == name)?;
        Some(way.summary(half))
    }

    /// Prints all rows as a markdown table.
    pub fn print(&self, title: &str) {
        say(format_args!("\n{title}\n"));
        say(format_args!(
            "| way | questions | 500 tok | 1000 | 2000 | 3500 | tokens of an answer | recall of it | p50 | by entries alone |\n|---|---|---|---|---|---|---|---|---|---|"
        ));
        for (name, title) in [("full-scan", "full scan"), ("grep", "grep + 5 files")] {
            if let Some(rows) = self.baselines.get(name) {
                show(title, &together(rows));
            }
        }
        let halves = [
            (None, ""),
            (Some(1), ", the other half"),
            (Some(0), ", the half that was asked before"),
        ];
        for (half, which) in halves {
            for (name, way) in &self.rows {
                let warm = name.ends_with("after the warm-up");
                let shown = match half {
                    None => !warm,
                    Some(_) => warm || *name == SEARCH || *name == COLD,
                };
                if shown {
                    show(&format!("{name}{which}"), &way.summary(half));
                }
            }
        }
    }

    /// Returns the figures of the warm-up with their targets.
    pub fn figures(&self, part: &'static str) -> Vec<Figure> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let other = |name| {
            self.summary(name, Some(1))
                .map_or(0.0, |summary| summary.within[AT_2000])
        };
        let (warm, search) = (other(WARM), other(SEARCH));
        let again = self
            .rows
            .iter()
            .find(|(name, _)| *name == WARM)
            .map(|(_, way)| way);
        let alone = self
            .rows
            .iter()
            .find(|(name, _)| *name == SEARCH)
            .map(|(_, way)| way);
        let mut pairs = Vec::new();
        if let Some((again, alone)) = again.zip(alone) {
            for (at, (warm, search)) in again.outcomes.iter().zip(&alone.outcomes).enumerate() {
                let warm = warm.within[AT_2000];
                if again.halves[at] == 0 && warm.by_index {
                    pairs.push((warm.recall, search.within[AT_2000].recall));
                }
            }
        }
        let share = self
            .summary(WARM, Some(0))
            .map_or(0.0, |summary| summary.by_index);
        let recall = mean(pairs.iter().map(|(warm, _)| *warm));
        let of_search = mean(pairs.iter().map(|(_, search)| *search));
        let ratio = if of_search > 0.0 { recall / of_search } else { 0.0 };
        let figure = |what: &str, measured: String| Figure::new(part, what, measured);
        vec![
            figure(
                "new questions, hybrid after the warm-up: recall within 2,000 tokens",
                percent(warm),
            )
            .reach(format!("≥ search alone, {}", percent(search)), warm >= search),
            figure(
                "repeated questions: share answered by entries alone",
                percent(share),
            )
            .reach("≥ 50 %", share >= 0.5),
            figure(
                "answers by entries alone: recall within 2,000 tokens ÷ recall of search",
                format!("{ratio:.3} ({} ÷ {})", percent(recall), percent(of_search)),
            )
            .reach("≥ 0.95", ratio >= 0.95),
        ]
    }
}

impl MethodRow {
    fn summary(&self, half: Option<usize>) -> Summary {
        let of_half = self.outcomes.iter().zip(&self.halves);
        let of_half = of_half.filter(|(_, known)| half.is_none_or(|half| half == **known));
        Summary::new(of_half.map(|(outcome, _)| outcome))
    }
}

/// Combines the summaries of several workspaces, weighted by their numbers of questions. The time is the weighted mean
/// of the medians.
fn together(rows: &[Summary]) -> Summary {
    let all: f64 = rows.iter().map(|row| row.questions as f64).sum();
    let of = |value: &dyn Fn(&Summary) -> f64| {
        rows.iter()
            .map(|row| value(row) * row.questions as f64)
            .sum::<f64>()
            / all.max(1.0)
    };
    Summary {
        questions: rows.iter().map(|row| row.questions).sum(),
        within: (0..BUDGETS.len())
            .map(|at| of(&|row: &Summary| row.within.get(at).copied().unwrap_or_default()))
            .collect(),
        recall: of(&|row: &Summary| row.recall),
        tokens: of(&|row: &Summary| row.tokens),
        p50: of(&|row: &Summary| row.p50),
        by_index: 0.0,
    }
}

fn show(name: &str, summary: &Summary) {
    let percent = |share: &f64| format!("{:.1}", 100.0 * share);
    let within: Vec<String> = summary.within.iter().map(percent).collect();
    say(format_args!(
        "| {name} | {} | {} | {:.0} | {} | {} | {} |",
        summary.questions,
        within.join(" | "),
        summary.tokens,
        percent(&summary.recall),
        ms(summary.p50),
        percent(&summary.by_index),
    ));
}
