//! Answers to queries from the entries of the index.
//!
//! A repeated query is recognized by its words. The entry that the earlier query created names the passages of the
//! earlier answer. If these are still on disk and no newer text matches the query, they answer it again. Other entries
//! are found by their words. In mode `index`, the answer contains the texts to which these entries point.

use std::collections::HashSet;
use std::sync::Arc;

use hippo_map::consolidation::{EntryRecord, LearnedAnswer};
use hippo_proto::{ErrorKind, RpcError, SearchMode, Strategy};
use hippo_rank::cue::Match;
use hippo_rank::idf;
use hippo_rank::rank::{Features, RankedChunk};
use hippo_types::entry::{EntryId, Pointer, StrengthBand};
use hippo_types::scope::Viewer;
use hippo_types::time::Timestamp;
use parking_lot::RwLockReadGuard;

use super::question::SearchQuestion;
use super::{SearchAnswer, SearchState, search_error};

use crate::files;
use crate::index::IndexView;
use crate::view::{SearchSnapshot, WorkspaceView};

/// Maximum number of matching entries of a query that are considered.
const LOOKED_AT: usize = 8;
/// Maximum number of matching entries whose pointers are followed in mode `index`.
const FOLLOWED: usize = 5;
/// Minimum share of the query's words, from 0 to 1, that an entry must cover to count as a match.
const WEAK: f32 = 0.4;
/// Maximum time in milliseconds until written text is searchable. An earlier answer may lack text that was written
/// within this time before it.
const BEHIND: i64 = 5_000;
/// Maximum number of newer chunks that are checked. For more chunks, a search is as fast as the check.
const MANY: usize = 20_000;

/// Minimum share of the total weight of the query's words, from 0 to 1, that a newer passage must contain to count as
/// news. The share is low, because news may repeat few words. For example, "it moved to port 9999" shares only one word
/// with "which port does staging use".
const NEWS: f32 = 1.0 / 3.0;

/// Way in which a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By the entries alone.
    Index,
    /// By a search, together with the entries.
    Both,
    /// By a search alone.
    Search,
}

/// Result of a lookup of entries for a query.
#[derive(Debug, Clone)]
pub struct EntryConsultation {
    /// The way in which the query is answered.
    pub route: Route,
    /// Reason for the choice of the route, for display.
    pub reason: &'static str,
    /// Matching entries with their strengths, best first. Silent entries are omitted.
    pub matches: Vec<(Match, Arc<EntryRecord>, f32)>,
    /// The entry that an earlier query with the same words created, and its strength.
    pub learned: Option<(Arc<EntryRecord>, f32)>,
    /// All entries, as they were at the time of the lookup.
    pub index: Arc<IndexView>,
}

/// Looks up entries for a query, and chooses the way in which it is answered.
///
/// # Errors
/// Returns `degraded` if the mode is `index` and the index is disabled.
pub fn consult(view: &WorkspaceView, question: &SearchQuestion) -> Result<EntryConsultation, RpcError> {
    let index = view.index();
    let mut consulted = EntryConsultation {
        route: Route::Search,
        reason: "the entries were not searched",
        matches: Vec::new(),
        learned: None,
        index: Arc::clone(&index),
    };
    let enabled = view.config.index.enabled;
    if question.mode == SearchMode::Index && !enabled {
        return Err(
            RpcError::new(ErrorKind::Degraded, "the index is disabled for this workspace")
                .hint("set `index.enabled = true` in the configuration, or use mode hybrid"),
        );
    }
    if !enabled || matches!(question.mode, SearchMode::Lexical | SearchMode::Vector) {
        return Ok(consulted);
    }
    let answers = |record: &EntryRecord| {
        let strength = index.strength(record, question.at);
        (StrengthBand::from_strength(strength) != StrengthBand::Silent).then_some(strength)
    };
    consulted.learned = index
        .learned(&question.cue())
        .filter(|_| question.may_be_learned())
        .and_then(|record| Some((Arc::clone(record), answers(record)?)));
    let by_index = question.mode == SearchMode::Index;
    let found = index.find(&question.terms, LOOKED_AT, by_index).into_iter();
    consulted.matches = found
        .filter_map(|(hit, record)| Some((hit, Arc::clone(record), answers(record)?)))
        .collect();
    let doubt = consulted
        .learned
        .as_ref()
        .map(|(record, strength)| doubt(record, *strength, question));
    (consulted.route, consulted.reason) = if question.mode == SearchMode::Index {
        (
            Route::Index,
            "mode index reads the text that the entries point at",
        )
    } else if let Some(doubt) = doubt {
        doubt.map_or((Route::Index, "the same query was answered before"), |reason| {
            (Route::Both, reason)
        })
    } else if consulted
        .matches
        .first()
        .is_some_and(|(hit, _, _)| hit.coverage >= WEAK)
    {
        (Route::Both, "entries match; a search verifies the entries")
    } else {
        (Route::Search, "no entry matches")
    };
    Ok(consulted)
}

impl EntryConsultation {
    /// Changes the route to a search together with the entries, because the entries cannot answer the query alone.
    pub fn verify(&mut self, why: &'static str) {
        self.route = Route::Both;
        self.reason = why;
    }

    fn learned_answer(&self) -> Option<&LearnedAnswer> {
        let (record, _) = self.learned.as_ref()?;
        record.learned.as_deref()
    }
}

/// Returns the reason why the entry that an earlier query with the same words created cannot answer the query alone;
/// `None` if it can.
fn doubt(record: &EntryRecord, strength: f32, question: &SearchQuestion) -> Option<&'static str> {
    if StrengthBand::from_strength(strength) < StrengthBand::Moderate {
        return Some("the entry for the same query has a strength below 0.5: a search verifies the entry");
    }
    if question.filter.is_set() || question.request.min_score.is_some() {
        return Some("the query has a filter, which the entries cannot answer: hippod searched instead");
    }
    let learned = record.learned.as_deref();
    let full = learned.is_some_and(|learned| suffices(learned, question));
    (!full).then_some(
        "the entry for the same query stores fewer passages than requested: a search verifies the entry",
    )
}

/// Returns whether the remembered answer contains enough passages for the request.
fn suffices(learned: &LearnedAnswer, question: &SearchQuestion) -> bool {
    let budget = question.request.budget_tokens;
    let full = match (question.request.limit, budget) {
        (None, Some(budget)) => learned.tokens * 5 >= u64::from(budget) * 4,
        _ => learned.passages.len() >= question.limit,
    };
    full || learned.all
}

impl SearchState {
    /// Answers the query from the entries alone. The inner error is the reason why this is not possible.
    pub(super) fn by_entries(&self) -> Result<Result<SearchAnswer, &'static str>, RpcError> {
        let snapshot = self.view.snapshot();
        if let Some(learned) = self.consulted.learned_answer() {
            let remembered = remembered(&snapshot, learned, &self.question.filter.viewer);
            let whole = remembered.len() == learned.passages.len();
            let newer = self
                .is_newer_told(&snapshot, learned.at, learned.generation)
                .map_err(|error| search_error(&self.searcher, &self.view, error))?;
            if whole && !newer {
                let answered = self.collect(snapshot, &remembered, None, None, false);
                if !answered.gone && !answered.response.results.is_empty() {
                    return Ok(Ok(answered));
                }
                if self.question.mode != SearchMode::Index {
                    return Ok(Err(
                        "the text of the earlier answer to the same query has changed: a search verifies the \
                         answer",
                    ));
                }
                return self.follow(self.view.snapshot()).map(Ok);
            }
            if self.question.mode != SearchMode::Index {
                return Ok(Err(if whole {
                    "a newer text matches the same query: a search verifies the earlier answer"
                } else {
                    "the text of the earlier answer to the same query no longer exists: a search verifies \
                     the answer"
                }));
            }
        }
        self.follow(snapshot).map(Ok)
    }

    /// Answers with the texts to which the matching entries point. If a pointer has no target, adds a note and the
    /// results of a search.
    fn follow(&self, snapshot: RwLockReadGuard<'_, SearchSnapshot>) -> Result<SearchAnswer, RpcError> {
        let (ranked, empty) = self.pointed(&snapshot)?;
        let answered = self.collect(snapshot, &ranked, None, None, false);
        // If the index has no text for a pointer, check on disk whether its target exists. If the text of a ranked
        // chunk is gone, check the targets of all pointers.
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
                format!(
                    "the entry {id} points to {shown}, which no longer exists: results of a search were added"
                )
            })
            .collect();
        if stale.is_empty() {
            return Ok(answered);
        }
        let snapshot = self.view.snapshot();
        let (mut ranked, _) = self.pointed(&snapshot)?;
        let known: HashSet<u32> = ranked.iter().map(|hit| hit.chunk).collect();
        let found = self.rank(&snapshot, None, Some(&|chunk| !known.contains(&chunk)))?;
        ranked.extend(found);
        let mut answered = self.collect(snapshot, &ranked, None, None, false);
        answered.response.strategy = Strategy::Hybrid;
        answered.response.notes.extend(stale);
        Ok(answered)
    }

    /// Returns the chunks to which the matching entries point, best first, and all pointers of these entries. The flag
    /// of a pointer is true if the index has no text for it.
    #[allow(clippy::type_complexity, reason = "only one function uses this type")]
    fn pointed(
        &self,
        snapshot: &SearchSnapshot,
    ) -> Result<(Vec<RankedChunk>, Vec<(EntryId, Pointer, bool)>), RpcError> {
        let matches = self.consulted.matches.iter().take(FOLLOWED);
        let mut pointers = Vec::new();
        let mut told: Vec<HashSet<u32>> = Vec::new();
        for (_, record, _) in matches {
            let mut chunks = HashSet::new();
            for pointer in &record.entry.pointers {
                let there = chunks_of(snapshot, std::slice::from_ref(pointer));
                pointers.push((record.entry.id.clone(), pointer.clone(), there.is_empty()));
                chunks.extend(there);
            }
            told.push(chunks);
        }
        let within = |chunk: u32| told.iter().any(|chunks| chunks.contains(&chunk));
        let mut ranked = self.rank(snapshot, None, Some(&within))?;
        // Chunks of the best entry without a word of the query are added at the end, in file order.
        if let Some(best) = told.first() {
            let known: HashSet<u32> = ranked.iter().map(|hit| hit.chunk).collect();
            let mut rest: Vec<u32> = best
                .iter()
                .copied()
                .filter(|chunk| !known.contains(chunk))
                .collect();
            rest.retain(|chunk| self.question.filter.passes(snapshot, *chunk));
            rest.sort_by_key(|chunk| {
                let place = snapshot.spans.get(*chunk as usize).copied().flatten();
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

    /// Returns whether a document that was written or indexed after the earlier answer matches the query.
    fn is_newer_told(
        &self,
        snapshot: &SearchSnapshot,
        since: Timestamp,
        generation: u64,
    ) -> Result<bool, hippo_store::StoreError> {
        let since = since.0.saturating_sub(BEHIND).saturating_mul(1_000_000);
        let newer = snapshot
            .facts
            .iter()
            .filter(|(document, _)| snapshot.scope(**document).is_shared())
            // A new file may have an old modification time, so text that was indexed later counts as newer as well.
            .filter(|(_, facts)| facts.mark.mtime_ns >= since || facts.generation > generation);
        let newer: Vec<u32> = newer.map(|(document, _)| *document).collect();
        let documents = newer
            .iter()
            .filter_map(|document| snapshot.corpus.document(*document));
        let chunks: Vec<u32> = documents
            .flat_map(|document| document.chunks().iter().copied())
            .collect();
        if chunks.is_empty() {
            return Ok(false);
        }
        if chunks.len() > MANY {
            return Ok(true);
        }
        let lists = self.question.postings(&self.view, snapshot)?;
        let all = snapshot.corpus.len() as u64;
        // A rare word has more weight than a common word. A word that does not occur has no weight.
        let weight = |list: &Arc<[u32]>| f32::from(!list.is_empty()) * idf(all, list.len() as u64);
        let weights: Vec<f32> = lists.iter().map(weight).collect();
        let least = NEWS * weights.iter().sum::<f32>();
        let tells = |chunk: &u32| {
            let words = lists.iter().zip(&weights);
            let there = words.filter(|(list, _)| list.binary_search(chunk).is_ok());
            let weight: f32 = there.map(|(_, weight)| weight).sum();
            weight > 0.0 && weight >= least
        };
        let known: HashSet<[u8; 16]> = self
            .consulted
            .learned_answer()
            .into_iter()
            .flat_map(|learned| &learned.passages)
            .map(|passage| passage.hash)
            .collect();
        // A passage of the earlier answer is not news, even if its file has changed.
        let news = |chunk: &u32| {
            let span = snapshot.spans.get(*chunk as usize).copied().flatten();
            span.is_some_and(|span| !known.contains(&span.hash.0))
        };
        Ok(chunks.iter().any(|chunk| tells(chunk) && news(chunk)))
    }
}

/// Returns the current chunks of the remembered passages that still exist.
fn remembered(snapshot: &SearchSnapshot, learned: &LearnedAnswer, viewer: &Viewer) -> Vec<RankedChunk> {
    let paths: HashSet<&str> = learned
        .passages
        .iter()
        .map(|passage| passage.path.as_str())
        .collect();
    let documents: std::collections::HashMap<&str, &[u32]> = snapshot
        .documents(viewer)
        .filter(|(_, document)| paths.contains(&*document.path))
        .map(|(_, document)| (&*document.path, document.chunks()))
        .collect();
    let passages = learned.passages.iter().zip(&learned.scores);
    let chunks = passages.filter_map(|(passage, score)| {
        let chunk = documents.get(passage.path.as_str())?.iter().find(|chunk| {
            let span = snapshot.spans.get(**chunk as usize).copied().flatten();
            span.is_some_and(|span| span.hash.0 == passage.hash)
        })?;
        Some(by_place(*chunk, *score))
    });
    chunks.collect()
}

fn by_place(chunk: u32, score: f32) -> RankedChunk {
    RankedChunk {
        chunk,
        score,
        lexical: None,
        vector: None,
        copies: 0,
        explain: Features::default(),
    }
}

/// Returns the chunks to which pointers point: those of a section and its subsections, or of a whole file.
fn chunks_of(snapshot: &SearchSnapshot, pointers: &[Pointer]) -> HashSet<u32> {
    let mut chunks = HashSet::new();
    for (row, document) in snapshot.corpus.documents() {
        for pointer in pointers.iter().filter(|pointer| *pointer.path == *document.path) {
            let Some(title) = &pointer.section else {
                chunks.extend(document.chunks());
                continue;
            };
            let Some(facts) = snapshot.facts.get(&row) else {
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
                let place = snapshot.corpus.place(**chunk);
                place.is_some_and(|place| inside.get(place.section as usize).copied().unwrap_or(false))
            });
            chunks.extend(of_it);
        }
    }
    chunks
}
