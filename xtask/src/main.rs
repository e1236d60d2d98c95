//! Project tasks: `cargo xtask TASK`.

mod attack;
mod count;
mod demo;
mod dist;
mod house;
mod node;
mod pictures;
mod prerequisites;
mod python;
mod setup;
mod targets;
mod terminal;
mod test;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::house::ProjectFolders;

const USAGE: &str = "\
usage: cargo xtask TASK

  demo      build, download the model, and run `hippoctl demo`
  test      run the gate: set-up, format, lints, tests, documentation
  attack    run the attacks of tests/attacks for a limited time: [--only NAME,…] [--minutes N] [--seed N]
  schema    generate the JSON Schema of the protocol, and the types of the clients, from the Rust types
  dist      build the packages: an archive and a .deb [--arch x86_64|aarch64] [--out DIR]
            --check builds them in two folders, compares them, and tries the .deb as --try does
            --try DEB installs a package in a fresh Debian without a network, asks questions, and removes it
  count     count the lines of code, documentation and tests of each crate
  pictures  record the terminal session and take the screenshot of the README
  docs      write docs/cli.md from the argument parsers, and the settings in docs/configuration.md
  setup     check the prerequisites; download the runtime library and the model into the cache
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::note(format_args!("\nxtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", &arguments[..]),
    };
    if matches!(task, "help" | "-h" | "--help") {
        terminal::say(format_args!("{}", USAGE.trim_end()));
        return Ok(());
    }
    let house = ProjectFolders::find()?;
    if task == "attack" {
        return attack::run(&house, rest);
    }
    if task == "dist" {
        return dist::run(&house, rest);
    }
    if let Some(unknown) = rest.first() {
        bail!("unknown argument of {task}: {unknown}\n\n{USAGE}");
    }
    match task {
        "count" => count::run(&house),
        "demo" => demo::run(&house),
        "test" => test::run(&house),
        "docs" => {
            write(
                &house,
                "reference",
                "the_reference_matches_the_argument_parsers",
                &[],
            )?;
            write(&house, "tidy", "the_documented_settings_are_up_to_date", &[])
        }
        "pictures" => pictures::run(&house),
        "schema" => write(&house, "tidy", "generated::", &[]),
        "setup" => {
            prerequisites::provide_strace();
            setup::provide_postgres(&house)?;
            setup::obtain(&house, &setup::build(&house)?).map(drop)
        }
        unknown => bail!("unknown task: {unknown}\n\n{USAGE}"),
    }
}

/// Writes generated files. Runs the tests that normally check these files, with the variable `UPDATE` and others set.
fn write(house: &ProjectFolders, target: &str, tests: &str, variables: &[(&str, &Path)]) -> Result<()> {
    let mut command = house.cargo();
    command.args(["test", "--quiet", "--workspace", "--test", target, tests]);
    command.envs(variables.iter().copied());
    house::run(command.env("UPDATE", "1"))
}
