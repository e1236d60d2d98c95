//! Comparison of the files on disk with the search index.
//!
//! Scans of the disk find changes that the watcher missed. The daemon removes a document from the index only after its
//! file has been missing for some time.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hippo_fs::harness;
use hippo_store::StoreError;
use hippo_tree::Period;

use super::agenda::Chore;
use super::ingest::RefreshResult;
use super::workspace::Workspace;
use crate::files;
use crate::harness::by_meaning;
use crate::registry;
use crate::scan::{self, ScanResult};
use crate::trust;
use crate::verify::FileMark;

/// Delay before another scan after the limit on open files has stopped a scan.
const SHORTAGE: Duration = Duration::from_secs(2);
/// Minimum number of deleted files that are held back. A smaller number is always accepted.
const MASS_DELETE_LEAST: usize = 10;
/// Share of all files, from 0 to 1, above which deletions at once are held back until a person confirms them.
const MASS_DELETE_SHARE: f64 = 0.25;

impl Workspace {
    /// Scans the disk and compares the files with the index. Changed files are queued for indexing, and missing files
    /// are recorded.
    pub fn reconcile(&mut self, now: Instant) {
        let begun = Instant::now();
        let scan = scan::scan(&self.root, &self.view.rules, &self.view.config, &|| {
            self.pulse.beat()
        });
        self.take_scan(scan, now);
        tracing::debug!(
            workspace = registry::short_id(&self.root),
            files = self.files_on_disk,
            indexed = self.known.len(),
            changed = self.changed_at_reconcile,
            skipped = self.skipped.len(),
            took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            "finished comparing the disk with the index"
        );
    }

    /// Applies the result of a scan of the disk: queues changed files for indexing, and records missing files. A
    /// missing file is checked again before it counts as deleted.
    pub fn take_scan(&mut self, scan: ScanResult, now: Instant) {
        if scan.cut_short {
            self.trouble = Some(StoreError::TooManyOpenFiles {
                path: self.root.clone(),
            });
            self.agenda.plan(Chore::Scan, now + SHORTAGE);
            return;
        }
        self.times.reconcile = Some(now);
        self.own.look = true;
        self.look_at_harness();
        self.agenda.plan(
            Chore::Scan,
            now + Duration::from_secs(self.view.config.watch.reconcile_secs),
        );
        // A mount point whose disk is not mounted is an empty folder.
        self.root_present = scan.root_present && (!scan.root_empty || self.known.is_empty());
        if !self.root_present {
            // The root is not mounted or was moved, so its files do not count as missing.
            self.missing.clear();
            return;
        }
        if let Some(watcher) = &self.watcher {
            watcher.set_dirs(scan.dirs.clone());
        }
        // Do not count nodes of the compaction tree, except those that a person edited and that are indexed.
        let counts = |path: &str| self.known.contains_key(path) || Period::of_path(path).is_none();
        self.files_on_disk = scan.files.iter().filter(|file| counts(&file.rel)).count();
        // Events of the index file may have been lost, so check the file as well.
        self.entries.file.look(now);
        let before = self.unread().count() + self.missing.len();
        self.compare(&scan, now);
        self.changed_at_reconcile =
            (self.unread().count() + self.missing.len()).saturating_sub(before) as u64;
        let skipped = scan.skipped.into_iter();
        self.skipped = skipped.map(|skipped| (skipped.rel.clone(), skipped)).collect();
        self.left_out = scan.left_out;
    }

    fn compare(&mut self, scan: &ScanResult, now: Instant) {
        let mut seen = BTreeSet::new();
        for file in &scan.files {
            let mark = FileMark {
                size: file.size,
                mtime_ns: file.mtime_ns,
            };
            let known = self
                .known
                .get(&file.rel)
                .map(|known| (known.mark, known.racy || known.is_outdated));
            match known.or_else(|| self.own_nodes.get(&file.rel).copied()) {
                Some((known, false)) if known == mark => {
                    self.missing.remove(&file.rel);
                    // The event of a file that has returned unchanged may not have arrived yet.
                    let document = self.known.get(&file.rel).map(|known| known.document);
                    let is_unread = document.is_some_and(|document| self.pending.is_unread(document));
                    if self.held.remove(&file.rel) || is_unread {
                        self.mark_dirty(file.rel.clone(), now);
                    }
                }
                Some((known, true)) if known == mark => self.mark_recheck(file.rel.clone(), now),
                _ => self.mark_dirty(file.rel.clone(), now),
            }
            seen.insert(file.rel.as_str());
        }
        let skipped: BTreeSet<&str> = scan.skipped.iter().map(|skipped| skipped.rel.as_str()).collect();
        let unseen: Vec<String> = self
            .known
            .keys()
            .filter(|path| !seen.contains(path.as_str()))
            .filter(|path| {
                !scan
                    .unreadable_dirs
                    .iter()
                    .any(|dir| Path::new(path.as_str()).starts_with(dir))
            })
            .cloned()
            .collect();
        for path in unseen {
            if skipped.contains(path.as_str()) || !self.view.rules.is_source(&path) {
                // The file exists but must not be indexed. An attempt to index it finds the reason and updates the
                // index.
                self.mark_dirty(path, now);
            } else if !self.held.contains(&path) {
                self.missing.entry(path).or_insert(now);
            }
        }
    }

    /// Queues the paths of watch events for indexing. A change of a folder causes a scan of the disk.
    pub fn note_events(&mut self, paths: BTreeSet<PathBuf>, now: Instant) {
        self.times.event = Some(now);
        for path in paths {
            let Some(relative) = files::below(&self.root, &path) else {
                continue;
            };
            self.own.look |= trust::FILES.contains(&relative.as_str());
            if relative == harness::FILE {
                self.look_at_harness();
            }
            if self.entries.file.is_at(&self.root, &path) {
                self.entries.file.look(now);
            }
            if self.view.rules.is_source(&relative) && !hippo_fs::is_folder(&self.root, &relative) {
                self.mark_dirty(relative, now);
            } else if relative.is_empty() || self.is_folder_of_memory(&relative) {
                self.agenda.plan(Chore::Scan, now);
            }
        }
    }

    /// Reads the search settings of the harness again and applies them to queries.
    pub fn look_at_harness(&self) {
        self.view.set_by_meaning(by_meaning(&self.root));
    }

    fn is_folder_of_memory(&self, relative: &str) -> bool {
        let below = format!("{relative}/");
        self.known.keys().any(|known| known.starts_with(&below))
            || (self.view.rules.may_contain(relative) && hippo_fs::is_folder(&self.root, relative))
    }

    /// Returns the time at which the document that has been missing longest counts as deleted; `None` if no document is
    /// missing.
    pub fn deletions_due(&self) -> Option<Instant> {
        let delay = Duration::from_millis(self.view.config.watch.delete_confirm_ms);
        self.missing.values().min().map(|since| *since + delay)
    }

    /// Removes the documents that have been missing long enough from the index. If very many files disappeared at once,
    /// their removal is held back, because it may be an accident. Returns the number of removed documents.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the documents stay missing, and their removal is tried again.
    pub fn confirm_deletions(&mut self, now: Instant) -> Result<usize, StoreError> {
        // A queued file may be a missing document under a new name, so wait until the queue is empty.
        if !self.dirty.is_empty() || !self.root_present {
            return Ok(0);
        }
        if !hippo_fs::is_present(&self.root) {
            self.root_present = false;
            self.missing.clear();
            return Ok(0);
        }
        let delay = Duration::from_millis(self.view.config.watch.delete_confirm_ms);
        let mut gone = Vec::new();
        for (path, since) in self.missing.clone() {
            if hippo_fs::exists(&self.root, &path) {
                self.missing.remove(&path);
                self.mark_dirty(path, now);
            } else if now >= since + delay {
                gone.push(path);
            }
        }
        let mut moved = self.moved(&gone);
        gone.retain(|path| !moved.contains(path));
        let all = gone.len() + self.held.len();
        #[expect(clippy::cast_precision_loss, reason = "the number of files is far below 2^52")]
        let too_many = all >= MASS_DELETE_LEAST && all as f64 > MASS_DELETE_SHARE * self.known.len() as f64;
        if too_many && !gone.is_empty() {
            tracing::warn!(
                root = %self.root.display(), files = gone.len(),
                "many files disappeared at once; they stay in the index until the deletion is confirmed"
            );
            for path in gone {
                self.missing.remove(&path);
                self.held.insert(path);
            }
        } else {
            moved.append(&mut gone);
        }
        if !moved.is_empty() {
            self.remove(&moved)?;
        }
        Ok(moved.len())
    }

    /// Returns those of the given documents whose content is indexed under another path that exists.
    fn moved(&self, paths: &[String]) -> Vec<String> {
        if paths.is_empty() {
            return Vec::new();
        }
        let is_there = |path: &String| !self.missing.contains_key(path) && !self.held.contains(path);
        let there: HashSet<[u8; 16]> = self
            .known
            .iter()
            .filter(|(path, _)| is_there(path))
            .map(|(_, known)| known.hash)
            .collect();
        let moved = |path: &&String| {
            self.known
                .get(*path)
                .is_some_and(|known| there.contains(&known.hash))
        };
        paths.iter().filter(moved).cloned().collect()
    }

    /// Removes the documents whose deletion is held back, because a person confirmed it. Returns the number of removed
    /// documents.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, no document is removed.
    pub fn accept_deletions(&mut self) -> Result<usize, StoreError> {
        let held: Vec<String> = self
            .held
            .iter()
            .filter(|path| !hippo_fs::exists(&self.root, path))
            .cloned()
            .collect();
        let removed = self.remove(&held)?;
        self.held.clear();
        Ok(if removed == RefreshResult::Removed {
            held.len()
        } else {
            0
        })
    }
}
