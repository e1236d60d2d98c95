//! Command-line client of hippod.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod connect;
mod failure;
mod git;
mod harness;
#[cfg(test)]
#[allow(dead_code, reason = "only the fuzz tests use the whole module")]
#[path = "../../../fuzz/tests/inputs/mod.rs"]
mod inputs;
mod launch;
mod live;
mod mcp;
mod output;
mod render;
mod service;
#[cfg(test)]
mod shell;
mod ui;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use clap_complete::Shell;

use connect::DaemonSession;
use failure::Failure;
use hippoctl::args::{self, Cli, ProgressMode, Verb, WorkspaceVerb};
use output::{Output, ProgressOutput};

fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let json = given.iter().any(|word| word == "--json");
    let is_hook = verbs::hook::is_asked_for(&given);
    let mut command = args::command().version(hippo_version::VERSION);
    let parsed = command.clone().try_get_matches_from(given);
    if let Ok(given) = &parsed
        && let Some(shell) = given.get_one::<Shell>("completions")
    {
        let mut out = Output::from_terminal(false);
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "hippoctl", &mut script);
        return ended(out.data(&script).and_then(|()| out.finish()), &mut out);
    }
    let cli = match parsed.and_then(|given| Cli::from_arg_matches(&given)) {
        Ok(cli) => cli,
        Err(error) => {
            let error = error.format(&mut command);
            if json && error.use_stderr() {
                Output::from_terminal(true).failure(&Failure::usage(&error));
            } else {
                // The reader may close the pipe while help is printed. This is not a failure.
                let _ = error.print();
            }
            // Some harnesses treat exit code 2 of a hook as a veto. Therefore, `hippoctl hook` exits with 0 even after
            // a usage error.
            if is_hook {
                return ExitCode::SUCCESS;
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if let Verb::Hook(args) = cli.verb {
        verbs::hook::hook(&cli.global, args);
        return ExitCode::SUCCESS;
    }
    let mut out = Output::from_terminal(cli.global.json);
    if cli.global.progress == ProgressMode::Plain {
        out.progress = ProgressOutput::Lines;
    }
    let done = run(cli, &mut out).and_then(|()| out.finish());
    ended(done, &mut out)
}

/// Returns the exit code for the result of a verb. Prints the failure, if there is one.
fn ended(done: Result<(), Failure>, out: &mut Output) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            out.failure(&failure);
            failure.exit.into()
        }
    }
}

fn run(cli: Cli, out: &mut Output) -> Result<(), Failure> {
    let mut session = DaemonSession::new(cli.global)?;
    if !matches!(cli.verb, Verb::Search(_)) {
        // Some verbs do not use the workspace, and would ignore several workspaces.
        session.given_workspace()?;
    }
    match cli.verb {
        Verb::Init(args) => verbs::init::init(&mut session, args, out),
        Verb::Status(args) => verbs::daemon::status(&mut session, &args, out),
        Verb::Top => verbs::top::top(&mut session, out),
        Verb::Service { verb } => verbs::service::service(&mut session, &verb, out),
        Verb::Doctor(args) => verbs::daemon::doctor(&mut session, &args, out),
        Verb::Share { verb } => verbs::share::share(&mut session, verb, out),
        Verb::Workspace { verb } => match verb {
            WorkspaceVerb::Add { dir } => verbs::workspace::add(&mut session, dir, out),
            WorkspaceVerb::Trust(args) => verbs::trust::trust(&mut session, args, out),
            WorkspaceVerb::List => verbs::workspace::list(&mut session, out),
            WorkspaceVerb::Remove { dir, purge } => verbs::workspace::remove(&mut session, dir, purge, out),
        },
        Verb::Sync(args) => verbs::workspace::sync(&mut session, &args, out),
        Verb::SyncCheck(args) => verbs::sync_check::sync_check(&session, &args, out),
        Verb::MergeDriver(args) => verbs::merge_driver::merge_driver(&args),
        Verb::Search(args) => verbs::search::search(&mut session, args, out),
        Verb::Get { target } => verbs::get::get(&mut session, &target, out),
        Verb::Index { verb } => verbs::index::index(&mut session, verb, out),
        Verb::Remember(args) => verbs::remember::remember(&mut session, args, out),
        Verb::Consolidate { verb } => verbs::cycle::consolidate(&mut session, verb, out),
        Verb::Heartbeat => verbs::cycle::heartbeat(&mut session, out),
        Verb::Context { verb } => verbs::context::context(&mut session, verb, out),
        Verb::Compact(args) => verbs::compact::compact(&mut session, &args, out),
        Verb::Tree { verb } => verbs::tree::tree(&mut session, verb, out),
        // `hook` is handled earlier, before a session is created.
        Verb::Hook(_) => Ok(()),
        Verb::Prompt { platform } => verbs::prompt::print_prompt(&session, platform, out),
        Verb::Ui(args) => verbs::ui::ui(&mut session, &args, out),
        Verb::Why(args) => verbs::why::why(&mut session, args, out),
        Verb::Ingest(args) => verbs::ingest::ingest(&mut session, &args, out),
        Verb::Import(args) => verbs::import::import(&mut session, &args, out),
        Verb::Mcp => mcp::mcp(session),
        Verb::Model { verb } => verbs::model::model(&mut session, verb, out),
        Verb::Demo => verbs::demo::demo(&session, out),
        Verb::Backup(args) => verbs::backup::backup(&mut session, args, out),
        Verb::Restore(args) => verbs::backup::restore(&mut session, &args, out),
    }
}
