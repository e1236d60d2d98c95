//! Writer of entries and log lines for clients.

use std::sync::Arc;
use std::time::Duration;

use hippo_proto::{RememberRequest, RememberResponse, RpcError, Viewer};

use crate::clock::{Clock, date_in};
use crate::errors::root_missing;
use crate::message::{AnswerSender, AppendedText, EngineHandle, EntryCommand, Order, WorkspaceMessage};
use crate::remember;
use crate::tasks::run_blocking;
use crate::view::WorkspaceView;
use crate::views::Views;

/// Maximum wait until the engine has read the log.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writer of entries and log lines. It sends changes of entries to the engine.
#[derive(Clone)]
pub struct MemoryWriter {
    views: Arc<Views>,
    clock: Arc<dyn Clock>,
    engine: EngineHandle,
}

impl MemoryWriter {
    /// Creates a writer.
    pub fn new(views: Arc<Views>, clock: Arc<dyn Clock>, engine: EngineHandle) -> Self {
        Self { views, clock, engine }
    }

    /// Returns the workspace at or above a folder, for a request that writes. If the workspace's disk was missing,
    /// first checks whether it is mounted again.
    ///
    /// # Errors
    /// See [`Views::get`](crate::views::Views::get).
    pub async fn view_to_write(&self, folder: &str) -> Result<Arc<WorkspaceView>, RpcError> {
        let view = self.views.get(folder).await?;
        let was_away = view.status().is_some_and(|status| !status.root_present);
        if was_away && hippo_fs::is_present(&view.root) {
            let looked = self.engine.ask(&view.root, |reply| WorkspaceMessage::Sync {
                wait: false,
                accept_deletions: false,
                reply,
            });
            // An error of the disk is ignored here, because the request itself reports it.
            drop(looked.await);
        }
        Ok(view)
    }

    /// Sends a change of entries to the engine.
    ///
    /// # Errors
    /// Returns the engine's error.
    pub async fn change<T>(
        &self,
        workspace: &str,
        change: impl FnOnce(AnswerSender<T>) -> EntryCommand,
    ) -> Result<T, RpcError> {
        let view = self.view_to_write(workspace).await?;
        self.engine
            .ask(&view.root, |reply| {
                WorkspaceMessage::Order(Order::Change(change(reply)))
            })
            .await
    }

    /// Appends a text to the log of the day and creates its entry. A private text goes to the log of the agent, and has
    /// no entry.
    ///
    /// # Errors
    /// Fails if the text cannot be appended to the log. In this case, no entry is created either.
    pub async fn remember(
        &self,
        viewer: &Viewer,
        request: RememberRequest,
    ) -> Result<RememberResponse, RpcError> {
        let view = self.view_to_write(&request.workspace).await?;
        let folder = match request.private {
            true => private_folder(&view, viewer)?,
            false => remember::SHARED_LOGS.to_owned(),
        };
        let zone = view.zone(&*self.clock);
        let today = date_in(self.clock.now(), &zone);
        if view.status().is_some_and(|status| !status.root_present) || !hippo_fs::is_present(&view.root) {
            return Err(root_missing(&view.root));
        }
        let (root, asked, scopes) = (view.root.clone(), request.clone(), view.scopes.clone());
        // The search for secrets takes longer for longer texts, so it runs on a blocking thread.
        let append = move || {
            let appended = remember::append((&root, &scopes), &folder, today, &asked)?;
            let secrets = remember::Secrets::of(&asked);
            let (kinds, told) = (secrets.names(), secrets.notes(&appended));
            Ok((appended, kinds, told))
        };
        let (appended, kinds, mut notes) = run_blocking(append).await?;
        let (path, start_line, end_line) = (appended.path.clone(), appended.start_line, appended.end_line);
        let repeated = appended.repeated;
        let is_private = request.private;
        let entered = async {
            if is_private {
                return Ok(None);
            }
            self.engine
                .ask(&view.root, |reply| {
                    let appended = AppendedText {
                        request,
                        appended,
                        reply,
                    };
                    WorkspaceMessage::Order(Order::Change(EntryCommand::Remembered(Box::new(appended))))
                })
                .await
        };
        let entered = entered.await;
        // The next query must find the text, and the watcher would report the change too late.
        let read = self.engine.read_files(&view.root, vec![path.clone()]);
        let is_searchable = matches!(tokio::time::timeout(PATIENCE, read).await, Ok(Ok(true)));
        let entry = match entered {
            Ok(entry) => {
                if repeated {
                    let done = match entry {
                        Some(_) => "; the access to its entry was recorded",
                        None => "",
                    };
                    notes.push(format!(
                        "today's log already contains the text; nothing was appended{done}"
                    ));
                }
                entry
            }
            // The text was appended to the log, so the request succeeded.
            Err(error) => {
                notes.push(format!(
                    "the text was appended to the log, but its entry could not be created: {}",
                    error.message
                ));
                None
            }
        };
        if !is_searchable {
            notes.push(format!(
                "{path} is not searchable yet; to see the reason: hippoctl status"
            ));
        }
        Ok(RememberResponse {
            path,
            start_line,
            end_line,
            entry,
            secrets: kinds,
            notes,
        })
    }
}

/// Returns the folder of the logs that only an agent may read, with a `/` at its end.
///
/// # Errors
/// Returns `bad-request` if the request names no agent, or if the settings name no folder for agents.
pub fn private_folder(view: &WorkspaceView, viewer: &Viewer) -> Result<String, RpcError> {
    let Some(agent) = &viewer.0 else {
        return Err(RpcError::bad_request("a private text needs an agent")
            .hint("name the agent: hippoctl remember --private --agent ID"));
    };
    let folder = view.scopes.folder(agent).ok_or_else(|| {
        RpcError::bad_request(format!("the settings name no folder for the agent {agent}"))
            .hint("add a pattern such as agents/{agent}/** to the setting scopes.private")
    })?;
    Ok(format!("{folder}/memory/"))
}
