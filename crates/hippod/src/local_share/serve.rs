//! Methods `share.add`, `share.list` and `share.remove`.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::{
    ErrorKind, RpcError, ShareAddRequest, ShareAddResponse, ShareListRequest, ShareListResponse,
    ShareRemoveRequest, ShareRemoveResponse, SharedEntry, shorten,
};
use hippo_text::instruction::is_instruction;
use hippo_types::time::rfc3339;

use super::section::entries;
use super::{LocalShares, MOST, OwnerRules, Reach, ShareRule, StoredShare};
use crate::clock::Clock;
use crate::tasks::run_blocking;
use crate::views::{Views, no_workspace};

/// Maximum length of the name of a share in bytes.
const LONGEST_NAME: usize = 64;

/// Handles `share.add`. `team` is the name of the user's team.
///
/// # Errors
/// Returns `no-workspace` for an unknown folder, `bad-request` for an invalid name or pattern or a share of a workspace
/// with itself, and `conflict` if the name is taken.
pub async fn add(
    shares: &Arc<LocalShares>,
    views: &Views,
    clock: &dyn Clock,
    team: &str,
    request: ShareAddRequest,
) -> Result<ShareAddResponse, RpcError> {
    let view = views.get(&request.workspace).await?;
    let to = Path::new(&request.to);
    let to = views.root_of(to).ok_or_else(|| no_workspace(to))?;
    if to == view.root {
        let what = "a workspace cannot share with itself";
        return Err(RpcError::bad_request(what).hint("give the other workspace: --to DIR"));
    }
    let folder = view.root.file_name().unwrap_or_default();
    let name = request
        .name
        .unwrap_or_else(|| folder.to_string_lossy().into_owned());
    check_name(&name)?;
    let other =
        |owner: &OwnerRules| owner.from != view.root && owner.name.to_lowercase() == name.to_lowercase();
    if name == team || shares.to(&to).iter().any(other) || hippo_fs::exists(&to, format!("@{name}")) {
        let what = format!("the name is taken in {}: {name}", to.display());
        return Err(RpcError::new(ErrorKind::Conflict, what).hint("choose another name: --name PROJECT"));
    }
    let now = clock.now();
    let share = StoredShare {
        id: 0,
        from: view.root.clone(),
        to,
        name,
        selectors: request.selectors,
        created: rfc3339(now),
        removed: None,
    };
    let rule = ShareRule::new(share.clone()).map_err(|error| {
        RpcError::bad_request(format!("not a valid path: {error}"))
            .hint("give a glob such as memory/**/*.md, relative to the workspace")
    })?;
    let owner = OwnerRules {
        name: share.name.clone(),
        from: share.from.clone(),
        rules: vec![Arc::new(rule)],
    };
    let (shares, dry_run) = (Arc::clone(shares), request.dry_run);
    run_blocking(move || {
        let found = entries(&Reach::find(&owner, &view), &view, now);
        let mut entries: Vec<SharedEntry> = found.into_iter().map(|(_, entry)| entry).collect();
        entries.sort_by(|one, other| one.pointer.cmp(&other.pointer));
        let (stored, added) = match dry_run {
            true => (share, false),
            false => shares.update(|all| insert(all, share))??,
        };
        let mut share = stored.on_wire(Some(entries.len() as u64));
        if dry_run {
            share.id.clear();
        }
        Ok(ShareAddResponse {
            share,
            added,
            entries,
        })
    })
    .await
}

/// Adds a share, unless the same share is in effect. Returns the share, and whether it is new.
fn insert(all: &mut Vec<StoredShare>, share: StoredShare) -> Result<(StoredShare, bool), RpcError> {
    let mut live = all.iter().filter(|known| known.removed.is_none());
    let same = |known: &&StoredShare| {
        (&known.from, &known.to, &known.name, &known.selectors)
            == (&share.from, &share.to, &share.name, &share.selectors)
    };
    if live.clone().count() >= MOST {
        let what = format!("there are already {MOST} shares");
        return Err(RpcError::new(ErrorKind::Budget, what).hint("withdraw some: hippoctl share remove ID"));
    }
    if let Some(known) = live.find(same) {
        return Ok((known.clone(), false));
    }
    let id = all.iter().map(|known| known.id).max().unwrap_or(0) + 1;
    let share = StoredShare { id, ..share };
    all.push(share.clone());
    Ok((share, true))
}

fn check_name(name: &str) -> Result<(), RpcError> {
    let is_plain = !name.contains(['/', '\\']) && !name.contains(char::is_control) && name.trim() == name;
    if (1..=LONGEST_NAME).contains(&name.len())
        && is_plain
        && !is_instruction(name)
        && name != "."
        && name != ".."
    {
        return Ok(());
    }
    let what = format!("not a valid name of a share: {}", shorten(name));
    let rule = format!("a name has 1 to {LONGEST_NAME} bytes, and no `/`");
    Err(RpcError::bad_request(what).hint(format!("{rule}; give one: --name PROJECT")))
}

/// Handles `share.list`.
///
/// # Errors
/// Returns `no-workspace` for an unknown folder.
pub async fn list(
    shares: &Arc<LocalShares>,
    views: &Arc<Views>,
    request: ShareListRequest,
) -> Result<ShareListResponse, RpcError> {
    let root = match request.workspace.as_deref().map(Path::new) {
        Some(folder) => Some(views.root_of(folder).ok_or_else(|| no_workspace(folder))?),
        None => None,
    };
    let (shares, views) = (Arc::clone(shares), Arc::clone(views));
    run_blocking(move || {
        let (stored, rules) = shares.shares.read().clone();
        let concerns = |share: &&StoredShare| {
            let is_here = root
                .as_ref()
                .is_none_or(|root| [&share.from, &share.to].contains(&root));
            is_here && (request.removed || share.removed.is_none())
        };
        let count = |share: &StoredShare| {
            let rule = rules.iter().find(|rule| rule.share.id == share.id)?;
            let owner = OwnerRules {
                name: share.name.clone(),
                from: share.from.clone(),
                rules: vec![Arc::clone(rule)],
            };
            let view = owner.view(&views).ok()?;
            Some(Reach::find(&owner, &view).entries.len() as u64)
        };
        let listed = stored.iter().filter(concerns);
        Ok(ShareListResponse {
            shares: listed.map(|share| share.on_wire(count(share))).collect(),
        })
    })
    .await
}

/// Handles `share.remove`.
///
/// # Errors
/// Returns `not-found` if no share in effect has the id.
pub fn remove(
    shares: &LocalShares,
    views: &Views,
    clock: &dyn Clock,
    request: &ShareRemoveRequest,
) -> Result<ShareRemoveResponse, RpcError> {
    let now = clock.now();
    let withdrawn = shares.update(|all| {
        let mut live = all.iter_mut().filter(|share| share.removed.is_none());
        let share = live.find(|share| format!("s{}", share.id) == request.id)?;
        share.withdraw(now);
        Some(share.on_wire(None))
    })?;
    let share = withdrawn.ok_or_else(|| {
        RpcError::not_found(format!("no such share: {}", shorten(&request.id)))
            .hint("to list the shares: hippoctl share list")
    })?;
    let mut notes = Vec::new();
    if views.slot(Path::new(&share.to)).is_none() {
        notes.push(format!(
            "{} is not registered, so its index file stays unchanged",
            share.to
        ));
    }
    Ok(ShareRemoveResponse { share, notes })
}
