//! Search for passages of the team.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hippo_proto::{Origin, OriginKind, SearchMode};
use hippo_rank::dates::DateRange;
use hippo_rank::foreign::{ForeignPassage, ForeignQuery, score};
use hippo_rank::rank::{RankMode, RankedChunk};
use hippo_redact::redact;
use hippo_share::ShareError;
use hippo_share::search::{SharedAnswer, SharedPassage, SharedQuery};
use hippo_text::terms::{self, QueryTerm};
use hippo_types::time::Date;
use tokio::sync::oneshot;

use super::{TeamShare, identity};

/// Maximum number of passages of the team that are ranked together with those of the workspace.
const MOST: usize = 50;

/// A question to the team.
pub struct TeamQuestion {
    /// The query in natural language.
    pub query: String,
    /// Search mode.
    pub mode: SearchMode,
    /// Terms of the query.
    pub terms: Vec<QueryTerm>,
    /// Range of the dates that the query mentions.
    pub dates: Option<DateRange>,
}

/// A search on the server that may still run.
pub struct PendingSearch {
    question: TeamQuestion,
    answer: oneshot::Receiver<Result<SharedAnswer, String>>,
    budget: Duration,
    begun: Instant,
    team: String,
}

/// A passage of the team, with its score.
pub struct ForeignHit {
    /// The passage.
    pub passage: SharedPassage,
    /// Score of the passage.
    pub ranked: RankedChunk,
    /// Path for display: team, workspace and path.
    pub path: String,
    /// Origin of the passage.
    pub origin: Origin,
}

impl TeamShare {
    /// Starts a search on the server for the workspace at `root`.
    pub fn begin(
        self: &Arc<Self>,
        root: &Path,
        question: TeamQuestion,
        vector: Option<(Arc<str>, Vec<f32>)>,
    ) -> PendingSearch {
        let redacted = redact(&question.query);
        // The vector of a question with a secret stays here as well.
        let vector = vector.filter(|_| redacted == question.query);
        let vector = vector.map(|(model, vector)| (model.to_string(), vector));
        let words = match question.mode {
            SearchMode::Vector => "",
            _ => &*redacted,
        };
        let terms = terms::query_terms(words).into_iter();
        let terms = terms.filter(|term| question.terms.contains(term));
        let terms = terms.map(|term| term.term).collect();
        let (reply, answer) = oneshot::channel();
        let pending = PendingSearch {
            question,
            answer,
            budget: self.budget(),
            begun: Instant::now(),
            team: self.settings.team.clone(),
        };
        if let Some(why) = self.link.pause() {
            // The receiver exists.
            let _ = reply.send(Err(why));
            return pending;
        }
        let (share, workspace) = (Arc::clone(self), identity(root).id);
        tokio::spawn(async move {
            let asked = share.ask(terms, vector, workspace).await;
            // A search that no longer waits has dropped the receiver.
            let _ = reply.send(asked.map_err(|error| error.to_string()));
        });
        pending
    }

    async fn ask(
        &self,
        terms: Vec<String>,
        vector: Option<(String, Vec<f32>)>,
        workspace: String,
    ) -> Result<SharedAnswer, ShareError> {
        let limit = self.budget();
        let Some(server) = &self.server else {
            return Ok(SharedAnswer::default());
        };
        let query = SharedQuery {
            team: self.settings.team.clone(),
            terms,
            vector,
            device: self.key().await?.public().to_vec(),
            workspace,
        };
        let begun = Instant::now();
        let taken = self.link.take_for_search(server).await;
        let taken = taken.inspect_err(|error| self.link.fail(error))?;
        let rest = limit.saturating_sub(begun.elapsed());
        let Some(connection) = taken else {
            return Err(ShareError::Late(limit.as_millis()));
        };
        if rest.is_zero() {
            // The connection is ready for the next search.
            self.link.keep(connection);
            return Err(ShareError::Late(limit.as_millis()));
        }
        let answer = connection.search(&query, rest).await;
        match &answer {
            Ok(_) => self.link.keep(connection),
            Err(error) => self.link.fail(error),
        }
        answer
    }
}

impl PendingSearch {
    /// Waits for the server, but no longer than the time limit, and scores the passages with an admitted date. Blocks the
    /// thread.
    ///
    /// # Errors
    /// Returns a note for the answer if the passages of the team are missing.
    pub fn finish(
        self,
        admits: impl Fn(Option<Date>) -> bool,
        first_id: u32,
    ) -> Result<Vec<ForeignHit>, String> {
        let rest = self.budget.saturating_sub(self.begun.elapsed());
        let wait = async { tokio::time::timeout(rest, self.answer).await };
        let waited = tokio::runtime::Handle::current().block_on(wait);
        let answer = match waited {
            Ok(Ok(answer)) => answer,
            // The task ended without an answer.
            Ok(Err(_)) => Err("the search was interrupted".to_owned()),
            Err(_) => Err(format!(
                "the server did not answer within {} ms",
                self.budget.as_millis()
            )),
        };
        let mut answer = answer.map_err(|why| format!("searched without the team: {why}"))?;
        answer.passages.retain(|passage| admits(date_of(passage)));
        Ok(rank(answer, &self.question, &self.team, first_id))
    }
}

/// Scores the passages of an answer, and returns the best ones in descending order.
fn rank(answer: SharedAnswer, question: &TeamQuestion, team: &str, first_id: u32) -> Vec<ForeignHit> {
    let SharedAnswer {
        passages,
        total,
        frequencies,
    } = answer;
    let known: HashMap<String, f32> = frequencies.into_iter().collect();
    let frequency = |term: &QueryTerm| known.get(&term.term).map_or(1, |count| *count as u64);
    let terms: Vec<(QueryTerm, u64)> = (question.terms.iter())
        .map(|term| (term.clone(), frequency(term)))
        .collect();
    let query = ForeignQuery {
        terms: &terms,
        total: total as u64,
        mode: match question.mode {
            SearchMode::Vector => RankMode::Vector,
            SearchMode::Lexical => RankMode::Lexical,
            SearchMode::Hybrid | SearchMode::Index => RankMode::Hybrid,
        },
        dates: question.dates,
    };
    let foreign: Vec<ForeignPassage> = passages.iter().map(foreign_passage).collect();
    let mut hits: Vec<ForeignHit> = (score(&query, &foreign).into_iter())
        .zip(passages)
        .map(|(ranked, passage)| ForeignHit {
            ranked: RankedChunk {
                chunk: first_id.saturating_add(ranked.chunk),
                ..ranked
            },
            path: format!("@{team}/{}/{}", passage.workspace, passage.path),
            origin: Origin {
                kind: OriginKind::Team,
                share: None,
                team: team.to_owned(),
                workspace: passage.workspace.clone(),
                device: passage
                    .device_name
                    .clone()
                    .unwrap_or_else(|| short_key(&passage.device)),
                author: passage.author.clone(),
                verified: passage.is_verified,
            },
            passage,
        })
        .collect();
    hits.sort_by(|one, other| other.ranked.score.total_cmp(&one.ranked.score));
    hits.truncate(MOST);
    hits
}

fn foreign_passage(passage: &SharedPassage) -> ForeignPassage {
    ForeignPassage {
        terms: terms::index_terms(&passage.text).into_iter().collect(),
        length: passage.terms_count,
        cosine: passage.cosine,
        date: date_of(passage),
        speaker: passage.speaker,
    }
}

fn date_of(passage: &SharedPassage) -> Option<Date> {
    passage.day.as_deref()?.parse().ok()
}

fn short_key(key: &[u8]) -> String {
    key.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}
