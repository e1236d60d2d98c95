//! `ingest`: import of transcripts into the daily logs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hippo_proto::{SessionFlushRequest, SessionFlushResponse};
use hippo_types::transcript::TranscriptFormat;
use serde::Serialize;

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::IngestArgs;

/// Maximum depth of the folders that are searched for transcripts.
const DEPTH: usize = 8;
/// Maximum number of transcripts in one call of `hippoctl ingest`.
const MOST: usize = 100_000;

/// The result for one transcript.
#[derive(Debug, Serialize)]
pub struct IngestResult {
    /// The path of the transcript.
    pub path: String,
    /// The response of the daemon.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub answer: Option<SessionFlushResponse>,
    /// The reason for a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Sends the path of each transcript to the daemon, which writes the daily logs.
///
/// # Errors
/// Fails if no workspace is found, if no daemon can be reached, or if the daemon could not ingest all transcripts. A
/// failed transcript does not affect the others.
pub fn ingest(session: &mut DaemonSession, args: &IngestArgs, out: &mut Output) -> Result<(), Failure> {
    let mut files = Vec::new();
    for file in &args.files {
        gather(file, &mut files, 0)?;
    }
    if files.is_empty() {
        let failure = Failure::new(Exit::NotFound, "these folders contain no .jsonl files");
        return Err(failure.hint("if the transcripts have another extension, give their paths"));
    }
    let workspace = session.workspace()?;
    let mut done = Vec::new();
    for file in files {
        let path = text(&absolute(&file)?)?;
        let request = SessionFlushRequest {
            workspace: workspace.clone(),
            path: path.clone(),
            session: None,
            format: (args.format != TranscriptFormat::Auto).then_some(args.format),
            wait: true,
            compact: args.store,
            close: false,
            tree: false,
            agent: None,
        };
        let (answer, error) = match session.call_patiently(request) {
            Ok(answer) => (Some(answer), None),
            Err(failure) if failure.exit == Exit::NoDaemon => return Err(failure),
            Err(failure) => (None, Some(failure.message)),
        };
        done.push(IngestResult { path, answer, error });
    }
    let failed = done.iter().filter(|one| one.error.is_some()).count();
    out.answer(&done, |done, style| render::ingest::ingested(done, style))?;
    match failed {
        0 => Ok(()),
        _ => {
            let all = render::plural(done.len() as u64, "transcript");
            let what = format!("could not ingest {failed} of {all}");
            Err(Failure::new(Exit::Failed, what))
        }
    }
}

/// Adds a file to the list. For a folder, adds the transcripts in the folder, oldest first, and then the transcripts in
/// its subfolders.
#[expect(clippy::disallowed_methods, reason = "the user chose these files")]
fn gather(file: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<(), Failure> {
    let failed = |error| Failure::input("read the transcripts", file, &error);
    if !fs::metadata(file).map_err(failed)?.is_dir() {
        files.push(file.to_path_buf());
        return Ok(());
    }
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut below: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(file).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Links are not followed, because they can form a loop.
        let kind = entry.file_type().map_err(failed)?;
        let path = entry.path();
        if kind.is_dir() && depth < DEPTH {
            below.push(path);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "jsonl") {
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            found.push((written.unwrap_or(SystemTime::UNIX_EPOCH), path));
        }
    }
    found.sort();
    below.sort();
    files.extend(found.into_iter().map(|(_, path)| path));
    for folder in below {
        gather(&folder, files, depth + 1)?;
    }
    if files.len() > MOST {
        let what = format!("more than {MOST} transcripts below {}", file.display());
        return Err(Failure::new(Exit::Refused, what).hint("name fewer folders"));
    }
    Ok(())
}
