//! Nodes of the compaction tree in a workspace.

use hippo_fs::WorkspaceDir;
use hippo_tree::{Node, Period};

/// The folders for the nodes of days, weeks and months. The root of the tree is `memory/ROOT.md`.
pub const NODE_FOLDERS: [&str; 3] = ["memory/daily", "memory/weekly", "memory/monthly"];
/// Maximum size of a node in bytes.
const LARGEST: u64 = 16 << 20;

/// Returns the paths of the nodes in a folder, sorted.
pub fn list_nodes(dir: &WorkspaceDir, folder: &str) -> Vec<String> {
    let entries = dir.entries(folder).unwrap_or_default().into_iter();
    let names = entries.filter_map(|entry| entry.name.into_string().ok());
    let mut paths: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    paths.sort();
    paths
}

/// Returns the node at a path, or `None` if the path is not a readable node.
pub fn read_node(dir: &WorkspaceDir, path: &str) -> Option<Node> {
    let period = Period::of_path(path)?;
    let text = dir.read(path, LARGEST).ok()?;
    Some(Node::read(period, &String::from_utf8_lossy(&text)))
}

/// Returns the paths of the nodes, including `memory/ROOT.md`, that another program wrote.
pub fn find_foreign_nodes(dir: &WorkspaceDir) -> Vec<String> {
    let mut paths = vec![Period::All.path()];
    paths.extend(NODE_FOLDERS.iter().flat_map(|folder| list_nodes(dir, folder)));
    paths.retain(|path| read_node(dir, path).is_some_and(|node| node.is_foreign()));
    paths
}
