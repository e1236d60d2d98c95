//! Distinct places in a ranking of results.

use std::collections::HashSet;

use hippo_proto::SearchHit;

use super::DistinctBy;
use super::metrics::EvidenceSpan;

/// Returns the span of the first result of each place, in rank order.
pub fn ranking(results: &[SearchHit], distinct: DistinctBy) -> Vec<EvidenceSpan> {
    let mut seen = HashSet::new();
    let mut spans = Vec::new();
    for hit in results {
        let heading = &hit.heading[..hit.heading.len().min(2)];
        let first = match distinct {
            DistinctBy::None => true,
            DistinctBy::Section => seen.insert((hit.path.as_str(), heading)),
            DistinctBy::File => seen.insert((hit.path.as_str(), &[])),
        };
        if first {
            spans.push(EvidenceSpan {
                path: hit.path.clone(),
                start_line: hit.start_line,
                end_line: hit.end_line,
            });
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(path: &str, line: u32, heading: &[&str]) -> SearchHit {
        SearchHit {
            id: String::new(),
            path: path.into(),
            start_line: line,
            end_line: line,
            heading: heading.iter().map(|part| (*part).to_owned()).collect(),
            score: 0.5,
            scores: None,
            strength: None,
            entry: None,
            tokens: 1,
            text: String::new(),
            date: None,
            scope: hippo_proto::Scope::Shared,
            copies: 0,
            speaker: None,
            superseded_by: None,
            explain: None,
        }
    }

    #[test]
    fn the_first_result_of_each_location_is_kept() {
        let results = [
            hit("a", 1, &["A", "One", "Deep"]),
            hit("a", 2, &["A", "One"]),
            hit("b", 3, &["A", "One"]),
            hit("a", 4, &["A", "Two"]),
            hit("a", 5, &[]),
        ];
        let lines = |distinct| {
            ranking(&results, distinct)
                .iter()
                .map(|span| span.start_line)
                .collect::<Vec<_>>()
        };
        assert_eq!(lines(DistinctBy::None), [1, 2, 3, 4, 5]);
        assert_eq!(lines(DistinctBy::Section), [1, 3, 4, 5]);
        assert_eq!(lines(DistinctBy::File), [1, 3]);
    }
}
