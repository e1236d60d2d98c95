//! Cost of context requests over the socket.

mod large;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Client, ContextFetchRequest, ContextFetchResponse, ContextKind, ContextOpenRequest, ContextOpenResponse,
    ContextPutOutcome, ContextPutRequest, ContextPutResponse, ContextPutSource, ContextRenderRequest,
    ContextRenderResponse, ContextTouchRequest, ContextTouchResponse, ContextTurnRequest,
    ContextTurnResponse, ContextsStatus, FetchOrigin, FetchOutcome, Request, StatusRequest, StatusResponse,
};

use super::BenchEnvironment;
use super::entries::{add, clear};
use super::table::{Figure, ms, percentile};
use crate::terminal::say;
use large::{SyntheticResult, ToolCorpus};

const PART: &str = "contexts";
/// Time limit of one request.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of timed large results. A few untimed results precede them.
const PUTS: usize = 60;
const FIRST: usize = 6;
/// Size of each large result in bytes: 50,000 tokens.
const LARGE: usize = 200_000;
/// Number of times that each result is fetched with each of its ids.
const ROUNDS: usize = 3;
/// Number of active entries in a session, and the maximum milliseconds of a turn in that session.
const SESSIONS: [(usize, f64); 2] = [(1_000, 1.0), (10_000, 10.0)];
/// Size of the stored content behind each entry, in bytes.
const SMALL: usize = 4_200;
/// Number of timed turns. In each turn, the rendering of the section is timed as well.
const TURNS: u64 = 100;
/// Number of fetched entries between two turns.
const ASKED: usize = 2;

/// Measures storing and fetching of large results, and turns of long sessions.
///
/// # Errors
/// Fails if the data is missing, the daemon refuses a request, or fetched content differs from the stored content.
pub fn run(ground: &mut BenchEnvironment<'_>) -> Result<Vec<Figure>> {
    let corpus = ToolCorpus::read(ground.workspaces.eval())?;
    let folder = ground.scratch.folder.join("eval/contexts");
    clear(ground, &folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
    fs::write(
        folder.join("MEMORY.md"),
        "# Memory\n\nThe release is on Monday.\n",
    )?;
    let root = add(ground, &folder)?;
    let mut agent = ClientAgent {
        client: ground.scratch.connect(PATIENCE)?,
        root,
        session: String::new(),
    };
    let mut figures = agent.there_and_back(&corpus, &ground.scratch.folder.join("home/state"))?;
    for (count, most) in SESSIONS {
        figures.extend(agent.turns(&corpus, count, most)?);
    }
    Ok(figures)
}

/// A client with an open session.
struct ClientAgent {
    client: Client,
    root: String,
    session: String,
}

/// Ids of stored content and of its entry.
struct StoredIds {
    entry: String,
    content: String,
    text: String,
}

impl ClientAgent {
    fn open(&mut self) -> Result<()> {
        let open = ContextOpenRequest {
            workspace: self.root.clone(),
            agent: Some("bench".to_owned()),
            session: None,
        };
        let opened: ContextOpenResponse = self.client.call(&Request::from(open))?;
        self.session = opened.session;
        Ok(())
    }

    /// Stores a tool result, which becomes an entry. Returns its ids and the time in milliseconds.
    fn put(&mut self, piece: SyntheticResult) -> Result<(StoredIds, f64)> {
        let SyntheticResult { tool, call, text } = piece;
        let put = ContextPutRequest {
            session: self.session.clone(),
            turn: 1,
            type_: ContextKind::ToolResult,
            source: ContextPutSource {
                type_: tool,
                reference: call,
            },
            content: text.clone(),
            ..ContextPutRequest::default()
        };
        let (put, took): (ContextPutResponse, f64) = self.timed(&Request::from(put))?;
        let (Some(entry), Some(content), ContextPutOutcome::Entry) = (put.entry, put.content_id, put.outcome)
        else {
            bail!("a tool result became {:?}: {:?}", put.outcome, put.reason);
        };
        let entry = entry.id;
        Ok((StoredIds { entry, content, text }, took))
    }

    fn timed<A: serde::de::DeserializeOwned>(&mut self, request: &Request) -> Result<(A, f64)> {
        let begun = Instant::now();
        let answer = self.client.call(request)?;
        Ok((answer, begun.elapsed().as_secs_f64() * 1e3))
    }

    fn usage(&mut self) -> Result<ContextsStatus> {
        let status: StatusResponse = self.client.call(&Request::from(StatusRequest {}))?;
        let own = status.workspaces.into_iter().find(|one| one.root == self.root);
        own.and_then(|own| own.contexts)
            .context("the status has no contexts")
    }

    /// Measures storing and fetching of large results. Compares each time with that of a synced write of the same
    /// stored size to a plain file.
    fn there_and_back(&mut self, corpus: &ToolCorpus, state: &Path) -> Result<Vec<Figure>> {
        self.open()?;
        for at in 0..FIRST {
            self.put(corpus.piece(at, LARGE))?;
        }
        let mut bare = PlainFile::new(state)?;
        let (mut puts, mut writes, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = self.usage()?;
        let began = before.clone();
        for at in FIRST..FIRST + PUTS {
            let (one, took) = self.put(corpus.piece(at, LARGE))?;
            let after = self.usage()?;
            let bytes = usize::try_from(after.stored_bytes - before.stored_bytes)?;
            if after.contents != before.contents + 1 || bytes == 0 {
                bail!("the content of {} was already stored", one.entry);
            }
            writes.push(bare.write(&one.text.as_bytes()[..bytes.min(one.text.len())])?);
            puts.push(took);
            stored.push(one);
            before = after;
        }
        bare.remove()?;
        let (p50, disk) = (percentile(&puts, 0.5), percentile(&writes, 0.5));
        let small = (before.stored_bytes - began.stored_bytes) as f64 / PUTS as f64;
        let mut figures = vec![
            Figure::new(
                PART,
                format!("`context.put` of {LARGE} bytes, durable: p50 / p95 of {PUTS} contents"),
                format!("{} / {}", ms(p50), ms(percentile(&puts, 0.95))),
            )
            .reach("≤ 15 ms", p50 <= 15.0),
            Figure::new(
                PART,
                format!(
                    "plain write and fsync of as many bytes as one stored content takes, {:.0} KB: p50 / p95",
                    small / 1e3
                ),
                format!(
                    "{} / {}; `context.put` takes {:.1} × as long",
                    ms(disk),
                    ms(percentile(&writes, 0.95)),
                    p50 / disk
                ),
            ),
        ];
        let by_entry = self.fetched(&stored, |one| one.entry.clone())?;
        let by_content = self.fetched(&stored, |one| one.content.clone())?;
        let p50 = percentile(&by_entry.0, 0.5);
        figures.push(
            Figure::new(
                PART,
                "`context.fetch` of these contents by entry id (counts as an access): p50 / p95",
                format!("{} / {}", ms(p50), ms(percentile(&by_entry.0, 0.95))),
            )
            .reach("≤ 5 ms", p50 <= 5.0),
        );
        let p50 = percentile(&by_content.0, 0.5);
        figures.push(
            Figure::new(
                PART,
                "`context.fetch` of these contents by content id: p50 / p95",
                format!("{} / {}", ms(p50), ms(percentile(&by_content.0, 0.95))),
            )
            .reach("≤ 5 ms", p50 <= 5.0),
        );
        let (all, alike) = (by_entry.0.len() + by_content.0.len(), by_entry.1 + by_content.1);
        figures.push(
            Figure::new(
                PART,
                format!("share of {all} fetches that return exactly the stored bytes"),
                format!("{:.1} %", 100.0 * alike as f64 / all as f64),
            )
            .reach("100 %", alike == all),
        );
        Ok(figures)
    }

    /// Returns the milliseconds of all fetches, and the number of fetches whose content was equal to the stored
    /// content.
    fn fetched(
        &mut self,
        stored: &[StoredIds],
        id: impl Fn(&StoredIds) -> String,
    ) -> Result<(Vec<f64>, usize)> {
        let (mut times, mut alike) = (Vec::new(), 0);
        for one in stored.iter().cycle().take(ROUNDS * stored.len()) {
            let fetch = ContextFetchRequest {
                session: Some(self.session.clone()),
                id: id(one),
            };
            let (got, took): (ContextFetchResponse, f64) = self.timed(&Request::from(fetch))?;
            let whole = got.outcome == FetchOutcome::Full && got.from == Some(FetchOrigin::Store);
            alike += usize::from(whole && got.content.as_ref() == Some(&one.text));
            times.push(took);
        }
        Ok((times, alike))
    }

    /// Measures turns and sections of a session with `count` active entries. Some entries are fetched between the
    /// turns.
    fn turns(&mut self, corpus: &ToolCorpus, count: usize, most: f64) -> Result<Vec<Figure>> {
        self.open()?;
        let begun = Instant::now();
        let mut ids = Vec::new();
        for at in 0..count {
            let piece = corpus.piece(at, SMALL);
            ids.push(self.put(piece)?.0.entry);
        }
        let filled = begun.elapsed().as_secs_f64() * 1e3 / count as f64;
        say(format_args!(
            "{count} entries were stored, in {} each",
            ms(filled)
        ));
        let (mut turns, mut sections, mut tokens) = (Vec::new(), Vec::new(), 0);
        for turn in 2..2 + TURNS {
            for step in 0..ASKED {
                let at = usize::try_from(turn)? * 7 + step * 11;
                let touch = ContextTouchRequest {
                    session: self.session.clone(),
                    id: ids[at % ids.len()].clone(),
                    turn: Some(turn),
                };
                let _: ContextTouchResponse = self.client.call(&Request::from(touch))?;
            }
            let end = ContextTurnRequest {
                session: self.session.clone(),
                turn,
                context_tokens: None,
                context_limit: None,
            };
            let (answer, took): (ContextTurnResponse, f64) = self.timed(&Request::from(end))?;
            if answer.active != count as u64 {
                bail!("{} of {count} entries are active in turn {turn}", answer.active);
            }
            turns.push(took);
            tokens = answer.tokens;
            let render = ContextRenderRequest {
                session: self.session.clone(),
                ..ContextRenderRequest::default()
            };
            let (section, took): (ContextRenderResponse, f64) = self.timed(&Request::from(render))?;
            if section.entries.is_empty() {
                bail!("the section of turn {turn} is empty");
            }
            sections.push(took);
        }
        let p50 = percentile(&turns, 0.5);
        let row = |what: String, times: &[f64]| {
            let told = format!("{} / {}", ms(percentile(times, 0.5)), ms(percentile(times, 0.95)));
            Figure::new(PART, what, told)
        };
        Ok(vec![
            row(
                format!(
                    "`context.turn`, {count} active entries of {} tokens: p50 / p95 of {TURNS}",
                    tokens / count as u64
                ),
                &turns,
            )
            .reach(format!("≤ {most} ms"), p50 <= most),
            row(
                format!("`context.render`, {count} active entries: p50 / p95"),
                &sections,
            ),
        ])
    }
}

/// A plain file without a database.
struct PlainFile {
    path: PathBuf,
    file: File,
}

impl PlainFile {
    fn new(folder: &Path) -> Result<Self> {
        let path = folder.join("bare");
        let file = File::create(&path).with_context(|| format!("could not create {}", path.display()))?;
        Ok(Self { path, file })
    }

    /// Writes the bytes, and returns the milliseconds until they are on the disk.
    fn write(&mut self, bytes: &[u8]) -> Result<f64> {
        let begun = Instant::now();
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).with_context(|| format!("could not remove {}", self.path.display()))
    }
}
