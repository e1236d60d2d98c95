//! May a body that somebody wrote take the place of a node's?

use std::collections::BTreeSet;

use crate::redact::without_secrets;
use crate::retrieval::terms::Analyzer;
use crate::time::Date;

use super::item::Source;
use super::make::{LEAST, room};
use super::node::{Node, Writer, level_name, named};
use super::period::Period;
use super::plan::{SourceFile, status};

/// Share of a body's words that its sources must have, in percent: below it, it is a text about something else.
pub const LEAST_OVERLAP: usize = 50;
/// Percent of the budget that a body may take; who writes cannot count tokens exactly.
const ROOM: usize = 125;

/// Why a body was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It says nothing.
    #[error("the body has {0} bytes without its front matter; a node has {LEAST} at least")]
    Short(usize),
    /// It is no shorter than what it is to stand for.
    #[error("the body has {tokens} tokens, more than the {most} that this node may have")]
    Long {
        /// Its own.
        tokens: usize,
        /// The most.
        most: usize,
    },
    /// Its front matter says that it is another node's.
    #[error("its front matter says {key}: {value}, which is not this node's")]
    Other {
        /// Which line.
        key: String,
        /// What it says.
        value: String,
    },
    /// Most of its words stand in none of the sources.
    #[error("only {percent} % of its words stand in the sources, less than {LEAST_OVERLAP} %")]
    Unlike {
        /// How many do.
        percent: usize,
    },
}

/// The most tokens that a node with these sources may have.
#[must_use]
pub fn most_tokens(period: Period, sources: &[Source<'_>]) -> usize {
    room(period.level(), sources)
}

/// The node with a body that somebody wrote, without secrets, and the percentage of its words that the sources have. `files` and
/// `sources` are the same, one without their texts. Lines that `before` has in its front matter stay.
///
/// # Errors
/// [`Rejected`].
pub fn submitted(
    period: Period,
    body: &str,
    before: Option<&Node>,
    files: &[SourceFile],
    sources: &[Source<'_>],
    writer: Writer,
    today: Date,
) -> Result<(Node, usize), Rejected> {
    let read = Node::read(period, body);
    let (level, name) = (level_name(period.level()), period.to_string());
    for (key, value) in named(body) {
        if (key == "type" && value != level) || (key == "period" && value != name) {
            return Err(Rejected::Other {
                key: key.to_owned(),
                value: value.chars().take(40).collect(),
            });
        }
    }
    let text = without_secrets(&read.body);
    let text = text.trim();
    if text.len() < LEAST {
        return Err(Rejected::Short(text.len()));
    }
    let (tokens, most) = (crate::tokens::of(text), most_tokens(period, sources) * ROOM / 100);
    if tokens > most {
        return Err(Rejected::Long { tokens, most });
    }
    let percent = overlap(text, sources);
    if percent < LEAST_OVERLAP {
        return Err(Rejected::Unlike { percent });
    }
    let mut node = Node::new(
        period,
        status(period, today, false),
        SourceFile::paths(files),
        Some(SourceFile::together(files)),
        format!("{text}\n"),
    );
    node.writer = writer;
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

/// Percentage of the distinct words of a text, but for those that every text has, that stand in the sources.
fn overlap(text: &str, sources: &[Source<'_>]) -> usize {
    let mut analyzer = Analyzer::new();
    let mut words = |text: &str| -> BTreeSet<String> {
        let mut out = String::new();
        analyzer.index_terms(text, &mut out);
        out.split_ascii_whitespace().map(str::to_owned).collect()
    };
    let mut known = BTreeSet::new();
    for source in sources {
        known.append(&mut words(source.text));
    }
    let words = words(text);
    let found = words.iter().filter(|word| known.contains(*word)).count();
    (found * 100).checked_div(words.len()).unwrap_or(0)
}
