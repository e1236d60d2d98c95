//! Benchmarks on external data, and the simulation of a year.

mod bench;
mod edit;
mod house;
mod questions;
mod scratch;
mod setup;
mod simulate;
mod terminal;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::house::ProjectDirs;

const USAGE: &str = "\
usage: cargo lab TASK

  bench     run the benchmarks: --eval DIR (or HIPPOD_EVAL) [--only NAME,…] [--idle-secs N] [--keep DIR]
  questions measure retrieval with the questions in FILE on the running daemon; --help lists the options
  simulate  simulate a year of an agent, and write the figures and tables of docs/simulation.md [--seed N]
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::note(format_args!("\nlab: {error:#}"));
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
    match task {
        "help" | "-h" | "--help" => {
            terminal::say(format_args!("{}", USAGE.trim_end()));
            Ok(())
        }
        "bench" => bench::run(&ProjectDirs::find()?, rest),
        "questions" => questions::run(rest),
        "simulate" => simulate::run(&ProjectDirs::find()?, rest),
        unknown => bail!("unknown task: {unknown}\n\n{USAGE}"),
    }
}
