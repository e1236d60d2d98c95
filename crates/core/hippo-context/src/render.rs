//! Rendering of a session's entries as a section for the agent's context.
//!
//! The section is fenced and has one block for each active entry, within a token budget. The strongest entries are
//! selected and listed in order of creation. A block does not change between turns, so a prompt that starts with the
//! section can be cached. The text of an entry cannot end the section. When the section is captured again, hippod
//! ignores it.

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use hippo_text::fence::{CLOSE, OPEN, STANCE, to_safe_line};
use hippo_text::instruction;
use hippo_text::text::clip;
use hippo_types::context::{ContextEntry, ContextShown, ContextState};
use hippo_types::time::Date;

/// Maximum bytes of a source reference in a block.
const REFERENCE: usize = 160;
/// Sentence that explains to the model how to fetch the content of an entry.
const FETCH: &str = "hippoctl context fetch ID prints all the content of an entry.";

/// Rendered section.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextSection {
    /// The section; empty if there are no entries.
    pub text: String,
    /// Indices of the rendered entries, in the order of the section.
    pub entries: Vec<usize>,
    /// Tokens of the text, as counted by the `count` argument of [`render`].
    pub tokens: u64,
    /// Number of active entries that do not fit into the budget.
    pub left_out: usize,
    /// Number of dormant and expired entries.
    pub dormant: usize,
}

/// Renders the section within `budget` tokens. `strengths` and `states` correspond to `entries`, see
/// [`super::fade::strengths`] and [`super::lifecycle::CyclePlan`]. `count` counts the tokens of a text and must not
/// return more for a part than for the whole. `least` returns a lower bound for the tokens of the entry at an index. If
/// even this number exceeds the rest of the budget, the entry is skipped without being formatted.
#[must_use]
pub fn render<E: Borrow<ContextEntry>>(
    entries: &[E],
    strengths: &[f32],
    states: &[ContextState],
    budget: u64,
    count: impl Fn(&str) -> u64,
    least: impl Fn(usize) -> u64,
) -> ContextSection {
    let mut active: Vec<(usize, f32)> = Vec::new();
    let mut dormant = 0;
    for (at, (strength, state)) in strengths.iter().zip(states).enumerate().take(entries.len()) {
        match state {
            ContextState::Active => active.push((at, *strength)),
            ContextState::Dormant | ContextState::Expired => dormant += 1,
        }
    }
    let order = |at: usize| {
        let entry = entries.get(at).map(Borrow::borrow);
        entry.map(|entry: &ContextEntry| (entry.lifecycle.created, entry.id.as_str()))
    };
    active.sort_by(|(a, s), (b, t)| {
        t.total_cmp(s)
            .then_with(|| Reverse(order(*a)).cmp(&Reverse(order(*b))))
    });
    let frame = count(&assemble(&[], active.len(), dormant)) + 1;
    let mut left = budget.saturating_sub(frame);
    let mut taken: Vec<(usize, String)> = Vec::new();
    for (at, _) in &active {
        let Some(entry) = entries.get(*at).map(Borrow::borrow) else {
            continue;
        };
        if least(*at) >= left {
            continue;
        }
        let block = format_block(entry);
        let tokens = count(&block) + 1;
        if tokens <= left {
            left -= tokens;
            taken.push((*at, block));
        }
    }
    taken.sort_by(|(a, _), (b, _)| order(*a).cmp(&order(*b)));
    // The whole section may have slightly more tokens than the sum of its parts. If it exceeds the budget, the weakest
    // entry is removed.
    loop {
        let left_out = active.len() - taken.len();
        if taken.is_empty() {
            return ContextSection {
                left_out,
                dormant,
                ..ContextSection::default()
            };
        }
        let blocks: Vec<&str> = taken.iter().map(|(_, block)| block.as_str()).collect();
        let text = assemble(&blocks, left_out, dormant);
        let tokens = count(&text);
        if tokens <= budget {
            return ContextSection {
                text,
                entries: taken.into_iter().map(|(at, _)| at).collect(),
                tokens,
                left_out,
                dormant,
            };
        }
        let weakest = active
            .iter()
            .rev()
            .find_map(|(at, _)| taken.iter().position(|(one, _)| one == at));
        taken.remove(weakest.unwrap_or(0));
    }
}

/// Returns a description of each entry in the section, in the order of the section.
#[must_use]
pub fn shown_entries<E: Borrow<ContextEntry>>(
    section: &ContextSection,
    entries: &[E],
    strengths: &[f32],
    count: impl Fn(&str) -> u64,
) -> Vec<ContextShown> {
    let one = |at: &usize| {
        let entry: &ContextEntry = entries.get(*at)?.borrow();
        let mut shown = shown(entry, count(&format_block(entry)));
        shown.strength = strengths.get(*at).copied().unwrap_or(0.0);
        Some(shown)
    };
    section.entries.iter().filter_map(one).collect()
}

/// Returns the description of an entry that has this number of tokens.
fn shown(entry: &ContextEntry, tokens: u64) -> ContextShown {
    ContextShown {
        id: entry.id.clone(),
        kind: entry.kind,
        strength: entry.strength,
        summary: entry.summary.clone(),
        key_data: entry.key_data.clone(),
        source: entry.source.clone(),
        tokens,
        earlier_session: None,
    }
}

/// An entry of a closed session.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierEntry {
    /// The entry.
    pub entry: ContextEntry,
    /// Id of the session.
    pub session: String,
    /// Day on which the session was opened.
    pub date: Date,
}

/// Appends entries of earlier sessions to a section as long as the section has at most `budget` tokens. Returns a
/// description of each appended entry.
pub fn append_earlier(
    section: &mut ContextSection,
    earlier: &[EarlierEntry],
    budget: u64,
    count: impl Fn(&str) -> u64,
) -> Vec<ContextShown> {
    let end = end(section.left_out, section.dormant);
    let mut body = section.text.strip_suffix(&end).map_or_else(begin, str::to_owned);
    let mut appended = Vec::new();
    for EarlierEntry { entry, session, date } in earlier {
        let block = format_entry(entry, &format!(", from an earlier session of {date}"));
        let text = format!("{body}{block}{end}");
        let tokens = count(&text);
        if tokens > budget {
            continue;
        }
        body += &block;
        (section.text, section.tokens) = (text, tokens);
        appended.push(ContextShown {
            earlier_session: Some(session.clone()),
            ..shown(entry, count(&block))
        });
    }
    appended
}

fn assemble(blocks: &[&str], left_out: usize, dormant: usize) -> String {
    begin() + &blocks.concat() + &end(left_out, dormant)
}

fn begin() -> String {
    format!("{OPEN}\n{STANCE} {FETCH}\n")
}

fn end(left_out: usize, dormant: usize) -> String {
    let mut text = String::new();
    // This line changes between turns. It is at the end, so that the text before it can be cached.
    if left_out + dormant > 0 {
        let _ = writeln!(text, "(not shown: {left_out} without room, {dormant} dormant)");
    }
    text + CLOSE + "\n"
}

/// Formats an entry as a list item: id, source, turn, summary, key data.
pub(super) fn format_block(entry: &ContextEntry) -> String {
    format_entry(entry, &format!(" @ turn {}", entry.source.turn))
}

fn format_entry(entry: &ContextEntry, when: &str) -> String {
    let reference = match to_safe_line(&entry.source.reference) {
        reference if reference.is_empty() => String::new(),
        reference => format!(" {}", clip(&reference, REFERENCE)),
    };
    let (id, kind) = (to_safe_line(&entry.id), to_safe_line(&entry.source.kind));
    if steers(entry) {
        return format!("- [{id}] {kind}{when}: {}\n", instruction::MARK);
    }
    let summary = to_safe_line(&entry.summary);
    let stale = if entry.source.stale {
        ", source changed or gone"
    } else {
        ""
    };
    let mut text = format!("- [{id}] {kind}{reference}{when}{stale}: {summary}\n");
    if let Some(data) = entry.key_data.as_ref().filter(|data| !data.is_empty()) {
        // The braces prevent the name of a value from being at the start of a line.
        let _ = writeln!(text, "  {{{}}}", to_safe_line(&format_key_data(data)));
    }
    text
}

/// Returns `true` if any text of an entry reads like an instruction to the model.
#[must_use]
pub fn steers(entry: &ContextEntry) -> bool {
    let data = entry.key_data.as_ref().map(format_key_data).unwrap_or_default();
    let texts = [&entry.source.reference, &entry.source.kind, &entry.summary, &data];
    texts.iter().any(|text| instruction::is_instruction(text))
        || instruction::is_instruction(&texts.map(String::as_str).join("\n"))
}

/// Formats key data compactly: `name: value; name: value`.
#[must_use]
pub fn format_key_data(data: &Map<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    data.iter().map(one).collect::<Vec<_>>().join("; ")
}
