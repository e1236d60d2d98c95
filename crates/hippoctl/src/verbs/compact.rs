//! `compact`: summary of a transcript.

use std::io::{self, Write};
use std::path::Path;

use hippo_proto::SessionCompactRequest;
use hippo_types::transcript::TranscriptFormat;
use tempfile::NamedTempFile;

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{FORMATS, harmless, one_line, plural};
use hippoctl::args::CompactArgs;

/// Maximum number of malformed records that are reported one by one.
const TOLD: usize = 5;

/// Prints the summary of a transcript. With `--store`, the daemon also stores the content of each message.
///
/// # Errors
/// Fails if the transcript does not exist or contains no message, if no workspace is found for `--store`, or if the
/// daemon refuses the request.
pub fn compact(session: &mut DaemonSession, args: &CompactArgs, out: &mut Output) -> Result<(), Failure> {
    // The daemon reads only files, so standard input is copied to a temporary file.
    let spooled = match args.file == Path::new("-") {
        true => Some(spool_input().map_err(|error| {
            Failure::new(Exit::Failed, format!("could not read standard input: {error}"))
        })?),
        false => None,
    };
    let path = spooled.as_ref().map_or(&*args.file, |spooled| spooled.path());
    let request = SessionCompactRequest {
        workspace: args.store.then(|| session.workspace()).transpose()?,
        path: Some(text(&absolute(path)?)?),
        format: (args.format != TranscriptFormat::Auto).then_some(args.format),
        budget_tokens: args.budget,
        ..SessionCompactRequest::default()
    };
    let answer = session.call_patiently(request)?;
    let stats = &answer.stats;
    for problem in stats.problems.iter().take(TOLD) {
        let what = one_line(&problem.what);
        out.note(&format!("warning: line {}: {what}; skipped", problem.line));
    }
    let more = stats.malformed.saturating_sub(TOLD as u64);
    if more > 0 {
        out.note(&format!("warning: {more} more records skipped"));
    }
    if stats.messages == 0 && stats.folded == 0 {
        let what = format!("the transcript contains no message: {}", args.file.display());
        return Err(Failure::new(Exit::Failed, what).hint(FORMATS));
    }
    out.notes(&answer.notes);
    if let Some(stored) = stats.stored {
        let stored = plural(stored, "new content");
        out.remark(&format!(
            "{stored} stored; fetch one with: hippoctl context fetch ID"
        ));
    }
    out.answer(&answer, |answer, _| format!("{}\n", harmless(&answer.summary)))
}

/// Copies standard input to a temporary file that only this user can read. Dropping the result removes the file.
fn spool_input() -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.flush()?;
    Ok(file)
}
