//! Retrieval quality on three data sets.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::BenchEnvironment;
use super::client::ask;
use super::table::Figure;

/// Measures evidence recall within token budgets on five dated conversations.
///
/// # Errors
/// Fails if the data is missing, or the client fails.
pub fn locomo(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let folder = ground.workspaces.data("locomo");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .with_context(|| format!("could not read {}", folder.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("conv-"))
        .collect();
    names.sort();
    let budgets = [(500, 78.0), (1000, 86.0), (2000, 91.0), (3500, 94.0)];
    let (mut questions, mut mrr, mut recall) = (0.0, 0.0, BTreeMap::new());
    for name in names {
        let root = ground.workspaces.get(&format!("locomo/{name}"))?.root;
        let report = ask(
            ground.scratch,
            &root,
            &folder.join(&name).join("questions.jsonl"),
            &["--modes", "hybrid"],
        )?;
        let count = report.questions as f64;
        let row = report.row("hybrid")?;
        questions += count;
        mrr += count * row.mrr.unwrap_or_default();
        for (budget, _) in budgets {
            let share = row.budget_recall.get(&budget).copied().unwrap_or_default();
            *recall.entry(budget).or_insert(0.0) += count * share;
        }
    }
    let mut figures = Vec::new();
    for (budget, least) in budgets {
        let percent = 100.0 * recall[&budget] / questions;
        let what = format!("LoCoMo, {questions} questions: evidence recall within {budget} tokens");
        let figure = Figure::new("locomo", what, format!("{percent:.1} %"));
        figures.push(figure.reach(format!("≥ {least} %"), percent >= least));
    }
    let mrr = mrr / questions;
    figures.push(
        Figure::new("locomo", "LoCoMo: MRR of the first hit", format!("{mrr:.3}"))
            .reach("≥ 0.55", mrr >= 0.55),
    );
    Ok(figures)
}

/// Measures how many sessions are found with explicit questions, and with requests that do not mention the sessions.
///
/// # Errors
/// Fails if the data is missing, or the client fails.
pub fn memaware(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("memaware")?.root;
    let folder = ground.workspaces.data("memaware");
    let arguments = ["--modes", "hybrid", "--distinct", "section", "--budgets", "1000"];
    let report = ask(
        ground.scratch,
        &root,
        &folder.join("questions_explicit.jsonl"),
        &arguments,
    )?;
    let row = report.row("hybrid")?;
    let (recall, mrr) = (
        100.0 * row.recall_at.get(&10).copied().unwrap_or_default(),
        row.mrr.unwrap_or_default(),
    );
    let implicit = ask(
        ground.scratch,
        &root,
        &folder.join("questions_implicit.jsonl"),
        &arguments,
    )?;
    let implicit = 100.0
        * implicit
            .row("hybrid")?
            .recall_at
            .get(&10)
            .copied()
            .unwrap_or_default();
    Ok(vec![
        Figure::new(
            "memaware",
            "memaware, explicit questions: R@10 over sessions",
            format!("{recall:.1} %"),
        )
        .reach("≥ 83 %", recall >= 83.0),
        Figure::new("memaware", "the same: MRR", format!("{mrr:.3}")).reach("≥ 0.68", mrr >= 0.68),
        Figure::new(
            "memaware",
            "memaware, implicit requests: R@10 over sessions",
            format!("{implicit:.1} %"),
        ),
    ])
}

/// Compares hybrid search with its two parts.
///
/// # Errors
/// Fails if the data is missing, or the client fails.
pub fn scifact(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let root = ground.workspaces.get("scifact")?.root;
    let questions = ground.workspaces.data("scifact").join("questions.jsonl");
    let arguments = [
        "--modes",
        "hybrid,lexical,vector",
        "--distinct",
        "file",
        "--budgets",
        "1000",
    ];
    let report = ask(ground.scratch, &root, &questions, &arguments)?;
    let gain = |mode| Ok::<f64, anyhow::Error>(report.row(mode)?.ndcg_at_10.unwrap_or_default());
    let (hybrid, lexical, vector) = (gain("hybrid")?, gain("lexical")?, gain("vector")?);
    let better = lexical.max(vector);
    let what = format!("SciFact, {} queries: nDCG@10, hybrid", report.questions);
    let reach = format!("> lexical {lexical:.3}, vector {vector:.3}");
    Ok(vec![
        Figure::new("scifact", what, format!("{hybrid:.3}")).reach(reach, hybrid > better),
    ])
}
