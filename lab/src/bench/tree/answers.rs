//! Literal answers in the logs, and the nodes that contain them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::nodes::{Nodes, path_date};

/// Maximum length of a literal answer, in bytes.
const LONGEST: usize = 40;

#[derive(Deserialize)]
struct TreeQuestion {
    answer: serde_json::Value,
    evidence: Vec<Evidence>,
}

#[derive(Deserialize)]
struct Evidence {
    path: String,
    start_line: usize,
    end_line: usize,
}

/// A short answer and the days of its sessions.
pub struct ShortAnswer {
    text: String,
    days: Vec<String>,
}

/// Returns the answers that contain a letter and occur in one of their sessions.
///
/// # Errors
/// Fails if the questions or the logs cannot be read.
pub fn read(folder: &Path) -> Result<Vec<ShortAnswer>> {
    let path = folder.join("questions_explicit.jsonl");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let mut out = Vec::new();
    for line in text.lines() {
        let question: TreeQuestion = serde_json::from_str(line)?;
        let serde_json::Value::String(answer) = question.answer else {
            continue;
        };
        let answer = answer.trim().trim_end_matches('.').to_lowercase();
        if answer.len() > LONGEST || !answer.contains(char::is_alphabetic) {
            continue;
        }
        let mut stands = false;
        let mut days = Vec::new();
        for evidence in &question.evidence {
            let log = fs::read_to_string(folder.join("workspace").join(&evidence.path))?;
            let lines: Vec<&str> = log
                .lines()
                .skip(evidence.start_line - 1)
                .take(evidence.end_line + 1 - evidence.start_line)
                .collect();
            stands |= holds(&lines.join("\n").to_lowercase(), &answer);
            days.push(path_date(&evidence.path).to_owned());
        }
        if stands {
            out.push(ShortAnswer { text: answer, days });
        }
    }
    Ok(out)
}

/// Returns `true` if a text contains a phrase between word boundaries. Both must be in lower case.
fn holds(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// Counts of found answers. Each array has one count per level: day, week, month, root.
pub struct LevelCounts {
    /// Number of pairs of an answer and one of its sessions in which the session's node contains the answer.
    pub pairs: [usize; 4],
    /// Number of all pairs of an answer and one of its sessions.
    pub all_pairs: usize,
    /// Number of answers that the node of at least one of their sessions contains.
    pub answers: [usize; 4],
}

/// Searches for each answer in the nodes of its days, weeks and months, and in the root.
pub fn found(answers: &[ShortAnswer], nodes: &Nodes) -> LevelCounts {
    let mut out = LevelCounts {
        pairs: [0; 4],
        all_pairs: 0,
        answers: [0; 4],
    };
    for answer in answers {
        let mut any = [false; 4];
        for day in &answer.days {
            out.all_pairs += 1;
            for (level, text) in nodes.of_day(day).into_iter().enumerate() {
                if holds(text, &answer.text) {
                    out.pairs[level] += 1;
                    any[level] = true;
                }
            }
        }
        for (level, any) in any.into_iter().enumerate() {
            out.answers[level] += usize::from(any);
        }
    }
    out
}
