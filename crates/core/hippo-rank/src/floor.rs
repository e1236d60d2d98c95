//! Confidence that a passage concerns a prompt that did not ask for the memory.

use crate::rank::Features;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::{self, QueryTerm};

/// Minimum confidence of the best passage. If no passage reaches it, a prompt gets none.
pub const FLOOR: f32 = 0.5;
/// Minimum confidence of further passages with a word of the prompt, once one passage reaches [`FLOOR`].
const FURTHER: f32 = 0.2;
/// Minimum score, in the first ranking, of a good result. If even the best result is weaker, the answer is not
/// remembered. The entries of weaker results do not count as accessed, and an entry that a query creates does not point
/// to weaker results.
pub const GOOD: f32 = 0.35;
/// Minimum score, in the first ranking, of the best result of a hybrid search that has something relevant.
const RELEVANT: f32 = 0.5;
/// The same for the second ranking. A result below both is weak. One floor is not enough: on the example of this
/// repository, which differs from the texts of the training, half of the right answers are below this one.
const RELEVANT_AGAIN: f32 = 0.05;
/// Minimum number of words of a prompt that are not stop words. A shorter prompt, such as "thanks" or "commit this",
/// resembles any small talk in the memory.
const TELLING: usize = 2;

/// Weights of the logistic model: of the logit of the score, of the cosine, and the constant. A fit over prompts with
/// and without evidence, with one data set left out at a time, gave the approximate values. In such fits, further
/// features (shares of the words, lead over the median result) did not separate the prompts better.
const WEIGHTS: (f32, f32, f32) = (0.5, 7.7, -4.0);

/// Returns the confidence, 0 to 1, that a passage concerns a prompt. Without a vector, it is 0.
#[must_use]
pub fn confidence(score: f32, features: &Features) -> f32 {
    let Some(cosine) = features.vector_unit else {
        return 0.0;
    };
    let score = score.clamp(1e-4, 1.0 - 1e-4);
    let (of_score, of_cosine, constant) = WEIGHTS;
    let logit = of_score * (score / (1.0 - score)).ln() + of_cosine * cosine + constant;
    1.0 / (1.0 + (-logit).exp())
}

/// Returns the minimum confidence of a passage, if the best passage for the prompt has the confidence `best`. The vector
/// of a passage resembles those of its neighbours, because the model reads them together. A passage without a word of
/// the prompt therefore needs as much confidence as the best one.
#[must_use]
pub fn least_confidence(best: f32, features: &Features) -> f32 {
    match best >= FLOOR && features.lexical_unit > 0.0 {
        true => FURTHER,
        false => FLOOR,
    }
}

/// Returns whether a result of a hybrid search is weak, by its scores in the first and the second ranking.
#[must_use]
pub fn is_weak(first: f32, second: Option<f32>) -> bool {
    first < RELEVANT && second.is_none_or(|second| second < RELEVANT_AGAIN)
}

/// Returns whether a prompt has enough words to search for.
#[must_use]
pub fn is_telling(prompt: &str) -> bool {
    let terms = terms::query_terms(prompt);
    terms
        .iter()
        .filter(|term| !term.stop && !is_speaker_term(&term.term))
        .count()
        >= TELLING
}

/// Returns whether a text contains all words of a query, in any form. `terms` are the terms of the query.
#[must_use]
pub fn has_all_words(terms: &[QueryTerm], text: &str) -> bool {
    let found = terms::index_terms(text);
    let has_words = terms.iter().any(|term| !term.stop);
    // The parts of a compound such as `a-b` are terms, too.
    let is_word = |term: &&QueryTerm| {
        let is_plain = term.term.chars().all(char::is_alphanumeric);
        is_plain && term.stop != has_words && !is_speaker_term(&term.term)
    };
    let is_same =
        |found: &str, word: &QueryTerm| found == word.term || word.prefix && found.starts_with(&word.term);
    let mut words = terms.iter().filter(is_word).peekable();
    words.peek().is_some() && words.all(|word| found.iter().any(|found| is_same(found, word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_passage_that_is_close_in_meaning_reaches_the_floor() {
        let of = |score, cosine| {
            let vector_unit = cosine;
            confidence(
                score,
                &Features {
                    vector_unit,
                    ..Features::default()
                },
            )
        };
        assert!(of(0.9, Some(0.5)) > 0.7);
        assert!(of(0.9, Some(0.2)) < FURTHER + 0.1);
        assert!(of(0.3, Some(0.3)) < FURTHER);
        assert!(of(0.6, Some(0.6)) > FLOOR);
        assert!(
            of(0.9999, None) == 0.0,
            "without a vector, no passage is returned"
        );
        for (score, cosine) in [(0.0, -1.0), (1.0, 1.0), (f32::EPSILON, 0.0)] {
            assert!((0.0..=1.0).contains(&of(score, Some(cosine))));
        }
    }

    #[test]
    fn only_a_further_passage_with_a_word_of_the_prompt_is_below_the_floor() {
        let of = |best, lexical_unit| {
            let features = Features {
                lexical_unit,
                ..Features::default()
            };
            least_confidence(best, &features)
        };
        assert!(of(0.9, 0.1) < FLOOR);
        for (best, lexical_unit) in [(0.9, 0.0), (0.4, 0.1), (0.4, 0.0)] {
            assert!(of(best, lexical_unit) >= FLOOR, "{best} {lexical_unit}");
        }
    }

    #[test]
    fn a_result_is_weak_if_no_ranking_considers_it_relevant() {
        for (first, second, expected) in [
            (0.6, None, false),
            (0.4, None, true),
            (0.6, Some(0.01), false),
            (0.4, Some(0.2), false),
            (0.4, Some(0.01), true),
        ] {
            assert_eq!(is_weak(first, second), expected, "{first} {second:?}");
        }
    }

    #[test]
    fn a_text_with_all_words_has_each_word_in_some_form() {
        let query = terms::query_terms("when do the pumps run?");
        for (text, expected) in [
            ("The pump runs at night.", true),
            ("A pump is blue.", false),
            ("when do the", false),
            ("", false),
        ] {
            assert_eq!(has_all_words(&query, text), expected, "{text}");
        }
        assert!(!has_all_words(&[], "a pump"));
    }

    #[test]
    fn small_talk_has_too_few_words() {
        for prompt in [
            "thanks",
            "thank you so much!",
            "commit this",
            "ok, do it",
            "",
            "hello",
        ] {
            assert!(!is_telling(prompt), "{prompt}");
        }
        for prompt in [
            "Which port does staging use?",
            "run the tests",
            "Wann wird die Heizung im Keller repariert?",
        ] {
            assert!(is_telling(prompt), "{prompt}");
        }
    }
}
