//! Recorded sessions as model calls: texts, tool results and answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hippo_types::tokens;
use serde_json::Value;

use crate::bench::compaction::needs;
use crate::bench::transcripts::{TranscriptLine, files, lines};

/// Maximum length in characters of the arguments that identify the object of a call.
const MOST_REFERENCE: usize = 1_000;
/// Names of arguments that identify the object of a call, by priority.
const NAMES: [&str; 8] = [
    "file_path",
    "path",
    "command",
    "url",
    "pattern",
    "query",
    "file_name",
    "filename",
];

/// A session.
pub struct ReplaySession {
    /// Program and number, such as `pi/1`.
    pub name: String,
    /// Calls of the model, in order.
    pub turns: Vec<ModelCall>,
}

/// One call of the model.
#[derive(Default)]
pub struct ModelCall {
    /// New input since the previous call: messages and tool results.
    pub read: Vec<ModelInput>,
    /// Answer of the model: texts and tool calls.
    pub answer: Vec<ModelOutput>,
}

/// Input of a model.
pub enum ModelInput {
    /// Text of a user or of the system.
    Text(String),
    /// Result of a tool.
    Result(ToolResult),
}

/// Result of a tool.
pub struct ToolResult {
    /// Name of the tool.
    pub tool: String,
    /// Object of the call, such as a path.
    pub reference: String,
    /// Full content.
    pub content: String,
    /// `true` if the call failed.
    pub failed: bool,
}

/// Output of a model.
pub struct ModelOutput {
    /// Text in which values are searched: the words of the model, or the texts and numbers of its tool arguments.
    pub text: String,
    /// Number of tokens that the answer takes in the context.
    pub tokens: usize,
}

impl ModelCall {
    /// Returns the tokens of the answer.
    pub fn answered(&self) -> usize {
        self.answer.iter().map(|answer| answer.tokens).sum()
    }
}

impl ModelInput {
    /// Returns the tokens of the full content.
    pub fn tokens(&self) -> usize {
        match self {
            Self::Text(text) => tokens::of(text),
            Self::Result(result) => tokens::of(&result.content),
        }
    }
}

impl ReplaySession {
    /// Returns the tool results in order.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        let all = self.turns.iter().flat_map(|turn| &turn.read);
        all.filter_map(|read| match read {
            ModelInput::Result(result) => Some(result),
            ModelInput::Text(_) => None,
        })
    }
}

/// Returns all sessions below `transcripts/` of the evaluation data. Each session is stored as
/// `norm/PROGRAM/NAME.jsonl`. Some also have their original file below `raw/`; only that file records which calls
/// failed.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn all(transcripts: &Path) -> Result<Vec<ReplaySession>> {
    let folder = transcripts.join("norm");
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut sessions = Vec::new();
    for path in files(&folder)? {
        let below = path.strip_prefix(&folder).unwrap_or(&path);
        let program = below.parent().unwrap_or(Path::new("")).display().to_string();
        let number = numbers.entry(program.clone()).or_default();
        *number += 1;
        let failed = failed(&transcripts.join("raw").join(below.with_extension("")))?;
        let lines = lines(&path)?;
        sessions.push(ReplaySession {
            name: format!("{program}/{number}"),
            turns: turns(&lines, &failed),
        });
    }
    Ok(sessions)
}

fn turns(lines: &[TranscriptLine], failed: &BTreeSet<String>) -> Vec<ModelCall> {
    let mut turns = vec![ModelCall::default()];
    let mut calls: BTreeMap<&str, &TranscriptLine> = BTreeMap::new();
    let mut last = None;
    for line in lines {
        // No program keeps the model's thoughts in its context.
        if line.kind == "thinking" {
            continue;
        }
        if line.kind == "tool_call" {
            last = Some(line);
            calls.extend(line.call_id.as_deref().map(|id| (id, line)));
        }
        if line.role == "assistant" {
            if let Some(turn) = turns.last_mut() {
                turn.answer.push(answer(line));
            }
            continue;
        }
        if turns.last().is_some_and(|turn| !turn.answer.is_empty()) {
            turns.push(ModelCall::default());
        }
        let read = match line.kind.as_str() {
            "tool_result" => {
                let id = line.call_id.as_deref();
                let call = id.and_then(|id| calls.get(id).copied()).or(last);
                let failed = id.is_some_and(|id| failed.contains(id));
                ModelInput::Result(result(line, call, failed))
            }
            "text" => ModelInput::Text(line.text.clone()),
            // Snapshots and documents are not read as text.
            other => ModelInput::Text(format!("[{other}]")),
        };
        if let Some(turn) = turns.last_mut() {
            turn.read.push(read);
        }
    }
    turns.retain(|turn| !turn.read.is_empty() || !turn.answer.is_empty());
    turns
}

fn answer(line: &TranscriptLine) -> ModelOutput {
    let name = line.name.as_deref().unwrap_or_default();
    let text = if line.kind == "tool_call" {
        // Only the argument values are kept, without JSON syntax.
        needs::flat(&serde_json::from_str(&line.text).unwrap_or(Value::String(line.text.clone())))
    } else {
        line.text.clone()
    };
    ModelOutput {
        text,
        tokens: tokens::of_bytes(line.text.len() + name.len()),
    }
}

fn result(line: &TranscriptLine, call: Option<&TranscriptLine>, failed: bool) -> ToolResult {
    let named = line
        .name
        .as_deref()
        .or_else(|| call.and_then(|call| call.name.as_deref()));
    ToolResult {
        tool: named.filter(|name| !name.is_empty()).unwrap_or("tool").to_owned(),
        reference: call.map(|call| reference(&call.text)).unwrap_or_default(),
        content: line.text.clone(),
        failed,
    }
}

/// Returns the object of a call, given its arguments.
fn reference(arguments: &str) -> String {
    let value = serde_json::from_str(arguments).unwrap_or(Value::String(arguments.to_owned()));
    let named = NAMES.iter().find_map(|name| value.get(name)?.as_str());
    let text = named.map_or_else(|| needs::flat(&value), str::to_owned);
    text.chars().take(MOST_REFERENCE).collect()
}

/// Returns the ids of failed calls from the original file. `stem` is the path of that file without extension.
fn failed(stem: &Path) -> Result<BTreeSet<String>> {
    let mut failed = BTreeSet::new();
    let path: PathBuf = stem.with_extension("jsonl");
    if !path.exists() {
        return Ok(failed);
    }
    let bytes = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(value) = serde_json::from_slice(line) {
            look(&value, &mut failed);
        }
    }
    Ok(failed)
}

fn look(value: &Value, failed: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| look(value, failed)),
        Value::Object(fields) => {
            let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
            let id = first(&["tool_use_id", "toolCallId", "call_id"]).and_then(Value::as_str);
            let flag = first(&["is_error", "isError"]).and_then(Value::as_bool);
            let code = fields.get("exit_code").and_then(Value::as_i64);
            if let Some(id) = id
                && (flag == Some(true) || code.is_some_and(|code| code != 0))
            {
                failed.insert(id.to_owned());
            }
            fields.values().for_each(|value| look(value, failed));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<TranscriptLine> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn a_turn_is_a_call_of_the_model() {
        let lines = lines(
            r#"{"role":"user","kind":"text","text":"look"}
{"role":"assistant","kind":"thinking","text":"hm"}
{"role":"assistant","kind":"text","text":"I do."}
{"role":"assistant","kind":"tool_call","name":"read","call_id":"a","text":"{\"path\":\"x/y.rs\",\"limit\":3}"}
{"role":"assistant","kind":"tool_call","name":"bash","call_id":"b","text":"{\"command\":\"ls\"}"}
{"role":"tool","kind":"tool_result","call_id":"b","text":"No such file"}
{"role":"tool","kind":"tool_result","call_id":"a","text":"fn main"}
{"role":"assistant","kind":"text","text":"Done."}
{"role":"user","kind":"text","text":"thanks"}"#,
        );
        let turns = turns(&lines, &BTreeSet::from(["b".to_owned()]));
        let shape: Vec<_> = turns.iter().map(|t| (t.read.len(), t.answer.len())).collect();
        assert_eq!(shape, [(1, 3), (2, 1), (1, 0)]);
        let session = ReplaySession {
            name: "pi/1".into(),
            turns,
        };
        let told: Vec<_> = session
            .results()
            .map(|result| (&*result.tool, &*result.reference, result.failed))
            .collect();
        assert_eq!(told, [("bash", "ls", true), ("read", "x/y.rs", false)]);
        assert!(
            session.turns[0].answer[1].text.contains("x/y.rs\n")
                || session.turns[0].answer[1].text.contains("\nx/y.rs")
        );
    }

    #[test]
    fn failures_are_found_in_the_format_of_each_program() {
        let mut failed = BTreeSet::new();
        for line in [
            r#"{"message":{"content":[{"tool_use_id":"a","is_error":true},{"tool_use_id":"b","is_error":false}]}}"#,
            r#"{"message":{"toolCallId":"c","isError":true}}"#,
            r#"{"msg":{"call_id":"d","exit_code":101}}"#,
            r#"{"msg":{"call_id":"e","exit_code":0}}"#,
        ] {
            look(&serde_json::from_str(line).unwrap(), &mut failed);
        }
        assert_eq!(failed.into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);
    }
}
