//! Rendering of the status of daemon and workspaces.

mod contexts;
mod entries;
mod tree;

use std::fmt::Write;

use hippo_proto::{
    ModelLoad, ModelStatus, StatusResponse, VectorBackend, WatcherMode, WatcherStatus, WorkspaceListResponse,
    WorkspaceStatus, WorkspaceSyncResponse,
};

use super::{age, bytes, harmless, plural, table, trust};
use crate::output::Style;

/// Renders the daemon, the model and each workspace.
pub fn status(answer: &StatusResponse, style: Style) -> String {
    let StatusResponse {
        version,
        pid,
        uptime_ms,
        protocol,
        socket,
        home,
        model,
        workspaces,
        memory_rss_bytes,
        requests_served,
    } = answer;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} protocol {protocol}, process {pid}, up {}, {} resident, {} served",
        style.strong(format!("hippod {version}")),
        age(*uptime_ms),
        bytes(*memory_rss_bytes),
        plural(*requests_served, "request"),
    );
    let _ = writeln!(text, "socket  {}", style.path(socket));
    let _ = writeln!(text, "home    {}", style.path(home));
    let _ = writeln!(text, "model   {}", model_line(model, style));
    for workspace in workspaces {
        text.push('\n');
        text.push_str(&one(workspace, style));
    }
    if workspaces.is_empty() {
        let _ = writeln!(text, "no workspace is registered");
    }
    text
}

fn model_line(model: &ModelStatus, style: Style) -> String {
    let ModelStatus {
        state,
        id,
        reason,
        threads,
        loads,
        word_pieces,
    } = model;
    let state = match state {
        ModelLoad::Absent => style.bad("absent"),
        ModelLoad::Failed => style.bad("failed"),
        ModelLoad::Unloaded => "unloaded".to_owned(),
        ModelLoad::Loading => "loading".to_owned(),
        ModelLoad::Ready => style.good("ready"),
    };
    let reason = reason
        .as_deref()
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    let use_ = format!(
        "{}, {}, {} embedded",
        plural((*threads).into(), "thread"),
        plural(*loads, "load"),
        plural(*word_pieces, "word piece"),
    );
    format!("{id}  {state}{reason}  {}", style.quiet(use_))
}

fn one(workspace: &WorkspaceStatus, style: Style) -> String {
    let WorkspaceStatus {
        root,
        documents,
        chunks,
        pending,
        embedded,
        skipped,
        skipped_count,
        generation,
        lag_ms,
        degraded,
        why,
        settings,
        untrusted,
        watcher,
        disk,
        held_deletions,
        root_present,
        vector,
        database_bytes,
        index,
        contexts,
        tree,
    } = workspace;
    let mut text = String::new();
    let missing = if *root_present {
        String::new()
    } else {
        style.bad("  the folder does not exist")
    };
    let _ = writeln!(text, "{}{missing}", style.strong(root));
    let _ = writeln!(
        text,
        "  index    {}, {}, {embedded} embedded, {pending} pending, generation {generation}, {}",
        plural(*documents, "document"),
        plural(*chunks, "chunk"),
        bytes(*database_bytes),
    );
    let _ = writeln!(
        text,
        "  disk     {}, {} indexed",
        plural(disk.files, "file"),
        disk.indexed_files
    );
    let backend = match vector.backend {
        VectorBackend::Exact => "exact",
        VectorBackend::Hnsw => "hnsw",
    };
    let building = if vector.building { ", building" } else { "" };
    let tombstones = vector.tombstones;
    let vectors = plural(vector.vectors, "vector");
    let model = vector.model.as_deref().map(|model| format!(", of {model}"));
    let model = model.unwrap_or_default();
    let _ = writeln!(
        text,
        "  vectors  {backend}, {vectors}, {tombstones} deleted{building}{model}"
    );
    let _ = writeln!(text, "  watcher  {}", watcher_line(watcher, style));
    if let Some(index) = index {
        text.push_str(&entries::lines(index, style));
    }
    if let Some(contexts) = contexts {
        text.push_str(&contexts::line(contexts));
    }
    if let Some(tree) = tree {
        text.push_str(&tree::lines(tree, style));
    }
    if *lag_ms > 0 {
        let _ = writeln!(text, "  lag      {}", age(*lag_ms));
    }
    if let Some(degraded) = degraded {
        let why = why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let _ = writeln!(text, "  {}", style.bad(format!("degraded {degraded}{why}")));
    }
    if let Some(settings) = settings {
        let _ = writeln!(text, "  {}", style.bad(format!("settings {settings}")));
    }
    for file in untrusted {
        text.push_str(&trust::line(file, root, style));
    }
    if *held_deletions > 0 {
        let held = plural(*held_deletions, "deletion");
        let _ = writeln!(
            text,
            "  {}",
            style.bad(format!(
                "held     {held}; confirm with: hippoctl sync --accept-deletions"
            ))
        );
    }
    for file in skipped {
        let _ = writeln!(
            text,
            "  skipped  {}: {}",
            style.path(harmless(&file.path)),
            file.reason
        );
    }
    let more = skipped_count.saturating_sub(skipped.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  skipped  {more} more");
    }
    text
}

fn watcher_line(watcher: &WatcherStatus, style: Style) -> String {
    let WatcherStatus {
        mode,
        alive,
        last_event_ms_ago,
        last_canary_ms_ago,
        last_reconcile_ms_ago,
        changed_at_last_reconcile,
    } = watcher;
    let mode = match mode {
        WatcherMode::Notify => "notify",
        WatcherMode::Poll => "poll",
        WatcherMode::None => "none",
    };
    let alive = if *alive {
        style.good("alive")
    } else {
        style.bad("not alive")
    };
    let ago = |ms: &Option<u64>| ms.map_or_else(|| "never".to_owned(), |ms| format!("{} ago", age(ms)));
    format!(
        "{mode}, {alive}, last event {}, canary {}, reconcile {} ({changed_at_last_reconcile} found)",
        ago(last_event_ms_ago),
        ago(last_canary_ms_ago),
        ago(last_reconcile_ms_ago),
    )
}

/// Renders the registered folders, one per line.
pub fn workspaces(answer: &WorkspaceListResponse, style: Style) -> String {
    let rows: Vec<Vec<String>> = answer
        .workspaces
        .iter()
        .map(|workspace| {
            let state = match (workspace.root_present, workspace.pending) {
                (false, _) => style.bad("missing"),
                (true, 0) => String::new(),
                (true, pending) => format!("{pending} pending"),
            };
            let documents = if workspace.opening {
                "opening".to_owned()
            } else {
                plural(workspace.documents, "document")
            };
            vec![style.path(&workspace.root), documents, state]
        })
        .collect();
    table(&rows, 3)
}

/// Renders the result of a reconcile.
pub fn sync(answer: &WorkspaceSyncResponse, _: Style) -> String {
    let WorkspaceSyncResponse {
        documents,
        changed,
        removed,
        pending,
        generation,
        took_ms,
        notes: _,
    } = answer;
    format!(
        "{}, {changed} changed, {removed} removed, {pending} pending, generation {generation}, {took_ms:.0} ms\n",
        plural(*documents, "document"),
    )
}

#[cfg(test)]
mod tests {
    use hippo_proto::{ContextsStatus, DiskStatus, Skipped, VectorStatus, WorkspaceInfo};

    use super::*;

    fn plain(root: &str) -> WorkspaceStatus {
        WorkspaceStatus {
            root: root.into(),
            documents: 25,
            chunks: 612,
            pending: 0,
            embedded: 612,
            skipped: vec![],
            skipped_count: 0,
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
                id: "all-minilm-l6-v2:384".into(),
                reason: Some("not installed".into()),
                threads: 1,
                loads: 0,
                word_pieces: 0,
            },
            workspaces: vec![plain("/home/u/agent"), troubled],
            memory_rss_bytes: 41_000_000,
            requests_served: 12,
        };
        insta::assert_snapshot!(status(&answer, Style { colour: false }));
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
