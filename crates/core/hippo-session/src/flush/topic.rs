//! Collection of messages by topic.

use std::collections::BTreeMap;

use jiff::civil::Date;

use crate::compaction::ledger::error;
use crate::compaction::read::RecordedCall;
use hippo_redact::without_secrets;
use hippo_text::text::clip;

use super::best::BestSentences;
use super::called::{self, FileAccess};
use super::said::{self, PROMPT};
use super::sentence::{self, Sentence, SentenceKind};

/// Maximum texts of one kind.
const TEXTS: usize = 4;
/// Maximum files.
const FILES: usize = 64;
/// Maximum URLs, and maximum tools.
const OTHERS: usize = 24;
/// Maximum errors.
const TROUBLES: usize = 12;
/// Maximum bytes of an error.
const ERROR: usize = 140;
/// A prompt with fewer bytes and no further activity is not a topic.
const SMALL: usize = 20;

/// Messages and actions on one subject on one day.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionTopic {
    /// Title of the topic.
    pub title: String,
    /// Day of the messages, if they have time stamps.
    pub day: Option<Date>,
    /// The topic began before these messages.
    pub continued: bool,
    /// Later messages do not belong to the topic.
    pub over: bool,
    /// Number of messages.
    pub messages: u64,
    /// The first requests.
    pub requests: Vec<String>,
    /// Number of further requests.
    pub more: usize,
    /// Remarks of the user.
    pub feedback: Vec<String>,
    /// Sentences about findings.
    pub analysis: BestSentences,
    /// Sentences about decisions.
    pub decisions: BestSentences,
    /// Sentences about outcomes.
    pub outcomes: BestSentences,
    /// Last message of the agent, if no action followed.
    pub last: Vec<Sentence>,
    /// Last message of the agent before its last action.
    before: Vec<Sentence>,
    /// Files, each with its strongest kind of access.
    pub files: BTreeMap<String, FileAccess>,
    /// Number of further files.
    pub more_files: usize,
    /// URLs.
    pub addresses: Vec<String>,
    /// Number of calls of each tool.
    pub tools: BTreeMap<String, u64>,
    /// Errors.
    pub troubles: Vec<ToolError>,
}

/// Prefixes of error lines without details.
const GENERAL: [&str; 4] = [
    "Exit code ",
    "Command exited with",
    "exit status",
    "<tool_use_error>",
];

/// Error of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Command of the call, or the tool if there is no command.
    pub label: String,
    /// Line that reports the error.
    pub line: String,
    /// Number of occurrences.
    pub times: u64,
    /// A later call of the same kind succeeded.
    pub over: bool,
}

impl ToolError {
    /// Extracts the error from a tool result.
    pub fn find(label: &str, answer: &str, failed: bool) -> Option<Self> {
        let mut line = error::find_error_line(answer, failed)?;
        if GENERAL.iter().any(|general| line.starts_with(general)) {
            // The next line has the details.
            let behind = answer.split_once(line).map_or("", |(_, behind)| behind);
            line = error::find_error_line(behind, true).unwrap_or(line);
        }
        let line = said::neutralize_comments(&clip(&without_secrets(line), ERROR)).replace('`', "'");
        (!line.is_empty()).then(|| Self {
            label: label.to_owned(),
            line,
            times: 1,
            over: false,
        })
    }
}

impl SessionTopic {
    /// Creates an empty topic.
    pub fn new(title: String, day: Option<Date>) -> Self {
        Self {
            title,
            day,
            ..Self::default()
        }
    }

    /// Returns true if a prompt belongs to this topic: nothing was done since the last prompt, or the prompt is short,
    /// an answer, or a remark on the work.
    pub fn continues_with(&self, asked: &str) -> bool {
        let waiting = !self.requests.is_empty() && !self.was_worked_on();
        waiting || said::is_short(asked) || said::is_answer(asked) || said::is_remark(asked)
    }

    fn was_worked_on(&self) -> bool {
        !self.tools.is_empty() || !self.last.is_empty() || !self.before.is_empty()
    }

    /// Returns true if the topic has content worth logging.
    pub fn is_significant(&self) -> bool {
        if self.title.is_empty() && self.requests.is_empty() && !self.was_worked_on() {
            return false;
        }
        let asked: usize = self.requests.iter().chain(&self.feedback).map(String::len).sum();
        let done = !self.tools.is_empty() || !self.decisions.is_empty() || !self.outcomes.is_empty();
        done || asked >= SMALL || (self.continued && !self.last.is_empty())
    }

    /// Adds a prompt of the user.
    pub fn add_prompt(&mut self, asked: &str) {
        if said::is_answer(asked) {
            return;
        }
        let text = clip(asked, PROMPT);
        let list = if self.was_worked_on() && said::is_remark(asked) {
            &mut self.feedback
        } else {
            &mut self.requests
        };
        self.more += add_text(list, text);
    }

    /// Adds a message of the agent.
    pub fn add_message(&mut self, text: &str) {
        let sentences = sentence::extract_sentences(text);
        if sentences.is_empty() {
            return;
        }
        for sentence in &sentences {
            let kind = match sentence.tells {
                Some(SentenceKind::Decision) => &mut self.decisions,
                Some(SentenceKind::Analysis) => &mut self.analysis,
                Some(SentenceKind::Outcome) => &mut self.outcomes,
                Some(SentenceKind::Step) | None => continue,
            };
            kind.add(sentence.weight, &sentence.text);
        }
        self.last = sentences;
        // Only the first sentences are used.
        self.last.truncate(2 * TEXTS);
    }

    /// Adds a tool call. `root` is removed from the start of paths.
    pub fn add_call(&mut self, call: &RecordedCall, root: Option<&str>) {
        // A message before a call describes the next step.
        if !self.last.is_empty() {
            self.before = std::mem::take(&mut self.last);
        }
        let tool = said::neutralize_comments(&clip(&call.tool, 48));
        if !tool.is_empty() {
            self.count_tool(tool, 1);
        }
        for (path, touch) in called::touched_files(call) {
            let path = without_secrets(&path);
            let path = root
                .and_then(|root| path.strip_prefix(root)?.strip_prefix('/'))
                .unwrap_or(&path);
            self.add_file(said::neutralize_comments(path), touch);
        }
        for address in called::called_urls(call) {
            self.add_address(said::neutralize_comments(&without_secrets(&address)));
        }
    }

    fn count_tool(&mut self, tool: String, count: u64) {
        if self.tools.len() < OTHERS || self.tools.contains_key(&tool) {
            *self.tools.entry(tool).or_default() += count;
        }
    }

    fn add_file(&mut self, path: String, touch: FileAccess) {
        if let Some(known) = self.files.get_mut(&path) {
            *known = touch.max(*known);
        } else if self.files.len() < FILES {
            self.files.insert(path, touch);
        } else {
            self.more_files += 1;
        }
    }

    fn add_address(&mut self, address: String) {
        if self.addresses.len() < OTHERS && !self.addresses.contains(&address) {
            self.addresses.push(address);
        }
    }

    /// Adds a tool result: records its error, or marks earlier errors of the same call as resolved.
    pub fn add_result(&mut self, label: &str, trouble: Option<ToolError>) {
        let mut same = self.troubles.iter_mut().filter(|known| known.label == label);
        let Some(trouble) = trouble else {
            same.for_each(|known| known.over = true);
            return;
        };
        if let Some(known) = same.find(|known| known.line == trouble.line) {
            known.times += 1;
            known.over = false;
        } else if self.troubles.len() < TROUBLES {
            self.troubles.push(trouble);
        }
    }

    /// Returns the outcome in one or two sentences: from the last message of the agent, otherwise the best outcome
    /// sentences.
    pub fn outcome(&self) -> String {
        let texts =
            |sentences: &'_ [Sentence], wanted: fn(Option<SentenceKind>) -> bool, most| -> Vec<String> {
                let sentences = sentences.iter().filter(|sentence| wanted(sentence.tells));
                sentences
                    .take(most)
                    .map(|sentence| sentence.text.clone())
                    .collect()
            };
        let choices = if self.last.is_empty() {
            let best = self.outcomes.top(2).into_iter().map(str::to_owned).collect();
            [
                best,
                texts(&self.before, |tells| tells != Some(SentenceKind::Step), 1),
            ]
        } else {
            let telling = texts(&self.last, |tells| tells == Some(SentenceKind::Outcome), 2);
            [telling, texts(&self.last, |_| true, 2)]
        };
        let chosen = choices.into_iter().find(|choice| !choice.is_empty());
        let joined = chosen.unwrap_or_default().into_iter().reduce(|text, sentence| {
            let end = if text.ends_with(['.', '!', '?', '。', ';']) {
                " "
            } else {
                "; "
            };
            text + end + &sentence
        });
        joined.unwrap_or_default()
    }

    /// Merges the next topic of the same day into this one.
    fn merge(&mut self, other: Self) {
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
                self.more += add_text(list, text);
            }
        }
        self.more += other.more;
        self.analysis.merge(other.analysis);
        self.decisions.merge(other.decisions);
        self.outcomes.merge(other.outcomes);
        if !other.last.is_empty() || !other.tools.is_empty() {
            self.last = other.last;
            self.before = other.before;
        }
        self.more_files += other.more_files;
        for (path, touch) in other.files {
            self.add_file(path, touch);
        }
        for address in other.addresses {
            self.add_address(address);
        }
        for (tool, count) in other.tools {
            self.count_tool(tool, count);
        }
        let room = TROUBLES.saturating_sub(self.troubles.len());
        self.troubles.extend(other.troubles.into_iter().take(room));
    }
}

/// Adds a text unless the list contains it. Returns 1 if there is no room.
fn add_text(list: &mut Vec<String>, text: String) -> usize {
    if list.contains(&text) {
        return 0;
    }
    if list.len() >= TEXTS {
        return 1;
    }
    list.push(text);
    0
}

/// Merges adjacent topics of the same day, smallest first, until at most `most` remain.
pub fn merge_topics(topics: &mut Vec<SessionTopic>, most: usize) {
    while topics.len() > most {
        let pairs = topics.windows(2).enumerate();
        let smallest = pairs
            .filter(|(_, pair)| pair[0].day == pair[1].day)
            .min_by_key(|(_, pair)| pair[0].messages + pair[1].messages);
        let Some((at, _)) = smallest else { return };
        let other = topics.remove(at + 1);
        topics[at].merge(other);
    }
}
