//! Words of a text that an agent must know exactly.

use std::collections::BTreeSet;

use serde_json::Value;

/// Characters that end a word.
const ENDS: &[char] = &[
    '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '|', '=', '\\', '→', '“', '”', '’',
];
/// Maximum length of a word in bytes. A longer word is treated as data and skipped.
const MOST: usize = 120;

/// Returns the paths, addresses, identifiers and numbers of a text.
pub fn words(text: &str) -> BTreeSet<&str> {
    let ends = |letter: char| letter.is_whitespace() || ENDS.contains(&letter);
    let mut found = BTreeSet::new();
    for word in text.split(ends) {
        if word.contains("://") {
            found.extend(Some(trimmed(word)).filter(|word| word.len() <= MOST));
        } else {
            let parts = word.split(':').map(trimmed);
            found.extend(parts.filter(|part| part.len() <= MOST && is_wanted(part)));
        }
    }
    found
}

/// Returns those lines of a text that report an error.
pub fn errors(text: &str) -> BTreeSet<&str> {
    let marks = [
        "error:",
        "Error:",
        "error[",
        "Exception",
        "panicked",
        "fatal:",
        "FAILED",
    ];
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| (12..=MOST).contains(&line.len()) && marks.iter().any(|mark| line.contains(mark)))
        .collect()
}

/// Returns the texts and numbers in a JSON value.
pub fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(flat).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(flat).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|letter: char| {
        matches!(
            letter,
            '.' | ':' | '!' | '?' | '*' | '#' | '$' | '%' | '&' | '+' | '-' | '~' | '^'
        )
    })
}

fn is_wanted(word: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./@".contains(letter);
    if word.len() < 3 || !word.chars().all(plain) {
        return false;
    }
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if letters == 0 {
        return digits >= 3;
    }
    let camel = word
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let path = word.matches('/').count() > 1 || word.contains('/') && word.contains('.');
    let file = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.len() > 1
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let identifier = word.len() >= 5
        && !word.contains('/')
        && (camel || word.trim_matches('_').contains('_') || digits > 0);
    path || file || identifier
}
