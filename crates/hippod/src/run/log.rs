//! What is logged, in which form, and where to, so that it stays within bounds?

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use hippo_proto::LogFile;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{Log, LogFormat};
use crate::service;

/// What libraries say below a warning is of no use to who reads the log of hippod.
const LIBRARIES: &str = "ort=warn,notify=warn,tokio_cron_scheduler=warn";

/// Where to.
#[derive(Debug)]
pub enum LogTo {
    /// To who started the daemon: a terminal, or a service manager that keeps logs.
    StandardError,
    /// To a file that is set aside when it is large, as FILE.old.
    File(Followed),
}

impl LogTo {
    /// To this file, which is opened at once: what fails before anything is logged finds room in it, however often.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn file(path: &Path) -> Result<Self> {
        let log =
            LogFile::open(path).with_context(|| format!("could not open the log: {}", path.display()))?;
        let mut log = Followed(log);
        log.turn();
        Ok(Self::File(log))
    }
}

/// Has everything that the daemon says go where it should, from here on.
pub fn log_to(settings: &Log, to: LogTo) {
    match to {
        LogTo::StandardError => begin(settings, io::stderr),
        LogTo::File(log) => begin(settings, Mutex::new(log)),
    }
}

fn begin<W>(settings: &Log, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(format!("{},{LIBRARIES}", settings.level))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        // The other way panics where the log cannot be written, on a full disk for instance.
        .log_internal_errors(false);
    match settings.format {
        LogFormat::Text if service::reads_stderr() => {
            lines.event_format(service::Lines::default()).init();
        }
        LogFormat::Text => lines.with_target(false).init(),
        LogFormat::Json => lines.json().with_span_list(false).init(),
    }
}

/// A log that standard error follows when it is begun anew: the last words of a panic, and what libraries print, stand in the log
/// that is read.
#[derive(Debug)]
pub struct Followed(LogFile);

impl Followed {
    fn turn(&mut self) {
        if self.0.turn() {
            follow_with_standard_error(self.0.file());
        }
    }
}

impl Write for Followed {
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
    // Where this fails, they stand in the log that was set aside.
    let _ = rustix::stdio::dup2_stderr(file);
}

#[cfg(not(unix))]
fn follow_with_standard_error(_: &File) {}
