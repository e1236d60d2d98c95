//! `compact --store`: summary by the daemon.
//!
//! The daemon also stores the content of each message.

use std::io::{self, Write};
use std::path::Path;

use hippo_fs::harness;
use hippo_proto::{SessionCompactRequest, SessionCompactResponse};
use hippo_session::compaction::CompactionConfig;
use hippo_types::transcript::TranscriptFormat;
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::{config, folder, is_trusted, no_message, open, settings, tell};
use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{harmless, plural};
use hippoctl::args::CompactArgs;

/// The setting that limits the size of the sparse index.
const INDEX: &str = "maxSparseIndexTokens";

/// Prints the summary; with `--json`, the response of the daemon.
///
/// # Errors
/// Fails without a workspace or a transcript, if the transcript contains no message, or if the daemon refuses.
pub fn compact(session: &mut DaemonSession, args: &CompactArgs, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.workspace()?;
    let folder = folder(session)?;
    let state = session.paths.state.clone();
    let settings = settings(&folder)?;
    let debug = config(&state, &folder, settings.as_deref(), out)?.debug;
    // The daemon reads only files, so piped input is copied to a temporary file.
    let (path, _spooled) = if args.file == Path::new("-") {
        let spooled = spooled()
            .map_err(|error| Failure::new(Exit::Failed, format!("could not read standard input: {error}")))?;
        (absolute(spooled.path())?, Some(spooled))
    } else {
        open(&args.file).map_err(|error| Failure::input("read the transcript", &args.file, &error))?;
        (absolute(&args.file)?, None)
    };
    let request = SessionCompactRequest {
        workspace: Some(workspace),
        path: Some(text(&path)?),
        messages: None,
        format: (args.format != TranscriptFormat::Auto).then_some(args.format),
        config: settings.and_then(|bytes| numbers(&bytes, is_trusted(&state, &folder, &bytes))),
        budget_tokens: args.budget,
    };
    let answer: SessionCompactResponse = session.call_patiently(request, |_| {})?;
    tell(&answer.stats, debug, out);
    if answer.stats.messages == 0 && answer.stats.folded == 0 {
        return Err(no_message(args));
    }
    out.notes(&answer.notes);
    if let Some(stored) = answer.stats.stored.filter(|_| !out.json) {
        let stored = plural(stored, "new content");
        out.note(&format!(
            "{stored} stored; fetch one with: hippoctl context fetch ID"
        ));
    }
    out.answer(&answer, |answer, _| format!("{}\n", harmless(&answer.summary)))
}

/// Returns the settings for the daemon. Untrusted settings can only lower the size of the index.
fn numbers(bytes: &[u8], trusted: bool) -> Option<Map<String, Value>> {
    let mut keys = harness::read(bytes).0.session_compaction?;
    if !trusted {
        let index = CompactionConfig::read(&keys)
            .0
            .narrowed()
            .0
            .max_sparse_index_tokens;
        keys.retain(|key, value| key == INDEX && value.as_u64() == u64::try_from(index).ok());
    }
    Some(keys)
}

/// Copies standard input to a temporary file that only this user can read. The file is removed on drop.
fn spooled() -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.flush()?;
    Ok(file)
}
