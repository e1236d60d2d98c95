//! Time from a saved edit until searches find it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hippo_proto::{
    Client, Event, EventName, Request, SearchMode, SearchRequest, SearchResponse, SubscribeRequest,
    SubscribeResponse,
};

/// One edit, and the two questions that find it.
pub struct TimedEdit<'a> {
    /// File, relative to the workspace.
    pub file: &'a str,
    /// Line to append, without its line feed.
    pub line: &'a str,
    /// Query for lexical search: words of the line.
    pub words: &'a str,
    /// Query for semantic search: a question with other words.
    pub meaning: &'a str,
    /// Maximum rank at which the line counts as found.
    pub depth: u32,
}

/// Times from the saved edit until an answer contains the line.
#[derive(Debug, Clone, Copy)]
pub struct EditTimes {
    /// Lexical search.
    pub lexical: Duration,
    /// Semantic search.
    pub vector: Duration,
}

/// Two connections to the daemon: one receives events, the other sends questions.
pub struct Editor<'a> {
    root: &'a str,
    events: Client,
    questions: Client,
}

impl<'a> Editor<'a> {
    /// Subscribes to the events of the workspace.
    ///
    /// # Errors
    /// Fails if the daemon refuses.
    pub fn new(root: &'a str, mut events: Client, questions: Client) -> Result<Self> {
        let subscribe = SubscribeRequest {
            workspace: Some(root.to_owned()),
            events: Some(vec![EventName::Indexed, EventName::Job]),
        };
        let _: SubscribeResponse = events.call(&Request::from(subscribe))?;
        Ok(Self {
            root,
            events,
            questions,
        })
    }

    /// Appends the line, then asks both questions after each event, until both find the line. No question is sent
    /// before the first event. A search that finds a changed file makes the daemon read the file immediately, which
    /// would distort the measurement.
    ///
    /// # Errors
    /// Fails if no event arrives in time, or if no answer contains the line.
    pub fn make(&mut self, edit: &TimedEdit<'_>) -> Result<EditTimes> {
        let path = Path::new(self.root).join(edit.file);
        let saved =
            append(&path, edit.line).with_context(|| format!("could not write {}", path.display()))?;
        let lexical = self.wait(edit, SearchMode::Lexical, edit.words, saved)?;
        let vector = self.wait(edit, SearchMode::Vector, edit.meaning, saved)?;
        Ok(EditTimes { lexical, vector })
    }

    fn wait(
        &mut self,
        edit: &TimedEdit<'_>,
        mode: SearchMode,
        query: &str,
        saved: Instant,
    ) -> Result<Duration> {
        loop {
            if mode == SearchMode::Lexical {
                let mut news = self.events.notifications().filter_map(|news| news.event());
                if !news.any(|event| matches!(event, Event::Indexed { .. })) {
                    bail!("no event arrived for the edit of {}", edit.file);
                }
            }
            let request = SearchRequest {
                mode: Some(mode),
                limit: Some(edit.depth),
                ..SearchRequest::new(self.root, query)
            };
            let answer: SearchResponse = self.questions.call(&Request::from(request))?;
            let found = answer.mode == mode
                && answer
                    .results
                    .iter()
                    .any(|hit| hit.path == edit.file && hit.text.contains(edit.line));
            if found {
                return Ok(saved.elapsed());
            }
            if mode != SearchMode::Lexical && self.events.notifications().next().is_none() {
                bail!("no search found the edit of {}: {query}", edit.file);
            }
        }
    }
}

fn append(path: &Path, line: &str) -> std::io::Result<Instant> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    drop(file);
    Ok(Instant::now())
}
