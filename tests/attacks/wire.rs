//! Requests as JSON, and a workspace with contents.

use std::path::Path;
use std::time::Duration;

use hippod_tests::{Daemon, QUIET, Raw, Scratch};
use serde_json::{Value, json};

/// Reason why a request returned no result.
#[derive(Debug)]
pub enum Failure {
    /// The daemon refused the request. The value is the member `error` of the response.
    Refused(Value),
    /// The connection ended.
    Gone,
}

/// A connection that sends one request at a time.
pub struct Wire {
    raw: Raw,
    next: u64,
}

impl Wire {
    pub fn new(daemon: &Daemon) -> Self {
        Self {
            raw: daemon.raw(),
            next: 0,
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Fails if the request is refused or the connection ends.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        if !self.raw.send(format!("{request}\n").as_bytes()) {
            return Err(Failure::Gone);
        }
        loop {
            let mut answer = self.raw.line().ok_or(Failure::Gone)?;
            if answer["id"] != json!(self.next) {
                // Skip this line, because it is a notification.
                continue;
            }
            return match answer.get_mut("error") {
                Some(error) => Err(Failure::Refused(error.take())),
                None => Ok(answer["result"].take()),
            };
        }
    }

    /// Sends a request that must succeed, and returns its result.
    ///
    /// # Panics
    /// If the request fails.
    pub fn expect(&mut self, method: &str, params: Value) -> Value {
        self.call(method, params)
            .unwrap_or_else(|failure| panic!("{method}: {failure:?}"))
    }
}

/// Returns settings with which every entry fits into the index file, and cycles run only on request.
pub fn roomy() -> Vec<(&'static str, &'static str)> {
    let mut settings = QUIET.to_vec();
    settings.extend([
        ("HIPPOD_INDEX_MAX_TOKENS", "1000000"),
        ("HIPPOD_INDEX_MAX_ENTRIES", "100000"),
    ]);
    settings
}

/// Writes `files` knowledge files into a workspace.
pub fn furnish(scratch: &Scratch, files: usize) {
    for number in 0..files {
        let text = format!(
            "# Machine {number}\n\nThe machine called thing{number} is in hall {number}, hums, and leaks a little oil.\n"
        );
        scratch.write(&format!("knowledge/machines/{number}.md"), text);
    }
}

/// Returns the concatenated files of `memory/` except `ROOT.md`, which is derived from them.
pub fn logs(root: &Path) -> String {
    let files = std::fs::read_dir(root.join("memory"))
        .into_iter()
        .flatten()
        .flatten();
    files
        .filter(|file| file.file_name() != "ROOT.md")
        .filter_map(|file| std::fs::read(file.path()).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Waits for a fixed time. Use this only if there is no event to wait for.
pub fn pause(long: Duration) {
    let (_silent, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(long);
}
