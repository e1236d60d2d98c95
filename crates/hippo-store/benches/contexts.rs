//! Benchmark of context operations: put, fetch, turn, search.
//!
//! Prints percentiles of the wall-clock time and of the CPU time. Usage:
//! `cargo bench -p hippo-store --bench contexts -- [FOLDER]`. FOLDER is the folder for the database. The default is
//! the system's temporary folder. This may be in memory, where durable writes cost nothing.

use std::env;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use hippo_context::fade;
use hippo_context::lifecycle::SessionEntry;
use hippo_store::contexts::{ContentId, ContextError, ContextReader, ContextStore, NewContent, NewEntry};
use hippo_types::context::{
    ContextDecay, ContextEntry, ContextKind, ContextLifecycle, ContextModifiers, ContextSource,
};

const SIZE: usize = 200_000;
const PUTS: u64 = 400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let folder = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let mut out = io::stdout().lock();
    let path = folder.path().join("contexts.db");
    let mut store = ContextStore::open(&path)?;
    store.open_session("s", None, 0)?;

    for (name, text) in [("text", true), ("noise", false)] {
        let mut times = BenchTimes::default();
        let contents: Vec<Vec<u8>> = (0..PUTS).map(|number| content(number, text)).collect();
        for (number, bytes) in contents.iter().enumerate() {
            let started = BenchStart::now();
            put(&mut store, &format!("{name}{number}"), bytes)?;
            times.push(&started);
        }
        report(&mut out, &format!("durable put of 200 KB of {name}"), times)?;

        let reader = ContextReader::open(&path)?;
        let mut times = BenchTimes::default();
        for bytes in &contents {
            let id = ContentId::of(bytes);
            let started = BenchStart::now();
            let found = reader.content(id)?;
            times.push(&started);
            assert!(matches!(found, hippo_store::contexts::Lookup::Kept(_)));
        }
        report(&mut out, &format!("fetch of 200 KB of {name}"), times)?;
    }
    let mut times = BenchTimes::default();
    for number in 0..100_u64 {
        let started = BenchStart::now();
        store.read().search(
            "s",
            &format!("where is word{} and word{}", number * 7, number * 31),
            10,
            |_| true,
        )?;
        times.push(&started);
    }
    report(&mut out, "search in 800 entries", times)?;
    let usage = store.read().usage()?;
    writeln!(
        out,
        "{} contents: {} bytes put, {} bytes stored, {} bytes in the file",
        usage.contents, usage.raw_bytes, usage.stored_bytes, usage.file_bytes
    )?;

    for count in [1_000, 10_000] {
        let path = folder.path().join(format!("turns{count}.db"));
        let mut store = ContextStore::open(&path)?;
        store.open_session("s", None, 0)?;
        for number in 0..count {
            put(&mut store, &format!("e{number}"), b"small")?;
        }
        let started = BenchStart::now();
        let kept = store.read().entries("s")?.entries;
        report(
            &mut out,
            &format!("reading {count} entries"),
            BenchTimes::of(&started),
        )?;
        let entries: Vec<ContextEntry> = kept.into_iter().map(|found| found.kept.entry).collect();
        let mut times = BenchTimes::default();
        for turn in 0..200 {
            let started = BenchStart::now();
            store.advance("s", turn, 0)?;
            std::hint::black_box(fade::strengths(&entries, turn));
            times.push(&started);
        }
        report(
            &mut out,
            &format!("turn of {count} entries, including their strengths"),
            times,
        )?;
        let touched: Vec<SessionEntry> = entries.into_iter().take(20).map(SessionEntry::new).collect();
        let mut times = BenchTimes::default();
        for _ in 0..100 {
            let started = BenchStart::now();
            store.update_entries(&touched, 1)?;
            times.push(&started);
        }
        report(
            &mut out,
            &format!("durable update of 20 out of {count} entries"),
            times,
        )?;
        let started = BenchStart::now();
        store.close_session("s", 2)?;
        report(
            &mut out,
            &format!("closing a session of {count} entries"),
            BenchTimes::of(&started),
        )?;
    }
    let started = BenchStart::now();
    store.close_session("s", 2)?;
    let gone = store.trim(0, 0, 3)?;
    report(
        &mut out,
        &format!("forgetting {} contents", gone.contents.len()),
        BenchTimes::of(&started),
    )?;
    Ok(())
}

fn put(store: &mut ContextStore, id: &str, bytes: &[u8]) -> Result<(), ContextError> {
    let entry = ContextEntry {
        id: id.to_owned(),
        kind: ContextKind::ToolResult,
        source: ContextSource {
            kind: "exec".to_owned(),
            reference: format!("command {id}"),
            turn: 0,
            retrievable: true,
            stale: false,
        },
        summary: "412 lines of a build: 3 warnings, first in crates/a/src/lib.rs:12, no error.".to_owned(),
        key_data: None,
        strength: 1.0,
        decay: ContextDecay {
            rate: 0.1,
            floor: 0.0,
            last_access: 0,
        },
        modifiers: ContextModifiers::default(),
        lifecycle: ContextLifecycle::default(),
    };
    let new = NewEntry {
        session: "s",
        entry: &entry,
        file: None,
        content: Some(NewContent::new(bytes, 50_000)),
        budget_bytes: u64::MAX,
        now_ms: 0,
    };
    store.put(&new).map(|_| ())
}

/// Returns content that resembles the output of a tool, with some thousand distinct words. If `text` is false,
/// returns incompressible bytes.
fn content(number: u64, text: bool) -> Vec<u8> {
    let mut noise = vec![0; SIZE];
    blake3::Hasher::new()
        .update(&number.to_le_bytes())
        .finalize_xof()
        .fill(&mut noise);
    if !text {
        return noise;
    }
    let mut out = Vec::with_capacity(SIZE + 100);
    for pair in noise.chunks(8) {
        let [a, b, c, d, ..] = *pair else { break };
        let line = format!(
            "[{a:03}] word{} path/to/file{b}.rs: word{c} took {d} ms\n",
            u16::from(a) * 16 + u16::from(b) % 16
        );
        out.extend(line.into_bytes());
        if out.len() >= SIZE {
            break;
        }
    }
    out.truncate(SIZE);
    out
}

/// Start of a measurement, as wall-clock time and CPU time.
struct BenchStart {
    at: Instant,
    processor: Option<Duration>,
}

impl BenchStart {
    fn now() -> Self {
        Self {
            processor: processor(),
            at: Instant::now(),
        }
    }
}

/// Returns the CPU time of this thread, which is a better measure on a busy machine. Works on Linux only. An interval
/// below the scheduler's resolution gives 0.
fn processor() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(stat.split(' ').next()?.parse().ok()?))
}

#[derive(Default)]
struct BenchTimes {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
}

impl BenchTimes {
    fn of(started: &BenchStart) -> Self {
        let mut times = Self::default();
        times.push(started);
        times
    }

    fn push(&mut self, started: &BenchStart) {
        self.clock.push(started.at.elapsed());
        let share = processor().zip(started.processor);
        self.processor
            .extend(share.map(|(now, then)| now.saturating_sub(then)));
    }
}

fn report(out: &mut impl Write, name: &str, mut times: BenchTimes) -> io::Result<()> {
    times.clock.sort_unstable();
    times.processor.sort_unstable();
    let at = |times: &[Duration], percent: usize| {
        let place = times.len().saturating_sub(1) * percent / 100;
        times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    writeln!(
        out,
        "{name:44} p50 {:8.3} ms  p95 {:8.3} ms  p99 {:8.3} ms  processor p50 {:8.3} ms",
        at(&times.clock, 50),
        at(&times.clock, 95),
        at(&times.clock, 99),
        at(&times.processor, 50)
    )?;
    out.flush()
}
