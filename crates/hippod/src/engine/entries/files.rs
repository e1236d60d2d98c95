//! State of the index file, and how it is read.
//!
//! The daemon merges edits of people into the store by a three-way merge. The base of the merge is the content that the
//! daemon last wrote or accepted. The daemon reads the file again before each write. A moment after a write, it also
//! checks the copy that it replaced, because an editor may have written to that copy late. If a file cannot be read as
//! text, or suddenly lacks most of its entries, the daemon reports the problem and leaves the file unchanged.

mod below;
mod conflicts;
mod copies;
mod kept;
mod others;
mod replaced;
mod take;
pub(super) mod versions;
pub(super) mod words;
mod write;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_fs::{FileKind, WorkspaceDir};
use hippo_map::index_file::IndexFileOptions;
use hippo_map::layout::{self, INDEX_FILE, foreign};
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_store::shared_file::{SLOTS, SharedFile};
use hippo_types::time::Timestamp;

pub use replaced::old_key;
pub use versions::{VersionOrigin, same_header};

use super::merge::HeldRemovals;
use crate::files::index_path;
use crate::verify::FileMark;
use crate::view::WorkspaceView;
use conflicts::Conflicts;
use kept::KeptBytes;
use replaced::ReplacedCopy;

/// Maximum size of the index file in bytes. A larger file is not read, because prompts contain the file.
const LARGEST: u64 = 4 << 20;
/// Delay before another attempt to read or write the file after a failure.
const AGAIN: Duration = Duration::from_secs(30);

/// State of the index file.
#[derive(Debug, Default)]
pub struct IndexFileState {
    /// Byte strings in the store: the content that the daemon last wrote or accepted, earlier versions, edits that are
    /// not in the file yet, and the text of entries that are not in the file.
    pub kept: KeptBytes,
    /// True once the files below `.hippocampus/` have been searched for entries of an earlier database.
    looked_below: bool,
    /// Time in the header of the file at the last write. Each write uses a later time.
    stamped: Timestamp,
    /// True once a replacement of the file that the last process did not finish has been completed.
    recovered: bool,
    /// Path of the file itself: the target if the index file is a link.
    real: Option<PathBuf>,
    /// Time of the next check of the file; `None` if no check is needed before the next event.
    look_at: Option<Instant>,
    missing_since: Option<Instant>,
    /// True if the file changed during a read and will be read again shortly.
    unsettled: bool,
    /// Replaced copies of the file to which an editor may still write.
    replaced: Vec<ReplacedCopy>,
    /// Removals of entries that wait until a person confirms them.
    pub held: Option<HeldRemovals>,
    /// True if a person confirmed the removals that are held back. The next check of the file resets the flag.
    pub accept_removals: bool,
    /// Reason why the file is not read or not written.
    pub trouble: Option<IndexFileIssue>,
    /// True if the file may lack changes that are in the store.
    pub unwritten: bool,
    /// True if a person edited the file. The lists in the file may be out of date until the next cycle updates them.
    pub outdated: bool,
    /// Section with the entries that other workspaces share; `None` until it was made for the first time.
    foreign: Option<String>,
    /// Time at which the section is made again because a share changed; light cycles also make it.
    pub foreign_at: Option<Instant>,
    /// The same section, as the file contained it when it was last read or written.
    foreign_in_file: String,
    /// Conflicts of merges, which a person should see.
    pub conflicts: Conflicts,
    /// Names of the conflict copies in the root of the workspace that stay there, with the reason.
    pub copies: BTreeMap<String, String>,
}

/// A problem with the index file, for display to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFileIssue {
    /// Description of the problem.
    pub what: String,
    /// Advice to the user.
    pub fix: String,
    /// True if the file can be read but not written.
    writing: bool,
}

impl std::fmt::Display for IndexFileIssue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.what, self.fix)
    }
}

/// The current time and the facts about the workspace that a read or write of the index file needs.
#[derive(Clone)]
pub struct FileEnvironment {
    /// View of the workspace.
    pub view: Arc<WorkspaceView>,
    /// Current wall-clock time.
    pub now: Timestamp,
    /// Current time of the monotonic clock.
    pub at: Instant,
    /// Offset of the local time zone from UTC in seconds.
    pub offset_seconds: i32,
    /// Number of memory files.
    pub files: usize,
}

impl FileEnvironment {
    /// Returns the root of the workspace.
    pub fn root(&self) -> &Path {
        &self.view.root
    }

    /// Returns the options for parsing and writing the index file.
    pub fn settings(&self) -> IndexFileOptions {
        IndexFileOptions {
            offset_seconds: self.offset_seconds,
            undated: self.now,
        }
    }
}

/// Result of reading the file.
enum IndexFileReading {
    /// The complete content of the file.
    Whole(Vec<u8>),
    Missing,
    /// The file changed while it was read.
    Unsettled,
    /// The file must be left unchanged. The issue describes the reason.
    Blocked(IndexFileIssue),
}

impl IndexFileState {
    /// Loads the state that the last process stored.
    pub fn load(store: &Store, at: Instant) -> Result<Self, StoreError> {
        let mut kept = KeptBytes::load(store)?;
        let base = store.base(INDEX_FILE)?;
        if let Some(base) = &base {
            versions::note(&mut kept, &base.bytes, base.at);
        }
        Ok(Self {
            stamped: versions::stamped(&kept),
            kept,
            // The last process may have updated the store and then ended before it wrote the file.
            unwritten: base.is_some(),
            look_at: Some(at),
            ..Self::default()
        })
    }

    /// Returns the content that the daemon last wrote or accepted; `None` if there is none, or if the file was removed.
    pub fn base(&self) -> Option<&[u8]> {
        self.kept.bytes(INDEX_FILE)
    }

    /// Returns the number of the newest version of the file.
    pub fn last_version(&self) -> Option<u64> {
        versions::last(&self.kept)
    }

    /// Records the current content of the file as the base of the next merge; `None` if the file was removed.
    pub fn set_base(&mut self, bytes: Option<&[u8]>, now: Timestamp) {
        match bytes {
            Some(bytes) => {
                versions::note(&mut self.kept, bytes, now);
                self.kept.put(INDEX_FILE.to_owned(), bytes, now);
            }
            None => self.kept.remove(INDEX_FILE),
        }
    }

    /// Keeps the text that people wrote into entries which are in `before` but not in `after`.
    pub fn keep_entries(&mut self, before: &[u8], after: &[u8], now: &FileEnvironment) {
        for (id, block) in layout::leaving_entries(before, after, now.settings()) {
            self.kept.keep_entry(&id, &block, now.now);
        }
    }

    /// Schedules a check of the file at the time `at`, unless an earlier check is scheduled.
    pub fn look(&mut self, at: Instant) {
        let soon = self.look_at.map_or(at, |known| known.min(at));
        self.look_at = Some(soon);
    }

    /// Returns whether a path is the index file, its target if the index file is a link, or a conflict copy.
    pub fn is_at(&self, root: &Path, path: &Path) -> bool {
        path == index_path(root) || self.real.as_deref() == Some(path) || copies::is_copy(root, path)
    }

    /// Returns the time of the next work on the file.
    pub fn due(&self) -> Option<Instant> {
        let settle = self.replaced.iter().map(|replaced| replaced.due);
        self.look_at
            .into_iter()
            .chain(self.foreign_at)
            .chain(settle)
            .min()
    }

    /// Returns whether the file is about to be read or written. A client that needs the final content then waits.
    pub fn is_behind(&self, at: Instant) -> bool {
        let waits = self.unsettled || self.missing_since.is_some();
        waits || self.look_at.is_some_and(|look| look <= at)
    }

    /// Returns the estimated number of tokens in the file.
    pub fn tokens(&self) -> u64 {
        let bytes = self.base().map_or(0, <[u8]>::len);
        hippo_types::tokens::of_bytes(bytes + self.foreign().len()) as u64
    }

    /// Returns the section with the entries of other workspaces that the file should contain.
    fn foreign(&self) -> &str {
        self.foreign.as_deref().unwrap_or(&self.foreign_in_file)
    }

    /// Replaces the section with the entries of other workspaces. The next write of the file writes it.
    pub fn set_foreign(&mut self, section: String) {
        self.outdated |= section != self.foreign_in_file;
        self.foreign = Some(section);
    }

    /// Removes the section with the entries of other workspaces from the content of the file, because the store must
    /// not contain it. If the file has another section than it should, schedules a write.
    fn without_foreign(&mut self, look: IndexFileReading, at: Instant) -> IndexFileReading {
        match look {
            IndexFileReading::Whole(bytes) => {
                let (bytes, section) = foreign::split(&bytes);
                self.foreign_in_file = section;
                if self.foreign() != self.foreign_in_file {
                    self.outdated = true;
                    self.foreign_at.get_or_insert(at + AGAIN);
                }
                IndexFileReading::Whole(bytes)
            }
            look => look,
        }
    }

    /// Records why the file is left unchanged, and schedules another check.
    fn block(&mut self, now: &FileEnvironment, trouble: IndexFileIssue) {
        if self.trouble.as_ref() != Some(&trouble) {
            tracing::warn!(root = %now.root().display(), "{trouble}");
        }
        self.trouble = Some(trouble);
        self.unwritten = true;
        self.look(now.at + AGAIN);
    }

    /// Returns the number of a free slot, in which a write can keep the previous content of the file; `None` if all
    /// slots are in use.
    fn free_slot(&self) -> Option<u32> {
        (0..SLOTS).find(|slot| self.replaced.iter().all(|replaced| replaced.slot != *slot))
    }
}

/// The index file in its opened folder.
struct OpenedIndexFile {
    dir: WorkspaceDir,
    /// Path of the file relative to the root. If the index file is a link, this is the path of the target.
    path: PathBuf,
    file: SharedFile,
}

/// Opens the folder of the index file. A link to another note in the workspace is followed; any other link is rejected.
fn open_folder(root: &Path) -> Result<OpenedIndexFile, IndexFileIssue> {
    let opened = WorkspaceDir::open(root).and_then(|dir| {
        let path = dir.file_to_write(INDEX_FILE)?;
        let file = SharedFile::open(&dir, &path)?;
        Ok(OpenedIndexFile { dir, path, file })
    });
    opened.map_err(|error| match hippo_fs::refusal(&error) {
        Some(refusal) => unreadable(
            format!("{INDEX_FILE} cannot be used: {refusal}"),
            "replace HIPPOCAMPUS.md with a regular file, or set `index.enabled = false`",
        ),
        None if error.kind() == io::ErrorKind::NotFound && is_link(root) => unreadable(
            format!("{INDEX_FILE} is a link without a target ({error})"),
            "remove the link; hippod then writes the index file again",
        ),
        None => unreadable(
            format!("{INDEX_FILE} cannot be read: {error}"),
            "give hippod permission to read the file",
        ),
    })
}

fn is_link(root: &Path) -> bool {
    let stat = WorkspaceDir::open(root).and_then(|dir| dir.stat(INDEX_FILE));
    stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == FileKind::Link))
}

fn unreadable(what: String, fix: &str) -> IndexFileIssue {
    IndexFileIssue {
        what,
        fix: fix.to_owned(),
        writing: false,
    }
}

fn read(meant: &OpenedIndexFile) -> IndexFileReading {
    let refused = |error: io::Error| {
        let what = format!("{INDEX_FILE} cannot be read: {error}");
        IndexFileReading::Blocked(unreadable(what, "give hippod permission to read the file"))
    };
    let (file, metadata) = match meant.dir.open_file(&meant.path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return IndexFileReading::Missing,
        Err(error) if hippo_fs::refusal(&error).is_some() => {
            return IndexFileReading::Blocked(unreadable(
                format!("{INDEX_FILE} is not a regular file"),
                "move the file elsewhere; hippod then writes the index file again",
            ));
        }
        Err(error) => return refused(error),
    };
    if metadata.len() > LARGEST {
        let what = format!(
            "{INDEX_FILE} has {} bytes, and the maximum is {LARGEST}; the file stays unchanged",
            metadata.len()
        );
        return IndexFileReading::Blocked(unreadable(what, "shorten the file, or move it elsewhere"));
    }
    let before = FileMark::of(&metadata);
    let mut bytes = Vec::new();
    match file.take(LARGEST).read_to_end(&mut bytes) {
        Ok(_) if bytes.contains(&0) => IndexFileReading::Blocked(unreadable(
            format!(
                "{INDEX_FILE} is not a text file, because it contains NUL characters; the file stays \
                 unchanged"
            ),
            "move the file elsewhere; hippod then writes the index file again",
        )),
        Ok(size) => match meant.dir.stat(&meant.path) {
            Ok(Some(after)) if FileMark::from(after) == before && size as u64 == after.size => {
                IndexFileReading::Whole(bytes)
            }
            _ => IndexFileReading::Unsettled,
        },
        Err(error) => refused(error),
    }
}
