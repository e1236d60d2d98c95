//! Status of the tree of each workspace.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hippo_fs::WorkspaceDir;
use hippo_proto::{TreeCommandStatus, TreeStatus};
use hippo_tree::{Node, NodeStatus, Period};
use hippo_types::time::{Date, Timestamp};

use super::Trees;
use super::command::held_back;
use super::disk::LARGEST_NODE;
use super::foreign::Ledger;
use super::run::is_kept;
use super::state::TreeState;
use crate::clock::{date_in, rfc3339};
use crate::config::SummaryAuthor;
use crate::view::WorkspaceView;

/// Maximum time that `status` waits for slow disks.
const PATIENCE: Duration = Duration::from_millis(500);
/// Number of bytes from the start of a node in which its front matter is read.
const FRONT_MATTER: u64 = 16 << 10;
/// Maximum number of nodes read per folder.
const MOST_NODES: usize = 20_000;
/// Folders of nodes, relative to the workspace.
const FOLDERS: [&str; 3] = ["memory/daily", "memory/weekly", "memory/monthly"];

/// Returns the status of each open workspace that has a tree, by root. Workspaces that could not be read in time are
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
    // `doctor` reports an unreadable state file.
    let state = TreeState::try_read(&trees.state, &view.root).unwrap_or_default();
    let mut status = TreeStatus {
        last: state.last_ms.map(|at| rfc3339(Timestamp(at))),
        foreign: foreign_nodes(trees, view).len() as u64,
        unwritable: unwritable(&view.root)
            .map(|(folder, error)| format!("{}: {error}", view.root.join(folder).display())),
        ..TreeStatus::default()
    };
    let today = date_in(trees.clock.now(), &view.zone(&*trees.clock));
    count(&view.root, today, &mut status);
    if view.config.tree.summaries == SummaryAuthor::Command {
        let settings = &trees.settings;
        let spend = state.spend.on(&today.to_string());
        status.command = Some(TreeCommandStatus {
            jobs: spend.jobs.into(),
            daily_jobs: settings.command_daily_jobs.into(),
            ms: spend.ms,
            failures: spend.failures.into(),
            held_back: held_back(&spend, settings),
            error: spend.error,
        });
    }
    status
}

/// Returns the nodes of another program that hippod does not change, relative to the workspace.
pub(super) fn foreign_nodes(trees: &Trees, view: &WorkspaceView) -> Vec<String> {
    let ledger = Ledger::read(&trees.state, &view.root).unwrap_or_default();
    let state = TreeState::try_read(&trees.state, &view.root).unwrap_or_default();
    if ledger.taken_over || state.last_ms.is_some() {
        return Vec::new();
    }
    let nodes = nodes(&view.root).into_iter().filter(|(period, path)| {
        let text = hippo_fs::read_source(&view.root, path, LARGEST_NODE).unwrap_or_default();
        Node::read(*period, &String::from_utf8_lossy(&text)).is_foreign()
    });
    nodes.map(|(period, _)| period.path()).collect()
}

/// Counts the nodes by status, and the nodes that wait for a summary.
fn count(root: &Path, today: Date, status: &mut TreeStatus) {
    for (period, path) in nodes(root) {
        let Ok(front) = front(root, &path) else { continue };
        match Node::read(period, &front).status {
            Some(NodeStatus::Fixed) => status.fixed += 1,
            Some(NodeStatus::Tentative) => status.tentative += 1,
            Some(NodeStatus::NeedsSummarization) => {
                status.needs_summarization += 1;
                // Only the whole file shows who wrote the body.
                let text = hippo_fs::read_source(root, &path, LARGEST_NODE).unwrap_or_default();
                let node = Node::read(period, &String::from_utf8_lossy(&text));
                status.waiting += u64::from(node.is_wanted(today));
            }
            None => status.other += 1,
        }
    }
}

/// Returns the files at the paths of nodes, relative to the workspace, with their periods.
pub(super) fn nodes(root: &Path) -> Vec<(Period, String)> {
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

/// Returns the first folder, relative to the workspace, in which nodes cannot be created or replaced, with the error.
pub(super) fn unwritable(root: &Path) -> Option<(PathBuf, std::io::Error)> {
    let dir = match WorkspaceDir::open(root) {
        Ok(dir) => dir,
        Err(error) => return Some((PathBuf::new(), error)),
    };
    let top = Period::All.path();
    let above = Path::new(&top).parent();
    let folders = above.into_iter().chain(FOLDERS.map(Path::new));
    folders.into_iter().find_map(|folder| {
        // A missing folder is created later, so its nearest existing parent is checked.
        folder.ancestors().find_map(|folder| match dir.folder(folder) {
            Ok(opened) => Some(
                opened
                    .check_writable()
                    .err()
                    .map(|error| (folder.to_path_buf(), error)),
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Some((folder.to_path_buf(), error))),
        })?
    })
}

/// Returns the beginning of a node's file.
fn front(root: &Path, path: &str) -> std::io::Result<String> {
    let (file, _) = WorkspaceDir::open(root)?.open_source(path)?;
    let mut bytes = Vec::new();
    file.take(FRONT_MATTER).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nodes_are_counted_by_their_status() {
        let folder = tempfile::tempdir().unwrap();
        let node = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let of = |status: &str| format!("---\nstatus: {status}\n---\n- {}\n", "x".repeat(40_000));
        node("memory/daily/2026-01-10.md", &of("fixed"));
        // A body by another writer does not wait for a summary, whatever its status says.
        node("memory/daily/2026-01-11.md", &of("needs-summarization"));
        let wanted = |day: &str| {
            let period = Period::parse(day).unwrap();
            let mut node = Node::read(period, &of("needs-summarization"));
            node.writer = hippo_tree::BodyAuthor::Hippod;
            node.write()
        };
        node("memory/daily/2026-01-12.md", &wanted("2026-01-12"));
        node("memory/daily/2026-01-20.md", &wanted("2026-01-20"));
        node("memory/daily/notes.md", &of("fixed"));
        node("memory/weekly/2026-W02.md", &of("tentative"));
        node("memory/monthly/2026-01.md", "no front matter\n");
        node("memory/ROOT.md", &of("tentative"));
        node("memory/2026-01-10.md", "a log\n");
        let mut status = TreeStatus::default();
        count(folder.path(), Date::constant(2026, 1, 20), &mut status);
        let expected = TreeStatus {
            fixed: 1,
            tentative: 2,
            needs_summarization: 3,
            other: 1,
            waiting: 1,
            ..TreeStatus::default()
        };
        assert_eq!(status, expected);
    }
}
