//! Lexical search among the entries of a session.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use hippo_text::terms::{self, Analyzer, QueryTerm};
use hippo_types::context::ContextEntry;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::{ContextError, ContextReader, ContextStore};

/// Maximum number of bytes of content that are indexed. It limits the cost of storing an entry. Users mostly search
/// for words near the start of the content.
const INDEXED: usize = 64 << 10;
/// Weight of a word that occurs only in the content.
const IN_CONTENT: f32 = 0.7;

/// An entry that matches words of the cue, which is the text to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The entry's id.
    pub id: String,
    /// Match score in (0, 1]: the share of the cue's words that match. Rare words have a higher weight. A word that
    /// occurs only in the content counts 0.7 times as much.
    pub score: f32,
    /// Number of distinct words of the cue that match.
    pub words: usize,
}

impl ContextReader {
    /// Returns at most `limit` entries of a session that match words of `cue` and whose ids `wanted` accepts, best
    /// first.
    ///
    /// Searches the summary, `key_data`, the source, and the first 64 KiB of the stored content. If these 64 KiB
    /// contain a NUL byte, the content is binary and is not searched. Stop words ("the", "what") are ignored unless
    /// the cue has no other words.
    ///
    /// # Errors
    /// Returns [`ContextError::UnknownSession`], [`ContextError::Store`].
    pub fn search(
        &self,
        session: &str,
        cue: &str,
        limit: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Hit>, ContextError> {
        let place = self.sql(|connection| {
            connection
                .prepare_cached("SELECT row, entries FROM sessions WHERE id = ?1")?
                .query_row([session], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?))
                })
                .optional()
        })?;
        let place = place.ok_or_else(|| ContextError::UnknownSession(session.to_owned()))?;
        self.search_in(&[place], cue, limit, wanted)
    }

    /// Returns at most `limit` entries of the last `sessions` closed sessions, as [`Self::search`] does.
    ///
    /// # Errors
    /// Returns [`ContextError::Store`].
    pub fn search_closed(&self, sessions: usize, cue: &str, limit: usize) -> Result<Vec<Hit>, ContextError> {
        let places = self.sql(|connection| {
            connection
                .prepare_cached(
                    "SELECT row, entries FROM sessions WHERE closed_ms IS NOT NULL AND entries > 0
                     ORDER BY row DESC LIMIT ?1",
                )?
                .query_map([super::to_signed(sessions)], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<(i64, f64)>>>()
        })?;
        match places.is_empty() {
            true => Ok(Vec::new()),
            false => self.search_in(&places, cue, limit, |_| true),
        }
    }

    /// Searches the sessions with these rows and numbers of entries.
    fn search_in(
        &self,
        sessions: &[(i64, f64)],
        cue: &str,
        limit: usize,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Hit>, ContextError> {
        let entries: f64 = sessions.iter().map(|(_, entries)| entries).sum();
        let rows: Vec<String> = sessions.iter().map(|(row, _)| format!("\"#{row}\"")).collect();
        let within = rows.join(" OR ");
        let words = significant_words(cue);
        let mut asked = 0.0;
        let mut found: BTreeMap<i64, (f64, usize)> = BTreeMap::new();
        for word in &words {
            let expression = format!("({within}) AND {}", terms::fts_query(word));
            let mut here: BTreeMap<i64, f32> = BTreeMap::new();
            for (table, worth) in [("texts", IN_CONTENT), ("summaries", 1.0)] {
                let rows = self.sql(|connection| match_rows(connection, table, &expression))?;
                here.extend(rows.into_iter().map(|row| (row, worth)));
            }
            let holders = u32::try_from(here.len()).unwrap_or(u32::MAX);
            let rarity = (1.0 + entries.max(1.0) / f64::from(holders.max(1))).ln();
            asked += rarity;
            for (row, worth) in here {
                let sum = found.entry(row).or_default();
                sum.0 += rarity * f64::from(worth);
                sum.1 += 1;
            }
        }
        let mut best: Vec<(i64, (f64, usize))> = found.into_iter().collect();
        // Among entries with equal scores, the latest is first.
        best.sort_by(|(a, (x, _)), (b, (y, _))| y.total_cmp(x).then(b.cmp(a)));
        let hits = self.sql(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, session FROM entries WHERE row = ?1")?;
            let mut hits = Vec::with_capacity(best.len().min(limit));
            for (entry, (score, words)) in best {
                if hits.len() == limit {
                    break;
                }
                let found: Option<(String, i64)> = statement
                    .query_row([entry], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                let id = found.filter(|(_, of)| sessions.iter().any(|(row, _)| row == of));
                hits.extend(id.map(|(id, _)| id).filter(|id| wanted(id)).map(|id| Hit {
                    id,
                    score: to_f32(score / asked),
                    words,
                }));
            }
            Ok(hits)
        })?;
        Ok(hits)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share in [0, 1]")]
fn to_f32(share: f64) -> f32 {
    share.clamp(0.0, 1.0) as f32
}

/// Returns the words of a cue without stop words. If all words are stop words, returns all of them.
fn significant_words(cue: &str) -> Vec<QueryTerm> {
    let mut words = terms::query_terms(cue);
    // Remove the names of speakers, because entries have no speakers.
    words.retain(|word| !word.term.starts_with('@'));
    if words.iter().any(|word| !word.stop) {
        words.retain(|word| !word.stop);
    }
    words
}

fn match_rows(connection: &Connection, table: &str, expression: &str) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(&format!("SELECT rowid FROM {table} WHERE {table} MATCH ?1"))?
        .query_map([expression], |row| row.get(0))?
        .collect()
}

/// Adds the term of the session to the terms of an entry.
pub(super) fn with_session(terms: &str, session: i64) -> String {
    format!("#{session} {terms}")
}

impl ContextStore {
    /// Returns the terms of an entry's summary, source and key data, without its content.
    pub(super) fn summary_terms(&mut self, entry: &ContextEntry) -> String {
        let mut terms = String::new();
        let mut add = |text: &str| {
            terms.push(' ');
            self.analyzer.index_terms(text, &mut terms);
        };
        add(&entry.summary);
        add(&entry.source.kind);
        add(&entry.source.reference);
        let mut values = Vec::new();
        for (key, value) in entry.key_data.iter().flatten() {
            add(key);
            values.push(value);
        }
        while let Some(value) = values.pop() {
            match value {
                Value::String(text) => add(text),
                Value::Number(number) => add(&number.to_string()),
                Value::Array(inner) => values.extend(inner),
                Value::Object(inner) => {
                    for (key, value) in inner {
                        add(key);
                        values.push(value);
                    }
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
        terms
    }
}

/// Returns the terms of the start of the content. For binary content, returns an empty text.
pub(super) fn text_terms(analyzer: &mut Analyzer, content: &[u8]) -> String {
    let mut terms = String::new();
    let beginning = &content[..content.len().min(INDEXED)];
    if beginning.contains(&0) {
        return terms;
    }
    // Checking for valid UTF-8 first is faster than a lossy conversion.
    let text =
        std::str::from_utf8(beginning).map_or_else(|_| String::from_utf8_lossy(beginning), Cow::Borrowed);
    analyzer.index_terms(&text, &mut terms);
    // The index has neither positions nor counts, so each term is needed only once. This halves the work.
    let mut seen = HashSet::new();
    let mut once = String::with_capacity(terms.len());
    for term in terms.split(' ').filter(|term| seen.insert(*term)) {
        once.push_str(term);
        once.push(' ');
    }
    once
}
