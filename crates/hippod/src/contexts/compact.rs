//! Summaries of transcripts: `session.compact`.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use hippo_context::capture::shows_secret;
use hippo_fs::harness::{self, FILE};
use hippo_proto::folder::Trust;
use hippo_proto::{CompactStats, MAX_SCORES, RpcError, SessionCompactRequest, SessionCompactResponse};
use hippo_session::compaction::{
    CompactionConfig, CompactionOptions, CompactionPass, CompactionResult, Compactor,
};
use hippo_store::contexts::{ContentId, ContextError, MAX_CONTENT, NewContent};
use hippo_text::text::plural;

use super::Contexts;
use super::flush::unread;
use super::{ContextDatabase, now, refusal};
use crate::config::{Config, ContextConfig};
use crate::files;
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;

/// Number of bytes read at a time.
const PIECE: usize = 256 << 10;
/// Maximum number of bytes of messages per transaction. Other requests, such as those of hooks, wait for the
/// transaction.
const BATCH: usize = 256 << 10;
/// Maximum number of messages per transaction.
const MOST_AT_ONCE: usize = 512;
/// Maximum size of a settings file, in bytes.
const LARGEST: u64 = 1 << 20;

/// Compacts a transcript. If the request names a workspace, the messages are stored in it.
///
/// # Errors
/// Returns `not-found` if the file does not exist, `bad-request` if it is not a regular file, `budget` if the store is
/// full, `internal` for other errors and if the client disconnected. Messages that were already stored remain.
pub fn compact(
    contexts: &Contexts,
    view: Option<&WorkspaceView>,
    request: SessionCompactRequest,
    cancellation: Cancellation<'_>,
) -> Result<SessionCompactResponse, RpcError> {
    let (config, mut notes) = config(contexts, view, &request)?;
    let options = CompactionOptions {
        config,
        format: request.format.unwrap_or_default(),
        budget: request.budget_tokens.map(|tokens| tokens as usize),
        stored: view.is_some(),
    };
    let mut keeper = Keeper::new(contexts, view);
    let compacted = passes(&options, &mut keeper, &request, cancellation)?;
    let rest = &compacted.dropped_list;
    if rest.len() > MAX_CONTENT {
        notes.push(format!(
            "the list of messages that did not fit into the summary has {} bytes, more than {MAX_CONTENT}, \
             and was not stored",
            rest.len()
        ));
    } else if !rest.is_empty() {
        keeper.add(rest);
    }
    if keeper.withheld > 0 {
        notes.push(format!(
            "did not store {} with a secret, because context.store_secrets is off",
            plural(keeper.withheld, "message")
        ));
    }
    let stored = keeper.end()?;
    let all = compacted.scores();
    let skipped = all.len().saturating_sub(MAX_SCORES);
    Ok(SessionCompactResponse {
        entries: all.skip(skipped).collect(),
        stats: CompactStats {
            stored,
            ..compacted.stats
        },
        summary: compacted.summary,
        notes,
    })
}

/// Returns the settings of the request, or else those of the workspace, or else the defaults. Also returns warnings
/// about the settings.
fn config(
    contexts: &Contexts,
    view: Option<&WorkspaceView>,
    request: &SessionCompactRequest,
) -> Result<(CompactionConfig, Vec<String>), RpcError> {
    if let Some(keys) = &request.config {
        return Ok(CompactionConfig::read(keys));
    }
    let Some(view) = view else {
        return Ok((CompactionConfig::default(), Vec::new()));
    };
    let mut notes = Vec::new();
    match hippo_fs::read(&view.root, FILE, LARGEST) {
        Ok(bytes) => {
            let (settings, invalid) = harness::read(&bytes);
            let keys = settings.session_compaction.unwrap_or_default();
            let (config, warnings) = CompactionConfig::read(&keys);
            notes.extend(warnings);
            notes.extend(
                invalid
                    .iter()
                    .map(|found| format!("{FILE}: {found}; this setting is ignored")),
            );
            let trusted = Trust::of(&contexts.state, &view.root).covers(FILE, &bytes);
            Ok((if trusted { config } else { config.narrowed().0 }, notes))
        }
        Err(error) => {
            if !files::is_absence(&error) {
                notes.push(format!("{FILE} cannot be read; the defaults are used: {error}"));
            }
            Ok((CompactionConfig::default(), notes))
        }
    }
}

/// Reads a transcript once, and a second time if it has branches.
fn passes(
    options: &CompactionOptions,
    keeper: &mut Keeper,
    request: &SessionCompactRequest,
    cancellation: Cancellation<'_>,
) -> Result<CompactionResult, RpcError> {
    let path = request.path.as_deref().map(Path::new);
    let messages = request.messages.as_deref().unwrap_or_default();
    let bytes = serde_json::to_vec(messages).map_err(|error| RpcError::internal(error.to_string()))?;
    let unread = |error| unread(path.unwrap_or(Path::new("messages")), &error);
    let open = || -> io::Result<Box<dyn Read + '_>> {
        Ok(match path {
            Some(path) => Box::new(files::open(path)?.0),
            None => Box::new(&bytes[..]),
        })
    };
    let mut compactor = Compactor::new(options.clone());
    // The file may grow while it is read; the second pass stops at the same position as the first.
    let mut length = u64::MAX;
    let mut buffer = vec![0; PIECE];
    loop {
        let (mut file, mut fed) = (open().map_err(unread)?.take(length), 0);
        keeper.withheld = 0;
        loop {
            cancellation.check()?;
            let size = file.read(&mut buffer).map_err(unread)?;
            if size == 0 {
                break;
            }
            fed += size as u64;
            compactor.feed(&buffer[..size], |_, message| keeper.add(&message.content()));
            keeper.check()?;
        }
        length = fed;
        let pass = compactor.finish(|_, message| keeper.add(&message.content()));
        keeper.check()?;
        match pass {
            CompactionPass::Done(compacted) => return Ok(*compacted),
            CompactionPass::Again(again) => compactor = *again,
        }
    }
}

/// Returns the first 64 bits of the hash of content.
fn beginning(id: &ContentId) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&id.0[..8]);
    u64::from_le_bytes(first)
}

/// Storage of a transcript's messages, in batches.
struct Keeper {
    /// Database that stores the messages; `None` if no workspace is given, so that no message is stored.
    place: Option<Arc<ContextDatabase>>,
    settings: ContextConfig,
    now: i64,
    batch: Vec<String>,
    size: usize,
    stored: u64,
    /// First 64 bits of the hashes stored in this run. The store must not evict these contents to make room for later
    /// messages.
    kept: HashSet<u64>,
    /// Number of messages that were not stored because they contain a secret.
    withheld: u64,
    error: Option<RpcError>,
}

impl Keeper {
    fn new(contexts: &Contexts, view: Option<&WorkspaceView>) -> Self {
        Self {
            place: view.map(|view| contexts.database_of(&view.root)),
            settings: view.map_or_else(|| Config::default().context, |view| view.config.context.clone()),
            now: now(contexts),
            batch: Vec::new(),
            size: 0,
            stored: 0,
            kept: HashSet::new(),
            withheld: 0,
            error: None,
        }
    }

    fn add(&mut self, content: &str) {
        if self.place.is_none() || self.error.is_some() {
            return;
        }
        if !self.settings.store_secrets && shows_secret(content) {
            self.withheld += 1;
            return;
        }
        self.size += content.len();
        self.batch.push(content.to_owned());
        if (self.size >= BATCH || self.batch.len() >= MOST_AT_ONCE)
            && let Err(error) = self.flush()
        {
            self.error = Some(error);
        }
    }

    fn flush(&mut self) -> Result<(), RpcError> {
        let Some(place) = &self.place else { return Ok(()) };
        let mut held = place.held()?;
        let (store, _) = held.parts()?;
        let budget = self.settings.budget_bytes();
        let pieces: Vec<NewContent<'_>> = self
            .batch
            .iter()
            .map(|content| NewContent::new(content.as_bytes(), hippo_types::tokens::of(content) as u64))
            .collect();
        let contents = |store: &hippo_store::contexts::ContextStore| {
            store.read().usage().map(|usage| usage.contents).map_err(refusal)
        };
        let before = contents(store)?;
        let (names, trimmed) = store.put_pieces(&pieces, budget, self.now).map_err(refusal)?;
        if trimmed
            .contents
            .iter()
            .any(|id| self.kept.contains(&beginning(id)))
        {
            let needed = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
            return Err(refusal(ContextError::OverBudget { needed, budget }));
        }
        self.kept.extend(names.iter().map(beginning));
        self.stored += contents(store)?.saturating_sub(before);
        self.batch.clear();
        self.size = 0;
        Ok(())
    }

    /// Returns the error of an earlier message that could not be stored.
    fn check(&mut self) -> Result<(), RpcError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Stores the last batch. Returns the number of messages whose content was new.
    fn end(mut self) -> Result<Option<u64>, RpcError> {
        self.check()?;
        self.flush()?;
        Ok(self.place.map(|_| self.stored))
    }
}
