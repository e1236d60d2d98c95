//! File system errors, injected into the n-th system call for every n.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hippo_proto::Severity;
use hippod_tests::{Daemon, Dice, Scratch};
use serde_json::json;

use crate::ledger::Ledger;
use crate::scale::{Cases, attack};
use crate::stage::{Stage, WORDS};
use crate::traced;
use crate::wire::{Failure, Wire, logs, pause, roomy};

/// System calls on files, and the errors that are injected into each.
const CALLS: [(&str, &[&str]); 20] = [
    ("write", &["EIO", "ENOSPC"]),
    ("pwrite64", &["EIO", "ENOSPC"]),
    ("fsync", &["EIO"]),
    ("fdatasync", &["EIO"]),
    ("openat", &["EMFILE", "EIO", "ENOSPC"]),
    ("openat2", &["EMFILE", "EIO", "ENOSPC"]),
    ("?rename", &["EIO", "ENOSPC"]),
    ("renameat", &["EIO", "ENOSPC"]),
    ("renameat2", &["EIO", "ENOSPC"]),
    ("?link", &["EIO"]),
    ("linkat", &["EIO"]),
    ("?unlink", &["EIO"]),
    ("unlinkat", &["EIO"]),
    ("ftruncate", &["EIO"]),
    ("fallocate", &["EIO", "ENOSPC"]),
    ("?mkdir", &["ENOSPC"]),
    ("mkdirat", &["ENOSPC"]),
    ("pread64", &["EIO"]),
    ("read", &["EIO"]),
    ("getdents64", &["EIO"]),
];

/// Maximum time from SIGTERM until the daemon exits.
const END: Duration = Duration::from_secs(60);

/// A stage and the paths on which system calls fail.
struct Theatre {
    stage: Stage,
    paths: Vec<PathBuf>,
}

impl Theatre {
    fn open() -> Self {
        let stage = Stage::set();
        let mut paths = stage.files();
        let more: Vec<PathBuf> = paths.iter().flat_map(|path| companions(path)).collect();
        paths.extend(more);
        Self { stage, paths }
    }

    /// Starts a daemon under `strace`, which traces `calls` on `paths`. `options` are additional options of `strace`.
    fn traced(&self, calls: &str, options: &[String]) -> Result<Daemon, String> {
        let mut all = vec!["-e".to_owned(), format!("trace={calls}")];
        for path in &self.paths {
            all.extend(["-P".to_owned(), path.display().to_string()]);
        }
        all.extend_from_slice(options);
        let record = self.stage.scratch.beside("record");
        let _ = std::fs::remove_file(&record);
        Daemon::try_start_as(
            traced::command(&record, &all),
            &self.stage.scratch.home(),
            &roomy(),
        )
    }

    /// Returns how many times each system call is made. If several threads make the call, the largest number is
    /// returned.
    fn count(&self) -> Vec<(&'static str, usize)> {
        self.stage.reset();
        let names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
        let daemon = self.traced(&names.join(","), &[]).unwrap();
        let pid = daemon.pid();
        let ledger = Ledger::new(self.stage.scratch.workspace(), self.stage.scratch.beside(""));
        let alive = script(&daemon, &self.stage.scratch, &ledger);
        assert_eq!(alive, Ok(()), "without any fault");
        daemon.terminate();
        let text = traced::record_of(&self.stage.scratch.beside("record"), pid);
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(thread), Some(call)) = (words.next(), words.next()) else {
                continue;
            };
            if let Some((name, _)) = call.split_once('(') {
                *counts.entry((name, thread)).or_default() += 1;
            }
        }
        let most = |name: &str| {
            let name = name.trim_start_matches('?');
            let of_threads = counts.iter().filter(|((call, _), _)| *call == name);
            of_threads.map(|(_, count)| *count).max().unwrap_or(0)
        };
        names.into_iter().map(|name| (name, most(name))).collect()
    }

    /// Injects the error into the n-th call of the system call `call`. Returns the number of checks, and `true` if
    /// the error was injected.
    fn case(&self, call: &str, error: &str, nth: usize) -> (usize, bool) {
        self.stage.reset();
        let what = format!("{error} at the {nth}th {call}");
        let ledger = Ledger::new(self.stage.scratch.workspace(), self.stage.scratch.beside(""));
        let inject = ["-e".to_owned(), format!("inject={call}:error={error}:when={nth}")];
        // The daemon may fail to start, but the next daemon must start.
        let starts = |log: &str| log.matches("hippod answers").count();
        let log = self.stage.scratch.home().join("log");
        let before = starts(&std::fs::read_to_string(log).unwrap_or_default());
        if let Ok(mut daemon) = self.traced(call, &inject) {
            let lives = script(&daemon, &self.stage.scratch, &ledger);
            // A daemon that fails to start may have bound its socket already.
            let started = starts(&daemon.log()) > before;
            assert!(lives == Ok(()) || !started, "{what}: {lives:?}: {}", daemon.log());
            daemon.tell_to_stop();
            let deadline = Instant::now() + END;
            while daemon.is_alive() {
                assert!(
                    Instant::now() < deadline,
                    "{what}: does not stop: {}",
                    daemon.log()
                );
                pause(Duration::from_millis(5));
            }
            assert!(!daemon.log().contains("panicked"), "{what}: {}", daemon.log());
        }
        let index = std::fs::read_to_string(self.stage.scratch.index_path()).unwrap_or_default();
        assert!(
            index.contains(WORDS),
            "{what}: the index file lost words: {index}"
        );
        let text = logs(&self.stage.scratch.workspace());
        assert!(text.contains("The lantern is green."), "{what}: {text}");
        let record = std::fs::read_to_string(self.stage.scratch.beside("record")).unwrap_or_default();
        (self.recovers(&what, &ledger), record.contains("(INJECTED)"))
    }

    fn recovers(&self, what: &str, ledger: &Ledger) -> usize {
        let daemon = Daemon::start(&self.stage.scratch.home(), &roomy());
        let tried = ledger.verify(&daemon, SystemTime::now());
        let mut wire = Wire::new(&daemon);
        let failure = ledger.remember(&mut wire).err();
        assert!(failure.is_none(), "{what}: {failure:?}");
        let mut client = daemon.client();
        let hits = client
            .search(&self.stage.scratch.workspace(), "green lantern")
            .results;
        let found = hits.iter().any(|hit| hit.text.contains("lantern is green"));
        assert!(found, "{what}: {hits:?}");
        let problems = client.doctor(false).problems;
        let worst = problems
            .iter()
            .find(|problem| problem.severity == Severity::Error);
        assert!(worst.is_none(), "{what}: {worst:?}");
        tried + 1
    }
}

/// Returns the paths of the temporary files that exist beside a file while it is written.
fn companions(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap().to_string_lossy();
    let ends = ["-wal", "-shm", "-journal"].map(|end| format!("{name}{end}"));
    let hidden = ["draft", "replaced", "replaced-1", "replaced-2", "new"].map(|end| format!(".{name}.{end}"));
    let names = ends.into_iter().chain(hidden);
    let mut all: Vec<PathBuf> = names.map(|name| path.with_file_name(name)).collect();
    all.push(path.with_extension("tmp"));
    all
}

/// Runs all operations once. The daemon may refuse a request or exit, but it must not leave a request unanswered.
fn script(daemon: &Daemon, scratch: &Scratch, ledger: &Ledger) -> Result<(), String> {
    let root = scratch.workspace();
    let mut wire = Wire::new(daemon);
    let mut dice = Dice::of(1);
    let mut step = 0;
    loop {
        let done = match step {
            0 | 9 => ledger.remember(&mut wire),
            1 => {
                scratch.write("knowledge/machines/0.md", "# Machine 0\n\nIt hums no more.\n");
                let sync = json!({"workspace": root, "wait": true});
                wire.call("workspace.sync", sync).map(drop)
            }
            2 => {
                let search = json!({"workspace": root, "query": "machine that leaks oil"});
                wire.call("search", search).map(drop)
            }
            3 => ledger.session(&mut wire, &mut dice),
            4 => ledger.pin(&mut wire),
            5 => ledger.flush(&mut wire, true),
            6 => {
                let cycle = json!({"workspace": root, "cycle": "deep"});
                wire.call("cycle.run", cycle).map(drop)
            }
            7 => wire.call("tree.compact", json!({"workspace": root})).map(drop),
            8 => wire.call("doctor", json!({})).map(drop),
            _ => return Ok(()),
        };
        if let Err(Failure::Gone) = done {
            return Err(format!("no answer in step {step}"));
        }
        step += 1;
    }
}

#[test]
fn an_error_at_any_system_call_loses_no_acknowledged_write() {
    if !traced::is_possible("faults") {
        return;
    }
    let theatre = Theatre::open();
    let mut cases = Vec::new();
    for (call, most) in theatre.count() {
        let errors = CALLS.iter().find(|(name, _)| *name == call).unwrap().1;
        cases.extend((1..=most).map(|nth| (call, errors[nth % errors.len()], nth)));
    }
    assert!(cases.len() > 50, "only {} calls were seen", cases.len());
    let numbered = Cases::Numbered {
        all: cases.len(),
        in_gate: 20,
    };
    let (run, injected) = (Cell::new(0), Cell::new(0));
    attack("faults", numbered, |_, number| {
        let (call, error, nth) = cases[number];
        let (tried, was_injected) = theatre.case(call, error, nth);
        run.set(run.get() + 1);
        injected.set(injected.get() + usize::from(was_injected));
        tried
    });
    // A case can make fewer system calls than the run that counted the calls. Some errors are then not injected.
    let (run, injected) = (run.get(), injected.get());
    assert!(
        injected * 4 >= run * 3,
        "only {injected} of {run} errors were injected"
    );
}
