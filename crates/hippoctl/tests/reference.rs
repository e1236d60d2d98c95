//! Reference of the command line: docs/cli.md, manual pages and completions.
//!
//! The reference is generated from the same definitions that the programs use to parse their arguments. With
//! `UPDATE=1`, the test writes docs/cli.md. The variable `HIPPOD_PAGES` names the folder into which the test writes the
//! manual pages and completions. `cargo xtask dist` adds this folder to the packages.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use hippoctl::args::Cli;

// The source file of hippod is included, because hippoctl does not depend on the crate hippod.
#[path = "../../hippod/src/arguments.rs"]
#[allow(dead_code, reason = "this test uses only the grammar and parses nothing")]
mod arguments;

/// The path of the reference.
const PLACE: &str = "docs/cli.md";
const BEGINNING: &str = "\
# The command line

This page contains the help text of every verb. `cargo xtask docs` generates the page from the argument parsers, and a test checks that it is current.
";

/// Returns the file name and the content of each manual page. There is one page for each program and for each verb.
fn manual() -> Vec<(String, Vec<u8>)> {
    let mut pages = Vec::new();
    for program in programs() {
        add_pages(&program, &mut pages);
    }
    pages
}

fn add_pages(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) {
    let man = Man::new(command.clone()).manual("hippod");
    let mut bytes = Vec::new();
    man.render(&mut bytes).expect("a page is written into memory");
    pages.push((man.get_filename(), bytes));
    shown(command).for_each(|verb| add_pages(verb, pages));
}

/// Returns the reference in markdown.
fn markdown() -> String {
    let mut text = BEGINNING.to_owned();
    for program in programs() {
        describe(&program, &mut text);
    }
    text
}

fn programs() -> [Command; 2] {
    [Cli::command(), arguments::DaemonArguments::command()].map(|program| {
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
    // Writing to a string cannot fail.
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

/// Returns an argument as one row of a table.
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

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[test]
fn the_reference_matches_the_argument_parsers() {
    let place = path(PLACE);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&place, markdown()).unwrap();
    }
    let kept = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(kept == markdown(), "{PLACE} is not up to date: cargo xtask docs");
}

#[test]
fn every_verb_has_a_manual_page() {
    let pages = manual();
    let page = |name: &str| {
        let page = pages.iter().find(|page| page.0 == name);
        String::from_utf8(page.unwrap_or_else(|| panic!("{name}")).1.clone()).unwrap()
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

#[test]
fn manual_pages_and_completions_are_written_for_packages() {
    let temporary = tempfile::tempdir().unwrap();
    let given = std::env::var_os("HIPPOD_PAGES");
    let folder = given.as_deref().map_or(temporary.path(), Path::new);
    std::fs::create_dir_all(folder.join("man")).unwrap();
    for (name, bytes) in manual() {
        std::fs::write(folder.join("man").join(name), bytes).unwrap();
    }
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let place = folder.join(shell.to_string());
        std::fs::create_dir_all(&place).unwrap();
        for mut program in programs() {
            let name = program.get_name().to_owned();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut program, &name, &mut script);
            assert!(!script.is_empty());
            std::fs::write(place.join(name), script).unwrap();
        }
    }
    assert!(folder.join("zsh/hippod").is_file());
}
