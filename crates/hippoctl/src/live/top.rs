//! Live view of a workspace: edits, questions, entries, backlog and cycles.

mod draw;
mod watch;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use hippo_proto::{
    EntryPlace, EntryPriority, Event, IndexEntry, LoggedQuestion, StatusResponse, StrengthBand,
};
use jiff::Timestamp;

use super::Screen;
use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::render::plural;
use crate::verbs::watched::workspace_at;
use watch::News;

/// Maximum time until the view reacts to news.
const TICK: Duration = Duration::from_millis(100);
/// Maximum number of events.
const EVENTS: usize = 100;

/// The state of the view.
struct Activity {
    workspace: String,
    begun: Instant,
    status: Option<StatusResponse>,
    /// Number of passages that were searchable by meaning at the beginning.
    embedded: u64,
    questions: Vec<LoggedQuestion>,
    entries: Vec<IndexEntry>,
    /// The entries that were accessed since the beginning, latest first, with their strength before.
    strengthened: Vec<(String, f32)>,
    /// Time and description of the last events, latest first.
    events: VecDeque<(Timestamp, String)>,
    asked: u64,
    prompts: u64,
    edits: u64,
    trouble: Option<String>,
}

/// Shows what the daemon does in a workspace, until the user leaves.
///
/// # Errors
/// Fails if the terminal cannot be used.
pub fn top(session: &DaemonSession, mut screen: Screen, workspace: String) -> Result<(), Failure> {
    let news = watch::start(session.another(), workspace.clone());
    let mut activity = Activity::new(workspace);
    loop {
        news.try_iter().for_each(|news| activity.hear(news));
        let theme = screen.theme;
        screen.draw(|frame| draw::draw(frame, &activity, theme))?;
        let Some(Input::Key(key)) = screen.next(TICK)? else {
            continue;
        };
        let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = is_interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc);
        if leaves && key.kind != KeyEventKind::Release {
            return Ok(());
        }
    }
}

impl Activity {
    fn new(workspace: String) -> Self {
        Self {
            workspace,
            begun: Instant::now(),
            status: None,
            embedded: 0,
            questions: Vec::new(),
            entries: Vec::new(),
            strengthened: Vec::new(),
            events: VecDeque::new(),
            asked: 0,
            prompts: 0,
            edits: 0,
            trouble: None,
        }
    }

    fn hear(&mut self, news: News) {
        self.trouble = None;
        match news {
            News::Status(status) => {
                if self.status.is_none() {
                    let found = workspace_at(&status, self.workspace.as_ref());
                    self.embedded = found.map_or(0, |workspace| workspace.embedded);
                }
                self.status = Some(*status);
            }
            News::Questions(questions) => {
                if self.status.is_some() && !self.questions.is_empty() {
                    self.count(&questions);
                }
                self.questions = questions;
            }
            News::Entries(entries) => self.compare(entries),
            News::Event(event) => self.note(&event),
            News::Trouble(why) => self.trouble = Some(why),
        }
    }

    /// Counts the questions that are new.
    fn count(&mut self, questions: &[LoggedQuestion]) {
        let last = self.questions.first().map_or(0, |question| question.id);
        let new = questions.iter().filter(|question| question.id > last);
        for question in new {
            match question.client.as_deref() {
                Some("hook") => self.prompts += 1,
                _ => self.asked += 1,
            }
        }
    }

    /// Finds the entries that were accessed.
    fn compare(&mut self, entries: Vec<IndexEntry>) {
        for entry in &entries {
            let before = self.entries.iter().find(|before| before.id == entry.id);
            if let Some(before) = before
                && before.hits < entry.hits
            {
                let first = self.strengthened.iter().find(|(id, _)| *id == entry.id);
                let strength = first.map_or(before.strength, |(_, strength)| *strength);
                self.strengthened.retain(|(id, _)| *id != entry.id);
                self.strengthened.insert(0, (entry.id.clone(), strength));
            }
        }
        self.entries = entries;
    }

    fn note(&mut self, event: &Event) {
        let text = match event {
            Event::Indexed { changed, removed, .. } => {
                self.edits += changed + removed;
                let changed = format!("{} read", plural(*changed, "changed file"));
                match removed {
                    0 => changed,
                    _ => format!("{changed}, {removed} removed"),
                }
            }
            // The backlog is a line of its own.
            Event::Degraded { degraded, .. } if degraded.as_deref() == Some("embeddings-behind") => return,
            Event::Degraded { degraded, why, .. } => match degraded {
                Some(degraded) => format!("degraded: {degraded} {}", why.as_deref().unwrap_or_default()),
                None if self.is_degraded() => "no longer degraded".to_owned(),
                None => return,
            },
            Event::Job {
                job,
                done,
                total,
                finished,
                ..
            } => {
                // A job reports often. Its last report replaces the others.
                let job = format!("{job}: ");
                if self
                    .events
                    .front()
                    .is_some_and(|(_, last)| last.starts_with(&job))
                {
                    self.events.pop_front();
                }
                match (finished, total) {
                    (true, _) => format!("{job}done"),
                    (false, Some(total)) => format!("{job}{done} of {total}"),
                    (false, None) => format!("{job}{done}"),
                }
            }
            Event::Cycle {
                run, cycle, applied, ..
            } => format!("{} cycle: run {run}, {}", cycle.name(), plural(*applied, "step")),
        };
        self.events.push_front((Timestamp::now(), text));
        self.events.truncate(EVENTS);
    }

    /// Returns whether the last event about the state was a problem.
    fn is_degraded(&self) -> bool {
        let mut events = self.events.iter();
        let last = events.find(|(_, text)| text.contains("degraded"));
        last.is_some_and(|(_, text)| text.starts_with("degraded"))
    }

    /// Returns the entries that fade, weakest first.
    fn fading(&self) -> Vec<&IndexEntry> {
        let fades = |entry: &&IndexEntry| {
            entry.priority != EntryPriority::Amygdala
                && entry.place != EntryPlace::Archive
                && !matches!(entry.band, StrengthBand::Strong)
        };
        // The daemon lists the strongest entry first.
        self.entries.iter().rev().filter(fades).collect()
    }
}
