//! What does a node say, from the texts of its sources and what stood there before?

use crate::own_block;
use crate::redact::lines_without_secrets;
use crate::source::NodeKind;
use crate::time::Date;

use super::digest::{budget, digest, digest_since};
use super::item::Source;
use super::label::MemoryType;
use super::node::{Node, SINCE, Status, Writer};
use super::period::Period;
use super::plan::{Action, Step, status};

/// Bytes below which nothing is worth a node.
pub(super) const LEAST: usize = 50;
/// Bytes of a line of usual length.
const LINE: usize = 160;
/// Beside somebody's own body, what is new takes this part of a node's budget.
const SINCE_SHARE: usize = 4;
/// But as many tokens as this in any case.
const SINCE_LEAST: usize = 500;

/// Lines of the sources up to which they stand in the node as they are.
#[must_use]
pub fn threshold(level: NodeKind) -> usize {
    match level {
        NodeKind::Daily => 200,
        NodeKind::Weekly => 300,
        NodeKind::Monthly => 500,
        NodeKind::Root => 0,
    }
}

/// The node after a step; `None`: its sources say too little for one, or nothing is written for this step. `improved`:
/// somebody is to improve what is extracted.
#[must_use]
pub fn make(
    step: &Step,
    sources: &[Source<'_>],
    before: Option<&Node>,
    today: Date,
    improved: bool,
) -> Option<Node> {
    match step.action {
        Action::Adopt => None,
        Action::Restate(status) => before.map(|node| Node {
            status: Some(status),
            ..node.clone()
        }),
        Action::Make => made(step, sources, before, today, improved),
        Action::Outdate => before.map(|node| outdated(step, sources, node)),
    }
}

fn made(
    step: &Step,
    sources: &[Source<'_>],
    before: Option<&Node>,
    today: Date,
    improved: bool,
) -> Option<Node> {
    let level = step.period.level();
    let lines: usize = sources.iter().map(|source| lines_of(level, source.text)).sum();
    let extracted = lines > threshold(level);
    let (body, topics) = if extracted {
        let made = digest(level, sources, room(level, sources));
        (made.body, topics(&made.topics))
    } else {
        (verbatim(level, sources), String::new())
    };
    if body.trim().len() < LEAST {
        return None;
    }
    let mut node = Node::new(
        step.period,
        status(step.period, today, improved && extracted),
        step.sources.clone(),
        Some(step.digest),
        body,
    );
    node.lines = extracted.then_some(lines);
    node.topics = topics;
    // What somebody noted in the front matter stays.
    node.others = before.map(|before| before.others.clone()).unwrap_or_default();
    Some(node)
}

/// Lines as the threshold counts them. Those of a log are as its writer made them; those of nodes may be long, and count once
/// for each [`LINE`] bytes, so that no week becomes larger than what it is made from.
fn lines_of(level: NodeKind, text: &str) -> usize {
    match level {
        NodeKind::Daily => text.lines().count(),
        _ => text.lines().map(|line| line.len().div_ceil(LINE).max(1)).sum(),
    }
}

/// Somebody's body stays, and what its sources say by now stands behind it.
fn outdated(step: &Step, sources: &[Source<'_>], before: &Node) -> Node {
    let level = step.period.level();
    let since = digest_since(level, sources, since_room(level, sources), &before.own_body()).body;
    let body = own_block::put(before.body.as_bytes(), SINCE, &since);
    let body = match body.map(String::from_utf8) {
        Ok(Ok(body)) => body,
        // A block that somebody tore: what they wrote is not touched.
        _ => before.body.clone(),
    };
    Node {
        status: Some(Status::NeedsSummarization),
        sources: step.sources.clone(),
        source_digest: Some(step.digest),
        writer: match before.writer {
            Writer::Unknown | Writer::Hippod => Writer::Agent,
            writer => writer,
        },
        body,
        ..before.clone()
    }
}

/// All sources one after the other, each below its name where there are several.
fn verbatim(level: NodeKind, sources: &[Source<'_>]) -> String {
    let mut out = String::new();
    for source in sources {
        // Lines above point at these by their numbers.
        let text = lines_without_secrets(source.text, false);
        let text = text.trim_matches(['\n', '\r']);
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        if level != NodeKind::Daily || sources.len() > 1 {
            // A day that is its log as it stands has the path of that.
            let day = source.date.filter(|_| level != NodeKind::Daily).map(Period::Day);
            let period = Period::of_path(source.path).or(day);
            let name = period.map_or_else(|| source.path.to_owned(), |period| period.to_string());
            let title = format!("# {name}\n");
            if !text.starts_with(&title) {
                out.push_str(&title);
                out.push('\n');
            }
        }
        out.push_str(text);
    }
    out.push('\n');
    out
}

/// The most tokens that a node of a level with these sources may have.
pub(super) fn room(level: NodeKind, sources: &[Source<'_>]) -> usize {
    let tokens = sources.iter().map(|source| crate::tokens::of(source.text)).sum();
    budget(level, tokens)
}

/// The most tokens of what stands behind somebody's body: sources that say little are told whole.
fn since_room(level: NodeKind, sources: &[Source<'_>]) -> usize {
    (room(level, sources) / SINCE_SHARE).max(SINCE_LEAST)
}

fn topics(topics: &[(String, MemoryType)]) -> String {
    let named = topics
        .iter()
        .map(|(topic, kind)| format!("{} [{}]", topic.replace([',', '[', ']'], " "), kind.word()));
    named.collect::<Vec<_>>().join(", ")
}
