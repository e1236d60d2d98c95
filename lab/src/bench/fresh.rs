//! Reset of a workspace to its state before the first question.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Client, CycleOutcome, Request, StatusRequest, StatusResponse, WorkspaceRemoveRequest,
    WorkspaceRemoveResponse, WorkspaceStatus,
};

use super::BenchEnvironment;
use crate::scratch::copy_folder;

/// Time limit for the daemon to become idle.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time to wait before the first question. Files that were written shortly before a question change its answer.
const NO_NEWS: Duration = Duration::from_secs(6);

/// Settings that keep cycles from running during a measurement.
const CALM: &str = "[cycles]\ndeep = \"\"\narchival = \"\"\n";

/// Indexes the workspace `name` of the evaluation data and returns its root. No question has accessed its entries.
///
/// A copy of the workspace and its state is kept in the scratch folder, so the next call needs no indexing.
///
/// # Errors
/// Fails if the workspace cannot be indexed or copied.
pub fn fresh(ground: &mut BenchEnvironment<'_>, name: &str) -> Result<String> {
    let root = ground.scratch.folder.join("eval").join(name);
    let saved = ground.scratch.folder.join("fresh").join(name);
    let states = ground.scratch.folder.join("home/state/workspaces");
    ground.workspaces.forget(name);
    if saved.exists() {
        ground.scratch.stop()?;
        replace(&saved.join("workspace"), &root)?;
        for state in folders(&saved.join("state"))? {
            replace(&saved.join("state").join(&state), &states.join(&state))?;
        }
        ground.scratch.start()?;
        let root = ground.workspaces.get(name)?.root;
        at_rest(&mut ground.scratch.connect(PATIENCE)?, &root)?;
        thread::sleep(NO_NEWS);
        return Ok(root);
    }
    if root.exists() {
        let workspace = fs::canonicalize(&root)?
            .to_str()
            .context("the name of the folder is not Unicode")?
            .to_owned();
        let remove = WorkspaceRemoveRequest {
            workspace,
            purge: true,
            ..WorkspaceRemoveRequest::default()
        };
        // The call fails if no earlier run registered the workspace.
        let _ = ground
            .scratch
            .connect(PATIENCE)?
            .call::<WorkspaceRemoveResponse>(&Request::from(remove));
        fs::remove_dir_all(&root).with_context(|| format!("could not remove {}", root.display()))?;
    }
    let before = folders(&states)?;
    let indexed = ground.workspaces.get(name)?.root;
    at_rest(&mut ground.scratch.connect(PATIENCE)?, &indexed)?;
    ground.scratch.stop()?;
    for state in folders(&states)?.difference(&before) {
        copy_folder(&states.join(state), &saved.join("state").join(state))?;
    }
    configure(&root, "")?;
    copy_folder(&root, &saved.join("workspace"))?;
    ground.scratch.start()?;
    at_rest(&mut ground.scratch.connect(PATIENCE)?, &indexed)?;
    thread::sleep(NO_NEWS);
    Ok(indexed)
}

/// Switches the index file of a workspace on or off.
///
/// # Errors
/// Fails if the daemon does not restart.
pub fn switch(ground: &BenchEnvironment<'_>, root: &str, enabled: bool) -> Result<()> {
    settle(ground, root, &format!("[index]\nenabled = {enabled}\n"))
}

/// Restarts the daemon with the given settings of a workspace.
///
/// # Errors
/// Fails if the daemon does not restart.
pub fn settle(ground: &BenchEnvironment<'_>, root: &str, settings: &str) -> Result<()> {
    ground.scratch.stop()?;
    configure(Path::new(root), settings)?;
    ground.scratch.start()?;
    at_rest(&mut ground.scratch.connect(PATIENCE)?, root)?;
    Ok(())
}

/// Waits until a workspace is searchable and has its entries, and no cycle runs.
///
/// # Errors
/// Fails if the time limit is exceeded.
pub fn at_rest(client: &mut Client, root: &str) -> Result<WorkspaceStatus> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let status: StatusResponse = client.call(&Request::from(StatusRequest {}))?;
        let found = status
            .workspaces
            .into_iter()
            .find(|workspace| workspace.root == root);
        if let Some(workspace) = found.filter(rests) {
            return Ok(workspace);
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("the daemon was not idle within {PATIENCE:?}")
}

/// Waits like [`at_rest`]. Also waits for the light cycles that create the remaining entries.
///
/// # Errors
/// See [`at_rest`].
pub fn grown(client: &mut Client, root: &str) -> Result<WorkspaceStatus> {
    let mut before = None;
    loop {
        let status = at_rest(client, root)?;
        let entries = status.index.as_ref().map(|index| index.entries);
        if entries == before {
            return Ok(status);
        }
        before = entries;
        thread::sleep(Duration::from_secs(4));
    }
}

fn rests(workspace: &WorkspaceStatus) -> bool {
    let index = workspace.index.as_ref().is_some_and(|index| {
        let last = index.last_cycle.as_ref();
        index.file == "off"
            || index.entries > 0 && last.is_some_and(|run| run.outcome != CycleOutcome::Running)
    });
    // Without semantic search, missing vectors do not count as pending work.
    index
        && workspace.degraded.is_none()
        && workspace.lag_ms == 0
        && workspace.watcher.last_reconcile_ms_ago.is_some()
}

/// Writes the configuration of the workspace.
fn configure(root: &Path, more: &str) -> Result<()> {
    let folder = root.join(".hippocampus");
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    let path = folder.join("config.toml");
    fs::write(&path, format!("{CALM}{more}")).with_context(|| format!("could not write {}", path.display()))
}

fn replace(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("could not remove {}", to.display()))?;
    }
    copy_folder(from, to)
}

/// Returns the names of all files and folders in a folder, or none if the folder does not exist.
fn folders(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    Ok(entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect())
}
