//! Which symbols does source code declare, in which lines, and which of them matter?

mod declared;
mod language;
mod plain;
mod words;

use std::collections::{HashMap, HashSet};

use super::Kind;
use super::draft::Draft;
use super::lines::Text;
use super::values::{Values, first_by_key};
use super::words::counted;
use crate::literal::LiteralKind as Sought;
use crate::text::start;
use declared::{Declared, Sort, declared};
pub(super) use language::Language;
use plain::Plain;

/// Declarations that are kept to choose from.
const KEPT: usize = 4_000;
/// Different words that are counted.
const WORDS: usize = 30_000;
/// Bytes of a line that is looked at.
const LINE: usize = 2_000;

struct Symbol {
    name: String,
    line: u32,
    declared: Declared,
    indent: usize,
}

pub(super) fn draft(text: &Text<'_>, language: Language) -> Option<Draft> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut plain = Plain::new(language);
    let mut words: HashMap<&str, usize> = HashMap::with_capacity(4_096);
    let mut values = Values::default();
    let (mut lines, mut last, mut first) = (0_usize, 0, None);
    // By sort; those that are not kept included.
    let mut counts = [0_usize; 4];
    for line in text.lines() {
        lines += 1;
        last = line.number;
        first = first.or(Some(line.number).filter(|number| *number > 0));
        let code = start(line.text, LINE);
        count(&mut words, code);
        values.take(code);
        if !plain.is_code(code) {
            continue;
        }
        let indent = code.len() - code.trim_start().len();
        let Some((name, found)) = declared(code, language) else {
            continue;
        };
        counts[found.sort as usize] += 1;
        if symbols.len() < KEPT {
            symbols.push(Symbol {
                name: name.to_owned(),
                line: line.number,
                declared: found,
                indent,
            });
        }
    }
    if symbols.is_empty() && language == Language::Unknown {
        return None;
    }
    let span = match first {
        Some(first) if text.is_numbered() && (first > 1 || last as usize > lines) => {
            format!("lines {first}–{last}")
        }
        _ => counted(lines, "line"),
    };
    let mut said = match language {
        Language::Unknown => format!("code, {span}"),
        _ => format!("{}, {span}", language.name()),
    };
    for (sort, what) in [
        (Sort::Type, "type"),
        (Sort::Function, "function"),
        (Sort::Method, "method"),
    ] {
        let count = counts[sort as usize];
        if count > 0 {
            said.push_str(&format!(", {}", counted(count, what)));
        }
    }
    let mut draft = Draft::new(Kind::Code, said);
    let uses = |name: &str| words.get(name).copied().unwrap_or(1);
    symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.weight(uses(&symbol.name))));
    let declared: Vec<(String, u32)> = symbols
        .into_iter()
        .map(|symbol| (symbol.name, symbol.line))
        .collect();
    let names: HashSet<String> = declared.iter().map(|(name, _)| name.clone()).collect();
    draft.pairs("symbols", declared, 6);
    let mut used: Vec<(&str, usize)> = words
        .into_iter()
        .filter(|(word, _)| word.len() > 3 && !names.contains(*word) && super::values::is_code(word))
        .collect();
    first_by_key(&mut used, |(word, count)| (std::cmp::Reverse(*count), *word));
    draft.list("names", used.into_iter().map(|(word, _)| word.to_owned()), 2);
    let paths = values.of(&[Sought::Path, Sought::Url]);
    draft.list("paths", paths.into_iter().map(|found| found.text.to_owned()), 0);
    Some(draft)
}

impl Symbol {
    /// How likely it is asked for: types before functions before the rest, public and much used ones before others.
    fn weight(&self, uses: usize) -> usize {
        let sort = match self.declared.sort {
            Sort::Type => 6,
            Sort::Function => 6,
            Sort::Method => 4,
            Sort::Constant => 2,
        };
        let top = if self.indent == 0 { 3 } else { 0 };
        let test = if self.name.starts_with("test") || self.name.starts_with("Test") {
            0
        } else {
            1
        };
        sort + top + test + usize::from(self.declared.public) * 2 + uses.min(32).ilog2() as usize * 2
    }
}

/// Counts the names in a line.
fn count<'t>(words: &mut HashMap<&'t str, usize>, line: &'t str) {
    // Letters beyond ASCII are letters of a name.
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'$');
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(from) = bytes[at..].iter().position(|byte| part(*byte)) {
        let start = at + from;
        let length = bytes[start..].iter().position(|byte| !part(*byte));
        at = length.map_or(bytes.len(), |length| start + length);
        let word = &line[start..at];
        if word.len() < 3 || word.len() > 80 {
            continue;
        }
        if let Some(count) = words.get_mut(word) {
            *count += 1;
        } else if words.len() < WORDS {
            words.insert(word, 1);
        }
    }
}
