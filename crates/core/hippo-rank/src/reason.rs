//! Sentences about the evidence that connects a passage with a question.

use std::collections::HashSet;

use crate::rank::Features;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms;

/// Cosine from which the meaning of a passage is close to the question.
const CLOSE: f32 = 0.5;
/// Cosine from which the meaning of a passage is related to the question.
const RELATED: f32 = 0.3;

/// Returns the words of a text with their terms, each word once. Stop words are omitted.
#[must_use]
pub fn telling_words(text: &str) -> Vec<(String, Vec<terms::QueryTerm>)> {
    let mut seen = HashSet::new();
    let words = text.split_whitespace().filter_map(|word| {
        let word = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let mut found = terms::query_terms(word);
        found.retain(|term| !term.stop);
        (!found.is_empty() && seen.insert(word.to_lowercase())).then(|| (word.to_owned(), found))
    });
    words.collect()
}

/// Returns sentences about the words that a passage shares with the question, about its meaning, and about its date.
/// `passage` is the text with its headings, and `path` the path of its file.
#[must_use]
pub fn describe_match(question: &str, path: &str, passage: &str, features: &Features) -> Vec<String> {
    let [passage, path] = [passage, path].map(|text| terms::index_terms(text).into_iter().collect());
    let (found, others): (Vec<_>, Vec<_>) = telling_words(question)
        .into_iter()
        .partition(|(_, terms)| has_word(terms, &passage));
    let (in_path, missing): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(_, terms)| has_word(terms, &path));
    let list = |words: &[(String, Vec<terms::QueryTerm>)]| {
        let quoted = words.iter().map(|(word, _)| format!("\"{word}\""));
        quoted.collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    match (found.is_empty(), missing.is_empty(), in_path.is_empty()) {
        (true, true, true) => sentences.push("The question has only common words.".to_owned()),
        (true, true, false) => {}
        (true, false, true) => sentences.push("It contains no word of the question.".to_owned()),
        (true, false, false) => sentences.push(format!("It does not contain {}.", list(&missing))),
        (false, true, true) => {
            let all = list(&found);
            sentences.push(format!("It contains every word of the question: {all}."));
        }
        (false, true, false) => sentences.push(format!("It contains {}.", list(&found))),
        (false, false, _) => {
            let (found, missing) = (list(&found), list(&missing));
            sentences.push(format!("It contains {found}, but not {missing}."));
        }
    }
    if !in_path.is_empty() {
        sentences.push(format!("Its path contains {}.", list(&in_path)));
    }
    if let Some(cosine) = features.vector_unit {
        let how = match cosine {
            _ if cosine >= CLOSE => "close to",
            _ if cosine >= RELATED => "related to",
            _ => "far from",
        };
        sentences.push(format!(
            "Its meaning is {how} the question (similarity {cosine:.2})."
        ));
    }
    if features.date > 0.99 {
        sentences.push("Its date is within the dates in the question.".to_owned());
    }
    if features.speaker > 0.0 {
        sentences.push("Its speaker is named in the question.".to_owned());
    }
    sentences
}

/// Returns whether a text contains a word. `terms` are the terms of the word, and `text` those of the text. A compound,
/// such as a path, is there as a whole, or with all its parts: a text that contains only `md` does not contain
/// `notes/a.md`.
fn has_word(terms: &[terms::QueryTerm], text: &HashSet<String>) -> bool {
    let is_there = |term: &terms::QueryTerm| {
        text.contains(&term.term) || term.prefix && text.iter().any(|word| word.starts_with(&term.term))
    };
    let mut own = terms.iter().filter(|term| !is_speaker_term(&term.term));
    let is_whole = own.next().is_some_and(is_there);
    let mut parts = own
        .filter(|term| term.term.chars().all(char::is_alphanumeric))
        .peekable();
    is_whole || parts.peek().is_some() && parts.all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_name_found_and_missing_words_and_the_distance_in_meaning() {
        let features = |cosine| Features {
            vector_unit: cosine,
            ..Features::default()
        };
        let (path, passage) = ("memory/a.md", "Deploy: staging server runs on ports 8443");
        let all = describe_match(
            "which port does staging use?",
            path,
            passage,
            &features(Some(0.6)),
        );
        assert_eq!(
            all,
            [
                "It contains \"port\", \"staging\", but not \"use\".",
                "Its meaning is close to the question (similarity 0.60)."
            ]
        );
        assert_eq!(
            describe_match("tomatoes", path, passage, &features(None)),
            ["It contains no word of the question."]
        );
        assert_eq!(
            describe_match("Deploy", path, passage, &features(Some(0.1))),
            [
                "It contains every word of the question: \"Deploy\".",
                "Its meaning is far from the question (similarity 0.10)."
            ]
        );
    }

    #[test]
    fn a_path_in_the_question_is_compared_with_the_path_of_the_passage() {
        let of = |question| {
            let passage = "Deploy: staging runs on port 8443, see a.md";
            describe_match(question, "memory/2026-03-02.md", passage, &Features::default())
        };
        let in_path = "Its path contains \"memory/2026-03-02.md\".";
        for (question, expected) in [
            (
                "port in notes/deploy.md",
                &["It contains \"port\", but not \"notes/deploy.md\"."][..],
            ),
            ("memory/2026-03-02.md", &[in_path]),
            (
                "port in memory/2026-03-02.md",
                &["It contains \"port\".", in_path],
            ),
            (
                "tomatoes in memory/2026-03-02.md",
                &["It does not contain \"tomatoes\".", in_path],
            ),
            (
                "deploy-staging",
                &["It contains every word of the question: \"deploy-staging\"."],
            ),
        ] {
            assert_eq!(of(question), expected, "{question}");
        }
    }
}
