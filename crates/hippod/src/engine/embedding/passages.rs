//! Splitting of a document part into passages for the model.

use std::collections::{BTreeSet, HashSet};

use hippo_text::chunk::text;

use super::JOB_BYTES;
use crate::embed_worker::Passage;
use crate::verify::{ChunkSpan, FileMark};

/// Maximum size in bytes of the text that is added as context on each side of a short sequence of chunks without
/// vectors. The model can process about this much text in one pass.
const NEIGHBOUR_BYTES: usize = 400;
/// Maximum size in bytes of the preceding text that is added as context to every sequence of chunks without vectors,
/// also to a long one.
const LEAD_BYTES: usize = 150;

/// The part of a document from which a job is created.
pub(super) struct JobWindow {
    pub path: String,
    pub mark: FileMark,
    pub places: Vec<PlacedChunk>,
    /// Index after the last chunk that the job may embed.
    pub end: usize,
}

/// Bytes of a file, beginning at an offset.
pub(super) struct FileBytes {
    pub start: u64,
    pub bytes: Vec<u8>,
}

impl FileBytes {
    pub fn of(&self, span: &ChunkSpan) -> &[u8] {
        let at = |byte: u64| usize::try_from(byte.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.bytes
            .get(at(span.start_byte)..at(span.end_byte))
            .unwrap_or_default()
    }
}

/// A chunk of the current document.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedChunk {
    pub chunk: u32,
    pub section: u32,
    pub span: ChunkSpan,
}

/// Splits the chunks in `waiting`, which have no vectors yet, into passages for the model. Each passage lies within one
/// section, and a short passage includes neighbouring chunks as context. `asked` contains the hashes of the texts that
/// earlier jobs already embed; these texts are not requested again. Returns the passages, and all chunks that receive
/// their vectors from these passages or from earlier jobs.
pub(super) fn passages(
    part: &FileBytes,
    places: &[PlacedChunk],
    waiting: &BTreeSet<u32>,
    asked: &mut HashSet<[u8; 16]>,
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
        taken.extend(places[at..end].iter().map(|place| place.chunk));
        let wanted: Vec<bool> = places[at..end]
            .iter()
            .map(|place| asked.insert(place.span.hash.0))
            .collect();
        if wanted.contains(&true) {
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
                passage.texts.push(visible(part.of(&place.span)));
                let of_run = index.checked_sub(at).and_then(|index| wanted.get(index));
                passage.wanted.push(of_run.is_some_and(|wanted| *wanted));
                passage.hashes.push(place.span.hash.0);
            }
            passages.push(passage);
            size += run;
        }
        at = end;
    }
    (passages, taken)
}

/// Extends a passage from the chunk at `index` in the direction of `step`, by chunks of the same section with at most
/// `room` bytes in total. Returns the index of the last chunk.
fn widen(
    places: &[PlacedChunk],
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

pub(super) fn length(span: &ChunkSpan) -> usize {
    usize::try_from(span.end_byte.saturating_sub(span.start_byte)).unwrap_or(usize::MAX)
}

fn visible(bytes: &[u8]) -> String {
    text::strip_comments(&String::from_utf8_lossy(bytes)).into_owned()
}
