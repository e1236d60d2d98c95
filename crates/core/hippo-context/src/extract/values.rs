//! Paths, addresses, identifiers and numbers in a text, with counts.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::draft::KEPT;
use hippo_text::literal::{self, LiteralKind, LiteralVisitor, classify_literal, location_end};

/// Maximum number of distinct values that are counted.
const DIFFERENT: usize = 8_192;

/// A value with its count and the rank of its first occurrence among all distinct values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueCount<'t> {
    pub text: &'t str,
    pub sort: LiteralKind,
    pub count: usize,
    pub first: usize,
}

/// The distinct values in all lines, with their counts.
#[derive(Debug, Default)]
pub(super) struct Values<'t> {
    found: HashMap<&'t str, ValueCount<'t>>,
}

impl<'t> Values<'t> {
    pub fn take(&mut self, line: &'t str) {
        literal::scan(line, &mut LineVisitor { values: self, line });
    }

    /// Returns the values of the given kinds, most frequent first. Equally frequent values are in order of first
    /// appearance.
    pub fn of(&self, sorts: &[LiteralKind]) -> Vec<ValueCount<'t>> {
        let found = self.found.values().filter(|found| sorts.contains(&found.sort));
        let mut found: Vec<_> = found.copied().collect();
        found.sort_unstable_by_key(|found| (Reverse(found.count.min(9)), found.first));
        found.truncate(KEPT);
        found
    }
}

/// Visitor that collects the values of a line.
struct LineVisitor<'v, 't> {
    values: &'v mut Values<'t>,
    line: &'t str,
}

impl<'t> LiteralVisitor<'t> for LineVisitor<'_, 't> {
    fn literal(&mut self, literal: &'t str, sort: LiteralKind, at: usize) {
        let text = match sort {
            // Capitalized and hyphenated terms are rarely needed again.
            LiteralKind::Term => return,
            LiteralKind::Path => &self.line[at..location_end(self.line, at + literal.len())],
            _ => literal,
        };
        let found = &mut self.values.found;
        let first = found.len();
        if let Some(found) = found.get_mut(text) {
            found.count += 1;
        } else if first < DIFFERENT {
            let count = 1;
            found.insert(
                text,
                ValueCount {
                    text,
                    sort,
                    count,
                    first,
                },
            );
        }
    }
}

/// Returns true if a word is an identifier: `snake_case`, `camelCase`, or a mix of letters and digits.
pub(super) fn is_code(word: &str) -> bool {
    let mixed = || {
        word.bytes().any(|byte| byte.is_ascii_alphabetic())
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_graphic())
    };
    matches!(classify_literal(word), Some(LiteralKind::Id | LiteralKind::Path)) || word.len() >= 3 && mixed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_values_are_listed_first_and_paths_keep_line_numbers() {
        let mut values = Values::default();
        for line in ["see foo_bar, baz_qux and README.", "`baz_qux` of a/b/c.rs:1:"] {
            values.take(line);
        }
        let ids: Vec<_> = values
            .of(&[LiteralKind::Id, LiteralKind::Path, LiteralKind::Term])
            .iter()
            .map(|found| found.text)
            .collect();
        assert_eq!(ids, ["baz_qux", "foo_bar", "a/b/c.rs:1"]);
    }

    #[test]
    fn letters_of_any_script_are_part_of_a_path() {
        let mut values = Values::default();
        values.take("open /home/müller/notes.md:12 now");
        assert_eq!(
            values.of(&[LiteralKind::Path])[0].text,
            "/home/müller/notes.md:12"
        );
    }

    #[test]
    fn identifiers_are_distinguished_from_words() {
        for (word, code) in [
            ("r-1", true),
            ("ORD-1041", true),
            ("max_size", true),
            ("maxSize", true),
            ("paid", false),
            ("158", false),
            ("at 12 h", false),
        ] {
            assert_eq!(is_code(word), code, "{word}");
        }
    }
}
