//! Values that an agent names although only earlier messages contain them.

use std::collections::{BTreeMap, BTreeSet};

use hippo_types::tokens;
use serde_json::json;

use super::super::replay::session::{ModelInput, ReplaySession, ToolResult};
use super::super::replay::uses::values;

/// A message, a tool result or an answer.
pub struct SessionItem<'s> {
    pub turn: usize,
    pub text: &'s str,
    pub tokens: usize,
    pub result: Option<&'s ToolResult>,
}

/// A value that the agent names, and that earlier items contain.
pub struct NeededValue<'s> {
    pub value: &'s str,
    /// Earlier items that contain the value, oldest first. It is not empty.
    pub holders: Vec<usize>,
}

/// A session as a list of items.
pub struct ItemList<'s> {
    pub items: Vec<SessionItem<'s>>,
    /// For each turn, the index of its first item, and of its first answer.
    pub turns: Vec<(usize, usize)>,
    /// For each turn, the values that its answers name.
    pub needs: Vec<Vec<NeededValue<'s>>>,
}

impl<'s> ItemList<'s> {
    /// Creates the list of a session.
    pub fn new(session: &'s ReplaySession) -> Self {
        let mut list = Self {
            items: Vec::new(),
            turns: Vec::new(),
            needs: Vec::new(),
        };
        let mut holders: BTreeMap<&'s str, Vec<usize>> = BTreeMap::new();
        for (turn, call) in session.turns.iter().enumerate() {
            let first = list.items.len();
            for read in &call.read {
                let (text, result) = match read {
                    ModelInput::Text(text) => (text, None),
                    ModelInput::Result(result) => (&result.content, Some(result)),
                };
                list.add(&mut holders, turn, (text, tokens::of(text)), result);
            }
            list.turns.push((first, list.items.len()));
            let named: BTreeSet<&str> = call
                .answer
                .iter()
                .flat_map(|answer| values(&answer.text))
                .collect();
            let known = named.into_iter().filter_map(|value| {
                let holders = holders.get(value)?.clone();
                Some(NeededValue { value, holders })
            });
            list.needs.push(known.collect());
            for answer in &call.answer {
                list.add(&mut holders, turn, (&answer.text, answer.tokens), None);
            }
        }
        list
    }

    fn add(
        &mut self,
        holders: &mut BTreeMap<&'s str, Vec<usize>>,
        turn: usize,
        (text, tokens): (&'s str, usize),
        result: Option<&'s ToolResult>,
    ) {
        for value in values(text) {
            holders.entry(value).or_default().push(self.items.len());
        }
        self.items.push(SessionItem {
            turn,
            text,
            tokens,
            result,
        });
    }

    /// Returns items as a transcript that hippod's compaction reads.
    pub fn transcript(&self, items: impl Iterator<Item = usize>) -> String {
        let mut lines = String::new();
        for at in items {
            let item = &self.items[at];
            let (role, kind) = match item.result {
                Some(_) => ("tool", "tool_result"),
                None if at >= self.turns[item.turn].1 => ("assistant", "text"),
                None => ("user", "text"),
            };
            let name = item.result.map(|result| result.tool.as_str());
            let line = json!({ "role": role, "kind": kind, "name": name, "text": item.text });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::replay::session::{ModelCall, ModelOutput};
    use super::*;

    #[test]
    fn a_value_is_needed_if_an_earlier_item_contains_it() {
        let turn = |read: &str, answer: &str| ModelCall {
            read: vec![ModelInput::Text(read.into())],
            answer: vec![ModelOutput {
                text: answer.into(),
                tokens: 1,
            }],
        };
        let session = ReplaySession {
            name: String::new(),
            turns: vec![
                turn("look at src/new.rs", "I read src/new.rs and port 48123"),
                turn("and now", "port 48123 of src/new.rs, not 55555"),
            ],
        };
        let list = ItemList::new(&session);
        let told = |turn: usize| -> Vec<(&str, Vec<usize>)> {
            let needs = list.needs[turn].iter();
            needs.map(|need| (need.value, need.holders.clone())).collect()
        };
        assert_eq!(told(0), [("src/new.rs", vec![0])]);
        assert_eq!(told(1), [("48123", vec![1]), ("src/new.rs", vec![0, 1])]);
        assert_eq!(list.turns, [(0, 1), (2, 3)]);
    }
}
