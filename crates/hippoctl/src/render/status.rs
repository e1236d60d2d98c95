//! Rendering of the status of the daemon and its workspaces.

mod entries;
mod progress;

use hippo_proto::{
    ContextsStatus, ModelLoad, ModelStatus, NotIndexed, StatusResponse, TreeStatus, WatcherStatus,
    WorkspaceListResponse, WorkspaceStatus, WorkspaceSyncResponse,
};

use super::{age, bytes, harmless, one_line, pair, plural, table, trust, word};
use crate::output::Style;

pub use progress::{progress, searchable};

/// The end of a line about deletions that hippod holds back: the command that confirms the deletions.
const CONFIRM: &str = "; confirm with: hippoctl sync --accept-deletions";

/// Renders the status of the daemon, of the model and of each workspace. With `bars`, the backlog is a bar.
pub fn status(answer: &StatusResponse, bars: bool, style: Style) -> String {
    let mut text = format!(
        "{} protocol {}, process {}, up {}, {} resident, {} served\n",
        style.strong(format!("hippod {}", answer.version)),
        answer.protocol,
        answer.pid,
        age(answer.uptime_ms),
        bytes(answer.memory_rss_bytes),
        plural(answer.requests_served, "request"),
    );
    text += &format!("socket  {}\n", style.path(&answer.socket));
    text += &format!("home    {}\n", style.path(&answer.home));
    text += &format!("model   {}\n", model_line(&answer.model, style));
    for workspace in &answer.workspaces {
        text.push('\n');
        text += &one(workspace, bars, style);
    }
    if answer.workspaces.is_empty() {
        text += "no workspace is registered\n";
    }
    text
}

fn model_line(model: &ModelStatus, style: Style) -> String {
    let state = match model.state {
        ModelLoad::Absent => style.bad("absent"),
        ModelLoad::Failed => style.bad("failed"),
        ModelLoad::Unloaded => "unloaded".to_owned(),
        ModelLoad::Loading => "loading".to_owned(),
        ModelLoad::Ready => style.good("ready"),
    };
    let (threads, loads) = (
        plural(model.threads.into(), "thread"),
        plural(model.loads, "load"),
    );
    let pieces = plural(model.word_pieces, "word piece");
    let usage = format!("{threads}, {loads}, {pieces} embedded");
    let reason = after_colon(model.reason.as_deref());
    format!("{}  {state}{reason}  {}", model.id, style.quiet(usage))
}

/// Returns a colon and the reason, or an empty text if there is no reason.
fn after_colon(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

/// Returns a line of the status of a workspace, in the colour of problems.
fn bad_line(label: &str, text: &str, style: Style) -> String {
    format!("  {}\n", style.bad(format!("{label:<8} {text}")))
}

fn one(workspace: &WorkspaceStatus, bars: bool, style: Style) -> String {
    let missing = match workspace.root_present {
        true => String::new(),
        false => style.bad("  the folder does not exist"),
    };
    let mut text = format!("{}{missing}\n", style.strong(&workspace.root));
    let (documents, chunks) = (
        plural(workspace.documents, "document"),
        plural(workspace.chunks, "chunk"),
    );
    let (embedded, pending) = (workspace.embedded, workspace.pending);
    let state = format!(
        "generation {}, {}",
        workspace.generation,
        bytes(workspace.database_bytes)
    );
    let documents = match workspace.private + workspace.unclaimed {
        0 => documents,
        private => format!("{documents} ({private} private)"),
    };
    let index = format!("{documents}, {chunks}, {embedded} embedded, {pending} pending, {state}");
    text += &pair("index", &index);
    if bars {
        text += &pair("backlog", &progress::backlog(workspace, style));
    }
    let disk = &workspace.disk;
    let disk = format!("{}, {} indexed", plural(disk.files, "file"), disk.indexed_files);
    text += &pair("disk", &disk);
    let vector = &workspace.vector;
    let model = vector.model.as_deref().map(|model| format!(", of {model}"));
    let vectors = format!(
        "{}, {}, {} deleted{}{}",
        word(vector.backend),
        plural(vector.vectors, "vector"),
        vector.tombstones,
        if vector.building { ", building" } else { "" },
        model.unwrap_or_default()
    );
    text += &pair("vectors", &vectors);
    text += &pair("watcher", &watcher_line(&workspace.watcher, style));
    if let Some(index) = &workspace.index {
        text += &entries::lines(index, style);
    }
    if let Some(contexts) = &workspace.contexts {
        text += &pair("contexts", &contexts_line(contexts));
    }
    if let Some(tree) = &workspace.tree {
        text += &pair("tree", &tree_line(tree));
    }
    if workspace.lag_ms > 0 {
        text += &pair("lag", &age(workspace.lag_ms));
    }
    if let Some(degraded) = &workspace.degraded {
        let why = after_colon(workspace.why.as_deref());
        text += &bad_line("degraded", &format!("{degraded}{why}"), style);
    }
    if let Some(settings) = &workspace.settings {
        text += &bad_line("settings", settings, style);
    }
    for file in &workspace.untrusted {
        text += &trust::line(file, &workspace.root, style);
    }
    if workspace.held_deletions > 0 {
        let held = plural(workspace.held_deletions, "deletion");
        text += &bad_line("held", &(held + CONFIRM), style);
    }
    for NotIndexed {
        reason,
        files,
        or_more,
    } in &workspace.left_out
    {
        let or_more = if *or_more { " or more" } else { "" };
        text += &pair(
            "left out",
            &format!(
                "{}{or_more} {}",
                plural(*files, "markdown file"),
                harmless(reason)
            ),
        );
    }
    for file in &workspace.skipped {
        let path = style.path(harmless(&file.path));
        text += &pair("skipped", &format!("{path}: {}", file.reason));
    }
    let listed = workspace.skipped.len() as u64;
    let more = workspace.skipped_count.saturating_sub(listed);
    if more > 0 {
        text += &pair("skipped", &format!("{more} more"));
    }
    text
}

fn watcher_line(watcher: &WatcherStatus, style: Style) -> String {
    let alive = match watcher.alive {
        true => style.good("alive"),
        false => style.bad("not alive"),
    };
    let ago = |ms: Option<u64>| ms.map_or_else(|| "never".to_owned(), |ms| format!("{} ago", age(ms)));
    format!(
        "{}, {alive}, last event {}, canary {}, reconcile {} ({} found)",
        word(watcher.mode),
        ago(watcher.last_event_ms_ago),
        ago(watcher.last_canary_ms_ago),
        ago(watcher.last_reconcile_ms_ago),
        plural(watcher.changed_at_last_reconcile, "change"),
    )
}

fn contexts_line(contexts: &ContextsStatus) -> String {
    let oldest = contexts.oldest.as_deref();
    let since = oldest.map(|oldest| format!(" since {}", one_line(oldest)));
    format!(
        "{}, {} open, {}; {} stored{}: {} of {}, {} uncompressed",
        plural(contexts.sessions, "session"),
        contexts.open,
        plural(contexts.entries, "entry"),
        plural(contexts.contents, "content"),
        since.unwrap_or_default(),
        bytes(contexts.stored_bytes),
        bytes(contexts.budget_bytes),
        bytes(contexts.raw_bytes),
    )
}

fn tree_line(tree: &TreeStatus) -> String {
    let foreign = match tree.foreign {
        0 => String::new(),
        count => format!(
            "; {} of another program; to take over the tree: hippoctl tree compact --take-over",
            plural(count, "node")
        ),
    };
    let created = match &tree.last {
        Some(last) => format!("created {}", one_line(last)),
        None => "not created yet".to_owned(),
    };
    format!("{}; {created}{foreign}", plural(tree.nodes, "node"))
}

/// Renders the registered folders, one per line.
pub fn workspaces(answer: &WorkspaceListResponse, style: Style) -> String {
    let rows = answer.workspaces.iter().map(|workspace| {
        let state = match (workspace.root_present, workspace.pending) {
            (false, _) => style.bad("missing"),
            (true, 0) => String::new(),
            (true, pending) => format!("{pending} pending"),
        };
        let documents = match workspace.opening {
            true => "opening".to_owned(),
            false => plural(workspace.documents, "document"),
        };
        vec![style.path(&workspace.root), documents, state]
    });
    table(&rows.collect::<Vec<_>>(), 3)
}

/// Renders the result of `sync`.
pub fn sync(answer: &WorkspaceSyncResponse, _: Style) -> String {
    format!(
        "{}, {} changed, {} removed, {} pending, generation {}, {:.0} ms\n",
        plural(answer.documents, "document"),
        answer.changed,
        answer.removed,
        answer.pending,
        answer.generation,
        answer.took_ms
    )
}

#[cfg(test)]
mod tests {
    use hippo_proto::{DiskStatus, Skipped, VectorBackend, VectorStatus, WatcherMode, WorkspaceInfo};

    use super::*;

    pub fn plain(root: &str) -> WorkspaceStatus {
        WorkspaceStatus {
            root: root.into(),
            documents: 25,
            private: 0,
            unclaimed: 0,
            chunks: 612,
            pending: 0,
            embedded: 612,
            skipped: vec![],
            skipped_count: 0,
            left_out: vec![],
            generation: 7,
            lag_ms: 0,
            degraded: None,
            why: None,
            settings: None,
            untrusted: Vec::new(),
            watcher: WatcherStatus {
                mode: WatcherMode::Notify,
                alive: true,
                last_event_ms_ago: None,
                last_canary_ms_ago: Some(900),
                last_reconcile_ms_ago: Some(61_000),
                changed_at_last_reconcile: 0,
            },
            disk: DiskStatus {
                files: 25,
                indexed_files: 25,
            },
            held_deletions: 0,
            root_present: true,
            vector: VectorStatus {
                backend: VectorBackend::Exact,
                vectors: 612,
                tombstones: 3,
                building: false,
                model: None,
            },
            database_bytes: 2_400_000,
            index: None,
            contexts: None,
            tree: None,
        }
    }

    #[test]
    fn healthy_and_troubled_workspaces_are_rendered() {
        let troubled = WorkspaceStatus {
            pending: 40,
            lag_ms: 2_500,
            degraded: Some("no-model".into()),
            why: Some("the model is not installed".into()),
            settings: None,
            untrusted: Vec::new(),
            skipped: vec![Skipped {
                path: "memory/huge.md".into(),
                reason: "larger than 16 MiB".into(),
            }],
            skipped_count: 3,
            left_out: vec![NotIndexed {
                reason: "in node_modules".into(),
                files: 9,
                or_more: false,
            }],
            held_deletions: 12,
            root_present: false,
            vector: VectorStatus {
                backend: VectorBackend::Hnsw,
                vectors: 300_000,
                tombstones: 0,
                building: true,
                model: None,
            },
            watcher: WatcherStatus {
                alive: false,
                mode: WatcherMode::Poll,
                ..plain("").watcher
            },
            contexts: Some(ContextsStatus {
                sessions: 3,
                open: 1,
                entries: 40,
                contents: 31,
                stored_bytes: 1_200_000,
                raw_bytes: 9_800_000,
                budget_bytes: 1_073_741_824,
                oldest: Some("2026-02-01T08:00:00Z".into()),
            }),
            ..plain("/home/u/old")
        };
        let answer = StatusResponse {
            version: "0.1.0".into(),
            pid: 4711,
            uptime_ms: 3_600_000,
            protocol: 1,
            socket: "/run/user/1/hippod/hippod.sock".into(),
            home: "/home/u/.local/state/hippod".into(),
            model: ModelStatus {
                state: ModelLoad::Absent,
                id: "minilm-l6-dialogue-int8:384".into(),
                reason: Some("not installed".into()),
                threads: 1,
                loads: 0,
                word_pieces: 0,
            },
            workspaces: vec![plain("/home/u/agent"), troubled],
            memory_rss_bytes: 41_000_000,
            requests_served: 12,
        };
        insta::assert_snapshot!(status(&answer, false, Style { colour: false }));
    }

    #[test]
    fn the_list_of_workspaces_is_rendered() {
        let one = WorkspaceInfo {
            root: "/home/u/agent".into(),
            documents: 25,
            pending: 0,
            generation: 7,
            root_present: true,
            opening: false,
        };
        let opening = WorkspaceInfo {
            root: "/home/u/new".into(),
            opening: true,
            ..one.clone()
        };
        let gone = WorkspaceInfo {
            root: "/mnt/x".into(),
            root_present: false,
            opening: false,
            documents: 1,
            ..one.clone()
        };
        let answer = WorkspaceListResponse {
            workspaces: vec![one, opening, gone],
        };
        insta::assert_snapshot!(workspaces(&answer, Style { colour: false }));
    }
}
