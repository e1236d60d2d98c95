//! Completion scripts of shells

use clap::{Command, ValueEnum};
use clap_complete::Shell;

/// A shell for which a completion script can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    /// Bash, with the package bash-completion
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

impl ShellArg {
    /// Returns the completion script for a program, generated from its command-line grammar.
    pub fn script(self, command: &mut Command) -> Vec<u8> {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        let shell = match self {
            Self::Bash => Shell::Bash,
            Self::Zsh => Shell::Zsh,
            Self::Fish => Shell::Fish,
        };
        clap_complete::generate(shell, command, name, &mut script);
        script
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_completion_script_contains_verbs_and_options() {
        for shell in ShellArg::value_variants() {
            let script = String::from_utf8(shell.script(&mut Cli::command())).unwrap();
            for word in ["consolidate", "min-score", "claude-code", "completions"] {
                assert!(script.contains(word), "{shell:?}: {word}");
            }
        }
    }
}
