//! Shares between workspaces of one machine.
//!
//! A share lets one workspace read chosen entries of another. The shares are in the state folder, because a cloned
//! repository must neither share text nor receive it. No text is copied: each use of a share finds its entries again.

mod known;
mod reach;
mod section;
mod serve;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use hippo_proto::{ErrorKind, RpcError, Share, ShareSelectors};
use hippo_types::time::{Timestamp, rfc3339};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};

use crate::registry::{free_name, write_atomically};
use crate::view::WorkspaceView;
use crate::views::{Slot, Views};

use known::KnownReach;
pub use reach::{Reach, mask};
pub use section::section;
pub use serve::{add, list, remove};

/// File of the shares in the state folder.
const FILE: &str = "shares.json";
/// Version of the format that this build writes.
const VERSION: u32 = 1;
/// Maximum number of shares in effect.
const MOST: usize = 1_000;
/// Maximum number of withdrawn shares that are kept.
const WITHDRAWN: usize = 1_000;
/// A share, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredShare {
    id: u64,
    from: PathBuf,
    to: PathBuf,
    name: String,
    selectors: ShareSelectors,
    created: String,
    removed: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareFile {
    version: u32,
    shares: Vec<StoredShare>,
}

/// A share in effect.
#[derive(Debug)]
pub struct ShareRule {
    share: StoredShare,
    paths: GlobSet,
}

impl ShareRule {
    fn new(share: StoredShare) -> Result<Self, globset::Error> {
        let mut paths = GlobSetBuilder::new();
        for glob in &share.selectors.paths {
            paths.add(GlobBuilder::new(glob).literal_separator(true).build()?);
        }
        Ok(Self {
            share,
            paths: paths.build()?,
        })
    }

    /// Returns the id of the share.
    pub fn id(&self) -> String {
        format!("s{}", self.share.id)
    }

    /// Returns the root of the owner.
    pub fn from(&self) -> &Path {
        &self.share.from
    }

    /// Returns the root of the workspace that reads the text.
    pub fn to(&self) -> &Path {
        &self.share.to
    }

    /// Returns the name of the share in pointers.
    pub fn name(&self) -> &str {
        &self.share.name
    }
}

/// Reason why the texts of an owner are not available. The text is a part of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OwnerUnavailable {
    /// The folder of the owner does not exist.
    #[error("its folder is missing")]
    Missing,
    /// The owner is still being opened.
    #[error("it is still being opened")]
    Opening,
    /// The owner cannot be opened.
    #[error("it cannot be opened")]
    Broken,
    /// The owner is not registered.
    #[error("it is not registered")]
    Unregistered,
}

/// Rules of one owner with one name.
#[derive(Debug, Clone)]
pub struct OwnerRules {
    /// Name of the shares in pointers.
    pub name: String,
    /// Root of the owner.
    pub from: PathBuf,
    /// The rules.
    pub rules: Vec<Arc<ShareRule>>,
}

impl OwnerRules {
    /// Returns the view of the owner.
    ///
    /// # Errors
    /// Returns the reason why the texts of the owner are not available.
    pub fn view(&self, views: &Views) -> Result<Arc<WorkspaceView>, OwnerUnavailable> {
        match views.slot(&self.from) {
            Some(Slot::Open(view)) if view.status().is_some_and(|status| !status.root_present) => {
                Err(OwnerUnavailable::Missing)
            }
            Some(Slot::Open(view)) => Ok(view),
            Some(Slot::Opening) => Err(OwnerUnavailable::Opening),
            Some(Slot::Broken(_)) => Err(OwnerUnavailable::Broken),
            None => Err(OwnerUnavailable::Unregistered),
        }
    }
}

/// The shares of the daemon.
pub struct LocalShares {
    file: PathBuf,
    shares: RwLock<(Vec<StoredShare>, Vec<Arc<ShareRule>>)>,
    reaches: Mutex<Vec<KnownReach>>,
}

impl LocalShares {
    /// Reads the shares of a state folder. A damaged file is kept under another name; no share is then in effect.
    ///
    /// # Errors
    /// Fails if an existing file cannot be read or has a newer version.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    pub fn open(state: &Path) -> Result<Self> {
        let file = state.join(FILE);
        let shares = match std::fs::read(&file) {
            Ok(bytes) => match serde_json::from_slice::<ShareFile>(&bytes) {
                Ok(read) => {
                    anyhow::ensure!(
                        read.version <= VERSION,
                        "could not read the shares: {} has version {}, and this hippod supports versions up to \
                         {VERSION}\nhint: install the newer hippod that wrote this file",
                        file.display(),
                        read.version
                    );
                    read.shares
                }
                Err(error) => {
                    let aside = free_name(&file.with_extension("json.damaged"));
                    std::fs::rename(&file, &aside).with_context(|| {
                        format!(
                            "could not rename the damaged file of the shares: {}",
                            file.display()
                        )
                    })?;
                    tracing::error!(file = %file.display(), %error, aside = %aside.display(), "the file of the shares \
                        is damaged; no share is in effect");
                    Vec::new()
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("could not read the shares: {}", file.display()));
            }
        };
        let rules = rules_of(&shares);
        Ok(Self {
            file,
            shares: RwLock::new((shares, rules)),
            reaches: Mutex::default(),
        })
    }

    /// Returns the shares in effect.
    fn rules(&self) -> Vec<Arc<ShareRule>> {
        self.shares.read().1.clone()
    }

    /// Returns the owners that share with the workspace at `root`, sorted by name.
    pub fn to(&self, root: &Path) -> Vec<OwnerRules> {
        let mut owners: Vec<OwnerRules> = Vec::new();
        for rule in self.rules().into_iter().filter(|rule| rule.to() == root) {
            let same = |owner: &&mut OwnerRules| owner.name == rule.name() && owner.from == rule.from();
            match owners.iter_mut().find(same) {
                Some(owner) => owner.rules.push(rule),
                None => owners.push(OwnerRules {
                    name: rule.name().to_owned(),
                    from: rule.from().to_path_buf(),
                    rules: vec![rule],
                }),
            }
        }
        owners.sort_by(|one, other| one.name.cmp(&other.name));
        owners
    }

    /// Returns the roots of the workspaces with which the workspace at `root` shares.
    pub fn receivers(&self, root: &Path) -> Vec<PathBuf> {
        let rules = self.rules();
        let of = rules.iter().filter(|rule| rule.from() == root);
        of.map(|rule| rule.to().to_path_buf()).collect()
    }

    /// Returns whether a share, also a withdrawn one, names the workspace at `root` as its reader.
    pub fn have_named(&self, root: &Path) -> bool {
        self.shares.read().0.iter().any(|share| share.to == root)
    }

    /// Returns the owner and the path within its workspace that a pointer such as `@project/memory/a.md` names.
    pub fn find<'p>(&self, root: &Path, pointer: &'p str) -> Option<(OwnerRules, &'p str)> {
        let (name, path) = pointer.strip_prefix('@')?.split_once('/')?;
        let owner = self.to(root).into_iter().find(|owner| owner.name == name)?;
        Some((owner, path))
    }

    /// Refuses a change of a text that another workspace owns. `target` is the target of the change.
    ///
    /// # Errors
    /// Returns `read-only` for a pointer into a share.
    pub fn check_own(&self, root: &Path, target: &str) -> Result<(), RpcError> {
        let Some((owner, _)) = self.find(root, target.trim()) else {
            return Ok(());
        };
        let what = format!(
            "the text belongs to the workspace {}, which only shares it: {}",
            owner.name,
            hippo_proto::shorten(target)
        );
        let hint = format!(
            "change it in the workspace of its owner: {}",
            owner.from.display()
        );
        Err(RpcError::new(ErrorKind::ReadOnly, what).hint(hint))
    }

    /// Changes the shares, and stores them.
    fn update<T>(&self, change: impl FnOnce(&mut Vec<StoredShare>) -> T) -> Result<T, RpcError> {
        let mut shares = self.shares.write();
        let mut changed = shares.0.clone();
        let result = change(&mut changed);
        if changed == shares.0 {
            return Ok(result);
        }
        let mut withdrawn = changed.iter().filter(|share| share.removed.is_some()).count();
        changed.retain(|share| {
            let is_kept = share.removed.is_none() || withdrawn <= WITHDRAWN;
            withdrawn -= usize::from(share.removed.is_some());
            is_kept
        });
        let file = ShareFile {
            version: VERSION,
            shares: changed,
        };
        let stored = serde_json::to_vec_pretty(&file)
            .map_err(std::io::Error::other)
            .and_then(|json| write_atomically(&self.file, &json));
        stored.map_err(|error| {
            RpcError::internal(format!(
                "could not write the shares: {}: {error}",
                self.file.display()
            ))
            .hint("check whether the state folder is writable and its disk has room")
        })?;
        let rules = rules_of(&file.shares);
        *shares = (file.shares, rules);
        self.reaches.lock().clear();
        Ok(result)
    }

    /// Withdraws the shares with the workspace at `root`, because it is being removed. Like trust, a share is no longer
    /// valid if another folder appears at the same path.
    ///
    /// # Errors
    /// Fails if the shares cannot be written.
    pub fn withdraw_to(&self, root: &Path, now: Timestamp) -> Result<(), RpcError> {
        self.update(|shares| {
            let of = shares.iter_mut().filter(|share| share.to == root);
            of.filter(|share| share.removed.is_none())
                .for_each(|share| share.withdraw(now));
        })
    }
}

impl StoredShare {
    /// Makes the share a tombstone, without text.
    fn withdraw(&mut self, now: Timestamp) {
        self.removed = Some(rfc3339(now));
        self.selectors = ShareSelectors::default();
    }

    fn on_wire(&self, entries: Option<u64>) -> Share {
        Share {
            id: format!("s{}", self.id),
            from: self.from.display().to_string(),
            to: self.to.display().to_string(),
            name: self.name.clone(),
            selectors: self.selectors.clone(),
            created: self.created.clone(),
            removed: self.removed.clone(),
            entries,
        }
    }
}

/// Returns the shares in effect. A share with an invalid pattern, or without conditions, has no effect.
fn rules_of(shares: &[StoredShare]) -> Vec<Arc<ShareRule>> {
    let live = shares.iter().filter(|share| share.removed.is_none());
    let live = live.filter(|share| share.selectors != ShareSelectors::default());
    live.filter_map(|share| ShareRule::new(share.clone()).ok().map(Arc::new))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(id: u64) -> StoredShare {
        StoredShare {
            id,
            from: "/a".into(),
            to: "/b".into(),
            name: "a".to_owned(),
            selectors: ShareSelectors {
                paths: vec!["memory/**".to_owned()],
                ..ShareSelectors::default()
            },
            created: rfc3339(Timestamp(0)),
            removed: None,
        }
    }

    #[test]
    fn shares_survive_reopening_and_a_withdrawn_share_has_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let shares = LocalShares::open(folder.path()).unwrap();
        shares.update(|all| all.extend([share(1), share(2)])).unwrap();
        assert_eq!(shares.to(Path::new("/b"))[0].rules.len(), 2);
        assert!(shares.find(Path::new("/b"), "@a/memory/x.md").is_some());
        assert!(shares.find(Path::new("/a"), "@a/memory/x.md").is_none());
        shares.withdraw_to(Path::new("/b"), Timestamp(5_000)).unwrap();
        let again = LocalShares::open(folder.path()).unwrap();
        assert!(again.to(Path::new("/b")).is_empty() && again.have_named(Path::new("/b")));
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(
            text.contains("1970-01-01T00:00:05") && !text.contains("memory"),
            "{text}"
        );
    }

    #[test]
    fn a_damaged_file_shares_nothing_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        for damage in ["", "{\"version\":1,\"shares\":[{\"id\":1}]}", "\0\0"] {
            std::fs::write(&file, damage).unwrap();
            assert!(LocalShares::open(folder.path()).unwrap().rules().is_empty());
        }
        assert!(folder.path().join("shares.json.damaged.3").exists());
        std::fs::write(&file, "{\"version\":2,\"shares\":[]}").unwrap();
        assert!(LocalShares::open(folder.path()).is_err());
    }
}
