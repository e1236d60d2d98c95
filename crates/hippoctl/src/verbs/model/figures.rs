//! Figures of compared models, computed from their answers.

use hippo_proto::SearchHit;
use serde::Serialize;

use super::questions::{ComparedQuestion, EvidenceLines};

/// Number of results that are compared.
pub const DEPTH: u32 = 10;
/// Maximum number of questions with different answers that a report lists.
const LISTED: usize = 5;

/// The answers of a model, and what they cost.
pub struct MeasuredModel {
    /// Name of the model.
    pub name: String,
    /// Size of the model on disk in bytes.
    pub bytes: u64,
    /// Time until all texts were searchable, in seconds.
    pub index_s: f64,
    /// The results of each question, best first.
    pub answers: Vec<Vec<SearchHit>>,
    /// Duration of each question in the daemon, in milliseconds.
    pub took_ms: Vec<f64>,
}

/// The report of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelComparison {
    /// Root of the workspace.
    pub workspace: String,
    /// Number of questions.
    pub questions: usize,
    /// Number of questions with evidence.
    pub with_evidence: usize,
    /// The models, in the order of the arguments.
    pub models: Vec<ModelFigures>,
    /// The questions whose answers differ most.
    pub differences: Vec<AnswerDifference>,
    /// Remarks about the comparison.
    pub notes: Vec<String>,
}

/// Figures of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelFigures {
    /// Name of the model.
    pub model: String,
    /// Share of the evidence that the first ten results contain; null without evidence.
    pub recall_at_10: Option<f64>,
    /// Mean of 1 / rank of the first result with evidence; null without evidence.
    pub mrr: Option<f64>,
    /// Number of questions with the same first result as the first model.
    pub same_first: usize,
    /// Mean share of the first ten results that the first model returns as well.
    pub shared: f64,
    /// Time to index the workspace in seconds, including the start of the model.
    pub index_s: f64,
    /// Size of the model on disk in bytes.
    pub bytes: u64,
    /// Median time of a question in milliseconds.
    pub p50_ms: f64,
}

/// A question with different answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerDifference {
    /// Text of the question.
    pub query: String,
    /// True if the question has evidence.
    pub has_evidence: bool,
    /// The first result of each model.
    pub first: Vec<FirstAnswer>,
}

/// The first result of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstAnswer {
    /// Name of the model.
    pub model: String,
    /// The result; null if the model found nothing.
    pub result: Option<SearchHit>,
    /// Rank of the first result with evidence; null if there is none.
    pub evidence_rank: Option<usize>,
}

/// Computes the figures of the models, and finds the questions whose answers differ most.
pub fn compute(
    workspace: String,
    questions: &[ComparedQuestion],
    measured: &[MeasuredModel],
    notes: Vec<String>,
) -> ModelComparison {
    let first = measured.first().map_or(&[][..], |model| &model.answers);
    ModelComparison {
        workspace,
        questions: questions.len(),
        with_evidence: with_evidence(questions).count(),
        models: measured
            .iter()
            .map(|model| figures(model, first, questions))
            .collect(),
        differences: differences(questions, measured),
        notes,
    }
}

fn with_evidence(questions: &[ComparedQuestion]) -> impl Iterator<Item = (usize, &[EvidenceLines])> {
    let evidence = questions.iter().map(|question| &question.evidence[..]);
    evidence.enumerate().filter(|(_, evidence)| !evidence.is_empty())
}

fn figures(model: &MeasuredModel, first: &[Vec<SearchHit>], questions: &[ComparedQuestion]) -> ModelFigures {
    let judged = |judge: fn(&[SearchHit], &[EvidenceLines]) -> f64| {
        mean(with_evidence(questions).map(|(at, evidence)| judge(&model.answers[at], evidence)))
    };
    let pairs = || model.answers.iter().zip(first);
    let mut sorted = model.took_ms.clone();
    sorted.sort_by(f64::total_cmp);
    ModelFigures {
        model: model.name.clone(),
        recall_at_10: judged(recall),
        mrr: judged(|hits, evidence| reciprocal(rank(hits, evidence))),
        same_first: pairs().filter(|(own, other)| has_same_first(own, other)).count(),
        shared: mean(pairs().map(|(own, other)| shared(own, other))).unwrap_or(1.0),
        index_s: model.index_s,
        bytes: model.bytes,
        p50_ms: sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
    }
}

/// Returns the mean, or `None` without values.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the share of the evidence that the results contain.
fn recall(hits: &[SearchHit], evidence: &[EvidenceLines]) -> f64 {
    let is_found = |lines: &&EvidenceLines| hits.iter().any(|hit| lines.overlaps(hit));
    evidence.iter().filter(is_found).count() as f64 / evidence.len() as f64
}

/// Returns the rank of the first result that contains evidence.
fn rank(hits: &[SearchHit], evidence: &[EvidenceLines]) -> Option<usize> {
    let contains = |hit: &SearchHit| evidence.iter().any(|lines| lines.overlaps(hit));
    hits.iter().position(contains).map(|at| at + 1)
}

fn reciprocal(rank: Option<usize>) -> f64 {
    rank.map_or(0.0, |rank| 1.0 / rank as f64)
}

/// Returns whether two results have a line in common. Models divide texts at different lines.
fn overlap(one: &SearchHit, other: &SearchHit) -> bool {
    one.path == other.path && one.start_line <= other.end_line && other.start_line <= one.end_line
}

fn has_same_first(one: &[SearchHit], other: &[SearchHit]) -> bool {
    match (one.first(), other.first()) {
        (Some(one), Some(other)) => overlap(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Returns the share of results that two answers have in common, 0 to 1.
fn shared(one: &[SearchHit], other: &[SearchHit]) -> f64 {
    let count = |these: &[SearchHit], those: &[SearchHit]| {
        let is_shared = |hit: &&SearchHit| those.iter().any(|that| overlap(hit, that));
        these.iter().filter(is_shared).count()
    };
    match one.len().max(other.len()) {
        0 => 1.0,
        most => count(one, other).min(count(other, one)) as f64 / most as f64,
    }
}

/// Returns the questions whose answers differ most: by the rank of the evidence, or without evidence by the first result
/// and then by the other results.
fn differences(questions: &[ComparedQuestion], measured: &[MeasuredModel]) -> Vec<AnswerDifference> {
    let mut differing: Vec<(f64, AnswerDifference)> = Vec::new();
    for (at, question) in questions.iter().enumerate() {
        let has_evidence = !question.evidence.is_empty();
        let answers: Vec<&[SearchHit]> = measured.iter().map(|model| &model.answers[at][..]).collect();
        let ranks = answers.iter().map(|hits| rank(hits, &question.evidence));
        let ranks: Vec<Option<usize>> = ranks.collect();
        // Without evidence, an answer is as good as its similarity to that of the first model.
        let worth = |(hits, rank): (&&[SearchHit], &Option<usize>)| match has_evidence {
            true => reciprocal(*rank),
            false if has_same_first(hits, answers[0]) => 1.0,
            false => shared(hits, answers[0]) / 2.0,
        };
        let worth = || answers.iter().zip(&ranks).map(worth);
        let difference = worth().fold(0.0, f64::max) - worth().fold(1.0, f64::min);
        if difference > 0.0 {
            let first = measured.iter().zip(&answers).zip(&ranks);
            let first = first.map(|((model, hits), evidence_rank)| FirstAnswer {
                model: model.name.clone(),
                result: hits.first().cloned(),
                evidence_rank: *evidence_rank,
            });
            let shown = AnswerDifference {
                query: question.query.clone(),
                has_evidence,
                first: first.collect(),
            };
            differing.push((difference, shown));
        }
    }
    differing.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    differing
        .into_iter()
        .take(LISTED)
        .map(|(_, shown)| shown)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hit(place: &str) -> SearchHit {
        let (path, line) = place.split_once(':').unwrap();
        let line: u32 = line.parse().unwrap();
        let hit = json!({
            "id": "c1", "path": path, "start_line": line, "end_line": line + 1, "heading": [], "score": 0.5, "tokens": 1,
            "text": "a",
        });
        serde_json::from_value(hit).unwrap()
    }

    fn model(name: &str, answers: &[&[&str]]) -> MeasuredModel {
        let hits = |places: &&[&str]| places.iter().map(|place| hit(place)).collect();
        MeasuredModel {
            name: name.to_owned(),
            bytes: 1,
            index_s: 1.0,
            answers: answers.iter().map(hits).collect(),
            took_ms: vec![9.0, 1.0, 2.0],
        }
    }

    fn question(query: &str, evidence: &[(&str, u32)]) -> ComparedQuestion {
        let lines = |(path, line): &(&str, u32)| EvidenceLines {
            path: (*path).to_owned(),
            start_line: *line,
            end_line: *line,
        };
        ComparedQuestion {
            query: query.to_owned(),
            evidence: evidence.iter().map(lines).collect(),
        }
    }

    #[test]
    fn evidence_determines_the_figures_and_the_order_of_the_differences() {
        let questions = [
            question("both", &[("a.md", 2)]),
            question("lost", &[("a.md", 1), ("b.md", 9)]),
            question("later", &[("a.md", 1)]),
        ];
        let first = model("first", &[&["a.md:1"], &["a.md:1", "b.md:8"], &["a.md:1"]]);
        let second = model("second", &[&["a.md:2"], &["c.md:1"], &["c.md:1", "a.md:1"]]);
        let report = compute(String::new(), &questions, &[first, second], Vec::new());
        let figures = report
            .models
            .iter()
            .map(|model| (model.recall_at_10, model.mrr, model.p50_ms));
        let expected = [(Some(1.0), Some(1.0), 2.0), (Some(2.0 / 3.0), Some(0.5), 2.0)];
        assert_eq!(figures.collect::<Vec<_>>(), expected);
        let differences = report.differences.iter();
        let ranks = differences.map(|one| {
            (
                &*one.query,
                one.first[0].evidence_rank,
                one.first[1].evidence_rank,
            )
        });
        let expected = [("lost", Some(1), None), ("later", Some(1), Some(2))];
        assert_eq!(ranks.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_evidence_results_are_compared_with_those_of_the_first_model() {
        let questions = ["same", "other", "nothing"].map(|query| question(query, &[]));
        let first = model("first", &[&["a.md:1", "b.md:1"], &["a.md:1", "b.md:1"], &[]]);
        let second = model("second", &[&["a.md:2", "c.md:1"], &["b.md:1", "a.md:1"], &[]]);
        let report = compute(String::new(), &questions, &[first, second], Vec::new());
        let figures = report
            .models
            .iter()
            .map(|model| (model.mrr, model.same_first, model.shared));
        let expected = [(None, 3, 1.0), (None, 2, 2.5 / 3.0)];
        assert_eq!(figures.collect::<Vec<_>>(), expected);
        let differences: Vec<&str> = report.differences.iter().map(|one| &*one.query).collect();
        assert_eq!(differences, ["other"]);
    }
}
