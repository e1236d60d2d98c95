//! Conversion of ranked chunks into search results.

use std::collections::BTreeMap;

use hippo_map::consolidation::PassageKey;
use hippo_map::truth::{AMONG, DatedText, find_superseded, order_latest_first, own_date};
use hippo_proto::{LoggedPassage, Origin, Scores, SearchHit, SearchRequest};
use hippo_rank::collapse::AnswerTexts;
use hippo_rank::corpus::{ChunkPlace, SectionPlace};
use hippo_rank::floor::{GOOD, has_all_words, is_weak};
use hippo_rank::pack::Packer;
use hippo_rank::rank::{Features, RankedChunk};
use hippo_rank::rerank::{FEATURES, FeatureValues};
use hippo_text::chunk::{ContentHash, Speaker, text};
use hippo_text::terms::QueryTerm;
use hippo_types::scope::Scope;

use super::question::SearchQuestion;
use super::shared::drop_corrected;
use crate::verify::{ChunkSpan, FileMark, VerifiedHit};
use crate::view::SearchSnapshot;

/// A ranked chunk with the data that the snapshot in memory contains about it.
#[derive(Debug)]
pub struct ChunkHit {
    /// Path of the document that contains the chunk.
    pub path: String,
    /// Size and time of the file when it was indexed.
    pub mark: FileMark,
    /// Location of the chunk in the file.
    pub span: ChunkSpan,
    /// The chunk with its score.
    pub ranked: RankedChunk,
    /// Score of the first ranking.
    pub first_score: f32,
    /// Position of the chunk in the corpus.
    pub position: ChunkPlace,
    /// Passage of the chunk.
    pub passage: SectionPlace,
    /// Features of the second ranking.
    pub second_features: Option<FeatureValues>,
    /// Headings above the chunk, outermost first.
    pub heading: Vec<String>,
    /// Date of the chunk.
    pub date: Option<String>,
    /// Scope of the text.
    pub scope: Scope,
    /// Number of tokens; 0 if no model has counted them.
    pub tokens: u32,
    /// Origin of a passage from outside the workspace.
    pub origin: Option<Origin>,
}

impl ChunkHit {
    /// Returns the score.
    pub fn score(&self) -> f32 {
        self.ranked.score
    }

    /// Lowers the score to `largest`.
    pub fn limit_score(&mut self, largest: f32) {
        self.ranked.score = self.ranked.score.min(largest);
    }
}

/// A result with facts that only the daemon needs.
#[derive(Debug, Clone)]
pub struct CollectedHit {
    /// The result in the form of the protocol.
    pub hit: SearchHit,
    /// Key by which a remembered answer names the passage.
    pub passage: PassageKey,
    /// True if the first ranking considers the result good, or if an earlier answer contained it.
    pub is_good: bool,
    /// Author of the passage.
    speaker: Speaker,
    /// True if both rankings consider the result weak.
    is_weak: bool,
    /// Score of the first ranking; `None` for a result of an earlier answer.
    first_score: Option<f32>,
}

/// Collector of results. It receives hits in rank order, and keeps those within the limit and the budget.
pub struct Collector {
    /// Maximum number of results in the answer.
    limit: usize,
    packer: Packer,
    explain: bool,
    min_score: f32,
    said: AnswerTexts,
    results: Vec<CollectedHit>,
    estimated: bool,
    /// Number of tokens in the first verified hit; `None` if there was none.
    found: Option<u32>,
    /// Hits that the answer does not contain, with the reasons.
    dropped: Vec<LoggedPassage>,
}

impl Collector {
    /// Creates a collector for one request.
    pub fn new(request: &SearchRequest, limit: usize) -> Self {
        Self {
            limit,
            // With a small limit, more hits are collected, so that the latest of equally good hits is found.
            packer: Packer::new(limit.max(AMONG), request.budget_tokens.map(u64::from)),
            explain: request.explain,
            min_score: request.min_score.unwrap_or(0.0),
            said: AnswerTexts::default(),
            results: Vec::new(),
            estimated: false,
            found: None,
            dropped: Vec::new(),
        }
    }

    /// Records the reason why the answer does not contain a hit.
    pub fn drop_hit(&mut self, place: &ChunkHit, line: u32, outcome: &str) {
        self.dropped.push(LoggedPassage {
            place: format!("{}:{line}", place.path),
            score: place.ranked.score,
            lexical: place.ranked.lexical,
            vector: place.ranked.vector,
            outcome: outcome.to_owned(),
            superseded_by: None,
        });
    }

    /// Returns whether all results are weak: their scores are low, and none contains all words of the query.
    pub fn is_irrelevant(&self, terms: &[QueryTerm]) -> bool {
        let is_irrelevant = |collected: &CollectedHit| {
            let hit = &collected.hit;
            let text = || format!("{} {} {}", hit.path, hit.heading.join(" "), hit.text);
            collected.is_weak && !has_all_words(terms, &text())
        };
        !self.results.is_empty() && self.results.iter().all(is_irrelevant)
    }

    /// Returns the ranked chunks with their data. Chunks that are no longer in the snapshot are omitted.
    pub fn places(&self, snapshot: &SearchSnapshot, ranked: &[RankedChunk]) -> Vec<ChunkHit> {
        ranked
            .iter()
            .filter_map(|ranked| locate_hit(snapshot, ranked))
            .collect()
    }

    /// Returns whether the limit on collected hits is reached.
    pub fn is_full(&self) -> bool {
        self.packer.is_full()
    }

    /// Adds a hit, whose text has been verified on disk, if it fits into the budget and is not a duplicate.
    pub fn take(&mut self, place: ChunkHit, verified: VerifiedHit) {
        let line = verified.start_line;
        if place.ranked.score < self.min_score {
            return self.drop_hit(&place, line, "below-floor");
        }
        let counted = place.tokens > 0;
        let text = text::strip_comments(&verified.text).into_owned();
        let tokens = if counted { place.tokens } else { estimate(&text) };
        self.found.get_or_insert(tokens);
        let ranked = &place.ranked;
        let has_no_word = ranked.lexical.is_some() && ranked.explain.lexical_unit <= 0.0;
        let is_close = ranked.vector.is_some() && place.first_score >= GOOD;
        if has_no_word && !is_close && is_bare_heading(&text, &place.heading) {
            return self.drop_hit(&place, line, "only-heading");
        }
        if !(self.said.is_new(&text) || self.changes_a_value(&place, line, &text)) {
            return self.drop_hit(&place, line, "near-duplicate");
        }
        if self.packer.is_full() || !self.packer.take(tokens) {
            return self.drop_hit(&place, line, "no-room");
        }
        self.estimated |= !counted;
        let ChunkHit {
            path,
            span,
            ranked,
            first_score,
            position,
            second_features,
            heading,
            date,
            scope,
            origin,
            ..
        } = place;
        // Passages of a remembered answer were not ranked again, so they have no component scores.
        let is_ranked = ranked.lexical.is_some() || ranked.vector.is_some();
        let passage = PassageKey {
            path: path.clone(),
            hash: span.hash.0,
        };
        let hit = SearchHit {
            id: public_id(&path, span.hash),
            path,
            start_line: verified.start_line,
            end_line: verified.end_line,
            heading,
            score: ranked.score,
            scores: Some(Scores {
                lexical: ranked.lexical,
                vector: ranked.vector,
            }),
            strength: None,
            entry: None,
            tokens,
            text,
            date,
            scope,
            speaker: Some(position.speaker)
                .filter(|speaker| *speaker != Speaker::None)
                .map(|speaker| speaker.name().to_owned()),
            copies: ranked.copies,
            superseded_by: None,
            origin,
            explain: (self.explain && is_ranked).then(|| explain(&ranked.explain, second_features.as_ref())),
        };
        self.results.push(CollectedHit {
            hit,
            passage,
            speaker: position.speaker,
            is_good: if is_ranked {
                first_score >= GOOD
            } else {
                ranked.score > 0.0
            },
            is_weak: is_weak(first_score, second_features.map(|_| ranked.score)),
            first_score: is_ranked.then_some(first_score),
        });
    }

    /// Returns whether a hit repeats a statement of an earlier hit with another value, because the value changed from
    /// one day to another.
    fn changes_a_value(&self, place: &ChunkHit, line: u32, text: &str) -> bool {
        let mut texts: Vec<DatedText<'_>> = self.results.iter().map(dated).collect();
        texts.push(DatedText {
            date: own_date(
                place.date.as_deref(),
                &place.path,
                &place.heading,
                place.position.speaker,
            ),
            place: (&place.path, line),
            heading: &place.heading,
            text,
        });
        let superseded = find_superseded(&texts, usize::MAX);
        let last = texts.len() - 1;
        superseded[last].is_some() || superseded.contains(&Some(last))
    }

    /// Finds the hits that state an outdated value. Sets the location of the hit with the newer value in each of them,
    /// and ranks the outdated hit below the newer one.
    fn rank_superseded(&mut self) {
        let texts: Vec<DatedText<'_>> = self.results.iter().map(dated).collect();
        let superseded = find_superseded(&texts, usize::MAX);
        let places: Vec<String> = (self.results.iter())
            .map(|CollectedHit { hit, .. }| format!("{}:{}", hit.path, hit.start_line))
            .collect();
        let mut order: Vec<usize> = Vec::with_capacity(places.len());
        for (at, newer) in superseded.iter().enumerate() {
            self.results[at].hit.superseded_by = newer.map(|newer| places[newer].clone());
        }
        let is_later = |at: usize| superseded[at].is_some_and(|newer| newer > at);
        for at in (0..places.len()).filter(|at| !is_later(*at)) {
            order.push(at);
            // Outdated hits follow the hit that supersedes them. That hit states the latest value, so outdated hits
            // never supersede each other.
            order.extend((0..at).filter(|older| superseded[*older] == Some(at)));
        }
        order.extend(
            (0..places.len())
                .filter(|at| !order.contains(at))
                .collect::<Vec<_>>(),
        );
        self.reorder(&order);
    }

    /// Among hits that the first ranking considers equally good, ranks the latest first. The scores of the second
    /// ranking are not used, because they differ even between hits that state different values of the same fact. A
    /// remembered answer keeps its order.
    fn rank_latest(&mut self, question: &SearchQuestion) {
        let scored = |collected| Some((dated(collected), collected.first_score?));
        let Some(hits) = self.results.iter().map(scored).collect::<Option<Vec<_>>>() else {
            return;
        };
        let order = order_latest_first(&question.request.query, &question.terms, &hits);
        self.reorder(&order);
    }

    fn reorder(&mut self, order: &[usize]) {
        self.results = order.iter().map(|at| self.results[*at].clone()).collect();
    }

    /// Returns whether the answer contains every hit that was found.
    pub fn has_all(&self) -> bool {
        !self.is_full() && self.results.len() <= self.limit
    }

    /// Returns the number of tokens in the best verified hit, even if the hit did not fit into the budget.
    pub fn best_hit_tokens(&self) -> Option<u32> {
        self.found
    }

    /// Returns the results, the total number of tokens, notes, and the dropped hits.
    pub fn finish(
        mut self,
        question: &SearchQuestion,
    ) -> (Vec<CollectedHit>, u64, Vec<String>, Vec<LoggedPassage>) {
        if question.dates.is_none() {
            self.rank_latest(question);
        }
        self.rank_superseded();
        drop_corrected(&mut self.results);
        let unneeded = self.results.drain(self.limit.min(self.results.len())..);
        let unneeded = unneeded.map(|collected| log_hit(&collected.hit, "not-needed"));
        self.dropped.splice(0..0, unneeded);
        let tokens = (self.results.iter())
            .map(|collected| u64::from(collected.hit.tokens))
            .sum();
        let mut notes = Vec::new();
        if self.estimated {
            notes.push("tokens are estimated as bytes / 4 if no model has counted them".to_owned());
        }
        (self.results, tokens, notes, self.dropped)
    }
}

/// Returns the form of a result in the recall log.
pub fn log_hit(hit: &SearchHit, outcome: &str) -> LoggedPassage {
    let scores = hit.scores.unwrap_or(Scores {
        lexical: None,
        vector: None,
    });
    LoggedPassage {
        place: format!("{}:{}", hit.path, hit.start_line),
        score: hit.score,
        lexical: scores.lexical,
        vector: scores.vector,
        outcome: outcome.to_owned(),
        superseded_by: hit.superseded_by.clone(),
    }
}

/// Returns the id of a chunk in the protocol. It depends only on the path and the text of the chunk, so it stays the
/// same when lines move or the index is rebuilt. Equal texts in one file have the same id.
pub fn public_id(path: &str, hash: ContentHash) -> String {
    let document = ContentHash::of(path.as_bytes()).to_string();
    format!("c{}{}", &document[..8], &hash.to_string()[..12])
}

pub(super) fn locate_hit(snapshot: &SearchSnapshot, ranked: &RankedChunk) -> Option<ChunkHit> {
    let place = snapshot.corpus.place(ranked.chunk)?;
    let document = snapshot.corpus.document(place.document)?;
    Some(ChunkHit {
        path: document.path.to_string(),
        mark: snapshot.facts.get(&place.document)?.mark,
        span: snapshot.spans.get(ranked.chunk as usize).copied().flatten()?,
        ranked: *ranked,
        first_score: ranked.score,
        position: *place,
        passage: snapshot.corpus.passage(place).copied().unwrap_or_default(),
        second_features: None,
        heading: snapshot.heading_path(place.document, place.section),
        date: snapshot.corpus.date(place).map(|date| date.to_string()),
        scope: snapshot.scope(place.document).clone(),
        tokens: snapshot.tokens.get(ranked.chunk as usize).copied().unwrap_or(0),
        origin: None,
    })
}

fn dated(collected: &CollectedHit) -> DatedText<'_> {
    let hit = &collected.hit;
    DatedText {
        date: own_date(hit.date.as_deref(), &hit.path, &hit.heading, collected.speaker),
        place: (&hit.path, hit.start_line),
        heading: &hit.heading,
        text: &hit.text,
    }
}

fn estimate(text: &str) -> u32 {
    u32::try_from(hippo_types::tokens::of(text)).unwrap_or(u32::MAX)
}

fn explain(features: &Features, second: Option<&FeatureValues>) -> BTreeMap<String, f32> {
    let second = second
        .into_iter()
        .flat_map(|values| FEATURES.into_iter().zip(*values));
    (features.named().into_iter().chain(second))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns whether a text is only the heading of its section. Such a text is returned only if it contains a word of the
/// question, or is close to the question in meaning.
fn is_bare_heading(text: &str, heading: &[String]) -> bool {
    let title = text.trim().trim_start_matches('#').trim();
    heading.last().is_some_and(|last| last == title)
}
