//! Entries of the files that only one agent may read.
//!
//! These entries are made for each request and stored nowhere, because everything that is made from the stored entries
//! is shared: the index file, the reports of cycles and the answers to earlier questions.

use std::collections::BTreeMap;

use hippo_map::bootstrap::{self, BootstrapSettings, MemoryFile};
use hippo_map::consolidation::EntryRecord;
use hippo_map::decay;
use hippo_text::chunk::{self, Document};
use hippo_text::source::SourceKind;
use hippo_types::entry::EntryId;
use hippo_types::scope::{AgentId, Viewer};
use hippo_types::time::Timestamp;

use crate::index::IndexView;
use crate::view::WorkspaceView;

/// Maximum number of files that are read, the latest first.
const FILES: usize = 300;

struct OwnFile {
    path: String,
    modified: Timestamp,
    bytes: Vec<u8>,
    document: Document,
}

/// Returns the entries of the files that only `agent` may read.
pub fn entries(view: &WorkspaceView, agent: &AgentId, now: Timestamp) -> IndexView {
    let files = read(view, agent);
    let files: Vec<MemoryFile<'_>> = files
        .iter()
        .map(|file| MemoryFile {
            path: &file.path,
            kind: SourceKind::from_path(&file.path),
            document: &file.document,
            bytes: &file.bytes,
            modified: file.modified,
            known: false,
        })
        .collect();
    let shared = view.index();
    let settings = BootstrapSettings {
        now,
        taken: shared
            .records()
            .iter()
            .map(|record| record.entry.id.clone())
            .collect(),
        ..BootstrapSettings::default()
    };
    let profile = view.config.index.profile();
    let made = bootstrap::bootstrap(&files, &settings).into_iter().map(|made| {
        let mut record = EntryRecord::new(made.entry, &made.group);
        record.strength = decay::strength_at(&profile, &record.entry, now);
        (record.entry.id.clone(), record)
    });
    let records: BTreeMap<EntryId, EntryRecord> = made.collect();
    IndexView::after(&IndexView::default(), &records, profile)
}

/// Reads the files that only `agent` may read. Leaves out files that have changed since they were indexed.
fn read(view: &WorkspaceView, agent: &AgentId) -> Vec<OwnFile> {
    let viewer = Viewer(Some(agent.clone()));
    let scope = viewer.own_scope();
    let snapshot = view.snapshot();
    let own = snapshot.scopes.iter().filter(|(_, found)| **found == scope);
    let mut own: Vec<(i64, String)> = own
        .filter_map(|(id, _)| {
            let path = snapshot.corpus.document(*id)?.path.to_string();
            Some((snapshot.facts.get(id)?.mark.mtime_ns, path))
        })
        .collect();
    drop(snapshot);
    own.sort_by(|(one, path), (other, name)| other.cmp(one).then_with(|| path.cmp(name)));
    own.truncate(FILES);
    let limit = view.config.sources.max_file_bytes;
    let read = own.into_iter().filter_map(|(mtime_ns, path)| {
        let bytes = hippo_fs::read_source(&view.root, &path, limit).ok()?;
        let document = chunk::chunk(&bytes);
        let place = view.scopes.of_path(&path);
        // A link has been resolved when the file was indexed. The front matter may have changed since.
        let now = document.front_matter.restriction.clone().apply(place);
        viewer.sees(&now).then_some(OwnFile {
            path,
            modified: Timestamp(mtime_ns / 1_000_000),
            bytes,
            document,
        })
    });
    read.collect()
}
