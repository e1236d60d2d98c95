//! Which words of a text are paths, addresses, names of a program or numbers, such as one asks for again?

use std::collections::BTreeMap;

/// Different values that are counted.
const DIFFERENT: usize = 8_192;
/// Bytes of a value.
const LONGEST: usize = 160;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// An address with a scheme.
    Url,
    /// A path of a file, with or without its place (`a.rs:12`).
    Path,
    /// A name of a program's: `snake_case`, `camelCase`, `HAT-110`.
    Id,
    /// A number of three digits or more, or with a fraction.
    Number,
}

/// A value, how often and where it appears first (its rank among all different ones).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'t> {
    pub text: &'t str,
    pub sort: Sort,
    pub count: usize,
    pub first: usize,
}

/// Values of many lines, counted.
#[derive(Debug, Default)]
pub(super) struct Values<'t> {
    found: BTreeMap<&'t str, Found<'t>>,
}

impl<'t> Values<'t> {
    pub fn take(&mut self, line: &'t str) {
        for word in words(line) {
            let Some(sort) = sort_of(word) else { continue };
            let first = self.found.len();
            if let Some(found) = self.found.get_mut(word) {
                found.count += 1;
            } else if first < DIFFERENT {
                let found = Found {
                    text: word,
                    sort,
                    count: 1,
                    first,
                };
                self.found.insert(word, found);
            }
        }
    }

    /// Those of some sorts, the most frequent first, else the earliest.
    pub fn of(&self, sorts: &[Sort]) -> Vec<Found<'t>> {
        let mut found: Vec<_> = self
            .found
            .values()
            .filter(|found| sorts.contains(&found.sort))
            .copied()
            .collect();
        found.sort_by_key(|found| (std::cmp::Reverse(found.count.min(9)), found.first));
        found
    }
}

/// Words of a line with what may stand within a path or an address; no marks around them.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(
                c,
                '"' | '\''
                    | '`'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '<'
                    | '>'
                    | ','
                    | ';'
                    | '|'
                    | '='
                    | '*'
                    | '→'
                    | '│'
            )
    })
    .map(|word| {
        let word = word.trim_end_matches(['.', ':', '!', '?', '…', '\\', '&']);
        word.trim_start_matches([':', '!', '?', '…', '+', '&', '#'])
    })
    .filter(|word| (3..=LONGEST).contains(&word.len()))
}

/// What a word is, or nothing where it is a plain word.
pub(super) fn sort_of(word: &str) -> Option<Sort> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let sound = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
        return (sound && rest.len() > 2).then_some(Sort::Url);
    }
    if is_path(word) {
        return Some(Sort::Path);
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if word
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'%' | b'$' | b'-'))
    {
        let fraction = word.contains('.') && digits >= 2;
        return (digits >= 3 || fraction).then_some(Sort::Number);
    }
    is_code(word).then_some(Sort::Id)
}

/// Whether a word is a path: parts between slashes, or a name with a usual ending.
pub(super) fn is_path(word: &str) -> bool {
    let place = word.split(':').next().unwrap_or(word);
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'@' | b'~' | b'+' | b'%')
    };
    let sound = !place.is_empty() && place.chars().all(|c| !c.is_ascii() || plain(c as u8));
    if !sound || !place.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    if place.contains('/') {
        // `n/a`, `and/or` are words; `12/2024` is a date.
        let long = place.split('/').filter(|part| part.len() > 1).count();
        let known = ENDINGS.contains(&super::clip::extension(place).as_str());
        return known && long > 0 || long > 1 && (place.starts_with(['/', '.', '~', '@']) || place.len() > 8);
    }
    let ending = super::clip::extension(place);
    ENDINGS.contains(&ending.as_str()) && !place.starts_with('.')
}

/// Endings of the files that tools speak of.
const ENDINGS: [&str; 47] = [
    "rs", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "swift", "sh", "sql", "html", "css", "scss", "vue", "svelte", "json", "jsonl", "yaml",
    "yml", "toml", "xml", "md", "rst", "txt", "csv", "tsv", "log", "lock", "cfg", "ini", "conf", "ipynb",
    "proto", "env", "pony",
];

/// Whether a word is a name that a program gave: marks within, capitals within, or letters and digits mixed.
pub(super) fn is_code(word: &str) -> bool {
    let bytes = word.as_bytes();
    let good = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'#' | b'@' | b':' | b'$' | b'/')
    };
    if bytes.len() < 3
        || !bytes.iter().all(|&byte| good(byte))
        || !bytes.iter().any(u8::is_ascii_alphanumeric)
    {
        return false;
    }
    let letters = bytes.iter().any(u8::is_ascii_alphabetic);
    let digits = bytes.iter().any(u8::is_ascii_digit);
    let hump = bytes
        .windows(2)
        .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    let joined = bytes.windows(3).any(|three| {
        three[0].is_ascii_alphanumeric()
            && matches!(three[1], b'_' | b':' | b'.' | b'@' | b'#')
            && three[2].is_ascii_alphanumeric()
    }) || word.contains("::");
    (letters && digits) || hump || (joined && letters) || (digits && word.matches('-').count() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_by_how_they_look() {
        use Sort::{Id, Number, Path, Url};
        for (word, sort) in [
            ("https://a.b/c?d", Some(Url)),
            ("src/agent/oracle.ts", Some(Path)),
            ("src/lib.rs:12:3", Some(Path)),
            ("README.md", Some(Path)),
            ("and/or", None),
            ("n/a", None),
            ("maxVisible", Some(Id)),
            ("TK_NONE", Some(Id)),
            ("HAT110", Some(Id)),
            ("2024-05-18", Some(Number)),
            ("std::fmt", Some(Id)),
            ("158", Some(Number)),
            ("12", None),
            ("1.5", Some(Number)),
            ("hello", None),
            ("-----", None),
        ] {
            assert_eq!(sort_of(word), sort, "{word}");
        }
    }

    #[test]
    fn frequent_values_come_first() {
        let mut values = Values::default();
        for line in ["see foo_bar, baz_qux.", "`baz_qux` of a/b/c.rs:1:"] {
            values.take(line);
        }
        let ids: Vec<_> = values
            .of(&[Sort::Id, Sort::Path])
            .iter()
            .map(|found| found.text)
            .collect();
        assert_eq!(ids, ["baz_qux", "foo_bar", "a/b/c.rs:1"]);
    }
}
