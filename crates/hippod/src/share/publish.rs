//! Publication of a workspace.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use hippo_proto::{OutgoingChunk, OutgoingText, SharePublishResponse};
use hippo_share::device::DeviceKey;
use hippo_share::publish::Publisher;
use hippo_share::record::{OutgoingDocument, WorkspaceIdentity};
use hippo_share::{ServerConnection, ShareError};

use super::outgoing::{self, LocalDocuments};
use super::{TeamShare, device_name, identity};
use crate::tasks::run_blocking;
use crate::view::WorkspaceView;

/// Maximum number of documents in a transaction.
const DOCUMENTS: usize = 32;
/// Number of passages after which a transaction ends.
const PASSAGES: usize = 500;

/// Results of the last publications, by workspace.
pub type PublishStates = BTreeMap<PathBuf, PublishState>;

/// Result of the last publication of a workspace.
#[derive(Debug, Clone, Default)]
pub struct PublishState {
    /// State of the index that is completely on the server.
    pub published: Option<IndexMark>,
    /// Number of documents that were not published yet.
    pub waiting: Option<u64>,
    /// Error of the last attempt.
    pub error: Option<String>,
}

/// State of the index of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexMark {
    generation: u64,
    vectors: usize,
    /// Ids of the documents that are not shared, in ascending order.
    private: Vec<u32>,
}

impl IndexMark {
    /// Returns the current state of a workspace. Returns `None` while the index does not match the disk: a document that is
    /// missing from such an index must not be removed from the server.
    pub fn of(view: &WorkspaceView) -> Option<Self> {
        let freshness = view.freshness();
        let is_warming = freshness.degraded.is_some_and(|(word, _)| word == "warming");
        if is_warming || freshness.unread > 0 || !hippo_fs::is_present(&view.root) {
            return None;
        }
        let snapshot = view.snapshot();
        let mut private: Vec<u32> = snapshot.scopes.keys().copied().collect();
        private.sort_unstable();
        Some(Self {
            generation: snapshot.generation,
            vectors: snapshot.vectors.len(),
            private,
        })
    }
}

/// Changes of a workspace that the server does not have.
struct Difference {
    changed: Vec<String>,
    removed: Vec<String>,
    unchanged: u64,
}

fn compare(local: &LocalDocuments, published: &HashMap<String, Vec<u8>>) -> Difference {
    let is_same = |path: &String| {
        published
            .get(path)
            .is_some_and(|digest| *digest == local[path].digest)
    };
    let (same, changed): (Vec<String>, Vec<String>) = local.keys().cloned().partition(is_same);
    let mut removed: Vec<String> = published
        .keys()
        .filter(|path| !local.contains_key(*path))
        .cloned()
        .collect();
    removed.sort_unstable();
    Difference {
        changed,
        removed,
        unchanged: same.len() as u64,
    }
}

/// One publication.
struct Round<'a> {
    share: &'a TeamShare,
    view: &'a Arc<WorkspaceView>,
    key: Arc<DeviceKey>,
    workspace: WorkspaceIdentity,
    device_name: String,
}

impl TeamShare {
    /// Publishes what the server does not have yet. With `dry_run`, returns what would leave the machine.
    ///
    /// # Errors
    /// See [`ShareError`]. The next publication continues.
    pub(super) async fn publish_workspace(
        &self,
        view: &Arc<WorkspaceView>,
        dry_run: bool,
    ) -> Result<SharePublishResponse, ShareError> {
        let _turn = self.queue.enter().await;
        let round = Round {
            share: self,
            view,
            key: self.key().await?,
            workspace: identity(&view.root),
            device_name: device_name(),
        };
        if dry_run {
            return round.preview().await;
        }
        let mark = IndexMark::of(view);
        let result = round.publish().await;
        let mut states = self.states.lock();
        let state = states.entry(view.root.clone()).or_default();
        match &result {
            Ok(response) => {
                state.error = None;
                state.waiting = Some(response.notes.len() as u64);
                state.published = mark.filter(|_| response.notes.is_empty());
            }
            Err(error) => state.error = Some(format!("{error}; {}", error.hint())),
        }
        result
    }
}

impl Round<'_> {
    fn publisher(&self) -> Publisher<'_> {
        Publisher {
            key: &self.key,
            device_name: &self.device_name,
            team: &self.share.settings.team,
            workspace: &self.workspace,
        }
    }

    async fn local(&self) -> Result<LocalDocuments, ShareError> {
        let (view, key) = (Arc::clone(self.view), Arc::clone(&self.key));
        let listed = run_blocking(move || Ok(outgoing::list(&view, &key))).await;
        listed.map_err(|error| ShareError::Unreachable(error.message))
    }

    /// Reads a document on a thread that may block.
    async fn read(&self, path: &str, local: &LocalDocuments) -> Option<OutgoingDocument> {
        let (view, key, workspace) = (
            Arc::clone(self.view),
            Arc::clone(&self.key),
            self.workspace.clone(),
        );
        let (team, path) = (self.share.settings.team.clone(), path.to_owned());
        let document = local.get(&path)?.clone();
        let read = move || {
            Ok(outgoing::read(
                &view,
                (&key, &team, &workspace),
                (&path, &document),
            ))
        };
        run_blocking(read).await.ok().flatten()
    }

    /// Reads a changed document, and counts it in the response. If its file has changed since it was indexed, the response
    /// gets a note.
    async fn read_changed(
        &self,
        path: &str,
        local: &LocalDocuments,
        response: &mut SharePublishResponse,
    ) -> Option<OutgoingDocument> {
        let document = self.read(path, local).await;
        match &document {
            Some(document) => {
                response.documents += 1;
                response.passages += document.passages.len() as u64;
            }
            None => response.notes.push(format!("not indexed yet: {path}")),
        }
        document
    }

    fn response(&self, difference: &Difference) -> SharePublishResponse {
        SharePublishResponse {
            team: self.share.settings.team.clone(),
            workspace: self.workspace.name.clone(),
            removed: difference.removed.len() as u64,
            unchanged: difference.unchanged,
            ..SharePublishResponse::default()
        }
    }

    async fn preview(&self) -> Result<SharePublishResponse, ShareError> {
        let local = self.local().await?;
        let server = self.share.server.as_ref().ok_or_else(no_team)?;
        let mut note = None;
        let published = match self.share.link.take(server).await {
            Ok(connection) => {
                let listed = self.publisher().listed(&connection).await;
                if listed.is_ok() {
                    self.share.link.keep(connection);
                }
                listed
            }
            Err(error) => Err(error),
        };
        let published = published.unwrap_or_else(|error| {
            note = Some(format!(
                "all documents are listed, because the server could not be asked: {error}"
            ));
            HashMap::new()
        });
        let difference = compare(&local, &published);
        let mut response = self.response(&difference);
        response.notes.extend(note);
        response
            .notes
            .push(format!("the rows name the device {}", self.device_name));
        for path in &difference.changed {
            let document = self.read_changed(path, &local, &mut response).await;
            response.outgoing.extend(document.map(shown));
        }
        Ok(response)
    }

    async fn publish(&self) -> Result<SharePublishResponse, ShareError> {
        let server = self.share.server.as_ref().ok_or_else(no_team)?;
        let mut connection = self
            .share
            .link
            .take(server)
            .await
            .inspect_err(|error| self.share.link.fail(error))?;
        let done = self.send(&mut connection).await;
        match &done {
            Ok(_) => self.share.link.keep(connection),
            Err(error) if error.is_temporary() => self.share.link.fail(error),
            Err(_) => {}
        }
        done
    }

    async fn send(&self, server: &mut ServerConnection) -> Result<SharePublishResponse, ShareError> {
        let publisher = self.publisher();
        let published = publisher.published(server).await?;
        // The index is read after the server was asked. A document that is missing now was removed, unless the index did
        // not match the disk while it was read.
        let before = IndexMark::of(self.view);
        let local = self.local().await?;
        let is_current = before.is_some() && before == IndexMark::of(self.view);
        let difference = compare(&local, &published);
        self.note_waiting(&difference);
        let mut response = self.response(&difference);
        if !is_current {
            response.removed = 0;
            response
                .notes
                .push("the index is not up to date, so no file was removed from the server".to_owned());
        } else if !difference.removed.is_empty() {
            publisher.remove(server, &difference.removed).await?;
        }
        let mut batch: Vec<OutgoingDocument> = Vec::new();
        for path in &difference.changed {
            batch.extend(self.read_changed(path, &local, &mut response).await);
            let passages: usize = batch.iter().map(|document| document.passages.len()).sum();
            if batch.len() >= DOCUMENTS || passages >= PASSAGES {
                publisher.put(server, &std::mem::take(&mut batch)).await?;
            }
        }
        if !batch.is_empty() {
            publisher.put(server, &batch).await?;
        }
        Ok(response)
    }

    fn note_waiting(&self, difference: &Difference) {
        let waiting = difference.changed.len() + difference.removed.len();
        let mut states = self.share.states.lock();
        states.entry(self.view.root.clone()).or_default().waiting = Some(waiting as u64);
    }
}

fn no_team() -> ShareError {
    ShareError::Setting {
        key: "url",
        why: "the settings name no server or no team".to_owned(),
    }
}

fn shown(document: OutgoingDocument) -> OutgoingText {
    let passages = document.passages.into_iter().map(|passage| OutgoingChunk {
        line: passage.lines.0,
        heading: passage.heading,
        date: passage.day,
        text: passage.text,
        model: passage.vector.map(|(model, _)| model),
    });
    OutgoingText {
        passages: passages.collect(),
        path: document.path,
    }
}
