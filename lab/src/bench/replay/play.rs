//! What does a session come to when its tool results go to the daemon, beside the same session without it?

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use hippo_core::extract::{Extract, Hints, extract};
use hippo_core::redact::redact;
use hippo_core::tokens;
use hippo_proto::{
    Client, ContextCloseRequest, ContextCloseResponse, ContextEntry, ContextFetchRequest,
    ContextFetchResponse, ContextOpenRequest, ContextOpenResponse, ContextPutRequest, ContextPutResponse,
    ContextPutSource, ContextRenderRequest, ContextRenderResponse, ContextTurnRequest, ContextTurnResponse,
    ContextType,
};
use serde_json::Value;

use super::session::{Read, Session, ToolResult, Turn};
use super::uses::Use;
use super::window::Window;
use crate::bench::compaction::needs;
use crate::bench::extract::holds;

/// Where the values were found.
#[derive(Debug, Default, Clone, Copy)]
pub struct Found {
    pub summary: usize,
    pub key_data: usize,
    pub fetched: usize,
    /// Of those that were fetched: secrets, which no entry shows.
    pub secret: usize,
    pub lost: usize,
}

impl Found {
    /// How many were looked for.
    pub fn all(&self) -> usize {
        self.summary + self.key_data + self.fetched + self.lost
    }

    /// Adds what another session has.
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

/// How a session is replayed.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Tokens of the model's window.
    pub limit: usize,
    /// Turns for which what tools gave stays whole, with hippod: 1 is that in which it came.
    pub whole: usize,
    /// Tokens that summary and key data are given; none: as many as the daemon gives them.
    pub told: Option<usize>,
    /// Tokens above which a tool result becomes an entry.
    pub worth: usize,
}

/// What a session came to.
#[derive(Debug, Default)]
pub struct Played {
    /// Tokens of the context of each turn without hippod: what the model read and its answer.
    pub without: Vec<usize>,
    /// The same with hippod.
    pub with: Vec<usize>,
    /// Compactions without and with it.
    pub compactions: [usize; 2],
    /// Tokens of what became entries, and of the entries.
    pub entries: Vec<(usize, usize)>,
    /// Tokens of the largest section.
    pub section: usize,
    /// All values of entries that the agent named later.
    pub named: Found,
    /// Of these, those that stood nowhere else in the context when they were named.
    pub needed: Found,
    /// Contents that were fetched in the course of the session.
    pub fetches: usize,
}

/// An entry that stands for a tool result.
struct Made {
    id: String,
    summary: String,
    key_data: String,
}

/// What the model has before it of the entries.
#[derive(Default)]
struct Section {
    tokens: usize,
    shown: BTreeSet<String>,
}

/// Replays a session in one way.
///
/// # Errors
/// The daemon refuses something.
pub fn play(
    client: &mut Client,
    workspace: &str,
    session: &Session,
    uses: &BTreeMap<usize, Vec<Use>>,
    way: Way,
) -> Result<Played> {
    let open = ContextOpenRequest {
        workspace: workspace.to_owned(),
        agent: Some("replay".to_owned()),
        session: None,
    };
    let opened: ContextOpenResponse = client.call(&open.into())?;
    let mut run = Run {
        client,
        id: opened.session,
        way,
        made: Vec::new(),
        whole: Vec::new(),
        section: Section::default(),
        played: Played::default(),
    };
    let (mut without, mut with) = (Window::new(way.limit, 1), Window::new(way.limit, way.whole));
    for (at, turn) in session.turns.iter().enumerate() {
        let read: usize = turn.read.iter().map(Read::tokens).sum();
        let answered = turn.answered();
        let prompt = without.prompt(read);
        run.played.without.push(prompt + answered);
        without.keep(read + answered, read + answered);

        // What has just come is read whole, and only then its entry stands for it.
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

struct Run<'c> {
    client: &'c mut Client,
    id: String,
    way: Way,
    /// By the numbers of the tool results.
    made: Vec<Option<Made>>,
    /// The turns in which they came, or were fetched last.
    whole: Vec<usize>,
    section: Section,
    played: Played,
}

impl Run<'_> {
    /// Puts what tools gave. Answers the tokens of what stays in the context of all that was read.
    fn put(&mut self, at: usize, turn: &Turn) -> Result<usize> {
        let mut left = 0;
        for read in &turn.read {
            left += match read {
                Read::Text(_) => read.tokens(),
                Read::Result(result) => self.put_one(at, result)?,
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
            type_: ContextType::ToolResult,
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
        // Its id stays where it was, so that it can be fetched when the section does not show it.
        let left = tokens::of(&format!("[{}]", entry.id));
        self.played.entries.push((whole, answer.entry_tokens as usize));
        self.made.push(Some(made(entry)));
        Ok(left)
    }

    /// Looks up the values that the agent names in this turn and that stand nowhere else. Answers the tokens of what had to be fetched.
    fn look(&mut self, at: usize, uses: &BTreeMap<usize, Vec<Use>>) -> Result<usize> {
        let mut tokens = 0;
        let named = |used: &&Use| used.named == at;
        for (number, uses) in uses {
            let number = *number;
            let needed: Vec<&Use> = uses
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
                    Some(Place::Summary) => self.played.needed.summary += 1,
                    Some(Place::KeyData) => self.played.needed.key_data += 1,
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

    /// Whether a value stands in the context beside the entry of the result that brought it up.
    fn stands(&self, number: usize, used: &Use, at: usize) -> bool {
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
            .with_context(|| format!("the content of {id} was not given: {:?}", answer.reason))
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
            bail!("the section of turn {at} has other tokens than it says");
        }
        self.section = Section {
            tokens: section.tokens as usize,
            shown: section.entries.into_iter().map(|entry| entry.id).collect(),
        };
        self.played.section = self.played.section.max(self.section.tokens);
        Ok(())
    }

    /// Looks for all values in the entries as they are, and in what they stand for.
    fn check(&mut self, session: &Session, uses: &BTreeMap<usize, Vec<Use>>) -> Result<()> {
        for (number, result) in session.results().enumerate() {
            let (Some(Some(made)), Some(uses)) = (self.made.get(number), uses.get(&number)) else {
                continue;
            };
            let places: Vec<Option<Place>> = uses.iter().map(|used| place(made, &used.value)).collect();
            let id = made.id.clone();
            let content = self.fetch(&id)?;
            if content != result.content {
                bail!("what was fetched for {id} is not what was put");
            }
            for (used, place) in uses.iter().zip(places) {
                let named = &mut self.played.named;
                match place {
                    Some(Place::Summary) => named.summary += 1,
                    Some(Place::KeyData) => named.key_data += 1,
                    None => count(named, &content, &used.value),
                }
            }
        }
        Ok(())
    }
}

enum Place {
    Summary,
    KeyData,
}

fn place(made: &Made, value: &str) -> Option<Place> {
    if holds(&made.summary, value) {
        Some(Place::Summary)
    } else if holds(&made.key_data, value) {
        Some(Place::KeyData)
    } else {
        None
    }
}

fn count(found: &mut Found, content: &str, value: &str) {
    if !content.contains(value) {
        found.lost += 1;
        return;
    }
    found.fetched += 1;
    found.secret += usize::from(!redact(content).contains(value));
}

/// What an agent that asks for entries of this size puts beside the content.
fn told(result: &ToolResult, tokens: usize) -> Extract {
    let hints = Hints {
        source_type: &result.tool,
        source_ref: &result.reference,
        content_type: None,
    };
    extract(result.content.as_bytes(), &hints, Some(tokens))
}

fn made(entry: ContextEntry) -> Made {
    let data = entry.key_data.unwrap_or_default();
    let mut key_data: String = data.keys().map(|key| format!("{key}\n")).collect();
    key_data.push_str(&needs::flat(&Value::Object(data)));
    Made {
        id: entry.id,
        summary: entry.summary,
        key_data,
    }
}
