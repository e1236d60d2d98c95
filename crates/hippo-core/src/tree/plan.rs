//! Which nodes are to be made, and why: from what their sources and they themselves are now?
//!
//! Level by level: a day from its logs, a week from its days, a month from its weeks. What is planned and done is planned
//! no second time.

use std::collections::BTreeMap;

use crate::source::NodeKind;
use crate::time::Date;

use super::node::{Fingerprint, Node, Status, Writer};
use super::period::Period;

/// A source of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Relative to the workspace.
    pub path: String,
    /// Of its bytes; of a node, [`Node::digest`].
    pub digest: Fingerprint,
}

impl SourceFile {
    /// Of the sources of a node together.
    #[must_use]
    pub fn together(sources: &[Self]) -> Fingerprint {
        Fingerprint::of_all(sources.iter().map(|source| (source.path.as_str(), source.digest)))
    }

    /// Their paths, in their order.
    #[must_use]
    pub fn paths(sources: &[Self]) -> Vec<String> {
        sources.iter().map(|source| source.path.clone()).collect()
    }
}

/// What one level is planned from.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The day as the workspace's zone has it.
    pub today: Date,
    /// Sources that have content, by the period whose node they belong to; within one in the order of time.
    pub sources: &'a BTreeMap<Period, Vec<SourceFile>>,
    /// Nodes of this level that are there.
    pub nodes: &'a BTreeMap<Period, Node>,
    /// What the sources were when a node that hippod had not written was seen first.
    pub adopted: &'a BTreeMap<Period, Fingerprint>,
    /// Whether somebody is to improve what is extracted.
    pub improved: bool,
}

/// What is done to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is made from its sources.
    Make,
    /// Only its status changes.
    Restate(Status),
    /// It is somebody's, and older than its sources: it waits for a new body, and says what is new until then.
    Outdate,
    /// It is somebody's: it is remembered with the sources that it has now, and not touched.
    Adopt,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// There is none.
    New,
    /// Its sources have changed.
    SourcesChanged,
    /// It only kept the place for one.
    Placeholder,
    /// Its period is over.
    Over,
    /// It was there before hippod.
    Found,
    /// Somebody wrote the body that it waited for.
    Written,
}

impl Cause {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::SourcesChanged => "sources-changed",
            Self::Placeholder => "placeholder",
            Self::Over => "period-over",
            Self::Found => "found",
            Self::Written => "written",
        }
    }
}

/// One node to do something about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which node.
    pub period: Period,
    /// What.
    pub action: Action,
    /// Why.
    pub cause: Cause,
    /// The sources together.
    pub digest: Fingerprint,
    /// Their paths.
    pub sources: Vec<String>,
}

/// What one level of the tree needs, in the order of time. `ROOT.md` is not planned here.
#[must_use]
pub fn plan(input: &Input<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (period, sources) in input.sources {
        if sources.is_empty() || period.level() == NodeKind::Root {
            continue;
        }
        let digest = SourceFile::together(sources);
        let step = |action, cause| Step {
            period: *period,
            action,
            cause,
            digest,
            sources: SourceFile::paths(sources),
        };
        let Some(node) = input.nodes.get(period) else {
            steps.push(step(Action::Make, Cause::New));
            continue;
        };
        if node.is_placeholder() {
            steps.push(step(Action::Make, Cause::Placeholder));
            continue;
        }
        let known = node.source_digest.or_else(|| input.adopted.get(period).copied());
        match (node.writer, known) {
            (Writer::Hippod, Some(known)) if known == digest => {
                let status = status(*period, input.today, input.improved && node.lines.is_some());
                if node.status != Some(status) {
                    steps.push(step(Action::Restate(status), Cause::Over));
                }
            }
            (Writer::Hippod, _) => steps.push(step(Action::Make, Cause::SourcesChanged)),
            // It was to be written, and somebody wrote it in its file.
            (_, Some(known))
                if known == digest
                    && node.source_digest.is_some()
                    && node.status == Some(Status::NeedsSummarization)
                    && !node.is_behind() =>
            {
                let status = status(*period, input.today, false);
                steps.push(step(Action::Restate(status), Cause::Written));
            }
            (_, Some(known)) if known == digest => {}
            (_, Some(_)) => steps.push(step(Action::Outdate, Cause::SourcesChanged)),
            (_, None) => steps.push(step(Action::Adopt, Cause::Found)),
        }
    }
    steps
}

/// What a node of hippod's says of itself. `extracted`: it is shorter than its sources, and somebody is to improve it once
/// its period is over.
#[must_use]
pub fn status(period: Period, today: Date, extracted: bool) -> Status {
    match (period.is_fixed(today), extracted) {
        (true, true) => Status::NeedsSummarization,
        (true, false) => Status::Fixed,
        (false, _) => Status::Tentative,
    }
}
