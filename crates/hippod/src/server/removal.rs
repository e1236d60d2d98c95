//! Removal of a workspace.
//!
//! If hippod took over a tree from another program, it restores that program's files first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hippo_proto::{ErrorKind, RpcError, WorkspaceRemoveRequest, WorkspaceRemoveResponse};

use super::{Components, shares};
use crate::message::EngineMessage;
use crate::tasks::run_blocking;
use crate::tree::{self, Trees};
use crate::views::no_workspace;

/// Removes a workspace; with `dry_run`, only reports what would be restored. Withdraws the shares that it receives.
///
/// # Errors
/// Returns the error of the engine, or `read-only` if files of another program's tree could not be restored. In the
/// latter case, nothing is removed, and the state of the workspace still contains the original files.
#[expect(clippy::disallowed_methods, reason = "the caller chose this path")]
pub async fn remove(
    components: &Components,
    request: WorkspaceRemoveRequest,
) -> Result<WorkspaceRemoveResponse, RpcError> {
    let Components {
        trees,
        views,
        engine,
        local_shares,
        ..
    } = components;
    let WorkspaceRemoveRequest {
        workspace,
        purge,
        dry_run,
    } = request;
    let folder = PathBuf::from(workspace);
    let root = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    // A running tree update finishes first, so hippod writes nothing to the tree after the response.
    let _alone = trees.lock_tree(&root).await;
    let (trees, views, of) = (Arc::clone(trees), Arc::clone(views), root.clone());
    let given = run_blocking(move || {
        if dry_run && views.root_of(&of).as_deref() != Some(&*of) {
            return Err(no_workspace(&of));
        }
        give_back(&trees, &of, purge, dry_run)
    });
    let given = given.await?;
    if dry_run {
        return Ok(WorkspaceRemoveResponse {
            root: root.display().to_string(),
            contexts_kept: false,
            restored: given.restored,
            notes: given.notes,
        });
    }
    let (withdrawn, of, now) = (Arc::clone(local_shares), root.clone(), components.clock.now());
    run_blocking(move || withdrawn.withdraw_to(&of, now)).await?;
    let removed = engine.ask_engine(|reply| EngineMessage::Remove { folder, purge, reply });
    let mut answer = removed.await?;
    for receiver in local_shares.receivers(&root) {
        shares::notify(components, &receiver);
    }
    answer.restored = given.restored;
    answer.notes = given.notes;
    Ok(answer)
}

fn give_back(trees: &Trees, root: &Path, purge: bool, dry_run: bool) -> Result<tree::RestoredTree, RpcError> {
    if !tree::has_originals(&trees.state, root) {
        return Ok(tree::RestoredTree::default());
    }
    if !hippo_fs::is_present(root) {
        if purge {
            return Ok(tree::RestoredTree::default());
        }
        let message = "the folder does not exist, but hippod must restore another program's files in this \
                       folder";
        return Err(RpcError::new(ErrorKind::ReadOnly, message).hint(
            "make the folder available again, then repeat the command; or remove the workspace without these files: \
             hippoctl workspace remove --purge",
        ));
    }
    let given = tree::give_back(&trees.state, root, dry_run).map_err(|error| {
        RpcError::internal(format!("could not read the original files of the tree: {error}"))
            .hint("nothing was removed; check the state folder: hippoctl doctor")
    })?;
    if given.failed.is_empty() {
        return Ok(given);
    }
    let message = format!(
        "could not restore another program's files: {}",
        given.failed.join("; ")
    );
    Err(RpcError::new(ErrorKind::ReadOnly, message)
        .hint("make these files and their folders writable, and try again; nothing was removed"))
}
