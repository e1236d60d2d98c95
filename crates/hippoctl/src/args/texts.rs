//! Rewriting of arguments that begin with a hyphen but are text: `remember "- buy milk" --decision "-5 degrees"`.
//!
//! A command-line parser treats an argument that begins with a hyphen as an option. If the argument cannot be an
//! option, it is moved to where only a value is possible: after `--`, or after the `=` of its option.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Verbs that accept any text, each with those of its options that accept any text.
#[rustfmt::skip] // keep the list compact
const VERBS: [(&str, &[&str]); 2] = [
    ("remember", &["topic", "tags", "request", "analysis", "decision", "outcome", "feedback", "references"]),
    ("search", &[]),
];

/// Returns the command line with such texts moved to where the parser accepts them; other command lines are returned
/// unchanged.
pub fn in_their_places(command: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let Some((at, verb, open)) = verb(command, &words) else {
        return words;
    };
    let (before, rest) = words.split_at(at + 1);
    let mut options = before.to_vec();
    let mut texts: Vec<OsString> = Vec::new();
    let mut moved = false;
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            texts.extend(rest.cloned());
            break;
        }
        let Some(text) = word.to_str() else {
            texts.push(word.clone());
            continue;
        };
        if let Some(option) = option(verb, command, text) {
            options.push(word.clone());
            let takes = option.get_action().takes_values() && !text.contains('=');
            let Some(value) = takes.then(|| rest.next()).flatten() else {
                continue;
            };
            let said = value.to_str().unwrap_or_default();
            let any = option.get_long().is_some_and(|name| open.contains(&name));
            if any && said.starts_with('-') && said != "--" && self::option(verb, command, said).is_none() {
                options.pop();
                options.push(format!("{text}={said}").into());
                moved = true;
            } else {
                options.push(value.clone());
            }
        } else if text.len() > 1 && text.starts_with('-') && looks_like_an_option(text) {
            // A mistyped option: the parser reports it.
            options.push(word.clone());
        } else {
            moved |= text.len() > 1 && text.starts_with('-');
            texts.push(word.clone());
        }
    }
    if !moved {
        return words;
    }
    if !texts.is_empty() {
        options.push("--".into());
        options.extend(texts);
    }
    options
}

/// Returns the verb of a command line, if the verb accepts any text, with its position and with the options that accept
/// any text.
fn verb<'c>(
    command: &'c Command,
    words: &[OsString],
) -> Option<(usize, &'c Command, &'static [&'static str])> {
    let mut at = 1;
    loop {
        let word = words.get(at)?.to_str()?;
        match option(command, command, word) {
            Some(option) if option.get_action().takes_values() && !word.contains('=') => at += 2,
            Some(_) => at += 1,
            None => {
                let (_, open) = VERBS.iter().find(|(name, _)| *name == word)?;
                return Some((at, command.find_subcommand(word)?, open));
            }
        }
    }
}

/// Returns the option named by a word, such as `--name` or `--name=value`.
fn option<'c>(verb: &'c Command, command: &'c Command, word: &str) -> Option<&'c Arg> {
    let everywhere = command.get_arguments().filter(|arg| arg.is_global_set());
    let mut all = verb.get_arguments().chain(everywhere);
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if let Some(long) = name.strip_prefix("--") {
        return all.find(|arg| {
            arg.get_long() == Some(long)
                || arg
                    .get_all_aliases()
                    .is_some_and(|aliases| aliases.contains(&long))
        });
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let short = letters.next()?;
    // `-n3` is an option with its value.
    all.find(|arg| arg.get_short() == Some(short) && letters.as_str().is_empty())
}

/// Returns whether a word consists of one or two hyphens, a name, and optionally a value.
fn looks_like_an_option(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    let name = name.map_or("", |rest| rest.split_once('=').map_or(rest, |(name, _)| name));
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn placed(words: &[&str]) -> Vec<String> {
        let command = Cli::command();
        let words = ["hippoctl"].iter().chain(words).map(OsString::from).collect();
        let placed = in_their_places(&command, words).into_iter().skip(1);
        placed.map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn words_that_are_not_options_are_text() {
        let table: [(&[&str], &[&str]); 9] = [
            (&["remember", "- buy milk"], &["remember", "--", "- buy milk"]),
            (
                &[
                    "--json",
                    "--workspace",
                    "/w",
                    "remember",
                    "-5",
                    "degrees",
                    "--topic",
                    "T",
                    "--no-start",
                ],
                &[
                    "--json",
                    "--workspace",
                    "/w",
                    "remember",
                    "--topic",
                    "T",
                    "--no-start",
                    "--",
                    "-5",
                    "degrees",
                ],
            ),
            (
                &["remember", "--decision", "-5 degrees", "x"],
                &["remember", "--decision=-5 degrees", "--", "x"],
            ),
            (
                &["remember", "--decision", "--force-with-lease"],
                &["remember", "--decision=--force-with-lease"],
            ),
            (&["remember", "--tags", "-a,b"], &["remember", "--tags=-a,b"]),
            (
                &["remember", "---", "--pri", "high"],
                &["remember", "--pri", "high", "--", "---"],
            ),
            (
                &["remember", "-x ray", "--", "--topic"],
                &["remember", "--", "-x ray", "--topic"],
            ),
            (
                &["remember", "--outcome was good"],
                &["remember", "--", "--outcome was good"],
            ),
            (
                &["search", "-n", "3", "-5 degrees"],
                &["search", "-n", "3", "--", "-5 degrees"],
            ),
        ];
        for (words, expected) in table {
            assert_eq!(placed(words), expected, "{words:?}");
        }
    }

    #[test]
    fn valid_options_and_other_words_are_unchanged() {
        let table: [&[&str]; 12] = [
            &["remember", "never", "on", "--type", "feedback", "Fridays"],
            &["remember", "--decision", "--topic", "T"],
            &["remember", "--decision", "--", "x"],
            &["remember", "--topci", "T", "x"],
            &["remember", "-v"],
            &["remember", "--help"],
            &["remember", "-", "--topic", "T"],
            &["remember", "--", "-", "a"],
            &["remember", "--decision=-5 degrees"],
            &["remember", "--type", "-5"],
            &["search", "x", "-n3"],
            &["context", "put", "- x"],
        ];
        for words in table {
            assert_eq!(placed(words), words, "{words:?}");
        }
        assert_eq!(placed(&[]), [""; 0]);
    }
}
