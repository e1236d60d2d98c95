//! Tests of the examples in help texts.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use clap::{Command, CommandFactory, Parser as _};
use hippoctl::args::Cli;

fn each(command: &Command, path: &str, check: &mut dyn FnMut(&Command, &str)) {
    check(command, path);
    for verb in command.get_subcommands() {
        each(verb, &format!("{path} {}", verb.get_name()), check);
    }
}

#[test]
fn no_example_is_wrapped_in_a_terminal_of_80_columns() {
    let mut examples = 0;
    each(&Cli::command(), "hippoctl", &mut |command, path| {
        let Some(text) = command.get_after_help().map(ToString::to_string) else {
            return;
        };
        let help = command.clone().term_width(80).render_long_help().to_string();
        for line in text.lines().filter(|line| line.starts_with("  ")) {
            examples += 1;
            assert!(line.chars().count() <= 80, "{path}: {line}");
            assert!(help.lines().any(|shown| shown == line), "{path}: {line}\n{help}");
            // If a line has an odd number of quotes, the quoted text continues on the next line.
            for quote in ['"', '\''] {
                let count = line.matches(quote).count();
                assert!(count % 2 == 0 || line.contains('…'), "{path}: {line}");
            }
        }
    });
    assert!(examples > 30, "{examples}");
}

#[test]
fn the_help_of_each_verb_has_examples_that_parse() {
    for verb in Cli::command().get_subcommands() {
        let text = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        let begin = format!("  hippoctl {}", verb.get_name());
        let is_example = |line: &&str| line.starts_with("  ") && line.contains(begin.trim_start());
        assert!(
            text.lines().any(|line| is_example(&line)),
            "{}: {text}",
            verb.get_name()
        );
        // Comments, pipes and continued lines are for the shell.
        let lines = text.lines().filter(|line| line.starts_with(&begin));
        for line in lines.filter(|line| !line.contains(['|', '<', '>', '&', '\\'])) {
            let command = line.trim_start().split("   ").next().unwrap_or(line);
            let mut words: Vec<String> = Vec::new();
            for (at, part) in command.split(['"', '\'']).enumerate() {
                match at % 2 {
                    0 => words.extend(part.split_whitespace().map(str::to_owned)),
                    _ => words.push(part.to_owned()),
                }
            }
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
        }
    }
}
