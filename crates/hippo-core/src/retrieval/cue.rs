//! Which index entries does a question name?
//!
//! An inverted index over the words of the entries, made anew whenever the entries change. The score is BM25F
//! (Robertson, Zaragoza and Taylor 2004): how often a word comes in each field is weighed and set against the field's
//! length before it is saturated, so that a word of the topic counts more than one of the summary, and the same word
//! in both does not count as two.

use std::collections::HashMap;

use super::speaker::is_speaker_term;
use super::terms::{Analyzer, QueryTerm};
use crate::entry::{Entry, Pointer};

/// Fields of an entry: topic, tags, summary, section names, file names.
const FIELDS: usize = 5;
/// How much a word counts in each field.
const WEIGHTS: [f32; FIELDS] = [2.0, 2.0, 1.0, 1.0, 0.5];
/// How much the length of a field counts against it, 0 to 1 (BM25F's b). A summary is one line, and tags are a handful:
/// there a longer one says more.
const LENGTHS: [f32; FIELDS] = [0.75, 0.0, 0.0, 0.5, 0.5];
/// The weighted number of occurrences that counts half (BM25's k1).
const HALF: f32 = 1.2;
/// The score that is a relevance of one half.
const HALF_RELEVANT: f32 = 10.0;

/// An entry that a question names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// Position of the entry among those that the index was made from.
    pub entry: usize,
    /// How much the words that it has say that this entry is meant, 0 to 1, whatever else the question says.
    pub relevance: f32,
    /// Of the question's words, weighed by how rare they are, the share that the entry has, 0 to 1.
    pub coverage: f32,
}

/// The words of index entries, ready to be asked.
#[derive(Debug, Clone, Default)]
pub struct Cues {
    /// Sorted, so that those with the same beginning are neighbours.
    words: Vec<Box<str>>,
    /// Where the entries of each word begin in `postings`, and behind the last one where they end.
    starts: Vec<usize>,
    /// The entries of each word by position, with how much it counts there, 0 to 1.
    postings: Vec<(u32, f32)>,
    entries: usize,
}

impl Cues {
    /// The words of `entries`, which are known by their positions from here on.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut reader = Reader::default();
        for entry in entries {
            reader.read(entry);
        }
        reader.index()
    }

    /// The number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries
    }

    /// Whether there are no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The entries that a question names, best first, ties by position; `limit` at most.
    ///
    /// Stop words count only in a question that has no other words.
    #[must_use]
    pub fn find(&self, terms: &[QueryTerm], limit: usize) -> Vec<Match> {
        let words = || terms.iter().filter(|term| !is_speaker_term(&term.term));
        let telling = words().any(|term| !term.stop);
        let mut found = vec![Found::default(); self.entries];
        let mut mass = 0.0;
        for (number, term) in (1u32..).zip(words().filter(|term| !(term.stop && telling))) {
            let postings = self.postings(term);
            // Its parts are asked for, too: a compound that no entry has says nothing that they do not say.
            if postings.is_empty() && is_compound(&term.term) {
                continue;
            }
            // A beginning is that of several words, of which an entry may have more than one.
            let mut entries = postings.len();
            if term.prefix {
                entries = 0;
                for (entry, _) in postings {
                    let seen = &mut found[*entry as usize].seen;
                    entries += usize::from(*seen != number);
                    *seen = number;
                }
            }
            let idf = self.idf(entries);
            mass += idf;
            for (entry, weight) in postings {
                let found = &mut found[*entry as usize];
                // Of several words with this beginning the one that counts most.
                let before = if found.counted == number {
                    found.weight
                } else {
                    0.0
                };
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

    /// Where a term comes: of a beginning, the postings of all words that begin so.
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

    /// How much it tells that an entry has a word that `entries` of them have; what none has tells as much as what one has.
    fn idf(&self, entries: usize) -> f32 {
        let (all, having) = (self.entries.max(1) as f32, entries.max(1) as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }
}

/// What a question has in an entry.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    score: f32,
    /// Mass of the words that it has.
    covered: f32,
    /// The last word that was counted here, how much it counted, and the last one that was seen here.
    counted: u32,
    weight: f32,
    seen: u32,
}

/// Whether the analyzer gives the parts of a term as terms of their own.
fn is_compound(term: &str) -> bool {
    term.contains(|mark: char| mark.is_ascii_punctuation()) && !term.ends_with(['+', '#'])
}

/// The entries that have a word, and how often it comes in each of their fields.
type Occurrences = Vec<(u32, [f32; FIELDS])>;

/// Reads entries one after the other.
#[derive(Default)]
struct Reader {
    analyzer: Analyzer,
    counts: HashMap<Box<str>, Occurrences>,
    /// Words in the fields of each entry.
    lengths: Vec<[f32; FIELDS]>,
    /// A field's terms.
    terms: String,
}

impl Reader {
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
            if !self.counts.contains_key(term) {
                self.counts.insert(term.into(), Vec::new());
            }
            if let Some(counts) = self.counts.get_mut(term) {
                if counts.last().is_none_or(|(last, _)| *last != entry) {
                    counts.push((entry, [0.0; FIELDS]));
                }
                if let Some((_, fields)) = counts.last_mut() {
                    fields[field] += 1.0;
                }
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
        let mut words: Vec<(Box<str>, Occurrences)> = self.counts.into_iter().collect();
        words.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut cues = Cues {
            entries,
            ..Cues::default()
        };
        cues.starts.push(0);
        for (word, counts) in words {
            cues.words.push(word);
            let postings = counts
                .iter()
                .map(|(entry, counts)| (*entry, weight(*entry, counts)));
            cues.postings.extend(postings);
            cues.starts.push(cues.postings.len());
        }
        cues
    }
}

#[cfg(test)]
mod tests;
