//! What was said and done about one thing: how is it gathered while messages go by, and when are two of them one?

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::compaction::ledger::error;
use crate::redact::without_secrets;
use crate::text::clip;

use super::best::Best;
use super::called::{self, Call, Touch};
use super::said::{self, PROMPT};
use super::sentence::{self, Sentence, Tells};

/// Texts of one kind that are kept.
const TEXTS: usize = 4;
/// Files that are kept.
const FILES: usize = 64;
/// Addresses, and tools, that are.
const OTHERS: usize = 24;
/// Errors that are.
const TROUBLES: usize = 12;
/// Bytes of an error that are told.
const ERROR: usize = 140;
/// A prompt with fewer bytes, after which nothing was done, is no topic.
const SMALL: usize = 20;

/// What was said and done about one thing on one day.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// What it is about.
    pub title: String,
    /// The day, where the messages tell.
    pub day: Option<Date>,
    /// It began before what is told here.
    pub continued: bool,
    /// What follows is no part of it.
    pub over: bool,
    /// Messages about it.
    pub messages: u64,
    /// What was asked, the first ones.
    pub requests: Vec<String>,
    /// Requests beyond these.
    pub more: usize,
    /// The user's remarks.
    pub feedback: Vec<String>,
    /// What was found.
    pub analysis: Best,
    /// What was chosen.
    pub decisions: Best,
    /// What was done.
    pub outcomes: Best,
    /// What the agent said last, while it did nothing after that.
    pub last: Vec<Sentence>,
    /// The same before it did something more.
    before: Vec<Sentence>,
    /// Files, and the most that was done to each.
    pub files: BTreeMap<String, Touch>,
    /// Files beyond these.
    pub more_files: usize,
    /// Addresses.
    pub addresses: Vec<String>,
    /// Calls of each tool.
    pub tools: BTreeMap<String, u64>,
    /// What went wrong.
    pub troubles: Vec<Trouble>,
}

/// First lines that say only that something went wrong.
const GENERAL: [&str; 4] = [
    "Exit code ",
    "Command exited with",
    "exit status",
    "<tool_use_error>",
];

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    tool: String,
    head: String,
    /// The line that tells of it.
    pub line: String,
    /// How often.
    pub times: u64,
    /// The same went well later.
    pub over: bool,
}

impl Trouble {
    /// What a tool's answer tells of an error.
    pub fn of(tool: &str, head: &str, answer: &str, failed: bool) -> Option<Self> {
        let mut line = error::whole(answer, failed)?;
        if GENERAL.iter().any(|general| line.starts_with(general)) {
            // The next line says more.
            let behind = answer.split_once(line).map_or("", |(_, behind)| behind);
            line = error::whole(behind, true).unwrap_or(line);
        }
        let line = said::harmless(&clip(&without_secrets(line), ERROR)).replace('`', "'");
        (!line.is_empty()).then(|| Self {
            tool: tool.to_owned(),
            head: head.to_owned(),
            line,
            times: 1,
            over: false,
        })
    }

    /// What was called.
    pub fn called(&self) -> &str {
        if self.head.is_empty() {
            &self.tool
        } else {
            &self.head
        }
    }
}

impl Topic {
    /// Nothing was said of it yet.
    pub fn new(title: String, day: Option<Date>) -> Self {
        Self {
            title,
            day,
            continued: false,
            over: false,
            messages: 0,
            requests: Vec::new(),
            more: 0,
            feedback: Vec::new(),
            analysis: Best::default(),
            decisions: Best::default(),
            outcomes: Best::default(),
            last: Vec::new(),
            before: Vec::new(),
            files: BTreeMap::new(),
            more_files: 0,
            addresses: Vec::new(),
            tools: BTreeMap::new(),
            troubles: Vec::new(),
        }
    }

    /// Whether a prompt belongs to it: nothing was done since the last one, or it is a remark on what was.
    pub fn goes_on_with(&self, asked: &str) -> bool {
        let waiting = !self.requests.is_empty() && !self.was_worked_on();
        waiting || said::is_small(asked) || said::is_answer(asked) || said::is_remark(asked)
    }

    fn was_worked_on(&self) -> bool {
        !self.tools.is_empty() || !self.last.is_empty() || !self.before.is_empty()
    }

    /// Whether it says anything that somebody may look for.
    pub fn is_worth_telling(&self) -> bool {
        if self.title.is_empty() && self.requests.is_empty() && !self.was_worked_on() {
            return false;
        }
        let asked: usize = self.requests.iter().chain(&self.feedback).map(String::len).sum();
        let done = !self.tools.is_empty() || !self.decisions.is_empty() || !self.outcomes.is_empty();
        done || asked >= SMALL || (self.continued && !self.last.is_empty())
    }

    /// Notes what the user said.
    pub fn asked(&mut self, asked: &str) {
        if said::is_answer(asked) {
            return;
        }
        let text = clip(asked, PROMPT);
        let list = if self.was_worked_on() && said::is_remark(asked) {
            &mut self.feedback
        } else {
            &mut self.requests
        };
        if list.contains(&text) {
            return;
        }
        if list.len() < TEXTS {
            list.push(text);
        } else {
            self.more += 1;
        }
    }

    /// Notes what the agent said.
    pub fn told(&mut self, text: &str) {
        let sentences = sentence::sentences(text);
        if sentences.is_empty() {
            return;
        }
        for sentence in &sentences {
            let kind = match sentence.tells {
                Some(Tells::Decision) => &mut self.decisions,
                Some(Tells::Analysis) => &mut self.analysis,
                Some(Tells::Outcome) => &mut self.outcomes,
                Some(Tells::Step) | None => continue,
            };
            kind.note(sentence.weight, &sentence.text);
        }
        self.last = sentences;
        // More than that is not told.
        self.last.truncate(2 * TEXTS);
    }

    /// Notes a call. Paths below `root` are told without it.
    pub fn called(&mut self, call: &Call<'_>, root: Option<&str>) {
        // What was said before a call says what is about to be done.
        if !self.last.is_empty() {
            self.before = std::mem::take(&mut self.last);
        }
        let tool = said::harmless(&clip(call.tool, 48));
        if !tool.is_empty() && (self.tools.len() < OTHERS || self.tools.contains_key(&tool)) {
            *self.tools.entry(tool).or_default() += 1;
        }
        for (path, touch) in called::files(call) {
            let path = without_secrets(&path);
            let path = root
                .and_then(|root| path.strip_prefix(root)?.strip_prefix('/'))
                .unwrap_or(&path);
            let path = said::harmless(path);
            if let Some(known) = self.files.get_mut(&path) {
                *known = touch.max(*known);
            } else if self.files.len() < FILES {
                self.files.insert(path, touch);
            } else {
                self.more_files += 1;
            }
        }
        for address in called::addresses(call) {
            let address = said::harmless(&without_secrets(&address));
            if self.addresses.len() < OTHERS && !self.addresses.contains(&address) {
                self.addresses.push(address);
            }
        }
    }

    /// Notes what a tool answered: whether something went wrong, or goes well now.
    pub fn answered(&mut self, tool: &str, head: &str, trouble: Option<Trouble>) {
        let same = |known: &Trouble| known.tool == tool && known.head == head;
        let Some(trouble) = trouble else {
            self.troubles
                .iter_mut()
                .filter(|known| same(known))
                .for_each(|known| known.over = true);
            return;
        };
        if let Some(known) = self
            .troubles
            .iter_mut()
            .find(|known| same(known) && known.line == trouble.line)
        {
            known.times += 1;
            known.over = false;
        } else if self.troubles.len() < TROUBLES {
            self.troubles.push(trouble);
        }
    }

    /// What was done, in one or two sentences: what the agent said in the end, else what tells most of it.
    pub fn outcome(&self) -> String {
        let mut text = String::new();
        for sentence in self.outcome_sentences() {
            if !text.is_empty() {
                text.push_str(if text.ends_with(['.', '!', '?', '。', ';']) {
                    " "
                } else {
                    "; "
                });
            }
            text.push_str(sentence);
        }
        text
    }

    fn outcome_sentences(&self) -> Vec<&str> {
        if self.last.is_empty() {
            let best = self.outcomes.best(2);
            if !best.is_empty() {
                return best;
            }
            let said = self
                .before
                .iter()
                .filter(|sentence| sentence.tells != Some(Tells::Step));
            return said.take(1).map(|sentence| sentence.text.as_str()).collect();
        }
        let telling = |sentence: &&Sentence| sentence.tells == Some(Tells::Outcome);
        let mut chosen: Vec<&str> = self
            .last
            .iter()
            .filter(telling)
            .take(2)
            .map(|sentence| sentence.text.as_str())
            .collect();
        if chosen.is_empty() {
            chosen.extend(self.last.iter().take(2).map(|sentence| sentence.text.as_str()));
        }
        chosen
    }

    /// Takes up what was said and done about the next topic of the same day.
    fn join(&mut self, other: Self) {
        if other.messages > self.messages && !other.title.is_empty() {
            self.title = other.title;
            self.continued &= other.continued;
        }
        self.over = other.over;
        self.messages += other.messages;
        for (list, others) in [
            (&mut self.requests, other.requests),
            (&mut self.feedback, other.feedback),
        ] {
            for text in others {
                if list.len() < TEXTS {
                    list.push(text);
                } else {
                    self.more += 1;
                }
            }
        }
        self.more += other.more;
        self.analysis.join(other.analysis);
        self.decisions.join(other.decisions);
        self.outcomes.join(other.outcomes);
        if !other.last.is_empty() || !other.tools.is_empty() {
            self.last = other.last;
            self.before = other.before;
        }
        self.more_files += other.more_files;
        for (path, touch) in other.files {
            if let Some(known) = self.files.get_mut(&path) {
                *known = touch.max(*known);
            } else if self.files.len() < FILES {
                self.files.insert(path, touch);
            } else {
                self.more_files += 1;
            }
        }
        for address in other.addresses {
            if self.addresses.len() < OTHERS && !self.addresses.contains(&address) {
                self.addresses.push(address);
            }
        }
        for (tool, count) in other.tools {
            if self.tools.len() < OTHERS || self.tools.contains_key(&tool) {
                *self.tools.entry(tool).or_default() += count;
            }
        }
        for trouble in other.troubles {
            if self.troubles.len() < TROUBLES {
                self.troubles.push(trouble);
            }
        }
    }
}

/// Makes neighbours one, the smallest first, until so many topics are left. Those of different days stay apart.
pub fn join(topics: &mut Vec<Topic>, most: usize) {
    while topics.len() > most {
        let pairs = topics.windows(2).enumerate();
        let smallest = pairs
            .filter(|(_, pair)| pair[0].day == pair[1].day)
            .min_by_key(|(_, pair)| pair[0].messages + pair[1].messages);
        let Some((at, _)) = smallest else { return };
        let other = topics.remove(at + 1);
        topics[at].join(other);
    }
}
