//! Order of hits that answer a question equally well.

use std::collections::BTreeSet;

use hippo_text::chunk::Speaker;
use hippo_text::source::SourceKind;
use hippo_text::speaker;
use hippo_text::terms::{QueryTerm, index_terms};

use super::{DatedText, is_after};

/// Minimum score, as a share of the best score, of a hit that answers as well as the best one.
const AS_GOOD: f32 = 0.9;
/// Minimum share of the question's words that the best hits must contain before the latest hit can be first.
const COVERED: f32 = 0.6;
/// Number of best hits whose order can change.
pub const AMONG: usize = 10;
/// Words that mark a question about an earlier value.
#[rustfmt::skip] // a list is read in lines
const EARLIER: [&str; 10] = [
    "before", "earlier", "first", "formerly", "initial", "initially", "original", "originally", "previous",
    "previously",
];

/// Returns the order of a question's hits, with the latest of equally good hits first.
///
/// Hits are equally good if each contains as many words of the question as any other hit, and scores at least 0.9 times
/// as high as the best hit. Hits with words of an assistant keep their position. If the question is about an earlier
/// value ("at first", "before"), all hits keep their position. `hits` contains the texts in their previous order, with
/// their scores.
#[must_use]
pub fn order_latest_first(question: &str, terms: &[QueryTerm], hits: &[(DatedText<'_>, f32)]) -> Vec<usize> {
    let terms: Vec<&str> = (terms.iter().map(|term| term.term.as_str()))
        .filter(|term| !speaker::is_speaker_term(term))
        .collect();
    let mut order: Vec<usize> = (0..hits.len()).collect();
    let words = question.to_lowercase();
    let mut words = words.split(|mark: char| !mark.is_alphanumeric());
    if hits.is_empty() || terms.is_empty() || words.any(|word| EARLIER.contains(&word)) {
        return order;
    }
    let covered = |text: &DatedText<'_>| {
        let whole = format!("{}\n{}", text.heading.join("\n"), text.text);
        let there: BTreeSet<String> = index_terms(&whole).into_iter().collect();
        terms.iter().filter(|term| there.contains(**term)).count()
    };
    let counts: Vec<usize> = hits.iter().take(AMONG).map(|(text, _)| covered(text)).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    if (most as f32) < COVERED * terms.len() as f32 {
        return order;
    }
    let best = hits.iter().map(|(_, score)| *score).fold(0.0, f32::max);
    let is_good = |at: &usize| {
        let (text, score) = &hits[*at];
        let is_assistant = speaker::name(text.text) == Some("Assistant");
        counts[*at] == most && *score >= AS_GOOD * best && !is_assistant
    };
    let good: Vec<usize> = (0..counts.len()).filter(is_good).collect();
    let line = |at: usize| Some((hits[at].0.date?, hits[at].0.place));
    let mut latest: Vec<usize> = Vec::with_capacity(good.len());
    for &at in &good {
        let is_later = |other: &&usize| {
            line(at)
                .zip(line(**other))
                .is_some_and(|(one, other)| is_after(one, other))
        };
        let later_than = latest.iter().rev().take_while(is_later).count();
        latest.insert(latest.len() - later_than, at);
    }
    for (place, at) in good.into_iter().zip(latest) {
        order[place] = at;
    }
    order
}

/// Returns the date of a text if the path or a heading contains the date. Other dates may come from the file's
/// modification time, which does not show the age of a single line. Words of an assistant and pages of sessions have no
/// date here, so that they never correct the memory.
#[must_use]
pub fn own_date<'d>(
    date: Option<&'d str>,
    path: &str,
    heading: &[String],
    speaker: Speaker,
) -> Option<&'d str> {
    let is_session = SourceKind::from_path(path) == SourceKind::Session;
    let date = date.filter(|_| !is_session && speaker != Speaker::Assistant);
    date.filter(|date| path.contains(date) || heading.iter().any(|title| title.contains(date)))
}

#[cfg(test)]
mod tests {
    use hippo_text::terms::query_terms;

    use super::*;

    #[test]
    fn the_latest_of_equally_good_hits_is_first() {
        let question = "How many coins are in my collection?";
        let terms: Vec<QueryTerm> = query_terms(question)
            .into_iter()
            .filter(|term| !term.stop)
            .collect();
        let hits = [
            ("2026-03-02", "User: my collection has 37 coins now", 1.0),
            ("2026-03-03", "Assistant: 37 coins are a fine collection!", 0.99),
            (
                "2026-03-09",
                "User: one more, so there are 38 coins in the collection",
                0.95,
            ),
            ("2026-03-10", "User: I polish the coins with a soft cloth", 0.94),
            ("2026-03-11", "User: a friend has a collection of coins too", 0.5),
        ];
        let order = |question: &str| {
            let hits: Vec<(DatedText<'_>, f32)> = (hits.iter())
                .map(|(date, text, score)| {
                    let place = (*date, 1);
                    let text = DatedText {
                        date: Some(date),
                        place,
                        heading: &[],
                        text,
                    };
                    (text, *score)
                })
                .collect();
            order_latest_first(question, &terms, &hits)
        };
        assert_eq!(order(question), [2, 1, 0, 3, 4]);
        assert_eq!(
            order("How many coins were in my collection at first?"),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(order_latest_first(question, &terms, &[]), [0; 0]);
        // A stored answer keeps its order, so its first hit may not be the one with the best score.
        let mut again: Vec<(DatedText<'_>, f32)> = Vec::new();
        for (at, score) in [(2, 0.95), (0, 1.0), (4, 0.87)] {
            let (date, text, _) = hits[at];
            let place = (date, 1);
            again.push((
                DatedText {
                    date: Some(date),
                    place,
                    heading: &[],
                    text,
                },
                score,
            ));
        }
        assert_eq!(order_latest_first(question, &terms, &again), [0, 1, 2]);
    }
}
