//! Source files of context entries: entries follow their files, or become stale.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use hippo_context::capture::{self, CaptureInput};
use hippo_context::complete::{self, CapturedPart};
use hippo_context::lifecycle::{EntryFile, SessionEntry};
use hippo_proto::folder::Trust;
use hippo_proto::{RpcError, Viewer};
use hippo_store::contexts::{ContentId, ContentPrefix, ContextReader, ContextStore, Lookup, SessionRow};
use hippo_text::chunk;
use hippo_types::context::ContextEntry;
use hippo_types::scope::Scope;
use serde_json::{Map, Value};

use super::session::Sessions;
use super::{Contexts, now, owner, policies, refusal};
use crate::files;
use crate::view::WorkspaceView;

/// Maximum size in bytes of a source that is read again, so that the response fits into one line.
const LARGEST: u64 = 8 << 20;

/// A reader of source files for the agent of a session.
#[derive(Clone)]
pub struct SourceReader<'a> {
    view: &'a WorkspaceView,
    agent: Viewer,
}

/// Summary and key data of a text.
type Description = (String, Option<Map<String, Value>>);
/// Function that extracts the description of an entry from a text; `None` if a policy excludes the text.
type Describe<'a> = &'a dyn Fn(&ContextEntry, &str) -> Option<Description>;

/// Returns the file that an entry was created from, if the file contains the content. `extracted` is true if hippod
/// extracted the summary and the key data.
pub fn source_file(
    reader: &SourceReader<'_>,
    entry: &ContextEntry,
    content: &[u8],
    extracted: bool,
) -> Option<EntryFile> {
    let (metadata, source) = reader.read(&path_of(entry).ok()?).ok()?;
    let part = complete::compare(&source, content)?;
    Some(EntryFile {
        followed: extracted && part == CapturedPart::Whole,
        ..stamp(&metadata)
    })
}

/// Returns the current text of an entry's source.
///
/// # Errors
/// Returns the reason why the source cannot be read, as text.
pub fn source_now(reader: &SourceReader<'_>, entry: &ContextEntry) -> Result<Vec<u8>, String> {
    let path = path_of(entry)?;
    match reader.read(&path) {
        Ok((_, bytes)) => Ok(bytes),
        Err(error) => Err(format!("{}: {error}", reader.view.root.join(&path).display())),
    }
}

/// Compares the entries of an open session with their source files, and stores the entries that change. If they cannot
/// be stored, they change only in memory.
///
/// # Errors
/// Fails if the entries could not be read.
pub fn refresh(
    contexts: &Contexts,
    view: &WorkspaceView,
    (store, sessions): (&mut ContextStore, &mut Sessions),
    session: &str,
) -> Result<(), RpcError> {
    let row = store.read().session(session).map_err(refusal)?;
    let reader = SourceReader::new(view, row.as_ref());
    let entries = sessions.entries(store, session)?;
    let differing = (0..entries.kept.len()).filter(|at| differs(&reader, &entries.kept[*at]).is_some());
    let differing: Vec<usize> = differing.collect();
    if differing.is_empty() {
        return Ok(());
    }
    let (rules, _) = policies::read(&view.root, &Trust::of(&contexts.state, &view.root));
    let settings = view.config.context.capture();
    let describe = |entry: &ContextEntry, text: &str| {
        if text.trim().is_empty() {
            return Some(("The file is empty.".to_owned(), None));
        }
        let put = CaptureInput {
            kind: Some(entry.kind),
            source_type: &entry.source.kind,
            source_ref: &entry.source.reference,
            turn: entry.source.turn,
            content: text,
            persist: Some(true),
            ..CaptureInput::default()
        };
        // A policy may exclude the new text.
        let made = capture::capture(&put, &rules, &settings).entry?;
        Some((made.summary, made.key_data))
    };
    let mut changed = Vec::new();
    for at in differing {
        let mut kept = entries.kept[at].clone();
        let stored = stored(store.read(), entries.contents[at].0);
        if check(&reader, &mut kept, stored, Some(&describe)) {
            entries.replace(at, kept.clone());
            changed.push(kept);
        }
    }
    if let Err(error) = store.update_entries(&changed, now(contexts)) {
        tracing::warn!(%error, "could not store entries whose files have changed");
    }
    Ok(())
}

/// Marks an entry of a closed session as stale if its source file has changed since the session was closed.
pub fn mark(
    reader: &SourceReader<'_>,
    store: &ContextReader,
    kept: &mut SessionEntry,
    content: Option<ContentId>,
) {
    check(reader, kept, stored(store, content), None);
}

/// Returns a function that reads the stored content of an entry.
fn stored(reader: &ContextReader, content: Option<ContentId>) -> impl Fn() -> Option<Vec<u8>> {
    move || match reader.content(ContentPrefix::from(content?)) {
        Ok(Lookup::Kept(content)) => Some(content.bytes),
        _ => None,
    }
}

/// Compares an entry with its source file. Returns whether the entry has changed. If `describe` is given, an entry that
/// follows its file gets the description of the current text, or of the stored content if the file is gone.
fn check(
    reader: &SourceReader<'_>,
    kept: &mut SessionEntry,
    stored: impl Fn() -> Option<Vec<u8>>,
    describe: Option<Describe<'_>>,
) -> bool {
    let Some((path, current)) = differs(reader, kept) else {
        return false;
    };
    let before = kept.clone();
    let source = reader.read(&path).ok().map(|(_, bytes)| bytes);
    // Without need, the stored content of an entry that follows its file is not read.
    let stored = if current.followed && source.is_some() {
        None
    } else {
        stored()
    };
    let is_same = |source: &Vec<u8>| {
        stored
            .as_ref()
            .is_some_and(|stored| complete::compare(source, stored).is_some())
    };
    kept.file = Some(current);
    kept.entry.source.stale = match &source {
        None => true,
        // The summary of an entry that followed its file may describe a later text than the stored one.
        Some(source) => current.followed || !is_same(source),
    };
    kept.entry.source.retrievable = source.is_some() || stored.is_some();
    let is_there = source.is_some();
    let text = source.or(stored).filter(|_| current.followed);
    if let (Some(describe), Some(text)) = (describe, text)
        && let Some(new) = describe(&kept.entry, &String::from_utf8_lossy(&text))
    {
        (kept.entry.summary, kept.entry.key_data) = new;
        kept.entry.source.stale = !is_there;
    }
    *kept != before
}

/// Returns the source file of an entry and its current state, if the state differs from the recorded one.
fn differs(reader: &SourceReader<'_>, kept: &SessionEntry) -> Option<(PathBuf, EntryFile)> {
    let (recorded, path) = (kept.file?, path_of(&kept.entry).ok()?);
    // The state of a missing file has the size 0 and the time 0.
    let current = reader
        .open(&path)
        .map_or_else(|_| EntryFile::default(), |(_, metadata)| stamp(&metadata));
    let current = EntryFile {
        followed: recorded.followed,
        ..current
    };
    (current != recorded).then_some((path, current))
}

/// Returns whether `context.fetch` returns the current file: always in an open session, and in a closed one as long as
/// the file is unchanged.
pub fn follows_source(reader: &SourceReader<'_>, kept: &SessionEntry, is_open: bool) -> bool {
    kept.file.is_some_and(|file| file.followed) && (is_open || differs(reader, kept).is_none())
}

fn path_of(entry: &ContextEntry) -> Result<PathBuf, String> {
    complete::source_path(&entry.source.kind, &entry.source.reference)
        .map(|path| PathBuf::from(path.as_ref()))
        .ok_or_else(|| format!("a source of type {} cannot be read again", entry.source.kind))
}

impl<'a> SourceReader<'a> {
    /// Creates a reader for the agent to which a session belongs.
    pub fn new(view: &'a WorkspaceView, session: Option<&SessionRow>) -> Self {
        let agent = session.map(owner).unwrap_or_default();
        Self { view, agent }
    }

    /// Opens a file. A file of the workspace that the agent may not read counts as missing.
    fn open(&self, path: &Path) -> io::Result<(std::fs::File, Metadata)> {
        let root = &self.view.root;
        let whole = root.join(path);
        let Ok(below) = whole.strip_prefix(root) else {
            return files::open(&whole);
        };
        self.check(&self.view.scope_of_path(&below.to_string_lossy()))?;
        hippo_fs::WorkspaceDir::open(root)?.open_source(below)
    }

    /// Reads a text file and its metadata.
    fn read(&self, path: &Path) -> io::Result<(Metadata, Vec<u8>)> {
        let (file, metadata) = self.open(path)?;
        let bytes = hippo_fs::read_all((file, metadata.clone()), LARGEST)?;
        if std::str::from_utf8(&bytes).is_err() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a text file"));
        }
        if let Ok(below) = self.view.root.join(path).strip_prefix(&self.view.root) {
            let place = self.view.scope_of_path(&below.to_string_lossy());
            self.check(&chunk::scope_restriction(&bytes).apply(place))?;
        }
        Ok((metadata, bytes))
    }

    fn check(&self, scope: &Scope) -> io::Result<()> {
        match self.agent.sees(scope) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Returns the size and the time of the last change of a file.
fn stamp(metadata: &Metadata) -> EntryFile {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    EntryFile {
        size: metadata.len(),
        modified_ns: modified.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)),
        followed: false,
    }
}
