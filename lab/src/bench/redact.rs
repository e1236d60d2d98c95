//! Share of real memory and sessions that hippod redacts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};
use hippo_redact::{REDACTED, redact};

use super::table::Figure;
use super::transcripts::{files, lines, read};
use crate::terminal::say;

const PART: &str = "redact";

/// Number of processed and of redacted lines.
#[derive(Default)]
struct Count {
    lines: usize,
    /// Lines with a redacted secret.
    redacted: usize,
    secrets: usize,
}

/// Redacts every line of the workspaces and sessions below the folder. With `HIPPOD_BENCH_SHOW`, prints each changed
/// line for manual review, because the data has no labels for secrets.
///
/// # Errors
/// Fails if the data cannot be read.
pub fn run(eval: &Path) -> Result<Vec<Figure>> {
    let show = std::env::var_os("HIPPOD_BENCH_SHOW").is_some();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for file in files(eval)? {
        let path = file.strip_prefix(eval).unwrap_or(&file);
        let of: Vec<_> = path.iter().take(2).map(|part| part.to_string_lossy()).collect();
        let of = of.join("/");
        let ending = path.extension().unwrap_or_default();
        if ending == "md" || of.starts_with("tool_outputs") {
            count(&read(&file)?, path, counts.entry(of).or_default(), show);
        } else if of == "transcripts/norm" && ending == "jsonl" {
            let count_of = counts.entry(of).or_default();
            for line in lines(&file)? {
                count(&line.text, path, count_of, show);
            }
        }
    }
    if counts.is_empty() {
        bail!("no workspaces below {}", eval.display());
    }
    let mut all = Count::default();
    let mut figures = Vec::new();
    for (of, count) in counts {
        all.lines += count.lines;
        all.redacted += count.redacted;
        all.secrets += count.secrets;
        figures.push(figure(&of, &count));
    }
    figures.push(figure("all of them", &all));
    Ok(figures)
}

fn figure(of: &str, count: &Count) -> Figure {
    let Count {
        lines,
        redacted,
        secrets,
    } = count;
    let share = *redacted as f64 * 1_000.0 / (*lines).max(1) as f64;
    Figure::new(
        PART,
        format!("lines of {of} with a redacted value, per 1,000 lines"),
        format!("{share:.3} ({redacted} of {lines}, {secrets} values)"),
    )
}

fn count(text: &str, path: &Path, count: &mut Count, show: bool) {
    // Blank lines do not count, because they would reduce the share.
    count.lines += text.lines().filter(|line| !line.trim().is_empty()).count();
    let shown = redact(text);
    let before: BTreeSet<&str> = text.lines().collect();
    let after: BTreeSet<&str> = if show {
        shown.lines().collect()
    } else {
        BTreeSet::new()
    };
    for line in shown.lines() {
        if before.contains(line) || !line.contains(REDACTED) {
            continue;
        }
        count.redacted += 1;
        count.secrets += line.matches(REDACTED).count();
        if show {
            say(format_args!("{}\n  = {line}", path.display()));
            // The redacted line has the same beginning and end as the original line.
            let start = line.split(REDACTED).next().unwrap_or_default();
            let end = line.rsplit(REDACTED).next().unwrap_or_default();
            let was = text.lines().filter(|was| !after.contains(was)).find(|was| {
                was.starts_with(start) && was.ends_with(end) && was.len() >= start.len() + end.len()
            });
            say(format_args!("  - {}", was.unwrap_or("(several lines)")));
        }
    }
}
