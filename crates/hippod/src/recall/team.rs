//! Passages of the team among the results of a search.

use std::sync::Arc;

use hippo_proto::SearchMode;
use hippo_rank::corpus::{ChunkPlace, SectionPlace};
use hippo_text::chunk::ContentHash;
use hippo_types::scope::Scope;

use super::SearchState;
use super::hit::ChunkHit;
use crate::share::{ForeignHit, PendingSearch, TeamQuestion};
use crate::verify::{ChunkSpan, FileMark, VerifiedHit};

/// First id of the passages of the team. The ids of the workspace's chunks are small.
const FIRST_ID: u32 = u32::MAX / 2;

impl SearchState {
    /// Starts a search for passages of the team. Returns `None` if the workspace or the question does not concern the team.
    pub(super) fn ask_team(&self, vector: Option<(Arc<str>, Vec<f32>)>) -> Option<PendingSearch> {
        let SearchState {
            searcher,
            view,
            question,
            ..
        } = self;
        let concerns = question.request.path.is_none() && question.mode != SearchMode::Index;
        if !concerns || !searcher.share.includes(&view.root) {
            return None;
        }
        let asked = TeamQuestion {
            query: question.request.query.clone(),
            mode: question.mode,
            terms: question.terms.clone(),
            dates: question.dates,
        };
        Some(searcher.share.begin(&view.root, asked, vector))
    }

    /// Waits for the passages of the team. Returns them, best first, and a note if they are missing.
    pub(super) fn team_hits(
        &self,
        pending: Option<PendingSearch>,
    ) -> (Vec<(ChunkHit, VerifiedHit)>, Option<String>) {
        match pending.map(|pending| pending.finish(|date| self.question.filter.admits(date), FIRST_ID)) {
            None => (Vec::new(), None),
            Some(Ok(hits)) => (hits.into_iter().map(chunk_hit).collect(), None),
            Some(Err(note)) => (Vec::new(), Some(note)),
        }
    }
}

/// Converts a passage of the team to a hit. The passage counts as a document of its own.
fn chunk_hit(hit: ForeignHit) -> (ChunkHit, VerifiedHit) {
    let ForeignHit {
        passage,
        ranked,
        path,
        origin,
    } = hit;
    let (start_line, end_line) = passage.lines;
    let hash = ContentHash::of(passage.text.as_bytes());
    let terms = u16::try_from(passage.terms_count).unwrap_or(u16::MAX);
    let chunk = ChunkHit {
        path,
        mark: FileMark { size: 0, mtime_ns: 0 },
        span: ChunkSpan {
            start_line,
            end_line,
            start_byte: 0,
            end_byte: 0,
            hash,
        },
        ranked,
        first_score: ranked.score,
        position: ChunkPlace {
            document: ranked.chunk,
            ordinal: 0,
            section: 0,
            mark: 0,
            terms,
            speaker: passage.speaker,
        },
        passage: SectionPlace {
            end: 1,
            terms: passage.terms_count,
            ..SectionPlace::default()
        },
        second_features: None,
        heading: passage.heading,
        date: passage.day,
        scope: Scope::Shared,
        tokens: 0,
        origin: Some(origin),
    };
    let verified = VerifiedHit {
        text: passage.text,
        start_line,
        end_line,
    };
    (chunk, verified)
}
