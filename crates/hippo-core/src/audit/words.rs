//! Which words does a line have, and which of them are values?

use std::collections::HashSet;

/// Words that turn what a line says around: a value like any other.
const NEGATIONS: [&str; 6] = ["not", "no", "never", "nicht", "kein", "keine"];

/// The words of a text in their order, in lower case and without marks.
pub(super) struct Words(Vec<String>);

/// Reads the words of a text.
pub(super) fn words(text: &str) -> Words {
    let runs = text.split(|sign: char| !sign.is_alphanumeric());
    let said = runs.filter(|run| !run.is_empty()).map(str::to_lowercase);
    Words(said.collect())
}

impl Words {
    /// How many; a run of a script without spaces counts by its signs.
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

    pub fn distinct(self) -> HashSet<String> {
        self.0.into_iter().collect()
    }

    /// The same without numbers, amounts, dates, and what denies.
    pub fn without_values(self) -> Self {
        let is_value = |word: &String| word.contains(char::is_numeric) || NEGATIONS.contains(&word.as_str());
        Self(self.0.into_iter().filter(|word| !is_value(word)).collect())
    }
}

/// Scripts that are written without spaces between words.
fn is_unspaced(sign: char) -> bool {
    matches!(u32::from(sign), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0x2_0000..=0x2_ffff)
}
