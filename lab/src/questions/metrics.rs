//! Quality metrics of rankings, and their averages.

use std::collections::BTreeMap;

/// Lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceSpan {
    /// Path relative to the workspace.
    pub path: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
}

impl EvidenceSpan {
    /// Returns `true` if the two spans share a line.
    pub fn overlaps(&self, other: &EvidenceSpan) -> bool {
        self.path == other.path && self.start_line <= other.end_line && other.start_line <= self.end_line
    }
}

/// Quality figures of one ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankingFigures {
    /// For each k, the share of evidence spans that overlap one of the first k results.
    pub recall: BTreeMap<u32, f64>,
    /// For each k, 1 if one of the first k results overlaps evidence, otherwise 0.
    pub hit: BTreeMap<u32, f64>,
    /// 1 / rank of the first result that overlaps evidence, or 0.
    pub reciprocal_rank: f64,
    /// Normalised discounted cumulative gain of the first ten results.
    pub ndcg_at_10: f64,
}

/// Judges results that are in rank order. `evidence` must not be empty.
pub fn judge(results: &[EvidenceSpan], evidence: &[EvidenceSpan], ks: &[u32]) -> RankingFigures {
    let first = |k: u32| &results[..results.len().min(k as usize)];
    let recall: BTreeMap<u32, f64> = ks.iter().map(|k| (*k, recall(first(*k), evidence))).collect();
    let hit = recall
        .iter()
        .map(|(k, recall)| (*k, if *recall > 0.0 { 1.0 } else { 0.0 }))
        .collect();
    let rank = results
        .iter()
        .position(|result| evidence.iter().any(|span| span.overlaps(result)));
    let reciprocal_rank = rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    RankingFigures {
        recall,
        hit,
        reciprocal_rank,
        ndcg_at_10: ndcg(results, evidence, 10),
    }
}

/// Returns the share of evidence spans that overlap at least one of the results.
pub fn recall(results: &[EvidenceSpan], evidence: &[EvidenceSpan]) -> f64 {
    let covered = evidence
        .iter()
        .filter(|span| results.iter().any(|result| result.overlaps(span)));
    covered.count() as f64 / evidence.len() as f64
}

/// Returns the binary nDCG (Järvelin & Kekäläinen 2002). The gain of a result is 1 if it overlaps a span that no
/// earlier result overlapped, so several parts of one span count once. The ideal ranking has one span at each rank.
fn ndcg(results: &[EvidenceSpan], evidence: &[EvidenceSpan], depth: usize) -> f64 {
    let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
    let mut open: Vec<&EvidenceSpan> = evidence.iter().collect();
    let mut gain = 0.0;
    for (rank, result) in results.iter().take(depth).enumerate() {
        let before = open.len();
        open.retain(|span| !span.overlaps(result));
        if open.len() < before {
            gain += discount(rank);
        }
    }
    let ideal: f64 = (0..evidence.len().min(depth)).map(discount).sum();
    gain / ideal
}

/// Returns the mean, or 0 without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values
        .into_iter()
        .fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// Returns the nearest-rank percentile, or 0 without values. `share` is 0 to 1.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(path: &str, start_line: u32, end_line: u32) -> EvidenceSpan {
        EvidenceSpan {
            path: path.to_owned(),
            start_line,
            end_line,
        }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn spans_overlap_by_lines_of_one_file() {
        let middle = span("a", 5, 8);
        for (other, overlaps) in [
            (span("a", 8, 9), true),
            (span("a", 1, 5), true),
            (span("a", 6, 6), true),
            (span("a", 1, 20), true),
            (span("a", 9, 9), false),
            (span("a", 1, 4), false),
            (span("b", 5, 8), false),
        ] {
            assert_eq!(middle.overlaps(&other), overlaps, "{other:?}");
            assert_eq!(other.overlaps(&middle), overlaps, "{other:?}");
        }
    }

    /// The evidence is a:1, b:2 and c:3. The result at rank 1 covers nothing, 2 covers a, 3 covers a again, and 4
    /// covers only b.
    #[test]
    fn metrics_match_a_manual_calculation() {
        let evidence = [span("a", 1, 1), span("b", 2, 2), span("c", 3, 3)];
        let results = [span("x", 1, 9), span("a", 1, 4), span("a", 1, 1), span("b", 1, 2)];
        let judged = judge(&results, &evidence, &[1, 2, 3, 4, 10]);
        let recalls: Vec<f64> = judged.recall.values().copied().collect();
        let third = 1.0 / 3.0;
        assert_eq!(recalls, [0.0, third, third, 2.0 * third, 2.0 * third]);
        assert_eq!(
            judged.hit.values().copied().collect::<Vec<_>>(),
            [0.0, 1.0, 1.0, 1.0, 1.0]
        );
        near(judged.reciprocal_rank, 0.5);
        // The gains are at ranks 2 and 4: 1/log2(3) + 1/log2(5). The ideal is 1 + 1/log2(3) + 1/log2(4).
        near(
            judged.ndcg_at_10,
            (0.6309297535714575 + 0.43067655807339306) / (1.0 + 0.6309297535714575 + 0.5),
        );
    }

    #[test]
    fn one_result_may_cover_several_spans() {
        let evidence = [span("a", 1, 1), span("a", 3, 3)];
        let judged = judge(&[span("a", 1, 3)], &evidence, &[1]);
        near(judged.recall[&1], 1.0);
        near(judged.ndcg_at_10, 1.0 / (1.0 + 0.6309297535714575));
    }

    #[test]
    fn a_perfect_ranking_scores_1_and_an_empty_one_0() {
        let evidence = [span("a", 1, 1), span("b", 1, 1)];
        let perfect = judge(&evidence, &evidence, &[1, 5]);
        assert_eq!((perfect.recall[&1], perfect.recall[&5]), (0.5, 1.0));
        near(perfect.ndcg_at_10, 1.0);
        near(perfect.reciprocal_rank, 1.0);
        let empty = judge(&[], &evidence, &[1]);
        assert_eq!(
            (
                empty.recall[&1],
                empty.hit[&1],
                empty.reciprocal_rank,
                empty.ndcg_at_10
            ),
            (0.0, 0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn more_evidence_than_ranks_can_still_be_perfect() {
        let evidence: Vec<EvidenceSpan> = (1..=20).map(|line| span("a", line, line)).collect();
        near(judge(&evidence, &evidence, &[10]).ndcg_at_10, 1.0);
    }

    #[test]
    fn means_and_percentiles_are_calculated() {
        near(mean([1.0, 2.0, 6.0]), 3.0);
        near(mean([]), 0.0);
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(
            [
                percentile(&values, 0.5),
                percentile(&values, 0.95),
                percentile(&values, 0.0)
            ],
            [3.0, 5.0, 1.0]
        );
        assert_eq!([percentile(&[1.0, 2.0], 0.5), percentile(&[], 0.5)], [1.0, 0.0]);
    }
}
