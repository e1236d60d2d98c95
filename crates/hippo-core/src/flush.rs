//! What of a session belongs into the daily log: which topics, what was asked, decided and done, with which files and errors?
//!
//! The messages of a transcript become sections as an agent would write them at a checkpoint: request, analysis, decision, outcome, the
//! user's feedback, references, calls of tools. No model is asked: sentences are chosen by what they say of themselves, and stand as they
//! were said, without secrets. Of what tools answered only names, paths and short lines of errors are told: a text of a stranger is no
//! memory. Bytes come in pieces of any size, and memory does not grow with the transcript.

mod best;
mod called;
mod known;
mod said;
mod section;
mod sentence;
#[cfg(test)]
mod tests;
mod topic;

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::compaction::read::{self, Record};
use crate::compaction::split::{Piece, Splitter};
use crate::compaction::{Format, Message, Problem, Role};
use crate::context::render::without_sections;
use crate::time::Timestamp;

use called::Calls;
use known::Known;
use topic::{Topic, Trouble};

pub use known::Key;
pub use section::Section;

/// Sections of one day, at most.
const MOST: usize = 16;
/// Topics that are held before neighbours become one.
const HELD: usize = 4 * MOST;
/// Problems that are told one by one; more are counted.
const PROBLEMS: usize = 50;
/// Calls whose answers are waited for.
const CALLS: usize = 1_024;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The only format that is read; none: each record as it looks.
    pub format: Option<Format>,
    /// The folder below which paths are told without it.
    pub root: Option<String>,
    /// The topic with which an earlier flush of the session ended.
    pub topic: Option<String>,
    /// The session, and the transcript: within the first of them a message that does not say when it was said is known again, and it is
    /// noted for all. Without any, all such transcripts are one.
    pub within: Vec<String>,
    /// What is read stands behind what was read of the same transcript before.
    pub goes_on: bool,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flushed {
    /// The sections, in the order in which their topics began.
    pub sections: Vec<Section>,
    /// Messages that were new.
    pub messages: u64,
    /// Messages that were known.
    pub known: u64,
    /// The format that was found.
    pub format: Option<Format>,
    /// Records that could not be read; one that the file ends within is none.
    pub malformed: u64,
    /// The first of them.
    pub problems: Vec<Problem>,
    /// Bytes up to the end of the last line that is complete: from there a later flush reads on. None for a document, which has to be
    /// read anew.
    pub upto: Option<u64>,
    /// What the session was about in the end.
    pub topic: Option<String>,
}

/// Reads a transcript, or the rest of one.
pub struct Flusher<'a> {
    splitter: Splitter,
    fed: u64,
    upto: u64,
    state: State<'a>,
}

struct State<'a> {
    options: Options,
    known: Known,
    /// Whether a key is known; it is from then on.
    is_told: Box<dyn FnMut(&Key) -> bool + 'a>,
    /// The day of a moment.
    day: Box<dyn Fn(Timestamp) -> Date + 'a>,
    topics: Vec<Topic>,
    today: Option<Date>,
    calls: BTreeMap<u64, (String, String)>,
    at_the_end: bool,
    found: Flushed,
}

impl<'a> Flusher<'a> {
    /// Begins. `is_told` answers whether the message of a key was flushed before, and notes it; `day` says on which day a moment falls.
    pub fn new(
        mut options: Options,
        is_told: impl FnMut(&Key) -> bool + 'a,
        day: impl Fn(Timestamp) -> Date + 'a,
    ) -> Self {
        let known = Known::new(std::mem::take(&mut options.within), options.goes_on);
        Self {
            splitter: Splitter::default(),
            fed: 0,
            upto: 0,
            state: State {
                options,
                known,
                is_told: Box::new(is_told),
                day: Box::new(day),
                topics: Vec::new(),
                today: None,
                calls: BTreeMap::new(),
                at_the_end: false,
                found: Flushed::default(),
            },
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(end) = memchr::memrchr(b'\n', bytes) {
            self.upto = self.fed + end as u64 + 1;
        }
        self.fed += bytes.len() as u64;
        let Self { splitter, state, .. } = self;
        splitter.feed(bytes, &mut |piece| state.piece(piece));
    }

    /// Makes the sections.
    #[must_use]
    pub fn finish(self) -> Flushed {
        let Self {
            splitter,
            upto,
            mut state,
            ..
        } = self;
        let document = splitter.is_document();
        state.at_the_end = !document;
        splitter.finish(&mut |piece| state.piece(piece));
        state.found.upto = (!document).then_some(upto);
        state.finish()
    }
}

impl State<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        let (line, bytes) = match piece {
            Piece::Record(line, bytes) => (line, bytes),
            Piece::TooLong(line) => return self.problem(line, "longer than 16 MiB"),
            Piece::Cut(line) => return self.problem(line, "the file ends within it"),
        };
        let read = read::read(bytes, |record| {
            let fits = match (self.options.format, record.format) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(wanted), Some(found)) => wanted == found,
            };
            if fits {
                self.found.format = self.found.format.or(record.format);
                self.take(record);
            }
            fits
        });
        match read {
            Some(true) => {}
            Some(false) => self.problem(line, "no record of the format"),
            None => self.problem(line, "no JSON object"),
        }
    }

    fn problem(&mut self, line: u64, what: &'static str) {
        // The last line of a session that is being written is read when it is complete.
        if self.at_the_end {
            return;
        }
        self.found.malformed += 1;
        if self.found.problems.len() < PROBLEMS {
            self.found.problems.push(Problem { line, what });
        }
    }

    fn take(&mut self, record: Record<'_>) {
        let Record {
            format,
            messages,
            called,
            at,
            forked,
            ..
        } = record;
        if forked {
            self.known.copy_follows();
        }
        // Codex gives what it copies the time of the copy.
        let stamped_anew = format == Some(Format::Codex);
        let mut calls = called.iter();
        for message in messages {
            let new = !self.known.has(&message, at, stamped_anew, &mut self.is_told);
            let own = if message.calls.is_empty() {
                Vec::new()
            } else {
                called::split(&message.calls, &mut calls)
            };
            for call in &own {
                if let Some(id) = call.id {
                    if self.calls.len() >= CALLS {
                        self.calls.pop_first();
                    }
                    self.calls.insert(id, (call.tool.to_owned(), called::head(call)));
                }
            }
            if !new {
                self.found.known += 1;
                // What follows goes on with what was asked last, though that stands in the log already.
                if message.role == Role::User
                    && let Some(asked) = said::prompt(&message.text).filter(|asked| !said::is_answer(asked))
                {
                    self.options.topic = Some(said::title(&asked));
                    self.leave();
                }
                continue;
            }
            self.found.messages += 1;
            let day = at.map(|at| (self.day)(at)).or(self.today);
            self.today = day;
            self.say(&message, &own, day);
        }
    }

    /// What follows is no part of the topic so far.
    fn leave(&mut self) {
        if let Some(topic) = self.topics.last_mut() {
            topic.over = true;
        }
    }

    fn say(&mut self, message: &Message<'_>, calls: &Calls<'_>, day: Option<Date>) {
        let text = without_sections(&message.text);
        match message.role {
            Role::User => {
                let Some(asked) = said::prompt(&text) else {
                    return;
                };
                self.asked(&asked, day);
            }
            Role::Assistant => {
                let root = self.options.root.clone();
                let topic = self.topic(day);
                topic.messages += 1;
                topic.told(&text);
                for call in calls {
                    topic.called(call, root.as_deref());
                }
                let topic = topic.title.clone();
                self.options.topic = Some(topic);
            }
            Role::Tool => {
                let label = if message.by_call {
                    self.calls.remove(&read::hash(&message.name))
                } else {
                    Some((message.name.clone().into_owned(), String::new()))
                };
                let (tool, head) = label.unwrap_or_default();
                let trouble = Trouble::of(&tool, &head, &text, message.error);
                let topic = self.topic(day);
                topic.messages += 1;
                topic.answered(&tool, &head, trouble);
            }
            Role::Other => {}
        }
    }

    fn asked(&mut self, asked: &str, day: Option<Date>) {
        let goes_on = self
            .topics
            .last()
            .is_some_and(|topic| !topic.over && topic.day == day && topic.goes_on_with(asked));
        let answers = said::is_answer(asked) && self.options.topic.is_some();
        if !(goes_on || answers) {
            self.open(Topic::new(said::title(asked), day));
        }
        let topic = self.topic(day);
        topic.messages += 1;
        topic.asked(asked);
        self.options.topic = Some(topic.title.clone());
    }

    /// The topic of what is said on this day; one goes on after midnight in another section.
    fn topic(&mut self, day: Option<Date>) -> &mut Topic {
        let fits = self
            .topics
            .last()
            .is_some_and(|topic| !topic.over && topic.day == day);
        if !fits {
            let title = self.options.topic.clone().unwrap_or_default();
            let mut topic = Topic::new(title, day);
            topic.continued = true;
            self.open(topic);
        }
        let last = self.topics.len() - 1;
        &mut self.topics[last]
    }

    fn open(&mut self, topic: Topic) {
        if self.topics.last().is_some_and(|last| !last.is_worth_telling()) {
            self.topics.pop();
        }
        self.topics.push(topic);
        if self.topics.len() > HELD {
            topic::join(&mut self.topics, HELD / 2);
        }
    }

    fn finish(self) -> Flushed {
        let Self {
            mut topics,
            options,
            mut found,
            ..
        } = self;
        topics.retain(Topic::is_worth_telling);
        let mut days: Vec<Option<Date>> = topics.iter().map(|topic| topic.day).collect();
        days.dedup();
        topic::join(&mut topics, MOST * days.len().max(1));
        let mut counts: BTreeMap<Option<Date>, usize> = BTreeMap::new();
        for topic in &topics {
            *counts.entry(topic.day).or_default() += 1;
        }
        found.sections = topics
            .iter()
            .map(|topic| Section::of(topic, counts.get(&topic.day).copied().unwrap_or(1)))
            .collect();
        found.topic = options.topic;
        found
    }
}

impl std::fmt::Debug for Flusher<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Flusher")
            .field("fed", &self.fed)
            .finish_non_exhaustive()
    }
}

/// The sections of a transcript that is in memory, of which nothing is known.
#[must_use]
pub fn flush(bytes: &[u8], options: Options, day: impl Fn(Timestamp) -> Date) -> Flushed {
    let mut seen = std::collections::BTreeSet::new();
    let mut flusher = Flusher::new(options, |key| !seen.insert(*key), day);
    flusher.feed(bytes);
    flusher.finish()
}
