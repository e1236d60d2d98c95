//! Phrases that distinguish a text from its workspace.

use std::collections::{HashMap, HashSet};

use super::line::WeightedLine;
use super::words::{ScannedWord, WordCounts};
use crate::chunk::{ChunkKind, Speaker};

/// Maximum number of words of a phrase.
const LONGEST: usize = 3;
/// Maximum bytes of an assistant's lines to read, because later text repeats the subject at length.
const ASSISTANT: usize = 2_000;
/// Score factor for each phrase already chosen from the same section, so that all sections are represented.
const AGAIN: f32 = 0.6;

/// Phrase found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Phrase {
    /// Text of the first occurrence of the phrase.
    pub text: String,
    /// Ids of the stems of its words.
    pub ids: Vec<u32>,
    score: f32,
    section: u32,
}

struct PhraseCandidate<'a> {
    words: Vec<&'a str>,
    weight: f32,
    capitals: bool,
    heading: bool,
    section: u32,
    /// Number of phrases that were found before this one.
    order: usize,
}

/// Returns up to `most` phrases, the most distinctive first. No two phrases share a word. Ignores the words in `names`.
pub fn choose_phrases(
    words: &mut WordCounts,
    lines: &[WeightedLine],
    names: &HashSet<u32>,
    most: usize,
) -> Vec<Phrase> {
    let mut found: HashMap<[u32; LONGEST], PhraseCandidate<'_>> = HashMap::new();
    let mut heard = 0;
    let mut run: Vec<ScannedWord<'_>> = Vec::new();
    for line in lines {
        if line.speaker == Speaker::Assistant {
            heard += line.text.len();
            if heard > ASSISTANT {
                continue;
            }
        }
        let mut taken: Vec<ScannedWord<'_>> = Vec::new();
        words.for_each_word(&line.text, |word| taken.push(word));
        for word in taken {
            let good = (word.is_taggable() || word.is_number()) && !names.contains(&word.id);
            if !(good && word.joined) {
                run.clear();
            }
            if good {
                run.push(word);
                record_phrases(&run, line, &mut found);
            }
        }
        run.clear();
    }
    let mut by_order: Vec<([u32; LONGEST], PhraseCandidate<'_>)> = found.into_iter().collect();
    by_order.sort_by_key(|(_, candidate)| candidate.order);
    let scored = |(key, candidate)| score_phrase(words, key, candidate);
    select_best(by_order.into_iter().map(scored).collect(), most)
}

/// Records the phrases of up to [`LONGEST`] words that end with the last word of a run of adjacent words.
fn record_phrases<'a>(
    run: &[ScannedWord<'a>],
    line: &WeightedLine,
    found: &mut HashMap<[u32; LONGEST], PhraseCandidate<'a>>,
) {
    for length in 1..=LONGEST.min(run.len()) {
        let phrase = &run[run.len() - length..];
        let (first, last) = (phrase[0], phrase[length - 1]);
        if first.is_number() || (last.is_number() && length == 1) {
            continue;
        }
        let mut key = [u32::MAX; LONGEST];
        for (slot, word) in key.iter_mut().zip(phrase) {
            *slot = word.id;
        }
        if length > 1 && key[..length - 1].contains(&key[length - 1]) {
            continue;
        }
        let order = found.len();
        let candidate = found.entry(key).or_insert_with(|| PhraseCandidate {
            words: phrase.iter().map(|word| word.text).collect(),
            weight: 0.0,
            capitals: true,
            heading: false,
            section: line.section,
            order,
        });
        candidate.weight += line.weight;
        candidate.capitals &= is_name(phrase);
        candidate.heading |= line.kind == ChunkKind::Heading;
    }
}

/// Returns `true` if a phrase is written like a name. The capital of a sentence's first word does not
/// count.
fn is_name(phrase: &[ScannedWord<'_>]) -> bool {
    let inner = |word: &ScannedWord<'_>| word.text.chars().skip(1).any(char::is_uppercase);
    let proud = |word: &ScannedWord<'_>| (word.capital && word.joined) || inner(word) || word.is_number();
    match phrase {
        [one] => proud(one),
        [first, rest @ ..] => first.capital && rest.iter().all(proud),
        [] => false,
    }
}

/// Returns `true` if a word looks like a verb or adverb, which are rarely distinctive.
fn is_action(word: &str) -> bool {
    word.len() > 5 && ["ing", "ed", "ly"].iter().any(|ending| word.ends_with(ending))
}

fn score_phrase(words: &WordCounts, key: [u32; LONGEST], candidate: PhraseCandidate<'_>) -> Phrase {
    let ids: Vec<u32> = key.into_iter().filter(|id| *id != u32::MAX).collect();
    let length = ids.len() as f32;
    // Cap the rarity: a word with one occurrence may be a typo.
    let most = words.rarest() * 0.85;
    let rarity: f32 = ids.iter().map(|id| words.rarity(*id).min(most)).sum();
    let often = candidate.weight / (candidate.weight + 1.2);
    let mut score = often * rarity / length.sqrt();
    if candidate.capitals {
        score *= 1.25;
    }
    if candidate.heading {
        score *= 1.3;
    }
    // Words that occur next to each other only once rarely form a phrase.
    if ids.len() > 1 && candidate.weight < 1.5 && !candidate.capitals {
        score *= if ids.len() > 2 { 0.6 } else { 0.8 };
    }
    let actions = candidate.words.iter().filter(|word| is_action(word)).count();
    if actions > 0 && !candidate.capitals {
        score *= 0.7;
    }
    let words = candidate.words.iter();
    let words = words.map(|word| word.trim_end_matches("'s").trim_end_matches("’s"));
    Phrase {
        text: words.collect::<Vec<_>>().join(" "),
        ids,
        score,
        section: candidate.section,
    }
}

/// Selects the best phrases across sections, without repeated words.
fn select_best(mut ranked: Vec<Phrase>, most: usize) -> Vec<Phrase> {
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    // The caller needs at most a few dozen phrases.
    ranked.truncate(400);
    let mut chosen: Vec<Phrase> = Vec::new();
    while chosen.len() < most {
        let worth = |phrase: &Phrase| {
            let same = chosen.iter().filter(|known| known.section == phrase.section);
            phrase.score * AGAIN.powi(i32::try_from(same.count().min(8)).unwrap_or(8))
        };
        let worths = ranked.iter().map(worth).enumerate();
        // Of phrases with the same score, choose the one that occurs first.
        let Some((at, _)) = worths.rev().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        let next = ranked.remove(at);
        ranked.retain(|phrase| !phrase.ids.iter().any(|id| next.ids.contains(id)));
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::chunk;
    use crate::gist::line::lines;

    fn of(text: &str, background: &[&str]) -> Vec<String> {
        let mut words = WordCounts::new();
        for block in background.iter().chain([&text]) {
            words.begin_block();
            words.count(block);
        }
        let document = chunk(text.as_bytes());
        let lines = lines(&document, text.as_bytes(), 0, document.chunks.len());
        choose_phrases(&mut words, &lines, &HashSet::new(), 4)
            .into_iter()
            .map(|phrase| phrase.text)
            .collect()
    }

    #[test]
    fn rare_words_that_repeat_are_distinctive() {
        let background = [
            "the server is up",
            "the server is down",
            "restart the server again",
        ];
        let found = of(
            "The replication slot filled the disk. Watch the replication slot, not only the server.\n",
            &background,
        );
        assert_eq!(found[0], "replication slot", "{found:?}");
        assert!(!found.iter().any(|phrase| phrase == "server"), "{found:?}");
    }

    #[test]
    fn the_order_is_deterministic() {
        let text = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda\n";
        assert_eq!(of(text, &[]), of(text, &[]));
    }
}
