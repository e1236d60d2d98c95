//! Which words of a text are looked up, and in which form?

/// One word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// The form that the index holds.
    pub term: String,
    /// The word says nothing about what is asked for ("what", "did"): use it only when there is no other.
    pub stop: bool,
    /// Short enough that it should also match as the beginning of a word.
    pub prefix: bool,
}

/// Turns text into terms; keeps its buffers and the stems of words that it met.
#[derive(Default)]
pub struct Analyzer {}

impl Analyzer {
    /// An analyzer with nothing met yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the terms of `text` to `out`, separated by single spaces, and returns how many there were.
    pub fn index_terms(&mut self, text: &str, out: &mut String) -> usize {
        out.push_str(text);
        0
    }

    /// The terms of a question in order, each once.
    pub fn query_terms(&mut self, query: &str) -> Vec<QueryTerm> {
        let _ = query;
        Vec::new()
    }
}

/// The terms of a text that goes into the index.
#[must_use]
pub fn index_terms(text: &str) -> Vec<String> {
    let mut out = String::new();
    Analyzer::new().index_terms(text, &mut out);
    out.split(' ')
        .filter(|term| !term.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The terms of a question in order, each once.
#[must_use]
pub fn query_terms(query: &str) -> Vec<QueryTerm> {
    Analyzer::new().query_terms(query)
}

/// An FTS5 expression that matches the term and nothing else: always quoted, never interpreted.
#[must_use]
pub fn fts_query(term: &QueryTerm) -> String {
    let quoted = term.term.replace('"', "\"\"");
    if term.prefix {
        format!("\"{quoted}\"*")
    } else {
        format!("\"{quoted}\"")
    }
}
