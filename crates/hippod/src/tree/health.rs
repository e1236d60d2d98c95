//! State of the trees for `status` and `doctor`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hippo_fs::WorkspaceDir;
use hippo_fs::harness::FILE;
use hippo_proto::folder::Trust;
use hippo_proto::{Problem, Severity, TreeStatus};
use hippo_tree::{Node, Period};
use hippo_types::time::Timestamp;

use super::Trees;
use super::disk;
use super::foreign::Ledger;
use super::run::is_kept;
use super::settings::TreeSettings;
use super::state::TreeState;
use crate::clock::rfc3339;
use crate::survey::problem;
use crate::view::WorkspaceView;

/// Maximum time that `status` waits until the trees have been read from slow disks.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of files that are read from each folder of nodes.
const MOST_NODES: usize = 20_000;
/// Folders of nodes, relative to the workspace.
const FOLDERS: [&str; 3] = ["memory/daily", "memory/weekly", "memory/monthly"];

/// Returns the status of the tree of each open workspace that has one, by root. Trees that cannot be read in time are
/// omitted.
pub async fn statuses(trees: &Arc<Trees>) -> BTreeMap<PathBuf, TreeStatus> {
    let views = trees.views.open().into_iter().filter(|view| is_kept(view));
    let looks: Vec<_> = views
        .map(|view| {
            let (root, of) = (view.root.clone(), Arc::clone(trees));
            (root, tokio::task::spawn_blocking(move || status(&of, &view)))
        })
        .collect();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut found = BTreeMap::new();
    for (root, look) in looks {
        if let Ok(Ok(status)) = tokio::time::timeout_at(deadline, look).await {
            found.insert(root, status);
        }
    }
    found
}

fn status(trees: &Trees, view: &WorkspaceView) -> TreeStatus {
    let state = TreeState::read(&trees.state, &view.root);
    TreeStatus {
        last: state.last_ms.map(|at| rfc3339(Timestamp(at))),
        nodes: nodes(&view.root).len() as u64,
        foreign: foreign_nodes(trees, view).len() as u64,
    }
}

/// Checks the settings and the files of a tree. Returns the problems, and the number of nodes if the workspace has a
/// tree.
pub fn examine(trees: &Trees, view: &WorkspaceView) -> (Vec<Problem>, Option<usize>) {
    let mut found = Vec::new();
    let mut add = |id: &str, severity, what: String, place: &Path, fix: &str| {
        found.push(problem(id, severity, what, place.display().to_string(), fix));
    };
    let trust = Trust::of(&trees.state, &view.root);
    for note in TreeSettings::of(&view.root, &trust, &view.config.tree).notes {
        let fix = "correct the setting; until then, the setting in hippod's own configuration is used";
        add("tree-config", Severity::Warning, note, &view.root.join(FILE), fix);
    }
    if let Some((folder, error)) = unwritable(&view.root).filter(|_| is_kept(view)) {
        let what = format!("could not create or replace nodes in this folder: {error}");
        let fix = "make the folder writable for the user that runs hippod, then run: hippoctl tree compact";
        add(
            "tree-folder",
            Severity::Warning,
            what,
            &view.root.join(folder),
            fix,
        );
    }
    let nodes = nodes(&view.root);
    for (_, path) in &nodes {
        if let Err(error) = disk::read_node(&view.root, path) {
            let what = format!("cannot be read: {error}");
            let fix = "make the file readable, or remove the file; to create it again: hippoctl tree compact";
            add("tree-node", Severity::Error, what, &view.root.join(path), fix);
        }
    }
    let foreign = foreign_nodes(trees, view);
    if let Some(first) = foreign.first() {
        let what = format!(
            "this node belongs to a compaction tree that another program wrote (number of its nodes: {}); \
             hippod does not change the tree",
            foreign.len()
        );
        let fix = "to take over the tree: hippoctl tree compact --take-over; `hippoctl workspace remove` \
                   then restores the original files";
        add("tree-foreign", Severity::Info, what, &view.root.join(first), fix);
    }
    let has_tree = is_kept(view) || nodes.iter().any(|(period, _)| *period == Period::All);
    (found, has_tree.then_some(nodes.len()))
}

/// Returns the paths, relative to the workspace, of nodes that another program wrote and that hippod does not change.
fn foreign_nodes(trees: &Trees, view: &WorkspaceView) -> Vec<String> {
    let ledger = Ledger::read(&trees.state, &view.root).unwrap_or_default();
    if ledger.taken_over || TreeState::read(&trees.state, &view.root).last_ms.is_some() {
        return Vec::new();
    }
    let nodes = nodes(&view.root).into_iter().filter(|(period, path)| {
        let text = disk::read_node(&view.root, path).unwrap_or_default();
        Node::read(*period, &String::from_utf8_lossy(&text)).is_foreign()
    });
    nodes.map(|(period, _)| period.path()).collect()
}

/// Returns the files with the name of a node: their periods and their paths relative to the workspace.
fn nodes(root: &Path) -> Vec<(Period, String)> {
    let Ok(dir) = WorkspaceDir::open(root) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for folder in FOLDERS {
        let entries = dir.entries(folder).unwrap_or_default();
        for entry in entries.into_iter().take(MOST_NODES) {
            let path = format!("{folder}/{}", entry.name.to_string_lossy());
            found.extend(Period::of_path(&path).map(|period| (period, path)));
        }
    }
    let all = Period::All.path();
    if dir.stat(&all).is_ok_and(|stat| stat.is_some()) {
        found.push((Period::All, all));
    }
    found.sort();
    found
}

/// Returns the first folder, relative to the workspace, in which files cannot be created or replaced, and the error;
/// `None` if all folders are writable.
fn unwritable(root: &Path) -> Option<(PathBuf, std::io::Error)> {
    let dir = match WorkspaceDir::open(root) {
        Ok(dir) => dir,
        Err(error) => return Some((PathBuf::new(), error)),
    };
    let folders = ["memory"].into_iter().chain(FOLDERS).map(Path::new);
    folders.into_iter().find_map(|folder| {
        // A missing folder is created when it is needed, so check its nearest existing parent.
        folder.ancestors().find_map(|folder| match dir.folder(folder) {
            Ok(opened) => {
                let failed = opened.check_writable().err();
                Some(failed.map(|error| (folder.to_path_buf(), error)))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Some((folder.to_path_buf(), error))),
        })?
    })
}
