//! Log output: level, format, destination and rotation.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use hippo_proto::LogFile;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::config::LogConfig;

/// Log levels of libraries. Their messages below the level of a warning are not useful here.
const LIBRARIES: &str = "ort=warn,notify=warn,tokio_cron_scheduler=warn";

/// Initializes logging to a file, or to standard error, which is a terminal or is read by a service manager that stores
/// logs.
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
        // By default, the subscriber panics if the log cannot be written, for instance on a full disk.
        .log_internal_errors(false)
        .with_target(false);
    if is_journal() {
        lines.without_time().init();
    } else {
        lines.init();
    }
}

/// Returns whether standard error is connected to the journal of systemd, which adds the time to each line. The
/// variable contains the device and inode of the stream.
fn is_journal() -> bool {
    let Ok(told) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    rustix::fs::fstat(io::stderr()).is_ok_and(|stat| told == format!("{}:{}", stat.st_dev, stat.st_ino))
}

/// Log file that is rotated to FILE.old when it is large. The rotation redirects standard error to the new file, so that
/// panic messages and output of libraries are written there.
#[derive(Debug)]
pub struct StderrLog(LogFile);

impl StderrLog {
    /// Opens a log file. The file is rotated at this point as well, so that repeated failed starts cannot make it grow
    /// without limit.
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
            // If the redirection fails, panic messages and output of libraries are still written to the rotated file.
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
