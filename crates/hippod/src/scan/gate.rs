//! Decision whether an entry is scanned, based on its name.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hippo_text::source::SourceRules;

use super::SkippedFile;
use super::walk::relative;
use crate::config::WorkspaceConfig;

/// Filter of the entries to scan.
pub(super) struct ScanFilter {
    pub root: PathBuf,
    pub real_root: PathBuf,
    pub rules: SourceRules,
    pub follow_links: bool,
    pub skipped: Arc<Mutex<Vec<SkippedFile>>>,
}

/// An entry of a folder below the root.
pub(super) struct FolderEntry<'a> {
    pub path: &'a Path,
    /// True if the entry is a folder, or a link to a folder that is followed.
    pub is_dir: bool,
    pub is_link: bool,
}

impl ScanFilter {
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn new(
        root: &Path,
        rules: &SourceRules,
        config: &WorkspaceConfig,
        skipped: Arc<Mutex<Vec<SkippedFile>>>,
    ) -> Self {
        Self {
            root: root.to_path_buf(),
            real_root: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
            rules: rules.clone(),
            follow_links: config.sources.follow_links,
            skipped,
        }
    }

    /// Returns whether to scan this entry. If the entry is skipped although it may be memory, records the reason.
    pub fn admits(&self, entry: &FolderEntry<'_>) -> bool {
        let FolderEntry {
            path,
            is_dir,
            is_link,
        } = *entry;
        let Some(name) = path.file_name() else {
            return false;
        };
        if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
            return false;
        }
        let rel = relative(&self.root, path);
        let is_source = self.rules.is_source(&rel);
        let may_contain = self.rules.may_contain(&rel);
        if name.to_str().is_none() {
            if is_source || (is_dir && may_contain) {
                self.skip(&rel, "its name is not UTF-8");
            }
            return false;
        }
        if is_dir && is_source {
            self.skip(&rel, "a folder that has the name of a memory file");
        }
        let wanted = if is_dir { may_contain } else { is_source };
        if is_link {
            return self.admits_link(path, &rel, wanted, is_source || may_contain);
        }
        wanted
    }

    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    fn admits_link(&self, path: &Path, rel: &str, wanted: bool, interesting: bool) -> bool {
        if !self.follow_links {
            if interesting {
                self.skip(
                    rel,
                    "a link, which hippod does not follow because sources.follow_links is off",
                );
            }
            return false;
        }
        if !wanted {
            return false;
        }
        match path.canonicalize() {
            Ok(target) => {
                let refused = match target.strip_prefix(&self.real_root) {
                    Ok(target) if hippo_fs::is_hidden(target) => Some("the link points to a hidden file"),
                    Ok(_) => None,
                    Err(_) => Some("the link points outside the workspace"),
                };
                if let Some(reason) = refused {
                    self.skip(rel, reason);
                }
                refused.is_none()
            }
            Err(error) => {
                self.skip(rel, &format!("could not follow the link: {error}"));
                false
            }
        }
    }

    fn skip(&self, rel: &str, reason: &str) {
        let skipped = SkippedFile::new(rel, reason);
        self.skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(skipped);
    }
}
