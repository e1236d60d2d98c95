//! Text of a workspace that leaves the machine.

use std::collections::BTreeMap;

use hippo_fs::WorkspaceDir;
use hippo_redact::redact;
use hippo_share::device::DeviceKey;
use hippo_share::record::{LocalPassage, OutgoingDocument, WorkspaceIdentity, prepare};
use hippo_text::chunk::{ContentHash, Speaker};

use crate::verify::{ChunkSpan, FileMark};
use crate::view::{SearchSnapshot, WorkspaceView};

/// The documents of a workspace that the team may read, by path.
pub type LocalDocuments = BTreeMap<String, LocalDocument>;

/// A document of the local index.
#[derive(Debug, Clone)]
pub struct LocalDocument {
    /// Digest of everything that is published.
    pub digest: [u8; 32],
    /// Size and time of the file when it was indexed.
    mark: FileMark,
    model: Option<String>,
    chunks: Vec<LocalChunk>,
}

#[derive(Debug, Clone)]
struct LocalChunk {
    id: u32,
    span: ChunkSpan,
    heading: Vec<String>,
    day: Option<String>,
    speaker: Speaker,
    has_vector: bool,
}

/// Returns whether the team may read documents with this path. Hidden folders contain copies of transcripts and files of
/// other programs, and a path may contain a secret.
fn is_fit(path: &str) -> bool {
    !path.split('/').any(|part| part.starts_with('.')) && redact(path) == path
}

/// Lists the documents of a workspace that the team may read.
pub fn list(view: &WorkspaceView, key: &DeviceKey) -> LocalDocuments {
    let snapshot = view.snapshot();
    let documents = snapshot.corpus.documents();
    let is_shared = |id: u32, path: &str| snapshot.scope(id).is_shared() && is_fit(path);
    let shared = documents.filter(|(id, document)| is_shared(*id, &document.path));
    shared
        .filter_map(|(id, document)| {
            let chunks = document.chunks().iter();
            let chunks: Vec<LocalChunk> = chunks
                .filter_map(|chunk| local_chunk(&snapshot, id, *chunk))
                .collect();
            let model = snapshot.model.as_ref().map(ToString::to_string);
            let document_digest = digest(key, model.as_deref(), &chunks);
            let local = LocalDocument {
                digest: document_digest,
                mark: snapshot.facts.get(&id)?.mark,
                model,
                chunks,
            };
            Some((document.path.to_string(), local))
        })
        .collect()
}

fn local_chunk(snapshot: &SearchSnapshot, document: u32, chunk: u32) -> Option<LocalChunk> {
    let place = snapshot.corpus.place(chunk)?;
    Some(LocalChunk {
        id: chunk,
        span: snapshot.spans.get(chunk as usize).copied().flatten()?,
        heading: snapshot.heading_path(document, place.section),
        day: snapshot.corpus.date(place).map(|date| date.to_string()),
        speaker: place.speaker,
        has_vector: snapshot.vectors.contains(chunk),
    })
}

fn digest(key: &DeviceKey, model: Option<&str>, chunks: &[LocalChunk]) -> [u8; 32] {
    let mut digest = key.digest();
    for chunk in chunks {
        let ChunkSpan {
            start_line,
            end_line,
            hash,
            ..
        } = chunk.span;
        let model = model.filter(|_| chunk.has_vector);
        let facts = (
            start_line,
            end_line,
            hash.0,
            &chunk.heading,
            &chunk.day,
            chunk.speaker,
            model,
        );
        digest.update(format!("{facts:?}").as_bytes());
    }
    *digest.finalize().as_bytes()
}

/// Reads, redacts and signs a document. Returns `None` if the file has changed since it was indexed: the document is
/// published when it is indexed again.
pub fn read(
    view: &WorkspaceView,
    (key, team, workspace): (&DeviceKey, &str, &WorkspaceIdentity),
    (path, document): (&str, &LocalDocument),
) -> Option<OutgoingDocument> {
    let dir = WorkspaceDir::open(&view.root).ok()?;
    let (file, metadata) = dir.open_source(path).ok()?;
    // In a changed file, the front matter may have made the text private.
    if FileMark::of(&metadata) != document.mark {
        return None;
    }
    let limit = view.config.sources.max_file_bytes;
    let bytes = hippo_fs::to_utf8(hippo_fs::read_all((file, metadata), limit).ok()?);
    let ids: Vec<u32> = document.chunks.iter().map(|chunk| chunk.id).collect();
    let vectors = view
        .with_reader(|reader| reader.vectors(&ids))
        .unwrap_or_default();
    let mut vectors = vectors.into_iter();
    let passages = document.chunks.iter().map(|chunk| {
        let span = chunk.span;
        let range = usize::try_from(span.start_byte).ok()?..usize::try_from(span.end_byte).ok()?;
        let text = bytes.get(range)?;
        if ContentHash::of(text) != span.hash {
            return None;
        }
        let vector = vectors.next().flatten().filter(|_| chunk.has_vector);
        Some(LocalPassage {
            lines: (span.start_line, span.end_line),
            heading: chunk.heading.clone(),
            day: chunk.day.clone(),
            speaker: chunk.speaker,
            text: String::from_utf8_lossy(text).into_owned(),
            vector: document.model.clone().zip(vector),
        })
    });
    let passages = passages.collect::<Option<Vec<LocalPassage>>>()?;
    let whole = String::from_utf8_lossy(&bytes);
    Some(prepare(
        key,
        team,
        workspace,
        (path, document.digest),
        &whole,
        passages,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_files_and_paths_with_secrets_are_never_published() {
        for path in [
            ".hippocampus/sessions/a.md",
            "memory/.draft/a.md",
            "knowledge/ghp_16C7e42F292c6912E7710c838347Ae178B4a.md",
        ] {
            assert!(!is_fit(path), "{path}");
        }
        assert!(is_fit("memory/2026-03-02.md") && is_fit("MEMORY.md"));
    }
}
