//! Evidence files behind the best matching entries.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use hippo_proto::{SearchMode, SearchRequest};

use super::listed;
use crate::bench::BenchEnvironment;
use crate::bench::ask::{Asker, BenchQuestion, mean};
use crate::bench::table::Figure;
use crate::terminal::say;

/// Number of best matching entries to check for each question. The search mode `index` reads the same number.
const BEST: usize = 5;

/// Files that the best entries of one question point to.
pub struct PointerTargets {
    /// Rank, from 0, of the first entry that points to a file with evidence. `None` if none of the [`BEST`] entries
    /// does.
    first: Option<usize>,
    /// Share of the files with evidence that the best entries point to, 0 to 1.
    files: f64,
}

/// Asks each question in mode `index`, without recording accesses.
///
/// # Errors
/// Fails if the daemon refuses a request.
pub fn measure(
    ground: &BenchEnvironment<'_>,
    root: &str,
    questions: &[BenchQuestion],
) -> Result<Vec<PointerTargets>> {
    let entries = listed(ground, root)?;
    let paths: HashMap<&str, BTreeSet<&str>> = entries
        .iter()
        .map(|entry| {
            let pointers = entry.pointers.iter();
            (
                entry.id.as_str(),
                pointers.map(|pointer| pointer.path.as_str()).collect(),
            )
        })
        .collect();
    let mut asker = Asker::new(ground.scratch, root)?;
    let mut pointed = Vec::with_capacity(questions.len());
    for question in questions {
        let request = SearchRequest {
            explain: true,
            ..asker.request(SearchMode::Index, &question.query)
        };
        let (answer, _) = asker.ask(request)?;
        let matches = answer.trace.unwrap_or_default().matches;
        let best = matches.iter().take(BEST);
        let best: Vec<&BTreeSet<&str>> = best.filter_map(|hit| paths.get(hit.entry.as_str())).collect();
        let gold: Vec<&str> = question.evidence.iter().map(|span| span.path.as_str()).collect();
        pointed.push(judge(&best, &gold));
    }
    Ok(pointed)
}

fn judge(best: &[&BTreeSet<&str>], evidence: &[&str]) -> PointerTargets {
    let gold: BTreeSet<&str> = evidence.iter().copied().collect();
    let told = gold
        .iter()
        .filter(|path| best.iter().any(|paths| paths.contains(*path)));
    PointerTargets {
        first: best.iter().position(|paths| !paths.is_disjoint(&gold)),
        files: told.count() as f64 / gold.len().max(1) as f64,
    }
}

/// Returns the share of questions for which one of the first `most` entries points to a file with evidence.
fn share(pointed: &[PointerTargets], most: usize) -> f64 {
    let within = |one: &PointerTargets| f64::from(u8::from(one.first.is_some_and(|at| at < most)));
    mean(pointed.iter().map(within))
}

/// Prints the shares as a markdown table.
pub fn print(pointed: &[PointerTargets]) {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    say(format_args!(
        "\n| share of questions with an entry that points at a file with evidence, before the first question \
         | questions | the best entry | one of the {BEST} best | share of these files \
         |\n|---|---|---|---|---|"
    ));
    say(format_args!(
        "| mode `index` | {} | {} | {} | {} |",
        pointed.len(),
        percent(share(pointed, 1)),
        percent(share(pointed, BEST)),
        percent(mean(pointed.iter().map(|one| one.files))),
    ));
}

/// Returns, as a figure, the share of questions for which one of the [`BEST`] entries points to a file with evidence.
pub fn figure(part: &'static str, pointed: &[PointerTargets]) -> Figure {
    let share = 100.0 * share(pointed, BEST);
    let what = "before the first question: share of questions for which one of the 5 best entries points at \
                a file with evidence";
    Figure::new(part, what, format!("{share:.1} %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_count_entries_in_their_order() {
        let (a, ab, c) = (
            BTreeSet::from(["a"]),
            BTreeSet::from(["a", "b"]),
            BTreeSet::from(["c"]),
        );
        let pointed = [
            judge(&[&c, &ab], &["b", "b", "x"]),
            judge(&[&a], &["a"]),
            judge(&[&c], &["a"]),
            judge(&[], &["a"]),
        ];
        assert!((share(&pointed, 1) - 0.25).abs() < 1e-9);
        assert!((share(&pointed, BEST) - 0.5).abs() < 1e-9);
        assert!((pointed[0].files - 0.5).abs() < 1e-9);
    }
}
