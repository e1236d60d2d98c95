//! How is what was chosen written, section by section?

use std::fmt::Write as _;

use super::{Built, Parts};
use crate::compaction::ledger::{Ledger, Scored};
use crate::compaction::score::Tier;
use crate::tokens;

const TITLE: &str = "# hippocampus.md Compaction\n";
const GOAL: &str = "\n## Goal\n";
const PRIOR: &str = "\n## Prior Context\n";
const ACTIVE: &str = "\n## Active Context (high retention)\n";
const COMPRESSED: &str = "\n## Compressed (mid retention — re-fetch if needed)\n";
const SPARSE: &str = "\n## Sparse Index (decayed — pointers only)\n";

/// What the first line and the last one tell.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Tokens of all messages.
    pub before: usize,
    /// Contents are stored.
    pub stored: bool,
}

impl Parts<'_> {
    /// The summary as it is with these parts.
    pub fn written(&self, ledger: &Ledger, scored: &[Scored], built: &Built, head: Head) -> String {
        let mut out = String::from(TITLE);
        let [kept, compressed, sparse] = built.tiers;
        let fetch = if head.stored { " | fetch any by its id" } else { "" };
        // A `String` takes everything.
        let _ = writeln!(
            out,
            "<!-- entries: {} | sparse: {sparse} | compressed: {compressed} | kept: {kept} | dropped: {}{fetch} -->",
            ledger.cores().len(),
            built.rest.count
        );
        if !self.goals.is_empty() {
            out.push_str(GOAL);
            self.goals
                .values()
                .for_each(|goal| push_line(&mut out, goal, None));
        }
        if !self.prior.is_empty() {
            let _ = writeln!(out, "{PRIOR}{}", self.prior);
        }
        if !self.active.is_empty() {
            out.push_str(ACTIVE);
            for (index, text) in &self.active {
                let (core, scored) = (&ledger.cores()[*index], ledger.scored(*index));
                let more = if ledger.text(*index).is_some_and(|whole| whole.len() > text.len()) {
                    "…"
                } else {
                    ""
                };
                let _ = writeln!(
                    out,
                    "### [{}] (r={:.2}) {}\n{text}{more}\n",
                    core.kind().name(),
                    scored.retention,
                    core.id()
                );
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
                lines.for_each(|(line, added)| push_line(&mut out, line, added));
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
        // Its own length decides what it says; two goes are enough for it to be right about itself.
        let first = stats(head.before, out.len());
        out.push_str(&stats(head.before, out.len() + first.len()));
        out
    }
}

fn stats(before: usize, bytes: usize) -> String {
    let after = tokens::of_bytes(bytes);
    #[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
    let ratio = before as f64 / after.max(1) as f64;
    format!("\n<!-- hippocampus stats: {before}tok → {after}tok ({ratio:.1}× compression) -->")
}

fn push_line(out: &mut String, line: &str, added: Option<&Vec<&str>>) {
    out.push_str(line);
    if let Some(added) = added {
        out.push_str(" |");
        for word in added {
            out.push(' ');
            out.push_str(word);
        }
    }
    out.push('\n');
}
