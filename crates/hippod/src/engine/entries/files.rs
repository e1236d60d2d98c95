//! What is known of the index file, and what does it say now?
//!
//! What the daemon wrote or took over last is the base of a three-way merge. Before a write the file is read again; what
//! was replaced is looked at once more a moment later, because an editor may have written into it meanwhile. A file that
//! cannot be understood, or that lost most of its entries at once, is left alone and reported.

mod below;
mod blocks;
mod conflicts;
mod others;
mod replaced;
mod take;
mod versions;
mod words;
mod write;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hippo_core::entry::EntryId;
use hippo_core::index_file::IndexFileOptions;
use hippo_core::layout::{self, INDEX_FILE};
use hippo_core::time::Timestamp;
use hippo_fs::{Kind, WorkspaceDir};
use hippo_store::StoreError;
use hippo_store::db::Store;
use hippo_store::shared_file::{SLOTS, SharedFile};

pub use replaced::old_key;
pub use versions::{Origin, same_header};
pub use write::Begun;

use super::index_path;
use super::merge::Because;
use crate::config;
use crate::verify::FileMark;
use blocks::Blocks;
use conflicts::Conflicts;
use replaced::Replaced;
use versions::Versions;
use words::Words;

/// The index file is not read above this size: it is one that stands in prompts.
const LARGEST: u64 = 4 << 20;
/// A file that cannot be written is tried again after this long.
const AGAIN: Duration = Duration::from_secs(30);

/// What is known of the index file.
#[derive(Debug, Default)]
pub struct IndexFile {
    /// What the daemon wrote or took over last; `None`: it never did, or the file was taken away.
    base: Option<Vec<u8>>,
    /// Versions before that, and that one: somebody may have one of them open.
    versions: Versions,
    /// What people wrote into entries that are out of it.
    pub blocks: Blocks,
    /// Edits of its text that were made in a version that is replaced, and that it does not have yet.
    pub words: Words,
    /// It was looked whether an earlier store left entries below `.hippocampus/`.
    looked_below: bool,
    /// The time that the header says of the last writing: no two writings have the same.
    stamped: Timestamp,
    /// What the last process left unfinished is done.
    recovered: bool,
    /// Where it stands, where its name is a link.
    real: Option<PathBuf>,
    /// When to look at it; `None`: when something is heard of it.
    look_at: Option<Instant>,
    missing_since: Option<Instant>,
    /// It changed while it was read, and is read again in a moment.
    unsettled: bool,
    /// What was replaced and may still be written to.
    replaced: Vec<Replaced>,
    /// Entries that went at once, and are kept until somebody says so.
    pub held: Vec<EntryId>,
    /// Why.
    pub because: Because,
    /// Somebody said that entries which went at once are meant to go; good for one look.
    pub accept_removals: bool,
    /// Why it is not read or not written.
    pub trouble: Option<Trouble>,
    /// The store may say something that the file does not say yet.
    pub unwritten: bool,
    /// Somebody edited the file: the lists in it may be of before that, and the next cycle brings them up to date.
    pub outdated: bool,
    /// What merges decided against the store.
    pub conflicts: Conflicts,
}

/// Why the index file is not as it should be, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
    /// It can be read, and not be written.
    writing: bool,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.what, self.fix)
    }
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
    /// Files of the memory.
    pub files: usize,
}

impl Now<'_> {
    /// How the index file is read and written.
    pub fn settings(&self) -> IndexFileOptions {
        IndexFileOptions {
            offset_seconds: self.offset_seconds,
            undated: self.now,
            entry_level: None,
        }
    }
}

/// What a look at the file found.
enum Look {
    /// Its bytes.
    Whole(Vec<u8>),
    Missing,
    /// It changes just now.
    Unsettled,
    /// It is not to be touched, and why.
    Blocked(Trouble),
}

impl IndexFile {
    /// What the last process knew, and what it left unfinished.
    pub fn load(store: &Store, at: Instant) -> Result<Self, StoreError> {
        let base = store.base(INDEX_FILE)?;
        let mut versions = Versions::load(store)?;
        if let Some(base) = &base {
            versions.note(&base.bytes, base.at);
        }
        Ok(Self {
            stamped: versions.stamped(),
            blocks: Blocks::load(store)?,
            words: Words::load(store)?,
            versions,
            // The last process may have been stopped between the store and the file.
            unwritten: base.is_some(),
            base: base.map(|base| base.bytes),
            look_at: Some(at),
            ..Self::default()
        })
    }

    /// What the daemon wrote or took over last.
    pub fn base(&self) -> Option<&[u8]> {
        self.base.as_deref()
    }

    /// Notes what the file says now.
    pub fn set_base(&mut self, bytes: Option<Vec<u8>>, now: Timestamp) {
        if let Some(bytes) = &bytes {
            self.note_version(bytes, now);
        }
        self.base = bytes;
    }

    /// Notes what the file said at some time.
    pub fn note_version(&mut self, bytes: &[u8], now: Timestamp) {
        self.versions.note(bytes, now);
    }

    /// The version that somebody changed into these bytes, where it is not `base`.
    pub fn version_of(&self, base: &[u8], bytes: &[u8]) -> Origin {
        let version = self.versions.of(base, bytes);
        version.map_or(Origin::Current, |version| Origin::Buffer(version.to_vec()))
    }

    /// Where bytes come from that stand in the file now.
    pub fn origin(&self, base: &[u8], bytes: &[u8], now: Now<'_>) -> Origin {
        self.versions.origin(base, bytes, now.now, now.settings())
    }

    /// Whether the file is left alone until somebody says what was meant.
    pub fn is_held(&self) -> bool {
        !self.held.is_empty() || self.because == Because::Words
    }

    /// Keeps what people wrote into entries of `before` that are not in `after`.
    pub fn keep_blocks(&mut self, before: &[u8], after: &[u8], settings: IndexFileOptions) {
        for (id, block) in layout::leaving_entries(before, after, settings) {
            self.blocks.keep(id, block);
        }
    }

    /// Nothing is held any more.
    pub fn let_go_of_held(&mut self) {
        self.held.clear();
        self.because = Because::default();
    }

    /// Something was heard of the file.
    pub fn look(&mut self, at: Instant) {
        let soon = self.look_at.map_or(at, |known| known.min(at));
        self.look_at = Some(soon);
    }

    /// Whether a path is that of the file, which may be a link.
    pub fn is_at(&self, root: &Path, path: &Path) -> bool {
        path == index_path(root) || self.real.as_deref() == Some(path)
    }

    /// When something is to be done next.
    pub fn due(&self) -> Option<Instant> {
        let settle = self.replaced.iter().map(|replaced| replaced.due);
        self.look_at.into_iter().chain(settle).min()
    }

    /// Whether it will be read or written in a moment, so that whoever wants to see it as it is should wait.
    pub fn is_behind(&self, at: Instant) -> bool {
        let waits = self.unsettled || self.missing_since.is_some();
        waits || self.look_at.is_some_and(|look| look <= at)
    }

    /// Tokens of the file, estimated.
    pub fn tokens(&self) -> u64 {
        self.base
            .as_ref()
            .map_or(0, |bytes| hippo_core::tokens::of_bytes(bytes.len()) as u64)
    }

    /// Notes why the file is left alone, and when to look again.
    fn block(&mut self, now: Now<'_>, trouble: Trouble) {
        if self.trouble.as_ref() != Some(&trouble) {
            tracing::warn!(root = %now.root.display(), "{trouble}");
        }
        self.trouble = Some(trouble);
        self.unwritten = true;
        self.look(now.at + AGAIN);
    }

    /// A slot for what is about to be replaced, if one is free.
    fn free_slot(&self) -> Option<u32> {
        (0..SLOTS).find(|slot| self.replaced.iter().all(|replaced| replaced.slot != *slot))
    }
}

/// The index file in its opened folder.
struct Meant {
    dir: WorkspaceDir,
    /// Where it is, relative to the root: where its name is a link, the file behind it.
    path: PathBuf,
    file: SharedFile,
}

/// Opens the folder of the index file: a link to another note of the workspace is followed, any other is not.
fn meant(root: &Path) -> Result<Meant, Trouble> {
    let opened = WorkspaceDir::open(root).and_then(|dir| {
        let path = dir.file_to_write(INDEX_FILE)?;
        let file = SharedFile::open(&dir, &path)?;
        Ok(Meant { dir, path, file })
    });
    opened.map_err(|error| match hippo_fs::refusal(&error) {
        Some(refusal) => unreadable(
            format!("{INDEX_FILE} cannot be used: {refusal}"),
            "put the file itself there, or set index.enabled = false",
        ),
        None if error.kind() == io::ErrorKind::NotFound && is_link(root) => unreadable(
            format!("{INDEX_FILE} is a link that leads nowhere ({error})"),
            "remove the link, and the index is written again",
        ),
        None => unreadable(
            format!("{INDEX_FILE} cannot be read: {error}"),
            "give hippod the right to read it",
        ),
    })
}

fn is_link(root: &Path) -> bool {
    let stat = WorkspaceDir::open(root).and_then(|dir| dir.stat(INDEX_FILE));
    stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == Kind::Link))
}

fn unreadable(what: String, fix: &str) -> Trouble {
    Trouble {
        what,
        fix: fix.to_owned(),
        writing: false,
    }
}

fn read(meant: &Meant) -> Look {
    let refused = |error: io::Error| {
        let what = format!("{INDEX_FILE} cannot be read: {error}");
        Look::Blocked(unreadable(what, "give hippod the right to read it"))
    };
    let (file, metadata) = match meant.dir.open_file(&meant.path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Look::Missing,
        Err(error) if hippo_fs::refusal(&error).is_some() => {
            return Look::Blocked(unreadable(
                format!("{INDEX_FILE} is no file: something else stands in its place"),
                "move it away, and the index is written again",
            ));
        }
        Err(error) => return refused(error),
    };
    if metadata.len() > LARGEST {
        let what = format!(
            "{INDEX_FILE} has {} bytes, more than the {LARGEST} that an index file may have; it is left as it is",
            metadata.len()
        );
        return Look::Blocked(unreadable(what, "shorten it, or move it away"));
    }
    let before = FileMark::of(&metadata);
    let mut bytes = Vec::new();
    match file.take(LARGEST).read_to_end(&mut bytes) {
        Ok(_) if bytes.contains(&0) => Look::Blocked(unreadable(
            format!("{INDEX_FILE} is no text: it has zero bytes; it is left as it is"),
            "move it away, and the index is written again",
        )),
        Ok(size) => match meant.dir.stat(&meant.path) {
            Ok(Some(after)) if FileMark::from(after) == before && size as u64 == after.size => {
                Look::Whole(bytes)
            }
            _ => Look::Unsettled,
        },
        Err(error) => refused(error),
    }
}
