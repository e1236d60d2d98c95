//! Search of index entries by the words of a question.
//!
//! The index is an inverted index over the words of the entries. It is rebuilt whenever the entries change. The score
//! is BM25F (Robertson, Zaragoza and Taylor 2004): the frequency of a word in each field is weighted and normalized
//! by the length of the field, and the sum over the fields is then saturated. A word of the topic counts more than a
//! word of the summary, and a word in both fields counts less than twice as much.

use std::collections::BTreeMap;

use crate::lexical::idf;
use hippo_text::speaker::is_speaker_term;
use hippo_text::terms::{Analyzer, QueryTerm};
use hippo_types::entry::{Entry, Pointer};

/// Number of fields of an entry: topic, tags, summary, section names, file names.
const FIELDS: usize = 5;
/// Weight of a word in each field.
const WEIGHTS: [f32; FIELDS] = [2.0, 2.0, 1.0, 1.0, 0.5];
/// Length normalization of each field, 0 to 1 (BM25F's b). It is 0 for tags and summaries, because both are short and
/// a longer one contains more information.
const LENGTHS: [f32; FIELDS] = [0.75, 0.0, 0.0, 0.5, 0.5];
/// Weighted number of occurrences at which a word reaches half of the maximum score (BM25's k1).
const HALF: f32 = 1.2;
/// Score that corresponds to a relevance of 0.5.
const HALF_RELEVANT: f32 = 10.0;

/// An entry that matches a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Position of the entry in the list that was indexed.
    pub entry: usize,
    /// Relevance, 0 to 1. It depends only on the words of the question that the entry contains.
    pub relevance: f32,
    /// Share of the question's words that the entry contains, 0 to 1. Rare words have a higher weight.
    pub coverage: f32,
}

/// Inverted index of the words of index entries.
#[derive(Debug, Clone, Default)]
pub struct Cues {
    /// Words in sorted order, so that words with the same prefix are adjacent.
    words: Vec<Box<str>>,
    /// Position of each word's first item in `postings`, followed by the length of `postings`.
    starts: Vec<usize>,
    /// Positions of the entries that contain each word, with the word's weight in the entry, 0 to 1.
    postings: Vec<(u32, f32)>,
    entries: usize,
}

impl Cues {
    /// Creates an index of the words of `entries`. Results identify an entry by its position in `entries`.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut reader = CueReader::default();
        for entry in entries {
            reader.read(entry);
        }
        reader.index()
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Returns at most `limit` entries that match a question, best first. Equal matches are in the order of their
    /// positions.
    ///
    /// Stop words are ignored unless the question contains only stop words.
    #[must_use]
    pub fn find(&self, terms: &[QueryTerm], limit: usize) -> Vec<Match> {
        let words = || terms.iter().filter(|term| !is_speaker_term(&term.term));
        let telling = words().any(|term| !term.stop);
        let mut found = vec![CueScore::default(); self.entries];
        let mut mass = 0.0;
        for (number, term) in (1u32..).zip(words().filter(|term| !(term.stop && telling))) {
            let postings = self.postings(term);
            // The parts of a compound are also query terms, so a compound that no entry contains can be skipped.
            if postings.is_empty() && is_compound(&term.term) {
                continue;
            }
            // A prefix can match several words of the same entry, so each entry is counted once.
            let mut entries = postings.len();
            if term.prefix {
                entries = 0;
                for (entry, _) in postings {
                    let seen = &mut found[*entry as usize].seen;
                    entries += usize::from(*seen != number);
                    *seen = number;
                }
            }
            // A word that no entry contains counts as if one entry contained it.
            let idf = idf(self.entries.max(1) as u64, entries.max(1) as u64);
            mass += idf;
            for (entry, weight) in postings {
                let found = &mut found[*entry as usize];
                // If an entry contains several words with this prefix, count the one with the highest weight.
                let is_counted = found.counted == number;
                let before = if is_counted { found.weight } else { 0.0 };
                if before == 0.0 {
                    found.covered += idf;
                }
                found.score += idf * (weight - before).max(0.0);
                found.weight = weight.max(before);
                found.counted = number;
            }
        }
        let found = found.iter().enumerate().filter(|(_, found)| found.score > 0.0);
        let mut matches: Vec<Match> = found
            .map(|(entry, found)| Match {
                entry,
                relevance: found.score / (found.score + HALF_RELEVANT),
                coverage: (found.covered / mass).min(1.0),
            })
            .collect();
        matches.sort_unstable_by(|a, b| {
            let falling = b.relevance.total_cmp(&a.relevance);
            falling.then(a.entry.cmp(&b.entry))
        });
        matches.truncate(limit);
        matches
    }

    /// Returns the postings of a term. For a prefix, returns the postings of all words that start with the prefix.
    fn postings(&self, term: &QueryTerm) -> &[(u32, f32)] {
        let first = self.words.partition_point(|word| **word < *term.term);
        let words = &self.words[first..];
        let count = if term.prefix {
            words.partition_point(|word| word.starts_with(&term.term))
        } else {
            usize::from(words.first().is_some_and(|word| **word == *term.term))
        };
        match (self.starts.get(first), self.starts.get(first + count)) {
            (Some(start), Some(end)) => &self.postings[*start..*end],
            _ => &[],
        }
    }
}

/// Intermediate result of a search for one entry.
#[derive(Debug, Clone, Copy, Default)]
struct CueScore {
    score: f32,
    /// Total weight of the question's words that the entry contains.
    covered: f32,
    /// Index, from 1, of the last searched term that was added to the score.
    counted: u32,
    /// Weight, in the entry, of the term with the index `counted`.
    weight: f32,
    /// Index, from 1, of the last searched term that is a prefix of a word in the entry.
    seen: u32,
}

/// Returns true if the term is a compound, such as `my_file`. The analyzer also emits the parts of a compound as terms.
fn is_compound(term: &str) -> bool {
    term.contains(|mark: char| mark.is_ascii_punctuation()) && !term.ends_with(['+', '#'])
}

/// Positions of the entries that contain a word, with the frequency of the word in each field.
type Occurrences = Vec<(u32, [f32; FIELDS])>;

/// Builder of the index, which reads one entry at a time.
#[derive(Default)]
struct CueReader {
    analyzer: Analyzer,
    /// Words in sorted order.
    counts: BTreeMap<Box<str>, Occurrences>,
    /// For each entry, the number of words in each field.
    lengths: Vec<[f32; FIELDS]>,
    /// Buffer for the terms of a field.
    terms: String,
}

impl CueReader {
    fn read(&mut self, entry: &Entry) {
        self.lengths.push([0.0; FIELDS]);
        self.field(0, &entry.topic);
        entry.tags.iter().for_each(|tag| self.field(1, tag));
        self.field(2, &entry.summary);
        for Pointer { path, section } in &entry.pointers {
            self.field(3, section.as_deref().unwrap_or_default());
            let name = path.rsplit('/').next().unwrap_or_default();
            self.field(4, name.rsplit_once('.').map_or(name, |(stem, _)| stem));
        }
    }

    fn field(&mut self, field: usize, text: &str) {
        let mut terms = std::mem::take(&mut self.terms);
        terms.clear();
        self.analyzer.index_terms(text, &mut terms);
        let number = self.lengths.len().saturating_sub(1);
        let entry = number as u32;
        for term in terms
            .split(' ')
            .filter(|term| !term.is_empty() && !is_speaker_term(term))
        {
            self.lengths[number][field] += 1.0;
            let counts = self.counts.entry(term.into()).or_default();
            if counts.last().is_none_or(|(last, _)| *last != entry) {
                counts.push((entry, [0.0; FIELDS]));
            }
            if let Some((_, fields)) = counts.last_mut() {
                fields[field] += 1.0;
            }
        }
        self.terms = terms;
    }

    fn index(self) -> Cues {
        let entries = self.lengths.len();
        let mut average = [0.0; FIELDS];
        for lengths in &self.lengths {
            for (average, length) in average.iter_mut().zip(lengths) {
                *average += length / entries as f32;
            }
        }
        let weight = |entry: u32, counts: &[f32; FIELDS]| {
            let lengths = &self.lengths[entry as usize];
            let weighed = (0..FIELDS).filter(|field| counts[*field] > 0.0).map(|field| {
                let length = 1.0 + LENGTHS[field] * (lengths[field] / average[field] - 1.0);
                WEIGHTS[field] * counts[field] / length
            });
            let sum: f32 = weighed.sum();
            sum / (sum + HALF)
        };
        let mut cues = Cues {
            entries,
            ..Cues::default()
        };
        cues.starts.push(0);
        for (word, counts) in self.counts {
            cues.words.push(word);
            let weighed = counts
                .iter()
                .map(|(entry, counts)| (*entry, weight(*entry, counts)));
            cues.postings.extend(weighed);
            cues.starts.push(cues.postings.len());
        }
        cues
    }
}

#[cfg(test)]
mod tests;
