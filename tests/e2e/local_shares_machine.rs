//! Several workspaces of one machine, for tests of shares.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hippo_proto::{
    ClientError, GetRequest, GetResponse, Request, RpcError, SearchRequest, SearchResponse, ShareAddRequest,
    ShareAddResponse, ShareListRequest, ShareListResponse, ShareRemoveRequest, ShareRemoveResponse,
    ShareSelectors,
};
use hippod_tests::{Caller, Daemon, PATIENCE, Scratch};

/// Several workspaces with one daemon.
pub(super) struct Machine {
    pub scratch: Scratch,
    pub daemon: Daemon,
    pub client: Caller,
}

impl Machine {
    /// Starts a daemon with workspaces, each with its files.
    pub fn new(workspaces: &[(&str, &[(&str, &str)])]) -> Self {
        let scratch = Scratch::new();
        for (name, files) in workspaces {
            for (path, text) in *files {
                write(&scratch.beside(name), path, text);
            }
        }
        let daemon = scratch.quiet_daemon();
        let mut client = daemon.client();
        for (name, _) in workspaces {
            client.index(&scratch.beside(name));
        }
        Self {
            scratch,
            daemon,
            client,
        }
    }

    pub fn root(&self, name: &str) -> PathBuf {
        self.scratch.beside(name)
    }

    pub fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        request: impl Into<Request>,
    ) -> Result<T, RpcError> {
        match self.client.raw().call(&request.into()) {
            Ok(answer) => Ok(answer),
            Err(ClientError::Refused(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks that no share concerns a workspace, and that it finds no text of another one.
    pub fn has_no_shares(&mut self, name: &str) {
        let found = self.found(name, QUESTION);
        assert!(found.iter().all(|path| !path.starts_with('@')), "{found:?}");
        let listed: ShareListResponse = self.ask(ShareListRequest::default()).unwrap();
        assert!(listed.shares.is_empty());
    }

    pub fn share(&mut self, from: &str, to: &str, selectors: ShareSelectors) -> ShareAddResponse {
        let request = self.request(from, to, selectors);
        self.ask(request).unwrap()
    }

    pub fn request(&self, from: &str, to: &str, selectors: ShareSelectors) -> ShareAddRequest {
        ShareAddRequest {
            workspace: self.root(from).display().to_string(),
            to: self.root(to).display().to_string(),
            selectors,
            ..ShareAddRequest::default()
        }
    }

    pub fn withdraw(&mut self, id: &str) -> ShareRemoveResponse {
        self.ask(ShareRemoveRequest { id: id.to_owned() }).unwrap()
    }

    /// Returns the results of a search in a workspace.
    pub fn search(&mut self, name: &str, query: &str) -> SearchResponse {
        let request = SearchRequest::new(self.root(name).display().to_string(), query);
        self.client.warm(&request)
    }

    /// Returns the paths of the results of a search in a workspace.
    pub fn found(&mut self, name: &str, query: &str) -> Vec<String> {
        let answer = self.search(name, query);
        answer.results.into_iter().map(|hit| hit.path).collect()
    }

    pub fn get(&mut self, name: &str, path: &str) -> Result<GetResponse, RpcError> {
        let request = GetRequest {
            workspace: Some(self.root(name).display().to_string()),
            path: Some(path.to_owned()),
            ..GetRequest::default()
        };
        self.ask(request)
    }

    pub fn map(&self, name: &str) -> String {
        std::fs::read_to_string(self.root(name).join("HIPPOCAMPUS.md")).unwrap()
    }

    /// Waits until the index file of a workspace contains a text, or lacks it.
    pub fn wait_for_map(&self, name: &str, text: &str, is_there: bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let map = self.map(name);
            if map.contains(text) == is_there {
                return map;
            }
            assert!(
                Instant::now() < deadline,
                "{text:?} {is_there}: {map}\n{}",
                self.daemon.log()
            );
            std::thread::yield_now();
        }
    }

    /// Returns the files of the daemon, and of a workspace, that contain a text.
    pub fn files_with(&self, name: &str, text: &str) -> Vec<PathBuf> {
        let mut folders = vec![self.scratch.home(), self.root(name)];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if contains(&std::fs::read(&path).unwrap_or_default(), text) {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

pub(super) fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let draft = root.with_extension("draft");
    std::fs::write(&draft, text).unwrap();
    std::fs::rename(draft, file).unwrap();
}

pub(super) fn paths(globs: &[&str]) -> ShareSelectors {
    ShareSelectors {
        paths: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..ShareSelectors::default()
    }
}

/// Text and question of the tests, and the file of a workspace that knows nothing of them.
pub(super) const TEXT: &str = "# Ferry\n\nThe ferry to the lighthouse leaves at seven.\n";
pub(super) const QUESTION: &str = "when does the ferry to the lighthouse leave";
pub(super) const FERRY: &[(&str, &str)] = &[("knowledge/ferry.md", TEXT)];
pub(super) const OWN: &[(&str, &str)] = &[("knowledge/own.md", "# Own\n\nThe kettle is red.\n")];
