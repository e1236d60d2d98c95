//! Replay of a session with one way to manage the context.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hippo_context::capture::{CaptureInput, CaptureSettings, capture};
use hippo_context::policy::built_in_rules;
use hippo_context::render::format_key_data;
use hippo_session::compaction::{CompactionOptions, compact};
use hippo_types::tokens;

use super::arm::{ArmResult, ContextArm, Summarizer};
use super::need::{ItemList, NeededValue};
use super::price::{BilledTokens, PromptCache};
use crate::bench::extract::holds;
use crate::bench::replay::session::ToolResult;

/// Tokens of a call that fetches a content or repeats a tool.
const CALL: usize = 60;
/// Tools that return the content of a file.
const FILE_TOOLS: [&str; 6] = ["read", "Read", "read_file", "view", "cat", "open"];
/// Tokens of the definitions of hippod's tools in the prompt.
const TOOLS: usize = 300;
/// Text in place of a removed tool result.
const REMOVED: &str = "[old result removed; run the tool again if you need it]";
/// Tokens of the request for a summary.
const REQUEST: usize = 300;
/// Tokens of a model's summary, and percentage of the needed values that it contains. They are the averages of the two
/// summaries that the session `before-compaction.jsonl` of Pi's tests contains: 1,072 and 912 tokens, with 22 of the 60
/// values that were needed later and were nowhere else in the context.
const SUMMARY: usize = 1_000;
const SUMMARY_HOLDS: u64 = 37;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Entry,
    Line,
    /// A fetched content or a part of it.
    Fetched,
    Summary,
    Other,
}

struct Segment {
    item: usize,
    form: Form,
    key: u64,
    tokens: usize,
    /// Text of an entry, a summary or a fetched part. A summary without text is the model's.
    text: Option<String>,
}

/// Replays a session. `system` is the number of tokens before the first message.
pub fn play(list: &ItemList<'_>, arm: ContextArm, system: usize) -> ArmResult {
    let tools = if arm.uses_hippod() { TOOLS } else { 0 };
    let mut run = ArmRun::new(list, arm, system + tools);
    for turn in 0..list.turns.len() {
        run.turn(turn);
    }
    run.result
}

/// Returns the tokens of each tool result above `worth` tokens, and of its entry.
pub fn entries(list: &ItemList<'_>, worth: usize) -> Vec<(usize, usize)> {
    let mut run = ArmRun::new(list, ContextArm::default(), 0);
    let large = (0..list.items.len()).filter(|item| list.items[*item].tokens > worth);
    let sizes = large.filter_map(|item| Some((list.items[item].tokens, run.entry(item)?.tokens)));
    sizes.collect()
}

struct ArmRun<'l> {
    list: &'l ItemList<'l>,
    arm: ContextArm,
    context: Vec<Segment>,
    /// Entry of each tool result, if it is smaller than the result.
    entries: BTreeMap<usize, Option<String>>,
    cache: PromptCache,
    result: ArmResult,
}

impl<'l> ArmRun<'l> {
    fn new(list: &'l ItemList<'l>, arm: ContextArm, system: usize) -> Self {
        Self {
            list,
            arm,
            context: vec![segment(usize::MAX, Form::Other, "system", system)],
            entries: BTreeMap::new(),
            cache: PromptCache::default(),
            result: ArmResult::default(),
        }
    }

    fn turn(&mut self, turn: usize) {
        let (first, answer) = self.list.turns[turn];
        let next = self.list.turns.get(turn + 1);
        let end = next.map_or(self.list.items.len(), |next| next.0);
        for item in first..answer {
            let segment = self.arriving(item);
            self.context.push(segment);
        }
        self.replace_old();
        self.compact(first);
        self.fetch(turn, first);
        if answer == end {
            return;
        }
        let output = self.list.items[answer..end].iter().map(|item| item.tokens).sum();
        self.send(output);
        for item in answer..end {
            self.context.push(self.whole(item));
        }
    }

    fn send(&mut self, output: usize) -> BilledTokens {
        let size = self.size();
        self.result.requests += 1;
        self.result.prompts[0] += size;
        self.result.prompts[1] = self.result.prompts[1].max(size);
        let segments = self.context.iter().map(|segment| (segment.key, segment.tokens));
        let billed = self.cache.bill(segments, output);
        (0..billed.len()).for_each(|at| self.result.billed[at] += billed[at]);
        billed
    }

    fn size(&self) -> usize {
        self.context.iter().map(|segment| segment.tokens).sum()
    }

    fn whole(&self, item: usize) -> Segment {
        let from = &self.list.items[item];
        segment(item, Form::Whole, from.text, from.tokens)
    }

    fn arriving(&mut self, item: usize) -> Segment {
        let from = &self.list.items[item];
        let file = |result: &ToolResult| self.arm.files_whole && FILE_TOOLS.contains(&result.tool.as_str());
        let large = self.arm.first.is_some_and(|worth| from.tokens > worth);
        let entry = match from.result {
            Some(result) if large && !file(result) => self.entry(item),
            _ => None,
        };
        entry.unwrap_or_else(|| self.whole(item))
    }

    /// Returns the entry for a tool result, if it is smaller than the result. The entry is that of `context.put`.
    fn entry(&mut self, item: usize) -> Option<Segment> {
        let from = &self.list.items[item];
        let result = from.result?;
        let text = self.entries.entry(item).or_insert_with(|| {
            let id = format!("ctx_{item:04x}");
            let put = CaptureInput {
                id: &id,
                source_type: &result.tool,
                source_ref: &result.reference,
                turn: from.turn as u64,
                content: &result.content,
                error: result.failed,
                ..CaptureInput::default()
            };
            let settings = CaptureSettings {
                worth_tokens: 0,
                ..CaptureSettings::default()
            };
            let entry = capture(&put, built_in_rules(), &settings).entry?;
            let mut text = format!(
                "[{id}] {} tokens; memory_fetch {id} returns them\n{}",
                from.tokens, entry.summary
            );
            if let Some(data) = &entry.key_data {
                text.push_str(&format!("\n{{{}}}", format_key_data(data)));
            }
            Some(text).filter(|text| tokens::of(text) < from.tokens)
        });
        Some(written(item, Form::Entry, text.clone()?))
    }

    /// Replaces tool results by entries or lines.
    fn replace(&mut self, results: &[usize]) {
        for at in results {
            let old = &self.context[*at];
            let line = segment(old.item, Form::Line, REMOVED, tokens::of(REMOVED));
            let new = if self.arm.entries {
                self.entry(old.item)
            } else {
                Some(line)
            };
            if let Some(new) = new.filter(|new| new.tokens < self.context[*at].tokens) {
                self.context[*at] = new;
            }
        }
    }

    /// Returns the positions of tool results that are not replaced yet, oldest first.
    fn results(&self) -> Vec<usize> {
        let is_result = |segment: &Segment| {
            segment.form == Form::Fetched
                || segment.form == Form::Whole && self.list.items[segment.item].result.is_some()
        };
        let all = self.context.iter().enumerate();
        let found = all.filter(|(_, segment)| is_result(segment));
        found.map(|(at, _)| at).collect()
    }

    fn replace_old(&mut self) {
        let results = self.results();
        let old = |newest: usize| &results[..results.len().saturating_sub(newest)];
        if let Some(newest) = self.arm.newest {
            self.replace(old(newest));
        }
        if let Some([trigger, keep, at_least]) = self.arm.clear {
            let removed: usize = old(keep).iter().map(|at| self.context[*at].tokens).sum();
            if self.size() > trigger && removed > at_least {
                self.replace(old(keep));
                self.result.compactions += 1;
            }
        }
    }

    fn compact(&mut self, first: usize) {
        let Some(([above, keep], by)) = self.arm.compact else {
            return;
        };
        if self.size() - self.context[0].tokens <= above {
            return;
        }
        // The newest items stay, and always those of this turn.
        let (mut from, mut kept) = (self.context.len(), 0);
        while from > 1 {
            let segment = &self.context[from - 1];
            let new = segment.item != usize::MAX && segment.item >= first;
            if !new && kept + segment.tokens > keep {
                break;
            }
            kept += segment.tokens;
            from -= 1;
        }
        let replaced: usize = self.context[1..from].iter().map(|segment| segment.tokens).sum();
        if replaced <= SUMMARY {
            return;
        }
        let summary = match by {
            Summarizer::Model => {
                let request = segment(usize::MAX, Form::Other, "summarize", REQUEST);
                self.context.push(request);
                self.send(SUMMARY);
                self.context.pop();
                let name = format!("summary before {first}");
                segment(usize::MAX, Form::Summary, &name, SUMMARY)
            }
            Summarizer::Extract(budget) => {
                // Fetched contents are older than the messages around them.
                let newest = self.context[from..]
                    .iter()
                    .filter(|segment| segment.form != Form::Fetched);
                let before = newest
                    .map(|segment| segment.item)
                    .min()
                    .unwrap_or(first)
                    .min(first);
                let options = CompactionOptions {
                    budget: Some(budget),
                    stored: true,
                    ..CompactionOptions::default()
                };
                let text = compact(self.list.transcript(0..before).as_bytes(), &options).summary;
                written(usize::MAX, Form::Summary, text)
            }
        };
        if replaced > summary.tokens {
            self.context.splice(1..from, [summary]);
            self.result.compactions += 1;
        }
    }

    /// Counts the values that the agent needs in this turn, and fetches those that the context does not contain.
    fn fetch(&mut self, turn: usize, first: usize) {
        let mut parts: Vec<Segment> = Vec::new();
        for need in &self.list.needs[turn] {
            let again = need.holders.iter().all(|holder| *holder < first);
            let present = self.context.iter().any(|segment| shows(segment, need));
            for at in 0..=usize::from(again) {
                self.result.needed[at] += 1;
                self.result.present[at] += usize::from(present);
            }
            if present || parts.iter().any(|part| shows(part, need)) {
                continue;
            }
            let by_hippod = self.arm.uses_hippod();
            let newest = |result: bool| {
                let mut holders = need.holders.iter().rev();
                let found = holders.find(|at| self.list.items[**at].result.is_some() == result);
                found.copied()
            };
            // A harness cannot fetch messages. It can only repeat a tool.
            let Some(item) = newest(true).or_else(|| newest(false).filter(|_| by_hippod)) else {
                self.result.lost += 1;
                continue;
            };
            let text = part(self.list.items[item].text, need.value, self.arm.part);
            parts.push(written(item, Form::Fetched, text.to_owned()));
        }
        if parts.is_empty() {
            return;
        }
        self.result.fetches += parts.len();
        let billed = self.send(CALL * parts.len());
        (0..billed.len()).for_each(|at| self.result.refetched[at] += billed[at]);
        let calls = format!("calls of {turn}");
        let calls = segment(usize::MAX, Form::Other, &calls, CALL * parts.len());
        self.context.push(calls);
        self.context.extend(parts);
    }
}

fn hash(item: usize, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (item, text).hash(&mut hasher);
    hasher.finish()
}

fn segment(item: usize, form: Form, text: &str, tokens: usize) -> Segment {
    Segment {
        item,
        form,
        key: hash(item, text),
        tokens,
        text: None,
    }
}

/// Returns a segment that consists of this text.
fn written(item: usize, form: Form, text: String) -> Segment {
    let tokens = tokens::of(&text);
    let segment = segment(item, form, &text, tokens);
    Segment {
        text: Some(text),
        ..segment
    }
}

fn shows(segment: &Segment, need: &NeededValue<'_>) -> bool {
    match (segment.form, &segment.text) {
        (Form::Whole, _) => need.holders.binary_search(&segment.item).is_ok(),
        (_, Some(text)) => holds(text, need.value),
        // The same values are in every summary.
        (Form::Summary, None) => hash(0, need.value) % 100 < SUMMARY_HOLDS,
        _ => false,
    }
}

/// Returns the lines around a value, or all of a content.
fn part<'t>(text: &'t str, value: &str, most: Option<usize>) -> &'t str {
    let (Some(most), Some(at)) = (most.map(tokens::bytes), text.find(value)) else {
        return text;
    };
    let from = text.floor_char_boundary(at.saturating_sub(most / 2));
    let to = text.ceil_char_boundary((at + value.len()).max(from + most));
    &text[from..to]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::replay::session::{ModelCall, ModelInput, ModelOutput, ReplaySession};

    #[test]
    fn a_value_that_the_prompt_lacks_is_fetched() {
        let result = ToolResult {
            tool: "exec".into(),
            reference: "ls".into(),
            content: format!("src/deep.rs\n{}", "a line without values\n".repeat(400)),
            failed: false,
        };
        let turn = |read, text: &str| {
            let (text, tokens) = (text.to_owned(), 1);
            let answer = vec![ModelOutput { text, tokens }];
            let read = vec![read];
            ModelCall { read, answer }
        };
        let read = ModelInput::Text("go on".into());
        let turns = vec![
            turn(ModelInput::Result(result), "done"),
            turn(read, "I read src/deep.rs"),
        ];
        let name = String::new();
        let session = ReplaySession { name, turns };
        let list = ItemList::new(&session);
        let masked = ContextArm {
            newest: Some(0),
            ..ContextArm::default()
        };
        for (arm, present, fetches, requests) in [(ContextArm::default(), 1, 0, 2), (masked, 0, 1, 3)] {
            let played = play(&list, arm, 2_000);
            assert_eq!((played.needed, played.present), ([1, 1], [present; 2]));
            assert_eq!((played.fetches, played.requests), (fetches, requests));
            assert_eq!(played.refetched[3], fetches * CALL);
        }
    }
}
