//! Does a text read like an instruction to an agent, as text that somebody planted does?
//!
//! A hint and no proof: who is flagged is told so beside the text, and nothing is taken out.

/// What is to be left aside, by the first letters of the word: English, German, French, Spanish.
const ASIDE: [&str; 8] = [
    "ignor",
    "disregard",
    "forget",
    "overrid",
    "bypass",
    "vergiss",
    "oublie",
    "olvida",
];
/// What is left aside then.
const RULES: [&str; 6] = [
    "instruction",
    "instruccion",
    "prompt",
    "directive",
    "anweisung",
    "consigne",
];
/// Words that people use for other rules, too.
const COMMON: [&str; 2] = ["rules", "guideline"];
/// What makes them those of an agent.
const WHOSE: [&str; 7] = ["your", "all", "previous", "prior", "earlier", "above", "system"];
/// Words between the two, at most.
const APART: usize = 5;
/// What only a planted text says.
const PHRASES: [&str; 11] = [
    "you are now",
    "system prompt",
    "new instructions",
    "do not tell the user",
    "don't tell the user",
    "without telling the user",
    "do not mention this to the user",
    "<system>",
    "[system]",
    "<|im_start|>",
    "reveal your instructions",
];

/// Whether it does.
#[must_use]
pub fn reads_as_instruction(text: &str) -> bool {
    let lower = text.to_lowercase();
    if PHRASES.iter().any(|phrase| lower.contains(phrase)) {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|mark: char| !mark.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let begins = |word: &str, with: &[&str]| with.iter().any(|start| word.starts_with(start));
    words.iter().enumerate().any(|(at, word)| {
        let behind = words.get(at + 1..).unwrap_or_default();
        let behind = behind.get(..APART).unwrap_or(behind);
        let whose = behind.iter().any(|word| WHOSE.contains(word));
        let rules = |word: &str| begins(word, &RULES) || (whose && begins(word, &COMMON));
        begins(word, &ASIDE) && behind.iter().any(|word| rules(word))
    })
}
