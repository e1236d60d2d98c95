//! Lines of code, documentation and tests of each crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::house::{self, ProjectFolders};
use crate::terminal::say;

/// Folders with code that is not released.
const NOT_SHIPPED: [&str; 4] = ["fuzz", "lab", "tests", "xtask"];

/// Numbers of lines of one crate.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct CrateLines {
    code: usize,
    docs: usize,
    tests: usize,
}

/// Prints a table of all crates, and the total size of the released code.
///
/// # Errors
/// Fails if a source file cannot be read.
pub fn run(house: &ProjectFolders) -> Result<()> {
    let listed = house::output(house.git().args(["ls-files", "*.rs"]))?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut sources = BTreeMap::new();
    for name in listed.lines().filter(|name| house.root.join(name).is_file()) {
        let text = fs::read_to_string(house.root.join(name));
        sources.insert(name, text.with_context(|| format!("could not read {name}"))?);
    }
    let crates = count(&sources);
    say(format_args!(
        "{:<24} {:>8} {:>8} {:>8}",
        "crate", "code", "docs", "tests"
    ));
    for (name, lines) in &crates {
        say(format_args!(
            "{name:<24} {:>8} {:>8} {:>8}",
            lines.code, lines.docs, lines.tests
        ));
    }
    let ships = crates
        .iter()
        .filter(|(name, _)| !NOT_SHIPPED.contains(&name.as_str()));
    say(format_args!(
        "ships: {} lines of code",
        ships.map(|(_, lines)| lines.code).sum::<usize>()
    ));
    Ok(())
}

fn count(sources: &BTreeMap<&str, String>) -> BTreeMap<String, CrateLines> {
    let read: BTreeMap<&str, CountedFile> = sources
        .iter()
        .map(|(name, text)| (*name, CountedFile::read(text)))
        .collect();
    // Paths, without extension, of test-only modules that have files of their own.
    let mut of_tests: BTreeSet<String> = BTreeSet::new();
    for (name, source) in &read {
        let path = Path::new(name);
        let is_root = matches!(
            path.file_stem().and_then(|stem| stem.to_str()),
            Some("lib" | "main" | "mod")
        );
        let folder = if is_root {
            path.with_file_name("")
        } else {
            path.with_extension("")
        };
        of_tests.extend(
            source
                .modules
                .iter()
                .map(|module| folder.join(module).to_string_lossy().into_owned()),
        );
    }
    let mut crates: BTreeMap<String, CrateLines> = BTreeMap::new();
    for (name, source) in &read {
        let parts: Vec<&str> = name.split('/').collect();
        let owner = if parts[..2] == ["crates", "core"] {
            parts[..3].join("/")
        } else if parts[0] == "crates" {
            parts[..2].join("/")
        } else {
            parts[0].to_owned()
        };
        let in_folder = ["tests", "benches"]
            .iter()
            .any(|folder| parts[..parts.len() - 1].contains(folder));
        let is_test = in_folder
            || parts[0] == "fuzz"
            || name.ends_with("tests.rs")
            || of_tests.iter().any(|module| {
                name.strip_prefix(module.as_str())
                    .is_some_and(|rest| rest.starts_with(['.', '/']))
            });
        let lines = crates.entry(owner).or_default();
        for (at, kind) in source.lines.iter().enumerate() {
            match kind {
                LineKind::Code if is_test || source.tests.contains(&at) => lines.tests += 1,
                LineKind::Code => lines.code += 1,
                LineKind::Docs if !is_test && !source.tests.contains(&at) => lines.docs += 1,
                _ => {}
            }
        }
    }
    crates
}

/// Classification of a character or of a whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineKind {
    Blank,
    Comment,
    Docs,
    Code,
}

/// A source file, with the kind of each line.
struct CountedFile {
    lines: Vec<LineKind>,
    /// Numbers of the lines that belong to test-only items.
    tests: BTreeSet<usize>,
    /// Names of test-only modules that have files of their own.
    modules: Vec<String>,
}

impl CountedFile {
    fn read(text: &str) -> Self {
        let (lines, code) = strip(text);
        let mut source = Self {
            lines,
            tests: BTreeSet::new(),
            modules: Vec::new(),
        };
        for attribute in ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test"] {
            for (begin, _) in code.match_indices(attribute) {
                let end = source.item(&code, begin);
                let line = |at: usize| code[..at].matches('\n').count();
                source.tests.extend(line(begin)..=line(end));
            }
        }
        source
    }

    /// Returns the end of the item that follows an attribute. If the item is a module that has a file of its own,
    /// records the module's name.
    fn item(&mut self, code: &str, begin: usize) -> usize {
        let mut at = begin;
        while code[at..].trim_start().starts_with("#[") {
            at += code[at..].find("#[").unwrap_or_default();
            at = closed(code, at + 1);
        }
        let mut depth = 0_usize;
        for (offset, letter) in code[at..].char_indices() {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                '{' => return closed(code, at + offset),
                ';' | ',' if depth == 0 => {
                    let words: Vec<&str> = code[at..at + offset].split_whitespace().collect();
                    if let [.., "mod", name] = words[..] {
                        self.modules.push(name.to_owned());
                    }
                    return at + offset;
                }
                _ => {}
            }
        }
        code.len()
    }
}

/// Returns the position after the bracket that closes the bracket at `open`.
fn closed(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, letter) in code[open..].char_indices() {
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset + 1;
        }
    }
    code.len()
}

/// Returns the kind of each line. Also returns the code, in which the contents of comments and strings are masked.
fn strip(text: &str) -> (Vec<LineKind>, String) {
    let (mut lines, mut code) = (vec![LineKind::Blank], String::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after_word = code.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let (length, kind, mask) = match comment(rest) {
            Some((length, kind)) => (length, kind, ' '),
            None => match literal(rest).filter(|_| !after_word || matches!(first, '"' | '\'')) {
                Some(length) => (length, LineKind::Code, 'S'),
                None => (first.len_utf8(), LineKind::Code, first),
            },
        };
        let (part, behind) = rest.split_at(length);
        for letter in part.chars() {
            code.push(if letter == '\n' { letter } else { mask });
            if letter == '\n' {
                // A line inside a string counts as code, even if the line is blank.
                lines.push(if mask == 'S' {
                    LineKind::Code
                } else {
                    LineKind::Blank
                });
            } else if let Some(line) = lines.last_mut().filter(|_| !letter.is_whitespace()) {
                *line = (*line).max(kind);
            }
        }
        rest = behind;
    }
    (lines, code)
}

/// Returns the length in bytes and the kind of a comment at the start of `text`.
fn comment(text: &str) -> Option<(usize, LineKind)> {
    if text.starts_with("//") {
        let docs = text.starts_with("//!") || (text.starts_with("///") && !text.starts_with("////"));
        let kind = if docs { LineKind::Docs } else { LineKind::Comment };
        return Some((text.find('\n').unwrap_or(text.len()), kind));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let length = text.find("*/").map_or(text.len(), |end| end + 2);
    let docs = text.starts_with("/**") || text.starts_with("/*!");
    Some((length, if docs { LineKind::Docs } else { LineKind::Comment }))
}

/// Returns the length in bytes of a string or character literal at the start of `text`.
fn literal(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('\'') {
        let length = match rest.strip_prefix('\\') {
            Some(_) => rest[2..].find('\'')? + 2,
            None => rest.chars().next()?.len_utf8(),
        };
        return rest[length..]
            .starts_with('\'')
            .then_some(length + 2)
            .filter(|_| length <= 12);
    }
    let raw = ["br", "cr", "r"].iter().find_map(|prefix| {
        let rest = text.strip_prefix(prefix)?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        rest[hashes..]
            .starts_with('"')
            .then_some((prefix.len() + hashes + 1, hashes))
    });
    if let Some((begin, hashes)) = raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(
            text[begin..]
                .find(&end)
                .map_or(text.len(), |at| begin + at + end.len()),
        );
    }
    let begin = ["b\"", "c\"", "\""]
        .iter()
        .find(|prefix| text.starts_with(**prefix))?
        .len();
    let mut escaped = false;
    for (at, letter) in text[begin..].char_indices() {
        match letter {
            '"' if !escaped => return Some(begin + at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_kind() {
        let library = "//! Docs.\n\n/// Docs.\nfn a() {\n    // A comment.\n    b(\"{ // no comment\n\n\");\n    c('\"', 'x');\n}\n\n\
                       #[cfg(test)]\nmod cases;\n#[cfg(test)]\n#[allow(unused)]\nmod tests {\n    fn t() {}\n}\n";
        let cases = "//! Docs.\nfn case() {}\n";
        let sources = BTreeMap::from([
            ("crates/a/src/lib.rs", library.to_owned()),
            ("crates/a/src/cases.rs", cases.to_owned()),
            ("tests/e2e/b.rs", cases.to_owned()),
        ]);
        let found = count(&sources);
        assert_eq!(
            found["crates/a"],
            CrateLines {
                code: 6,
                docs: 2,
                tests: 8
            }
        );
        assert_eq!(
            found["tests"],
            CrateLines {
                code: 0,
                docs: 0,
                tests: 1
            }
        );
    }
}
