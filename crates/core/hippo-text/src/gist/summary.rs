//! Extractive summary: the most representative sentence.

use std::collections::{HashMap, HashSet};

use super::line::WeightedLine;
use super::words::WordCounts;
use crate::chunk::{ChunkKind, Speaker};

/// Maximum number of words of a summary.
pub const MOST_WORDS: usize = 25;
/// Maximum number of bytes of a summary, because words can be long.
const MOST_BYTES: usize = 220;
/// Maximum number of sentences considered; later ones of a long conversation are not better.
const MOST_SENTENCES: usize = 600;

/// Labels of important lines.
#[rustfmt::skip] // keep the list compact
const MARKED: [&str; 9] = [
    "decision:", "decided:", "lesson:", "important:", "summary:", "result:", "status:", "fix:", "goal:",
];

/// Returns the most representative sentence in at most [`MOST_WORDS`] words; empty if there is none.
///
/// The score of a sentence is based on those significant words of the whole text that the sentence contains. Words in
/// `shown` (the topic and the tags, which appear beside the summary) count half.
pub fn extract_summary(words: &mut WordCounts, lines: &[WeightedLine], shown: &HashSet<u32>) -> String {
    let mut often: HashMap<u32, f32> = HashMap::new();
    let mut sentences: Vec<(&str, &WeightedLine, Vec<u32>)> = Vec::new();
    for line in lines {
        for sentence in split_sentences(&line.text) {
            let sentence = cut_sentence(sentence);
            let mut ids = Vec::new();
            words.for_each_word(sentence, |word| {
                if word.is_significant() {
                    ids.push(word.id);
                }
            });
            for id in &ids {
                *often.entry(*id).or_default() += line.weight;
            }
            if line.kind != ChunkKind::Heading && sentences.len() < MOST_SENTENCES {
                sentences.push((sentence, line, ids));
            }
        }
    }
    let mut best: Option<(f32, &str)> = None;
    for (place, (sentence, line, ids)) in sentences.iter().enumerate() {
        let mut distinct = ids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let significance: f32 = distinct
            .iter()
            .map(|id| {
                let weight = often.get(id).copied().unwrap_or(0.0);
                let seen = if shown.contains(id) { 0.5 } else { 1.0 };
                // The rarity is dampened, because the sentence should represent the whole text, not its strangest
                // detail.
                seen * words.rarity(*id).powf(0.6) * weight / (weight + 2.0)
            })
            .sum();
        let score =
            significance / (distinct.len() as f32 + 4.0).powf(0.35) * form_factor(sentence, line, place);
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, sentence));
        }
    }
    let Some((_, sentence)) = best else {
        return String::new();
    };
    format_summary(sentence)
}

/// Returns a factor for the form of a sentence.
fn form_factor(sentence: &str, line: &WeightedLine, place: usize) -> f32 {
    let mut factor = 1.0 + 0.3 / (1.0 + place as f32 / 2.0);
    factor *= match (line.speaker, line.kind) {
        (Speaker::Assistant, _) => 0.25,
        (_, ChunkKind::Code) => 0.3,
        (_, ChunkKind::Table) => 0.7,
        (_, ChunkKind::Quote) => 0.8,
        _ => 1.0,
    };
    // Lines of ids, paths and times are not sentences.
    let figures = sentence.bytes().filter(u8::is_ascii_digit).count();
    if figures * 4 > sentence.len() || sentence.starts_with('(') {
        factor *= 0.5;
    }
    if sentence.ends_with(['?', '？']) {
        factor *= 0.6;
    }
    let lower = sentence.get(..12).unwrap_or(sentence).to_lowercase();
    if MARKED.iter().any(|mark| lower.starts_with(mark)) {
        factor *= 1.4;
    }
    // First-person statements are unique to the speaker.
    let own = |word: &str| matches!(word, "I" | "I'm" | "I've" | "I'd" | "my" | "My" | "we" | "our");
    if line.speaker == Speaker::User && sentence.split(' ').any(own) {
        factor *= 1.3;
    }
    factor
}

/// Splits a line into sentences.
pub fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        for (at, mark) in rest.char_indices() {
            let behind = at + mark.len_utf8();
            let wide = matches!(mark, '。' | '！' | '？');
            let ends = matches!(mark, '.' | '!' | '?')
                && rest[behind..].starts_with(' ')
                && !rest[behind + 1..].starts_with(char::is_lowercase)
                && rest[..at].chars().count() > 12;
            if wide || ends {
                end = behind;
                break;
            }
        }
        let (sentence, tail) = rest.split_at(end);
        rest = tail;
        Some(sentence.trim())
    })
}

/// Cuts a sentence to the length of a summary, at a word boundary.
fn cut_sentence(sentence: &str) -> &str {
    let mut end = 0;
    for (count, word) in sentence.split_inclusive(' ').enumerate() {
        if count >= MOST_WORDS || end + word.trim_end().len() > MOST_BYTES {
            break;
        }
        end += word.len();
    }
    if end == 0 {
        // The text is one word longer than a summary, or is in a script without spaces.
        end = sentence.floor_char_boundary(MOST_BYTES);
    }
    sentence[..end].trim_end()
}

/// Formats one line without marks of the index file.
fn format_summary(sentence: &str) -> String {
    let open = !sentence.ends_with(['.', '!', '?', '。', '！', '？', ':', ';', ')', '"']);
    let long = sentence.split(' ').count() >= MOST_WORDS || sentence.len() + 12 >= MOST_BYTES;
    let mut text = sentence
        .trim_end_matches([',', ';', ':', ' ', '-'])
        .replace("<!--", "")
        .replace("-->", "")
        .replace('|', "/");
    if text.starts_with('→') || text.starts_with('#') {
        text = text.trim_start_matches(['→', '#', ' ']).to_owned();
    }
    if open && long {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::chunk;
    use crate::gist::line::lines;

    fn of(text: &str) -> String {
        let document = chunk(text.as_bytes());
        let mut words = WordCounts::new();
        words.begin_block();
        words.count(text);
        for other in ["how are you", "what about it", "that is nice and good to hear"] {
            words.begin_block();
            words.count(other);
        }
        let lines = lines(&document, text.as_bytes(), 0, document.chunks.len());
        extract_summary(&mut words, &lines, &HashSet::new())
    }

    #[test]
    fn the_most_representative_sentence_is_chosen() {
        let text = "# Talk\n\nHow are you? That is nice to hear. The pump in the cellar failed because the cellar \
                    valve froze. What about it?\n";
        assert_eq!(
            of(text),
            "The pump in the cellar failed because the cellar valve froze."
        );
        assert_eq!(of("# Nothing\n"), "");
    }

    #[test]
    fn a_summary_is_one_short_line() {
        for text in ["word ".repeat(400), "x".repeat(3_000), "日本語".repeat(300)] {
            let summary = of(&text);
            assert!(summary.split(' ').count() <= MOST_WORDS && summary.len() <= MOST_BYTES + 3);
            assert!(!summary.contains('\n') && !summary.is_empty());
        }
    }

    #[test]
    fn versions_and_host_names_do_not_end_a_sentence() {
        let found: Vec<&str> =
            split_sentences("We run v1.2 on host a.b.org now. It works very well! 好的。再见").collect();
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
