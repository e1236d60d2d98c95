//! Formatting of the sections of a summary.

use super::{BuiltSummary, SummaryParts};
use crate::compaction::score::Tier;
use hippo_text::fence::{CLOSE, guard_lines, opening};
use hippo_types::tokens;

impl SummaryParts<'_> {
    /// Formats the summary. If `stored` is true, the summary says that contents can be fetched by id.
    pub fn format(&self, built: &BuiltSummary, stored: bool) -> String {
        let [kept, compressed, sparse] = built.tiers;
        let fetch = if stored { " | fetch any by its id" } else { "" };
        let mut out = format!(
            "{}# hippocampus.md Compaction\n<!-- entries: {} | sparse: {sparse} | compressed: {compressed} | \
             kept: {kept} | dropped: {}{fetch} -->\n",
            opening(),
            self.ledger.cores.len(),
            built.dropped
        );
        let goals: Vec<&str> = self.goals.values().map(String::as_str).collect();
        for (title, text) in [
            ("Goal", guard(&goals.join("\n"))),
            ("Prior Context", guard(self.prior)),
            ("Active Context (high retention)", self.format_active()),
            (
                "Compressed (mid retention — re-fetch if needed)",
                guard(&self.format_lines(false)),
            ),
            (
                "Sparse Index (decayed — pointers only)",
                guard(&self.format_lines(true)),
            ),
        ] {
            if !text.is_empty() {
                out.push_str(&format!("\n## {title}\n{text}"));
            }
        }
        if built.dropped > 0 {
            let all = built.rest_id.map(|id| format!("; all of them: {id}"));
            out.push_str(&format!(
                "\n<!-- {} additional entries dropped (no room){} -->\n",
                built.dropped,
                all.unwrap_or_default()
            ));
        }
        // The last line states the length of the summary, which includes this line. It is enough to format the line
        // twice.
        let first = format_stats(built.tokens, out.len() + CLOSE.len());
        out.push_str(&format_stats(built.tokens, out.len() + first.len() + CLOSE.len()));
        out + CLOSE + "\n"
    }

    fn format_active(&self) -> String {
        let message = |(index, text): (&usize, &&str)| {
            let scored = self.ledger.score(*index);
            let whole = self.ledger.text(*index).unwrap_or_default();
            let more = if whole.len() > text.len() { "…" } else { "" };
            let (kind, retention) = (scored.core.kind.name(), scored.retention);
            let text = guard(&format!("{text}{more}"));
            format!("### [{kind}] (r={retention:.2}) {}\n{text}", scored.core.id)
        };
        self.active.iter().map(message).collect::<Vec<_>>().join("\n")
    }

    /// Formats the lines with their added words. If `sparse` is true, formats the pointers, otherwise the other lines.
    fn format_lines(&self, sparse: bool) -> String {
        let lines = self.ledger.lines().map(|(scored, _)| scored);
        let lines = lines.filter(|scored| (scored.tier == Tier::Sparse) == sparse);
        let lines = lines.filter_map(|scored| {
            let line = self.lines.get(&scored.index)?;
            Some(match self.added.get(&scored.index) {
                Some(added) => format!("{line} | {}", added.join(" ")),
                None => line.clone(),
            })
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn format_stats(before: usize, bytes: usize) -> String {
    let after = tokens::of_bytes(bytes);
    let ratio = before as f64 / after.max(1) as f64;
    format!("\n<!-- hippocampus stats: {before}tok → {after}tok ({ratio:.1}× compression) -->\n")
}

/// Returns the text, with a mark before each line that reads like an instruction.
fn guard(text: &str) -> String {
    let lines = guard_lines(text).into_iter();
    lines.fold(String::new(), |out, line| out + &line + "\n")
}
