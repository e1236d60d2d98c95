//! Removal of nodes whose logs became private.

use std::collections::BTreeSet;

use hippo_text::source::NodeKind;
use hippo_tree::{BodyAuthor, Period, SourceFile};

use super::disk;
use super::run::TreeRun;

impl TreeRun<'_> {
    /// Removes the nodes that hippod made only from logs that became private, and the nodes above them that have no
    /// other source. Nodes with other sources are made again, because their sources have changed.
    pub fn withdraw_private(&mut self) {
        let logs = self.disk.logs.values().flatten();
        let logs = logs
            .map(|log| (log.path.clone(), log.digest.to_string()))
            .collect();
        let before = std::mem::replace(&mut self.state.logs, logs);
        if self.disk.private.is_empty() || self.disk.unread_folders {
            return;
        }
        // A private file is a former log if it has the path or the content of the log.
        let was = |path: &String, file: &SourceFile| {
            file.path == *path || before.get(path) == Some(&file.digest.to_string())
        };
        let is_private = |path: &String| self.disk.private.iter().any(|file| was(path, file));
        let nodes = self.disk.nodes.iter();
        let days = nodes.filter(|(period, found)| {
            period.level() == NodeKind::Daily
                && !self.disk.logs.contains_key(period)
                && found.node.sources.iter().any(is_private)
        });
        let days: BTreeSet<Period> = days.map(|(period, _)| *period).collect();
        let mut withdrawn = self.withdraw(days);
        for level in [NodeKind::Weekly, NodeKind::Monthly] {
            let above: BTreeSet<Period> = withdrawn.iter().filter_map(|period| period.parent()).collect();
            let has_source =
                |above: &Period| self.disk.nodes.keys().any(|node| node.parent() == Some(*above));
            let alone = above
                .into_iter()
                .filter(|above| above.level() == level && !has_source(above));
            withdrawn = self.withdraw(alone.collect());
        }
        let is_alone = self.disk.nodes.keys().all(|period| *period == Period::All);
        if is_alone && !withdrawn.is_empty() && !self.withdraw([Period::All].into()).is_empty() {
            self.embed("");
        }
    }

    /// Removes nodes that hippod wrote. Returns the periods of the removed nodes.
    fn withdraw(&mut self, periods: BTreeSet<Period>) -> BTreeSet<Period> {
        let mut withdrawn = BTreeSet::new();
        for period in periods {
            let Some(found) = self.disk.nodes.get(&period).cloned() else {
                continue;
            };
            if found.node.writer != BodyAuthor::Hippod || self.disk.is_held(period) {
                continue;
            }
            if !self.wish.dry_run {
                match disk::restore(&self.view.root, &found.path, None, Some(&found.bytes)) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(error) => {
                        self.refuse(&found.path, format!("could not be removed: {error}"));
                        continue;
                    }
                }
            }
            self.record_change(&found.path, ["removed", "private"], None);
            self.disk.nodes.remove(&period);
            withdrawn.insert(period);
        }
        withdrawn
    }
}
