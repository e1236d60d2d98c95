//! Notes about workspaces inside other workspaces.

use std::path::Path;

use super::Engine;
use crate::{files, scan};

impl Engine {
    /// Returns notes about registered folders that contain the new one or lie inside it.
    pub(super) fn neighbours(&self, root: &Path) -> Vec<String> {
        let others = self.registry.roots();
        let others = others.iter().filter(|other| *other != root);
        others.filter_map(|other| self.neighbour(root, other)).collect()
    }

    fn neighbour(&self, root: &Path, other: &Path) -> Option<String> {
        let named = other.display();
        let (outer, inner, what) = if root.starts_with(other) {
            (other, root, format!("the folder is inside the workspace {named}"))
        } else if other.starts_with(root) {
            (root, other, format!("the workspace {named} is inside the folder"))
        } else {
            return None;
        };
        let views = self.views.open();
        let outer = views.into_iter().find(|view| view.root == outer)?;
        let below = files::below(&outer.root, inner)?;
        let (rules, config) = (&outer.rules, &outer.config);
        let twice = if scan::reaches(&outer.root, rules, config, &below) {
            "both index the memory files of the inner folder"
        } else {
            "the outer workspace does not index the inner folder"
        };
        Some(format!(
            "{what}: {twice}; commands in the inner folder apply to the inner workspace"
        ))
    }
}
