//! Classification of single paths, without a full scan.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hippo_store::system::FileId;
use hippo_text::source::SourceRules;

use super::gate::{FolderEntry, ScanFilter};
use super::ignores::Ignores;
use super::walk::{self, WalkResult};
use super::{PathClass, SkippedFile};
use crate::config::WorkspaceConfig;
use crate::files;

/// Classifies single paths of one workspace in the same way as a scan. It caches the ignore files, so that they are
/// read once per folder. Create a new value for each batch of work.
pub struct Looker<'a> {
    root: &'a Path,
    config: &'a WorkspaceConfig,
    gate: ScanFilter,
    skipped: Arc<Mutex<Vec<SkippedFile>>>,
    ignores: Ignores,
    /// Number of entries examined so far. Each component of a path counts as one.
    pub looked_at: u64,
}

impl<'a> Looker<'a> {
    /// Creates a looker with an empty cache.
    pub fn new(root: &'a Path, rules: &SourceRules, config: &'a WorkspaceConfig) -> Self {
        let skipped = Arc::new(Mutex::new(Vec::new()));
        let gate = ScanFilter::new(root, rules, config, Arc::clone(&skipped));
        Self {
            root,
            config,
            gate,
            skipped,
            ignores: Ignores::new(root),
            looked_at: 0,
        }
    }

    /// Classifies a relative path. A second name of a file is detected only if it is a link.
    #[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
    pub fn look(&mut self, rel: &str) -> PathClass {
        if !self.root.is_dir() {
            return PathClass::Unknown;
        }
        let mut path = self.root.to_path_buf();
        let mut above = Vec::new();
        let mut parts = rel.split('/').peekable();
        while let Some(part) = parts.next() {
            above.push(path.clone());
            path.push(part);
            self.looked_at += 1;
            let found = match path.symlink_metadata() {
                Ok(found) => found,
                Err(error) if files::is_absence(&error) => return PathClass::None,
                Err(_) => return PathClass::Unknown,
            };
            let is_link = found.is_symlink();
            let found = if is_link && self.config.sources.follow_links {
                match path.metadata() {
                    Ok(found) => found,
                    Err(error) => return self.classify_refused(&path, &error, rel),
                }
            } else {
                found
            };
            let is_dir = found.is_dir();
            if is_link
                && is_dir
                && let Some(back) = leads_back(&path, &above)
            {
                let back = walk::relative_or_root(self.root, back);
                return match parts.peek() {
                    None => PathClass::Skipped(format!("a link to its own parent folder {back}")),
                    Some(_) => PathClass::None,
                };
            }
            let respect = self.config.sources.respect_ignore_files;
            if respect && self.ignores.is_ignored(&path, is_dir)
                || !self.gate.admits(&FolderEntry {
                    path: &path,
                    is_dir,
                    is_link,
                })
            {
                return self.why_not(rel);
            }
            if parts.peek().is_some() {
                if !is_dir {
                    return PathClass::None;
                }
            } else if is_dir {
                return self.why_not(rel);
            }
        }
        let mut walked = WalkResult::default();
        walk::take_file(
            self.root,
            &path,
            false,
            self.config.sources.max_file_bytes,
            &mut walked,
        );
        match walked.files.pop() {
            Some((file, _)) => match super::first_name(self.root, &self.gate.rules, rel) {
                Some(first) => PathClass::Skipped(format!("the same file as {first}")),
                None => PathClass::File(file),
            },
            None => walked
                .skipped
                .pop()
                .map_or(PathClass::None, |skipped| PathClass::Skipped(skipped.reason)),
        }
    }

    /// Classifies a link that could not be followed.
    fn classify_refused(&self, path: &Path, error: &std::io::Error, rel: &str) -> PathClass {
        let mut walked = WalkResult::default();
        walk::refuse_path(self.root, &self.gate.rules, path, error, &mut walked);
        if !walked.unreadable_dirs.is_empty() {
            return PathClass::Unknown;
        }
        let said = walked.skipped.pop().filter(|skipped| skipped.rel == rel);
        said.map_or(PathClass::None, |skipped| PathClass::Skipped(skipped.reason))
    }

    /// Returns the classification with the gate's reason for skipping this path, if there is one.
    fn why_not(&self, rel: &str) -> PathClass {
        let said = std::mem::take(&mut *self.skipped.lock().unwrap_or_else(PoisonError::into_inner));
        let said = said.into_iter().find(|skipped| skipped.rel == rel);
        said.map_or(PathClass::None, |skipped| PathClass::Skipped(skipped.reason))
    }
}

/// Returns the parent folder to which a link leads back.
fn leads_back<'p>(link: &Path, above: &'p [PathBuf]) -> Option<&'p Path> {
    let target = FileId::at(link).ok().flatten()?;
    let is_it = |folder: &&PathBuf| FileId::at(folder).ok().flatten() == Some(target);
    above.iter().find(is_it).map(PathBuf::as_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_at_a_thousand_files_takes_linear_time() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("memory")).unwrap();
        let names: Vec<String> = (0..1000).map(|number| format!("memory/{number}.md")).collect();
        for name in &names {
            std::fs::write(root.join(name), name).unwrap();
        }
        let rules = SourceRules::new(&[], &[]).unwrap();
        let config = WorkspaceConfig::default();
        let mut looker = Looker::new(&root, &rules, &config);
        for name in &names {
            assert!(matches!(looker.look(name), PathClass::File(_)), "{name}");
        }
        assert_eq!(looker.looked_at, 2 * 1000);
        assert_eq!(looker.look("memory/absent.md"), PathClass::None);
    }

    #[test]
    fn the_nearest_ignore_file_has_priority() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("memory/kept")).unwrap();
        for (file, text) in [
            (".ignore", "draft.md\n"),
            ("memory/kept/.ignore", "!draft.md\n"),
            ("memory/.hippoignore", "secret.md\n"),
            ("memory/kept/.ignore", "!draft.md\n!secret.md\n"),
        ] {
            std::fs::write(root.join(file), text).unwrap();
        }
        let rules = SourceRules::new(&[], &[]).unwrap();
        let config = WorkspaceConfig::default();
        for (rel, expected) in [
            ("memory/draft.md", false),
            ("memory/kept/draft.md", true),
            ("memory/kept/secret.md", false),
            ("memory/kept/other.md", true),
        ] {
            std::fs::write(root.join(rel), rel).unwrap();
            let found = matches!(Looker::new(&root, &rules, &config).look(rel), PathClass::File(_));
            assert_eq!(found, expected, "{rel}");
            let scanned = super::super::scan(&root, &rules, &config, &|| ());
            assert_eq!(
                scanned.files.iter().any(|file| file.rel == rel),
                expected,
                "a scan says the same of {rel}"
            );
        }
    }
}
