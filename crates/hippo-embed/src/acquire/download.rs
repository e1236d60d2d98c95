//! Download of a pinned file by HTTP, which continues after an interruption.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{Response, StatusCode, header};

use super::AcquireError;
use super::extract::file_sha256;

/// Maximum time for finding and connecting to a server.
const CONNECT: Duration = Duration::from_secs(15);
/// Number of consecutive attempts without new data after which a download fails.
const ATTEMPTS: u32 = 3;
/// Pause after the first attempt without new data. Each further pause is longer by this time.
const PAUSE: Duration = Duration::from_millis(300);
const BLOCK: usize = 1 << 16;

/// A file to download.
pub(super) struct Download<'a> {
    pub(super) url: &'a str,
    /// Size in bytes.
    pub(super) size: u64,
    /// SHA-256, lower-case hexadecimal.
    pub(super) sha256: &'a str,
    /// Time without data after which an attempt fails.
    pub(super) patience: Duration,
}

/// The reason why an attempt failed, and whether another attempt can succeed.
struct Interruption {
    reason: String,
    again: bool,
}

impl Download<'_> {
    /// Downloads the file to `place`. An existing file at `place` is the beginning of the file, and the download
    /// continues after it. The file stays at `place` after an interruption, and is removed if its content is wrong.
    /// Calls `tick` with the number of bytes so far; if `tick` returns an error, the download stops.
    pub(super) fn run(
        &self,
        place: &Path,
        tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
    ) -> Result<(), AcquireError> {
        let write_error = |e| AcquireError::io("write", place, e);
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(place)
            .map_err(write_error)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(self.failed("another process downloads the file"));
        }
        let done = self.complete(&mut file, place, tick);
        if length(&file) == 0 {
            // Nothing was downloaded, so the next download has nothing to continue.
            let _ = fs::remove_file(place);
        }
        done
    }

    /// Sends requests until the file has its full size, and checks its content.
    fn complete(
        &self,
        file: &mut File,
        place: &Path,
        tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
    ) -> Result<(), AcquireError> {
        let (mut attempts, mut most) = (0, length(file));
        while length(file) != self.size {
            let Some(stop) = self.attempt(file, place, tick)? else {
                continue;
            };
            let stored = length(file);
            attempts = if stored > most { 0 } else { attempts + 1 };
            most = most.max(stored);
            if stop.again && attempts < ATTEMPTS {
                thread::sleep(PAUSE * attempts);
                continue;
            }
            let size = self.size;
            return Err(self.failed(match stored {
                0 => stop.reason,
                _ => format!(
                    "{} ({stored} of {size} bytes are stored, and the next download continues there)",
                    stop.reason
                ),
            }));
        }
        file.sync_all().map_err(|e| AcquireError::io("write", place, e))?;
        let found = file_sha256(place)?;
        if found == self.sha256 {
            return Ok(());
        }
        fs::remove_file(place).map_err(|e| AcquireError::io("remove", place, e))?;
        let expected = self.sha256;
        Err(self.failed(format!(
            "its SHA-256 is {found}, expected {expected}; the file was removed"
        )))
    }

    /// Sends one request, and appends the answer to the file. Returns the reason if the file is not complete.
    fn attempt(
        &self,
        file: &mut File,
        place: &Path,
        tick: &mut dyn FnMut(u64) -> Result<(), AcquireError>,
    ) -> Result<Option<Interruption>, AcquireError> {
        let write_error = |e| AcquireError::io("write", place, e);
        let mut done = length(file);
        if done > self.size {
            file.set_len(0).map_err(write_error)?;
            done = 0;
        }
        let mut request = self.agent().get(self.url);
        if done > 0 {
            request = request.header(header::RANGE, format!("bytes={done}-"));
        }
        let answer = match request.call() {
            Ok(answer) => answer,
            Err(error) => return Ok(Some(self.interruption(&error))),
        };
        if !continues(&answer, done) {
            file.set_len(0).map_err(write_error)?;
            done = 0;
        }
        let mut content = answer.into_body().into_reader();
        let mut block = vec![0; BLOCK];
        while done < self.size {
            tick(done)?;
            let interrupted = match content.read(&mut block) {
                Ok(0) => Interruption {
                    reason: "the server closed the connection".into(),
                    again: true,
                },
                Ok(n) if done + n as u64 > self.size => {
                    fs::remove_file(place).map_err(|e| AcquireError::io("remove", place, e))?;
                    let reason = format!("the file has more than the expected {} bytes", self.size);
                    return Err(self.failed(reason));
                }
                Ok(n) => {
                    file.write_all(&block[..n]).map_err(write_error)?;
                    done += n as u64;
                    continue;
                }
                Err(error) => self.interruption(&error.into()),
            };
            return Ok(Some(interrupted));
        }
        Ok(None)
    }

    /// Returns a client, which uses the proxy in the environment. A download by HTTPS is not redirected to HTTP.
    fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .https_only(self.url.starts_with("https:"))
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_per_read(Some(self.patience))
            .user_agent(concat!("hippod/", env!("CARGO_PKG_VERSION")));
        config.build().into()
    }

    fn interruption(&self, error: &ureq::Error) -> Interruption {
        let reason = match error {
            ureq::Error::StatusCode(code) => format!("the server answered with status {code}"),
            ureq::Error::Timeout(ureq::Timeout::PerRead) => {
                format!("the server sent no data for {} s", self.patience.as_secs_f32())
            }
            ureq::Error::Timeout(_) => format!("no connection within {} s", CONNECT.as_secs()),
            ureq::Error::HostNotFound => "the host was not found".into(),
            other => other.to_string(),
        };
        let again = !matches!(error, ureq::Error::StatusCode(400..=499));
        Interruption { reason, again }
    }

    /// Returns an error that contains neither the user name nor the password in the address.
    fn failed(&self, reason: impl Into<String>) -> AcquireError {
        let user = user_in(self.url);
        AcquireError::Fetch {
            url: self.url.replace(user, ""),
            reason: reason.into().replace(user, ""),
        }
    }
}

/// Returns the user name and the password in an address, with the `@` after them.
fn user_in(url: &str) -> &str {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rfind('@').map_or("", |at| &host[..=at])
}

/// Returns whether an answer continues a file after `done` bytes. Otherwise, the answer is the whole file.
fn continues<B>(answer: &Response<B>, done: u64) -> bool {
    let range = answer.headers().get(header::CONTENT_RANGE);
    let range = range.and_then(|range| range.to_str().ok()).unwrap_or_default();
    answer.status() == StatusCode::PARTIAL_CONTENT && range.starts_with(&format!("bytes {done}-"))
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}
