//! What exactly is asked?

use std::path::Path;
use std::sync::Arc;

use hippo_core::retrieval::dates::{self, DateRange};
use hippo_core::retrieval::terms::{self, QueryTerm};
use hippo_core::time::{Date, Timestamp};
use hippo_proto::{MAX_LIMIT, Mode, RpcError, SearchRequest};
use hippo_store::StoreError;

use super::filter::Filter;
use crate::config;
use crate::view::{Picture, WorkspaceView};

/// What is asked, with the configuration's defaults filled in.
pub struct Question {
    /// As the client asked.
    pub request: SearchRequest,
    /// How it is answered.
    pub mode: Mode,
    /// Whether its meaning counts: by the mode, the configuration and the workspace's harness.
    pub meaning: bool,
    /// Results at most.
    pub limit: usize,
    /// What may be returned.
    pub filter: Filter,
    /// Words that are looked up.
    pub terms: Vec<QueryTerm>,
    /// The same for the lexical index.
    pub expressions: Vec<String>,
    /// Dates that it speaks of.
    pub dates: Option<DateRange>,
    /// When it was asked.
    pub at: Timestamp,
}

impl Question {
    /// Reads a request; `today` is the local day.
    ///
    /// # Errors
    /// `bad-request` for a filter that cannot be understood.
    pub fn new(
        request: SearchRequest,
        root: &Path,
        defaults: &config::Search,
        today: Date,
        at: Timestamp,
    ) -> Result<Self, RpcError> {
        let mut terms = terms::query_terms(&request.query);
        if terms.iter().any(|term| !term.stop) {
            terms.retain(|term| !term.stop);
        }
        let limit = match (request.limit, request.budget_tokens) {
            (Some(limit), _) => limit as usize,
            // The budget says how many.
            (None, Some(_)) => MAX_LIMIT as usize,
            (None, None) => defaults.limit,
        };
        let mode = request.mode.unwrap_or(defaults.default_mode);
        Ok(Self {
            mode,
            meaning: matches!(mode, Mode::Hybrid | Mode::Vector),
            limit,
            filter: Filter::new(&request, root)?,
            expressions: terms.iter().map(terms::fts_query).collect(),
            terms,
            dates: dates::date_range(&request.query, today),
            request,
            at,
        })
    }

    /// The chunks of each term. The caller holds the picture.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn postings(&self, view: &WorkspaceView, picture: &Picture) -> Result<Vec<Arc<[u32]>>, StoreError> {
        view.postings(picture, &self.expressions)
    }

    /// What makes it the same question when it comes again: its words, in any order, and the dates that it means.
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
