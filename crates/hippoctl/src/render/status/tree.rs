//! Rendering of the compaction tree in `status`.

use hippo_proto::TreeStatus;

use super::line;
use crate::render::{one_line, plural};

/// Returns lines in the layout of the workspace's status.
pub fn lines(tree: &TreeStatus) -> String {
    let made = match &tree.last {
        Some(last) => format!("created {}", one_line(last)),
        None => "not created yet".to_owned(),
    };
    let mut text = line("tree", &format!("{}; {made}", plural(tree.nodes, "node")));
    if tree.foreign > 0 {
        let left = format!(
            "{} of another program; to take over the tree: hippoctl tree compact --take-over",
            plural(tree.foreign, "node")
        );
        text += &line("", &left);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_rendered_with_and_without_foreign_nodes() {
        let own = TreeStatus {
            nodes: 94,
            last: Some("2026-03-01T08:00:00Z".into()),
            ..TreeStatus::default()
        };
        let foreign = TreeStatus {
            last: None,
            foreign: 1,
            ..own.clone()
        };
        assert_eq!(
            lines(&own) + &lines(&foreign),
            "  tree     94 nodes; created 2026-03-01T08:00:00Z\n  \
            tree     94 nodes; not created yet\n           \
            1 node of another program; to take over the tree: hippoctl tree compact --take-over\n"
        );
    }
}
