//! What do the programs say of their own words: docs/cli.md, manual pages, completions?

use std::fmt::Write;

use anyhow::{Context, Result};
use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use hippoctl::args::{Cli, ShellArg};

use crate::house::House;
use crate::terminal::say;

// Its own file and not its crate: the whole daemon would have to be built for every task.
#[path = "../../crates/hippod/src/arguments.rs"]
#[allow(dead_code, reason = "only the grammar is asked for, nothing is parsed")]
mod arguments;

/// Where the reference is kept.
const PLACE: &str = "docs/cli.md";
const BEGINNING: &str = "\
# The command line

What `--help` says, of every verb. `cargo xtask docs` writes this page from the definitions that the programs parse by; a test compares them.
";

/// Writes the reference anew.
///
/// # Errors
/// It cannot be written.
pub fn write(house: &House) -> Result<()> {
    let place = house.root.join(PLACE);
    std::fs::write(&place, markdown()).with_context(|| format!("could not write {}", place.display()))?;
    say(format_args!("written: {}", place.display()));
    Ok(())
}

/// A generated file.
pub struct Page {
    /// Its name, such as `hippoctl-search.1`.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The manual pages: one for each program and each verb.
///
/// # Errors
/// One cannot be made.
pub fn manual() -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for program in programs() {
        add_pages(&program, &mut pages)?;
    }
    Ok(pages)
}

fn add_pages(command: &Command, pages: &mut Vec<Page>) -> Result<()> {
    let man = Man::new(command.clone()).manual("hippod");
    let mut bytes = Vec::new();
    let name = man.get_filename();
    man.render(&mut bytes)
        .with_context(|| format!("could not make the manual page {name}"))?;
    pages.push(Page { name, bytes });
    shown(command).try_for_each(|verb| add_pages(verb, pages))
}

/// The completions of a shell: the program's name, and its script.
pub fn completions(shell: ShellArg) -> impl Iterator<Item = Page> {
    programs().into_iter().map(move |mut program| Page {
        bytes: shell.script(&mut program),
        name: program.get_name().to_owned(),
    })
}

/// The reference.
fn markdown() -> String {
    let mut text = BEGINNING.to_owned();
    for program in programs() {
        describe(&program, &mut text);
    }
    text
}

fn programs() -> [Command; 2] {
    [Cli::command(), arguments::Arguments::command()].map(|program| {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        program
    })
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

fn describe(command: &Command, text: &mut String) {
    let is_program = command.get_bin_name().is_none_or(|name| !name.contains(' '));
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let level = if is_program { "##" } else { "###" };
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    // Writing into a string does not fail.
    let _ = write!(
        text,
        "\n{level} `{name}`\n\n{}\n\n```\n{usage}\n```\n",
        about.trim()
    );
    let own = |arg: &&Arg| {
        let everywhere = arg.is_global_set() && !is_program;
        let of_clap = matches!(arg.get_id().as_str(), "help" | "version");
        !everywhere && !of_clap && !arg.is_hide_set()
    };
    let rows: Vec<String> = command.get_arguments().filter(own).map(row).collect();
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n| argument | | default |\n|---|---|---|\n{}",
            rows.concat()
        );
    }
    if let Some(after) = command.get_after_help() {
        let after = after.to_string();
        let _ = match after.strip_prefix("Exit: ") {
            Some(status) => write!(text, "\nExit status: {status}.\n"),
            None => write!(text, "\n```\n{}\n```\n", after.trim()),
        };
    }
    shown(command).for_each(|verb| describe(verb, text));
}

/// One argument as a row of a table.
fn row(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let many = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
    let dots = if many { "…" } else { "" };
    let values: Vec<String> = names.iter().map(|name| format!("{name}{dots}")).collect();
    let takes = arg.get_action().takes_values();
    let mut written: Vec<String> = Vec::new();
    written.extend(arg.get_short().map(|short| format!("-{short}")));
    written.extend(arg.get_long().map(|long| format!("--{long}")));
    let mut written = written.join(", ");
    if takes {
        let space = if written.is_empty() { "" } else { " " };
        let _ = write!(written, "{space}{}", values.join(" "));
    }
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let (help, told) = match help.rsplit_once(" [default: ") {
        Some((help, default)) => (help, default.trim_end_matches(']').to_owned()),
        None => (help.as_str(), String::new()),
    };
    let mut help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let choices = arg.get_possible_values().into_iter();
    let choices = choices.filter(|choice| takes && !choice.is_hide_set());
    let choices: Vec<String> = choices
        .map(|choice| match choice.get_help() {
            Some(what) => format!("`{}`: {what}", choice.get_name()),
            None => format!("`{}`", choice.get_name()),
        })
        .collect();
    if !choices.is_empty() {
        let _ = write!(help, ". {}", choices.join("; "));
    }
    let set: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| takes)
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let default = if set.is_empty() { told } else { set.join(" ") };
    let needed = if arg.is_required_set() { "needed" } else { &default };
    let cell = |text: &str| text.replace('|', "\\|");
    format!("| `{written}` | {} | {} |\n", cell(&help), cell(needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_what_the_programs_parse_by() {
        let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(PLACE);
        let kept = std::fs::read_to_string(&place).unwrap_or_default();
        assert!(kept == markdown(), "{PLACE} is not up to date: cargo xtask docs");
    }

    #[test]
    fn every_verb_has_a_manual_page() {
        let pages = manual().unwrap();
        let page = |name: &str| {
            let page = pages.iter().find(|page| page.name == name);
            String::from_utf8(page.unwrap_or_else(|| panic!("{name}")).bytes.clone()).unwrap()
        };
        assert!(page("hippod-run.1").contains("config"));
        let search = page("hippoctl-search.1");
        assert!(
            search.contains(".SH SYNOPSIS") && search.contains("plain words"),
            "{search}"
        );
        for name in ["hippod.1", "hippoctl.1", "hippoctl-index-list.1"] {
            assert!(
                page(name).starts_with(".ie") || page(name).contains(".TH "),
                "{name}"
            );
        }
    }
}
