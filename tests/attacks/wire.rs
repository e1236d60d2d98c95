//! Requests as JSON, and a workspace with something in it.

use std::path::Path;
use std::time::Duration;

use hippod_tests::{Daemon, QUIET, Raw, Scratch};
use serde_json::{Value, json};

/// Why a request has no result.
#[derive(Debug)]
pub enum Failure {
    /// The daemon refused: the member `error` of its answer.
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
    /// Connects.
    pub fn new(daemon: &Daemon) -> Self {
        Self {
            raw: daemon.raw(),
            next: 0,
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// When it is refused, or the connection ends.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        if !self.raw.send(format!("{request}\n").as_bytes()) {
            return Err(Failure::Gone);
        }
        loop {
            let mut answer = self.raw.line().ok_or(Failure::Gone)?;
            if answer["id"] != json!(self.next) {
                // A notification.
                continue;
            }
            return match answer.get_mut("error") {
                Some(error) => Err(Failure::Refused(error.take())),
                None => Ok(answer["result"].take()),
            };
        }
    }

    /// The same where a refusal is a failure of the test.
    ///
    /// # Panics
    /// On any failure.
    pub fn expect(&mut self, method: &str, params: Value) -> Value {
        self.call(method, params)
            .unwrap_or_else(|failure| panic!("{method}: {failure:?}"))
    }
}

/// Settings under which every entry has room and cycles run only when they are asked for.
pub fn roomy() -> Vec<(&'static str, &'static str)> {
    let mut settings = QUIET.to_vec();
    settings.extend([
        ("HIPPOD_INDEX_MAX_TOKENS", "1000000"),
        ("HIPPOD_INDEX_MAX_ENTRIES", "100000"),
    ]);
    settings
}

/// Writes some knowledge into a workspace.
pub fn furnish(scratch: &Scratch, files: usize) {
    for number in 0..files {
        let text = format!(
            "# Machine {number}\n\nThe machine called thing{number} is in hall {number}, hums, and leaks a little oil.\n"
        );
        scratch.write(&format!("knowledge/machines/{number}.md"), text);
    }
}

/// All files of `memory/` together, but for the one that is derived from the others.
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

/// Lets time pass where there is no event to wait for.
pub fn pause(long: Duration) {
    let (_silent, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(long);
}
