//! Benchmarks of building and searching the word index of index entries.

use divan::Bencher;
use hippo_rank::cue::Cues;
use hippo_text::terms::Analyzer;
use hippo_types::entry::{Entry, EntryId, Pointer};

/// Number of distinct words. Words with low numbers occur most often.
const WORDS: u32 = 8_000;

fn main() {
    divan::main();
}

/// Generator of numbers that look random and are the same in each run (a linear congruential generator).
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }

    /// Returns a text of three-syllable words. Words with low numbers occur more often than words with high numbers.
    fn text(&mut self, words: u32) -> String {
        let syllables = ["ba", "ke", "lo", "mi", "nu", "par", "ques", "rit", "som", "tul"];
        let words = (0..words).map(|_| {
            let most = 1 + self.below(WORDS);
            let mut number = self.below(most) as usize;
            let mut word = String::new();
            for _ in 0..4 {
                word += syllables[number % syllables.len()];
                number /= syllables.len();
            }
            word
        });
        words.collect::<Vec<String>>().join(" ")
    }
}

fn entries(count: u32) -> Vec<Entry> {
    let mut numbers = Numbers(1);
    let entries = (0..count).map(|number| Entry {
        id: EntryId(format!("e{number}")),
        topic: numbers.text(4),
        summary: numbers.text(16),
        tags: (0..4).map(|_| numbers.text(1)).collect(),
        pointers: vec![Pointer {
            path: format!("memory/{}.md", numbers.text(1)),
            section: Some(numbers.text(3)),
        }],
        ..Entry::default()
    });
    entries.collect()
}

#[divan::bench(args = [1_000, 5_000])]
fn new(bencher: Bencher<'_, '_>, count: u32) {
    let entries = entries(count);
    bencher.bench_local(|| Cues::new(&entries).len());
}

#[divan::bench(args = [1_000, 5_000])]
fn find_with_12_words(bencher: Bencher<'_, '_>, count: u32) {
    let cues = Cues::new(&entries(count));
    let question = Numbers(2).text(12);
    let terms = Analyzer::new().query_terms(&question);
    bencher.bench_local(|| cues.find(&terms, 5));
}

#[divan::bench(args = [1_000, 5_000])]
fn find_with_a_beginning(bencher: Bencher<'_, '_>, count: u32) {
    let cues = Cues::new(&entries(count));
    let terms = Analyzer::new().query_terms("ba");
    bencher.bench_local(|| cues.find(&terms, 5));
}
