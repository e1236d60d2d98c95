//! Log output: level, format, destination and rotation.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use hippo_proto::LogFile;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::config::LogConfig;

/// Log levels of libraries. Only their warnings and errors are useful.
const LIBRARIES: &str = "ort=warn,notify=warn,tokio_cron_scheduler=warn";

/// Initializes logging to the given file. Without a file, the log is written to standard error, which is a terminal or
/// belongs to a service manager that stores logs.
pub fn log_to(settings: &LogConfig, file: Option<StderrLog>) {
    let writer = match file {
        None => BoxMakeWriter::new(io::stderr),
        Some(file) => BoxMakeWriter::new(Mutex::new(file)),
    };
    let filter = EnvFilter::try_new(format!("{},{LIBRARIES}", settings.level))
        .unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        // Without this setting, a log that cannot be written, for instance on a full disk, would cause a panic.
        .log_internal_errors(false)
        .with_target(false);
    if is_journal() {
        lines.without_time().init();
    } else {
        lines.init();
    }
}

/// Returns whether standard error is connected to the journal of systemd, which adds the time to each line itself. The
/// variable `JOURNAL_STREAM` contains the device and the inode of the journal's stream.
fn is_journal() -> bool {
    let Ok(told) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    rustix::fs::fstat(io::stderr()).is_ok_and(|stat| told == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// Log file that is renamed to FILE.old when it is large. After that, standard error is redirected to the new file, so
/// that it also receives panic messages and the output of libraries.
#[derive(Debug)]
pub struct StderrLog(LogFile);

impl StderrLog {
    /// Opens a log file. A large file is rotated first, so that repeated failed starts cannot make it grow without
    /// limit.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let log =
            LogFile::open(path).with_context(|| format!("could not open the log: {}", path.display()))?;
        let mut log = Self(log);
        log.turn();
        Ok(log)
    }

    fn turn(&mut self) {
        if self.0.turn() {
            // If the redirection fails, the old file still receives panic messages and the output of libraries.
            let _ = rustix::stdio::dup2_stderr(self.0.file());
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
