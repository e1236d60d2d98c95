//! A client that panics on refusals, and comparison of answers.

use std::path::Path;
use std::time::Instant;

use hippo_proto::{
    Client, ClientError, DoctorRequest, DoctorResponse, RpcError, SearchHit, SearchMode, SearchRequest,
    SearchResponse, StatusRequest, StatusResponse, WorkspaceAddRequest, WorkspaceAddResponse,
    WorkspaceSyncRequest, WorkspaceSyncResponse,
};

use crate::PATIENCE;

/// A client that panics on refusals.
pub struct Caller {
    client: Client,
}

impl Caller {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Returns the underlying client.
    pub fn raw(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Registers a workspace and waits until all of its files are searchable.
    pub fn index(&mut self, workspace: &Path) -> WorkspaceSyncResponse {
        self.add(workspace);
        self.sync(workspace)
    }

    /// Registers a workspace.
    pub fn add(&mut self, workspace: &Path) -> WorkspaceAddResponse {
        let request = WorkspaceAddRequest {
            workspace: workspace.display().to_string(),
        };
        self.client.call(&request.into()).expect("registered")
    }

    /// Syncs a workspace and waits until all files on disk are searchable.
    pub fn sync(&mut self, workspace: &Path) -> WorkspaceSyncResponse {
        let request = WorkspaceSyncRequest {
            workspace: workspace.display().to_string(),
            wait: true,
            accept_deletions: false,
        };
        self.client.call(&request.into()).expect("synced")
    }

    /// Syncs a workspace and confirms the deletions that are held back.
    pub fn accept_deletions(&mut self, workspace: &Path) -> WorkspaceSyncResponse {
        self.sync(workspace);
        let request = WorkspaceSyncRequest {
            workspace: workspace.display().to_string(),
            wait: true,
            accept_deletions: true,
        };
        self.client.call(&request.into()).expect("synced")
    }

    /// Returns the status of the daemon and of its workspaces.
    pub fn status(&mut self) -> StatusResponse {
        self.client.call(&StatusRequest {}.into()).expect("a status")
    }

    /// Returns the answer of `doctor`. With `rebuild`, all derived data is rebuilt first.
    pub fn doctor(&mut self, rebuild: bool) -> DoctorResponse {
        let request = DoctorRequest {
            workspace: None,
            rebuild,
            ..DoctorRequest::default()
        };
        self.client.call(&request.into()).expect("a diagnosis")
    }

    /// Returns the reason why a path of the only workspace is not indexed. Asserts that `doctor` reports the same
    /// path.
    pub fn skipped(&mut self, path: &str) -> String {
        let status = self.status();
        let skipped = &status.workspaces[0].skipped;
        let found = skipped.iter().find(|skipped| skipped.path == path);
        let reason = match found {
            Some(found) => found.reason.clone(),
            None => panic!("{path} is not skipped: {skipped:?}"),
        };
        let problems = self.doctor(false).problems;
        let told = problems.iter().any(|problem| {
            problem.id == "skipped" && problem.where_.ends_with(path) && problem.what.contains(&reason)
        });
        assert!(told, "{path}: {problems:?}");
        reason
    }

    /// Sends a search that the daemon must refuse, and returns the refusal.
    pub fn refusal(&mut self, request: SearchRequest) -> RpcError {
        match self.client.call::<SearchResponse>(&request.into()) {
            Err(ClientError::Refused(error)) => error,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Returns the answer to each query in each mode. The queries are not recorded as accesses, because recorded
    /// accesses could change later answers.
    pub fn answers(&mut self, workspace: &Path, queries: &[&str]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for query in queries {
            for mode in [SearchMode::Hybrid, SearchMode::Lexical, SearchMode::Vector] {
                let mut request = SearchRequest::new(workspace.display().to_string(), *query);
                request.mode = Some(mode);
                request.record = false;
                let response = self.warm(&request);
                assert_eq!(response.index.degraded, None, "{query}: {:?}", response.index.why);
                answers.push((format!("{mode:?} {query}"), essence(&response.results)));
            }
        }
        answers
    }

    /// Repeats a search until the daemon has compared the files on disk with the index.
    pub fn warm(&mut self, request: &SearchRequest) -> SearchResponse {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let response: SearchResponse = self.client.call(&request.clone().into()).expect("an answer");
            if response.index.degraded.as_deref() != Some("warming") {
                return response;
            }
            assert!(Instant::now() < deadline, "never warm: {response:?}");
            std::thread::yield_now();
        }
    }

    /// Searches by words and meaning.
    pub fn search(&mut self, workspace: &Path, query: &str) -> SearchResponse {
        self.client
            .call(&SearchRequest::new(workspace.display().to_string(), query).into())
            .expect("an answer")
    }

    /// Returns `path:line` of the best hit, if any.
    pub fn best(&mut self, workspace: &Path, query: &str) -> Option<String> {
        let hits = self.search(workspace, query).results;
        hits.first().map(|hit| format!("{}:{}", hit.path, hit.start_line))
    }

    /// Repeats a search until `done` accepts the answer. Use it for changes that the watcher has to report.
    pub fn search_until(
        &mut self,
        workspace: &Path,
        query: &str,
        done: impl Fn(&SearchResponse) -> bool,
    ) -> SearchResponse {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let response = self.search(workspace, query);
            if done(&response) {
                return response;
            }
            assert!(
                Instant::now() < deadline,
                "never happened for {query:?}: {response:?}"
            );
            std::thread::yield_now();
        }
    }
}

/// The fields of a result that must be equal in two equal indexes: path, lines, text and score.
pub type Essence = (String, u32, u32, String, String);

/// An answer: mode and query as one text, and the essence of each result.
pub type Answer = (String, Vec<Essence>);

/// Compares the answers of two indexes, and panics at the first difference.
pub fn assert_same(what: &str, found: &[Answer], expected: &[Answer]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    let hits: usize = expected.iter().map(|(_, hits)| hits.len()).sum();
    assert!(hits > 0, "{what}: nothing was found, so nothing is compared");
}

/// Returns the essence of each result.
pub fn essence(hits: &[SearchHit]) -> Vec<Essence> {
    hits.iter()
        .map(|hit| {
            let score = format!("{:.4}", hit.score);
            (
                hit.path.clone(),
                hit.start_line,
                hit.end_line,
                hit.text.clone(),
                score,
            )
        })
        .collect()
}
