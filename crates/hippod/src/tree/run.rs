//! Update of the compaction tree of a workspace.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use hippo_proto::folder::Trust;
use hippo_proto::{ErrorKind, RpcError, TreeChange, TreeCompactResponse, TreeRefusal};
use hippo_text::source::{NodeKind, SourceRules};
use hippo_text::text::plural;
use hippo_tree::{LevelInput, Node, NodeAction, NodeStatus, NodeStep, Period, SourceFile, make, plan};
use hippo_types::time::{Date, Timestamp};
use hippo_types::tokens;
use jiff::tz::TimeZone;

use super::Trees;
use super::disk::{self, Disk, DiskNode};
use super::foreign::{self, Ledger};
use super::settings::TreeSettings;
use super::state::TreeState;
use crate::clock::date_in;
use crate::config::KeepTree;
use crate::errors::root_missing;
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;

/// Number of new lines in the daily logs that makes a full run due before the cooldown ends.
const GROWN_LINES: u64 = 300;
/// Number of new sections in the daily logs that makes a full run due before the cooldown ends.
const GROWN_SECTIONS: u64 = 5;

/// Options of a tree update.
#[derive(Debug, Clone, Copy, Default)]
pub struct TreeOptions {
    /// Time that counts as the current time for the update; `None` means the actual time.
    pub at: Option<Timestamp>,
    /// True if the changes are only reported and not made.
    pub dry_run: bool,
    /// True if a person confirmed the take-over of another program's tree.
    pub take_over: bool,
    /// True if nothing happens unless a full run is due.
    pub when_due: bool,
    /// True if only the nodes for days are updated, unless a full run is due.
    pub days: bool,
}

/// Updates a tree: first the nodes for days, then those for weeks and months, and then `ROOT.md`.
///
/// # Errors
/// Returns `warming` if the folder of the workspace is missing, `no-workspace` if the workspace has been removed in the
/// meantime, and `internal` if the client has disconnected. After an error, the nodes that were already written remain,
/// and the next run updates the others. A node that cannot be created or written causes no error; the response lists
/// it.
pub fn compact(
    trees: &Trees,
    view: &WorkspaceView,
    wish: TreeOptions,
    cancellation: Cancellation<'_>,
) -> Result<TreeCompactResponse, RpcError> {
    let since = Instant::now();
    if view.status().is_some_and(|status| !status.root_present) {
        return Err(root_missing(&view.root));
    }
    let now = trees.clock.now();
    let Some(_one) = trees.take(&view.root, !wish.when_due)? else {
        // Another run holds the lock and is already performing the due work.
        let today = date_in(wish.at.unwrap_or(now), &view.zone(&*trees.clock));
        return Ok(TreeCompactResponse {
            today: today.to_string(),
            ..TreeCompactResponse::default()
        });
    };
    let mut run = TreeRun::new(trees, view, wish, cancellation)?;
    if run.is_left_alone(trees)? {
        return Ok(run.answer);
    }
    run.withdraw_private();
    let due = run.is_due(now);
    if wish.when_due && !due {
        return Ok(run.answer);
    }
    let levels: &[NodeKind] = if wish.days && !due {
        &[NodeKind::Daily]
    } else {
        &[NodeKind::Daily, NodeKind::Weekly, NodeKind::Monthly]
    };
    let made = levels
        .iter()
        .try_for_each(|level| run.level(*level, cancellation));
    if made.is_ok() && levels.len() > 1 {
        run.root();
        run.state.last_ms = Some(now.0);
        run.state.lines = run.disk.lines;
        run.state.sections = run.disk.sections;
    }
    if !wish.dry_run {
        run.keep_state(trees)?;
    }
    made?;
    run.answer.ran = true;
    run.answer.took_ms = since.elapsed().as_secs_f64() * 1000.0;
    Ok(run.answer)
}

/// State of one run that updates or reads a tree.
pub(super) struct TreeRun<'a> {
    pub view: &'a WorkspaceView,
    pub today: Date,
    pub zone: TimeZone,
    pub wish: TreeOptions,
    pub disk: Disk,
    pub settings: TreeSettings,
    pub state: TreeState,
    pub ledger: Ledger,
    /// State folder of the daemon.
    pub folder: PathBuf,
    pub answer: TreeCompactResponse,
}

impl<'a> TreeRun<'a> {
    /// Reads the files, the settings and the state of a tree.
    ///
    /// # Errors
    /// Returns `bad-request` for an invalid pattern in the configuration, and `internal` if the ledger cannot be read
    /// or the client has disconnected.
    pub fn new(
        trees: &Trees,
        view: &'a WorkspaceView,
        wish: TreeOptions,
        cancellation: Cancellation<'_>,
    ) -> Result<Self, RpcError> {
        let zone = view.zone(&*trees.clock);
        let today = date_in(wish.at.unwrap_or_else(|| trees.clock.now()), &zone);
        let sources = &view.config.sources;
        let rules = SourceRules::new(&sources.include, &sources.exclude).map_err(|error| {
            RpcError::bad_request(error.to_string()).hint("correct the pattern in the configuration")
        })?;
        let disk = disk::read(&view.root, (&rules, &view.scopes), &view.config, cancellation)?;
        let mut answer = TreeCompactResponse {
            today: today.to_string(),
            ..TreeCompactResponse::default()
        };
        for (path, why) in &disk.refused {
            answer.refused.push(TreeRefusal {
                path: path.clone(),
                reason: format!("could not be read: {why}"),
            });
        }
        let trust = Trust::of(&trees.state, &view.root);
        let settings = TreeSettings::of(&view.root, &trust, &view.config.tree);
        answer.notes.extend(settings.notes.iter().cloned());
        let state = TreeState::read(&trees.state, &view.root);
        let ledger = Ledger::read(&trees.state, &view.root).map_err(|error| {
            RpcError::internal(format!("could not read the original files of the tree: {error}"))
                .hint("nothing was changed; check the state folder: hippoctl doctor")
        })?;
        if !ledger.taken_over && state.last_ms.is_none() {
            answer.foreign = foreign::nodes(&disk);
        }
        Ok(Self {
            view,
            today,
            zone,
            wish,
            disk,
            settings,
            state,
            ledger,
            folder: trees.state.clone(),
            answer,
        })
    }

    /// Returns whether the tree must not be changed, because another program wrote it and no person has confirmed the
    /// take-over. If the request confirms the take-over, records the confirmation.
    ///
    /// # Errors
    /// Returns `internal` if the confirmation cannot be recorded. Nothing is changed then.
    fn is_left_alone(&mut self, trees: &Trees) -> Result<bool, RpcError> {
        let first = self.answer.foreign.first().cloned();
        let Some(first) = first else { return Ok(false) };
        let number = match self.answer.foreign.len() {
            1 => first,
            more => format!("{first} and {}", plural(more as u64 - 1, "other file")),
        };
        if self.wish.take_over {
            self.answer.notes.push(format!(
                "took over {number} that another program wrote; `hippoctl workspace remove` and `hippoctl \
                 init --undo` restore the original files"
            ));
            self.ledger.taken_over = true;
            self.answer.foreign.clear();
            if !self.wish.dry_run {
                let kept = self.ledger.write(&trees.state, &self.view.root);
                kept.map_err(|error| {
                    RpcError::internal(format!("could not record that the tree was taken over: {error}"))
                        .hint("check the disk of the state folder; nothing was changed")
                })?;
            }
            return Ok(false);
        }
        self.answer.notes.push(format!(
            "did not change {number} that another program wrote; to take over the tree: hippoctl tree \
             compact --take-over"
        ));
        Ok(true)
    }

    /// Returns whether another program wrote a node, so that it must stay unchanged.
    pub fn is_foreign(&self, path: &str) -> bool {
        self.answer.foreign.iter().any(|foreign| foreign == path)
    }

    /// Writes the state of the tree.
    ///
    /// # Errors
    /// Returns `internal` if the file cannot be written. The nodes have already been written at this point.
    pub fn keep_state(&self, trees: &Trees) -> Result<(), RpcError> {
        let kept = self.state.write(&trees.state, &self.view.root);
        kept.map_err(|error| {
            RpcError::internal(format!("could not store the state of the tree: {error}"))
                .hint("check the disk of the state folder; the nodes were written")
        })
    }

    /// Returns whether a full run is due: the cooldown is over, or the daily logs have grown enough.
    fn is_due(&self, now: Timestamp) -> bool {
        let (state, disk) = (&self.state, &self.disk);
        // The first logs do not wait for the cooldown, which may have begun before any log existed.
        let is_first = state.sections == 0 && state.lines == 0 && disk.lines > 0;
        is_first
            || state
                .age_ms(now)
                .is_none_or(|age| age >= self.settings.cooldown_ms)
            || disk.lines.abs_diff(state.lines) >= GROWN_LINES
            || disk.sections.abs_diff(state.sections) >= GROWN_SECTIONS
    }

    fn level(&mut self, level: NodeKind, cancellation: Cancellation<'_>) -> Result<(), RpcError> {
        let sources = self.sources(level);
        let nodes: BTreeMap<Period, Node> = self
            .disk
            .nodes
            .iter()
            .filter(|(period, _)| period.level() == level)
            .map(|(period, found)| (*period, found.node.clone()))
            .collect();
        let steps = plan(&LevelInput {
            today: self.today,
            sources: &sources,
            nodes: &nodes,
            adopted: &self.state.adopted(),
            improved: self.settings.improved,
        });
        self.answer.unchanged += (sources.len() - steps.len()) as u64;
        for step in steps {
            cancellation.check()?;
            if !self.disk.is_held(step.period) {
                self.step(&step, sources.get(&step.period).map_or(&[], Vec::as_slice));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &NodeStep, sources: &[SourceFile]) {
        let path = step.period.path();
        let before = self.disk.nodes.get(&step.period).cloned();
        if step.action == NodeAction::Adopt {
            self.state.adopt(step.period, step.digest);
            self.record_change(
                &path,
                [action(step.action), step.cause.name()],
                before.as_ref().map(|found| &found.node),
            );
            return;
        }
        let texts = match self.texts(step.period.level(), sources) {
            Ok(texts) => texts,
            Err(reason) => {
                self.refuse(&path, reason);
                return;
            }
        };
        let Some(node) = make(
            step,
            &texts,
            before.as_ref().map(|found| &found.node),
            self.today,
            self.settings.improved,
        ) else {
            return;
        };
        let done = [action(step.action), step.cause.name()];
        if let Err(error) = self.put(&path, done, &node, before.as_ref()) {
            self.refuse(&path, error.message);
        }
    }

    /// Writes a node, records the change for the response, and updates the tree in memory. `before` is the version of
    /// the node that was read. A dry run only omits the write.
    ///
    /// # Errors
    /// Returns `conflict` if another program wrote the node in the meantime; that version stays. Returns `read-only` if
    /// the node or the copy of the original cannot be written; the node stays unchanged.
    pub fn put(
        &mut self,
        path: &str,
        done: [&str; 2],
        node: &Node,
        before: Option<&DiskNode>,
    ) -> Result<(), RpcError> {
        let text = node.write();
        if !self.wish.dry_run {
            let refused = |what: &str, error: std::io::Error| {
                let what = format!("could not {what} {path}: {error}");
                RpcError::new(ErrorKind::ReadOnly, what)
                    .hint("make the file and its folder writable; the node was not changed")
            };
            let known = before.map(|found| found.bytes.as_slice());
            if self.ledger.taken_over {
                let noted = self
                    .ledger
                    .note(&self.folder, &self.view.root, path, known, &text);
                noted.map_err(|error| refused("keep a copy of", error))?;
            }
            let put = disk::put(&self.view.root, path, &text, known);
            if !put.map_err(|error| refused("write", error))? {
                let what = format!("another program wrote {path} in the meantime");
                return Err(RpcError::new(ErrorKind::Conflict, what)
                    .hint("its version stays; the next update checks the node again"));
            }
        }
        self.record_change(path, done, Some(node));
        let found = DiskNode {
            path: path.to_owned(),
            node: Node::read(node.period, &text),
            bytes: text.into_bytes(),
        };
        self.disk.nodes.insert(node.period, found);
        Ok(())
    }

    /// Adds a change of a node to the response.
    pub fn record_change(&mut self, path: &str, [action, cause]: [&str; 2], node: Option<&Node>) {
        let status = node.and_then(|node| node.status);
        self.answer.nodes.push(TreeChange {
            path: path.to_owned(),
            action: action.to_owned(),
            cause: cause.to_owned(),
            status: status.map_or("", NodeStatus::name).to_owned(),
            tokens: node.map_or(0, |node| tokens::of(&node.body) as u64),
        });
    }

    /// Adds a node that could not be changed, and the reason, to the response.
    pub fn refuse(&mut self, path: &str, reason: impl Into<String>) {
        self.answer.refused.push(TreeRefusal {
            path: path.to_owned(),
            reason: reason.into(),
        });
    }
}

fn action(action: NodeAction) -> &'static str {
    match action {
        NodeAction::Make => "made",
        NodeAction::Restate(_) => "restated",
        NodeAction::Outdate => "outdated",
        NodeAction::Adopt => "adopted",
    }
}

/// Returns whether the tree of a workspace is updated automatically.
pub fn is_kept(view: &WorkspaceView) -> bool {
    match view.config.tree.keep {
        KeepTree::Auto => hippo_fs::is_file(&view.root, "memory/ROOT.md"),
        KeepTree::Always => true,
        KeepTree::Never => false,
    }
}
