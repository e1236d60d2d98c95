//! Modules that may open files by path.
//! All other modules open files of a workspace through hippo-fs.

use super::{read, sources};

/// Crates with code that opens files in workspaces.
const CRATES: [&str; 4] = [
    "crates/hippo-store/src/lib.rs",
    "crates/hippoctl/src/lib.rs",
    "crates/hippoctl/src/main.rs",
    "crates/hippod/src/lib.rs",
];
/// Modules that access only the following: folders of hippod or of the user, files that a person named, or names and
/// times of files.
const MODULES: [&str; 62] = [
    "crates/hippo-store/src/contexts/acked.rs",
    "crates/hippo-store/src/contexts/schema.rs",
    "crates/hippo-store/src/copies.rs",
    "crates/hippo-store/src/db/salvage.rs",
    "crates/hippo-store/src/db/spare.rs",
    "crates/hippo-store/src/in_place.rs",
    "crates/hippo-store/src/system.rs",
    "crates/hippoctl/src/connect.rs",
    "crates/hippoctl/src/harness/aside.rs",
    "crates/hippoctl/src/harness/record.rs",
    "crates/hippoctl/src/launch.rs",
    "crates/hippoctl/src/service/unit.rs",
    "crates/hippoctl/src/ui/guard.rs",
    "crates/hippoctl/src/ui/peer.rs",
    "crates/hippoctl/src/verbs/daemon.rs",
    "crates/hippoctl/src/verbs/demo.rs",
    "crates/hippoctl/src/verbs/hook.rs",
    "crates/hippoctl/src/verbs/hook/root.rs",
    "crates/hippoctl/src/verbs/import.rs",
    "crates/hippoctl/src/verbs/ingest.rs",
    "crates/hippoctl/src/verbs/init.rs",
    "crates/hippoctl/src/verbs/input.rs",
    "crates/hippoctl/src/verbs/logs.rs",
    "crates/hippoctl/src/verbs/merge_driver.rs",
    "crates/hippoctl/src/verbs/own_daemon.rs",
    "crates/hippoctl/src/verbs/place.rs",
    "crates/hippoctl/src/verbs/service.rs",
    "crates/hippoctl/src/verbs/ui.rs",
    "crates/hippod/src/backup/commit.rs",
    "crates/hippod/src/backup/gather.rs",
    "crates/hippod/src/backup/restore.rs",
    "crates/hippod/src/backup/source.rs",
    "crates/hippod/src/backup/write.rs",
    "crates/hippod/src/config/layer.rs",
    "crates/hippod/src/contexts.rs",
    "crates/hippod/src/contexts/accept.rs",
    "crates/hippod/src/contexts/flush.rs",
    "crates/hippod/src/engine.rs",
    "crates/hippod/src/engine/open.rs",
    "crates/hippod/src/engine/rebuild.rs",
    "crates/hippod/src/engine/requests.rs",
    "crates/hippod/src/engine/status.rs",
    "crates/hippod/src/files.rs",
    "crates/hippod/src/handles.rs",
    "crates/hippod/src/instance.rs",
    "crates/hippod/src/local_share.rs",
    "crates/hippod/src/models.rs",
    "crates/hippod/src/registry.rs",
    "crates/hippod/src/scan/left_out.rs",
    "crates/hippod/src/scan/look.rs",
    "crates/hippod/src/server.rs",
    "crates/hippod/src/server/removal.rs",
    "crates/hippod/src/service/activation.rs",
    "crates/hippod/src/share.rs",
    "crates/hippod/src/status.rs",
    "crates/hippod/src/tree/foreign.rs",
    "crates/hippod/src/tree/state.rs",
    "crates/hippod/src/view.rs",
    "crates/hippod/src/views.rs",
    "crates/hippod/src/watcher/backend.rs",
    "crates/hippod/src/watcher/listener.rs",
    "crates/hippod/src/watcher/poll.rs",
];

#[test]
fn only_named_modules_open_files_by_their_paths() {
    let lint = concat!("warn(clippy::", "disallowed_methods)");
    for path in CRATES {
        assert!(read(path).contains(lint), "{path} does not ask for the lint");
    }
    let exempt = concat!("clippy::", "disallowed_methods");
    let is_exempt = |path: &String| read(path).replace(lint, "").contains(exempt);
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|path| path.starts_with("crates/") && path.contains("/src/") && is_exempt(path))
        .collect();
    assert_eq!(found, MODULES, "a file of a workspace is opened by hippo-fs");
}
