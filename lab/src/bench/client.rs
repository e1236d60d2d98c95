//! Questions of a file, and registration of folders.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;
use hippo_proto::{
    Client, ModelLoad, Request, StatusRequest, StatusResponse, WorkspaceAddRequest, WorkspaceAddResponse,
    WorkspaceSyncRequest, WorkspaceSyncResponse,
};

use crate::questions::{self, BenchReport, QuestionArguments};
use crate::scratch::Scratch;
use crate::terminal::say;

/// Time limit of the daemon for indexing a workspace.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Asks the questions of a file, and prints the number of degraded answers.
///
/// # Errors
/// Fails if the daemon refuses a request, or if the questions cannot be read.
pub fn ask(scratch: &Scratch, root: &str, questions: &Path, words: &[&str]) -> Result<BenchReport> {
    let mut arguments = QuestionArguments::try_parse_from(["questions", "FILE"].iter().chain(words))?;
    (arguments.file, arguments.workspace) = (questions.to_owned(), Some(root.into()));
    let report = questions::measure(&mut scratch.connect(PATIENCE)?, &arguments)?;
    for row in report.all() {
        for (missing, count) in &row.degraded {
            say(format_args!(
                "{}: {count} questions have degraded answers ({missing})",
                row.mode
            ));
        }
    }
    Ok(report)
}

/// Returns the canonical path of a folder, as the daemon stores it.
///
/// # Errors
/// Fails if the folder does not exist, or if its path is not valid Unicode.
pub fn root_of(folder: &Path) -> Result<String> {
    let folder = fs::canonicalize(folder).with_context(|| format!("could not find {}", folder.display()))?;
    let name = folder
        .to_str()
        .with_context(|| format!("the name of {} is not Unicode", folder.display()))?;
    Ok(name.to_owned())
}

/// Registers the folder at this [`root_of`] path, and waits until the whole folder is searchable.
///
/// # Errors
/// Fails if the daemon refuses a request, or if chunks lack vectors although semantic search is enabled.
pub fn add(client: &mut Client, root: &str) -> Result<WorkspaceSyncResponse> {
    let add = WorkspaceAddRequest {
        workspace: root.to_owned(),
    };
    let _: WorkspaceAddResponse = client.call(&Request::from(add))?;
    let sync = WorkspaceSyncRequest {
        workspace: root.to_owned(),
        wait: true,
        ..WorkspaceSyncRequest::default()
    };
    let synced: WorkspaceSyncResponse = client.call(&Request::from(sync))?;
    let status: StatusResponse = client.call(&Request::from(StatusRequest {}))?;
    whole(synced, status.model.state != ModelLoad::Absent)
}

/// Returns the answer to a sync, or an error if chunks are pending. Without a model, for example if semantic search is
/// off, chunks never get vectors.
fn whole(synced: WorkspaceSyncResponse, has_model: bool) -> Result<WorkspaceSyncResponse> {
    if synced.pending > 0 && has_model {
        bail!("{} chunks still wait for their vectors", synced.pending);
    }
    Ok(synced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_waits_for_vectors_is_not_measured() {
        let synced = |pending| WorkspaceSyncResponse {
            files: 3,
            documents: 3,
            changed: 3,
            removed: 0,
            pending,
            generation: 1,
            took_ms: 1.0,
            notes: Vec::new(),
        };
        assert!(whole(synced(0), true).is_ok() && whole(synced(2), false).is_ok());
        let error = whole(synced(2), true).unwrap_err().to_string();
        assert!(error.contains("2 chunks"), "{error}");
    }
}
