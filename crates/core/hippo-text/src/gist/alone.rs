//! Test whether a line is clear without the text around it.

use super::headings::is_generic;
use super::sentence::refers_back;
use crate::terms::is_unspaced;

/// Words at the start of a line that continue an earlier line, besides those of [`refers_back`].
#[rustfmt::skip] // a list is read in lines
const CONTINUING: [&str; 23] = [
    "above", "and", "another", "because", "below", "both", "but", "either", "here", "here's", "however", "neither",
    "or", "others", "otherwise", "same", "so", "such", "then", "therefore", "thus", "which", "whose",
];

/// Last words of a line that was cut in the middle of a sentence.
#[rustfmt::skip] // a list is read in lines
const DANGLING: [&str; 37] = [
    "a", "about", "an", "and", "are", "as", "but", "can", "could", "for", "from", "if", "in", "into", "is", "its", "my",
    "no", "not", "of", "on", "only", "or", "our", "so", "than", "that", "the", "their", "to", "was", "were", "when",
    "which", "will", "with", "your",
];

/// Pronouns that refer to an earlier line if they occur among the first words of a line.
const PRONOUNS: [&str; 4] = ["it", "them", "they", "those"];
/// Number of words in which a pronoun has no noun before it.
const START: usize = 4;

/// Auxiliary verbs, and verbs with an irregular past tense.
const FORMS: &str = "\
    am are is was were be been being has have had do does did will would can could should must may might cannot \
    became began bought broke brought built came caught chose cost cut drew drove fell felt forgot found fought gave \
    went gone got grew heard held hit hurt kept knew laid led left lent let lost made meant met paid put ran read rose \
    said sang sat saw sent set shot shut slept sold spent split spoke spread stood stuck swam taught thought threw told \
    took understood woke won wore wrote written shown seen given taken done begun broken chosen";

/// Verbs without their endings.
const VERBS: &str = "\
    accept add affect agree allow appear apply ask attend avoid back become begin believe belong bring build buy \
    call check choose clean close come complete compute confirm connect consider contain continue convert crash \
    create decide define delete deliver depend deploy describe detect disable discover do draw drop eat enable \
    enforce enjoy ensure exist expect explain expose fail feel fetch fill find finish fix follow forget gather \
    generate get give go grow handle happen hate have hear help hide hold implement include install integrate \
    investigate join keep know launch learn leave let like live look lose love make manage mean meet merge migrate \
    miss move need open organize own paint pay persist play prefer prepare prevent produce protect provide publish \
    put raise reach read receive recommend reduce register remain remember remove replace require resolve respond \
    restart restore return run save say see select sell send set show skip solve speak specify spend submit suggest \
    take teach tell think treat try turn understand use validate verify wait want wear win wish work worry write";

/// Verbs that are also nouns. They count as verbs at the start of a line: `Test the pump`.
const VERBS_OR_NOUNS: &str = "\
    access block cause change control copy cost count cover end export filter focus import lead limit list load log map \
    match measure monitor note offer park pass plan point post process pull push record release report request reset \
    review rewrite scan schedule score search serve share sleep start stay stop store study support switch sync talk \
    test track train travel trigger update upgrade visit walk watch yield";

/// Names of values that do not say what the value belongs to.
const LABELS: &str = "\
    action alert amount average cause command condition count date deadline default depth detail effort error estimate \
    estimates example expected fallback focus goal impact key label location logic logged name note number observation \
    old optimal option path percent phase pattern price profit range reason result risk role root score severity size \
    source state target time title tone total type unit url value warning word words";

/// Maximum bytes of the name in `name: value`.
const NAME: usize = 48;

/// Returns `true` if a line is clear without the text around it: a sentence with a verb, or a pair `name: value` whose
/// name says what the value belongs to. A line that begins or ends in the middle of a thought is not.
#[must_use]
pub fn is_clear(line: &str) -> bool {
    if line.contains(is_unspaced) {
        return true;
    }
    let words: Vec<String> = words(line).collect();
    let Some(last) = words.last() else {
        return false;
    };
    let of = |list: &[&str], word: &String| list.contains(&word.as_str());
    let start = &words[..words.len().min(START)];
    if continues(line) || of(&DANGLING, last) || start.iter().any(|word| of(&PRONOUNS, word)) {
        return false;
    }
    let pair = line.split_once(": ").filter(|(name, _)| name.len() <= NAME);
    match pair {
        Some((name, value)) => {
            !is_label(name)
                && !is_number(name)
                && !refers_back(value)
                && value.split(' ').count() > 1
                && words.len() > 3
        }
        None => has_verb(line),
    }
}

/// Returns `true` if a line states nothing by itself: a heading, or words without a verb, a number or a definition.
#[must_use]
pub fn is_fragment(line: &str) -> bool {
    let defines = [": ", " = ", " - ", " – ", " — ", "->", "→"]
        .iter()
        .any(|mark| line.contains(mark));
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let is_listed = || line.contains(|mark: char| mark.is_ascii_digit() || is_unspaced(mark));
    is_heading || !defines && !is_listed() && !has_verb(line)
}

/// Returns `true` if a line begins in the middle of a thought.
#[must_use]
pub fn continues(line: &str) -> bool {
    refers_back(line)
        || closes_unopened(line)
        || words(line)
            .next()
            .is_some_and(|first| CONTINUING.contains(&first.as_str()))
}

/// Returns `true` if a line closes a bracket that it did not open. `1)` and `a)` are numbers of items.
fn closes_unopened(line: &str) -> bool {
    let before = line.split_once(')').map_or("", |(before, _)| before);
    !before.contains('(') && before.chars().filter(|mark| mark.is_alphabetic()).count() > 1
}

/// Returns `true` if a name such as `1-29` or `III` is the number of an item.
fn is_number(name: &str) -> bool {
    name.chars()
        .all(|mark| !mark.is_alphabetic() || "IVX".contains(mark))
}

/// Returns `true` if a name such as `Status` or `Root cause` does not say what its value belongs to.
#[must_use]
pub fn is_label(name: &str) -> bool {
    let is_listed = |word: &str| LABELS.split_ascii_whitespace().any(|label| label == word);
    words(name).all(|word| is_listed(&word) || is_generic(&word))
}

/// Returns `true` if a text contains a word that is usually a verb. In a script other than Latin, the answer is always
/// `true`.
#[must_use]
pub fn has_verb(text: &str) -> bool {
    let latin = text.chars().filter(char::is_ascii_alphabetic).count();
    if text.chars().filter(|mark| mark.is_alphabetic()).count() > latin * 2 {
        return true;
    }
    let is_listed = |word: String| VERBS_OR_NOUNS.split_ascii_whitespace().any(|known| known == word);
    words(text).any(|word| is_verb(&word)) || words(text).next().is_some_and(is_listed)
}

fn is_verb(word: &str) -> bool {
    let is_listed = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    // "I've", "don't", "we're", "it's"
    if let Some((head, tail)) = word.split_once('\'') {
        let is_pronoun = matches!(head, "he" | "she" | "it" | "that" | "there" | "who" | "what");
        return matches!(tail, "m" | "re" | "ve" | "ll" | "d" | "t") || is_pronoun && tail == "s";
    }
    let past = word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed");
    let endings = ["", "s", "es", "ing", "d"];
    let mut stems = endings.iter().filter_map(|ending| word.strip_suffix(ending));
    past || is_listed(FORMS, word)
        || stems.any(|stem| is_listed(VERBS, stem))
        || word
            .strip_suffix("ies")
            .is_some_and(|stem| is_listed(VERBS, &format!("{stem}y")))
        || word.strip_suffix("ing").is_some_and(|stem| {
            let doubled =
                stem.len() > 3 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
            is_listed(VERBS, &format!("{stem}e")) || doubled && is_listed(VERBS, &stem[..stem.len() - 1])
        })
}

/// Returns the words of a line in lower case, without the marks around them.
fn words(line: &str) -> impl Iterator<Item = String> {
    let bare = |word: &str| {
        let word = word.trim_matches(|mark: char| !mark.is_alphanumeric());
        word.replace('’', "'").to_lowercase()
    };
    line.split_whitespace().map(bare).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_has_no_verb_number_or_definition() {
        for line in [
            "Pumps & deep links",
            "## Health check (2026-01-31)",
            "Output formats, failure modes",
        ] {
            assert!(is_fragment(line), "{line}");
        }
        for line in [
            "Pier 4",
            "Gate: Kiel",
            "pump.rs - control of the pump",
            "Ada runs the gate",
            "日本語の文",
            "Новый насос",
        ] {
            assert!(!is_fragment(line), "{line}");
        }
    }

    #[test]
    fn a_clear_line_is_a_sentence_or_a_named_value() {
        for line in [
            "Ada moved the crates to Pier 4",
            "Set up the SSH key of the gate",
            "Staging port of the gate: 8443 since May",
            "The pump trips when the tank is empty",
            "I've been running longer",
            "Running two pumps wears the belt",
            "日本語の文",
        ] {
            assert!(is_clear(line), "{line}");
        }
        for line in [
            "Big local rewrite on the other end",
            "so the crates stay at Pier 4",
            "wait) and moved the crates to Pier 4",
            "Maps of region 1",
            "Reason: inconsistent data of the pump",
            "Root cause: the valve was old",
            "It moved to Pier 4",
            "Here's my attempt so far",
            "Art gives me a sense of freedom, but",
            "Real world asset tokenization",
            "Pump: on",
            "III: the pumps of the gate",
            "1-29: fast pumps with one valve",
            "",
        ] {
            assert!(!is_clear(line), "{line}");
        }
    }
}
