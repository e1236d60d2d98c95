//! Tests of the examples in help texts.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, outside the functions that clippy knows as tests"
)]

use clap::{Command, CommandFactory};
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
