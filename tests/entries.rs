//! Client helpers for index entries, cycles and the log.

use std::path::{Path, PathBuf};

use hippo_proto::{
    ClientError, Cycle, CycleHistoryRequest, CycleHistoryResponse, CycleReport, CycleRunRequest,
    CycleUndoRequest, CycleUndoResponse, HeartbeatRequest, HeartbeatResponse, IndexEditRequest,
    IndexEditResponse, IndexEntry, IndexForgetRequest, IndexForgetResponse, IndexListRequest,
    IndexListResponse, IndexRestoreRequest, IndexRestoreResponse, IndexShowRequest, IndexShowResponse,
    IndexStatus, RememberRequest, RememberResponse, RpcError, SearchRequest, SearchResponse,
};

use crate::{Caller, Daemon, Scratch};

/// Settings with which only the first light cycle and requested cycles run. Other cycles would interfere with the
/// tests.
pub const QUIET: [(&str, &str); 3] = [
    ("HIPPOD_CYCLES_LIGHT", "0 0 1 1 *"),
    ("HIPPOD_CYCLES_DEEP", "0 0 1 1 *"),
    ("HIPPOD_CYCLES_ARCHIVAL", "0 0 1 1 *"),
];

impl Scratch {
    /// Starts a daemon that runs cycles only on request, except the first light cycle.
    pub fn quiet_daemon(&self) -> Daemon {
        Daemon::start(&self.home(), &QUIET)
    }

    /// Returns the path of the index file.
    pub fn index_path(&self) -> PathBuf {
        self.workspace().join("HIPPOCAMPUS.md")
    }

    /// Returns the text of the index file.
    pub fn index_file(&self) -> String {
        let bytes = std::fs::read(self.index_path()).expect("an index file");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Replaces the first occurrence of `from` in the index file. Writes the text to a new file and renames it, as an
    /// editor does.
    pub fn edit_index(&self, from: &str, to: &str) {
        let before = self.index_file();
        assert!(before.contains(from), "{from:?} is not in the file:\n{before}");
        self.write("HIPPOCAMPUS.md", before.replacen(from, to, 1));
    }

    /// Returns the path and the bytes of the daemon's own files in the workspace: the index file, and all files below
    /// `.hippocampus/` except the canary.
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

    /// Returns the files that replacements of the index file have left behind.
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
    /// Returns all entries in the index, sorted by id.
    pub fn entries(&mut self, workspace: &Path) -> Vec<IndexEntry> {
        let mut list = self.listed(workspace, false, None).entries;
        list.sort_by(|a, b| a.id.cmp(&b.id));
        list
    }

    /// Returns the ids of all entries, sorted.
    pub fn ids(&mut self, workspace: &Path) -> Vec<String> {
        self.entries(workspace)
            .into_iter()
            .map(|entry| entry.id)
            .collect()
    }

    /// Returns the answer of `index.list`.
    pub fn listed(&mut self, workspace: &Path, archived: bool, at: Option<&str>) -> IndexListResponse {
        let request = IndexListRequest {
            workspace: shown(workspace),
            at: at.map(str::to_owned),
            limit: None,
            archived,
            private: false,
        };
        self.raw().call(&request.into()).expect("a list")
    }

    /// Returns the entry with this id.
    pub fn entry(&mut self, workspace: &Path, id: &str) -> IndexEntry {
        self.show(workspace, id).entry
    }

    /// Returns the answer of `index.show`.
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

    /// Restores an entry.
    pub fn restore(&mut self, workspace: &Path, id: &str) -> IndexEntry {
        let request = IndexRestoreRequest {
            workspace: shown(workspace),
            id: id.to_owned(),
        };
        let answer: IndexRestoreResponse = self.raw().call(&request.into()).expect("restored");
        answer.entry
    }

    /// Runs a cycle now.
    pub fn run(&mut self, workspace: &Path, cycle: Cycle) -> CycleReport {
        self.try_run(workspace, cycle, None, false).expect("a cycle")
    }

    /// Runs a cycle as if it were the time `at`.
    pub fn run_at(&mut self, workspace: &Path, cycle: Cycle, at: &str) -> CycleReport {
        self.try_run(workspace, cycle, Some(at), false).expect("a cycle")
    }

    /// Plans a cycle without running it.
    pub fn plan(&mut self, workspace: &Path, cycle: Cycle, at: Option<&str>) -> CycleReport {
        self.try_run(workspace, cycle, at, true).expect("a plan")
    }

    /// Runs a cycle, or only plans it.
    ///
    /// # Errors
    /// Returns the refusal of the daemon.
    pub fn try_run(
        &mut self,
        workspace: &Path,
        cycle: Cycle,
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

    /// Undoes a run.
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

    /// Returns all runs, newest first, and the report of one run.
    pub fn history(&mut self, workspace: &Path, run: Option<i64>) -> CycleHistoryResponse {
        let request = CycleHistoryRequest {
            workspace: shown(workspace),
            limit: Some(hippo_proto::MAX_RUNS),
            run,
        };
        self.raw().call(&request.into()).expect("a history")
    }

    /// Runs all due cycles.
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

    /// Searches with `explain`. If `record` is true, the daemon records the accesses.
    pub fn ask(&mut self, workspace: &Path, query: &str, record: bool) -> SearchResponse {
        let mut request = SearchRequest::new(shown(workspace), query);
        request.explain = true;
        request.record = record;
        self.raw().call(&request.into()).expect("an answer")
    }

    /// Returns the status of the index file. Only one workspace may exist.
    pub fn index_status(&mut self) -> IndexStatus {
        let status = self.status().workspaces.remove(0);
        status.index.expect("a workspace that is open")
    }
}
