//! Classification of words with characters other than letters.

use super::LiteralKind;
use super::class::{AT, CJK, CLASSES, DIGIT, DOT, HYPHEN, LETTERS, LOWER, SLASH, UNDER, UPPER};

/// Returns the kind of a word; `None` for an ordinary word.
pub fn classify(word: &str) -> Option<LiteralKind> {
    let classes = || word.bytes().map(|byte| CLASSES[usize::from(byte)]);
    let count = |meant: u16| classes().filter(|class| class & meant != 0).count();
    let (letters, digits, slashes) = (count(LETTERS | CJK), count(DIGIT), count(SLASH));
    let camel = classes()
        .zip(classes().skip(1))
        .any(|pair| pair == (LOWER, UPPER));
    let capitals = classes().all(|class| class == UPPER);
    let has = |meant: u16| count(meant) > 0;
    if letters == 0 {
        // A number, a date, an IP address.
        return (digits >= 3).then_some(LiteralKind::Number);
    }
    if slashes > 0 {
        // "and/or" is not a path.
        let told = has(DOT | DIGIT | UNDER | HYPHEN | AT) || word.starts_with('/');
        let long = || word.split('/').all(|part| part.len() >= 3);
        let is_path = letters >= 3 && (told || slashes > 1 || long());
        return is_path.then_some(LiteralKind::Path);
    }
    if has(AT) {
        return (word.len() >= 5).then_some(LiteralKind::Id);
    }
    if has(DOT) {
        return classify_dotted(word, letters, digits);
    }
    if has(UNDER) {
        return (letters >= 3).then_some(LiteralKind::Id);
    }
    if digits > 0 {
        return (word.len() >= 4 || digits >= 2).then_some(LiteralKind::Id);
    }
    if camel {
        return (word.len() >= 4).then_some(LiteralKind::Id);
    }
    // Words in capitals, and names of several parts.
    (capitals && word.len() >= 4 || count(HYPHEN) > 1).then_some(LiteralKind::Term)
}

fn classify_dotted(word: &str, letters: usize, digits: usize) -> Option<LiteralKind> {
    let (stem, ending) = word.rsplit_once('.').unwrap_or((word, ""));
    if !stem.is_empty() && is_file_extension(ending) {
        return Some(LiteralKind::Path);
    }
    if word.starts_with('.') {
        return (letters >= 3).then_some(LiteralKind::Path);
    }
    // "e.g" is not an identifier, but a version such as "v1.2" is one.
    let told = word.len() >= 5 && letters >= 3 || digits >= 2;
    told.then_some(LiteralKind::Id)
}

/// Returns true for a common file extension.
fn is_file_extension(ending: &str) -> bool {
    /// Extensions that are common in the output of tools.
    const ENDINGS: [&str; 51] = [
        "bash", "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "css", "csv", "env", "go", "h", "hpp", "html",
        "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "pdf", "php",
        "png", "pony", "proto", "py", "rb", "rs", "rst", "scss", "sh", "sql", "svelte", "svg", "swift",
        "toml", "ts", "tsv", "tsx", "txt", "vue", "xml", "yaml", "yml",
    ];
    ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
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
