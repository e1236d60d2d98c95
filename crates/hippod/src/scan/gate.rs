//! Is this name worth a look?

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hippo_core::source::SourceRules;
use ignore::DirEntry;

use super::Skipped;
use super::walk::relative;

/// Decides what is looked at.
pub(super) struct Gate {
    pub root: PathBuf,
    pub real_root: PathBuf,
    pub rules: SourceRules,
    pub follow_links: bool,
    pub only: Option<String>,
    pub skipped: Arc<Mutex<Vec<Skipped>>>,
}

impl Gate {
    /// Whether to go on to this entry. Why not is noted where it concerns memory.
    pub fn admits(&self, entry: &DirEntry) -> bool {
        if entry.depth() == 0 {
            return true;
        }
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || name == "node_modules" {
            return false;
        }
        let rel = relative(&self.root, entry.path());
        if self.only.as_ref().is_some_and(|only| !is_on_the_way(&rel, only)) {
            return false;
        }
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_source = self.rules.is_source(&rel);
        let may_contain = self.rules.may_contain(&rel);
        if name.to_str().is_none() {
            if is_source || (is_dir && may_contain) {
                self.skip(&rel, "its name is not UTF-8");
            }
            return false;
        }
        if is_dir && is_source {
            self.skip(&rel, "a folder with the name of a file");
        }
        let wanted = if is_dir { may_contain } else { is_source };
        if entry.path_is_symlink() {
            return self.admits_link(entry.path(), &rel, wanted, is_source || may_contain);
        }
        wanted
    }

    #[expect(clippy::disallowed_methods, reason = "names and times alone")]
    fn admits_link(&self, path: &Path, rel: &str, wanted: bool, interesting: bool) -> bool {
        if !self.follow_links {
            if interesting {
                self.skip(rel, "a link, and sources.follow_links is off");
            }
            return false;
        }
        if !wanted {
            return false;
        }
        match path.canonicalize() {
            Ok(target) if target.starts_with(&self.real_root) => true,
            Ok(_) => {
                self.skip(rel, "link leads outside the workspace");
                false
            }
            Err(error) => {
                self.skip(rel, &format!("a link that could not be followed: {error}"));
                false
            }
        }
    }

    fn skip(&self, rel: &str, reason: &str) {
        let skipped = Skipped::new(rel, reason);
        self.skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(skipped);
    }
}

/// Whether `rel` is `target` or one of the folders above it.
fn is_on_the_way(rel: &str, target: &str) -> bool {
    target
        .strip_prefix(rel)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_path() {
        assert!(is_on_the_way("memory", "memory/a.md"));
        assert!(is_on_the_way("memory/a.md", "memory/a.md"));
        assert!(!is_on_the_way("mem", "memory/a.md"));
        assert!(!is_on_the_way("memory/a.md", "memory"));
    }
}
