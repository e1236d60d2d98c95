//! What does a client ask of the index entries, the cycles and the log?

use std::path::{Path, PathBuf};

use hippo_proto::{
    ClientError, CycleHistoryRequest, CycleHistoryResponse, CycleName, CycleReport, CycleRunRequest,
    CycleUndoRequest, CycleUndoResponse, HeartbeatRequest, HeartbeatResponse, IndexEditRequest,
    IndexEditResponse, IndexEntry, IndexForgetRequest, IndexForgetResponse, IndexListRequest,
    IndexListResponse, IndexRestoreRequest, IndexRestoreResponse, IndexShowRequest, IndexShowResponse,
    IndexStatus, RememberRequest, RememberResponse, RpcError, SearchRequest, SearchResponse,
};

use crate::{Caller, Daemon, Scratch};

/// Cycles run when they are asked for, and the first light one: nothing comes between the steps of a scenario.
pub const QUIET: [(&str, &str); 3] = [
    ("HIPPOD_CYCLES_LIGHT", "0 0 1 1 *"),
    ("HIPPOD_CYCLES_DEEP", "0 0 1 1 *"),
    ("HIPPOD_CYCLES_ARCHIVAL", "0 0 1 1 *"),
];

impl Scratch {
    /// A daemon whose cycles run only when they are asked for.
    pub fn quiet_daemon(&self) -> Daemon {
        Daemon::start(&self.home(), &QUIET)
    }

    /// Path of the index file.
    pub fn index_path(&self) -> PathBuf {
        self.workspace().join("HIPPOCAMPUS.md")
    }

    /// The index file as text.
    pub fn index_file(&self) -> String {
        let bytes = std::fs::read(self.index_path()).expect("an index file");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Replaces the first `from` in the index file, as an editor does that saves under another name and renames.
    pub fn edit_index(&self, from: &str, to: &str) {
        let before = self.index_file();
        assert!(before.contains(from), "{from:?} is not in the file:\n{before}");
        self.write("HIPPOCAMPUS.md", before.replacen(from, to, 1));
    }

    /// What of the daemon's own stands in the workspace: the index file and all files below `.hippocampus/` but the canary,
    /// with their bytes.
    pub fn kept_files(&self) -> Vec<(String, Vec<u8>)> {
        let root = self.workspace();
        let mut files = Vec::new();
        let mut folders = vec![root.join(".hippocampus")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("canary") {
                    files.push(path);
                }
            }
        }
        files.extend(Some(self.index_path()).filter(|path| path.exists()));
        let read = |path: PathBuf| {
            let name = path
                .strip_prefix(&root)
                .expect("below the root")
                .display()
                .to_string();
            Some((name, std::fs::read(&path).ok()?))
        };
        let mut read: Vec<_> = files.into_iter().filter_map(read).collect();
        read.sort();
        read
    }

    /// What is left in the workspace of replacing the index file.
    pub fn remains(&self) -> Vec<String> {
        let listing = std::fs::read_dir(self.workspace()).expect("a workspace");
        let names = listing
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with(".HIPPOCAMPUS.md."))
            .collect()
    }
}

fn shown(workspace: &Path) -> String {
    workspace.display().to_string()
}

impl Caller {
    /// All entries in the index, by id.
    pub fn entries(&mut self, workspace: &Path) -> Vec<IndexEntry> {
        let mut list = self.listed(workspace, false, None).entries;
        list.sort_by(|a, b| a.id.cmp(&b.id));
        list
    }

    /// Their ids, in order.
    pub fn ids(&mut self, workspace: &Path) -> Vec<String> {
        self.entries(workspace)
            .into_iter()
            .map(|entry| entry.id)
            .collect()
    }

    /// The answer of `index.list`.
    pub fn listed(&mut self, workspace: &Path, archived: bool, at: Option<&str>) -> IndexListResponse {
        let request = IndexListRequest {
            workspace: shown(workspace),
            at: at.map(str::to_owned),
            limit: None,
            archived,
        };
        self.raw().call(&request.into()).expect("a list")
    }

    /// One entry, wherever it stands.
    pub fn entry(&mut self, workspace: &Path, id: &str) -> IndexEntry {
        self.show(workspace, id).entry
    }

    /// The answer of `index.show`.
    pub fn show(&mut self, workspace: &Path, id: &str) -> IndexShowResponse {
        let request = IndexShowRequest {
            workspace: shown(workspace),
            id: id.to_owned(),
            at: None,
        };
        self.raw().call(&request.into()).expect("an entry")
    }

    /// Changes an entry.
    pub fn edit(
        &mut self,
        workspace: &Path,
        id: &str,
        change: impl FnOnce(&mut IndexEditRequest),
    ) -> IndexEntry {
        let mut request = IndexEditRequest {
            workspace: shown(workspace),
            id: id.to_owned(),
            ..IndexEditRequest::default()
        };
        change(&mut request);
        let answer: IndexEditResponse = self.raw().call(&request.into()).expect("an edit");
        answer.entry
    }

    /// Forgets an entry.
    pub fn forget(&mut self, workspace: &Path, id: &str) {
        let request = IndexForgetRequest {
            workspace: shown(workspace),
            id: id.to_owned(),
        };
        let _: IndexForgetResponse = self.raw().call(&request.into()).expect("forgotten");
    }

    /// Brings an entry back.
    pub fn restore(&mut self, workspace: &Path, id: &str) -> IndexEntry {
        let request = IndexRestoreRequest {
            workspace: shown(workspace),
            id: id.to_owned(),
        };
        let answer: IndexRestoreResponse = self.raw().call(&request.into()).expect("restored");
        answer.entry
    }

    /// Runs a cycle now.
    pub fn run(&mut self, workspace: &Path, cycle: CycleName) -> CycleReport {
        self.try_run(workspace, cycle, None, false).expect("a cycle")
    }

    /// Runs a cycle as of a moment.
    pub fn run_at(&mut self, workspace: &Path, cycle: CycleName, at: &str) -> CycleReport {
        self.try_run(workspace, cycle, Some(at), false).expect("a cycle")
    }

    /// Plans a cycle.
    pub fn plan(&mut self, workspace: &Path, cycle: CycleName, at: Option<&str>) -> CycleReport {
        self.try_run(workspace, cycle, at, true).expect("a plan")
    }

    /// Runs or plans a cycle, or says why that is refused.
    pub fn try_run(
        &mut self,
        workspace: &Path,
        cycle: CycleName,
        at: Option<&str>,
        dry_run: bool,
    ) -> Result<CycleReport, ClientError> {
        let request = CycleRunRequest {
            workspace: shown(workspace),
            cycle,
            dry_run,
            at: at.map(str::to_owned),
        };
        self.raw().call(&request.into())
    }

    /// Takes a run back.
    pub fn undo(&mut self, workspace: &Path, run: i64) -> Result<CycleUndoResponse, RpcError> {
        let request = CycleUndoRequest {
            workspace: shown(workspace),
            run,
        };
        match self.raw().call(&request.into()) {
            Ok(undone) => Ok(undone),
            Err(ClientError::Refused(error)) => Err(error),
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// All runs, the newest first, and the report of one.
    pub fn history(&mut self, workspace: &Path, run: Option<i64>) -> CycleHistoryResponse {
        let request = CycleHistoryRequest {
            workspace: shown(workspace),
            limit: Some(hippo_proto::MAX_RUNS),
            run,
        };
        self.raw().call(&request.into()).expect("a history")
    }

    /// Runs what is due.
    pub fn heartbeat(&mut self, workspace: &Path) -> HeartbeatResponse {
        let request = HeartbeatRequest {
            workspace: shown(workspace),
        };
        self.raw().call(&request.into()).expect("a heartbeat")
    }

    /// Appends a text to the log of today.
    pub fn remember(&mut self, workspace: &Path, text: &str, topic: &str) -> RememberResponse {
        let request = RememberRequest {
            workspace: shown(workspace),
            text: text.to_owned(),
            topic: Some(topic.to_owned()),
            ..RememberRequest::default()
        };
        self.raw().call(&request.into()).expect("remembered")
    }

    /// Asks with an explanation, with or without leaving a trace.
    pub fn ask(&mut self, workspace: &Path, query: &str, record: bool) -> SearchResponse {
        let mut request = SearchRequest::new(shown(workspace), query);
        request.explain = true;
        request.record = record;
        self.raw().call(&request.into()).expect("an answer")
    }

    /// How the index file of the only workspace is.
    pub fn index_status(&mut self) -> IndexStatus {
        let status = self.status().workspaces.remove(0);
        status.index.expect("a workspace that is open")
    }
}
