//! The tool `memory_status`.

use hippo_proto::{ModelLoad, StatusRequest, WorkspaceStatus};
use serde_json::{Value, json};

use super::tools::some;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};

/// Age of the last reconcile, in milliseconds, above which a note reports a watcher that does not respond.
const LATE: u64 = 2_000;

pub(super) fn status(session: &mut DaemonSession) -> Result<Value, Failure> {
    let root = session.root()?;
    let answer = session.call(StatusRequest {})?;
    let workspace = answer.workspaces.into_iter().find(|one| one.root == root);
    let removed = || Failure::new(Exit::NotFound, format!("the workspace was removed: {root}"));
    let workspace = workspace.ok_or_else(removed)?;
    Ok(report(workspace, answer.model.state))
}

/// Returns the state of a workspace in the format of the tool `memory_status`.
fn report(workspace: WorkspaceStatus, model: ModelLoad) -> Value {
    // Right after a start, the counts are not known yet. They are omitted, because zeros would look like real counts.
    let warming = workspace.degraded.as_deref() == Some("warming");
    let opening = workspace.generation == 0 && warming;
    let reconciled = workspace.watcher.last_reconcile_ms_ago;
    let is_late = reconciled.is_some_and(|ago| ago > LATE);
    let deaf = (!workspace.watcher.alive && !warming && is_late).then(|| {
        "changes are detected late, because the watcher does not respond; for details: hippoctl doctor"
            .to_owned()
    });
    let held = (workspace.held_deletions > 0).then(|| {
        format!(
            "files that are missing on disk, but that searches still find: {}; for details: hippoctl doctor",
            workspace.held_deletions
        )
    });
    let trouble = workspace.index.as_ref().and_then(|index| index.trouble.clone());
    let notes = [workspace.why, workspace.settings, trouble, deaf, held];
    json!({
        "workspace": workspace.root,
        "documents": (!opening).then_some(workspace.documents),
        "pending": (!opening).then_some(workspace.pending),
        "degraded": if opening { Some("opening".to_owned()) } else { workspace.degraded },
        "model": model,
        "entries": workspace.index.map(|index| index.entries),
        "notes": some(notes.into_iter().flatten()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_an_opening_workspace_omits_unknown_counts() {
        let of = |more: Value| {
            let mut status = json!({
                "root": "/w", "documents": 0, "chunks": 0, "pending": 0, "embedded": 0, "skipped": [],
                "skipped_count": 0, "generation": 0, "lag_ms": 0, "degraded": "warming", "why": "it is being opened",
                "watcher": {"mode": "none", "alive": false, "changed_at_last_reconcile": 0},
                "disk": {"files": 0, "indexed_files": 0}, "held_deletions": 0, "root_present": true, "database_bytes": 0,
                "vector": {"backend": "exact", "vectors": 0, "tombstones": 0, "building": false},
            });
            for (name, value) in more.as_object().unwrap() {
                status[name] = value.clone();
            }
            report(serde_json::from_value(status).unwrap(), ModelLoad::Unloaded)
        };
        let opening = of(json!({}));
        assert_eq!(opening["documents"], Value::Null);
        assert_eq!(opening["degraded"], "opening");
        assert_eq!(opening["notes"], json!(["it is being opened"]));

        // The watcher has not been checked yet, so no note says that the watcher does not respond.
        let fresh = json!({"documents": 7, "generation": 1, "degraded": null, "why": null,
            "watcher": {"mode": "notify", "alive": false, "last_reconcile_ms_ago": 20, "changed_at_last_reconcile": 0}});
        let fresh = of(fresh);
        assert_eq!((&fresh["documents"], &fresh["notes"]), (&json!(7), &Value::Null));

        let deaf = json!({"documents": 7, "generation": 1, "degraded": null, "why": null,
            "watcher": {"mode": "notify", "alive": false, "last_reconcile_ms_ago": 60_000, "changed_at_last_reconcile": 0}});
        assert!(
            of(deaf)["notes"][0]
                .as_str()
                .unwrap()
                .contains("the watcher does not respond")
        );
    }
}
