//! Words of a line, with and without values.

use hippo_text::terms::is_unspaced;

/// Negations. They count as values because they reverse a statement.
const NEGATIONS: [&str; 6] = ["not", "no", "never", "nicht", "kein", "keine"];

/// Words of a text in their order, in lower case and without punctuation.
pub(crate) struct LineWords(Vec<String>);

/// Splits a text into words.
pub(crate) fn split_words(text: &str) -> LineWords {
    LineWords(words(text).map(str::to_lowercase).collect())
}

/// Returns the words of a text as they are written.
pub(crate) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let runs = text.split(|sign: char| !sign.is_alphanumeric());
    runs.filter(|run| !run.is_empty())
}

impl LineWords {
    /// Returns the number of words; in scripts without spaces, two characters count as one.
    pub fn len(&self) -> usize {
        let count = |word: &String| match word.chars().next() {
            Some(first) if is_unspaced(first) => word.chars().count().div_ceil(2),
            _ => 1,
        };
        self.0.iter().map(count).sum()
    }

    pub fn joined(&self) -> String {
        self.0.join(" ")
    }

    /// Removes numbers, amounts, dates and negations.
    pub fn without_values(self) -> Self {
        let is_value = |word: &String| word.contains(char::is_numeric) || NEGATIONS.contains(&word.as_str());
        Self(self.0.into_iter().filter(|word| !is_value(word)).collect())
    }

    /// Removes a word.
    pub fn without(mut self, word: &str) -> Self {
        self.0.retain(|one| one != word);
        self
    }
}
