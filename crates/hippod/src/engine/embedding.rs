//! Selection of texts to embed, and storage of vectors.

mod passages;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_fs::FileContent;
use hippo_store::StoreError;
use hippo_store::db::{EmbedderRow, Embedding};
use hippo_store::vector::VectorIndex;
use hippo_text::chunk::ContentHash;

use super::Resources;
use super::patch;
use super::reading::open_source;
use super::workspace::Workspace;
use crate::embed_worker::{EmbedJob, ModelPhase};
use crate::verify::FileMark;
use passages::{FileBytes, JobWindow, PlacedChunk, length, passages};

/// Returns the state of the model that embeds a workspace.
pub(super) fn model_state(resources: &Resources, workspace: &Workspace) -> ModelPhase {
    match &workspace.embedder {
        Some(embedder) => resources.embed.state_of(&embedder.model),
        None => resources.models.state_of(&workspace.view.config.embed.model),
    }
}

/// Size of the text of one job in bytes. The model needs a few tenths of a second for a job, so vectors are stored
/// often and a new edit does not wait long.
const JOB_BYTES: usize = 8_000;
/// Maximum number of chunks in a job. Only files with very short chunks reach this limit.
const JOB_CHUNKS: usize = 2_048;
/// Maximum number of neighbouring chunks on each side of a job that may be added as context.
const MOST_BESIDE: usize = 8;
/// Maximum number of chunks that receive a vector in one transaction.
const PLACED_AT_ONCE: usize = 512;
/// Delay before embedding continues after a rejected write, for example on a full disk.
const RETRY: Duration = Duration::from_secs(5);

impl Workspace {
    /// Sets the embedder, and reads from the database which chunks lack a vector of this embedder.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn set_embedder(&mut self, embedder: EmbedderRow) -> Result<(), StoreError> {
        self.pending = super::workspace::PendingChunks::default();
        for waiting in self.store.pending_chunks(&embedder)? {
            self.pending.add(waiting.document, [waiting.id], false);
        }
        if self.pending.len() > 0 {
            let unplaced = self.store.unplaced_vectors(&embedder)?;
            self.pending.to_place = unplaced.into_iter().map(|vector| (vector, None)).collect();
        }
        self.embedder = Some(embedder);
        Ok(())
    }

    /// Returns the next job for the embed worker, or `None` if no chunk waits.
    pub fn next_job(&mut self, now: Instant) -> Option<EmbedJob> {
        let model: Arc<str> = self.embedder.as_ref()?.model.as_str().into();
        if !self.pending.to_place.is_empty() {
            // Create no job yet: some waiting chunks may be about to receive a vector that is already stored.
            return None;
        }
        loop {
            let Some(document) = self.next_document() else {
                self.pending.converted = None;
                return None;
            };
            let mut waiting = self.pending.documents.remove(&document)?;
            let Some(JobWindow {
                path,
                mark,
                places,
                end,
            }) = self.window(document, &waiting)
            else {
                continue;
            };
            let Some(bytes) = self.read_window(&path, mark, &places) else {
                // The file changed or disappeared after it was indexed.
                self.pending.unread.insert(document, waiting);
                self.mark_dirty(path, now);
                continue;
            };
            let (passages, taken) = passages(&bytes, &places, &waiting, &mut self.pending.asked, |section| {
                self.view.snapshot().heading_path(document, section).join(" > ")
            });
            self.pending.cursor = (document, end);
            let under_way = passages.is_empty() && !self.pending.in_flight.is_empty();
            if !passages.is_empty() || under_way {
                for chunk in &taken {
                    waiting.remove(chunk);
                }
            } else {
                self.pending.asked.clear();
            }
            if !waiting.is_empty() {
                self.pending.documents.insert(document, waiting);
            }
            if passages.is_empty() {
                // An earlier job already contains the texts of these chunks.
                if let Some(job) = self.pending.in_flight.back_mut().filter(|_| under_way) {
                    job.extend(taken);
                }
                continue;
            }
            self.pending.in_flight.push_back(taken.into_iter().collect());
            return Some(EmbedJob {
                workspace: self.key,
                model,
                passages,
            });
        }
    }

    fn next_document(&mut self) -> Option<u32> {
        while let Some(document) = self.pending.hot.front().copied() {
            if self.pending.documents.contains_key(&document) {
                return Some(document);
            }
            self.pending.hot.pop_front();
        }
        self.pending.documents.keys().next().copied()
    }

    /// Returns the part of a document for the next job: its next waiting chunks, with neighbouring chunks on both
    /// sides.
    fn window(&self, document: u32, waiting: &BTreeSet<u32>) -> Option<JobWindow> {
        let snapshot = self.view.snapshot();
        let place = snapshot.corpus.document(document)?;
        let mark = snapshot.facts.get(&document)?.mark;
        let chunks = place.chunks();
        let from = match self.pending.cursor {
            (at, position) if at == document => position.min(chunks.len()),
            _ => 0,
        };
        let mut order = (from..chunks.len()).chain(0..from);
        let first = order.find(|index| waiting.contains(&chunks[*index]))?;
        let placed = |index: usize| {
            let chunk = chunks[index];
            let section = snapshot.corpus.place(chunk)?.section;
            let span = snapshot.spans.get(chunk as usize).copied().flatten()?;
            Some(PlacedChunk { chunk, section, span })
        };
        let mut places: Vec<PlacedChunk> = (first.saturating_sub(MOST_BESIDE)..first)
            .filter_map(placed)
            .collect();
        let (mut bytes, mut end) = (0, first);
        while end < chunks.len() && end - first < JOB_CHUNKS && bytes < JOB_BYTES {
            if let Some(place) = placed(end) {
                if waiting.contains(&place.chunk) && !self.pending.asked.contains(&place.span.hash.0) {
                    bytes += length(&place.span);
                }
                places.push(place);
            }
            end += 1;
        }
        places.extend((end..chunks.len()).take(MOST_BESIDE).filter_map(placed));
        let path = place.path.to_string();
        Some(JobWindow {
            path,
            mark,
            places,
            end,
        })
    }

    /// Reads the bytes of a file from the first of the given chunks to the last. Returns `None` if the file differs
    /// from its indexed state.
    fn read_window(&mut self, path: &str, mark: FileMark, places: &[PlacedChunk]) -> Option<FileBytes> {
        let (file, metadata) = open_source(&self.root, path).ok()?;
        if FileMark::of(&metadata) != mark || self.known.get(path).is_none_or(|known| known.mark != mark) {
            return None;
        }
        let start = places.iter().map(|place| place.span.start_byte).min()?;
        let end = places.iter().map(|place| place.span.end_byte).max()?;
        let at = |byte: u64| usize::try_from(byte).ok();
        let is_same = |(of, then, _): &(String, FileMark, FileContent)| of == path && *then == mark;
        let converted = self.pending.converted.take().filter(is_same);
        let mut content = match converted {
            Some((.., content)) => content,
            None => FileContent::of(file).ok()?,
        };
        let range = at(start)?..at(end)?;
        let read = |content: &FileContent| {
            let bytes = content.read(range.clone()).ok()?;
            let part = FileBytes { start, bytes };
            let same = |place: &PlacedChunk| ContentHash::of(part.of(&place.span)) == place.span.hash;
            places.iter().all(same).then_some(part)
        };
        let found = read(&content).or_else(|| content.convert().then(|| read(&content)).flatten());
        if matches!(content, FileContent::Converted(_)) {
            self.pending.converted = Some((path.to_owned(), mark, content));
        }
        found
    }

    /// Stores the vectors of the oldest job, and queues each vector for assignment to the chunks that contain the
    /// embedded text.
    pub fn take_vectors(&mut self, embeddings: Vec<Embedding>, now: Instant) {
        let job = self.pending.in_flight.pop_front().unwrap_or_default();
        let Some(embedder) = self.embedder.clone() else {
            return;
        };
        for embedding in &embeddings {
            self.pending.asked.remove(&embedding.hash);
        }
        if self.pending.in_flight.is_empty() {
            // Allow another attempt for texts that the model rejected.
            self.pending.asked.clear();
        }
        match self.store.put_vectors(&embedder, embeddings) {
            Ok(stored) => {
                self.trouble = None;
                let stored = stored.into_iter().map(|vector| (vector, None));
                self.pending.to_place.extend(stored);
                self.pending.placing.extend(job);
                self.pending.placed();
            }
            Err(error) => {
                self.wait_again(job);
                self.vectors_refused(error, now);
            }
        }
    }

    /// Pauses embedding after the store rejected vectors.
    pub fn vectors_refused(&mut self, error: StoreError, now: Instant) {
        tracing::warn!(%error, "could not store vectors; they will be computed again");
        self.trouble = Some(error);
        self.pending.blocked_until = Some(now + RETRY);
    }

    /// Assigns the next stored vector to some of the chunks that contain its text, so that a search by meaning finds
    /// these chunks.
    ///
    /// # Errors
    /// See [`StoreError`]; the remaining chunks are assigned later.
    pub fn place_some(&mut self, now: Instant) -> Result<(), StoreError> {
        let Some((vector, after)) = self.pending.to_place.front() else {
            return Ok(());
        };
        let placed = self.store.place_vector(vector, *after, PLACED_AT_ONCE)?;
        self.last_write = now;
        let mut snapshot = self.view.picture_mut();
        let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for id in &placed {
            patch::insert_vectors(&mut snapshot, &[(*id, vector.embedding.vector.clone())]);
            if let Some(tokens) = snapshot.tokens.get_mut(*id as usize) {
                *tokens = vector.embedding.tokens;
            }
            if let Some(place) = snapshot.corpus.place(*id) {
                of.entry(place.document).or_default().push(*id);
            }
        }
        drop(snapshot);
        if placed.len() < PLACED_AT_ONCE {
            self.pending.to_place.pop_front();
            self.pending.placed();
        } else if let Some(next) = self.pending.to_place.front_mut() {
            next.1 = placed.last().copied();
        }
        // These chunks have a vector now, so remove them from the waiting chunks and from the jobs.
        for (document, chunks) in of {
            self.pending.forget(document, &chunks);
        }
        Ok(())
    }

    /// Returns the chunks of the oldest job to the waiting list after the model rejected the job.
    pub fn job_refused(&mut self) {
        let job = self.pending.in_flight.pop_front().unwrap_or_default();
        self.wait_again(job);
        self.pending.blocked = true;
    }

    fn wait_again(&mut self, chunks: HashSet<u32>) {
        self.pending.asked.clear();
        for chunk in chunks {
            let document = self
                .view
                .snapshot()
                .corpus
                .place(chunk)
                .map(|place| place.document);
            if let Some(document) = document {
                self.pending.add(document, [chunk], false);
            }
        }
    }

    /// Switches queries to a new model once all of its vectors are stored. Returns whether it switched.
    ///
    /// # Errors
    /// See [`StoreError`]. After an error, queries keep using the old model.
    pub fn finish_change_of_model(&mut self) -> Result<bool, StoreError> {
        let Some(embedder) = self.embedder.clone() else {
            return Ok(false);
        };
        if embedder.active || self.pending.len() > 0 || !self.dirty.is_empty() {
            return Ok(false);
        }
        // Files that were indexed in the meantime requested vectors of the old model. Read again which vectors are
        // missing.
        self.set_embedder(embedder.clone())?;
        if self.pending.len() > 0 {
            return Ok(false);
        }
        // Queries keep using the old vectors while the new ones are loaded.
        let mut vectors = VectorIndex::new(embedder.dimension);
        self.store.for_each_vector_of(&embedder, |chunk, vector| {
            if let Err(error) = vectors.insert(chunk, vector) {
                tracing::warn!(chunk, %error, "could not index a vector");
            }
        })?;
        let mut snapshot = self.view.picture_mut();
        self.store.activate(&embedder)?;
        snapshot.vectors = vectors;
        snapshot.model = Some(embedder.model.as_str().into());
        drop(snapshot);
        self.embedder = Some(EmbedderRow {
            active: true,
            ..embedder
        });
        Ok(true)
    }
}
