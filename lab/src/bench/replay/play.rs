//! Replay of a session with and without the daemon.
//!
//! The replay compares context sizes, compactions and lookups of tool results.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use hippo_context::extract::{Extract, Hints, extract};
use hippo_proto::{
    Client, ContextCloseRequest, ContextCloseResponse, ContextEntry, ContextFetchRequest,
    ContextFetchResponse, ContextKind, ContextOpenRequest, ContextOpenResponse, ContextPutRequest,
    ContextPutResponse, ContextPutSource, ContextRenderRequest, ContextRenderResponse, ContextTurnRequest,
    ContextTurnResponse,
};
use hippo_redact::redact;
use hippo_types::tokens;
use serde_json::Value;

use super::session::{ModelCall, ModelInput, ReplaySession, ToolResult};
use super::uses::ValueUse;
use super::window::ContextWindow;
use crate::bench::compaction::needs;
use crate::bench::extract::holds;

/// Numbers of values, by the place where they were found.
#[derive(Debug, Default, Clone, Copy)]
pub struct ValueTally {
    pub summary: usize,
    pub key_data: usize,
    pub fetched: usize,
    /// Number of fetched values that are secrets, which entries never contain.
    pub secret: usize,
    pub lost: usize,
}

impl ValueTally {
    /// Returns the number of values.
    pub fn all(&self) -> usize {
        self.summary + self.key_data + self.fetched + self.lost
    }

    /// Adds the counts of another session.
    pub fn add(&mut self, other: &Self) {
        let Self {
            summary,
            key_data,
            fetched,
            secret,
            lost,
        } = other;
        self.summary += summary;
        self.key_data += key_data;
        self.fetched += fetched;
        self.secret += secret;
        self.lost += lost;
    }
}

/// Parameters of a replay.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// Size of the model's window, in tokens.
    pub limit: usize,
    /// Number of turns for which a tool result stays whole with hippod. With 1, it is whole only in its own turn.
    pub whole: usize,
    /// Maximum tokens of summary and key data in an entry; `None` uses the daemon's default.
    pub told: Option<usize>,
    /// Number of tokens above which a tool result becomes an entry.
    pub worth: usize,
}

/// Result of a replayed session.
#[derive(Debug, Default)]
pub struct ReplayResult {
    /// Context tokens of each turn without hippod: prompt and answer.
    pub without: Vec<usize>,
    /// Context tokens of each turn with hippod.
    pub with: Vec<usize>,
    /// Compactions without and with hippod.
    pub compactions: [usize; 2],
    /// Tokens of each stored tool result, and of its entry.
    pub entries: Vec<(usize, usize)>,
    /// Number of tokens of the largest rendered section.
    pub section: usize,
    /// Counts of the values from replaced tool results that the agent named later.
    pub named: ValueTally,
    /// Counts of those values that were nowhere else in the context when the agent named them.
    pub needed: ValueTally,
    /// Number of fetches during the session.
    pub fetches: usize,
}

/// An entry that replaces a tool result.
struct ReplacementEntry {
    id: String,
    summary: String,
    key_data: String,
}

/// The rendered entries in the model's context.
#[derive(Default)]
struct RenderedSection {
    tokens: usize,
    shown: BTreeSet<String>,
}

/// Replays a session with one set of options.
///
/// # Errors
/// Fails if the daemon refuses a request.
pub fn play(
    client: &mut Client,
    workspace: &str,
    session: &ReplaySession,
    uses: &BTreeMap<usize, Vec<ValueUse>>,
    way: ReplayOptions,
) -> Result<ReplayResult> {
    let open = ContextOpenRequest {
        workspace: workspace.to_owned(),
        agent: Some("replay".to_owned()),
        session: None,
    };
    let opened: ContextOpenResponse = client.call(&open.into())?;
    let mut run = ReplayRun {
        client,
        id: opened.session,
        way,
        made: Vec::new(),
        whole: Vec::new(),
        section: RenderedSection::default(),
        played: ReplayResult::default(),
    };
    let (mut without, mut with) = (
        ContextWindow::new(way.limit, 1),
        ContextWindow::new(way.limit, way.whole),
    );
    for (at, turn) in session.turns.iter().enumerate() {
        let read: usize = turn.read.iter().map(ModelInput::tokens).sum();
        let answered = turn.answered();
        let prompt = without.prompt(read);
        run.played.without.push(prompt + answered);
        without.keep(read + answered, read + answered);

        // The model reads a new tool result in full. In later turns, an entry replaces it.
        let left = run.put(at, turn)?;
        let fetched = run.look(at, uses)?;
        let prompt = with.prompt(read + fetched + run.section.tokens);
        let size = prompt + answered;
        run.played.with.push(size);
        with.keep(read + fetched + answered, left + answered);
        run.over(at, size)?;
    }
    run.played.compactions = [without.compactions, with.compactions];
    run.check(session, uses)?;
    let close = ContextCloseRequest {
        session: run.id.clone(),
    };
    let _: ContextCloseResponse = run.client.call(&close.into())?;
    Ok(run.played)
}

struct ReplayRun<'c> {
    client: &'c mut Client,
    id: String,
    way: ReplayOptions,
    /// For each tool result, by number, the entry that replaces it.
    made: Vec<Option<ReplacementEntry>>,
    /// For each tool result, its turn or the turn of its last fetch.
    whole: Vec<usize>,
    section: RenderedSection,
    played: ReplayResult,
}

impl ReplayRun<'_> {
    /// Stores the new tool results of a turn. Returns the tokens that stay in the context.
    fn put(&mut self, at: usize, turn: &ModelCall) -> Result<usize> {
        let mut left = 0;
        for read in &turn.read {
            left += match read {
                ModelInput::Text(_) => read.tokens(),
                ModelInput::Result(result) => self.put_one(at, result)?,
            };
        }
        Ok(left)
    }

    fn put_one(&mut self, at: usize, result: &ToolResult) -> Result<usize> {
        let whole = tokens::of(&result.content);
        let told = self.way.told.map(|tokens| told(result, tokens));
        let put = ContextPutRequest {
            session: self.id.clone(),
            turn: at as u64,
            type_: ContextKind::ToolResult,
            source: ContextPutSource {
                type_: result.tool.clone(),
                reference: result.reference.clone(),
            },
            content: result.content.clone(),
            error: result.failed,
            summary: told
                .as_ref()
                .map(|told| told.summary.clone())
                .filter(|summary| !summary.is_empty()),
            key_data: told.map(|told| told.key_data),
            ..ContextPutRequest::default()
        };
        let answer: ContextPutResponse = self.client.call(&put.into())?;
        self.whole.push(at);
        let Some(entry) = answer.entry else {
            self.made.push(None);
            return Ok(whole);
        };
        // The id stays in the context, so that the agent can fetch the content when the section does not show the
        // entry.
        let left = tokens::of(&format!("[{}]", entry.id));
        self.played.entries.push((whole, answer.entry_tokens as usize));
        self.made.push(Some(made(entry)));
        Ok(left)
    }

    /// Looks up the values that the agent names in this turn, unless the context contains them elsewhere. Returns the
    /// tokens of the fetched contents.
    fn look(&mut self, at: usize, uses: &BTreeMap<usize, Vec<ValueUse>>) -> Result<usize> {
        let mut tokens = 0;
        let named = |used: &&ValueUse| used.named == at;
        for (number, uses) in uses {
            let number = *number;
            let needed: Vec<&ValueUse> = uses
                .iter()
                .filter(named)
                .filter(|used| !self.stands(number, used, at))
                .collect();
            let mut content: Option<String> = None;
            for used in needed {
                let Some(Some(made)) = self.made.get(number) else {
                    continue;
                };
                let shown = self.section.shown.contains(&made.id);
                match place(made, &used.value).filter(|_| shown) {
                    Some(ValuePlace::Summary) => self.played.needed.summary += 1,
                    Some(ValuePlace::KeyData) => self.played.needed.key_data += 1,
                    None => {
                        let id = made.id.clone();
                        let content = match &content {
                            Some(content) => content,
                            None => {
                                let fetched = self.fetch(&id)?;
                                tokens += tokens::of(&fetched);
                                self.played.fetches += 1;
                                self.whole[number] = at;
                                content.insert(fetched)
                            }
                        };
                        if std::env::var_os("HIPPOD_BENCH_MISSING").is_some() {
                            crate::terminal::say(format_args!("fetched {id} for {}", used.value));
                        }
                        count(&mut self.played.needed, content, &used.value);
                    }
                }
            }
        }
        Ok(tokens)
    }

    /// Returns `true` if the context contains a value anywhere except in the entry for the tool result with this value.
    fn stands(&self, number: usize, used: &ValueUse, at: usize) -> bool {
        let is_whole = |number: &usize| {
            let passed = self.made.get(*number).is_none_or(Option::is_none);
            let since = self.whole.get(*number).map(|last| at.saturating_sub(*last));
            passed || since.is_some_and(|turns| turns < self.way.whole)
        };
        used.said || is_whole(&number) || used.again.iter().any(is_whole)
    }

    fn fetch(&mut self, id: &str) -> Result<String> {
        let fetch = ContextFetchRequest {
            session: Some(self.id.clone()),
            id: id.to_owned(),
        };
        let answer: ContextFetchResponse = self.client.call(&fetch.into())?;
        answer
            .content
            .with_context(|| format!("the content of {id} was not returned: {:?}", answer.reason))
    }

    fn over(&mut self, at: usize, size: usize) -> Result<()> {
        let turn = ContextTurnRequest {
            session: self.id.clone(),
            turn: at as u64,
            context_tokens: Some(size as u64),
            context_limit: Some(self.way.limit as u64),
        };
        let _: ContextTurnResponse = self.client.call(&turn.into())?;
        let render = ContextRenderRequest {
            session: self.id.clone(),
            ..ContextRenderRequest::default()
        };
        let section: ContextRenderResponse = self.client.call(&render.into())?;
        if tokens::of(&section.markdown) as u64 != section.tokens {
            bail!("the section of turn {at} has a wrong token count");
        }
        self.section = RenderedSection {
            tokens: section.tokens as usize,
            shown: section.entries.into_iter().map(|entry| entry.id).collect(),
        };
        self.played.section = self.played.section.max(self.section.tokens);
        Ok(())
    }

    /// Looks up all values in the final entries and in their contents.
    fn check(&mut self, session: &ReplaySession, uses: &BTreeMap<usize, Vec<ValueUse>>) -> Result<()> {
        for (number, result) in session.results().enumerate() {
            let (Some(Some(made)), Some(uses)) = (self.made.get(number), uses.get(&number)) else {
                continue;
            };
            let places: Vec<Option<ValuePlace>> = uses.iter().map(|used| place(made, &used.value)).collect();
            let id = made.id.clone();
            let content = self.fetch(&id)?;
            if content != result.content {
                bail!("the fetched content of {id} differs from the stored one");
            }
            for (used, place) in uses.iter().zip(places) {
                let named = &mut self.played.named;
                match place {
                    Some(ValuePlace::Summary) => named.summary += 1,
                    Some(ValuePlace::KeyData) => named.key_data += 1,
                    None => count(named, &content, &used.value),
                }
            }
        }
        Ok(())
    }
}

enum ValuePlace {
    Summary,
    KeyData,
}

fn place(made: &ReplacementEntry, value: &str) -> Option<ValuePlace> {
    if holds(&made.summary, value) {
        Some(ValuePlace::Summary)
    } else if holds(&made.key_data, value) {
        Some(ValuePlace::KeyData)
    } else {
        None
    }
}

fn count(found: &mut ValueTally, content: &str, value: &str) {
    if !content.contains(value) {
        found.lost += 1;
        return;
    }
    found.fetched += 1;
    found.secret += usize::from(!redact(content).contains(value));
}

/// Returns the extract that an agent submits if it wants entries of this size.
fn told(result: &ToolResult, tokens: usize) -> Extract {
    let hints = Hints {
        source_type: &result.tool,
        source_ref: &result.reference,
    };
    extract(result.content.as_bytes(), &hints, Some(tokens))
}

fn made(entry: ContextEntry) -> ReplacementEntry {
    let data = entry.key_data.unwrap_or_default();
    let mut key_data: String = data.keys().map(|key| format!("{key}\n")).collect();
    key_data.push_str(&needs::flat(&Value::Object(data)));
    ReplacementEntry {
        id: entry.id,
        summary: entry.summary,
        key_data,
    }
}
