//! Figures of all questions, as tables.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::Serialize;

use super::file::EvidenceQuestion;
use super::metrics::{mean, percentile};
use super::run::QuestionOutcome;
use super::{BenchMode, QuestionArguments};

/// The figures of the whole benchmark, as `--json` prints them. Shares are 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchReport {
    /// Path of the question file.
    pub file: String,
    /// Canonical root of the workspace.
    pub workspace: String,
    /// Number of questions asked.
    pub questions: usize,
    /// Number of skipped questions without evidence.
    pub without_evidence: usize,
    /// Unit of results that counts as one place in the ranking.
    pub distinct: String,
    /// One row for each mode and group. For each mode, the row of all questions is first; its group is null.
    pub rows: Vec<ReportRow>,
    /// Modes without figures, each with the reason.
    pub left_out: BTreeMap<String, String>,
}

/// The figures of one mode and group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportRow {
    /// Name of the mode.
    pub mode: String,
    /// Name of the group; null means all questions.
    pub group: Option<String>,
    /// Number of questions in the row.
    pub questions: usize,
    /// Mean recall, by k.
    pub recall_at: BTreeMap<u32, f64>,
    /// Mean hit (1 or 0 per question), by k.
    pub hit_at: BTreeMap<u32, f64>,
    /// Mean reciprocal rank; null for unranked modes.
    pub mrr: Option<f64>,
    /// Mean nDCG of the first ten results; null for unranked modes.
    pub ndcg_at_10: Option<f64>,
    /// Mean evidence recall, by token budget.
    pub budget_recall: BTreeMap<u32, f64>,
    /// Mean tokens of an answer.
    pub tokens_per_question: f64,
    /// Median latency in milliseconds.
    pub latency_p50_ms: f64,
    /// 95th percentile of the latency in milliseconds.
    pub latency_p95_ms: f64,
    /// Number of degraded answers, by the missing part.
    pub degraded: BTreeMap<String, usize>,
}

impl BenchReport {
    /// Returns the row of all questions in one mode.
    ///
    /// # Errors
    /// Fails if there is no such row.
    pub fn row(&self, mode: &str) -> Result<&ReportRow> {
        let found = self.all().find(|row| row.mode == mode);
        found.with_context(|| format!("no row for {mode}"))
    }

    /// Returns the rows that cover all questions.
    pub fn all(&self) -> impl Iterator<Item = &ReportRow> {
        self.rows.iter().filter(|row| row.group.is_none())
    }

    /// Summarizes the measurements. `measured` contains the outcomes of each mode, one for each question, in order.
    /// `left_out` contains the reason for each refused mode.
    pub fn new(
        workspace: String,
        args: &QuestionArguments,
        questions: &[EvidenceQuestion],
        without_evidence: usize,
        measured: &[(BenchMode, Vec<QuestionOutcome>)],
        left_out: &[(BenchMode, String)],
    ) -> Self {
        let groups: BTreeSet<&str> = questions.iter().map(|question| question.group.as_str()).collect();
        let mut rows = Vec::new();
        for (mode, outcomes) in measured {
            rows.push(ReportRow::new(*mode, None, outcomes.iter().collect()));
            for group in groups.iter().filter(|_| groups.len() > 1) {
                let of_group = questions
                    .iter()
                    .zip(outcomes)
                    .filter(|(question, _)| question.group == *group);
                rows.push(ReportRow::new(
                    *mode,
                    Some(group),
                    of_group.map(|(_, outcome)| outcome).collect(),
                ));
            }
        }
        Self {
            file: args.file.display().to_string(),
            workspace,
            questions: questions.len(),
            without_evidence,
            distinct: name(args.distinct),
            rows,
            left_out: left_out
                .iter()
                .map(|(mode, reason)| (name(*mode), reason.clone()))
                .collect(),
        }
    }

    /// Returns notes that explain the figures.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_evidence > 0 {
            let left_out = plural(self.without_evidence as u64, "question");
            notes.push(format!("note: {left_out} omitted, because they have no evidence"));
        }
        notes.extend(
            self.left_out
                .iter()
                .map(|(mode, reason)| format!("omitted: {mode}: {reason}")),
        );
        for row in self.rows.iter().filter(|row| row.group.is_none()) {
            for (missing, count) in &row.degraded {
                let (mode, all) = (&row.mode, row.questions);
                notes.push(format!(
                    "degraded: {mode}: {count} out of {all} questions have degraded answers ({missing})"
                ));
            }
        }
        notes
    }

    /// Returns one table for all questions, and one table for each group. Shares are in percent.
    pub fn tables(&self) -> String {
        let distinct = if self.distinct == "none" {
            String::new()
        } else {
            format!(", distinct {}", self.distinct)
        };
        let mut text = format!("{}{distinct}\n", plural(self.questions as u64, "question"));
        let groups: BTreeSet<Option<&str>> = self.rows.iter().map(|row| row.group.as_deref()).collect();
        for group in groups {
            let rows: Vec<&ReportRow> = self
                .rows
                .iter()
                .filter(|row| row.group.as_deref() == group)
                .collect();
            let Some(first) = rows.first() else { continue };
            text.push('\n');
            if let Some(group) = group {
                text.push_str(&format!(
                    "{group} ({})\n",
                    plural(first.questions as u64, "question")
                ));
            }
            let cells = std::iter::once(first.head()).chain(rows.iter().map(|row| row.cells()));
            text.push_str(&table(&cells.collect::<Vec<_>>()));
        }
        text
    }
}

impl ReportRow {
    fn new(mode: BenchMode, group: Option<&str>, outcomes: Vec<&QuestionOutcome>) -> Self {
        let by_key = |of: fn(&QuestionOutcome) -> &BTreeMap<u32, f64>| -> BTreeMap<u32, f64> {
            let keys: BTreeSet<u32> = outcomes
                .iter()
                .flat_map(|outcome| of(outcome).keys().copied())
                .collect();
            let at = |key: u32| {
                mean(
                    outcomes
                        .iter()
                        .filter_map(|outcome| of(outcome).get(&key).copied()),
                )
            };
            keys.into_iter().map(|key| (key, at(key))).collect()
        };
        let ranked = mode != BenchMode::FullScan;
        let latencies: Vec<f64> = outcomes.iter().map(|outcome| outcome.latency_ms).collect();
        let mut degraded = BTreeMap::new();
        for missing in outcomes.iter().filter_map(|outcome| outcome.degraded.clone()) {
            *degraded.entry(missing).or_insert(0) += 1;
        }
        Self {
            mode: name(mode),
            group: group.map(str::to_owned),
            questions: outcomes.len(),
            recall_at: by_key(|outcome| &outcome.judged.recall),
            hit_at: by_key(|outcome| &outcome.judged.hit),
            mrr: ranked.then(|| mean(outcomes.iter().map(|outcome| outcome.judged.reciprocal_rank))),
            ndcg_at_10: ranked.then(|| mean(outcomes.iter().map(|outcome| outcome.judged.ndcg_at_10))),
            budget_recall: by_key(|outcome| &outcome.budget_recall),
            tokens_per_question: mean(outcomes.iter().map(|outcome| outcome.tokens)),
            latency_p50_ms: percentile(&latencies, 0.5),
            latency_p95_ms: percentile(&latencies, 0.95),
            degraded,
        }
    }

    fn head(&self) -> Vec<String> {
        let mut head = vec!["mode".to_owned()];
        head.extend(self.recall_at.keys().map(|k| format!("R@{k}")));
        head.extend(self.hit_at.keys().map(|k| format!("hit@{k}")));
        head.extend(["MRR".to_owned(), "nDCG@10".to_owned()]);
        head.extend(self.budget_recall.keys().map(|budget| format!("{budget} tok")));
        head.extend(["tokens", "p50 ms", "p95 ms"].map(str::to_owned));
        head
    }

    fn cells(&self) -> Vec<String> {
        let percent = |share: &f64| format!("{:.1}", share * 100.0);
        let ranked = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        let mut cells = vec![self.mode.clone()];
        cells.extend(self.recall_at.values().map(percent));
        cells.extend(self.hit_at.values().map(percent));
        cells.extend([ranked(self.mrr), ranked(self.ndcg_at_10)]);
        cells.extend(self.budget_recall.values().map(percent));
        cells.push(format!("{:.0}", self.tokens_per_question));
        cells.push(format!("{:.2}", self.latency_p50_ms));
        cells.push(format!("{:.2}", self.latency_p95_ms));
        cells
    }
}

/// Returns "1 question", "2 questions".
fn plural(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// Formats cells as text columns that are two spaces apart. All columns but the first are right-aligned.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

/// Returns the command-line name of a value.
fn name(value: impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::questions::metrics::RankingFigures;

    fn outcome(recall: f64, latency_ms: f64, degraded: Option<&str>) -> QuestionOutcome {
        QuestionOutcome {
            judged: RankingFigures {
                recall: BTreeMap::from([(1, recall / 2.0), (5, recall)]),
                hit: BTreeMap::from([(1, 0.0), (5, 1.0)]),
                reciprocal_rank: recall,
                ndcg_at_10: 0.5,
            },
            budget_recall: BTreeMap::from([(500, recall)]),
            tokens: 120.0,
            latency_ms,
            degraded: degraded.map(str::to_owned),
        }
    }

    fn question(id: &str, group: &str) -> EvidenceQuestion {
        EvidenceQuestion {
            id: id.into(),
            query: "q".into(),
            evidence: vec![],
            group: group.into(),
        }
    }

    fn report() -> BenchReport {
        let args =
            QuestionArguments::try_parse_from(["questions", "q.jsonl", "--distinct", "section"]).unwrap();
        let questions = [
            question("1", "easy"),
            question("2", "hard"),
            question("3", "hard"),
        ];
        let hybrid = vec![
            outcome(1.0, 1.0, None),
            outcome(0.5, 2.0, None),
            outcome(0.0, 9.0, Some("no-model")),
        ];
        let scan = vec![outcome(1.0, 5.0, None); 3];
        let measured = [(BenchMode::Hybrid, hybrid), (BenchMode::FullScan, scan)];
        BenchReport::new(
            "/w".into(),
            &args,
            &questions,
            2,
            &measured,
            &[(BenchMode::Vector, "no model".to_owned())],
        )
    }

    #[test]
    fn figures_are_means_over_the_questions_of_a_group() {
        let report = report();
        let rows: Vec<(&str, Option<&str>, usize)> = report
            .rows
            .iter()
            .map(|row| (row.mode.as_str(), row.group.as_deref(), row.questions))
            .collect();
        assert_eq!(
            rows,
            [
                ("hybrid", None, 3),
                ("hybrid", Some("easy"), 1),
                ("hybrid", Some("hard"), 2),
                ("full-scan", None, 3),
                ("full-scan", Some("easy"), 1),
                ("full-scan", Some("hard"), 2),
            ]
        );
        let all = &report.rows[0];
        assert_eq!(
            (all.recall_at[&5], all.mrr, all.latency_p50_ms, all.latency_p95_ms),
            (0.5, Some(0.5), 2.0, 9.0)
        );
        assert_eq!(
            (report.rows[2].recall_at[&5], report.rows[2].recall_at[&1]),
            (0.25, 0.125)
        );
        assert_eq!(report.rows[3].mrr, None);
    }

    #[test]
    fn tables_and_notes_are_rendered() {
        let tables = report().tables();
        assert!(
            tables.starts_with("3 questions, distinct section\n\nmode "),
            "{tables}"
        );
        assert!(tables.contains("\nhard (2 questions)\n"), "{tables}");
        assert_eq!(
            report().notes(),
            [
                "note: 2 questions omitted, because they have no evidence",
                "omitted: vector: no model",
                "degraded: hybrid: 1 out of 3 questions have degraded answers (no-model)",
            ]
        );
    }
}
