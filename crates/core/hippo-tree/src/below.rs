//! Sources of a node and their texts.

use std::collections::BTreeMap;

use hippo_text::source::NodeKind;

use super::item::NodeSource;
use super::node::{BodyAuthor, Node};
use super::period::Period;
use super::plan::SourceFile;
use super::root;

impl NodeSource {
    /// Creates a source from a node. `file` is the text of its file. If the node copies its only source, line numbers
    /// refer to that source.
    #[must_use]
    pub fn of_node(node: &Node, file: &str) -> Self {
        let path = node.period.path();
        let (path, first_line) = locate_body(&path, node, file);
        Self {
            path: path.to_owned(),
            text: node.body.clone(),
            first_line,
            date: node.period.first_day(),
        }
    }
}

/// Returns the file to which line numbers of the body refer, and the line of that file at which the body begins.
fn locate_body<'n>(path: &'n str, node: &'n Node, file: &str) -> (&'n str, u32) {
    match node.sources.as_slice() {
        [only]
            if node.writer == BodyAuthor::Hippod
                && node.lines.is_none()
                && node.period.level() == NodeKind::Daily =>
        {
            (only, 1)
        }
        _ => {
            let before = file.lines().count().saturating_sub(node.body.lines().count());
            (path, u32::try_from(before + 1).unwrap_or(u32::MAX))
        }
    }
}

/// Returns the sources of the nodes of `level`, weekly or monthly, by the period of the node.
#[must_use]
pub fn sources<'n>(
    level: NodeKind,
    nodes: impl IntoIterator<Item = &'n Node>,
) -> BTreeMap<Period, Vec<SourceFile>> {
    let mut sources: BTreeMap<Period, Vec<SourceFile>> = BTreeMap::new();
    for node in nodes {
        let parent = node.period.parent().filter(|parent| parent.level() == level);
        // Placeholders have no content.
        if let Some(parent) = parent.filter(|_| !node.is_placeholder()) {
            sources.entry(parent).or_default().push(SourceFile {
                path: node.period.path(),
                digest: node.digest(),
            });
        }
    }
    sources
}

/// Returns the sources of `ROOT.md`: all daily nodes, the nodes of weeks without a daily node, and the nodes of months
/// without a weekly node.
///
/// Each element of `nodes` is the path of a node, the node, and the text of its file. `accesses` contains the read
/// counts of the files from which the nodes were made.
#[must_use]
pub fn collect_root_sources<'n>(
    nodes: &[(&'n str, &'n Node, &str)],
    accesses: &BTreeMap<String, u32>,
) -> Vec<root::ChildNode<'n>> {
    let has_below = |period: Period| {
        let mut below = nodes
            .iter()
            .filter(|(_, node, _)| node.period.parent() == Some(period));
        below.any(|(_, node, _)| !node.is_placeholder())
    };
    let told = nodes.iter().filter(|(_, node, _)| {
        let level = node.period.level();
        level != NodeKind::Root
            && !node.is_placeholder()
            && (level == NodeKind::Daily || !has_below(node.period))
    });
    let below = told.filter_map(|(path, node, file)| {
        let (path, first_line) = locate_body(path, node, file);
        Some(root::ChildNode {
            date: node.period.first_day()?,
            path,
            first_line,
            body: &node.body,
            accesses: node.sources.iter().filter_map(|path| accesses.get(path)).sum(),
        })
    });
    below.collect()
}
