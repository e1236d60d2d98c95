//! Extractive summary: the most representative sentence.

use std::collections::{HashMap, HashSet};

use super::alone::is_clear;
use super::line::WeightedLine;
use super::machine::is_machine;
use super::sentence::{OPENING, SentenceScan, is_reading, refers_back, split_sentences, telling};
use super::words::WordCounts;
use crate::chunk::{ChunkKind, Speaker};
use crate::speaker;
use crate::terms::is_unspaced;

/// Maximum number of words of a summary.
pub const MOST_WORDS: usize = 18;
/// Maximum number of bytes of a summary, because words can be long.
const MOST_BYTES: usize = 120;
/// Score factor for a sentence that is cut to the length of a summary.
const CUT: f32 = 0.6;
/// Score factor for a sentence that is unclear without the text around it.
const UNCLEAR: f32 = 0.4;
/// Score factor for a sentence without a name, a number or several words with a meaning of their own.
const VAGUE: f32 = 0.6;
/// Score factor for the field of the front matter that describes the file.
const DESCRIPTION: f32 = 4.0;
/// Number of sentences at the start of a text that usually say what the text is about.
const LEAD: usize = 3;
/// Fields of the front matter that do not say what the text is about.
#[rustfmt::skip] // a list is read in lines
const FIELDS: [&str; 18] = [
    "author", "category", "date", "draft", "homepage", "image", "keywords", "lang", "layout", "license", "locale",
    "metadata", "name", "slug", "tags", "title", "url", "version",
];
/// Maximum number of sentences to consider. Later sentences of a long conversation are not better summaries.
const MOST_SENTENCES: usize = 600;

/// Returns the most representative sentence in at most [`MOST_WORDS`] words; empty if there is none.
///
/// A sentence scores for each significant word that it contains, and more for words that are frequent in the whole
/// text. Words in `shown` (the topic and the tags, which appear beside the summary) count half. The summary differs
/// from `other`.
pub fn extract_summary(
    words: &mut WordCounts,
    lines: &[WeightedLine],
    shown: &HashSet<u32>,
    other: &str,
) -> String {
    let mut often: HashMap<u32, f32> = HashMap::new();
    let mut sentences: Vec<(&str, &WeightedLine, SentenceScan, f32)> = Vec::new();
    for line in lines {
        for sentence in split_sentences(&line.text) {
            let whole = Some(telling(sentence))
                .filter(|rest| !rest.is_empty())
                .unwrap_or(sentence)
                .trim_start_matches(|mark: char| !mark.is_alphanumeric() && !OPENING.contains(&mark));
            let whole = whole
                .strip_prefix("description: ")
                .map_or(whole, |told| told.trim_matches(['"', '\'']));
            let short = cut_sentence(whole);
            let cut = if short.len() < whole.len() { CUT } else { 1.0 };
            let scan = SentenceScan::of(words, short, false);
            for (id, _) in &scan.words {
                *often.entry(*id).or_default() += line.weight;
            }
            let new = other.is_empty() || format_summary(short) != other;
            if line.kind != ChunkKind::Heading && new && sentences.len() < MOST_SENTENCES {
                sentences.push((short, line, scan, cut));
            }
        }
    }
    let mut best: Option<(f32, &str, &WeightedLine)> = None;
    for (place, (sentence, line, scan, cut)) in sentences.iter().enumerate() {
        let sum = scan.words.iter().map(|(id, weight)| {
            let often = often.get(id).copied().unwrap_or(0.0);
            let seen = if shown.contains(id) { 0.5 } else { 1.0 };
            seen * weight * often / (often + 2.0)
        });
        let early = match line.kind {
            ChunkKind::Paragraph if place < LEAD => 1.8 - 0.2 * place as f32,
            _ => 1.0 + 0.3 / (1.0 + place as f32 / 2.0),
        };
        let field = line.text.split_once(": ").map_or("", |(field, _)| field);
        let about = match field {
            "description" => DESCRIPTION,
            _ if FIELDS.contains(&field) => 0.05,
            _ if !is_clear(sentence) || is_list(sentence) => UNCLEAR,
            _ if !scan.is_specific() => VAGUE,
            _ => 1.0,
        };
        let source = match (line.speaker, line.kind) {
            (Speaker::Assistant, _) | (_, ChunkKind::Code) => 0.3,
            _ if refers_back(sentence) => 0.5,
            _ => 1.0,
        };
        let aside = matches!(line.kind, ChunkKind::Table | ChunkKind::Quote);
        let form = scan.form_factor(sentence, line.speaker, aside) * plainness(sentence);
        let score = sum.sum::<f32>() / (scan.words.len() as f32 + 4.0).powf(0.35)
            * early
            * source
            * form
            * cut
            * about;
        if best.is_none_or(|(known, ..)| score > known) {
            best = Some((score, sentence, line));
        }
    }
    let Some((_, sentence, line)) = best else {
        return String::new();
    };
    // A sentence in the first person is unclear without its speaker.
    let person = Some(line).filter(|line| line.speaker == Speaker::Other);
    let person = person.and_then(|line| speaker::name(&line.text));
    match person.filter(|name| !sentence.starts_with(name)) {
        Some(name) => format_summary(cut_sentence(&format!("{name}: {sentence}"))),
        None => format_summary(sentence),
    }
}

/// Returns the score factor for the number of plain words in a text, at most 1. Plain words start with a lower-case
/// letter.
fn plainness(text: &str) -> f32 {
    let plain = |word: &&str| word.len() > 1 && word.starts_with(char::is_lowercase);
    match text.split(' ').filter(plain).count() {
        _ if is_machine(text) => 0.1,
        _ if text.contains(is_unspaced) => 1.0,
        _ if is_reading(text) => 0.3,
        0 => 0.3,
        1 => 0.6,
        _ if text.split(' ').count() < 4 => 0.6,
        _ => 1.0,
    }
}

/// Returns `true` for a list of names, such as `Keys: name, type, version`.
fn is_list(text: &str) -> bool {
    let commas = text.matches(", ").count();
    commas > 2 && commas * 3 > text.split(' ').count()
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
        // The first word alone is too long, or the script has no spaces.
        end = sentence.floor_char_boundary(MOST_BYTES);
    }
    sentence[..end].trim_end()
}

/// Formats a sentence as a summary, without characters that have a meaning in the index file.
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
        extract_summary(&mut words, &lines, &HashSet::new(), "")
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
    fn the_name_of_the_speaker_counts_as_words() {
        let said = format!(
            "**Ada Byron**: I mended the pump in the cellar {}",
            "and the valve ".repeat(8)
        );
        let summary = of(&format!("Talk of a day\n{said}\n**Ada Byron**: Yes.\n"));
        assert!(summary.starts_with("Ada Byron: I mended"), "{summary}");
        assert_eq!(summary.split(' ').count(), MOST_WORDS, "{summary}");
    }

    #[test]
    fn versions_and_host_names_do_not_end_a_sentence() {
        let found: Vec<&str> =
            split_sentences("We run v1.2 on host a.b.org now. It works very well! 好的。再见").collect();
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
