//! Checks for node bodies submitted by people and agents.

use std::collections::BTreeSet;

use hippo_redact::without_secrets;
use hippo_text::terms::Analyzer;
use hippo_types::time::Date;

use super::item::NodeSource;
use super::make::{LEAST, max_tokens};
use super::node::{BodyAuthor, Node, front_matter_pairs};
use super::period::Period;
use super::plan::{SourceFile, status};

/// Minimum percentage of a body's words that must appear in its sources; a lower share indicates an unrelated text.
pub const LEAST_OVERLAP: usize = 50;
/// Maximum size of a body, in percent of the token budget. The size may exceed the budget, because writers cannot count
/// tokens exactly.
const ROOM: usize = 125;

/// Reason why a body was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyRejection {
    /// The body is too short.
    #[error("the body has {0} bytes without its front matter; the minimum is {LEAST}")]
    Short(usize),
    /// The body exceeds the token limit of its node.
    #[error("the body has {tokens} tokens; the maximum for this node is {most}")]
    Long {
        /// Tokens of the body.
        tokens: usize,
        /// Maximum tokens of the node.
        most: usize,
    },
    /// The front matter belongs to a different node.
    #[error("the front matter of the body has {key}: {value}, which belongs to another node")]
    Other {
        /// Key of the conflicting line.
        key: String,
        /// Value of the conflicting line.
        value: String,
    },
    /// Too few words of the body appear in the sources.
    #[error(
        "only {percent} % of the words of the body occur in the sources; the minimum is {LEAST_OVERLAP} %"
    )]
    Unlike {
        /// Percentage of the words that appear in the sources.
        percent: usize,
    },
}

/// Returns the node with a submitted body, and the percentage of the body's words that the sources contain.
///
/// Removes secrets from the body. `files` and `sources` list the same sources; `files` does not contain their texts.
/// Keeps the additional front matter lines of `before`, the previous version of the node.
///
/// # Errors
/// Returns the reason as a [`BodyRejection`] if the body is rejected.
pub fn build_submitted(
    period: Period,
    body: &str,
    before: Option<&Node>,
    files: &[SourceFile],
    sources: &[NodeSource],
    today: Date,
) -> Result<(Node, usize), BodyRejection> {
    let read = Node::read(period, body);
    let (level, name) = (period.level().name(), period.to_string());
    for (key, value) in front_matter_pairs(body) {
        if (key == "type" && value != level) || (key == "period" && value != name) {
            return Err(BodyRejection::Other {
                key: key.to_owned(),
                value: value.chars().take(40).collect(),
            });
        }
    }
    let text = without_secrets(&read.body);
    let text = text.trim();
    if text.len() < LEAST {
        return Err(BodyRejection::Short(text.len()));
    }
    let (tokens, most) = (
        hippo_types::tokens::of(text),
        max_tokens(period.level(), sources) * ROOM / 100,
    );
    if tokens > most {
        return Err(BodyRejection::Long { tokens, most });
    }
    let percent = overlap(text, sources);
    if percent < LEAST_OVERLAP {
        return Err(BodyRejection::Unlike { percent });
    }
    let mut node = Node::new(
        period,
        status(period, today, false),
        SourceFile::paths(files),
        Some(SourceFile::combine_sources(files)),
        format!("{text}\n"),
    );
    node.writer = BodyAuthor::Agent;
    node.topics = without_secrets(&read.topics).into_owned();
    node.others = before.map(|before| before.others.clone()).unwrap_or_default();
    for line in read.others {
        let line = without_secrets(&line).into_owned();
        if !node.others.contains(&line) {
            node.others.push(line);
        }
    }
    Ok((node, percent))
}

/// Returns the percentage of the distinct words of a text that the sources contain.
fn overlap(text: &str, sources: &[NodeSource]) -> usize {
    let mut analyzer = Analyzer::new();
    let mut words = |text: &str| -> BTreeSet<String> {
        let mut out = String::new();
        analyzer.index_terms(text, &mut out);
        out.split_ascii_whitespace().map(str::to_owned).collect()
    };
    let mut known = BTreeSet::new();
    for source in sources {
        known.append(&mut words(&source.text));
    }
    let words = words(text);
    let found = words.iter().filter(|word| known.contains(*word)).count();
    (found * 100).checked_div(words.len()).unwrap_or(0)
}
