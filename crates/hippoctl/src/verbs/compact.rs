//! `compact`: summary of a transcript.
//!
//! Only `--store` needs a daemon.

mod store;

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use hippo_fs::harness::{self, FILE};
use hippo_proto::folder::Trust;
use hippo_session::compaction::{
    CONFIG_KEY, CompactionConfig, CompactionOptions, CompactionPass, CompactionResult, Compactor,
    OLD_CONFIG_FILE,
};
use hippo_types::transcript::CompactStats;
use serde::{Serialize, Serializer};

use crate::connect::{DaemonSession, current_dir};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{FORMATS, harmless, one_line};
use hippoctl::args::CompactArgs;

/// Number of bytes per read.
const PIECE: usize = 256 << 10;
/// Maximum number of threads that prepare a transcript; more would not help, because part of the work is sequential.
const MOST: usize = 4;
/// Maximum size of a settings file in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum number of problems that are reported individually.
const TOLD: usize = 5;

/// The answer as JSON.
#[derive(Serialize)]
struct CompactOutput<'a> {
    summary: &'a str,
    stats: &'a CompactStats,
    /// The ids of the messages that do not fit into the summary.
    rest: RestOutput<'a>,
    entries: EntriesOutput<'a>,
}

/// Serialized one item at a time, like [`EntriesOutput`].
struct RestOutput<'a>(&'a CompactionResult);

impl Serialize for RestOutput<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.dropped_ids().map(|id| id.to_string()))
    }
}

/// Serialized one item at a time, because a long session has millions.
struct EntriesOutput<'a>(&'a CompactionResult);

impl Serialize for EntriesOutput<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.scores())
    }
}

/// Prints the summary. With `--json`, also prints the scores.
///
/// # Errors
/// Fails if the transcript is unreadable or contains no message, and with `--store` also if the daemon fails.
pub fn compact(session: &mut DaemonSession, args: &CompactArgs, out: &mut Output) -> Result<(), Failure> {
    if args.store {
        return store::compact(session, args, out);
    }
    let folder = folder(session)?;
    let config = config(&session.paths.state, &folder, settings(&folder)?.as_deref(), out)?;
    let debug = config.debug;
    let options = CompactionOptions {
        config,
        format: args.format,
        budget: args.budget.map(|budget| budget as usize),
        // The contents are not stored, so they cannot be fetched by their ids.
        stored: false,
        parallel: Some(run_in_parallel),
    };
    let compacted = if args.file == Path::new("-") {
        let spooled = spooled()
            .map_err(|error| Failure::new(Exit::Failed, format!("could not read standard input: {error}")))?;
        read(spooled, &options)
    } else {
        open(&args.file).and_then(|file| read(file, &options))
    };
    let compacted = compacted.map_err(|error| Failure::input("read the transcript", &args.file, &error))?;
    tell(&compacted.stats, debug, out);
    if compacted.stats.messages == 0 && compacted.stats.folded == 0 {
        return Err(no_message(args));
    }
    let answer = CompactOutput {
        summary: &compacted.summary,
        stats: &compacted.stats,
        rest: RestOutput(&compacted),
        entries: EntriesOutput(&compacted),
    };
    out.answer(&answer, |answer, _| format!("{}\n", harmless(answer.summary)))
}

#[expect(clippy::disallowed_methods, reason = "the user chose this file")]
fn open(transcript: &Path) -> io::Result<File> {
    File::open(transcript)
}

/// Runs `help` on other processors while `here` runs on this thread.
fn run_in_parallel(help: &(dyn Fn() + Sync), here: &mut dyn FnMut()) {
    static OTHERS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(0, |all| all.get().min(MOST) - 1));
    thread::scope(|scope| {
        for _ in 0..*OTHERS {
            // If no thread can be started, this thread does all the work.
            let _ = thread::Builder::new().spawn_scoped(scope, help);
        }
        here();
    });
}

/// Reads the compaction settings of a folder. Returns `None` if the file does not exist.
fn settings(folder: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match hippo_fs::read(folder, FILE, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if hippo_fs::is_absence(&error) => Ok(None),
        Err(error) => {
            let is_refused = hippo_fs::refusal(&error).is_some();
            let failure = Failure::file("read the settings", &folder.join(FILE), error);
            Err(if is_refused {
                failure.hint("replace this path with a regular file, or move it elsewhere")
            } else {
                failure
            })
        }
    }
}

/// Returns the trusted settings of a folder, and the defaults for all others.
fn config(
    state: &Path,
    folder: &Path,
    settings: Option<&[u8]>,
    out: &mut Output,
) -> Result<CompactionConfig, Failure> {
    if hippo_fs::exists(folder, OLD_CONFIG_FILE) {
        out.note(&format!(
            "warning: {OLD_CONFIG_FILE} is not read; move its keys to \"{CONFIG_KEY}\" in {FILE}"
        ));
    }
    let Some(bytes) = settings else {
        return Ok(CompactionConfig::default());
    };
    let (settings, invalid) = harness::read(bytes);
    let (config, warnings) = CompactionConfig::read(&settings.session_compaction.unwrap_or_default());
    for found in &invalid {
        out.note(&format!("warning: {FILE}: {found}; this setting is ignored"));
    }
    for warning in &warnings {
        out.note(&format!("warning: {warning}"));
    }
    let (narrowed, wider) = config.narrowed();
    if wider.is_empty() || is_trusted(state, folder, bytes) {
        return Ok(config);
    }
    out.note(&format!(
        "warning: {FILE} is not trusted; the defaults are used for {}; to accept the file: hippoctl \
         workspace trust {}",
        wider
            .iter()
            .map(|key| format!("{CONFIG_KEY}.{key}"))
            .collect::<Vec<_>>()
            .join(", "),
        folder.display()
    ));
    Ok(CompactionConfig {
        debug: config.debug,
        ..narrowed
    })
}

/// Returns whether the user trusts the current settings of a folder.
fn is_trusted(state: &Path, folder: &Path, bytes: &[u8]) -> bool {
    Trust::of(state, folder).covers(FILE, bytes)
}

/// Copies standard input to an anonymous file, because a session with abandoned branches is read twice.
fn spooled() -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.flush()?;
    file.rewind()?;
    Ok(file)
}

fn read(mut file: File, options: &CompactionOptions) -> io::Result<CompactionResult> {
    let mut compactor = Compactor::new(options.clone());
    // The transcript of a running session grows, so the second pass ends where the first one ended.
    let mut length = u64::MAX;
    loop {
        length = feed(&mut compactor, (&file).take(length))?;
        match compactor.finish() {
            CompactionPass::Done(compacted) => return Ok(*compacted),
            CompactionPass::Again(selection) => {
                compactor = Compactor::with_selection(options.clone(), selection)
            }
        }
        file.rewind()?;
    }
}

fn feed(compactor: &mut Compactor, mut from: impl Read) -> io::Result<u64> {
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(total),
            Ok(read) => {
                compactor.feed(&piece[..read]);
                total += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn no_message(args: &CompactArgs) -> Failure {
    let what = format!("the transcript contains no message: {}", args.file.display());
    Failure::new(Exit::Failed, what).hint(FORMATS)
}

/// Reports unreadable records. With `debug`, also reports the statistics.
fn tell(stats: &CompactStats, debug: bool, out: &mut Output) {
    for problem in stats.problems.iter().take(TOLD) {
        out.note(&format!(
            "warning: line {}: {}; skipped",
            problem.line,
            one_line(&problem.what)
        ));
    }
    let told = TOLD as u64;
    if stats.malformed > told {
        out.note(&format!(
            "warning: {} more records skipped",
            stats.malformed - told
        ));
    }
    if debug {
        out.note(&format!(
            "{} entries: {} kept, {} compressed, {} sparse; {} → {} tokens",
            stats.messages,
            stats.kept,
            stats.compressed,
            stats.sparse,
            stats.tokens_before,
            stats.tokens_after
        ));
    }
}

/// Returns the folder of the settings.
fn folder(session: &DaemonSession) -> Result<PathBuf, Failure> {
    if let Some(folder) = session.given_workspace()? {
        return Ok(folder);
    }
    current_dir()
}
