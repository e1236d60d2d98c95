//! What is logged, in which form, and where to, so that it stays within bounds?

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{Log, LogFormat};
use crate::service;

/// A log of this size is set aside, in the place of the one that was set aside before (bytes).
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// What libraries say below a warning is of no use to who reads the log of hippod.
const LIBRARIES: &str = "ort=warn,notify=warn,tokio_cron_scheduler=warn";

/// Where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTo {
    /// To who started the daemon: a terminal, or a service manager that keeps logs.
    StandardError,
    /// To a file that is set aside when it is large, as FILE.old.
    File(PathBuf),
}

/// Has everything that the daemon says go where it should, from here on.
///
/// # Errors
/// The file cannot be opened.
pub fn log_to(settings: &Log, to: LogTo) -> Result<()> {
    match to {
        LogTo::StandardError => begin(settings, io::stderr),
        LogTo::File(path) => begin(settings, Mutex::new(LogFile::open(&path, MOST_BYTES)?)),
    }
    Ok(())
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

/// A file that is appended to, and set aside when it is large.
struct LogFile {
    path: PathBuf,
    file: File,
    length: u64,
    most: u64,
    /// Standard error goes into the same file.
    with_standard_error: bool,
}

impl LogFile {
    fn open(path: &Path, most: u64) -> Result<Self> {
        let what = || format!("could not open the log: {}", path.display());
        let file = append_to(path).with_context(what)?;
        let length = file.metadata().with_context(what)?.len();
        let path = path.to_path_buf();
        Ok(Self {
            path,
            file,
            length,
            most,
            with_standard_error: true,
        })
    }

    /// Begins a new file. Where that fails, the old one goes on to be written: a log too long is better than none.
    fn set_aside(&mut self) {
        let mut old = self.path.clone().into_os_string();
        old.push(".old");
        if fs::rename(&self.path, old).is_err() {
            return;
        }
        if let Ok(file) = append_to(&self.path) {
            if self.with_standard_error {
                follow_with_standard_error(&file);
            }
            (self.file, self.length) = (file, 0);
        }
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length >= self.most {
            self.set_aside();
        }
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The last words of a panic, and what libraries print, stand in the log that is read.
#[cfg(unix)]
fn follow_with_standard_error(file: &File) {
    // Where this fails, they stand in the log that was set aside.
    let _ = rustix::stdio::dup2_stderr(file);
}

#[cfg(not(unix))]
fn follow_with_standard_error(_: &File) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_never_takes_more_than_twice_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hippod.log");
        let mut log = LogFile {
            path: path.clone(),
            file: append_to(&path).unwrap(),
            length: 0,
            most: 100,
            with_standard_error: false,
        };
        for number in 0..9 {
            writeln!(log, "{number:>49}").unwrap();
        }
        let old = fs::read_to_string(folder.path().join("hippod.log.old")).unwrap();
        let new = fs::read_to_string(&path).unwrap();
        assert!(
            old.len() <= 150 && new.len() <= 150,
            "{} {}",
            old.len(),
            new.len()
        );
        assert!(new.ends_with("8\n"), "{new}");
        assert!(old.trim_end().ends_with('7') || new.contains('7'));
    }
}
