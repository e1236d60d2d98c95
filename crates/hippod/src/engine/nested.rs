//! What is told of workspaces that lie within each other?

use std::path::Path;

use hippo_core::source::SourceRules;

use super::Engine;
use crate::config::Sources;

impl Engine {
    /// What to know of the registered folders around a new one, and of those within it.
    pub(super) fn neighbours(&self, root: &Path) -> Vec<String> {
        let others = self.registry.roots().filter(|other| *other != root);
        others.filter_map(|other| self.neighbour(root, other)).collect()
    }

    fn neighbour(&self, root: &Path, other: &Path) -> Option<String> {
        let named = other.display();
        let (outer, inner, what) = if root.starts_with(other) {
            (
                other,
                root,
                format!("the folder lies within the workspace {named}"),
            )
        } else if other.starts_with(root) {
            (
                root,
                other,
                format!("the workspace {named} lies within the folder"),
            )
        } else {
            return None;
        };
        let outer = self
            .workspaces
            .values()
            .find(|workspace| workspace.root == outer)?;
        let below = inner.strip_prefix(&outer.root).ok()?.to_str()?;
        let twice = if reaches(&outer.view.config.sources, below) {
            "both index the memory files in it"
        } else {
            "the outer one does not index what is in it"
        };
        Some(format!(
            "{what}: {twice}, and commands that are given in the inner folder mean the inner one"
        ))
    }
}

/// Whether memory files of an outer workspace may lie in a folder below it.
fn reaches(sources: &Sources, below: &str) -> bool {
    let passed_over = |name: &str| name.starts_with('.') || name == "node_modules";
    let rules = SourceRules::new(&sources.include, &sources.exclude);
    !below.split('/').any(passed_over) && rules.is_ok_and(|rules| rules.may_contain(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outer_workspace_reaches_where_its_memory_lies() {
        let sources = Sources {
            include: vec![],
            exclude: vec![],
            max_file_bytes: 0,
            follow_links: true,
            respect_ignore_files: true,
        };
        for (below, expected) in [
            ("projects/pump", true),
            ("memory", true),
            ("app", false),
            ("projects/.old", false),
            ("projects/node_modules/x", false),
        ] {
            assert_eq!(reaches(&sources, below), expected, "{below}");
        }
    }
}
