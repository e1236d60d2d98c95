//! Share of daily facts in nodes, compared with two baselines.
//!
//! The baselines are the first lines of a day, and random lines of the day.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use hippo_text::source::NodeKind;
use hippo_text::terms::Analyzer;
use hippo_tree::digest::{NodeSource, digest};
use hippo_types::tokens;
use serde::Deserialize;

use super::super::table::Figure;
use super::PART;
use super::nodes::{self, Nodes};

/// Ratio of the tokens of a day's text to the tokens of its node.
const SHARE: usize = 4;
/// Minimum share of a fact's content words that a node must contain for the fact to count.
const COVERED: f64 = 0.6;
/// Number of random draws of lines.
const DRAWS: u64 = 5;

#[derive(Deserialize)]
struct RecordedFact {
    file: String,
    fact: String,
}

/// Measures all conversations.
///
/// # Errors
/// Fails if the conversations cannot be read.
pub fn run(folder: &Path) -> Result<Vec<Figure>> {
    let (mut all, mut ours, mut first, mut chance, mut root) = (0_u32, 0_u32, 0_u32, 0_u32, 0_u32);
    let mut folders: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    folders.sort_by_key(fs::DirEntry::file_name);
    let mut terms = Terms(Analyzer::new());
    for entry in folders {
        let text = fs::read_to_string(entry.path().join("facts.jsonl"))?;
        let mut facts: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
        for line in text.lines() {
            let fact: RecordedFact = serde_json::from_str(line)?;
            facts.entry(fact.file).or_default().push(terms.of(&fact.fact));
        }
        let logs = nodes::logs(&entry.path().join("workspace"))?;
        let nodes = Nodes::of(&logs);
        for (file, facts) in &facts {
            let is_of_day = |line: &&str| line.contains(nodes::path_date(file));
            let lines: Vec<&str> = nodes.root_text().lines().filter(is_of_day).collect();
            root += covered(facts, &terms.of(&lines.join("\n")));
        }
        for log in logs {
            let Some(facts) = facts.get(&log.path) else {
                continue;
            };
            let most = tokens::of(&log.text) / SHARE;
            let source = NodeSource {
                path: log.path.clone(),
                text: log.text.clone(),
                first_line: 1,
                date: Some(log.date),
            };
            let lines: Vec<&str> = log.text.lines().filter(|line| !line.trim().is_empty()).collect();
            let node = terms.of(&digest(NodeKind::Daily, &[source], most, None).body);
            let lead = terms.of(&within(lines.iter().copied(), most));
            all += u32::try_from(facts.len())?;
            ours += covered(facts, &node);
            first += covered(facts, &lead);
            for draw in 0..DRAWS {
                let drawn = terms.of(&within(shuffled(&lines, draw).into_iter(), most));
                chance += covered(facts, &drawn);
            }
        }
    }
    let share = |found: u32| f64::from(found) / f64::from(all.max(1));
    let chance = share(chance) / DRAWS as f64;
    let best = share(first).max(chance);
    Ok(vec![
        Figure::new(
            PART,
            "LoCoMo facts in a node with a quarter of the day's text",
            format!("{:.1} % of {all}", share(ours) * 100.0),
        )
        .reach(format!("> {:.1} %", best * 100.0), share(ours) > best),
        Figure::new(
            PART,
            "LoCoMo facts in the lines of ROOT.md with their day",
            format!("{:.1} %", share(root) * 100.0),
        ),
        Figure::new(
            PART,
            "LoCoMo facts in the same amount of text: first lines / random lines",
            format!("{:.1} % / {:.1} %", share(first) * 100.0, chance * 100.0),
        ),
    ])
}

fn covered(facts: &[BTreeSet<String>], node: &BTreeSet<String>) -> u32 {
    let holds = |fact: &&BTreeSet<String>| {
        let found = fact.iter().filter(|term| node.contains(*term)).count();
        !fact.is_empty() && found as f64 >= COVERED * fact.len() as f64
    };
    u32::try_from(facts.iter().filter(holds).count()).unwrap_or(u32::MAX)
}

/// Returns the first lines that together have at most `most` tokens.
fn within<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> String {
    let mut out = String::new();
    for line in lines {
        if out.len() + line.len() + 1 > tokens::bytes(most) {
            break;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn shuffled<'a>(lines: &[&'a str], draw: u64) -> Vec<&'a str> {
    let mut lines = lines.to_vec();
    let mut state = draw.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in (1..lines.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        lines.swap(at, (state % (at as u64 + 1)) as usize);
    }
    lines
}

struct Terms(Analyzer);

impl Terms {
    /// Returns the content words of a text.
    fn of(&mut self, text: &str) -> BTreeSet<String> {
        let mut out = BTreeSet::new();
        // A query has a maximum number of words, so the text is analyzed line by line.
        for line in text.lines() {
            let terms = self.0.query_terms(line).into_iter();
            let telling = terms.filter(|term| !term.stop && !term.term.starts_with('@'));
            out.extend(telling.map(|term| term.term));
        }
        out
    }
}
