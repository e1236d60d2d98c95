//! Classification of words with characters other than letters.

use super::LiteralKind;
use super::class::{AT, CLASSES, DIGIT, DOT, HYPHEN, LETTERS, LOWER, SLASH, UNDER, UPPER};

/// Counters of letters, digits, slashes and hyphens, packed into one byte each. They cannot overflow, because
/// classified words have at most 160 bytes.
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

/// Returns the kind of a word; `None` for an ordinary word.
pub fn classify(word: &str) -> Option<LiteralKind> {
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
        // A number, a date, an IP address.
        return (digits >= 3).then_some(LiteralKind::Number);
    }
    if slashes > 0 {
        // "and/or" is not a path.
        let told = classes & (DOT | DIGIT | UNDER | HYPHEN | AT) != 0 || word.starts_with('/');
        let long = || word.split('/').all(|part| part.len() >= 3);
        let is_path = letters >= 3 && (told || slashes > 1 || long());
        return is_path.then_some(LiteralKind::Path);
    }
    if classes & AT != 0 {
        return (word.len() >= 5).then_some(LiteralKind::Id);
    }
    if classes & DOT != 0 {
        return classify_dotted(word, letters, digits);
    }
    if classes & UNDER != 0 {
        return (letters >= 3).then_some(LiteralKind::Id);
    }
    if digits > 0 {
        return (word.len() >= 4 || digits >= 2).then_some(LiteralKind::Id);
    }
    if camel {
        return (word.len() >= 4).then_some(LiteralKind::Id);
    }
    let capitals = classes == UPPER && word.len() >= 4;
    // Names of several parts.
    (capitals || hyphens > 1).then_some(LiteralKind::Term)
}

fn classify_dotted(word: &str, letters: u8, digits: u8) -> Option<LiteralKind> {
    let (stem, ending) = word.rsplit_once('.').unwrap_or((word, ""));
    if !stem.is_empty() && is_file_extension(ending) {
        return Some(LiteralKind::Path);
    }
    if word.starts_with('.') {
        return (letters >= 3).then_some(LiteralKind::Path);
    }
    // "e.g" is not a name; a version is one.
    let told = word.len() >= 5 && letters >= 3 || digits >= 2;
    told.then_some(LiteralKind::Id)
}

/// Returns true for a common file extension.
fn is_file_extension(ending: &str) -> bool {
    /// Extensions that tools mention, sorted.
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
    fn extensions_are_recognised_in_any_case() {
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
            assert_eq!(is_file_extension(ending), known, "{ending}");
        }
    }
}
