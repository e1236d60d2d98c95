//! Search for passages of other devices and workspaces.

use std::time::Duration;

use hippo_text::chunk::Speaker;

use crate::connect::{STATEMENT, within};
use crate::publish::vector_text;
use crate::record::{SignedFacts, source_of};
use crate::{DIMENSION, ServerConnection, ShareError};

/// Maximum number of terms that the server looks up.
const TERMS: usize = 24;
/// Number of candidates by words, and by vector.
const CANDIDATES: i32 = 60;

/// A question to the server.
#[derive(Debug, Clone)]
pub struct SharedQuery {
    /// Name of the team.
    pub team: String,
    /// Terms of the question.
    pub terms: Vec<String>,
    /// Vector of the question and the id of its model.
    pub vector: Option<(String, Vec<f32>)>,
    /// Public key of the own device.
    pub device: Vec<u8>,
    /// Id of the workspace that asks; its own passages are left out.
    pub workspace: String,
}

/// A passage of the team.
#[derive(Debug, Clone)]
pub struct SharedPassage {
    /// Cosine of the passage and the question; `None` without comparable vectors.
    pub cosine: Option<f32>,
    /// Name of the workspace.
    pub workspace: String,
    /// Id of the workspace on its device.
    pub workspace_id: String,
    /// Path of the document.
    pub path: String,
    /// First and last line in the document.
    pub lines: (u32, u32),
    /// Headings above the passage.
    pub heading: Vec<String>,
    /// Date.
    pub day: Option<String>,
    /// Speaker of the text.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// Number of index terms.
    pub terms_count: u32,
    /// Public key of the device.
    pub device: Vec<u8>,
    /// Name of the device; `None` if the device is not registered.
    pub device_name: Option<String>,
    /// Login that published the passage.
    pub author: String,
    /// True if the device has signed this text at this place.
    pub is_verified: bool,
}

/// Answer of the server.
#[derive(Debug, Clone, Default)]
pub struct SharedAnswer {
    /// The candidates, in no particular order.
    pub passages: Vec<SharedPassage>,
    /// Number of passages of the team.
    pub total: f32,
    /// The looked up terms, each with the approximate number of passages that contain it.
    pub frequencies: Vec<(String, f32)>,
}

const SEARCH: &str = "
SELECT found.distance, found.total, found.frequencies, d.workspace_name, d.workspace, d.path, p.first_line, p.last_line,
       p.heading, p.day, p.speaker, p.text, p.terms, d.device, devices.name, p.author::text, p.signature
FROM hippod.search($1, $2, $3::text::public.halfvec, $4, $5, $6) AS found
JOIN hippod.passages AS p ON p.team = $1 AND p.id = found.passage
JOIN hippod.documents AS d ON d.team = $1 AND d.id = p.document AND NOT d.removed AND d.author = p.author
LEFT JOIN hippod.devices ON devices.team = $1 AND devices.key = d.device AND devices.author = d.author";

impl ServerConnection {
    /// Searches the passages of the team. The server cancels the search after `limit`.
    ///
    /// # Errors
    /// See [`ShareError`]. After an error, the connection must not be used again.
    pub async fn search(&self, query: &SharedQuery, limit: Duration) -> Result<SharedAnswer, ShareError> {
        let asked = self.ask(query);
        match tokio::time::timeout(limit, asked).await {
            Ok(answer) => answer,
            Err(_) => {
                self.cancel();
                Err(ShareError::Late(limit.as_millis()))
            }
        }
    }

    async fn ask(&self, query: &SharedQuery) -> Result<SharedAnswer, ShareError> {
        let vector = query
            .vector
            .as_ref()
            .filter(|(_, vector)| vector.len() == DIMENSION);
        let vector_text = vector.map(|(_, vector)| vector_text(vector));
        let terms: Vec<&str> = query.terms.iter().take(TERMS).map(String::as_str).collect();
        let statement = self
            .search
            .get_or_try_init(|| self.client.prepare(SEARCH))
            .await?;
        let rows = self
            .client
            .query(
                statement,
                &[
                    &query.team,
                    &terms,
                    &vector_text,
                    &vector.map(|(model, _)| model),
                    &source_of(&query.device, &query.workspace),
                    &CANDIDATES,
                ],
            )
            .await?;
        let mut answer = SharedAnswer::default();
        if let Some(row) = rows.first() {
            answer.total = row
                .try_get(1)
                .ok()
                .filter(|total: &f32| total.is_finite())
                .unwrap_or_default();
            let counts = row.try_get::<_, Option<Vec<f32>>>(2)?.unwrap_or_default();
            answer.frequencies = query.terms.iter().cloned().zip(counts).collect();
        }
        // A row that does not have the form of the schema comes from a faulty or hostile server.
        let of_row = |row: tokio_postgres::Row| -> Result<SharedPassage, tokio_postgres::Error> {
            let mut passage = SharedPassage {
                // The distance from a zero vector is not a number.
                cosine: (row.try_get::<_, Option<f32>>(0)?)
                    .map(|distance| 1.0 - distance)
                    .filter(|cosine| (-1.0..=1.0).contains(cosine)),
                workspace: row.try_get(3)?,
                workspace_id: row.try_get(4)?,
                path: row.try_get(5)?,
                lines: (
                    row.try_get::<_, i32>(6)?.unsigned_abs(),
                    row.try_get::<_, i32>(7)?.unsigned_abs(),
                ),
                heading: row.try_get::<_, Option<Vec<String>>>(8)?.unwrap_or_default(),
                day: row.try_get(9)?,
                speaker: Speaker::from_name(row.try_get(10)?),
                text: row.try_get(11)?,
                terms_count: row.try_get::<_, i32>(12)?.unsigned_abs(),
                device: row.try_get(13)?,
                device_name: row.try_get(14)?,
                author: row.try_get(15)?,
                is_verified: false,
            };
            let facts = SignedFacts {
                team: &query.team,
                workspace: &passage.workspace_id,
                workspace_name: &passage.workspace,
                path: &passage.path,
                heading: &passage.heading,
                day: passage.day.as_deref(),
                text: &passage.text,
            };
            // The author of the row must have registered the device.
            let is_signed = facts.are_signed_by(&passage.device, row.try_get(16)?);
            passage.is_verified = is_signed && passage.device_name.is_some();
            Ok(passage)
        };
        answer.passages = rows.into_iter().filter_map(|row| of_row(row).ok()).collect();
        Ok(answer)
    }
}

/// Facts about a team.
#[derive(Debug, Clone, Copy, Default)]
pub struct TeamFacts {
    /// True if the login may publish.
    pub may_publish: bool,
    /// Number of passages; for many passages, an estimate of the server.
    pub passages: u64,
}

impl ServerConnection {
    /// Returns facts about a team that the login can read.
    ///
    /// # Errors
    /// See [`ShareError`].
    pub async fn team_facts(&self, team: &str) -> Result<TeamFacts, ShareError> {
        let found = within(
            STATEMENT,
            self.client.query_opt(
                "SELECT hippod.may(name, 'writer'),
                        CASE WHEN estimate < 20000 THEN (SELECT count(*) FROM hippod.passages WHERE team = name)
                             ELSE estimate::bigint END
                 FROM hippod.teams, LATERAL (
                     SELECT coalesce(max(reltuples), 0) AS estimate FROM pg_class
                     WHERE oid = to_regclass('hippod.passages_' || name)
                 ) AS size
                 WHERE name = $1",
                &[&team],
            ),
        )
        .await?;
        let row =
            found.ok_or_else(|| ShareError::Rights(format!("the login cannot read the team {team}")))?;
        Ok(TeamFacts {
            may_publish: row.get(0),
            passages: row.get::<_, i64>(1).unsigned_abs(),
        })
    }
}
