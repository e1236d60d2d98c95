//! State of a workspace for queries, `status` and subscribers.

use std::time::Instant;

use hippo_proto::{
    DiskStatus, Event as News, IndexStatus, NotIndexed, Skipped, VectorBackend, VectorStatus, WatcherMode,
    WatcherStatus, WorkspaceStatus,
};
use hippo_store::StoreError;
use hippo_text::text::plural;
use hippo_types::scope::Scope;

use super::embedding::model_state;
use super::entries::run_on_wire;
use super::worker::WorkspaceWorker;
use super::workspace::Workspace;
use crate::embed_worker::ModelPhase;
use crate::scan::{LeftOutFiles, describe_left_out};
use crate::view::Freshness;

/// Maximum number of skipped files listed by `status`.
const SKIPPED_LISTED: usize = 20;

impl WorkspaceWorker {
    /// Publishes the current state of the workspace to queries and subscribers. `changed` and `removed` are numbers of
    /// documents since the last call.
    pub(super) fn publish(&self, workspace: &mut Workspace, now: Instant, changed: u64, removed: u64) {
        let degraded = self.degraded(workspace);
        let behind_since = workspace.unread().map(|dirty| dirty.since).min();
        let freshness = Freshness {
            pending: workspace.backlog(),
            unread: workspace.unread().count() as u64,
            taken: workspace.reports_taken,
            behind_since,
            degraded,
        };
        let before = workspace.view.set_freshness(freshness.clone());
        let root = workspace.root.display().to_string();
        if before.degraded.as_ref().map(|(word, _)| *word)
            != freshness.degraded.as_ref().map(|(word, _)| *word)
        {
            let (degraded, why) = freshness.degraded.clone().unzip();
            self.tell(News::Degraded {
                workspace: root.clone(),
                degraded: degraded.map(str::to_owned),
                why,
            });
        }
        let generation = workspace.view.snapshot().generation;
        let pending = workspace.pending.len() as u64;
        if changed + removed > 0 {
            self.tell(News::Indexed {
                workspace: root.clone(),
                generation,
                changed,
                removed,
                pending,
            });
        }
        if before.pending > 0 && freshness.pending == 0 {
            self.tell(News::Job {
                workspace: Some(root),
                job: "embed".to_owned(),
                done: workspace.view.snapshot().vectors.len() as u64,
                total: None,
                finished: true,
            });
        }
        let mut status = status(workspace, &freshness, now);
        status.index = Some(self.index_status(workspace));
        workspace.view.set_status(status);
    }

    /// Returns the status of the index file.
    fn index_status(&self, workspace: &Workspace) -> IndexStatus {
        let entries = &workspace.entries;
        let (all, queued, archived) = entries.counts();
        let held = entries.held_story();
        let file = match (entries.enabled, &entries.file.trouble, &held) {
            (false, _, _) => "off",
            (true, Some(_), _) | (true, _, Some(_)) => "held",
            (true, None, None) if entries.file.unwritten || entries.file.base().is_none() => "unwritten",
            (true, None, None) => "written",
        };
        IndexStatus {
            entries: all,
            queued,
            archived,
            tokens: entries.file.tokens(),
            file: file.to_owned(),
            trouble: entries.file.trouble.as_ref().map(ToString::to_string).or(held),
            held_removals: entries.file.held.as_ref().map_or(0, |held| held.entries.len()) as u64,
            last_cycle: entries
                .known
                .runs
                .iter()
                .max_by_key(|row| row.id)
                .map(run_on_wire),
            next: if entries.enabled {
                self.next_on_wire(workspace)
            } else {
                Vec::new()
            },
        }
    }

    /// Returns the most serious problem of the workspace, as a code and a message; `None` without problems.
    fn degraded(&self, workspace: &Workspace) -> Option<(&'static str, String)> {
        match &workspace.trouble {
            Some(error @ StoreError::DiskFull { .. }) => return Some(("disk-full", error.to_string())),
            Some(error) if error.is_shortage() => {
                return Some(("too-many-open-files", error.to_string()));
            }
            Some(error) if error.needs_rebuild() => {
                let why = format!("{error}; to rebuild the index from the files: hippoctl doctor --rebuild");
                return Some(("database-damaged", why));
            }
            Some(error) => return Some(("store", error.to_string())),
            None => {}
        }
        if !workspace.root_present {
            let why = format!(
                "the folder does not exist: {}; its files stay in the index",
                workspace.root.display()
            );
            return Some(("root-missing", why));
        }
        if workspace.times.reconcile.is_none() {
            let (word, why) = Freshness::WARMING;
            return Some((word, why.to_owned()));
        }
        if !self.resources.config.embed.enabled {
            return None;
        }
        let waiting = workspace.pending.len();
        match model_state(&self.resources, workspace) {
            ModelPhase::Absent(why) => {
                let fix = self.resources.models.remedy(&workspace.view.config.embed.model);
                Some(("no-model", format!("{why}; install the model: {fix}")))
            }
            ModelPhase::Failed(why) => Some(("no-model", format!("{why}; for details: hippoctl doctor"))),
            _ if waiting > 0 => Some((
                "embeddings-behind",
                format!(
                    "not searchable by meaning yet: {}, because vectors are still being computed",
                    plural(waiting as u64, "chunk")
                ),
            )),
            _ => None,
        }
    }
}

/// Returns the code and the message of a database repair that `doctor` has not reported yet. Query responses do not
/// mention the repair.
fn repaired(workspace: &Workspace) -> Option<(&'static str, String)> {
    let is_repaired = workspace.recovered.is_some() || workspace.mended.is_some();
    (is_repaired && !workspace.repair_is_told).then(|| {
        let why = "the database was damaged and was repaired; to list the losses: hippoctl doctor";
        (Freshness::REPAIRED, why.to_owned())
    })
}

/// Records that `doctor` has reported the repair of the database.
pub(super) fn repair_is_told(workspace: &mut Workspace) {
    workspace.repair_is_told = true;
    if let Some(mut status) = workspace.view.status()
        && status.degraded.as_deref() == Some(Freshness::REPAIRED)
    {
        (status.degraded, status.why) = (None, None);
        workspace.view.set_status(status);
    }
}

/// Returns the numbers of markdown files that are not memory files.
fn left_out(workspace: &Workspace) -> Vec<NotIndexed> {
    let of = |(reason, files): (&String, &LeftOutFiles)| NotIndexed {
        reason: reason.clone(),
        files: files.count,
        or_more: files.is_minimum,
    };
    workspace.left_out.iter().map(of).collect()
}

/// Describes the files of the workspace that are not indexed; `None` if all markdown files are indexed.
pub(super) fn left_out_note(workspace: &Workspace) -> Option<String> {
    describe_left_out(&left_out(workspace), workspace.skipped.len() as u64)
}

fn status(workspace: &Workspace, freshness: &Freshness, now: Instant) -> WorkspaceStatus {
    let snapshot = workspace.view.snapshot();
    let ago = |at: Option<Instant>| at.map(|at| millis(now, at));
    let (degraded, why) = freshness.degraded.clone().or_else(|| repaired(workspace)).unzip();
    // The names of private files are private, too.
    let skipped = workspace.skipped.values();
    let skipped = skipped.filter(|skipped| workspace.view.scope_of_path(&skipped.rel).is_shared());
    let skipped = skipped.take(SKIPPED_LISTED);
    WorkspaceStatus {
        root: workspace.root.display().to_string(),
        documents: workspace.known.len() as u64,
        private: snapshot
            .scopes
            .values()
            .filter(|scope| **scope != Scope::Unclaimed)
            .count() as u64,
        unclaimed: snapshot
            .scopes
            .values()
            .filter(|scope| **scope == Scope::Unclaimed)
            .count() as u64,
        chunks: snapshot.corpus.len() as u64,
        pending: workspace.pending.len() as u64,
        embedded: snapshot.vectors.len() as u64,
        skipped: skipped
            .map(|skipped| Skipped {
                path: skipped.rel.clone(),
                reason: skipped.reason.clone(),
            })
            .collect(),
        skipped_count: workspace.skipped.len() as u64,
        left_out: left_out(workspace),
        generation: snapshot.generation,
        lag_ms: freshness.behind_since.map_or(0, |since| millis(now, since)),
        degraded: degraded.map(str::to_owned),
        why,
        settings: workspace.own.describe_error(),
        untrusted: workspace.own.untrusted.clone(),
        watcher: WatcherStatus {
            mode: workspace
                .watcher
                .as_ref()
                .map_or(WatcherMode::None, |watcher| watcher.state().mode),
            alive: workspace.watcher.is_some() && !workspace.watcher_silent,
            last_event_ms_ago: ago(workspace.times.event),
            last_canary_ms_ago: ago(workspace.times.canary),
            last_reconcile_ms_ago: ago(workspace.times.reconcile),
            changed_at_last_reconcile: workspace.changed_at_reconcile,
        },
        disk: DiskStatus {
            files: workspace.files_on_disk as u64,
            indexed_files: workspace.known.len() as u64,
        },
        held_deletions: workspace.held.len() as u64,
        root_present: workspace.root_present,
        vector: VectorStatus {
            backend: if snapshot.vectors.uses_graph() {
                VectorBackend::Hnsw
            } else {
                VectorBackend::Exact
            },
            vectors: snapshot.vectors.len() as u64,
            tombstones: snapshot.vectors.tombstones() as u64,
            building: workspace.graph_build.is_some(),
            model: snapshot.model.as_deref().map(str::to_owned),
        },
        database_bytes: database_bytes(workspace.store.path()),
        ..WorkspaceStatus::default()
    }
}

#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn database_bytes(file: &std::path::Path) -> u64 {
    ["", "-wal"]
        .iter()
        .filter_map(|suffix| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            std::fs::metadata(name).ok()
        })
        .map(|metadata| metadata.len())
        .sum()
}

fn millis(now: Instant, then: Instant) -> u64 {
    u64::try_from(now.saturating_duration_since(then).as_millis()).unwrap_or(u64::MAX)
}
