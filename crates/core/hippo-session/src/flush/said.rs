//! Prompts of the user, without text inserted by programs, and their titles.

use hippo_redact::without_secrets;
use hippo_text::control::without_escapes;
use hippo_text::text::{characters, clip, one_line, squeeze, start};

use super::sentence::find_sentence_end;

/// Number of bytes of a message that are read. The rest is ignored.
pub const LOOKED_AT: usize = 16 << 10;
/// Maximum bytes of a prompt in the log.
pub const PROMPT: usize = 280;
/// Minimum bytes of a sentence or prompt. A shorter one has no content of its own.
pub const LEAST: usize = 15;
/// Maximum characters of a title.
const TITLE: usize = 60;
/// Maximum bytes of a prompt that counts as a mere answer, such as `yes`.
const ANSWER: usize = 48;

/// Tags around text that programs insert into user messages.
#[rustfmt::skip] // keep the list compact
const INJECTED: [&str; 11] = [
    "system-reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat", "command-name",
    "command-message", "bash-stdout", "bash-stderr", "ide_opened_file", "task-notification", "environment_context",
];
/// Beginnings of user messages that a program wrote.
const PROGRAMS: [&str; 6] = [
    "Caveat: The messages below",
    "[Request interrupted",
    "This session is being continued from",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];
/// Tags around text that a person wrote. The tags are removed, and the text is kept.
#[rustfmt::skip] // keep the list compact
const TAGS: [&str; 4] = ["<command-args>", "</command-args>", "<bash-input>", "</bash-input>"];
/// Polite beginnings of a request. A title omits them.
#[rustfmt::skip] // keep the list compact
const POLITE: [&str; 6] = ["please ", "can you ", "could you ", "i want you to ", "i'd like you to ", "let's "];

/// Short answers with which the user only lets the agent continue.
#[rustfmt::skip] // keep the list compact
const ANSWERS: [&str; 34] = [
    "ok", "okay", "yes", "y", "yep", "sure", "go", "go on", "go ahead", "continue", "proceed", "thanks",
    "thank you", "good", "great", "perfect", "nice", "done", "next", "no", "n", "hi", "hello", "ja", "nein",
    "weiter", "danke", "да", "нет", "дальше", "спасибо", "sí", "oui", "好",
];

/// Beginnings of a prompt that comments on the agent's work.
#[rustfmt::skip] // keep the list compact
const REMARKS: [&str; 30] = [
    "no,", "no.", "no ", "nope", "not ", "don't", "dont ", "do not", "never ", "always ", "wrong", "actually",
    "instead", "that's", "thats ", "that is", "please don't", "stop", "i prefer", "i don't", "i do not",
    "i'd rather", "perfect", "great,", "good,", "nein", "нет,", "не ", "from now on", "you should",
];

/// Phrases that make a remark a lasting rule.
const RULES: [&str; 3] = ["from now on", "in future", "in the future"];
/// Beginnings of a clause that states a lasting rule.
#[rustfmt::skip] // keep the list compact
const ORDERS: [&str; 12] = [
    "always ", "never ", "don't ", "dont ", "do not ", "use ", "prefer ", "i prefer ", "immer ", "nie ", "всегда ",
    "никогда ",
];
/// Words before a rule that do not change its meaning.
#[rustfmt::skip] // keep the list compact
const LEADS: [&str; 11] = ["no", "nope", "ok", "and", "but", "so", "please", "just", "also", "you", "should"];
/// Words that do not name what a rule is about.
#[rustfmt::skip] // keep the list compact
const VAGUE: [&str; 28] = [
    "this", "that", "these", "those", "them", "they", "the", "one", "ones", "other", "others", "there", "here", "again",
    "anymore", "same", "like", "way", "just", "please", "instead", "now", "yet", "worry", "don", "dont", "not", "you",
];

/// Returns the prompt that a person wrote, as one redacted line; `None` if a program wrote the message.
pub fn extract_prompt(text: &str) -> Option<String> {
    let looked_at = start(text, LOOKED_AT);
    let is_cut = looked_at.len() < text.len();
    let mut text = looked_at.to_owned();
    for tag in INJECTED {
        let (from, to) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(at) = text.find(&from) {
            let end = match text[at..].find(&to) {
                Some(end) => at + end + to.len(),
                // The inserted text may continue after the bytes that are read.
                None if is_cut => text.len(),
                // A tag without an end tag is part of the text that a person wrote.
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
    let told = clean_line(bare);
    // A slash command such as `/clear` is not a request.
    let command = told.starts_with('/') && !told.contains(' ') && !told[1..].contains('/');
    (!told.is_empty() && !command).then_some(told)
}

/// Returns a text as one line without secrets, escape sequences and comment marks.
pub fn clean_line(text: &str) -> String {
    let seen = without_escapes(text);
    let clean = without_secrets(&seen);
    let line = squeeze(&clean, LOOKED_AT);
    // Redaction works by line, so the joined line is redacted again.
    neutralize_comments(&without_secrets(&line))
}

/// Inserts spaces into HTML comment marks, so that the line cannot begin or end a comment.
pub fn neutralize_comments(line: &str) -> String {
    line.replace("<!--", "<! --")
        .replace("-->", "-- >")
        .replace("--!>", "--! >")
}

/// Returns true if a prompt only lets the agent continue, such as `ok` or `go on`.
pub fn is_answer(asked: &str) -> bool {
    if asked.len() > ANSWER {
        return false;
    }
    let bare = asked.to_lowercase();
    let bare = bare.trim_matches(|mark: char| !mark.is_alphanumeric());
    bare.is_empty() || ANSWERS.contains(&bare)
}

/// Returns true if a prompt comments on the agent's work, such as `no, …`.
pub fn is_remark(asked: &str) -> bool {
    let beginning = start(asked, 32).to_lowercase().replace('’', "'");
    REMARKS.iter().any(|mark| beginning.starts_with(mark))
}

/// Returns true if a remark states a lasting rule and names what the rule is about, such as `no, never log tokens`.
pub fn states_rule(asked: &str) -> bool {
    let asked = asked.to_lowercase().replace('’', "'");
    let names = |rest: &str| {
        let mut words = rest.split(|mark: char| !mark.is_alphanumeric());
        words.any(|word| word.chars().count() > 2 && !VAGUE.contains(&word))
    };
    if let Some(rule) = RULES.iter().find(|rule| asked.contains(**rule)) {
        return names(&asked.replace(rule, " "));
    }
    asked.split([',', '.', ';', ':', '!', '?', '。']).any(|clause| {
        let polite = clause.contains("please ") && clause.contains(" instead");
        let order = ORDERS.iter().find_map(|order| {
            let (before, rest) = clause.split_once(order)?;
            let leads = before.split_whitespace().all(|word| LEADS.contains(&word));
            leads.then_some(rest)
        });
        order.is_some_and(names) || polite && names(clause)
    })
}

/// Creates the title of a topic from the first prompt of the topic.
pub fn make_title(asked: &str) -> String {
    let mut line = asked.trim_start_matches(|mark: char| !mark.is_alphanumeric() && mark != '/');
    for polite in POLITE {
        if line
            .get(..polite.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(polite))
        {
            line = line[polite.len()..].trim_start();
        }
    }
    let first = find_sentence_end(line);
    let line = line[..first].trim_end_matches(['.', ':', ',', ';', '!', '?', '。', ' ']);
    let line = clip(line, characters(line, TITLE).len().max(8)).replace(['[', ']', '`', '*', '#'], "");
    let line = one_line(&line);
    let mut letters = line.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => "Session".to_owned(),
    }
}

/// Returns true if a prompt is too short to be a topic of its own.
pub fn is_short(asked: &str) -> bool {
    asked.len() < LEAST && !asked.contains(|mark: char| mark > '\u{2fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_lasting_and_names_its_subject() {
        for (remark, lasting) in [
            ("no, never log the serial numbers", true),
            ("Don’t print the serial numbers", true),
            ("no. please draw the border in grey instead", true),
            ("no pauses in tests in future", true),
            ("don't do that in future", false),
            ("From now on the panel shows litres", true),
            ("you should always close the valve", true),
            ("i prefer litres", true),
            ("no, the border stays as it is", false),
            ("no, grey is better, no need for blue", false),
            ("i don't think the border is right", false),
            ("don't do that", false),
            ("not like this, use the other one", false),
            ("no, make it 500 ms", false),
        ] {
            assert_eq!(states_rule(remark), lasting, "{remark}");
        }
    }
}
