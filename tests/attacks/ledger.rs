//! Requested writes and the times of their acknowledgements.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use hippod_tests::{Daemon, Dice, PATIENCE};
use serde_json::json;

use crate::wire::{Failure, Wire, logs};

/// Time of the acknowledgement, or `None` if the request got no answer.
type Acknowledged = Option<SystemTime>;

/// Requested writes, grouped by their effect.
#[derive(Default)]
struct Asked {
    remembered: BTreeMap<usize, Acknowledged>,
    flushed: BTreeMap<usize, Acknowledged>,
    /// Contents of context entries, by the id of the entry.
    contents: BTreeMap<String, (String, Acknowledged)>,
    closed: BTreeMap<String, Acknowledged>,
    pinned: BTreeMap<String, Acknowledged>,
    forgotten: BTreeMap<String, Acknowledged>,
    /// Ids of index entries that no request has named yet.
    entries: Vec<String>,
    /// Path of today's log, relative to the workspace.
    log: Option<String>,
    next: usize,
    acknowledged: usize,
}

/// Sends requests that write to one workspace, and checks that no write is lost.
pub struct Ledger {
    root: PathBuf,
    beside: PathBuf,
    asked: Mutex<Asked>,
}

impl Ledger {
    /// Creates an empty ledger for a workspace. It writes transcripts to the folder `beside`.
    pub fn new(root: PathBuf, beside: PathBuf) -> Self {
        Self {
            root,
            beside,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number that is different for each write.
    pub fn number(&self) -> usize {
        let mut asked = self.asked();
        asked.next += 1;
        asked.next
    }

    /// Returns the number of acknowledged writes.
    pub fn acknowledged(&self) -> usize {
        self.asked().acknowledged
    }

    /// Returns the path of today's log relative to the workspace, if the daemon has reported it.
    pub fn log(&self) -> Option<String> {
        self.asked().log.clone()
    }

    /// Sends a random request of any kind.
    ///
    /// # Errors
    /// Returns the failure of the request. The other methods that send requests do the same.
    pub fn any(&self, wire: &mut Wire, dice: &mut Dice) -> Result<(), Failure> {
        match dice.below(16) {
            0..=5 => self.remember(wire),
            6..=8 => self.session(wire, dice),
            9..=10 => self.pin(wire),
            11 => self.forget(wire),
            12..=13 => self.flush(wire, dice.below(3) > 0),
            14 => {
                let cycle = *dice.one_of(&["light", "deep"]);
                let request = json!({"workspace": self.root, "cycle": cycle});
                wire.call("cycle.run", request).map(drop)
            }
            _ if dice.below(2) == 0 => wire
                .call("tree.compact", json!({"workspace": self.root}))
                .map(drop),
            _ => {
                let name = format!("backup-{}.tar.zst", dice.below(1 << 30));
                let to = self.beside.join(name);
                wire.call("backup", json!({"to": to})).map(drop)
            }
        }
    }

    /// Sends a random request. If the daemon acknowledges it, its effect must survive a power failure.
    ///
    /// # Errors
    /// Returns the failure of the request.
    pub fn durable(&self, wire: &mut Wire, dice: &mut Dice) -> Result<(), Failure> {
        match dice.below(8) {
            0..=3 => self.remember(wire),
            4..=5 => self.session(wire, dice),
            6 => self.flush(wire, true),
            _ => {
                let request = json!({"workspace": self.root, "cycle": "light"});
                wire.call("cycle.run", request).map(drop)
            }
        }
    }

    pub fn remember(&self, wire: &mut Wire) -> Result<(), Failure> {
        let number = self.number();
        self.asked().remembered.insert(number, None);
        let (text, topic) = (
            format!("The anchor number{number} is blue."),
            format!("Fact {number}"),
        );
        let request = json!({"workspace": self.root, "text": text, "topic": topic});
        let answer = wire.call("remember", request)?;
        let mut asked = self.asked();
        asked.remembered.insert(number, Some(SystemTime::now()));
        asked.log = answer["path"].as_str().map(str::to_owned);
        asked
            .entries
            .extend(answer["entry"]["id"].as_str().map(str::to_owned));
        asked.acknowledged += 1;
        Ok(())
    }

    /// Opens a session, stores contents in it, and usually closes it.
    pub fn session(&self, wire: &mut Wire, dice: &mut Dice) -> Result<(), Failure> {
        let session = format!("s{}", self.number());
        wire.call(
            "context.open",
            json!({"workspace": self.root, "session": session}),
        )?;
        for turn in 1..2 + dice.below(3) {
            let lines = (0..300).map(|line| format!("{session} {turn} {line} {}", dice.below(1 << 30)));
            let content = lines.collect::<Vec<_>>().join("\n");
            let request = json!({
                "session": session, "turn": turn, "type": "tool_result", "content": content,
                "source": {"type": "exec", "ref": "ls"}, "lifecycle": {"persist": turn == 2},
            });
            let answer = wire.call("context.put", request)?;
            let id = answer["entry"]["id"].as_str();
            let id = id.unwrap_or_else(|| panic!("no entry: {answer}")).to_owned();
            let mut asked = self.asked();
            asked.contents.insert(id, (content, Some(SystemTime::now())));
            asked.acknowledged += 1;
        }
        if dice.below(3) == 0 {
            return Ok(());
        }
        self.asked().closed.insert(session.clone(), None);
        wire.call("context.close", json!({"session": session}))?;
        let mut asked = self.asked();
        asked.closed.insert(session, Some(SystemTime::now()));
        asked.acknowledged += 1;
        Ok(())
    }

    /// Pins an entry that no earlier request has named.
    pub fn pin(&self, wire: &mut Wire) -> Result<(), Failure> {
        let Some(id) = self.asked().entries.pop() else {
            return Ok(());
        };
        self.asked().pinned.insert(id.clone(), None);
        wire.call(
            "index.edit",
            json!({"workspace": self.root, "id": id, "pinned": true}),
        )?;
        let mut asked = self.asked();
        asked.pinned.insert(id, Some(SystemTime::now()));
        asked.acknowledged += 1;
        Ok(())
    }

    /// Forgets an entry that no earlier request has named.
    pub fn forget(&self, wire: &mut Wire) -> Result<(), Failure> {
        let Some(id) = self.asked().entries.pop() else {
            return Ok(());
        };
        self.asked().forgotten.insert(id.clone(), None);
        wire.call("index.forget", json!({"workspace": self.root, "id": id}))?;
        let mut asked = self.asked();
        asked.forgotten.insert(id, Some(SystemTime::now()));
        asked.acknowledged += 1;
        Ok(())
    }

    /// Flushes a transcript with one message, on a day that no other flush uses.
    pub fn flush(&self, wire: &mut Wire, wait: bool) -> Result<(), Failure> {
        let number = self.number();
        let day = format!(
            "{}-{:02}-{:02}",
            2000 + number / 336,
            number / 28 % 12 + 1,
            number % 28 + 1
        );
        let content = format!("Please find out about device{number}marker and write it down");
        let said = json!({
            "type": "user", "uuid": number.to_string(), "timestamp": format!("{day}T09:00:00Z"),
            "message": {"role": "user", "content": content},
        });
        let path = self.beside.join(format!("session-{number}.jsonl"));
        std::fs::write(&path, format!("{said}\n")).unwrap();
        self.asked().flushed.insert(number, None);
        let request =
            json!({"workspace": self.root, "path": path, "session": format!("f{number}"), "wait": wait});
        wire.call("session.flush", request)?;
        let mut asked = self.asked();
        asked.flushed.insert(number, Some(SystemTime::now()));
        asked.acknowledged += 1;
        Ok(())
    }

    /// Asserts that each write that the daemon acknowledged up to the time `by` is present exactly once. Returns the
    /// number of these writes.
    ///
    /// # Panics
    /// At the first lost or duplicated write.
    pub fn verify(&self, daemon: &Daemon, by: SystemTime) -> usize {
        let asked = self.asked();
        let is_due = |acknowledged: &Acknowledged| acknowledged.is_some_and(|at| at <= by);
        let root = &self.root;
        let mut wire = Wire::new(daemon);
        wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
        let text = logs(root);
        let mut due = 0;
        for (number, at) in &asked.remembered {
            let count = text.matches(&format!("\n## Fact {number}\n")).count();
            let right = count == 1 || (count == 0 && !is_due(at));
            assert!(right, "remember {number} ({at:?}): {count} times in the logs");
            due += usize::from(is_due(at));
        }
        for (number, at) in &asked.flushed {
            due += usize::from(is_due(at));
            verify_flush(&mut wire, root, *number, is_due(at));
        }
        for (id, (content, _)) in asked.contents.iter().filter(|(_, (_, at))| is_due(at)) {
            let fetched = wire.call("context.fetch", json!({"id": id}));
            let same = fetched
                .as_ref()
                .is_ok_and(|answer| answer["content"] == *content.as_str());
            assert!(same, "{id}: {fetched:?}");
            due += 1;
        }
        let sessions = wire.expect("context.list", json!({"workspace": root}));
        let listed = sessions["sessions"].as_array().unwrap().iter();
        let closed: BTreeSet<&str> = listed
            .filter(|session| session["closed"].is_string())
            .filter_map(|session| session["session"].as_str())
            .collect();
        for session in due_of(&asked.closed, by) {
            assert!(closed.contains(session), "{session} is open again");
            due += 1;
        }
        for id in due_of(&asked.pinned, by) {
            let shown = wire.expect("index.show", json!({"workspace": root, "id": id}));
            let priority = &shown["entry"]["priority"];
            assert!(priority == "amygdala", "{id} is not pinned: {shown}");
            due += 1;
        }
        let listed = wire.expect("index.list", json!({"workspace": root}));
        let entries = listed["entries"].as_array().unwrap();
        for id in due_of(&asked.forgotten, by) {
            assert!(entries.iter().all(|entry| entry["id"] != id), "{id} is back");
            due += 1;
        }
        due
    }
}

fn due_of(asked: &BTreeMap<String, Acknowledged>, by: SystemTime) -> impl Iterator<Item = &str> {
    asked
        .iter()
        .filter(move |(_, at)| at.is_some_and(|at| at <= by))
        .map(|(name, _)| name.as_str())
}

/// Waits until the log contains the message of a flush exactly once. If `due` is false, the message may be missing.
fn verify_flush(wire: &mut Wire, root: &Path, number: usize, due: bool) {
    let deadline = Instant::now() + PATIENCE;
    let marker = format!("- request: Please find out about device{number}marker ");
    loop {
        let count = logs(root).matches(&marker).count();
        if count == 1 || (count == 0 && !due) {
            return;
        }
        assert!(
            count == 0 && Instant::now() < deadline,
            "flush {number}: {count} times in the logs"
        );
        wire.expect("status", json!({}));
    }
}
