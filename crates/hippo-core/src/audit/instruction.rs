//! Does a line read like an instruction to an agent, as text does that was put into a memory to steer who reads it?

use super::words::words;

/// What tells to pass over what holds.
const OVERRIDES: [&str; 6] = ["ignore", "disregard", "forget", "override", "bypass", "discard"];
/// What it tells to pass over.
const OVERRIDDEN: [&str; 9] = [
    "instruction",
    "instructions",
    "prompt",
    "prompts",
    "rules",
    "guidelines",
    "directives",
    "safeguards",
    "restrictions",
];
/// Words between the two at most.
const REACH: usize = 6;
/// What an agent is told to keep from its user.
const SECRECY: [&str; 6] = [
    "do not tell the user",
    "don t tell the user",
    "without telling the user",
    "do not mention this to",
    "don t mention this to",
    "without asking the user",
];
/// What gives an agent another part to play.
const ROLES: [&str; 5] = [
    "you are now a",
    "you are now an",
    "you must now",
    "from now on you are",
    "pretend to be",
];
/// What has an agent do something.
const ORDERS: [&str; 6] = [
    "run the following command",
    "execute the following",
    "execute this command",
    "send this to http",
    "reveal your system prompt",
    "print your system prompt",
];
/// Marks by which chats tell who speaks.
const MARKS: [&str; 8] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "[INST]",
    "<<SYS>>",
    "<system>",
    "</system>",
    "<system-reminder>",
];

/// The name of the rule by which a line is one.
pub(super) fn rule(line: &str) -> Option<&'static str> {
    if MARKS.iter().any(|mark| line.contains(mark)) {
        return Some("role-mark");
    }
    let said = words(line).joined();
    if overrides(&said) {
        return Some("override");
    }
    let padded = format!(" {said} ");
    let says = |phrases: &[&str]| {
        let mut phrases = phrases.iter();
        phrases.any(|phrase| padded.contains(&format!(" {phrase} ")))
    };
    if says(&SECRECY) {
        return Some("secrecy");
    }
    if says(&ROLES) {
        return Some("role");
    }
    says(&ORDERS).then_some("order")
}

fn overrides(said: &str) -> bool {
    let words: Vec<&str> = said.split(' ').collect();
    words.iter().enumerate().any(|(at, word)| {
        let behind = words.iter().skip(at + 1).take(REACH);
        OVERRIDES.contains(word) && behind.clone().any(|word| OVERRIDDEN.contains(word))
    })
}
