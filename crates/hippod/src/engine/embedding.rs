//! Which texts go to the model next, and what becomes of the vectors that come back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_core::chunk::{ContentHash, text};
use hippo_store::StoreError;
use hippo_store::db::{EmbedderRow, Embedding};
use hippo_store::vector::VectorIndex;

use super::Engine;
use super::patch;
use super::workspace::Workspace;
use crate::embed_worker::{EmbedEvent, Job, Passage};
use crate::verify::{FileMark, Span};

/// Text of one job, in bytes: some tenths of a second of work, so that vectors are stored often and an edit that is
/// waiting comes soon.
const JOB_BYTES: usize = 8_000;
/// A short run takes this much text of its neighbours along, in bytes on either side: about what fits into one pass
/// of the model with it.
const NEIGHBOUR_BYTES: usize = 400;
/// A run of any length takes this much of the text before it along, in bytes: its first vectors know what came before.
const LEAD_BYTES: usize = 150;
/// After a refused write (disk full, say) nothing is embedded for this long.
const RETRY: Duration = Duration::from_secs(5);

impl Engine {
    /// Takes what the embed worker says.
    pub(super) fn embedded(&mut self, event: EmbedEvent, now: Instant) {
        match event {
            EmbedEvent::Done {
                workspace,
                mut embeddings,
            } => {
                let Some(workspace) = self.workspaces.get_mut(&workspace) else {
                    return;
                };
                let stored = workspace
                    .take_vectors(&mut embeddings, now)
                    .and_then(|()| workspace.finish_change_of_model());
                match stored {
                    Ok(true) => tracing::info!(root = %workspace.root.display(), "the new model answers"),
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(%error, "could not store vectors; they are made again");
                        workspace.trouble = Some(error);
                        workspace.pending.blocked_until = Some(now + RETRY);
                    }
                }
            }
            EmbedEvent::Refused { workspace } => {
                if let Some(workspace) = self.workspaces.get_mut(&workspace) {
                    workspace.job_refused();
                }
            }
            EmbedEvent::State(state) => {
                if state.is_usable() {
                    for workspace in self.workspaces.values_mut() {
                        workspace.pending.blocked = false;
                    }
                }
            }
        }
    }
}

/// A chunk of the document at hand.
#[derive(Debug, Clone, Copy)]
struct Placed {
    chunk: u32,
    section: u32,
    span: Span,
}

impl Workspace {
    /// Reads from the database which chunks have no vector of `embedder`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn set_embedder(&mut self, embedder: EmbedderRow) -> Result<(), StoreError> {
        self.pending = super::workspace::Pending::default();
        for waiting in self.store.pending(&embedder)? {
            self.pending.add(waiting.document, [waiting.id], false);
        }
        self.embedder = Some(embedder);
        Ok(())
    }

    /// The next job for the embed worker, if any chunk waits.
    pub fn next_job(&mut self, now: Instant) -> Option<Job> {
        let model: Arc<str> = self.embedder.as_ref()?.model.as_str().into();
        loop {
            let document = self.next_document()?;
            let waiting = self.pending.documents.get(&document)?.clone();
            let Some((path, places, mark)) = self.describe(document) else {
                self.pending.documents.remove(&document);
                continue;
            };
            let limit = self.view.config.sources.max_file_bytes;
            let bytes = hippo_fs::read_source(&self.root, &path, limit).unwrap_or_default();
            let hash = ContentHash::of(&bytes).0;
            if self
                .known
                .get(&path)
                .is_none_or(|known| known.hash != hash || known.mark != mark)
            {
                // Changed or gone since it was indexed: ingesting it again brings what waits up to date.
                self.pending.documents.remove(&document);
                self.mark_dirty(path, now);
                continue;
            }
            let (passages, taken) = passages(&bytes, &places, &waiting, |section| {
                self.view.picture().heading_path(document, section).join(" > ")
            });
            self.pending.forget(document, &taken);
            self.pending.in_flight.push_back(taken);
            return Some(Job {
                workspace: self.key,
                model,
                passages,
            });
        }
    }

    fn next_document(&mut self) -> Option<u32> {
        while let Some(document) = self.pending.hot.pop_front() {
            if self.pending.documents.contains_key(&document) {
                self.pending.hot.push_front(document);
                return Some(document);
            }
        }
        self.pending.documents.keys().next().copied()
    }

    fn describe(&self, document: u32) -> Option<(String, Vec<Placed>, FileMark)> {
        let picture = self.view.picture();
        let place = picture.corpus.document(document)?;
        let mark = picture.facts.get(&document)?.mark;
        let placed = place.chunks().iter().filter_map(|chunk| {
            let section = picture.corpus.place(*chunk)?.section;
            let span = picture.spans.get(*chunk as usize).copied().flatten()?;
            Some(Placed {
                chunk: *chunk,
                section,
                span,
            })
        });
        Some((place.path.to_string(), placed.collect(), mark))
    }

    /// Stores the vectors of the oldest job and makes them searchable.
    ///
    /// # Errors
    /// See [`StoreError`]; the chunks wait again then.
    pub fn take_vectors(&mut self, embeddings: &mut [Embedding], now: Instant) -> Result<(), StoreError> {
        let job = self.pending.in_flight.pop_front().unwrap_or_default();
        let Some(embedder) = self.embedder.clone() else {
            return Ok(());
        };
        let placed = match self.store.put_vectors(&embedder, embeddings) {
            Ok(placed) => placed,
            Err(error) => {
                self.wait_again(job);
                return Err(error);
            }
        };
        self.trouble = None;
        self.unsaved = true;
        self.last_write = now;
        let mut picture = self.view.picture_mut();
        for place in &placed {
            let embedding = &embeddings[place.position];
            patch::insert_vectors(&mut picture, &[(place.id, embedding.vector.clone())]);
            if let Some(tokens) = picture.tokens.get_mut(place.id as usize) {
                *tokens = embedding.tokens;
            }
        }
        // The same text may wait in other places too: all of them have their vector now.
        let documents: Vec<(u32, u32)> = placed
            .iter()
            .filter_map(|place| Some((picture.corpus.place(place.id)?.document, place.id)))
            .collect();
        drop(picture);
        for (document, chunk) in documents {
            self.pending.forget(document, &[chunk]);
        }
        Ok(())
    }

    /// The oldest job was refused: its chunks wait again.
    pub fn job_refused(&mut self) {
        let job = self.pending.in_flight.pop_front().unwrap_or_default();
        self.wait_again(job);
        self.pending.blocked = true;
    }

    fn wait_again(&mut self, chunks: Vec<u32>) {
        for chunk in chunks {
            let document = self
                .view
                .picture()
                .corpus
                .place(chunk)
                .map(|place| place.document);
            if let Some(document) = document {
                self.pending.add(document, [chunk], false);
            }
        }
    }

    /// When the vectors of a new model are complete, it answers from now on. Answers whether that happened.
    ///
    /// # Errors
    /// See [`StoreError`]; the old model goes on answering then.
    pub fn finish_change_of_model(&mut self) -> Result<bool, StoreError> {
        let Some(embedder) = self.embedder.clone() else {
            return Ok(false);
        };
        if embedder.active || self.pending.len() > 0 || !self.dirty.is_empty() {
            return Ok(false);
        }
        // Files that were indexed meanwhile asked for vectors of the old model's rows: look once more.
        self.set_embedder(embedder.clone())?;
        if self.pending.len() > 0 {
            return Ok(false);
        }
        // Queries go on with the old vectors while the new ones are read.
        let mut vectors = VectorIndex::new(embedder.dimension);
        self.store.for_each_vector_of(&embedder, |chunk, vector| {
            if let Err(error) = vectors.insert(chunk, vector) {
                tracing::warn!(chunk, %error, "could not index a vector");
            }
        })?;
        let mut picture = self.view.picture_mut();
        self.store.activate(&embedder)?;
        picture.vectors = vectors;
        picture.model = Some(embedder.model.as_str().into());
        drop(picture);
        self.embedder = Some(EmbedderRow {
            active: true,
            ..embedder
        });
        self.unsaved = true;
        Ok(true)
    }
}

/// Cuts a document's waiting chunks into passages of one section each, with neighbours where a run is short.
/// Answers the passages and the chunks whose vectors they will bring.
fn passages(
    bytes: &[u8],
    places: &[Placed],
    waiting: &BTreeSet<u32>,
    heading: impl Fn(u32) -> String,
) -> (Vec<Passage>, Vec<u32>) {
    let (mut passages, mut taken, mut size) = (Vec::new(), Vec::new(), 0);
    let mut at = 0;
    while at < places.len() && size < JOB_BYTES {
        if !waiting.contains(&places[at].chunk) {
            at += 1;
            continue;
        }
        let section = places[at].section;
        let mut end = at;
        let mut run = 0;
        while end < places.len()
            && places[end].section == section
            && waiting.contains(&places[end].chunk)
            && (end == at || size + run < JOB_BYTES)
        {
            run += length(&places[end].span);
            end += 1;
        }
        let beside = NEIGHBOUR_BYTES.saturating_sub(run / 2);
        let from = widen(places, at, beside.max(LEAD_BYTES), |index| index.checked_sub(1));
        let to = widen(places, end - 1, beside, |index| {
            Some(index + 1).filter(|next| *next < places.len())
        });
        let mut passage = Passage {
            context: heading(section),
            texts: Vec::new(),
            wanted: Vec::new(),
            hashes: Vec::new(),
        };
        for (index, place) in places.iter().enumerate().take(to + 1).skip(from) {
            passage.texts.push(visible(bytes, &place.span));
            passage.wanted.push((at..end).contains(&index));
            passage.hashes.push(place.span.hash.0);
        }
        taken.extend(places[at..end].iter().map(|place| place.chunk));
        passages.push(passage);
        size += run;
        at = end;
    }
    (passages, taken)
}

/// Goes from `index` over neighbours of its section, as far as there is room, in bytes.
fn widen(
    places: &[Placed],
    mut index: usize,
    mut room: usize,
    step: impl Fn(usize) -> Option<usize>,
) -> usize {
    let section = places[index].section;
    while let Some(next) = step(index) {
        let place = &places[next];
        if place.section != section || length(&place.span) > room {
            break;
        }
        room -= length(&place.span);
        index = next;
    }
    index
}

fn length(span: &Span) -> usize {
    usize::try_from(span.end_byte.saturating_sub(span.start_byte)).unwrap_or(usize::MAX)
}

fn visible(bytes: &[u8], span: &Span) -> String {
    let from = usize::try_from(span.start_byte).unwrap_or(usize::MAX);
    let to = usize::try_from(span.end_byte).unwrap_or(usize::MAX);
    let text = String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default());
    text::visible(&text).into_owned()
}
