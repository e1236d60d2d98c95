//! How is what was chosen written, section by section?

use std::fmt::Write as _;

use super::{Built, Parts};
use crate::compaction::ledger::{Ledger, Scored};
use crate::compaction::score::Tier;
use crate::context::render::{CLOSE, guarded, open};
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
        let mut out = open() + TITLE;
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
            let goals: Vec<&str> = self.goals.values().map(String::as_str).collect();
            push(&mut out, &goals.join("\n"));
        }
        if !self.prior.is_empty() {
            out.push_str(PRIOR);
            push(&mut out, self.prior);
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
                    "### [{}] (r={:.2}) {}",
                    core.kind().name(),
                    scored.retention,
                    core.id()
                );
                push(&mut out, &format!("{text}{more}"));
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
                let lines: Vec<String> = lines.map(|(line, added)| with_words(line, added)).collect();
                push(&mut out, &lines.join("\n"));
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
        let first = stats(head.before, out.len() + CLOSE.len());
        out.push_str(&stats(head.before, out.len() + first.len() + CLOSE.len()));
        out + CLOSE + "\n"
    }
}

fn stats(before: usize, bytes: usize) -> String {
    let after = tokens::of_bytes(bytes);
    #[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
    let ratio = before as f64 / after.max(1) as f64;
    format!("\n<!-- hippocampus stats: {before}tok → {after}tok ({ratio:.1}× compression) -->\n")
}

/// Appends lines of messages.
fn push(out: &mut String, text: &str) {
    for line in guarded(text) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// A line with the words that were added to it.
fn with_words(line: &str, added: Option<&Vec<&str>>) -> String {
    match added {
        Some(added) => format!("{line} | {}", added.join(" ")),
        None => line.to_owned(),
    }
}
