//! Walk over the folders that may contain memory.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hippo_store::system::{self, FileId};
use hippo_text::source::SourceRules;
use ignore::{DirEntry, Error, WalkBuilder};

use super::gate::{FolderEntry, ScanFilter};
use super::ignores::Ignores;
use super::{ScannedFile, SkippedFile};
use crate::config::WorkspaceConfig;
use crate::files;

/// Result of a walk, from which a `ScanResult` is made. Each flag is true if the path leads through a link.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub files: Vec<(ScannedFile, bool)>,
    pub dirs: Vec<(PathBuf, bool)>,
    pub skipped: Vec<SkippedFile>,
    pub unreadable_dirs: Vec<PathBuf>,
    pub root_present: bool,
    /// True if the walk was incomplete because the process reached its limit on open files.
    pub cut_short: bool,
}

/// Walks everything below `root`. Calls `at_each` for every entry.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn walk(
    root: &Path,
    rules: &SourceRules,
    config: &WorkspaceConfig,
    at_each: &dyn Fn(),
) -> WalkResult {
    if !root.is_dir() {
        return WalkResult::default();
    }
    let skipped = Arc::new(Mutex::new(Vec::new()));
    let gate = ScanFilter::new(root, rules, config, Arc::clone(&skipped));
    let respect = config.sources.respect_ignore_files;
    let ignores = Arc::new(Mutex::new(Ignores::new(root)));
    let heard = Arc::clone(&ignores);
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .follow_links(config.sources.follow_links);
    builder.filter_entry(move |entry| {
        if entry.depth() == 0 {
            return true;
        }
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let mut ignores = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ignored = respect && ignores.is_ignored(entry.path(), is_dir);
        drop(ignores);
        !is_ignored
            && gate.admits(&FolderEntry {
                path: entry.path(),
                is_dir,
                is_link: entry.path_is_symlink(),
            })
    });

    let mut walked = WalkResult {
        root_present: true,
        ..WalkResult::default()
    };
    let mut links: Vec<PathBuf> = Vec::new();
    for entry in builder.build() {
        at_each();
        match entry {
            Ok(entry) => {
                if entry.depth() > 0 && entry.path_is_symlink() {
                    links.push(entry.path().to_path_buf());
                }
                let linked = links.iter().any(|link| entry.path().starts_with(link));
                take(root, &entry, linked, config.sources.max_file_bytes, &mut walked);
            }
            Err(error) => refuse(root, rules, &error, &mut walked),
        }
    }
    let mut ignores = ignores.lock().unwrap_or_else(PoisonError::into_inner);
    walked.skipped.append(&mut ignores.problems);
    walked
        .skipped
        .append(&mut skipped.lock().unwrap_or_else(PoisonError::into_inner));
    walked
}

/// Records an entry that the gate admitted.
fn take(root: &Path, entry: &DirEntry, linked: bool, max_bytes: u64, walked: &mut WalkResult) {
    if entry.file_type().is_some_and(|kind| kind.is_dir()) {
        walked.dirs.push((entry.path().to_path_buf(), linked));
        return;
    }
    take_file(root, entry.path(), linked, max_bytes, walked);
}

/// Records an entry that is not a folder.
#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn take_file(root: &Path, path: &Path, linked: bool, max_bytes: u64, walked: &mut WalkResult) {
    let rel = relative(root, path);
    let found = path.metadata();
    let found = found.and_then(|metadata| Ok((FileId::of(path, &metadata)?, metadata)));
    let (id, metadata) = match found {
        Ok(found) => found,
        // The file disappeared during the walk.
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => {
            walked
                .skipped
                .push(SkippedFile::new(rel, format!("could not be inspected: {error}")));
            return;
        }
    };
    let reason = if !metadata.is_file() {
        "not a regular file".to_owned()
    } else if metadata.len() > max_bytes {
        format!(
            "{} bytes, more than sources.max_file_bytes = {max_bytes}",
            metadata.len()
        )
    } else if let Err(error) = system::check_readable(path) {
        format!("could not be read: {error}")
    } else {
        let (size, mtime_ns) = (metadata.len(), system::modified_ns(&metadata));
        let abs = path.to_path_buf();
        walked.files.push((
            ScannedFile {
                rel,
                abs,
                size,
                mtime_ns,
                id,
            },
            linked,
        ));
        return;
    };
    walked.skipped.push(SkippedFile::new(rel, reason));
}

/// Records an error of the walker.
fn refuse(root: &Path, rules: &SourceRules, error: &Error, walked: &mut WalkResult) {
    match error {
        Error::Partial(errors) => errors.iter().for_each(|error| refuse(root, rules, error, walked)),
        Error::WithLineNumber { err, .. } | Error::WithDepth { err, .. } => refuse(root, rules, err, walked),
        Error::Loop { ancestor, child } => {
            let reason = format!(
                "a link to its own parent folder {}",
                relative_or_root(root, ancestor)
            );
            walked
                .skipped
                .push(SkippedFile::new(relative(root, child), reason));
        }
        Error::WithPath { path, err } => match err.io_error() {
            Some(error) => refuse_path(root, rules, path, error, walked),
            None => refuse(root, rules, err, walked),
        },
        other => {
            // Without a path, it is unknown which part is missing, so the whole root counts as unreadable.
            tracing::warn!(root = %root.display(), error = %other, "could not scan the whole workspace");
            walked.unreadable_dirs.push(PathBuf::new());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "reads only names and times of files")]
pub(super) fn refuse_path(
    root: &Path,
    rules: &SourceRules,
    path: &Path,
    error: &std::io::Error,
    walked: &mut WalkResult,
) {
    let rel = relative(root, path);
    walked.cut_short |= system::is_shortage(error);
    if rel.is_empty() {
        walked.root_present = false;
        return;
    }
    let kind = path.symlink_metadata().ok().map(|metadata| metadata.file_type());
    if error.kind() == ErrorKind::NotFound {
        // A file that disappeared during the walk is not reported, but a dangling link is.
        if kind.is_some_and(|kind| kind.is_symlink()) && rules.is_source(&rel) {
            let reason = "a link without a target";
            walked.skipped.push(SkippedFile::new(rel, reason));
        }
        return;
    }
    if !rules.is_source(&rel) && !rules.may_contain(&rel) {
        return;
    }
    // A link with an inaccessible target may lead to a folder.
    let hidden = error.kind() == ErrorKind::PermissionDenied;
    if kind.is_none_or(|kind| kind.is_dir() || (kind.is_symlink() && hidden)) {
        walked.unreadable_dirs.push(PathBuf::from(&rel));
    }
    let reason = format!("could not be read: {error}");
    walked.skipped.push(SkippedFile::new(rel, reason));
}

pub(super) fn relative(root: &Path, path: &Path) -> String {
    files::slashed(path.strip_prefix(root).unwrap_or(path))
}

pub(super) fn relative_or_root(root: &Path, path: &Path) -> String {
    let rel = relative(root, path);
    if rel.is_empty() {
        "the workspace".into()
    } else {
        rel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str, kind: ErrorKind) -> WalkResult {
        let rules = SourceRules::new(&[], &[]).unwrap();
        let err = Box::new(Error::Io(kind.into()));
        let err = Box::new(Error::WithPath {
            path: path.into(),
            err,
        });
        let mut walked = WalkResult {
            root_present: true,
            ..WalkResult::default()
        };
        refuse(
            Path::new("/w"),
            &rules,
            &Error::WithDepth { depth: 1, err },
            &mut walked,
        );
        walked
    }

    #[test]
    fn an_unreadable_folder_is_not_treated_as_empty() {
        let walked = refused("/w/memory", ErrorKind::PermissionDenied);
        assert_eq!(walked.unreadable_dirs, [PathBuf::from("memory")]);
        assert!(
            walked.skipped[0].reason.contains("could not be read"),
            "{walked:?}"
        );
        assert!(walked.root_present);

        assert!(!refused("/w", ErrorKind::PermissionDenied).root_present);
        assert!(
            refused("/w/memory/gone.md", ErrorKind::NotFound)
                .unreadable_dirs
                .is_empty()
        );
        let loose = Error::Io(ErrorKind::Other.into());
        let mut walked = WalkResult::default();
        refuse(
            Path::new("/w"),
            &SourceRules::new(&[], &[]).unwrap(),
            &loose,
            &mut walked,
        );
        assert_eq!(
            walked.unreadable_dirs,
            [PathBuf::new()],
            "everything may still be there"
        );
    }
}
