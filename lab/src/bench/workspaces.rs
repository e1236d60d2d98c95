//! Measured workspaces, and their registration in the daemon.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hippo_proto::{ModelLoad, Request, StatusRequest, StatusResponse};

use super::client::{self, root_of};
use crate::scratch::{Scratch, copy_folder};
use crate::terminal::{duration, say};

/// Time limit for indexing a workspace.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Copies of the evaluation data. Each is registered and indexed on first use.
pub struct Workspaces<'a> {
    scratch: &'a Scratch,
    eval: PathBuf,
    indexed: BTreeMap<String, FirstIndex>,
}

/// Measurements of the first indexing of a workspace.
#[derive(Clone)]
pub struct FirstIndex {
    /// Root of the workspace.
    pub root: String,
    /// Time from the registration until the whole workspace is searchable.
    pub took: Duration,
    /// Number of word pieces that the model processed.
    pub pieces: u64,
    /// Number of chunks.
    pub chunks: u64,
}

impl<'a> Workspaces<'a> {
    /// Creates an empty set.
    pub fn new(scratch: &'a Scratch, eval: PathBuf) -> Self {
        Self {
            scratch,
            eval,
            indexed: BTreeMap::new(),
        }
    }

    /// Returns the folder of the evaluation data.
    pub fn eval(&self) -> &Path {
        &self.eval
    }

    /// Returns a file or folder of the evaluation data for retrieval.
    pub fn data(&self, name: &str) -> PathBuf {
        self.eval.join("retrieval").join(name)
    }

    /// Returns the workspace `name` of the evaluation data, indexed.
    ///
    /// # Errors
    /// Fails if the workspace is missing, or indexing fails.
    pub fn get(&mut self, name: &str) -> Result<FirstIndex> {
        let from = self.data(name).join("workspace");
        self.index(name, &from, |_| true)
    }

    /// Makes the next [`Workspaces::get`] register the workspace `name` again, and compare it with the evaluation
    /// data.
    pub fn forget(&mut self, name: &str) {
        self.indexed.remove(name);
    }

    /// Indexes some files below `from` as a workspace with a separate name.
    ///
    /// # Errors
    /// See [`Workspaces::get`].
    pub fn index(&mut self, name: &str, from: &Path, wanted: impl Fn(&Path) -> bool) -> Result<FirstIndex> {
        if let Some(known) = self.indexed.get(name) {
            return Ok(known.clone());
        }
        let to = self.scratch.folder.join("eval").join(name);
        if !to.exists() {
            copy_folder(from, &to)?;
            remove_others(&to, &wanted)?;
        }
        let root = root_of(&to)?;
        let mut client = self.scratch.connect(PATIENCE)?;
        let before: StatusResponse = client.call(&Request::from(StatusRequest {}))?;
        if before.model.state == ModelLoad::Absent || before.model.state == ModelLoad::Failed {
            bail!("the daemon has no model: {:?}", before.model.reason);
        }
        let begun = Instant::now();
        let synced = client::add(&mut client, &root)?;
        let took = begun.elapsed();
        let after: StatusResponse = client.call(&Request::from(StatusRequest {}))?;
        let chunks = after
            .workspaces
            .iter()
            .find(|workspace| workspace.root == root)
            .map_or(0, |found| found.chunks);
        let pieces = after.model.word_pieces - before.model.word_pieces;
        let indexed = FirstIndex {
            root,
            took,
            pieces,
            chunks,
        };
        say(format_args!(
            "{name}: {} documents, {chunks} chunks, indexed in {}",
            synced.documents,
            duration(took)
        ));
        self.indexed.insert(name.to_owned(), indexed.clone());
        Ok(indexed)
    }
}

fn remove_others(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
