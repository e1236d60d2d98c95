//! Collection of the messages of a session by topic.

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

/// Maximum number of requests that are stored for a topic. The same limit applies to the user's remarks.
const TEXTS: usize = 4;
/// Maximum number of files of a topic that are listed.
const FILES: usize = 64;
/// Maximum number of URLs that are stored for a topic. The same limit applies to tools.
const OTHERS: usize = 24;
/// Maximum number of errors of a topic.
const TROUBLES: usize = 12;
/// Maximum bytes of the line that reports an error.
const ERROR: usize = 140;
/// Minimum bytes of the prompts of a topic without tool calls, decisions and outcomes. A topic with fewer bytes is not
/// logged.
const SMALL: usize = 20;

/// Messages and tool calls of a session about one subject on one day.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionTopic {
    /// Title of the topic.
    pub title: String,
    /// Day of the messages, if they have time stamps.
    pub day: Option<Date>,
    /// True if the topic began on an earlier day or in an earlier flush.
    pub continued: bool,
    /// True if later messages belong to another topic.
    pub over: bool,
    /// Number of messages of the topic.
    pub messages: u64,
    /// The first requests of the user.
    pub requests: Vec<String>,
    /// Number of further requests and remarks, which are not stored.
    pub more: usize,
    /// Remarks of the user on the agent's work.
    pub feedback: Vec<String>,
    /// Sentences about findings.
    pub analysis: BestSentences,
    /// Sentences about decisions.
    pub decisions: BestSentences,
    /// Sentences about outcomes.
    pub outcomes: BestSentences,
    /// Sentences of the agent's last message, if no tool call followed.
    pub last: Vec<Sentence>,
    /// Sentences of the agent's last message before a tool call.
    before: Vec<Sentence>,
    /// Files of the tool calls, each with its strongest kind of access.
    pub files: BTreeMap<String, FileAccess>,
    /// Number of accesses to further files, which are not listed.
    pub more_files: usize,
    /// URLs in the tool calls.
    pub addresses: Vec<String>,
    /// Number of calls of each tool.
    pub tools: BTreeMap<String, u64>,
    /// Errors that tools reported.
    pub troubles: Vec<ToolError>,
}

/// An error that a tool reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Beginning of the command that failed, or the name of the tool if there is no command.
    pub label: String,
    /// Line that reports the error.
    pub line: String,
    /// Number of occurrences of this error.
    pub times: u64,
    /// True if a later call with the same label succeeded.
    pub over: bool,
}

impl ToolError {
    /// Returns the error that a tool result reports, if any.
    pub fn find(label: &str, answer: &str, failed: bool) -> Option<Self> {
        // The line may be a secret because of the lines before it.
        let clean = without_secrets(answer);
        let line = error::find_error_line(&clean, failed)?;
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

    /// Returns true if a prompt belongs to this topic. This is the case if the agent has not worked on the topic yet,
    /// or if the prompt is short, an answer, or a remark on the work.
    pub fn continues_with(&self, asked: &str) -> bool {
        let waiting = !self.requests.is_empty() && !self.was_worked_on();
        waiting || said::is_short(asked) || said::is_answer(asked) || said::is_remark(asked)
    }

    fn was_worked_on(&self) -> bool {
        !self.tools.is_empty() || !self.last.is_empty() || !self.before.is_empty()
    }

    /// Returns true if the topic has enough content for the log.
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
        // The outcome uses only the first sentences.
        self.last.truncate(2 * TEXTS);
    }

    /// Adds a tool call. `root` is removed from the start of paths.
    pub fn add_call(&mut self, call: &RecordedCall, root: Option<&str>) {
        // A message before a tool call describes the next step, not the outcome.
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

    /// Adds a tool result. Stores its error; if it has no error, marks earlier errors with the same label as resolved.
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

    /// Returns the outcome in one or two sentences. They are from the last message of the agent. If a tool call
    /// followed this message, they are the best sentences about outcomes.
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
            [self.last_outcomes(), texts(&self.last, |_| true, 2)]
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

    /// Returns the first sentence about an outcome in the last message, and the best of the others, which may name what
    /// is still open.
    fn last_outcomes(&self) -> Vec<String> {
        let is_outcome = |sentence: &&Sentence| sentence.tells == Some(SentenceKind::Outcome);
        let mut outcomes = self.last.iter().filter(is_outcome);
        let first = outcomes.next();
        let best = outcomes.max_by_key(|sentence| sentence.weight);
        first
            .into_iter()
            .chain(best)
            .map(|sentence| sentence.text.clone())
            .collect()
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

/// Adds a text unless the list contains it. Returns 1 if the list is full, otherwise 0.
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

/// Merges adjacent topics of the same day until at most `most` topics remain. Pairs with the fewest messages are merged
/// first.
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
