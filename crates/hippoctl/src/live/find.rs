//! Search while the user types.

mod draw;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use hippo_proto::{GetRequest, GetResponse, SearchHit, SearchRequest, SearchResponse};

use super::Screen;
use super::field::TextField;
use super::open::open;
use super::worker::{Answer, Job, Worker};
use crate::connect::{DaemonSession, current_dir};
use crate::failure::Failure;
use crate::render::passage::TerminalView;

/// Maximum time until the view reacts to an answer.
const TICK: Duration = Duration::from_millis(20);
/// Time after which a search is repeated if the daemon was not ready.
const AGAIN: Duration = Duration::from_millis(500);
/// Number of results, unless the user gave one.
const LIMIT: u32 = 50;
/// Number of lines of a file in the preview, and before the passage.
const PREVIEW: (u32, u32) = (200, 2);

/// The state of the view.
struct Finder {
    request: SearchRequest,
    field: TextField,
    found: Option<SearchResponse>,
    view: TerminalView,
    selected: usize,
    preview: Option<GetResponse>,
    note: String,
    is_lost: bool,
    /// True if the user pressed Enter before the results arrived.
    opens: bool,
    again: Option<Instant>,
}

/// Shows the results of a search while the user types, until the user leaves.
///
/// # Errors
/// Fails if the terminal cannot be used.
pub fn find(session: &DaemonSession, mut screen: Screen, request: SearchRequest) -> Result<(), Failure> {
    let theme = screen.theme;
    let worker = Worker::start(session.another());
    let mut finder = Finder::new(request);
    finder.search(&worker);
    loop {
        while let Some(answer) = worker.answer() {
            finder.hear(answer, &worker);
        }
        if finder.opens && finder.is_current() {
            finder.opens = false;
            finder.edit(&mut screen, &worker)?;
        }
        if finder.again.is_some_and(|again| Instant::now() >= again) {
            finder.search(&worker);
        }
        screen.draw(|frame| draw::draw(frame, &finder, theme))?;
        match screen.next(TICK)? {
            Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                let leaves = finder.press(key, &mut screen, &worker)?;
                if leaves {
                    drop(screen);
                    worker.finish();
                    return Ok(());
                }
            }
            Some(Event::Paste(text)) => {
                finder.field.insert(&text);
                finder.search(&worker);
            }
            _ => {}
        }
    }
}

impl Finder {
    fn new(mut request: SearchRequest) -> Self {
        request.limit = request.limit.or(Some(LIMIT));
        let field = TextField::new(std::mem::take(&mut request.query));
        Self {
            view: Self::view(&request, ""),
            request,
            field,
            found: None,
            selected: 0,
            preview: None,
            note: String::new(),
            is_lost: false,
            opens: false,
            again: None,
        }
    }

    fn view(request: &SearchRequest, query: &str) -> TerminalView {
        let root = PathBuf::from(&request.workspace);
        TerminalView::new(current_dir().unwrap_or_default(), Some(root), query)
    }

    /// Returns the selected result.
    fn hit(&self) -> Option<&SearchHit> {
        self.found.as_ref()?.results.get(self.selected)
    }

    /// Returns whether the results belong to the text of the field.
    fn is_current(&self) -> bool {
        self.found
            .as_ref()
            .is_some_and(|found| found.query == self.field.text())
    }

    /// Asks for the results. The recall log does not keep this question.
    fn search(&mut self, worker: &Worker) {
        self.again = None;
        if self.field.text().trim().is_empty() {
            (self.found, self.preview, self.opens) = (None, None, false);
            return;
        }
        worker.send(Job::Search(SearchRequest {
            query: self.field.text().to_owned(),
            record: false,
            log: false,
            ..self.request.clone()
        }));
    }

    fn hear(&mut self, answer: Answer, worker: &Worker) {
        self.is_lost = matches!(answer, Answer::Lost);
        match answer {
            Answer::Found(found) => {
                if found.index.degraded.as_deref() == Some("warming") {
                    self.again = Some(Instant::now() + AGAIN);
                }
                let before = self.hit().map(|hit| hit.id.clone());
                self.view = Self::view(&self.request, &found.query);
                self.found = Some(*found).filter(|_| !self.field.text().trim().is_empty());
                if self.hit().map(|hit| &hit.id) != before.as_ref() {
                    self.select(0, worker);
                }
            }
            Answer::Preview(preview) => self.preview = Some(preview),
            Answer::Refused(failure) => {
                self.opens = false;
                self.note = failure.message;
            }
            Answer::Lost => {}
        }
    }

    /// Selects a result, and asks for the text around it.
    fn select(&mut self, at: usize, worker: &Worker) {
        let last = self.found.as_ref().map_or(0, |found| found.results.len());
        self.selected = at.min(last.saturating_sub(1));
        self.preview = None;
        let Some(hit) = self.hit() else { return };
        worker.send(Job::Preview(GetRequest {
            workspace: Some(self.request.workspace.clone()),
            path: Some(hit.path.clone()),
            from: Some(hit.start_line.saturating_sub(PREVIEW.1).max(1)),
            count: Some(PREVIEW.0),
            peek: true,
            ..GetRequest::default()
        }));
    }

    /// Handles a key. Returns true if the user leaves.
    fn press(&mut self, key: KeyEvent, screen: &mut Screen, worker: &Worker) -> Result<bool, Failure> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.note.clear();
        self.opens = false;
        match (key.code, is_control) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return Ok(true),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => {
                self.select(self.selected.saturating_sub(1), worker);
            }
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => self.select(self.selected + 1, worker),
            (KeyCode::Enter, _) => self.opens = !self.field.text().trim().is_empty(),
            (KeyCode::Char('y'), true) => {
                if let Some(hit) = self.hit() {
                    let pointer = draw::pointer(hit);
                    screen.copy(&pointer)?;
                    self.note = format!("copied {pointer}");
                }
            }
            _ => {
                let before = self.field.text().to_owned();
                self.field.press(key);
                if self.field.text() != before {
                    self.search(worker);
                }
            }
        }
        Ok(false)
    }

    /// Opens the selected result in the editor. The recall log keeps the question.
    fn edit(&mut self, screen: &mut Screen, worker: &Worker) -> Result<(), Failure> {
        let Some(hit) = self.hit() else { return Ok(()) };
        let (path, line) = (
            PathBuf::from(&self.request.workspace).join(&hit.path),
            hit.start_line,
        );
        worker.send(Job::Keep(SearchRequest {
            query: self.field.text().to_owned(),
            ..self.request.clone()
        }));
        if let Err(why) = screen.lend(|| open(&path, line))? {
            self.note = why;
        }
        self.search(worker);
        Ok(())
    }
}
