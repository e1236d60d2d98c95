//! Index of the boot files' lines by word.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::LEAST_WORDS;
use super::words::split_words;

/// Minimum share of common words for a line to restate another one.
const RESTATES: f64 = 0.8;
/// Words in more boot lines than this are ignored.
const COMMON: usize = 200;

/// Lines of the boot files, indexed by word.
#[derive(Default)]
pub(super) struct BootLines<'a> {
    pub lines: Vec<(&'a str, u32, usize)>,
    by_word: HashMap<String, Vec<usize>>,
}

impl<'a> BootLines<'a> {
    /// Indexes the lines of the boot files.
    pub fn index(boot: &'a [(String, String)]) -> Self {
        let mut found = Self::default();
        for (path, text) in boot {
            for (number, line) in (1..).zip(text.lines()) {
                let said = split_words(line).distinct();
                if said.len() < LEAST_WORDS {
                    continue;
                }
                for word in &said {
                    found
                        .by_word
                        .entry(word.clone())
                        .or_default()
                        .push(found.lines.len());
                }
                found.lines.push((path, number, said.len()));
            }
        }
        found
    }

    /// Returns the line that the words restate, by the share of common words.
    pub fn find_restated(&self, said: &HashSet<String>) -> Option<(&'a str, u32)> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for lines in said.iter().filter_map(|word| self.by_word.get(word)) {
            if lines.len() <= COMMON {
                for line in lines {
                    *shared.entry(*line).or_default() += 1;
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "word counts are far below 2^52")]
        let restates = |(line, both): &(usize, usize)| {
            let all = self.lines[*line].2 + said.len() - both;
            *both as f64 >= RESTATES * all as f64
        };
        let (line, _) = shared.into_iter().find(restates)?;
        let (path, number, _) = self.lines[line];
        Some((path, number))
    }
}
