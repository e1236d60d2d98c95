//! Selection of the statements of a node.

use std::collections::{HashMap, HashSet};

pub use super::item::{NodeSource, StatementKind};
use super::item::{SourceContent, Statement, read};
use super::salience::{StatementParts, choose};
use super::topic::topics;
use super::write::{Body, NodeLine, listed_topics};
use hippo_redact::redact;
use hippo_text::gist::words::WordCounts;
use hippo_text::source::NodeKind;
use hippo_types::memory::MemoryType;
use hippo_types::tokens;

/// Factor that lowers the scores of earlier statements if a submitted body exists. A score is multiplied by this factor
/// once for each token budget of text after the statement.
const EARLIER: f32 = 0.062_5;
/// Maximum topics listed in the front matter.
const NAMED: usize = 8;

/// The body of a node, and its topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digest {
    /// The body without front matter; ends with a newline unless it is empty.
    pub body: String,
    /// Topics of the sources for the front matter, the most discussed first; eight at most. The body lists more.
    pub topics: Vec<(String, MemoryType)>,
}

/// Returns the token budget of a node: a share of its sources' tokens, with a minimum of about one page.
#[must_use]
pub fn budget(level: NodeKind, source_tokens: usize) -> usize {
    // Shares are in thousandths. A month keeps nearly all tokens of its weeks.
    let (share, least) = match level {
        NodeKind::Daily => (70, 1_000),
        NodeKind::Weekly => (150, 1_500),
        NodeKind::Monthly => (960, 2_000),
        // `ROOT.md` has a separate generator.
        NodeKind::Root => (0, 0),
    };
    let part = source_tokens / 1_000 * share + source_tokens % 1_000 * share / 1_000;
    part.max(least.min(source_tokens))
}

/// Returns the body of a node: the statements of its sources in at most `most` tokens. The same sources always give the
/// same body.
///
/// If there is a submitted body, the caller appends the result to that body. The result then omits statements that
/// `submitted` contains word for word, and words of `submitted` count as already mentioned. Because logs grow at the
/// end, later statements score higher: the score of a statement is divided by 16 for each `most` tokens of statements
/// after it.
#[must_use]
pub fn digest(level: NodeKind, sources: &[NodeSource], most: usize, submitted: Option<&str>) -> Digest {
    let readings: Vec<SourceContent> = sources.iter().map(read).collect();
    let mut all = Statements::of(&readings);
    if let Some(body) = submitted {
        all.leave_out(body);
    }
    let mut words = WordCounts::new();
    for (_, _, statement) in &all.list {
        words.begin_block();
        words.count(&statement.text);
    }
    let room = tokens::bytes(most);
    let named = topics(&readings, &mut words);
    let sectioned = all
        .list
        .iter()
        .map(|(_, section, statement)| (*section, *statement));
    let mut parts = StatementParts::of(sectioned, &mut words);
    if let Some(body) = submitted {
        parts.mark_said(body, &mut words, 2);
        let mut after = 0;
        let mut weights: Vec<f32> = Vec::with_capacity(all.list.len());
        for (_, _, statement) in all.list.iter().rev() {
            weights.push(EARLIER.powf(after as f32 / room.max(1) as f32));
            after += statement.text.len();
        }
        weights.reverse();
        parts.weigh(&weights);
    }
    let names = listed_topics(&named, room);
    // Words of a topic count as mentioned, so that the lines below it contain other words.
    for topic in &names {
        parts.mark_said(&topic.name, &mut words, 1);
    }
    // If a section has too few notes for a heading, the list of topics contains its topic.
    let mut notes: HashMap<&str, usize> = HashMap::new();
    for (_, section, statement) in &all.list {
        if let Some(topic) = named.get(*section as usize).and_then(Option::as_ref) {
            *notes.entry(&topic.name).or_default() += usize::from(statement.kind == StatementKind::Note);
        }
    }
    let listed = names
        .iter()
        .filter(|topic| notes.get(&*topic.name).is_none_or(|notes| *notes < 2));
    let reserved: usize = listed.map(|topic| topic.name.len() + 14).sum();
    let mut lines: HashSet<u32> = HashSet::new();
    let mut sections: HashMap<u32, usize> = HashMap::new();
    let order = choose(&parts, room.saturating_sub(reserved), all.sections, |part| {
        let (source, _, statement) = all.list[part.statement as usize];
        let fresh = lines.insert(part.line);
        let mut takes = part.range.len() + 2;
        if fresh {
            takes += 8 + pointer_bytes(&sources[source].path, statement);
            let heading = named.get(part.section as usize).and_then(Option::as_ref);
            let count = sections.entry(part.section).or_default();
            if !part.name && statement.kind == StatementKind::Note {
                *count += 1;
                let own = heading.filter(|topic| topic.explains(&statement.text) && statement.is_item());
                takes += match *count {
                    1 => own.map_or(0, |topic| topic.name.len() + 2),
                    2 => heading.map_or(0, |topic| topic.name.len() + 18),
                    _ => 0,
                };
            }
            takes += statement.person().map_or(0, |person| person.len() + 2);
        }
        takes
    });
    let body = Body {
        level,
        names: &names,
        topics: &named,
    };
    let mut kept = order.len();
    // The size estimate is approximate: remove the least valuable parts until the text fits.
    let text = loop {
        let mut chosen: Vec<NodeLine> = Vec::new();
        for at in &order[..kept] {
            let part = &parts.parts[*at];
            let (source, _, statement) = all.list[part.statement as usize];
            let source = &sources[source].path;
            chosen.push(NodeLine {
                part,
                source,
                statement,
            });
        }
        // Adjacent statements can together reveal a secret that neither statement contains alone.
        let text = redact(&body.write(chosen)).into_owned();
        if text.len() <= room {
            break text;
        }
        if kept == 0 {
            break String::new();
        }
        let over = text.len() - room;
        let mut gone = 0;
        while kept > 0 && gone < over {
            kept -= 1;
            gone += parts.parts[order[kept]].range.len().max(1);
        }
    };
    let first = names.iter().take(NAMED);
    let topics = first.map(|topic| (topic.name.clone(), topic.kind)).collect();
    Digest { body: text, topics }
}

fn pointer_bytes(path: &str, statement: &Statement) -> usize {
    match &statement.place {
        super::item::StatementOrigin::Given(given) => given.len(),
        super::item::StatementOrigin::Line(_) => path.len() + 5,
    }
}

/// The statements of all sources.
struct Statements<'r> {
    /// Source index, section index over all sources, and statement.
    list: Vec<(usize, u32, &'r Statement)>,
    sections: usize,
}

impl<'r> Statements<'r> {
    fn of(readings: &'r [SourceContent]) -> Self {
        let (mut list, mut base) = (Vec::new(), 0_u32);
        for (source, reading) in readings.iter().enumerate() {
            let section = |statement: &Statement| base.saturating_add(statement.section);
            let statements = reading.statements.iter();
            list.extend(statements.map(|statement| (source, section(statement), statement)));
            base = base.saturating_add(u32::try_from(reading.sections.len()).unwrap_or(u32::MAX));
        }
        Self {
            list,
            sections: base as usize,
        }
    }

    /// Removes statements that a body already contains word for word.
    fn leave_out(&mut self, body: &str) {
        let reading = read(&NodeSource {
            path: String::new(),
            text: body.to_owned(),
            first_line: 1,
            date: None,
        });
        let stated: HashSet<&String> = reading
            .statements
            .iter()
            .map(|statement| &statement.text)
            .collect();
        self.list
            .retain(|(_, _, statement)| !stated.contains(&statement.text));
    }
}

#[cfg(test)]
mod tests;
