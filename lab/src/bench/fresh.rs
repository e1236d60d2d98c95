//! How does a workspace come back to how it was before anybody asked?

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

use super::Ground;
use crate::scratch::copy_folder;

/// How long the daemon may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(300);
/// Files that were written this shortly before a question count as news for it.
const NO_NEWS: Duration = Duration::from_secs(6);

/// No cycle comes by itself while something is measured.
const CALM: &str = "[cycles]\ndeep = \"\"\narchival = \"\"\n";

/// The workspace `name` of the evaluation data, indexed, with entries that no question has touched. Answers its root.
///
/// A copy of both is kept in the scratch folder, so that the next time costs no indexing.
///
/// # Errors
/// It cannot be indexed or copied.
pub fn fresh(ground: &mut Ground<'_>, name: &str) -> Result<String> {
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
            .context("the name of the folder is not unicode")?
            .to_owned();
        let remove = WorkspaceRemoveRequest {
            workspace,
            purge: true,
            ..WorkspaceRemoveRequest::default()
        };
        // It is there when an earlier run registered it.
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
/// The daemon does not come back.
pub fn switch(ground: &Ground<'_>, root: &str, enabled: bool) -> Result<()> {
    settle(ground, root, &format!("[index]\nenabled = {enabled}\n"))
}

/// Starts the daemon anew with settings of a workspace.
///
/// # Errors
/// The daemon does not come back.
pub fn settle(ground: &Ground<'_>, root: &str, settings: &str) -> Result<()> {
    ground.scratch.stop()?;
    configure(Path::new(root), settings)?;
    ground.scratch.start()?;
    at_rest(&mut ground.scratch.connect(PATIENCE)?, root)?;
    Ok(())
}

/// Waits until all of a workspace is searchable, its entries are there, and no cycle runs.
///
/// # Errors
/// That takes too long.
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
    bail!("the daemon did not come to rest within {PATIENCE:?}")
}

/// The same, after the light cycles that follow one another at once where one has not made all entries.
///
/// # Errors
/// As [`at_rest`].
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
    // Where search by meaning is switched off, nothing waits for its vectors although there are none.
    index
        && workspace.degraded.is_none()
        && workspace.lag_ms == 0
        && workspace.watcher.last_reconcile_ms_ago.is_some()
}

/// Writes the workspace's own configuration.
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

/// Names of what is in a folder; nothing where there is none.
fn folders(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    Ok(entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect())
}
