//! Log output: level, format, destination and rotation.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use hippo_proto::LogFile;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{LogConfig, LogFormat};
use crate::service;

/// Log levels of libraries. Their messages below the level of a warning are not useful here.
const LIBRARIES: &str = "ort=warn,notify=warn,tokio_cron_scheduler=warn";

/// Log destination.
#[derive(Debug)]
pub enum LogTo {
    /// Standard error, which is a terminal or is read by a service manager that stores logs.
    StandardError,
    /// A file, rotated to FILE.old when it is large.
    File(StderrLog),
}

impl LogTo {
    /// Creates the destination for a file, and opens the file immediately. The file is rotated at this point as well,
    /// so that repeated failed starts cannot make it grow without limit.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn file(path: &Path) -> Result<Self> {
        let log =
            LogFile::open(path).with_context(|| format!("could not open the log: {}", path.display()))?;
        let mut log = StderrLog(log);
        log.turn();
        Ok(Self::File(log))
    }
}

/// Initializes logging.
pub fn log_to(settings: &LogConfig, to: LogTo) {
    match to {
        LogTo::StandardError => begin(settings, io::stderr),
        LogTo::File(log) => begin(settings, Mutex::new(log)),
    }
}

fn begin<W>(settings: &LogConfig, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(format!("{},{LIBRARIES}", settings.level))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        // By default, the subscriber panics if the log cannot be written, for instance on a full disk.
        .log_internal_errors(false);
    match settings.format {
        LogFormat::Text if service::reads_stderr() => {
            lines.event_format(service::JournalFormat::default()).init();
        }
        LogFormat::Text => lines.with_target(false).init(),
        LogFormat::Json => lines.json().with_span_list(false).init(),
    }
}

/// Log file whose rotation also redirects standard error, so that panic messages and output of libraries are written to
/// the current file.
#[derive(Debug)]
pub struct StderrLog(LogFile);

impl StderrLog {
    fn turn(&mut self) {
        if self.0.turn() {
            follow_with_standard_error(self.0.file());
        }
    }
}

impl Write for StderrLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(unix)]
fn follow_with_standard_error(file: &File) {
    // If the redirection fails, panic messages and output of libraries are still written to the rotated file.
    let _ = rustix::stdio::dup2_stderr(file);
}

#[cfg(not(unix))]
fn follow_with_standard_error(_: &File) {}
