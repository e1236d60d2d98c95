//! Entry point: `hippod run` serves in the foreground.

mod arguments;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{CommandFactory as _, FromArgMatches as _};
use tokio::signal::unix::{SignalKind, signal};

use hippo_proto::Paths;
use hippod::clock::SystemClock;
use hippod::config::Config;
use hippod::service;
use hippod::{DaemonOptions, StderrLog, log_to, run};

use arguments::{Command, DaemonArguments};

fn main() -> ExitCode {
    let matches = DaemonArguments::command()
        .version(hippo_version::VERSION)
        .get_matches();
    let Command::Run {
        config,
        socket,
        log_file,
    } = DaemonArguments::from_arg_matches(&matches)
        .unwrap_or_else(|error| error.exit())
        .command;
    match start(config, socket, log_file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the error cannot be reported.
            let _ = writeln!(std::io::stderr(), "hippod: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(config_file: Option<PathBuf>, socket: Option<PathBuf>, log_file: Option<PathBuf>) -> Result<()> {
    let log = log_file.map(|path| StderrLog::open(&path)).transpose()?;
    let mut paths = Paths::resolve(|name| std::env::var_os(name))?;
    // A package contains the model and the runtime library.
    paths.shipped = std::env::current_exe()
        .ok()
        .as_deref()
        .and_then(Paths::shipped_with);
    if let Some(file) = config_file {
        paths.config_file = file;
    }
    if let Some(socket) = socket {
        paths.socket = std::path::absolute(&socket)
            .with_context(|| format!("could not use the socket path: {}", socket.display()))?;
    }
    let config = Config::load(&paths.config_file, std::env::vars_os())?;
    log_to(&config.log, log);
    let passed = service::passed()?;
    if let Some(passed) = &passed {
        if passed.path != paths.socket {
            tracing::warn!(
                expected = %paths.socket.display(),
                passed = %passed.path.display(),
                "clients connect to a different socket than the one that the service manager passed; set ListenStream= in the \
                 socket unit to the expected path"
            );
        }
        paths.socket.clone_from(&passed.path);
    }
    let clock = Arc::new(SystemClock::new(config.search.time_zone()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .enable_all()
        .build()
        .context("could not start the threads of hippod")?;
    let result = runtime.block_on(async {
        let what = "could not listen for signals";
        let mut terminate = signal(SignalKind::terminate()).context(what)?;
        let mut interrupt = signal(SignalKind::interrupt()).context(what)?;
        let stopped = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let options = DaemonOptions {
            config,
            paths,
            clock,
            passed,
        };
        run(options, stopped).await
    });
    // Exit without waiting for tasks that are still running.
    runtime.shutdown_background();
    result
}
