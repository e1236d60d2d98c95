//! What did the user ask for, without what programs put into the prompt, and how is it called?

use crate::control::without_escapes;
use crate::redact::without_secrets;
use crate::text::{clip, squeeze, start};

use super::sentence::sentence_end;

/// Bytes of a message that are looked at.
pub const LOOKED_AT: usize = 16 << 10;
/// Bytes of a prompt that are told.
pub const PROMPT: usize = 280;
/// A shorter sentence says nothing of its own.
pub const LEAST: usize = 15;
/// Characters of a title.
const TITLE: usize = 60;
/// An answer has no more bytes than this.
const ANSWER: usize = 48;

/// What programs, not people, put into the messages of the user: from the first mark to the second.
const INJECTED: [(&str, &str); 11] = [
    ("<system-reminder>", "</system-reminder>"),
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-stderr>", "</local-command-stderr>"),
    ("<local-command-caveat>", "</local-command-caveat>"),
    ("<command-name>", "</command-name>"),
    ("<command-message>", "</command-message>"),
    ("<bash-stdout>", "</bash-stdout>"),
    ("<bash-stderr>", "</bash-stderr>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<task-notification>", "</task-notification>"),
    ("<environment_context>", "</environment_context>"),
];
/// Beginnings of messages that no person wrote.
const PROGRAMS: [&str; 6] = [
    "Caveat: The messages below",
    "[Request interrupted",
    "This session is being continued from",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];
/// Marks that stand around what a person wrote.
const TAGS: [&str; 4] = [
    "<command-args>",
    "</command-args>",
    "<bash-input>",
    "</bash-input>",
];

/// Words that say nothing but that it may go on.
const ANSWERS: [&str; 34] = [
    "ok",
    "okay",
    "yes",
    "y",
    "yep",
    "sure",
    "go",
    "go on",
    "go ahead",
    "continue",
    "proceed",
    "thanks",
    "thank you",
    "good",
    "great",
    "perfect",
    "nice",
    "done",
    "next",
    "no",
    "n",
    "hi",
    "hello",
    "ja",
    "nein",
    "weiter",
    "danke",
    "да",
    "нет",
    "дальше",
    "спасибо",
    "sí",
    "oui",
    "好",
];

/// How a remark on the agent's work begins.
const REMARKS: [&str; 30] = [
    "no,",
    "no.",
    "no ",
    "nope",
    "not ",
    "don't",
    "dont ",
    "do not",
    "never ",
    "always ",
    "wrong",
    "actually",
    "instead",
    "that's",
    "thats ",
    "that is",
    "please don't",
    "stop",
    "i prefer",
    "i don't",
    "i do not",
    "i'd rather",
    "perfect",
    "great,",
    "good,",
    "nein",
    "нет,",
    "не ",
    "from now on",
    "you should",
];

/// The prompt that a person wrote, on one line and without secrets; none where a program wrote it.
pub fn prompt(text: &str) -> Option<String> {
    let looked_at = start(text, LOOKED_AT);
    let is_cut = looked_at.len() < text.len();
    let mut text = looked_at.to_owned();
    for (from, to) in INJECTED {
        while let Some(at) = text.find(from) {
            let end = match text[at..].find(to) {
                Some(end) => at + end + to.len(),
                // What a program put in may go on behind what is looked at.
                None if is_cut => text.len(),
                // A person speaks of the mark.
                None => break,
            };
            text.replace_range(at..end, "\n");
        }
    }
    for tag in TAGS {
        text = text.replace(tag, " ");
    }
    let bare = text.trim();
    if bare.is_empty() || PROGRAMS.iter().any(|mark| bare.starts_with(mark)) || bare == "[image]" {
        return None;
    }
    let told = told(bare);
    // A command of the harness is no wish.
    let command = told.starts_with('/') && !told.contains(' ') && !told[1..].contains('/');
    (!told.is_empty() && !command).then_some(told)
}

/// A text on one line, without secrets and escape sequences, and with nothing that hides a part of the log.
pub fn told(text: &str) -> String {
    let seen = without_escapes(text);
    let clean = without_secrets(&seen);
    let line = squeeze(&clean, LOOKED_AT);
    // Redaction looks at lines: what came together on one is looked at again.
    harmless(&without_secrets(&line))
}

/// A line with nothing in it that opens or closes a comment.
pub fn harmless(line: &str) -> String {
    line.replace("<!--", "<! --")
        .replace("-->", "-- >")
        .replace("--!>", "--! >")
}

/// Whether it says nothing but that it may go on.
pub fn is_answer(asked: &str) -> bool {
    if asked.len() > ANSWER {
        return false;
    }
    let bare = asked.to_lowercase();
    let bare = bare.trim_matches(|mark: char| !mark.is_alphanumeric());
    bare.is_empty() || ANSWERS.contains(&bare)
}

/// Whether it is a remark on what the agent did.
pub fn is_remark(asked: &str) -> bool {
    let beginning = start(asked, 32).to_lowercase().replace('’', "'");
    REMARKS.iter().any(|mark| beginning.starts_with(mark))
}

/// A title from what was asked first.
pub fn title(asked: &str) -> String {
    let mut line = asked.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '/');
    for polite in [
        "please ",
        "can you ",
        "could you ",
        "i want you to ",
        "i'd like you to ",
        "let's ",
    ] {
        if line
            .get(..polite.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(polite))
        {
            line = line[polite.len()..].trim_start();
        }
    }
    let first = sentence_end(line);
    let line = line[..first].trim_end_matches(['.', ':', ',', ';', '!', '?', '。', ' ']);
    let bytes = line.char_indices().nth(TITLE).map_or(line.len(), |(at, _)| at);
    let line = clip(line, bytes.max(8)).replace(['[', ']', '`', '*', '#'], "");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = line.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => "Session".to_owned(),
    }
}

/// Whether a prompt says too little to be a topic of its own.
pub fn is_small(asked: &str) -> bool {
    asked.len() < LEAST && !asked.contains(|mark: char| mark > '\u{2fff}')
}
