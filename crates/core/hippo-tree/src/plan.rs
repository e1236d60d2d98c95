//! Plan of the nodes to create or update, with reasons.
//!
//! hippod plans level by level: days from logs, weeks from days, months from weeks. It does not plan a finished step
//! again.

use std::collections::BTreeMap;

use hippo_text::source::NodeKind;
use hippo_types::names;
use hippo_types::time::Date;

use super::node::{BodyAuthor, Fingerprint, Node, NodeStatus};
use super::period::Period;

/// A source of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path relative to the workspace.
    pub path: String,
    /// Fingerprint of the bytes; for a node, [`Node::digest`].
    pub digest: Fingerprint,
}

impl SourceFile {
    /// Returns the combined fingerprint of a node's sources.
    #[must_use]
    pub fn combine_sources(sources: &[Self]) -> Fingerprint {
        Fingerprint::of_all(sources.iter().map(|source| (source.path.as_str(), source.digest)))
    }

    /// Returns the paths, in order.
    #[must_use]
    pub fn paths(sources: &[Self]) -> Vec<String> {
        sources.iter().map(|source| source.path.clone()).collect()
    }
}

/// Input for planning one level.
#[derive(Debug, Clone)]
pub struct LevelInput<'a> {
    /// Current day in the time zone of the workspace.
    pub today: Date,
    /// Non-empty sources by the period of their node, in order of time within a period.
    pub sources: &'a BTreeMap<Period, Vec<SourceFile>>,
    /// Existing nodes of this level.
    pub nodes: &'a BTreeMap<Period, Node>,
    /// For each node by another author, the fingerprint of its sources when hippod first saw the node.
    pub adopted: &'a BTreeMap<Period, Fingerprint>,
    /// True if an external writer improves extracted bodies.
    pub improved: bool,
}

/// Operation on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeAction {
    /// Generate the node from its sources.
    Make,
    /// Change only the status.
    Restate(NodeStatus),
    /// Mark a submitted body as older than its sources: request a new body, and append newer statements until it is
    /// written.
    Outdate,
    /// Record the current sources of a node by another author, without changing its file.
    Adopt,
}

/// Reason for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The node does not exist.
    New,
    /// The sources have changed.
    SourcesChanged,
    /// The file is only a placeholder.
    Placeholder,
    /// The period is closed.
    Over,
    /// The node existed before hippod.
    Found,
    /// The requested body was written.
    Written,
}

names!(Cause {
    New => "new", SourcesChanged => "sources-changed", Placeholder => "placeholder", Over => "period-over",
    Found => "found", Written => "written",
});

/// One planned operation on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStep {
    /// Period of the node.
    pub period: Period,
    /// Operation on the node.
    pub action: NodeAction,
    /// Reason for the operation.
    pub cause: Cause,
    /// Combined fingerprint of the sources.
    pub digest: Fingerprint,
    /// Paths of the sources.
    pub sources: Vec<String>,
}

/// Returns the steps for one level of the tree, in order of time. `ROOT.md` is not planned here.
#[must_use]
pub fn plan(input: &LevelInput<'_>) -> Vec<NodeStep> {
    let mut steps = Vec::new();
    for (period, sources) in input.sources {
        if sources.is_empty() || period.level() == NodeKind::Root {
            continue;
        }
        let digest = SourceFile::combine_sources(sources);
        let step = |action, cause| NodeStep {
            period: *period,
            action,
            cause,
            digest,
            sources: SourceFile::paths(sources),
        };
        let Some(node) = input.nodes.get(period) else {
            steps.push(step(NodeAction::Make, Cause::New));
            continue;
        };
        if node.is_placeholder() {
            steps.push(step(NodeAction::Make, Cause::Placeholder));
            continue;
        }
        let known = node.source_digest.or_else(|| input.adopted.get(period).copied());
        match (node.writer, known) {
            (BodyAuthor::Hippod, Some(known)) if known == digest => {
                let status = status(*period, input.today, input.improved && node.lines.is_some());
                if node.status != Some(status) {
                    steps.push(step(NodeAction::Restate(status), Cause::Over));
                }
            }
            (BodyAuthor::Hippod, _) => steps.push(step(NodeAction::Make, Cause::SourcesChanged)),
            // The requested body was written directly into the file.
            (_, Some(known))
                if known == digest
                    && node.source_digest.is_some()
                    && node.status == Some(NodeStatus::NeedsSummarization)
                    && !node.is_behind() =>
            {
                let status = status(*period, input.today, false);
                steps.push(step(NodeAction::Restate(status), Cause::Written));
            }
            (_, Some(known)) if known == digest => {}
            (_, Some(_)) => steps.push(step(NodeAction::Outdate, Cause::SourcesChanged)),
            (_, None) => steps.push(step(NodeAction::Adopt, Cause::Found)),
        }
    }
    steps
}

/// Returns the status of a node written by hippod.
///
/// `extracted` is true if the body is shorter than its sources and an external writer will improve it after the period
/// is closed.
#[must_use]
pub fn status(period: Period, today: Date, extracted: bool) -> NodeStatus {
    match (period.is_fixed(today), extracted) {
        (true, true) => NodeStatus::NeedsSummarization,
        (true, false) => NodeStatus::Fixed,
        (false, _) => NodeStatus::Tentative,
    }
}
