//! Word lists for labels, placeholders and ordinary language.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that make the label after them a secret, such as `api` in `api key`.
pub(super) const OF_SECRETS: &str = "of-secrets";
/// Words that make the label after them harmless, such as `public` in `public key`.
pub(super) const OF_OTHERS: &str = "of-others";
/// Suffixes that may follow a label, such as `PROD` in `API_KEY_PROD`.
pub(super) const ENVIRONMENTS: &str = "environments";
/// Words that are placeholders for a secret.
pub(super) const PLACEHOLDER: &str = "placeholder";
/// Words that make a phrase a placeholder, such as `your` in `your-api-key`.
pub(super) const FILLER: &str = "filler";
/// Type names of programming languages, and words used in forms.
const TYPES: &str = "types";
/// Function words, which indicate a sentence.
pub(super) const GRAMMAR: &str = "grammar";
/// Words that may follow a label, but are never the secret itself.
const SPEECH: &str = "speech";
/// Words that are the last word in the name of a secret, such as `token`.
const LABELS: &str = "labels";
/// Suffixes of file names and host names.
pub(super) const FILES: &str = "files";
/// Names of hash functions, encodings and similar techniques, which are never passwords.
pub(super) const TECHNIQUES: &str = "techniques";

/// The lists by name. In the file, a name precedes its words.
static LISTS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut name = "";
    let lines = include_str!("words.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    for word in lines.flat_map(str::split_whitespace) {
        match word.strip_suffix(':') {
            Some(list) => name = list,
            None => drop(lists.entry(name).or_default().insert(word)),
        }
    }
    lists
});

/// Iterates over the words of a list.
pub(super) fn words_of(list: &str) -> impl Iterator<Item = &'static str> {
    LISTS.get(list).into_iter().flatten().copied()
}

/// Returns true if a list contains the word, ignoring case.
pub(super) fn contains_word(list: &str, word: &str) -> bool {
    let words = LISTS.get(list);
    words.is_some_and(|words| words.contains(&*word.to_ascii_lowercase()))
}

/// Returns true for a word that may follow a label, but is never the secret itself.
pub(super) fn is_speech(word: &str) -> bool {
    let lists = [GRAMMAR, SPEECH, TYPES, PLACEHOLDER];
    lists.iter().any(|list| contains_word(list, word))
}

/// Returns true if a name ends in a label, such as `authToken`. Such a name is a variable, not a secret.
pub(super) fn is_label(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.');
    let letters = name.bytes().all(is_letter);
    let lower = name.to_ascii_lowercase();
    let ends = |label: &str| lower.ends_with(label);
    letters && (words_of(LABELS).any(ends) || contains_word(OF_SECRETS, name))
}

#[cfg(test)]
#[test]
fn every_list_has_words() {
    for list in [
        OF_SECRETS,
        OF_OTHERS,
        ENVIRONMENTS,
        PLACEHOLDER,
        TYPES,
        GRAMMAR,
        SPEECH,
        LABELS,
        FILES,
        TECHNIQUES,
    ] {
        assert!(words_of(list).nth(3).is_some(), "{list}");
    }
}
