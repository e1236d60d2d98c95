//! Publication of documents.
//!
//! Nothing records what is still to be published: the difference between the local index and the server is the outbox.
//! Thus a document can be neither lost nor published twice, even if the server or the daemon dies at any time.

use std::collections::HashMap;
use std::fmt::Write as _;

use tokio_postgres::{GenericClient, Transaction};

use crate::connect::{STATEMENT, within};
use crate::device::DeviceKey;
use crate::record::{OutgoingDocument, OutgoingPassage, WorkspaceIdentity, source_of};
use crate::{DIMENSION, ServerConnection, ShareError};

/// Identity of a publisher.
pub struct Publisher<'a> {
    /// Key of the device.
    pub key: &'a DeviceKey,
    /// Name of the device.
    pub device_name: &'a str,
    /// Name of the team.
    pub team: &'a str,
    /// The published workspace.
    pub workspace: &'a WorkspaceIdentity,
}

impl Publisher<'_> {
    /// Returns the digests of the documents on the server, by path, and registers this device.
    ///
    /// # Errors
    /// See [`ShareError`].
    pub async fn published(&self, server: &ServerConnection) -> Result<HashMap<String, Vec<u8>>, ShareError> {
        let device = self.key.public().to_vec();
        within(
            STATEMENT,
            server.client.execute(
                "INSERT INTO hippod.devices (team, key, name) VALUES ($1, $2, $3)
                 ON CONFLICT (team, key, author) DO UPDATE SET name = excluded.name WHERE devices.name <> excluded.name",
                &[&self.team, &device, &self.device_name],
            ),
        )
        .await?;
        self.listed(server).await
    }

    /// Returns the digests of the documents on the server, by path.
    ///
    /// # Errors
    /// See [`ShareError`].
    pub async fn listed(&self, server: &ServerConnection) -> Result<HashMap<String, Vec<u8>>, ShareError> {
        let device = self.key.public().to_vec();
        let rows = within(
            STATEMENT,
            server.client.query(
                "SELECT path, digest FROM hippod.documents
                 WHERE team = $1 AND author = current_user AND device = $2 AND workspace = $3 AND NOT removed",
                &[&self.team, &device, &self.workspace.id],
            ),
        )
        .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Stores documents in one transaction. Repeating the call changes nothing.
    ///
    /// # Errors
    /// See [`ShareError`]. After an error, nothing is stored, unless the connection broke during the commit.
    pub async fn put(
        &self,
        server: &mut ServerConnection,
        documents: &[OutgoingDocument],
    ) -> Result<(), ShareError> {
        let store = async {
            let transaction = server.client.transaction().await?;
            for document in documents {
                let id = self.put_document(&transaction, document).await?;
                self.put_passages(&transaction, id, &document.passages).await?;
            }
            transaction.commit().await.map_err(ShareError::from)
        };
        within(STATEMENT, store).await
    }

    /// Removes documents: keeps them as tombstones without passages.
    ///
    /// # Errors
    /// See [`ShareError`].
    pub async fn remove(&self, server: &mut ServerConnection, paths: &[String]) -> Result<(), ShareError> {
        let device = self.key.public().to_vec();
        within(
            STATEMENT,
            server.client.execute(
                "WITH gone AS (
                     UPDATE hippod.documents SET removed = true, published_at = now()
                     WHERE team = $1 AND author = current_user AND device = $2 AND workspace = $3 AND path = ANY ($4)
                     RETURNING id
                 )
                 DELETE FROM hippod.passages USING gone WHERE passages.team = $1 AND passages.document = gone.id",
                &[&self.team, &device, &self.workspace.id, &paths],
            ),
        )
        .await
        .map(drop)
    }

    async fn put_document(
        &self,
        transaction: &Transaction<'_>,
        document: &OutgoingDocument,
    ) -> Result<i64, ShareError> {
        let row = transaction
            .query_one(
                "INSERT INTO hippod.documents (team, device, workspace, workspace_name, path, digest)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (team, author, device, workspace, path) DO UPDATE
                 SET workspace_name = excluded.workspace_name, digest = excluded.digest, removed = false,
                     published_at = now()
                 RETURNING id",
                &[
                    &self.team,
                    &self.key.public().to_vec(),
                    &self.workspace.id,
                    &self.workspace.name,
                    &document.path,
                    &document.digest.to_vec(),
                ],
            )
            .await?;
        Ok(row.get(0))
    }

    async fn put_passages(
        &self,
        client: &impl GenericClient,
        document: i64,
        passages: &[OutgoingPassage],
    ) -> Result<(), ShareError> {
        let column =
            |value: fn(&OutgoingPassage) -> String| -> Vec<String> { passages.iter().map(value).collect() };
        let hashes: Vec<Vec<u8>> = passages.iter().map(|passage| passage.hash.to_vec()).collect();
        let nth: Vec<i32> = passages.iter().map(|passage| whole(passage.nth)).collect();
        client
            .execute(
                "DELETE FROM hippod.passages WHERE team = $1 AND document = $2
                 AND (hash, nth) NOT IN (SELECT * FROM unnest($3::bytea[], $4::integer[]))",
                &[&self.team, &document, &hashes, &nth],
            )
            .await?;
        let first: Vec<i32> = passages.iter().map(|passage| whole(passage.lines.0)).collect();
        let last: Vec<i32> = passages.iter().map(|passage| whole(passage.lines.1)).collect();
        let counts: Vec<i32> = passages
            .iter()
            .map(|passage| whole(passage.terms_count))
            .collect();
        // An array of arrays must be rectangular, so headings are joined by a character that a heading cannot contain.
        let headings = column(|passage| passage.heading.join("\n"));
        let days: Vec<Option<&str>> = passages.iter().map(|passage| passage.day.as_deref()).collect();
        let speakers = column(|passage| passage.speaker.name().to_owned());
        let (texts, terms) = (
            column(|passage| passage.text.clone()),
            column(|passage| passage.terms.clone()),
        );
        let vectors: Vec<Option<(&str, String)>> = passages.iter().map(vector_of).collect();
        let models: Vec<Option<&str>> = vectors
            .iter()
            .map(|vector| vector.as_ref().map(|(model, _)| *model))
            .collect();
        let vectors: Vec<Option<&str>> = vectors
            .iter()
            .map(|vector| vector.as_ref().map(|(_, text)| &**text))
            .collect();
        let signatures: Vec<&[u8]> = passages.iter().map(|passage| &*passage.signature).collect();
        client
            .execute(
                "INSERT INTO hippod.passages AS old (team, document, source, hash, nth, first_line, last_line, heading, day,
                     speaker, text, words, terms, model, vector, signature)
                 SELECT $1, $2, $3, hash, nth, first, last, string_to_array(nullif(heading, ''), E'\\n'), day, speaker, text,
                     array_to_tsvector(string_to_array(words, ' ')), terms, model, vector::halfvec, signature
                 FROM unnest($4::bytea[], $5::integer[], $6::integer[], $7::integer[], $8::text[], $9::text[],
                     $10::text[], $11::text[], $12::text[], $13::integer[], $14::text[], $15::text[], $16::bytea[])
                     AS new (hash, nth, first, last, heading, day, speaker, text, words, terms, model, vector, signature)
                 ON CONFLICT (team, document, hash, nth, author) DO UPDATE
                 SET first_line = excluded.first_line, last_line = excluded.last_line, heading = excluded.heading, day = excluded.day,
                     speaker = excluded.speaker, text = excluded.text, words = excluded.words, terms = excluded.terms,
                     model = excluded.model, vector = excluded.vector, signature = excluded.signature
                 WHERE (old.first_line, old.last_line, old.signature, old.model, old.text)
                     IS DISTINCT FROM (excluded.first_line, excluded.last_line, excluded.signature, excluded.model,
                         excluded.text)",
                &[
                    &self.team,
                    &document,
                    &source_of(&self.key.public(), &self.workspace.id),
                    &hashes,
                    &nth,
                    &first,
                    &last,
                    &headings,
                    &days,
                    &speakers,
                    &texts,
                    &terms,
                    &counts,
                    &models,
                    &vectors,
                    &signatures,
                ],
            )
            .await?;
        Ok(())
    }
}

/// Returns the model and the vector in the text form of pgvector, if the server can store the vector.
fn vector_of(passage: &OutgoingPassage) -> Option<(&str, String)> {
    let (model, vector) = passage
        .vector
        .as_ref()
        .filter(|(_, vector)| vector.len() == DIMENSION)?;
    Some((model, vector_text(vector)))
}

/// Returns a vector in the text form of pgvector.
pub(crate) fn vector_text(vector: &[f32]) -> String {
    let mut text = String::from("[");
    for (at, value) in vector.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{value}", if at > 0 { "," } else { "" });
    }
    text + "]"
}

fn whole(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
