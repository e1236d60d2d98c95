//! What does the client program answer, and how does a folder get into the daemon?

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Client, ModelLoad, Request, StatusRequest, StatusResponse, WorkspaceAddRequest, WorkspaceAddResponse,
    WorkspaceSyncRequest, WorkspaceSyncResponse,
};
use serde::Deserialize;

use crate::scratch::{Scratch, answer};
use crate::terminal::say;

/// What `hippoctl --json bench` answers.
#[derive(Deserialize)]
pub struct Report {
    /// How many questions were asked.
    pub questions: usize,
    /// One row for each way of asking, and for each group of questions.
    pub rows: Vec<Row>,
}

/// What the questions of one way and group came to.
#[derive(Deserialize)]
pub struct Row {
    /// The way.
    pub mode: String,
    /// The group; none where all questions are meant.
    pub group: Option<String>,
    /// Shares of the evidence within so many hits.
    pub recall_at: BTreeMap<u32, f64>,
    /// Mean reciprocal rank, where there is a ranking.
    pub mrr: Option<f64>,
    /// The gain within ten hits, where there is a ranking.
    pub ndcg_at_10: Option<f64>,
    /// Shares of the evidence within so many tokens.
    pub budget_recall: BTreeMap<u32, f64>,
    /// Of an answer.
    pub tokens_per_question: f64,
    /// Milliseconds.
    pub latency_p50_ms: f64,
    /// Questions that were answered without something, by what was missing.
    pub degraded: BTreeMap<String, usize>,
}

impl Report {
    /// All questions, asked in one way.
    ///
    /// # Errors
    /// There is no such row.
    pub fn row(&self, mode: &str) -> Result<&Row> {
        let found = self.all().find(|row| row.mode == mode);
        found.with_context(|| format!("no row for {mode}"))
    }

    /// The rows of all questions.
    pub fn all(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.group.is_none())
    }
}

/// Has the client program ask the questions of a file, and says which answers were degraded.
///
/// # Errors
/// It fails, or answers something else.
pub fn ask(scratch: &Scratch, root: &str, questions: &Path, arguments: &[&str]) -> Result<Report> {
    let mut command = scratch.hippoctl();
    command
        .args(["--json", "--workspace", root, "bench"])
        .arg(questions)
        .args(arguments);
    let report: Report = answer(&mut command)?;
    for row in &report.rows {
        for (missing, count) in &row.degraded {
            say(format_args!(
                "{}: {count} questions answered with {missing}",
                row.mode
            ));
        }
    }
    Ok(report)
}

/// The canonical name of a folder, as the daemon knows its workspace.
///
/// # Errors
/// It is not there, or its name is not unicode.
pub fn root_of(folder: &Path) -> Result<String> {
    let folder = fs::canonicalize(folder).with_context(|| format!("could not find {}", folder.display()))?;
    let name = folder
        .to_str()
        .with_context(|| format!("the name of {} is not unicode", folder.display()))?;
    Ok(name.to_owned())
}

/// Registers a folder by its [`root_of`], and waits until all of it is searchable.
///
/// # Errors
/// The daemon refuses, or chunks still wait for their vectors although it searches by meaning.
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

/// The answer to a sync, unless something is not searchable yet. Without a model, as where search by meaning is switched off, no
/// chunk will ever have a vector.
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
    fn a_workspace_that_waits_for_vectors_is_none_to_measure() {
        let synced = |pending| WorkspaceSyncResponse {
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

    #[test]
    fn a_row_without_its_degraded_answers_is_refused() {
        let row = r#"{"mode":"hybrid","group":null,"recall_at":{"5":0.5},"mrr":null,"ndcg_at_10":null,
            "budget_recall":{"500":0.4},"tokens_per_question":9.0,"latency_p50_ms":1.0"#;
        let report = |end: &str| format!("{{\"questions\":1,\"rows\":[{row}{end}}}]}}");
        let read = |text: String| serde_json::from_str::<Report>(&text);
        let told = read(report(",\"degraded\":{\"no-model\":1}")).unwrap();
        assert_eq!(told.row("hybrid").unwrap().degraded["no-model"], 1);
        assert!(told.row("vector").is_err());
        assert!(read(report("")).is_err());
    }
}
