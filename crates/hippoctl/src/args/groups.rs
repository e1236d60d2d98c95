//! Groups of verbs in `--help`

use clap::{Command, CommandFactory};

use super::Cli;

/// The verbs by group, in the order in which `--help` lists them.
#[rustfmt::skip] // keep the list compact
const GROUPS: [(&str, &[&str]); 6] = [
    ("Search and read", &["search", "get", "ui"]),
    ("Write", &["remember", "ingest", "import"]),
    ("The map", &["index", "consolidate", "tree"]),
    ("Sessions of agents", &["context", "compact", "prompt", "why", "heartbeat", "mcp"]),
    ("Upkeep", &["status", "top", "doctor", "sync", "sync-check", "backup", "restore"]),
    ("Setup", &["init", "workspace", "share", "model", "service", "demo"]),
];

/// Returns the grammar of the command line, with the verbs grouped for `--help`. The verb is optional, because
/// `--completions` works without a verb.
pub fn command() -> Command {
    let command = Cli::command();
    let mut listed = String::new();
    for (title, names) in GROUPS {
        listed += &format!("\n{title}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            listed += &format!(
                "  {name:<11} {}\n",
                about.map(ToString::to_string).unwrap_or_default()
            );
        }
    }
    let command = command.override_usage("hippoctl [OPTIONS] <VERB>");
    command.subcommand_required(false).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{listed}\n`hippoctl VERB --help` describes a verb.\n\nOptions:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group_and_there_are_at_most_28() {
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let plain = Cli::command();
        let verbs = plain.get_subcommands().filter(|verb| !verb.is_hide_set());
        let verbs: Vec<&str> = verbs.map(Command::get_name).collect();
        assert_eq!(
            grouped, verbs,
            "the order of the groups is the order of the verbs"
        );
        assert!(verbs.len() <= 28, "{}", verbs.len());
        let help = command().render_help().to_string();
        assert!(help.contains("\nUpkeep:\n  status "), "{help}");
        assert!(help.contains("\nOptions:\n      --json "), "{help}");
    }
}
