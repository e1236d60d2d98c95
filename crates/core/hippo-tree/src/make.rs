//! Creation of a node from its sources and previous version.

use hippo_redact::lines_without_secrets;
use hippo_text::own_block;
use hippo_text::source::NodeKind;
use hippo_types::memory::MemoryType;
use hippo_types::time::Date;

use super::digest::{budget, digest};
use super::item::NodeSource;
use super::node::{BodyAuthor, Node, NodeStatus, SINCE};
use super::period::Period;
use super::plan::{NodeAction, NodeStep, status};

/// Minimum bytes of the body of a node.
pub(super) const LEAST: usize = 50;
/// Bytes of a line of usual length.
const LINE: usize = 160;
/// Statements that are appended to a submitted body use at most 1/4 of the token budget of the node, or [`SINCE_LEAST`]
/// tokens if that is more.
const SINCE_SHARE: usize = 4;
/// Minimum token budget for the statements that are appended to a submitted body.
const SINCE_LEAST: usize = 500;

/// Returns the number of source lines up to which the sources are copied verbatim.
fn threshold(level: NodeKind) -> usize {
    match level {
        NodeKind::Daily => 200,
        NodeKind::Weekly => 300,
        NodeKind::Monthly => 500,
        NodeKind::Root => 0,
    }
}

/// Returns the node that a step of the plan produces. Returns `None` if the sources of the node are too short, or if
/// the step writes nothing.
///
/// `improved` is true if an external writer is configured to improve extracted bodies.
#[must_use]
pub fn make(
    step: &NodeStep,
    sources: &[NodeSource],
    before: Option<&Node>,
    today: Date,
    improved: bool,
) -> Option<Node> {
    match step.action {
        NodeAction::Adopt => None,
        NodeAction::Restate(status) => before.map(|node| Node {
            status: Some(status),
            ..node.clone()
        }),
        NodeAction::Make => build_node(step, sources, before, today, improved),
        NodeAction::Outdate => before.map(|node| append_newer(step, sources, node)),
    }
}

fn build_node(
    step: &NodeStep,
    sources: &[NodeSource],
    before: Option<&Node>,
    today: Date,
    improved: bool,
) -> Option<Node> {
    let level = step.period.level();
    let lines: usize = sources.iter().map(|source| lines_of(level, &source.text)).sum();
    let extracted = lines > threshold(level);
    let (body, topics) = if extracted {
        let made = digest(level, sources, max_tokens(level, sources), None);
        (made.body, topics(&made.topics))
    } else {
        (concatenate_sources(level, sources), String::new())
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
    // Keep front matter lines added by others.
    node.others = before.map(|before| before.others.clone()).unwrap_or_default();
    Some(node)
}

/// Returns the number of lines of a source, for comparison with [`threshold`].
///
/// Lines of a log are counted as they are. Lines of nodes can be long and are counted once per [`LINE`] bytes, so that
/// a week never becomes larger than its sources.
fn lines_of(level: NodeKind, text: &str) -> usize {
    match level {
        NodeKind::Daily => text.lines().count(),
        _ => text.lines().map(|line| line.len().div_ceil(LINE).max(1)).sum(),
    }
}

/// Returns the node with its submitted body, followed by the statements that are newer than the body.
fn append_newer(step: &NodeStep, sources: &[NodeSource], before: &Node) -> Node {
    let level = step.period.level();
    // With the minimum, the statements of short sources fit completely.
    let room = (max_tokens(level, sources) / SINCE_SHARE).max(SINCE_LEAST);
    let since = digest(level, sources, room, Some(&before.own_body())).body;
    let body = own_block::put(before.body.as_bytes(), SINCE, &since);
    let body = match body.map(String::from_utf8) {
        Ok(Ok(body)) => body,
        // If the block is damaged, leave the text unchanged.
        _ => before.body.clone(),
    };
    Node {
        status: Some(NodeStatus::NeedsSummarization),
        sources: step.sources.clone(),
        source_digest: Some(step.digest),
        writer: match before.writer {
            BodyAuthor::Unknown | BodyAuthor::Hippod => BodyAuthor::Agent,
            writer => writer,
        },
        body,
        ..before.clone()
    }
}

/// Concatenates all sources. Each source has a heading with its name, except the only log of a day.
fn concatenate_sources(level: NodeKind, sources: &[NodeSource]) -> String {
    let mut out = String::new();
    for source in sources {
        // Redact without changing line numbers, because nodes of higher levels refer to these lines by number.
        let text = lines_without_secrets(&source.text, false);
        let text = text.trim_matches(['\n', '\r']);
        if text.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        if level != NodeKind::Daily || sources.len() > 1 {
            // For a day that copies its log, the path of the source is the path of the log, so use the date.
            let day = source.date.filter(|_| level != NodeKind::Daily).map(Period::Day);
            let period = Period::of_path(&source.path).or(day);
            let name = period.map_or_else(|| source.path.clone(), |period| period.to_string());
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

/// Returns the maximum number of tokens of a node with these sources.
#[must_use]
pub fn max_tokens(level: NodeKind, sources: &[NodeSource]) -> usize {
    let tokens = sources.iter().map(|source| hippo_types::tokens::of(&source.text));
    budget(level, tokens.sum())
}

fn topics(topics: &[(String, MemoryType)]) -> String {
    let bare = |topic: &str| topic.replace([',', '[', ']'], " ");
    let named = topics
        .iter()
        .map(|(topic, kind)| format!("{} [{kind}]", bare(topic)));
    named.collect::<Vec<_>>().join(", ")
}
