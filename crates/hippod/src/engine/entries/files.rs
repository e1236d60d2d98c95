//! How do the index file and the store come to say the same, with no edit of anybody lost?
//!
//! What the daemon wrote or took over last is the base of a three-way merge. Before a write the file is read again; what
//! was replaced is looked at once more a moment later, because an editor may have written into it meanwhile. A file that
//! cannot be understood, or that lost most of its entries at once, is left alone and reported.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hippo_core::hierarchy::{FOLDER, Limits, Meta};
use hippo_core::index_file::Settings;
use hippo_core::layout::{self, INDEX_FILE, META_FILE, Wanted};
use hippo_core::time::Timestamp;
use hippo_store::StoreError;
use hippo_store::db::{RunFile, Store};
use hippo_store::shared_file;

use super::{Entries, index_path};
use crate::config;
use crate::files;
use crate::verify::FileMark;

/// The index file is not read above this size: it is one that stands in prompts.
const LARGEST: u64 = 4 << 20;
/// What was replaced is looked at again after this long.
const SETTLE: Duration = Duration::from_secs(1);
/// A file that changes while it is read is looked at again after this long.
const UNSETTLED: Duration = Duration::from_millis(200);
/// A file that cannot be written is tried again after this long.
const AGAIN: Duration = Duration::from_secs(30);
/// A file that is missing is written anew after this long: an editor may be about to put it back.
const MISSING: Duration = Duration::from_secs(3);
/// How often a write begins anew because somebody wrote at the same time.
const TRIES: usize = 5;
/// Where the store keeps what is about to be written.
const NEXT: &str = "HIPPOCAMPUS.md.next";
/// Where the store keeps what was replaced, until that is settled.
const OLD: &str = "HIPPOCAMPUS.md.old";

/// What is known of the index file.
#[derive(Debug, Default)]
pub struct IndexFile {
    /// What the daemon wrote or took over last; `None`: it never did, or the file was taken away.
    pub base: Option<Vec<u8>>,
    mark: Option<FileMark>,
    /// What the last process left unfinished is done.
    recovered: bool,
    /// When to look at it; `None`: when something is heard of it.
    look_at: Option<Instant>,
    missing_since: Option<Instant>,
    /// When to look again at what was replaced, and what it said then.
    settle: Option<(Instant, Vec<u8>)>,
    /// Entries that went at once, and are kept until somebody says so.
    pub held: Vec<hippo_core::entry::EntryId>,
    /// Why it is not read or not written, and what to do.
    pub trouble: Option<String>,
    /// The store says something that the file does not say yet, because it could not be written.
    pub unwritten: bool,
    /// What merges decided against the store since the last run, for people.
    pub conflicts: Vec<String>,
}

/// What reading and writing depends on.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// Root of the workspace.
    pub root: &'a Path,
    /// The configuration of the index.
    pub config: &'a config::Index,
    /// Wall clock.
    pub now: Timestamp,
    /// Monotonic clock.
    pub at: Instant,
    /// Distance of the local zone from UTC in seconds.
    pub offset_seconds: i32,
}

impl Now<'_> {
    /// How the index file is read and written.
    pub fn settings(&self) -> Settings {
        Settings {
            offset_seconds: self.offset_seconds,
            undated: self.now,
            entry_level: u8::try_from(self.config.entry_level).ok().filter(|level| *level > 1),
        }
    }
}

/// What a look at the file found.
enum Look {
    /// Its bytes.
    Whole(Vec<u8>, FileMark),
    Missing,
    /// It changes just now.
    Unsettled,
    /// It is not to be touched, and why.
    Blocked(String),
}

impl IndexFile {
    /// What the last process knew, and what it left unfinished.
    pub fn load(store: &Store, at: Instant) -> Result<Self, StoreError> {
        let base = store.base(INDEX_FILE)?.map(|base| base.bytes);
        Ok(Self {
            base,
            look_at: Some(at),
            ..Self::default()
        })
    }

    /// Something was heard of the file.
    pub fn look(&mut self, at: Instant) {
        let soon = self.look_at.map_or(at, |known| known.min(at));
        self.look_at = Some(soon);
    }

    /// When something is to be done next.
    pub fn due(&self) -> Option<Instant> {
        let settle = self.settle.as_ref().map(|(at, _)| *at);
        self.look_at.into_iter().chain(settle).min()
    }

    /// Tokens of the file, estimated as a quarter of its bytes.
    pub fn tokens(&self) -> u64 {
        self.base.as_ref().map_or(0, |bytes| bytes.len().div_ceil(4) as u64)
    }
}

/// The file that is meant: a link within the workspace is followed, one that leads out of it is not.
fn meant(root: &Path) -> Result<PathBuf, String> {
    let path = index_path(root);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {}
        _ => return Ok(path),
    }
    match path.canonicalize() {
        Ok(real) if real.starts_with(root) => Ok(real),
        Ok(real) => Err(format!(
            "{INDEX_FILE} is a link that leads out of the workspace ({}); put the file itself there, or set index.enabled = false",
            real.display()
        )),
        Err(error) => Err(format!(
            "{INDEX_FILE} is a link that leads nowhere ({error}); remove the link"
        )),
    }
}

fn read(path: &Path) -> Look {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Look::Missing,
        Err(error) => return Look::Blocked(format!("{INDEX_FILE} cannot be read: {error}")),
    };
    if !metadata.is_file() {
        return Look::Blocked(format!(
            "{INDEX_FILE} is no file: something else stands in its place; move it away and the index is written again"
        ));
    }
    if metadata.len() > LARGEST {
        return Look::Blocked(format!(
            "{INDEX_FILE} has {} bytes, more than the {LARGEST} that an index file may have; it is left as it is: shorten it or move it away",
            metadata.len()
        ));
    }
    let before = FileMark::of(&metadata);
    match files::read(path, LARGEST) {
        Ok(bytes) if bytes.contains(&0) => Look::Blocked(format!(
            "{INDEX_FILE} is no text (it has zero bytes); it is left as it is: move it away and the index is written again"
        )),
        Ok(bytes) => match std::fs::metadata(path).map(|metadata| FileMark::of(&metadata)) {
            Ok(after) if after == before && bytes.len() as u64 == after.size => Look::Whole(bytes, after),
            _ => Look::Unsettled,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Look::Unsettled,
        Err(error) => Look::Blocked(format!(
            "{INDEX_FILE} cannot be read: {error}; give hippod the right to read it"
        )),
    }
}

impl Entries {
    /// Does what is due about the index file: takes over what others wrote, lets go of what was replaced.
    ///
    /// # Errors
    /// See [`StoreError`]; it is tried again.
    pub fn tend_file(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        if !self.enabled {
            return Ok(());
        }
        if self.file.settle.as_ref().is_some_and(|(at, _)| *at <= now.at) {
            self.settle(store, now)?;
        }
        if self.file.look_at.is_some_and(|at| at <= now.at) {
            self.take_over(store, now)?;
            if self.file.unwritten && self.is_begun() && self.may_write() {
                self.write(store, now)?;
            }
        }
        Ok(())
    }

    /// Whether the file may be written now.
    pub fn may_write(&self) -> bool {
        self.enabled && self.file.trouble.is_none() && self.file.held.is_empty() && self.file.missing_since.is_none()
    }

    /// Reads the file and merges what others wrote into the store. Answers its bytes where it may be written.
    fn take_over(&mut self, store: &mut Store, now: Now<'_>) -> Result<Option<Vec<u8>>, StoreError> {
        self.file.look_at = None;
        let path = match meant(now.root) {
            Ok(path) => path,
            Err(why) => return Ok(self.block(now, why)),
        };
        self.recover(store, now, &path)?;
        match read(&path) {
            Look::Whole(bytes, mark) => {
                self.file.missing_since = None;
                self.file.mark = Some(mark);
                if self.file.trouble.take().is_some() {
                    tracing::info!(root = %now.root.display(), "the index file can be read again");
                    self.file.unwritten = true;
                }
                if self.file.base.as_deref() != Some(&bytes[..]) {
                    let base = self.file.base.clone().unwrap_or_default();
                    self.merge(store, now, &base, &bytes)?;
                }
                Ok(self.file.held.is_empty().then_some(bytes))
            }
            Look::Unsettled => {
                self.file.look(now.at + UNSETTLED);
                Ok(None)
            }
            Look::Missing => {
                self.file.trouble = None;
                self.file.held.clear();
                let since = *self.file.missing_since.get_or_insert(now.at);
                if self.file.base.is_some() && now.at < since + MISSING {
                    self.file.look(since + MISSING);
                    return Ok(None);
                }
                // Nobody put it back. Nothing is forgotten with it: the store writes it anew.
                self.file.missing_since = None;
                self.file.unwritten |= self.file.base.take().is_some();
                Ok(None)
            }
            Look::Blocked(why) => Ok(self.block(now, why)),
        }
    }

    fn block(&mut self, now: Now<'_>, why: String) -> Option<Vec<u8>> {
        if self.file.trouble.as_deref() != Some(&why) {
            tracing::warn!(root = %now.root.display(), "{why}");
        }
        self.file.trouble = Some(why);
        self.file.unwritten = true;
        self.file.look(now.at + AGAIN);
        None
    }

    /// Finds out how far the last process came that was stopped while it replaced the file.
    fn recover(&mut self, store: &mut Store, now: Now<'_>, path: &Path) -> Result<(), StoreError> {
        if std::mem::replace(&mut self.file.recovered, true) {
            return Ok(());
        }
        let (next, old) = (store.base(NEXT)?, store.base(OLD)?);
        let replaced = shared_file::replaced(path).ok().flatten();
        if let Some(next) = next.map(|base| base.bytes) {
            let placed = std::fs::read(path).is_ok_and(|bytes| bytes == next);
            let beside = replaced.as_ref().is_some_and(|bytes| *bytes == next);
            // Written beside and never put into its place, unless one of these says otherwise.
            if placed || (replaced.is_some() && !beside) {
                let base = self.file.base.replace(next).unwrap_or_default();
                self.note_base(store, now)?;
                if let Some(late) = replaced.filter(|_| !beside) {
                    self.merge_late(store, now, &base, &late)?;
                }
            }
        } else if let (Some(old), Some(late)) = (old, replaced) {
            self.merge_late(store, now, &old.bytes, &late)?;
        }
        self.let_go(store, path)
    }

    /// Removes what was replaced, and what the store noted of it.
    fn let_go(&mut self, store: &mut Store, path: &Path) -> Result<(), StoreError> {
        if let Err(error) = shared_file::settle(path) {
            tracing::warn!(%error, "could not remove the replaced index file; it is in the way of the next writing");
        }
        let mut batch = store.begin_entries()?;
        batch.drop_base(NEXT)?;
        batch.drop_base(OLD)?;
        batch.commit()
    }

    /// Looks again at what was replaced a moment ago.
    fn settle(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        let Some((_, old)) = self.file.settle.take() else {
            return Ok(());
        };
        let Ok(path) = meant(now.root) else {
            return Ok(());
        };
        if let Ok(Some(late)) = shared_file::replaced(&path)
            && late != old
        {
            self.merge_late(store, now, &old, &late)?;
        }
        self.let_go(store, &path)
    }

    /// Takes over what somebody wrote into a file that was being replaced.
    fn merge_late(&mut self, store: &mut Store, now: Now<'_>, base: &[u8], late: &[u8]) -> Result<(), StoreError> {
        if base == late {
            return Ok(());
        }
        tracing::info!(root = %now.root.display(), "the index file was written to while it was replaced; both are kept");
        let written = self.file.base.clone();
        self.merge(store, now, base, late)?;
        self.file.base = written;
        self.note_base(store, now)?;
        self.file.unwritten = true;
        self.file.look(now.at);
        Ok(())
    }

    /// Notes in the store what the file said last.
    pub fn note_base(&mut self, store: &mut Store, now: Now<'_>) -> Result<(), StoreError> {
        let mut batch = store.begin_entries()?;
        match &self.file.base {
            Some(bytes) => batch.put_base(INDEX_FILE, bytes, now.now)?,
            None => batch.drop_base(INDEX_FILE)?,
        }
        batch.commit()
    }

    /// Brings the index file and the files below it to what the store says. Answers what was changed.
    ///
    /// # Errors
    /// See [`StoreError`]. What the file system refuses is no error: it is noted, and tried again.
    pub fn write(&mut self, store: &mut Store, now: Now<'_>) -> Result<Vec<RunFile>, StoreError> {
        let mut changed: Vec<RunFile> = Vec::new();
        if !self.enabled {
            return Ok(changed);
        }
        self.file.unwritten = true;
        for _ in 0..TRIES {
            let current = self.take_over(store, now)?;
            if !self.may_write() || (current.is_none() && self.file.base.is_some()) {
                return Ok(changed);
            }
            let files = self.laid_out(current.as_deref(), now);
            if current.as_deref() != Some(&files.master[..]) {
                let before = current.clone();
                match self.replace(store, now, current, files.master.clone())? {
                    Replaced::Done => note(&mut changed, INDEX_FILE, before, files.master),
                    Replaced::Again => continue,
                    Replaced::Refused => return Ok(changed),
                }
            }
            match write_others(now.root, &files.others) {
                Ok(others) => changed.extend(others),
                Err(error) => {
                    let why = format!("the files below {FOLDER} cannot be written: {error}");
                    self.block(now, why);
                    return Ok(changed);
                }
            }
            self.file.unwritten = false;
            break;
        }
        Ok(changed)
    }

    fn laid_out(&self, current: Option<&[u8]>, now: Now<'_>) -> layout::Files {
        let meta: Option<Meta> = std::fs::read(now.root.join(META_FILE))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let limits = Limits {
            max_tokens: now.config.max_tokens,
            max_entries: now.config.max_entries,
            ..Limits::default()
        };
        layout::lay_out(
            current,
            &Wanted {
                records: &self.known.records,
                forgotten: &self.forgotten(),
                quick_access: &self.known.quick_access,
                meta: meta.as_ref(),
                limits,
                settings: now.settings(),
                now: now.now,
            },
        )
    }

    /// Puts bytes into the file's place, where it still is what it was laid out from.
    fn replace(
        &mut self,
        store: &mut Store,
        now: Now<'_>,
        current: Option<Vec<u8>>,
        bytes: Vec<u8>,
    ) -> Result<Replaced, StoreError> {
        // What an earlier writing replaced is in the way, and may have been written to.
        self.settle(store, now)?;
        let path = match meant(now.root) {
            Ok(path) => path,
            Err(why) => {
                self.block(now, why);
                return Ok(Replaced::Refused);
            }
        };
        let mut batch = store.begin_entries()?;
        batch.put_base(NEXT, &bytes, now.now)?;
        batch.commit()?;
        let old = match shared_file::replace(&path, &bytes) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let beside = shared_file::replaced_path(&path);
                let why = format!("{INDEX_FILE} cannot be written: {} is in the way; move it away", beside.display());
                self.block(now, why);
                return Ok(Replaced::Refused);
            }
            Err(error) => {
                let why = format!(
                    "{INDEX_FILE} cannot be written: {error}; make the folder {} writable, or set index.enabled = false",
                    now.root.display()
                );
                self.block(now, why);
                return Ok(Replaced::Refused);
            }
        };
        self.file.base = Some(bytes);
        self.file.mark = std::fs::metadata(&path).ok().map(|metadata| FileMark::of(&metadata));
        let mut batch = store.begin_entries()?;
        if let Some(base) = &self.file.base {
            batch.put_base(INDEX_FILE, base, now.now)?;
        }
        batch.drop_base(NEXT)?;
        if let Some(old) = &old {
            batch.put_base(OLD, old, now.now)?;
        }
        batch.commit()?;
        let Some(old) = old else { return Ok(Replaced::Done) };
        self.file.settle = Some((now.at + SETTLE, old.clone()));
        let expected = current.unwrap_or_default();
        if old == expected {
            return Ok(Replaced::Done);
        }
        // Somebody wrote between the reading and the replacing.
        self.merge_late(store, now, &expected, &old)?;
        Ok(Replaced::Again)
    }

    /// Puts a file back as it was before a run, where it is still as the run left it. Answers whether it was.
    pub fn put_back(&mut self, store: &mut Store, now: Now<'_>, file: &RunFile) -> Result<bool, StoreError> {
        if file.path != INDEX_FILE {
            let path = now.root.join(&file.path);
            let is = std::fs::read(&path).unwrap_or_default();
            if is != file.after {
                return Ok(false);
            }
            let done = match &file.before {
                Some(before) => write_whole(&path, before),
                None => std::fs::remove_file(&path),
            };
            return Ok(done.is_ok());
        }
        let current = self.take_over(store, now)?;
        if current.as_deref() != Some(&file.after[..]) {
            return Ok(false);
        }
        let Some(before) = &file.before else {
            self.settle(store, now)?;
            let gone = meant(now.root).is_ok_and(|path| std::fs::remove_file(path).is_ok());
            if gone {
                self.file.base = None;
                self.note_base(store, now)?;
            }
            return Ok(gone);
        };
        Ok(matches!(
            self.replace(store, now, current, before.clone())?,
            Replaced::Done
        ))
    }
}

enum Replaced {
    Done,
    /// Something came in between.
    Again,
    /// Noted as trouble.
    Refused,
}

fn note(changed: &mut Vec<RunFile>, path: &str, before: Option<Vec<u8>>, after: Vec<u8>) {
    match changed.iter_mut().find(|file| file.path == path) {
        Some(file) => file.after = after,
        None => changed.push(RunFile {
            path: path.to_owned(),
            before,
            after,
        }),
    }
}

/// Writes the files below `.hippocampus/` that differ, and removes those that are of no use any more.
fn write_others(root: &Path, wanted: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<RunFile>> {
    let mut changed = Vec::new();
    for (path, bytes) in wanted {
        let whole = root.join(path);
        let before = match std::fs::read(&whole) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if before.as_ref() != Some(bytes) {
            write_whole(&whole, bytes)?;
            note(&mut changed, path, before, bytes.clone());
        }
    }
    for path in made_here(root) {
        if !wanted.contains_key(&path) {
            let whole = root.join(&path);
            let before = std::fs::read(&whole)?;
            std::fs::remove_file(&whole)?;
            note(&mut changed, &path, Some(before), Vec::new());
        }
    }
    Ok(changed)
}

/// The files below `.hippocampus/` that an earlier writing may have made.
fn made_here(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    if root.join(META_FILE).is_file() {
        found.push(META_FILE.to_owned());
    }
    for folder in ["topics", "temporal", "archive"] {
        let listing = std::fs::read_dir(root.join(FOLDER).join(folder)).into_iter().flatten();
        for entry in listing.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = format!("{FOLDER}/{folder}/{name}");
            if layout::is_made_here(&path) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Writes a file that hippod alone writes: whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new"));
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&beside);
    })
}
