//! Five hundred hostile connections beside one well-behaved client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hippod_tests::{Daemon, Dice, PATIENCE, Scratch, begun};
use serde_json::{Value, json};

use crate::scale::{Cases, attack};
use crate::wire::Wire;

/// Number of silent connections, and number of other hostile connections. The first equals the daemon's connection
/// limit.
const SILENT: usize = 256;
const OTHERS: usize = 244;
/// Number of threads that open the other hostile connections.
const THREADS: usize = 8;
/// Length of a giant line, in bytes.
const GIANT: usize = 10_000_000;
/// Memory limit of the daemon, in KiB. It is half of the total size of all giant lines.
const MEMORY: u64 = 400 * 1024;
/// Maximum length of a refusal, in bytes.
const REFUSAL: usize = 4096;
/// Maximum time that a hostile client waits for an answer. There may be no answer, because the daemon may not accept
/// the connection or the line.
const WAIT: Duration = Duration::from_secs(1);
/// Maximum time that a hostile client tries to send. The daemon does not read while it has no room for another giant
/// line.
const TAKEN: Duration = Duration::from_millis(500);
/// Ids of requests. The daemon returns ids that are numbers or strings, and refuses all others.
const IDS: [&str; 10] = [
    "1e3",
    "-0",
    "18446744073709551616",
    "123456789012345678901234567890.5e-7",
    "null",
    "\"\"",
    "\"\\u0000\"",
    "[1]",
    "{}",
    "true",
];

struct Hostile {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Hostile {
    fn new(daemon: &Daemon) -> Option<Self> {
        let stream = UnixStream::connect(daemon.socket()).ok()?;
        stream.set_read_timeout(Some(WAIT)).ok()?;
        stream.set_write_timeout(Some(TAKEN)).ok()?;
        let reader = BufReader::new(stream.try_clone().ok()?);
        Some(Self { stream, reader })
    }

    fn send(&mut self, bytes: &[u8]) {
        // The write fails if the daemon has closed the connection because of its limit.
        let _ = self.stream.write_all(bytes);
    }

    /// Returns the next line, or `None` if the daemon did not accept the connection.
    fn answer(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap_or(0);
        (read > 0 && !line.contains("too many open connections")).then_some(line)
    }

    /// Sends an invalid line, and asserts that the refusal is short.
    fn is_refused(&mut self, what: &str, line: &[u8]) {
        self.send(&[line, b"\n"].concat());
        if let Some(answer) = self.answer() {
            assert!(answer.len() < REFUSAL, "{what}: {} bytes", answer.len());
            let value: Value = serde_json::from_str(&answer).unwrap();
            assert!(value["error"]["message"].is_string(), "{what}: {answer}");
        }
    }
}

/// Runs one hostile connection. Returns the connection if it is still open.
fn harass(daemon: &Daemon, root: &Path, dice: &mut Dice) -> Option<Hostile> {
    let mut one = Hostile::new(daemon)?;
    let search = json!({"jsonrpc": "2.0", "id": 1, "method": "search", "params": {"workspace": root, "query": "pump"}});
    let search = search.to_string();
    match dice.below(11) {
        // Send a giant line without an end, on a connection that the daemon has accepted.
        0..=3 => {
            one.send(format!("{search}\n").as_bytes());
            let _ = one.answer();
            one.send(&vec![b'x'; GIANT]);
            return Some(one);
        }
        4 => {
            one.send(&search.as_bytes()[..dice.below(search.len())]);
            return Some(one);
        }
        5 => one.is_refused(
            "no UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\xc0\x80\"}",
        ),
        6 => one.is_refused("nesting", "[{\"a\":".repeat(100_000).as_bytes()),
        7 => {
            let huge = "y".repeat(1_000_000);
            let name = (*dice.one_of(&["limit", "query", "mode", "record", "workspace", &huge])).to_owned();
            let value = match dice.below(3) {
                0 => json!([huge]),
                1 => json!({ huge: 1 }),
                _ if name == "query" || name == "workspace" => json!(vec![1; 100_000]),
                _ => json!(huge),
            };
            let mut params = json!({"workspace": root, "query": "pump"});
            params[&name] = value;
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "search", "params": params});
            one.is_refused(&format!("{name:.20}"), line.to_string().as_bytes());
        }
        8 => {
            let id = *dice.one_of(&IDS);
            one.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"status\"}}\n").as_bytes());
            if let Some(answer) = one.answer() {
                let known: Value = match serde_json::from_str(id).unwrap() {
                    Value::Array(_) | Value::Object(_) | Value::Bool(_) => Value::Null,
                    known => known,
                };
                let found: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!(found["id"], known, "{id}: {answer}");
            }
        }
        9 => {
            one.send(format!("{search}\n").repeat(50).as_bytes());
            let mut some = [0; 100];
            let _ = one.reader.read(&mut some);
        }
        _ => {
            one.send(format!("{search}\n{search}").as_bytes());
            let _ = one.stream.shutdown(Shutdown::Write);
            let _ = one.answer();
        }
    }
    None
}

/// Sends requests without pausing until `stop`, and counts the answers.
fn behave(daemon: &Daemon, root: &Path, stop: &AtomicBool, asked: &AtomicUsize) {
    let mut wire = Wire::new(daemon);
    while !stop.load(Ordering::Relaxed) {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(10) {
            let fact = json!({"workspace": root, "text": format!("The valve {number} is open.")});
            wire.expect("remember", fact);
        }
        let found = wire.expect("search", json!({"workspace": root, "query": "blue pump"}));
        assert!(
            found["results"][0]["text"].as_str().unwrap().contains("blue"),
            "{found}"
        );
    }
}

/// Returns the number of open handles. Handles of databases are not counted, because the daemon keeps them open.
fn handles(daemon: &Daemon) -> usize {
    let all = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap();
    all.flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter(|target| !target.to_string_lossy().contains(".db"))
        .count()
}

fn swarm(daemon: &Daemon, scratch: &Scratch, dice: &mut Dice) -> usize {
    let root = scratch.workspace();
    let before = {
        let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..THREADS)
                .map(|_| scope.spawn(|| behave(daemon, &root, &stop, &asked)))
                .collect();
            while asked.load(Ordering::Relaxed) < 200 && clients.iter().all(|one| !one.is_finished()) {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
        });
        settled(daemon, usize::MAX)
    };
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let good = scope.spawn(|| behave(daemon, &root, &stop, &asked));
        while asked.load(Ordering::Relaxed) == 0 && !good.is_finished() {
            std::thread::yield_now();
        }
        let next = AtomicUsize::new(0);
        let seed = dice.below(usize::MAX) as u64;
        let held: Vec<std::thread::Result<Vec<Hostile>>> = std::thread::scope(|scope| {
            let worker = || {
                let mut held = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= OTHERS {
                        return held;
                    }
                    let mut dice = Dice::of(seed ^ number as u64);
                    held.extend(harass(daemon, &root, &mut dice));
                }
            };
            let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
            workers
                .into_iter()
                .map(std::thread::ScopedJoinHandle::join)
                .collect()
        });
        let silent: Vec<_> = (0..SILENT)
            .filter_map(|_| UnixStream::connect(daemon.socket()).ok())
            .collect();
        // All connections are open and giant lines are buffered. The well-behaved client must still get answers.
        let reached = asked.load(Ordering::Relaxed) + 20;
        while asked.load(Ordering::Relaxed) < reached && !good.is_finished() {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        good.join().unwrap();
        held.into_iter().for_each(|of_worker| drop(of_worker.unwrap()));
        drop(silent);
    });
    let memory = daemon.most_memory();
    assert!(memory < MEMORY, "{memory} KiB");
    assert_eq!(settled(daemon, before), before, "handles: {}", daemon.log());
    asked.into_inner()
}

/// Opens a connection. Repeats this until the daemon has noticed that enough other connections are closed.
fn accepted(daemon: &Daemon, begun: Instant) -> Wire {
    loop {
        let mut wire = Wire::new(daemon);
        match wire.call("status", json!({})) {
            Ok(_) => return wire,
            Err(failure) => assert!(begun.elapsed() < PATIENCE, "{failure:?}"),
        }
    }
}

/// Waits until the number of open handles no longer changes and is at most `expected`. Returns that number.
fn settled(daemon: &Daemon, expected: usize) -> usize {
    let begun = Instant::now();
    let mut wire = accepted(daemon, begun);
    let (mut last, mut same) = (0, 0);
    while begun.elapsed() < PATIENCE && same < 50 {
        wire.expect("status", json!({}));
        let now = handles(daemon);
        same = if now == last && now <= expected {
            same + 1
        } else {
            0
        };
        last = now;
    }
    last
}

#[test]
fn five_hundred_hostile_clients_block_no_client_and_leak_no_handle() {
    let (scratch, daemon, _client) = begun();
    let daemon = std::sync::Mutex::new(daemon);
    attack("swarm", Cases::Drawn(1), |dice, _| {
        let mut daemon = daemon.lock().unwrap();
        let asked = swarm(&daemon, &scratch, dice);
        assert!(
            daemon.is_alive() && !daemon.log().contains("panicked"),
            "{}",
            daemon.log()
        );
        SILENT + OTHERS + asked
    });
}
