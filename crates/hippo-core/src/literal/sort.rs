//! What is a word that has more than letters in it, or none?

use super::Sort;
use super::class::{AT, CLASSES, DIGIT, DOT, HYPHEN, LETTERS, LOWER, SLASH, UNDER, UPPER};

/// How many characters of each class a word has: letters, digits, slashes, hyphens, one byte each, as no word that is looked
/// at has more than 160 bytes.
const COUNTS: [u32; 256] = {
    let mut counts = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let class = CLASSES[byte];
        counts[byte] = if class & LETTERS != 0 || class == super::class::CJK {
            1
        } else if class == DIGIT {
            1 << 8
        } else if class == SLASH {
            1 << 16
        } else if class == HYPHEN {
            1 << 24
        } else {
            0
        };
        byte += 1;
    }
    counts
};

/// The sort of a word within its bounds; nothing for a plain one.
pub fn of(word: &str) -> Option<Sort> {
    let (mut counts, mut classes, mut before, mut camel) = (0_u32, 0, 0, false);
    for byte in word.bytes() {
        let class = CLASSES[usize::from(byte)];
        counts += COUNTS[usize::from(byte)];
        camel |= before == LOWER && class == UPPER;
        classes |= class;
        before = class;
    }
    let [letters, digits, slashes, hyphens] = counts.to_le_bytes();
    if letters == 0 {
        // A number, a date, an address.
        return (digits >= 3).then_some(Sort::Number);
    }
    if slashes > 0 {
        // "and/or" is no path.
        let told = classes & (DOT | DIGIT | UNDER | HYPHEN | AT) != 0 || word.starts_with('/');
        let long = || word.split('/').all(|part| part.len() >= 3);
        let is_path = letters >= 3 && (told || slashes > 1 || long());
        return is_path.then_some(Sort::Path);
    }
    if classes & AT != 0 {
        return (word.len() >= 5).then_some(Sort::Id);
    }
    if classes & DOT != 0 {
        return dotted(word, letters, digits);
    }
    if classes & UNDER != 0 {
        return (letters >= 3).then_some(Sort::Id);
    }
    if digits > 0 {
        return (word.len() >= 4 || digits >= 2).then_some(Sort::Id);
    }
    if camel {
        return (word.len() >= 4).then_some(Sort::Id);
    }
    let capitals = classes == UPPER && word.len() >= 4;
    // Names of several parts.
    (capitals || hyphens > 1).then_some(Sort::Term)
}

fn dotted(word: &str, letters: u8, digits: u8) -> Option<Sort> {
    let (stem, ending) = word.rsplit_once('.').unwrap_or((word, ""));
    if !stem.is_empty() && is_ending(ending) {
        return Some(Sort::Path);
    }
    if word.starts_with('.') {
        return (letters >= 3).then_some(Sort::Path);
    }
    // "e.g" is no name; a version is one.
    let told = word.len() >= 5 && letters >= 3 || digits >= 2;
    told.then_some(Sort::Id)
}

/// Whether a name ends so that it is one of a file.
fn is_ending(ending: &str) -> bool {
    /// Those that tools speak of, in order.
    const ENDINGS: [&str; 51] = [
        "bash", "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "css", "csv", "env", "go", "h", "hpp", "html",
        "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "pdf", "php",
        "png", "pony", "proto", "py", "rb", "rs", "rst", "scss", "sh", "sql", "svelte", "svg", "swift",
        "toml", "ts", "tsv", "tsx", "txt", "vue", "xml", "yaml", "yml",
    ];
    (1..=6).contains(&ending.len()) && {
        let mut lower = [0; 6];
        let lower = &mut lower[..ending.len()];
        lower.copy_from_slice(ending.as_bytes());
        lower.make_ascii_lowercase();
        ENDINGS
            .binary_search_by(|known| known.as_bytes().cmp(lower))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_known_in_any_case() {
        for (ending, known) in [
            ("rs", true),
            ("MD", true),
            ("yml", true),
            ("bash", true),
            ("c", true),
            ("svelte", true),
            ("", false),
            ("rsx", false),
            ("sveltes", false),
        ] {
            assert_eq!(is_ending(ending), known, "{ending}");
        }
    }
}
