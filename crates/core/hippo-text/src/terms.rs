//! Terms of texts and queries.
//!
//! The index contains all words, including stop words. In a query, stop words are marked and not removed, so that a
//! question that consists only of stop words still has results. A term never contains a space.

mod fold;
mod scan;
mod stop;

use std::collections::HashSet;

use foldhash::HashMap;
use rust_stemmers::{Algorithm, Stemmer};

use super::speaker;
use crate::text;
pub use fold::is_unspaced;
use scan::TermToken;
pub use stop::is_stop;

/// Maximum bytes of a term; longer words are cut, and longer compounds are indexed by their parts only.
const TERM: usize = 64;
/// Maximum number of cached stems, more than the vocabulary of a few languages.
const STEMS: usize = 1 << 16;
/// A query term with at most this many characters also matches as a prefix.
const SHORT: usize = 3;

/// Maximum number of distinct query terms, because each term costs a lookup in the index.
const MOST_QUERY_TERMS: usize = 512;

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// Form of the term in the index.
    pub term: String,
    /// True for a stop word such as "what" or "did", which counts only in a query without other words.
    pub stop: bool,
    /// True if the term is short enough to match as a prefix as well.
    pub prefix: bool,
}

/// Converter of text to terms. The converter reuses its buffers, and caches stems.
pub struct Analyzer {
    stemmer: Stemmer,
    stems: HashMap<Box<str>, Box<str>>,
    /// Buffer for a token in lower case, without accents.
    folded: String,
}

impl Default for Analyzer {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            stems: HashMap::default(),
            folded: String::new(),
        }
    }
}

impl Analyzer {
    /// Creates an analyzer with an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the terms of `text` to `out`, separated by single spaces, and returns their number.
    pub fn index_terms(&mut self, text: &str, out: &mut String) -> usize {
        let mut count = 0;
        self.each(text, |term, _| {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(term);
            count += 1;
        });
        if let Some(name) = speaker::name(text) {
            self.each(name, |term, _| {
                out.push(' ');
                out.push_str(&speaker::speaker_term(term));
                count += 1;
            });
        }
        count
    }

    /// Returns the first 512 distinct terms of a query in order, then a speaker term for each word that is not a stop
    /// word.
    pub fn query_terms(&mut self, query: &str) -> Vec<QueryTerm> {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        self.each(query, |term, word| {
            if known.len() < MOST_QUERY_TERMS && known.insert(term.to_owned()) {
                terms.push(QueryTerm {
                    term: term.to_owned(),
                    stop: is_stop(word),
                    prefix: false,
                });
            }
        });
        let telling = terms.iter().filter(|term| !term.stop).count();
        for term in &mut terms {
            let characters = term.term.chars().count();
            let lone = characters == 1 && term.term.chars().all(is_unspaced);
            term.prefix = lone || (characters <= SHORT && telling <= 2 && (!term.stop || telling == 0));
        }
        let is_name = |term: &&QueryTerm| !term.stop && term.term.starts_with(char::is_alphabetic);
        let names = terms.iter().filter(is_name).map(|term| QueryTerm {
            term: speaker::speaker_term(&term.term),
            stop: false,
            prefix: false,
        });
        terms.extend(names.collect::<Vec<_>>());
        terms
    }

    /// Calls `sink` with each term and the folded word that it is derived from.
    fn each(&mut self, text: &str, mut sink: impl FnMut(&str, &str)) {
        scan::scan(text, |token| self.token(token, &mut sink));
    }

    fn token(&mut self, token: TermToken<'_>, sink: &mut impl FnMut(&str, &str)) {
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        if token.foreign {
            fold::fold(token.text, &mut folded);
        } else {
            folded.push_str(token.text);
            folded.make_ascii_lowercase();
        }
        if token.joined {
            self.compound(token, &folded, sink);
        } else if token.foreign {
            self.runs(&folded, sink);
        } else {
            self.word(&folded, sink);
            if token.camel {
                self.humps(token.text, sink);
            }
        }
        self.folded = folded;
    }

    /// Emits a token that contains marks: first the whole token, then its parts.
    fn compound(&mut self, token: TermToken<'_>, folded: &str, sink: &mut impl FnMut(&str, &str)) {
        if folded.ends_with(['+', '#']) {
            sink(folded, folded);
            return;
        }
        if folded.contains('\'') && !folded.contains(is_strong_mark) {
            return self.contraction(folded, sink);
        }
        let whole = folded.replace(',', "");
        let whole = whole.as_str();
        if !whole.contains(is_mark) {
            return self.runs(whole, sink);
        }
        let spaced = !token.foreign || !whole.contains(is_unspaced);
        let shown = spaced && whole.len() <= TERM;
        if shown {
            sink(whole, whole);
        }
        if let Some((_, name)) = whole.rsplit_once(['/', '\\'])
            && name.len() <= TERM
            && name.contains(is_mark)
            && spaced
        {
            sink(name, name);
        }
        let parts = whole.split(is_mark);
        for part in parts.filter(|part| part.len() > usize::from(shown)) {
            self.runs(part, sink);
        }
        if token.camel {
            let parts = token.text.split(is_mark);
            for part in parts.filter(|part| part.is_ascii() && has_hump(part)) {
                self.humps(part, sink);
            }
        }
    }

    /// Emits the terms of a word with apostrophes: `dont` for `don't`, `ada` for `Ada's`, `we` for `we'll`, `obrien`
    /// and `brien` for `O'Brien`.
    fn contraction(&mut self, folded: &str, sink: &mut impl FnMut(&str, &str)) {
        if let Some((base, "s" | "d" | "m" | "ll" | "re" | "ve")) = folded.split_once('\'') {
            return self.runs(base, sink);
        }
        self.runs(&folded.replace('\'', ""), sink);
        if !folded.ends_with("'t") {
            let parts = folded.split('\'').filter(|part| part.len() > 2);
            parts.for_each(|part| self.runs(part, sink));
        }
    }

    /// Emits the parts of a camel-case word: `camel` and `case` for `camelCase`.
    fn humps(&mut self, text: &str, sink: &mut impl FnMut(&str, &str)) {
        let bytes = text.as_bytes();
        let mut start = 0;
        for at in 1..=bytes.len() {
            let hump =
                at < bytes.len() && bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase();
            if hump || at == bytes.len() {
                if at - start > 1 {
                    self.word(&text[start..at].to_ascii_lowercase(), sink);
                }
                start = at;
            }
        }
    }

    /// Emits the terms of a folded word, which may mix scripts. Runs of scripts without spaces are split into pairs of
    /// characters.
    fn runs(&mut self, folded: &str, sink: &mut impl FnMut(&str, &str)) {
        let mut rest = folded;
        while let Some(first) = rest.chars().next() {
            let unspaced = is_unspaced(first);
            let end = rest
                .find(|next| is_unspaced(next) != unspaced)
                .unwrap_or(rest.len());
            let (run, tail) = rest.split_at(end);
            if unspaced {
                pairs(run, sink)
            } else {
                self.word(run, sink)
            }
            rest = tail;
        }
    }

    /// Emits one folded word; a word in Latin letters is stemmed.
    fn word(&mut self, word: &str, sink: &mut impl FnMut(&str, &str)) {
        if word.len() > TERM {
            return sink(text::start(word, TERM), word);
        }
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return sink(word, word);
        }
        if let Some(stem) = self.stems.get(word) {
            return sink(stem, word);
        }
        if self.stems.len() >= STEMS {
            self.stems.clear();
        }
        let stem = self.stemmer.stem(word);
        sink(&stem, word);
        self.stems.insert(word.into(), stem.into());
    }
}

/// Emits each pair of adjacent characters of a run, and the last character alone, so that a prefix search for a single
/// character finds every occurrence.
fn pairs(run: &str, sink: &mut impl FnMut(&str, &str)) {
    for (at, first) in run.char_indices() {
        let after = at + first.len_utf8();
        let second = run[after..].chars().next().map_or(0, char::len_utf8);
        let pair = &run[at..after + second];
        sink(pair, pair);
    }
}

/// Returns true for marks that join the parts of a word.
const fn is_mark(mark: char) -> bool {
    is_strong_mark(mark) || mark == '\''
}

/// Returns true for marks that occur in identifiers, paths and addresses.
const fn is_strong_mark(mark: char) -> bool {
    matches!(mark, '_' | '-' | '.' | '/' | '\\' | '@' | ':' | ',')
}

fn has_hump(text: &str) -> bool {
    text.as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Returns the terms of a text for the index.
#[must_use]
pub fn index_terms(text: &str) -> Vec<String> {
    let mut terms = String::new();
    Analyzer::new().index_terms(text, &mut terms);
    terms.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Returns the distinct terms of a query in order.
#[must_use]
pub fn query_terms(query: &str) -> Vec<QueryTerm> {
    Analyzer::new().query_terms(query)
}

/// Returns an FTS5 expression that matches only this term; the term is quoted, so FTS5 syntax in it has no effect.
#[must_use]
pub fn fts_query(term: &QueryTerm) -> String {
    // FTS5 parses expressions as C strings, so a NUL would end the expression within the quotes.
    let quoted = term.term.replace('"', "\"\"").replace('\0', "");
    format!("\"{quoted}\"{}", if term.prefix { "*" } else { "" })
}

#[cfg(test)]
mod tests;
