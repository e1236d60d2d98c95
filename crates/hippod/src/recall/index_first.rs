//! Do the index entries answer a question, alone or together with a search?
//!
//! A question that was asked before is known by its words, and the passages that answered it are read again, as long as
//! they stand on disk and nothing written since speaks of the same. Other entries are matched by their words: what they
//! point at is read for mode `index`.

mod doubt;

use std::collections::HashSet;
use std::sync::{Arc, RwLockReadGuard};

use hippo_core::consolidation::{Learned, Record};
use hippo_core::decay::StrengthBand;
use hippo_core::entry::{EntryId, Pointer};
use hippo_core::retrieval::cue::Match;
use hippo_core::retrieval::idf;
use hippo_core::retrieval::rank::{Features, Ranked};
use hippo_core::time::Timestamp;
use hippo_proto::{ErrorKind, Mode, RpcError, Strategy};

use super::question::Question;
use super::{Answered, Recall, refused};
use doubt::doubt;

use crate::files;
use crate::index::IndexView;
use crate::view::{Picture, WorkspaceView};

/// Entries that are looked at.
const LOOKED_AT: usize = 8;
/// Entries of which mode `index` reads what they point at.
const FOLLOWED: usize = 5;
/// From this coverage on an entry counts as a match that a search verifies.
const WEAK: f32 = 0.4;
/// File systems and the engine are this much behind, in milliseconds: what was written shortly before a question was
/// answered may have been missed by it.
const BEHIND: i64 = 5_000;
/// More chunks than these are not looked through for something newer: a search is as fast.
const MANY: usize = 20_000;

/// A passage with this share of what the words of a question weigh may be news of what is asked: "it moved to port 9999"
/// has little more than the port of "which port does staging use".
const NEWS: f32 = 1.0 / 3.0;

/// Which way a question takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The entries alone.
    Index,
    /// A search, with what the entries say.
    Both,
    /// A search alone.
    Search,
}

/// What the entries say to a question.
#[derive(Debug, Clone)]
pub struct Consulted {
    /// The way that it takes.
    pub route: Route,
    /// Why, for people.
    pub reason: &'static str,
    /// Entries that it names and that are not silent, the best first, with their strengths.
    pub matches: Vec<(Match, Arc<Record>, f32)>,
    /// The entry that the same question made.
    pub learned: Option<(Arc<Record>, f32)>,
    /// All entries as they were then.
    pub index: Arc<IndexView>,
}

/// Asks the entries.
///
/// # Errors
/// `degraded` where the entries alone are to answer and there is no index.
pub fn consult(view: &WorkspaceView, question: &Question) -> Result<Consulted, RpcError> {
    let index = view.index();
    let mut consulted = Consulted {
        route: Route::Search,
        reason: "the entries were not asked",
        matches: Vec::new(),
        learned: None,
        index: Arc::clone(&index),
    };
    let enabled = view.config.index.enabled;
    if question.mode == Mode::Index && !enabled {
        return Err(RpcError::new(
            ErrorKind::Degraded,
            "the index is switched off for this workspace",
        )
        .hint("set index.enabled = true in the configuration, or use mode hybrid"));
    }
    if !enabled || matches!(question.mode, Mode::Lexical | Mode::Vector) {
        return Ok(consulted);
    }
    let answers = |record: &Record| {
        let strength = index.strength(record, question.at);
        (StrengthBand::from_strength(strength) != StrengthBand::Silent).then_some(strength)
    };
    consulted.learned = index
        .learned(&question.cue())
        .and_then(|record| Some((Arc::clone(record), answers(record)?)));
    let by_index = question.mode == Mode::Index;
    let found = index.find(&question.terms, LOOKED_AT, by_index).into_iter();
    consulted.matches = found
        .filter_map(|(hit, record)| Some((hit, Arc::clone(record), answers(record)?)))
        .collect();
    let doubt = consulted
        .learned
        .as_ref()
        .map(|(record, strength)| doubt(record, *strength, question));
    (consulted.route, consulted.reason) = if question.mode == Mode::Index {
        (Route::Index, "mode index reads what the entries point at")
    } else if let Some(doubt) = doubt {
        doubt.map_or(
            (Route::Index, "the same question was answered before"),
            |reason| (Route::Both, reason),
        )
    } else if consulted
        .matches
        .first()
        .is_some_and(|(hit, _, _)| hit.coverage >= WEAK)
    {
        (Route::Both, "entries match, and a search verifies them")
    } else {
        (Route::Search, "no entry matches")
    };
    Ok(consulted)
}

impl Consulted {
    /// The entries have no answer of their own.
    pub fn verify(&mut self, why: &'static str) {
        self.route = Route::Both;
        self.reason = why;
    }
}

impl Recall<'_> {
    /// Answers from the entries alone, or says why they cannot.
    pub(super) fn by_entries(&self) -> Result<Result<Answered, &'static str>, RpcError> {
        let picture = self.view.picture();
        let learned = self.consulted.learned.as_ref();
        let learned = learned.and_then(|(record, _)| record.learned.as_deref());
        if let Some(learned) = learned {
            let remembered = remembered(&picture, learned);
            let whole = remembered.len() == learned.passages.len();
            let newer = self
                .is_newer_told(&picture, learned.at, learned.generation)
                .map_err(|error| refused(self.shared, self.view, error))?;
            if whole && !newer {
                let answered = self.collect(picture, &remembered, false);
                if !answered.gone && !answered.response.results.is_empty() {
                    return Ok(Ok(answered));
                }
                if self.question.mode != Mode::Index {
                    return Ok(Err(
                        "what answered the same question has changed: a search verifies it",
                    ));
                }
                return self.follow(self.view.picture()).map(Ok);
            }
            if self.question.mode != Mode::Index {
                return Ok(Err(if whole {
                    "something newer tells of the same: a search verifies it"
                } else {
                    "what answered the same question is not there any more: a search verifies it"
                }));
            }
        }
        self.follow(picture).map(Ok)
    }

    /// Reads what the matched entries point at. Where a pointer leads nowhere, the answer says so, and a search has the rest.
    fn follow(&self, picture: RwLockReadGuard<'_, Picture>) -> Result<Answered, RpcError> {
        let (ranked, empty) = self.pointed(&picture)?;
        let answered = self.collect(picture, &ranked, false);
        // The disk is asked where the index has nothing, or something that does not stand there any more.
        let doubted: Vec<&(EntryId, Pointer, bool)> = empty
            .iter()
            .filter(|(_, _, empty)| *empty || answered.gone)
            .collect();
        let limit = self.view.config.sources.max_file_bytes;
        let stale: Vec<String> = doubted
            .into_iter()
            .filter(|(_, pointer, _)| !files::leads_somewhere(&self.view.root, pointer, limit))
            .map(|(id, pointer, _)| {
                let shown = pointer.to_string();
                format!("the entry {id} points at {shown}, where nothing is now: a search answers with it")
            })
            .collect();
        if stale.is_empty() {
            return Ok(answered);
        }
        let picture = self.view.picture();
        let (mut ranked, _) = self.pointed(&picture)?;
        let known: HashSet<u32> = ranked.iter().map(|hit| hit.chunk).collect();
        let found = self.rank(&picture, None, Some(&|chunk| !known.contains(&chunk)))?;
        ranked.extend(found);
        let mut answered = self.collect(picture, &ranked, false);
        answered.response.strategy = Strategy::Hybrid;
        answered.response.notes.extend(stale);
        Ok(answered)
    }

    /// What the matched entries point at, ranked, and their pointers: whether the index has nothing there.
    #[allow(clippy::type_complexity, reason = "read at one place")]
    fn pointed(&self, picture: &Picture) -> Result<(Vec<Ranked>, Vec<(EntryId, Pointer, bool)>), RpcError> {
        let matches = self.consulted.matches.iter().take(FOLLOWED);
        let mut pointers = Vec::new();
        let mut told: Vec<HashSet<u32>> = Vec::new();
        for (_, record, _) in matches {
            let mut chunks = HashSet::new();
            for pointer in &record.entry.pointers {
                let there = chunks_of(picture, std::slice::from_ref(pointer));
                pointers.push((record.entry.id.clone(), pointer.clone(), there.is_empty()));
                chunks.extend(there);
            }
            told.push(chunks);
        }
        let within = |chunk: u32| told.iter().any(|chunks| chunks.contains(&chunk));
        let mut ranked = self.rank(picture, None, Some(&within))?;
        // Where no word leads to a passage, the section of the best entry is read from its beginning.
        if let Some(best) = told.first() {
            let known: HashSet<u32> = ranked.iter().map(|hit| hit.chunk).collect();
            let mut rest: Vec<u32> = best
                .iter()
                .copied()
                .filter(|chunk| !known.contains(chunk))
                .collect();
            rest.retain(|chunk| self.question.filter.passes(picture, *chunk));
            rest.sort_by_key(|chunk| {
                let place = picture.spans.get(*chunk as usize).copied().flatten();
                place.map_or(u32::MAX, |span| span.start_line)
            });
            ranked.extend(
                rest.into_iter()
                    .take(self.question.limit)
                    .map(|chunk| by_place(chunk, 0.0)),
            );
        }
        Ok((ranked, pointers))
    }

    /// Whether a document that was written since tells of a part of what is asked.
    fn is_newer_told(
        &self,
        picture: &Picture,
        since: Timestamp,
        generation: u64,
    ) -> Result<bool, hippo_store::StoreError> {
        let since = since.0.saturating_sub(BEHIND).saturating_mul(1_000_000);
        let newer = picture
            .facts
            .iter()
            // A file may come with an old time: what came to the index since then is newer as well.
            .filter(|(_, facts)| facts.mark.mtime_ns >= since || facts.generation > generation);
        let newer: Vec<u32> = newer.map(|(document, _)| *document).collect();
        let documents = newer
            .iter()
            .filter_map(|document| picture.corpus.document(*document));
        let chunks: Vec<u32> = documents
            .flat_map(|document| document.chunks().iter().copied())
            .collect();
        if chunks.is_empty() {
            return Ok(false);
        }
        if chunks.len() > MANY {
            return Ok(true);
        }
        let lists = self.question.postings(self.view, picture)?;
        let all = picture.corpus.len() as u64;
        // A rare word says more of what is asked than a common one, and one that stands nowhere says nothing.
        let weight = |list: &Arc<[u32]>| f32::from(!list.is_empty()) * idf(all, list.len() as u64);
        let weights: Vec<f32> = lists.iter().map(weight).collect();
        let least = NEWS * weights.iter().sum::<f32>();
        let tells = |chunk: &u32| {
            let words = lists.iter().zip(&weights);
            let there = words.filter(|(list, _)| list.binary_search(chunk).is_ok());
            let weight: f32 = there.map(|(_, weight)| weight).sum();
            weight > 0.0 && weight >= least
        };
        let learned = self
            .consulted
            .learned
            .as_ref()
            .and_then(|(record, _)| record.learned.as_deref());
        let known: HashSet<[u8; 16]> = learned
            .into_iter()
            .flat_map(|learned| &learned.passages)
            .map(|passage| passage.hash)
            .collect();
        // What answered then is no news, even in a file that grew since.
        let news = |chunk: &u32| {
            let span = picture.spans.get(*chunk as usize).copied().flatten();
            span.is_some_and(|span| !known.contains(&span.hash.0))
        };
        Ok(chunks.iter().any(|chunk| tells(chunk) && news(chunk)))
    }
}

/// The passages as chunks of now, those that are there.
fn remembered(picture: &Picture, learned: &Learned) -> Vec<Ranked> {
    let paths: HashSet<&str> = learned
        .passages
        .iter()
        .map(|passage| passage.path.as_str())
        .collect();
    let documents: std::collections::HashMap<&str, &[u32]> = picture
        .corpus
        .documents()
        .filter(|(_, document)| paths.contains(&*document.path))
        .map(|(_, document)| (&*document.path, document.chunks()))
        .collect();
    let passages = learned.passages.iter().zip(&learned.scores);
    let chunks = passages.filter_map(|(passage, score)| {
        let chunk = documents.get(passage.path.as_str())?.iter().find(|chunk| {
            let span = picture.spans.get(**chunk as usize).copied().flatten();
            span.is_some_and(|span| span.hash.0 == passage.hash)
        })?;
        Some(by_place(*chunk, *score))
    });
    chunks.collect()
}

fn by_place(chunk: u32, score: f32) -> Ranked {
    Ranked {
        chunk,
        score,
        lexical: None,
        vector: None,
        explain: Features::default(),
    }
}

/// The chunks of the sections that pointers name, with those below them.
fn chunks_of(picture: &Picture, pointers: &[Pointer]) -> HashSet<u32> {
    let mut chunks = HashSet::new();
    for (row, document) in picture.corpus.documents() {
        for pointer in pointers.iter().filter(|pointer| *pointer.path == *document.path) {
            let Some(title) = &pointer.section else {
                chunks.extend(document.chunks());
                continue;
            };
            let Some(facts) = picture.facts.get(&row) else {
                continue;
            };
            let mut inside = vec![false; facts.sections.len()];
            for (at, section) in facts.sections.iter().enumerate() {
                let above = section
                    .parent
                    .is_some_and(|parent| inside.get(parent as usize).copied().unwrap_or(false));
                inside[at] = above || section.title == *title;
            }
            let of_it = document.chunks().iter().filter(|chunk| {
                let place = picture.corpus.place(**chunk);
                place.is_some_and(|place| inside.get(place.section as usize).copied().unwrap_or(false))
            });
            chunks.extend(of_it);
        }
    }
    chunks
}
