//! Trust in the settings that a workspace contains.
//!
//! A workspace may be a stranger's repository. Without trust, its settings files can only restrict the user's settings:
//! exclude files, lower budgets and disable features. All other settings have no effect until the user trusts the file.
//! Trust is bound to the hash of the file.

use std::path::Path;

use anyhow::Result;

use hippo_proto::folder::{self, Trust};
use hippo_proto::{
    ErrorKind, RpcError, SettingChange, SettingsFile, WorkspaceTrustRequest, WorkspaceTrustResponse,
};
use hippo_session::compaction::{CONFIG_KEY, CompactionConfig};

use crate::config::{self, Config};
use crate::harness;

/// Path of a workspace's settings, below its root.
pub const SETTINGS: &str = ".hippocampus/config.toml";
/// Path of a workspace's lifecycle policies, below its root.
pub const POLICIES: &str = ".hippocampus/policies.yaml";
/// All settings files of a workspace.
pub const FILES: [&str; 3] = [SETTINGS, POLICIES, hippo_fs::harness::FILE];
/// Maximum size of the file `SETTINGS` in bytes; a larger file is rejected.
const LARGEST_SETTINGS: u64 = 64 << 10;
/// Maximum size of each other settings file in bytes; larger files are ignored.
const LARGEST: u64 = 1 << 20;

/// The settings files of a workspace, and the resulting settings.
#[derive(Debug)]
pub struct SettingsSurvey {
    /// The effective settings, or the error in the workspace's own file.
    pub config: Result<Config>,
    /// The files that exist.
    pub files: Vec<SettingsFile>,
}

impl SettingsSurvey {
    /// Returns the files that are not trusted although they contain settings that need trust.
    pub fn untrusted_files(&self) -> Vec<SettingsFile> {
        let refused = |file: &&SettingsFile| !file.trusted && !file.changes.is_empty();
        self.files.iter().filter(refused).cloned().collect()
    }
}

/// Reads the settings files below a root.
pub fn survey(config: &Config, trust: &Trust, root: &Path) -> SettingsSurvey {
    let (own, settings) = settings(config, trust, root);
    let tree = own
        .as_ref()
        .map_or_else(|_| config.tree.clone(), |own| own.tree.clone());
    let mut found = Vec::from_iter(settings);
    for path in &FILES[1..] {
        let Ok(bytes) = hippo_fs::read(root, path, LARGEST) else {
            continue;
        };
        let change = |key: &str, from: &str, to: &str| SettingChange {
            key: key.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let changes = match *path {
            POLICIES => vec![change("*", "the built-in policies", "these policies in addition")],
            _ => {
                let keys = hippo_fs::harness::read(&bytes).0.session_compaction;
                let (_, numbers) = CompactionConfig::read(&keys.unwrap_or_default()).0.narrowed();
                let numbers = numbers
                    .into_iter()
                    .map(|key| change(&format!("{CONFIG_KEY}.{key}"), "default", "as written"));
                let wider = harness::wider(&bytes, &tree);
                let wider = wider
                    .iter()
                    .map(|wider| change(wider.key, &wider.from, &wider.to));
                wider.chain(numbers).collect()
            }
        };
        found.push(file(path, &bytes, trust, changes, None));
    }
    SettingsSurvey {
        config: own,
        files: found,
    }
}

fn file(
    path: &str,
    bytes: &[u8],
    trust: &Trust,
    changes: Vec<SettingChange>,
    wrong: Option<String>,
) -> SettingsFile {
    SettingsFile {
        path: path.to_owned(),
        hash: folder::hash(bytes),
        trusted: trust.covers(path, bytes),
        wrong,
        changes,
    }
}

/// Returns the effective settings, and a description of the settings file.
fn settings(config: &Config, trust: &Trust, root: &Path) -> (Result<Config>, Option<SettingsFile>) {
    let path = root.join(SETTINGS);
    let bytes = match hippo_fs::read(root, SETTINGS, LARGEST_SETTINGS) {
        Ok(bytes) => bytes,
        Err(error) if hippo_fs::is_absence(&error) => return (Ok(config.clone()), None),
        Err(error) => return (Err(config::unreadable(&path, &error)), None),
    };
    let trusted = trust.covers(SETTINGS, &bytes);
    match config.for_workspace(&path, &bytes, trusted) {
        Ok((own, changes)) => (Ok(own), Some(file(SETTINGS, &bytes, trust, changes, None))),
        Err(error) => {
            let told = file(SETTINGS, &bytes, trust, Vec::new(), Some(error.to_string()));
            (Err(error), Some(told))
        }
    }
}

/// Handles `workspace.trust`: lists the settings that need trust, and grants or withdraws the trust.
///
/// # Errors
/// Returns `conflict` if a file differs from the version that the user reviewed, and `internal` if the record of trust
/// cannot be written. In both cases, nothing is changed.
pub fn decide(
    config: &Config,
    state: &Path,
    root: &Path,
    request: &WorkspaceTrustRequest,
) -> Result<WorkspaceTrustResponse, RpcError> {
    let mut trust = Trust::of(state, root);
    let before = survey(config, &trust, root);
    if let Some(meant) = &request.files {
        for (path, hash) in meant {
            let there = before.files.iter().find(|file| file.path == *path);
            if !request.revoke && there.is_none_or(|file| file.hash != *hash) {
                let what = format!("the settings file has changed since it was shown: {path}");
                return Err(RpcError::new(ErrorKind::Conflict, what)
                    .hint("review the file again: hippoctl workspace trust --dry-run"));
            }
        }
    }
    let is_meant = |path: &str| {
        request
            .files
            .as_ref()
            .is_none_or(|meant| meant.contains_key(path))
    };
    if request.revoke {
        FILES
            .into_iter()
            .filter(|path| is_meant(path))
            .for_each(|path| trust.withdraw(path));
    } else {
        let meant = before.files.iter().filter(|file| is_meant(&file.path));
        meant.for_each(|file| trust.add(&file.path, &file.hash));
    }
    let files = if request.dry_run {
        before.files
    } else {
        trust.keep(state, root).map_err(|error| {
            RpcError::internal(format!("could not store the trust in the settings: {error}"))
                .hint("check whether the state folder is writable and its disk has room")
        })?;
        survey(config, &trust, root).files
    };
    Ok(WorkspaceTrustResponse {
        root: root.display().to_string(),
        files,
    })
}
