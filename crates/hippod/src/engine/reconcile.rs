//! Reconciliation of the disk with the index.
//!
//! Scans find changes that watch events missed. Deletions are confirmed before documents are removed from the index.

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

/// Delay before another scan if a scan was incomplete because of the limit on open files.
const SHORTAGE: Duration = Duration::from_secs(2);
/// Minimum number of deletions to hold back; a person can check a smaller number at a glance.
const MASS_DELETE_LEAST: usize = 10;
/// Share of the files above which a simultaneous disappearance is held back for confirmation.
const MASS_DELETE_SHARE: f64 = 0.25;

impl Workspace {
    /// Compares the disk with the index and records differences as dirty paths and missing documents.
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

    /// Applies the result of a disk scan. Later changes are found by their events or by the next scan. Missing files
    /// are checked again before they count as deleted.
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
        // While its disk is unmounted, a mount point is an empty folder.
        self.root_present = scan.root_present && (!scan.root_empty || self.known.is_empty());
        if !self.root_present {
            // The root is unmounted or moved, so missing files do not count as deleted.
            self.missing.clear();
            return;
        }
        if let Some(watcher) = &self.watcher {
            watcher.set_dirs(scan.dirs.clone());
        }
        // A compaction-tree node that a person edited counts once it is indexed.
        let counts = |path: &str| self.known.contains_key(path) || Period::of_path(path).is_none();
        self.files_on_disk = scan.files.iter().filter(|file| counts(&file.rel)).count();
        // The check is cheap if nothing has changed, and it is needed because events may have been lost.
        self.entries.file.look(now);
        let before = self.unread().count() + self.missing.len();
        self.compare(&scan, now);
        self.changed_at_reconcile =
            (self.unread().count() + self.missing.len()).saturating_sub(before) as u64;
        let skipped = scan.skipped.into_iter();
        self.skipped = skipped.map(|skipped| (skipped.rel.clone(), skipped)).collect();
    }

    fn compare(&mut self, scan: &ScanResult, now: Instant) {
        let mut seen = BTreeSet::new();
        for file in &scan.files {
            let mark = FileMark {
                size: file.size,
                mtime_ns: file.mtime_ns,
            };
            let known = self.known.get(&file.rel).map(|known| (known.mark, known.racy));
            match known.or_else(|| self.own_nodes.get(&file.rel).copied()) {
                Some((known, false)) if known == mark => {
                    self.missing.remove(&file.rel);
                    if self.held.remove(&file.rel) {
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
                // The file exists but must not be indexed, or no longer; reading it determines the reason.
                self.mark_dirty(path, now);
            } else if !self.held.contains(&path) {
                self.missing.entry(path).or_insert(now);
            }
        }
    }

    /// Turns watch events into dirty paths. An added or removed folder triggers a disk scan.
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

    /// Applies the current search settings of the harness to queries.
    pub fn look_at_harness(&self) {
        self.view.set_by_meaning(by_meaning(&self.root));
    }

    fn is_folder_of_memory(&self, relative: &str) -> bool {
        let below = format!("{relative}/");
        self.known.keys().any(|known| known.starts_with(&below))
            || (self.view.rules.may_contain(relative) && hippo_fs::is_folder(&self.root, relative))
    }

    /// Returns the time when the oldest missing document can be confirmed as deleted.
    pub fn deletions_due(&self) -> Option<Instant> {
        let delay = Duration::from_millis(self.view.config.watch.delete_confirm_ms);
        self.missing.values().min().map(|since| *since + delay)
    }

    /// Removes documents that stayed missing, unless so many disappeared at once that a lost disk is likely. Returns the
    /// number of removed documents.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, the documents stay missing, and their removal is tried again.
    pub fn confirm_deletions(&mut self, now: Instant) -> Result<usize, StoreError> {
        // A file that waits to be read may be a missing document under a new name.
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

    /// Returns the documents whose bytes are indexed under another, existing name.
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

    /// Confirms held-back deletions. Returns the number of removed documents.
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
