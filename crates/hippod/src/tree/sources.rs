//! Sources from which the nodes of a tree are made.

use std::collections::BTreeMap;

use hippo_proto::{ErrorKind, RpcError};
use hippo_text::source::{NodeKind, date_in_name};
use hippo_tree::{Fingerprint, Node, NodeSource, Period, SourceFile};

use super::disk;
use super::run::TreeRun;

impl TreeRun<'_> {
    /// Returns the sources of all nodes of a level, by period: the daily logs for days, and the nodes below for other
    /// levels.
    pub fn sources(&self, level: NodeKind) -> BTreeMap<Period, Vec<SourceFile>> {
        if level == NodeKind::Daily {
            return self.disk.logs.clone();
        }
        hippo_tree::sources(level, self.disk.nodes.values().map(|found| &found.node))
    }

    /// Returns the sources of one node. The list is empty if there are none.
    fn sources_for(&self, period: Period) -> Vec<SourceFile> {
        if period.level() == NodeKind::Daily {
            return self.disk.logs.get(&period).cloned().unwrap_or_default();
        }
        let nodes = self.disk.nodes.values().map(|found| &found.node);
        let below = nodes.filter(|node| node.period.parent() == Some(period));
        hippo_tree::sources(period.level(), below)
            .remove(&period)
            .unwrap_or_default()
    }

    /// Returns the periods of the nodes that need a summary by an agent.
    pub fn wanted(&self) -> Vec<Period> {
        let nodes = self.disk.nodes.iter();
        let wanted = nodes.filter(|(period, found)| {
            found.node.is_wanted(self.today)
                && !self.disk.is_held(**period)
                && !self.sources_for(**period).is_empty()
        });
        wanted.map(|(period, _)| *period).collect()
    }

    /// Returns the current sources of a node and their texts.
    ///
    /// # Errors
    /// Returns `not-found` if the node has no sources, and `internal` if a source cannot be read.
    pub fn sources_of(&self, period: Period) -> Result<(Vec<SourceFile>, Vec<NodeSource>), RpcError> {
        let sources = self.sources_for(period);
        if sources.is_empty() {
            return Err(RpcError::new(
                ErrorKind::NotFound,
                format!("{period} has no sources"),
            )
            .hint("the source of a day is its log; the sources of a week are the nodes of its days; the sources of a month are the nodes of its weeks"));
        }
        let texts = self
            .texts(period.level(), &sources)
            .map_err(|reason| RpcError::internal(reason).hint("nothing was changed; check the file"))?;
        Ok((sources, texts))
    }

    /// Returns whether the sources of a node have changed since the node was written.
    pub fn is_stale(&self, period: Period, node: &Node) -> bool {
        let known = self.known_sources(period, node);
        let now = match (period, self.sources_for(period)) {
            (Period::All, _) => self.below(),
            (_, sources) if sources.is_empty() => return false,
            (_, sources) => SourceFile::combine_sources(&sources),
        };
        known.is_some_and(|known| now != known)
    }

    /// Returns the fingerprint of the sources that a node had when it was written or first found; `None` if it is
    /// unknown.
    pub fn known_sources(&self, period: Period, node: &Node) -> Option<Fingerprint> {
        let adopted = || self.state.adopted().get(&period).copied();
        node.source_digest.or_else(adopted)
    }

    /// Returns the texts of sources of a level. If a daily log cannot be read, returns a message as the error.
    pub fn texts(&self, level: NodeKind, sources: &[SourceFile]) -> Result<Vec<NodeSource>, String> {
        let limit = self.view.config.sources.max_file_bytes;
        let log = |source: &SourceFile| {
            let text = disk::text(&self.view.root, &source.path, limit);
            Ok(NodeSource {
                path: source.path.clone(),
                text: text.map_err(|error| format!("could not read {}: {error}", source.path))?,
                first_line: 1,
                date: date_in_name(&source.path),
            })
        };
        let node = |source: &SourceFile| {
            let period = Period::of_path(&source.path)?;
            let found = self.disk.nodes.get(&period)?;
            let text = String::from_utf8_lossy(&found.bytes);
            let mut text = NodeSource::of_node(&found.node, &text);
            // A node does not contain the empty lines at the start of its log, so its line numbers must be corrected.
            text.first_line += self.disk.leading.get(&text.path).copied().unwrap_or(0);
            Some(text)
        };
        match level {
            NodeKind::Daily => sources.iter().map(log).collect(),
            _ => Ok(sources.iter().filter_map(node).collect()),
        }
    }
}
