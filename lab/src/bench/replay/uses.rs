//! Values of tool results that the agent used later.

use std::collections::{BTreeMap, BTreeSet};

use super::session::{ModelInput, ReplaySession};
use crate::bench::compaction::needs;

/// A value from a tool result that the agent named for the first time.
#[derive(Debug, PartialEq, Eq)]
pub struct ValueUse {
    /// A path, an address, an identifier, a number, or a line with an error.
    pub value: String,
    /// Turn in which the tool returned the result.
    pub came: usize,
    /// Turn in which the agent named the value.
    pub named: usize,
    /// `true` if a user or the system mentioned the value between the result and its use.
    pub said: bool,
    /// Later results that also contained the value, by their numbers in the session.
    pub again: Vec<usize>,
}

/// A value that only tools have mentioned so far.
#[derive(Default)]
struct OpenValue {
    result: usize,
    came: usize,
    said: bool,
    again: Vec<usize>,
}

/// Returns the uses of the values of each tool result, by the result's number in the session. A value belongs to the
/// first result that contains it, and counts as used once.
pub fn of(session: &ReplaySession) -> BTreeMap<usize, Vec<ValueUse>> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: BTreeMap<&str, OpenValue> = BTreeMap::new();
    let mut uses: BTreeMap<usize, Vec<ValueUse>> = BTreeMap::new();
    let mut number = 0;
    for (at, turn) in session.turns.iter().enumerate() {
        for read in &turn.read {
            match read {
                ModelInput::Text(text) => {
                    for value in values(text) {
                        if seen.insert(value) {
                            continue;
                        }
                        if let Some(open) = open.get_mut(value) {
                            open.said = true;
                        }
                    }
                }
                ModelInput::Result(result) => {
                    for value in values(&result.content) {
                        if seen.insert(value) {
                            let new = OpenValue {
                                result: number,
                                came: at,
                                ..OpenValue::default()
                            };
                            open.insert(value, new);
                        } else if let Some(open) = open.get_mut(value) {
                            open.again.push(number);
                        }
                    }
                    number += 1;
                }
            }
        }
        for answer in &turn.answer {
            for value in values(&answer.text) {
                seen.insert(value);
                if let Some(open) = open.remove(value) {
                    uses.entry(open.result).or_default().push(ValueUse {
                        value: value.to_owned(),
                        came: open.came,
                        named: at,
                        said: open.said,
                        again: open.again,
                    });
                }
            }
        }
    }
    uses
}

/// Returns the values in a text.
pub fn values(text: &str) -> BTreeSet<&str> {
    let mut values = needs::words(text);
    values.extend(needs::errors(text));
    values
}

#[cfg(test)]
mod tests {
    use super::super::session::{ModelCall, ModelOutput, ToolResult};
    use super::*;

    fn turn(read: &[(bool, &str)], answer: &str) -> ModelCall {
        let read = read.iter().map(|(tool, text)| {
            let text = (*text).to_owned();
            if *tool {
                ModelInput::Result(ToolResult {
                    tool: "exec".into(),
                    reference: String::new(),
                    content: text,
                    failed: false,
                })
            } else {
                ModelInput::Text(text)
            }
        });
        ModelCall {
            read: read.collect(),
            answer: vec![ModelOutput {
                text: answer.into(),
                tokens: 1,
            }],
        }
    }

    #[test]
    fn a_value_belongs_to_its_first_result_and_is_used_once() {
        let session = ReplaySession {
            name: String::new(),
            turns: vec![
                turn(&[(false, "src/known.rs")], "ok"),
                turn(
                    &[(true, "src/known.rs src/new.rs port 48123"), (true, "src/new.rs")],
                    "see 48123",
                ),
                turn(&[(false, "what of src/new.rs")], "src/known.rs"),
                turn(&[(true, "src/late.rs")], "I edit src/new.rs and read 48123"),
                turn(&[], "src/late.rs"),
            ],
        };
        let uses = of(&session);
        let told: Vec<_> = uses
            .iter()
            .flat_map(|(result, uses)| uses.iter().map(move |used| (*result, used)))
            .map(|(result, used)| {
                (
                    result,
                    used.value.as_str(),
                    used.came,
                    used.named,
                    used.said,
                    used.again.clone(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (0, "48123", 1, 1, false, vec![]),
                (0, "src/new.rs", 1, 3, true, vec![1]),
                (2, "src/late.rs", 3, 4, false, vec![]),
            ]
        );
    }
}
