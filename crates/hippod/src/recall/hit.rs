//! Conversion of ranked chunks into results, within limit and budget.

use std::collections::BTreeMap;

use hippo_map::consolidation::PassageKey;
use hippo_proto::{Scores, SearchHit, SearchRequest};
use hippo_rank::collapse::AnswerTexts;
use hippo_rank::pack::Packer;
use hippo_rank::rank::{Features, RankedChunk};
use hippo_text::chunk::{ContentHash, text};

use crate::verify::{ChunkSpan, FileMark, VerifiedHit};
use crate::view::SearchSnapshot;

/// Data of a ranked chunk that is available without disk access.
#[derive(Debug)]
pub struct ChunkHit {
    /// Path of its document.
    pub path: String,
    /// State of the file when it was indexed.
    pub mark: FileMark,
    /// Location of the chunk.
    pub span: ChunkSpan,
    ranked: RankedChunk,
    heading: Vec<String>,
    date: Option<String>,
    tokens: u32,
}

/// Collector of verified hits in rank order.
pub struct Collector {
    packer: Packer,
    explain: bool,
    said: AnswerTexts,
    results: Vec<SearchHit>,
    passages: Vec<PassageKey>,
    estimated: bool,
    /// Tokens of the first verified hit.
    found: Option<u32>,
}

impl Collector {
    /// Creates a collector for one request.
    pub fn new(request: &SearchRequest, limit: usize) -> Self {
        Self {
            packer: Packer::new(limit, request.budget_tokens.map(u64::from)),
            explain: request.explain,
            said: AnswerTexts::default(),
            results: Vec::new(),
            passages: Vec::new(),
            estimated: false,
            found: None,
        }
    }

    /// Returns the data of ranked chunks.
    pub fn places(&self, snapshot: &SearchSnapshot, ranked: &[RankedChunk]) -> Vec<ChunkHit> {
        ranked
            .iter()
            .filter_map(|ranked| locate_hit(snapshot, ranked))
            .collect()
    }

    /// Returns whether the answer is full.
    pub fn is_full(&self) -> bool {
        self.packer.is_full()
    }

    /// Adds a verified hit if it fits and is not a duplicate.
    pub fn take(&mut self, place: ChunkHit, verified: VerifiedHit) {
        let counted = place.tokens > 0;
        let text = text::strip_comments(&verified.text).into_owned();
        let tokens = if counted { place.tokens } else { estimate(&text) };
        self.found.get_or_insert(tokens);
        if self.packer.is_full() || !self.said.is_new(&text) || !self.packer.take(tokens) {
            return;
        }
        self.estimated |= !counted;
        let ChunkHit {
            path,
            span,
            ranked,
            heading,
            date,
            ..
        } = place;
        self.passages.push(PassageKey {
            path: path.clone(),
            hash: span.hash.0,
        });
        self.results.push(SearchHit {
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
            // Hits of an earlier answer were not scored again.
            explain: (self.explain && (ranked.lexical.is_some() || ranked.vector.is_some()))
                .then(|| explain(&ranked.explain)),
        });
    }

    /// Returns the tokens of the best verified hit, even if it did not fit.
    pub fn best_hit_tokens(&self) -> Option<u32> {
        self.found
    }

    /// Returns the results, their passages, their tokens, and notes.
    pub fn finish(self) -> (Vec<SearchHit>, Vec<PassageKey>, u64, Vec<String>) {
        let mut notes = Vec::new();
        if self.estimated {
            notes.push("tokens are estimated as bytes / 4 if no model has counted them".to_owned());
        }
        (self.results, self.passages, self.packer.tokens(), notes)
    }
}

/// Returns the public id of a chunk. The id is derived from the document path and the text, so it stays the same when
/// lines move or the index is rebuilt. Equal texts in one file share an id.
pub fn public_id(path: &str, hash: ContentHash) -> String {
    let document = ContentHash::of(path.as_bytes()).to_string();
    format!("c{}{}", &document[..8], &hash.to_string()[..12])
}

fn locate_hit(snapshot: &SearchSnapshot, ranked: &RankedChunk) -> Option<ChunkHit> {
    let place = snapshot.corpus.place(ranked.chunk)?;
    let document = snapshot.corpus.document(place.document)?;
    Some(ChunkHit {
        path: document.path.to_string(),
        mark: snapshot.facts.get(&place.document)?.mark,
        span: snapshot.spans.get(ranked.chunk as usize).copied().flatten()?,
        ranked: *ranked,
        heading: snapshot.heading_path(place.document, place.section),
        date: snapshot.corpus.date(place).map(|date| date.to_string()),
        tokens: snapshot.tokens.get(ranked.chunk as usize).copied().unwrap_or(0),
    })
}

fn estimate(text: &str) -> u32 {
    u32::try_from(hippo_types::tokens::of(text)).unwrap_or(u32::MAX)
}

fn explain(features: &Features) -> BTreeMap<String, f32> {
    features
        .named()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
