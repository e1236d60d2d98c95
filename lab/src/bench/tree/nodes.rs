//! Nodes over a folder of logs, built with the daemon's code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hippo_text::source::NodeKind;
use hippo_tree::{
    Fingerprint, LevelInput, Node, NodeSource, Period, SourceFile, build_root_file, collect_root_sources,
    make, plan, sources,
};
use hippo_types::time::{Date, find_date};

/// Default maximum size of ROOT.md in the daemon, in tokens.
pub const ROOT: usize = 3_000;

/// A log.
pub struct LogFileText {
    /// Path in the workspace.
    pub path: String,
    /// Text of the log.
    pub text: String,
    /// Day of the log.
    pub date: Date,
}

/// Returns the daily logs of a workspace, by day.
///
/// # Errors
/// Fails if the logs cannot be read.
pub fn logs(workspace: &Path) -> Result<Vec<LogFileText>> {
    let folder = workspace.join("memory");
    let mut out = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(date) = find_date(&name).filter(|_| name.ends_with(".md")) {
            out.push(LogFileText {
                path: format!("memory/{name}"),
                text: fs::read_to_string(entry.path())?,
                date,
            });
        }
    }
    out.sort_by_key(|log| log.date);
    Ok(out)
}

/// Returns the date in the path of a log.
pub fn path_date(path: &str) -> &str {
    path.rsplit('/')
        .next()
        .and_then(|name| name.get(..10))
        .unwrap_or_default()
}

/// All nodes of a workspace.
#[derive(Default)]
pub struct Nodes {
    nodes: BTreeMap<Period, Node>,
    /// Files of the nodes.
    files: BTreeMap<Period, String>,
    /// Bodies of the nodes in lower case.
    lower: BTreeMap<Period, String>,
}

impl Nodes {
    /// Builds the nodes from logs. The current day is the day of the last log.
    pub fn of(logs: &[LogFileText]) -> Self {
        let mut out = Self::default();
        let Some(today) = logs.last().map(|log| log.date) else {
            return out;
        };
        for level in [NodeKind::Daily, NodeKind::Weekly, NodeKind::Monthly] {
            out.level(level, logs, today);
        }
        if let Some(root) = out.root(&out.nodes, today) {
            out.put(root);
        }
        out
    }

    fn level(&mut self, level: NodeKind, logs: &[LogFileText], today: Date) {
        let sources = match level {
            NodeKind::Daily => of_logs(logs),
            _ => sources(level, self.nodes.values()),
        };
        let steps = plan(&LevelInput {
            today,
            sources: &sources,
            nodes: &BTreeMap::new(),
            adopted: &BTreeMap::new(),
            improved: false,
        });
        for step in steps {
            let texts: Vec<NodeSource> = sources[&step.period]
                .iter()
                .filter_map(|source| self.text(source, logs))
                .collect();
            if let Some(node) = make(&step, &texts, None, today, false) {
                self.put(node);
            }
        }
    }

    fn text(&self, source: &SourceFile, logs: &[LogFileText]) -> Option<NodeSource> {
        if let Some(period) = Period::of_path(&source.path) {
            return Some(NodeSource::of_node(
                self.nodes.get(&period)?,
                self.files.get(&period)?,
            ));
        }
        let log = logs.iter().find(|log| log.path == source.path)?;
        Some(NodeSource {
            path: log.path.clone(),
            text: log.text.clone(),
            first_line: 1,
            date: Some(log.date),
        })
    }

    /// Builds `ROOT.md` over some of the nodes. The current day is `today`.
    fn root(&self, nodes: &BTreeMap<Period, Node>, today: Date) -> Option<Node> {
        let paths: Vec<(String, &Node, &str)> = nodes
            .iter()
            .map(|(period, node)| {
                (
                    period.path(),
                    node,
                    self.files.get(period).map_or("", String::as_str),
                )
            })
            .collect();
        let all: Vec<(&str, &Node, &str)> = paths
            .iter()
            .map(|(path, node, file)| (path.as_str(), *node, *file))
            .collect();
        let months = nodes.keys().filter(|period| period.level() == NodeKind::Monthly);
        let months: Vec<String> = months.map(|month| month.path()).collect();
        build_root_file(
            &collect_root_sources(&all, &BTreeMap::new()),
            &|_, _| None,
            None,
            &months,
            today,
            ROOT,
        )
    }

    /// Returns `ROOT.md` as it was on each of the last `most` days, earliest first.
    pub fn roots(&self, most: usize) -> Vec<String> {
        let days: Vec<Date> = self.days().filter_map(|(period, _)| period.first_day()).collect();
        let last = days.iter().skip(days.len().saturating_sub(most));
        let root = |today: &Date| {
            let until = |period: &Period| period.first_day().is_some_and(|first| first <= *today);
            let nodes = self.nodes.iter().filter(|(period, _)| until(period));
            let nodes = nodes.map(|(period, node)| (*period, node.clone())).collect();
            self.root(&nodes, *today)
        };
        last.filter_map(root).map(|root| root.body).collect()
    }

    /// Returns the text of `ROOT.md`.
    pub fn root_text(&self) -> &str {
        self.nodes.get(&Period::All).map_or("", |root| &root.body)
    }

    /// Returns the number of days with at least one line in the root, and the number of all days.
    pub fn represented(&self) -> (usize, usize) {
        let root = self.root_text();
        let of = |period: &Period| {
            period
                .first_day()
                .is_some_and(|day| root.contains(&day.to_string()))
        };
        (
            self.days().filter(|(period, _)| of(period)).count(),
            self.days().count(),
        )
    }

    fn days(&self) -> impl Iterator<Item = (&Period, &Node)> {
        self.nodes
            .iter()
            .filter(|(period, _)| period.level() == NodeKind::Daily)
    }

    /// Reads a folder of nodes.
    ///
    /// # Errors
    /// Fails if the nodes cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut out = Self::default();
        for name in ["daily", "weekly", "monthly"] {
            let folder = folder.join(name);
            for entry in
                fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))?
            {
                let path = entry?.path();
                let period = path.file_stem().unwrap_or_default().to_string_lossy();
                if let Some(period) = Period::parse(&period) {
                    out.take(period, fs::read_to_string(&path)?);
                }
            }
        }
        out.take(Period::All, fs::read_to_string(folder.join("ROOT.md"))?);
        Ok(out)
    }

    fn put(&mut self, node: Node) {
        self.take(node.period, node.write());
    }

    /// Adds a node from the text of its file.
    fn take(&mut self, period: Period, file: String) {
        let node = Node::read(period, &file);
        self.lower.insert(period, node.body.to_lowercase());
        self.nodes.insert(period, node);
        self.files.insert(period, file);
    }

    /// Returns the file sizes of each level in bytes.
    pub fn sizes(&self) -> [usize; 4] {
        let levels = [
            NodeKind::Daily,
            NodeKind::Weekly,
            NodeKind::Monthly,
            NodeKind::Root,
        ];
        levels.map(|level| {
            let files = self.files.iter().filter(|(period, _)| period.level() == level);
            files.map(|(_, file)| file.len()).sum()
        })
    }

    /// Returns the bodies of four nodes in lower case: those of a day, its week and its month, and the root.
    pub fn of_day(&self, day: &str) -> [&str; 4] {
        let day = Period::parse(day);
        let week = day.and_then(Period::parent);
        let periods = [day, week, week.and_then(Period::parent), Some(Period::All)];
        periods.map(|period| {
            let body = period.and_then(|period| self.lower.get(&period));
            body.map_or("", String::as_str)
        })
    }
}

/// Returns the sources of each day.
fn of_logs(logs: &[LogFileText]) -> BTreeMap<Period, Vec<SourceFile>> {
    let mut out: BTreeMap<Period, Vec<SourceFile>> = BTreeMap::new();
    for log in logs {
        out.entry(Period::Day(log.date)).or_default().push(SourceFile {
            path: log.path.clone(),
            digest: Fingerprint::of(log.text.as_bytes()),
        });
    }
    out
}
