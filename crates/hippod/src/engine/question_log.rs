//! The recall log of a workspace: the last questions with their answers.
//!
//! Queries send their questions to the thread of the workspace after the answer, so that no query waits for the
//! database. The log is never written to the log file.

use hippo_proto::{LoggedQuestion, RecallLogRequest, RecallLogResponse, RpcError, Viewer};
use hippo_redact::without_secrets;
use hippo_store::StoreError;
use hippo_store::db::LogLimits;
use hippo_text::text::{clip, one_line, start};

use crate::engine::worker::WorkspaceWorker;
use crate::engine::workspace::Workspace;
use crate::errors::store_error;

/// Default number of questions in the answer to `recall.log`.
const SHOWN: u32 = 20;
/// Maximum number of bytes at the beginning of a question that are searched for secrets.
const READ: usize = 4 * 1024;
/// Maximum number of bytes of a question in the log.
const KEPT: usize = 500;
/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

impl WorkspaceWorker {
    /// Appends a question to the recall log.
    pub(super) fn log_question(&self, workspace: &mut Workspace, mut question: LoggedQuestion) {
        let Some(limits) = self.log_limits(workspace) else {
            return;
        };
        question.question = clip(&one_line(&without_secrets(start(&question.question, READ))), KEPT);
        let at = self.resources.clock.now();
        let record = serde_json::to_string(&question).unwrap_or_default();
        if let Err(error) = workspace.store.log_question(at, &record, limits) {
            tracing::warn!(%error, "could not write to the recall log");
        }
    }

    /// Handles `recall.log`.
    pub(super) fn recall_log(
        &self,
        workspace: &Workspace,
        viewer: &Viewer,
        request: &RecallLogRequest,
    ) -> Result<RecallLogResponse, RpcError> {
        let settings = &workspace.view.config.recall;
        let limit = request.limit.unwrap_or(SHOWN) as usize;
        let parse = |(id, record): &(u64, String)| {
            let question: LoggedQuestion = serde_json::from_str(record).ok()?;
            let is_seen = question.agent.is_none() || question.agent == viewer.0;
            is_seen.then_some(LoggedQuestion { id: *id, ..question })
        };
        let mut questions = Vec::new();
        let mut before = request.before;
        // Each page may contain questions of other agents.
        while let Some(limits) = self.log_limits(workspace).filter(|_| questions.len() < limit) {
            let page = workspace.store.questions(limit, before, limits);
            let page = page.map_err(|error| store_error(&error))?;
            questions.extend(page.iter().filter_map(parse));
            match page.last() {
                Some((id, _)) => before = Some(*id),
                None => break,
            }
        }
        questions.truncate(limit);
        Ok(RecallLogResponse {
            questions,
            limit: settings.log_questions as u64,
            days: settings.log_days,
        })
    }

    /// Removes old questions from the recall log, or all questions if the log is turned off.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(super) fn trim_log(&self, workspace: &mut Workspace) -> Result<(), StoreError> {
        let since = self.resources.clock.now();
        let none = LogLimits { count: 0, since };
        let limits = self.log_limits(workspace).unwrap_or(none);
        workspace.store.trim_questions(limits)
    }

    /// Returns the limits of the recall log; `None` if the log is turned off.
    fn log_limits(&self, workspace: &Workspace) -> Option<LogLimits> {
        let settings = &workspace.view.config.recall;
        let days = i64::from(settings.log_days);
        (settings.log_questions > 0).then(|| LogLimits {
            count: settings.log_questions,
            since: self.resources.clock.now().plus(-days * DAY_MS),
        })
    }
}
