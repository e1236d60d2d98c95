//! Search requests with the defaults of the configuration.

use std::path::Path;
use std::sync::Arc;

use hippo_proto::{MAX_LIMIT, RpcError, SearchMode, SearchRequest};
use hippo_rank::collapse::collapse;
use hippo_rank::dates::{self, DateRange};
use hippo_rank::rank::{RankedChunk, passages_of_days};
use hippo_store::StoreError;
use hippo_text::chunk::Speaker;
use hippo_text::speaker;
use hippo_text::terms::{self, QueryTerm};
use hippo_types::scope::Viewer;
use hippo_types::time::{Date, Timestamp};

use super::OVERFETCH;
use super::filter::Filter;
use crate::config;
use crate::view::{SearchSnapshot, WorkspaceView};

/// A search request, completed with the defaults of the configuration.
pub struct SearchQuestion {
    /// Original request.
    pub request: SearchRequest,
    /// Search mode.
    pub mode: SearchMode,
    /// True if the search uses vectors. The mode, the configuration and the settings of the harness determine this.
    pub meaning: bool,
    /// Maximum number of results.
    pub limit: usize,
    /// Path and date filters.
    pub filter: Filter,
    /// Terms of the query. Stop words are omitted, unless the query has no other words.
    pub terms: Vec<QueryTerm>,
    /// The terms in the query syntax of the lexical index.
    pub expressions: Vec<String>,
    /// Range of the dates that the query mentions.
    pub dates: Option<DateRange>,
    /// True if the query asks for everything of these days. With a minimum score, passages are always ranked.
    pub only_dates: bool,
    /// Time of the request.
    pub at: Timestamp,
}

impl SearchQuestion {
    /// Creates a question from a request. `today` is the current day in the user's time zone.
    ///
    /// # Errors
    /// Returns `bad-request` for an invalid filter.
    pub fn new(
        viewer: Viewer,
        request: SearchRequest,
        root: &Path,
        defaults: &config::SearchConfig,
        today: Date,
        at: Timestamp,
    ) -> Result<Self, RpcError> {
        let mut terms = terms::query_terms(&request.query);
        if terms.iter().any(|term| !term.stop) {
            terms.retain(|term| !term.stop);
        }
        let limit = match (request.limit, request.budget_tokens) {
            (Some(limit), _) => limit as usize,
            // With a budget and without a limit, only the budget limits the results.
            (None, Some(_)) => MAX_LIMIT as usize,
            (None, None) => defaults.limit,
        };
        let mode = request.mode.unwrap_or(defaults.default_mode);
        Ok(Self {
            mode,
            meaning: matches!(mode, SearchMode::Hybrid | SearchMode::Vector),
            limit,
            filter: Filter::new(viewer, &request, root)?,
            expressions: terms.iter().map(terms::fts_query).collect(),
            terms,
            dates: dates::date_range(&request.query, today),
            only_dates: mode != SearchMode::Index
                && request.min_score.is_none()
                && dates::is_only_dates(&request.query, today),
            request,
            at,
        })
    }

    /// Returns the question for another workspace, which has other paths and agents.
    pub fn of_another_workspace(&self) -> Self {
        Self {
            request: self.request.clone(),
            filter: self.filter.of_another_workspace(),
            terms: self.terms.clone(),
            expressions: self.expressions.clone(),
            ..*self
        }
    }

    /// Returns for each term the chunks that contain it. The caller holds the lock on the snapshot.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn postings(
        &self,
        view: &WorkspaceView,
        snapshot: &SearchSnapshot,
    ) -> Result<Vec<Arc<[u32]>>, StoreError> {
        view.postings(snapshot, &self.expressions)
    }

    /// Returns whether the answer may be stored for the same question. A stored answer is visible to all agents, and the
    /// question of an agent may be private. New texts of the days do not need to contain words of a question that is only
    /// a date.
    pub fn may_be_learned(&self) -> bool {
        self.filter.viewer.0.is_none() && !self.only_dates
    }

    /// Returns the passages of the days in the query if it asks for everything of these days.
    pub fn passages_of_days(&self, snapshot: &SearchSnapshot) -> Vec<RankedChunk> {
        let Some(days) = self.dates.filter(|_| self.only_dates) else {
            return Vec::new();
        };
        let wanted = self.limit * OVERFETCH + 20;
        let passes = |chunk| self.filter.passes(snapshot, chunk);
        let ranked = passages_of_days(&snapshot.corpus, &days, &passes, wanted);
        collapse(&ranked, &snapshot.corpus, wanted)
    }

    /// Returns the text that the model embeds for the query: the query in the first person if it names speakers.
    pub fn spoken(&self, view: &WorkspaceView) -> String {
        let snapshot = view.snapshot();
        let is_other = |chunk: &u32| {
            let place = snapshot.corpus.place(*chunk);
            place.is_some_and(|place| place.speaker == Speaker::Other)
        };
        speaker::in_first_person(&self.request.query, |name| {
            let Some(at) = self.terms.iter().position(|term| term.term == name) else {
                return false;
            };
            // The search itself reports an error of the store.
            let lists = view.postings(&snapshot, &self.expressions[at..=at]);
            lists.is_ok_and(|lists| lists.iter().any(|chunks| chunks.iter().any(is_other)))
        })
    }

    /// Returns whether the query mentions dates, but no document or section has a date within them.
    pub fn is_undated(&self, snapshot: &SearchSnapshot) -> bool {
        let Some(range) = self.dates else {
            return false;
        };
        let within = |date: Option<Date>| date.is_some_and(|date| range.contains(date));
        !snapshot.documents(&self.filter.viewer).any(|(_, document)| {
            within(document.date) || document.sections().iter().any(|section| within(section.date))
        })
    }

    /// Returns the key by which a repeated query is recognized: its sorted terms and its dates.
    pub fn cue(&self) -> Vec<String> {
        let mut cue: Vec<String> = self.terms.iter().map(|term| term.term.clone()).collect();
        if let Some(range) = self.dates {
            cue.push(format!("{}..{}", range.start, range.end));
        }
        cue.sort_unstable();
        cue.dedup();
        cue
    }
}
