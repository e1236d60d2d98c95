//! Formatting of the selected parts, section by section.

use std::fmt::Write as _;

use super::{BuiltSummary, SummaryParts};
use crate::compaction::ledger::{MessageLedger, ScoredMessage};
use crate::compaction::score::Tier;
use hippo_text::fence::{CLOSE, guard_lines, opening};
use hippo_types::tokens;

const TITLE: &str = "# hippocampus.md Compaction\n";
const GOAL: &str = "\n## Goal\n";
const PRIOR: &str = "\n## Prior Context\n";
const ACTIVE: &str = "\n## Active Context (high retention)\n";
const COMPRESSED: &str = "\n## Compressed (mid retention — re-fetch if needed)\n";
const SPARSE: &str = "\n## Sparse Index (decayed — pointers only)\n";

/// Figures in the first and the last line.
#[derive(Debug, Clone, Copy)]
pub struct SummaryHeader {
    /// Tokens of all messages.
    pub before: usize,
    /// Contents are stored and can be fetched.
    pub stored: bool,
}

impl SummaryParts<'_> {
    /// Formats the summary.
    pub fn format(
        &self,
        ledger: &MessageLedger,
        scored: &[ScoredMessage],
        built: &BuiltSummary,
        head: SummaryHeader,
    ) -> String {
        let mut out = opening() + TITLE;
        let [kept, compressed, sparse] = built.tiers;
        let fetch = if head.stored { " | fetch any by its id" } else { "" };
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            out,
            "<!-- entries: {} | sparse: {sparse} | compressed: {compressed} | kept: {kept} | dropped: {}{fetch} -->",
            ledger.cores().len(),
            built.rest.count
        );
        if !self.goals.is_empty() {
            out.push_str(GOAL);
            let goals: Vec<&str> = self.goals.values().map(String::as_str).collect();
            push_guarded(&mut out, &goals.join("\n"));
        }
        if !self.prior.is_empty() {
            out.push_str(PRIOR);
            push_guarded(&mut out, self.prior);
        }
        if !self.active.is_empty() {
            out.push_str(ACTIVE);
            for (index, text) in &self.active {
                let (core, scored) = (&ledger.cores()[*index], ledger.score(*index));
                let more = if ledger.text(*index).is_some_and(|whole| whole.len() > text.len()) {
                    "…"
                } else {
                    ""
                };
                let _ = writeln!(
                    out,
                    "### [{}] (r={:.2}) {}",
                    core.kind.name(),
                    scored.retention,
                    core.id
                );
                push_guarded(&mut out, &format!("{text}{more}"));
                out.push('\n');
            }
            out.pop();
        }
        let mut section = |title: &str, sparse: bool| {
            let mut lines = scored
                .iter()
                .filter(|scored| (scored.tier == Tier::Sparse) == sparse)
                .filter_map(|scored| Some((self.lines.get(&scored.index)?, self.added.get(&scored.index))))
                .peekable();
            if lines.peek().is_some() {
                out.push_str(title);
                let lines: Vec<String> = lines.map(|(line, added)| append_words(line, added)).collect();
                push_guarded(&mut out, &lines.join("\n"));
            }
        };
        section(COMPRESSED, false);
        section(SPARSE, true);
        if built.rest.count > 0 {
            let all = built
                .rest_id
                .map_or_else(String::new, |id| format!("; all of them: {id}"));
            let _ = writeln!(
                out,
                "\n<!-- {} additional entries dropped (no room){all} -->",
                built.rest.count
            );
        }
        // The last line states the length of the summary, including itself. Two rounds are enough.
        let first = format_stats(head.before, out.len() + CLOSE.len());
        out.push_str(&format_stats(head.before, out.len() + first.len() + CLOSE.len()));
        out + CLOSE + "\n"
    }
}

fn format_stats(before: usize, bytes: usize) -> String {
    let after = tokens::of_bytes(bytes);
    #[allow(
        clippy::cast_precision_loss,
        reason = "the ratio is shown with one decimal place"
    )]
    let ratio = before as f64 / after.max(1) as f64;
    format!("\n<!-- hippocampus stats: {before}tok → {after}tok ({ratio:.1}× compression) -->\n")
}

/// Appends lines of messages, with instruction marks.
fn push_guarded(out: &mut String, text: &str) {
    for line in guard_lines(text) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// Appends the added words to a line.
fn append_words(line: &str, added: Option<&Vec<&str>>) -> String {
    match added {
        Some(added) => format!("{line} | {}", added.join(" ")),
        None => line.to_owned(),
    }
}
