//! Integration of the program's summaries into the tree.
//!
//! The program may take minutes, so it runs without the lock on the nodes. A summary is accepted only if its sources
//! and the node that it replaces have not changed.

use std::collections::BTreeSet;
use std::time::Instant;

use hippo_proto::{RpcError, TreeCompactResponse, TreeRefusal};
use hippo_text::source::NodeKind;
use hippo_tree::{BodyAuthor, NodeSource, Period, SourceFile, build_submitted};

use super::Trees;
use super::aside;
use super::command::{self, SummaryJob};
use super::run::{TreeOptions, TreeRun, bring_up};
use super::serve::prompt;
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;

/// Lets the program write pending summaries until its daily budget is used up: days first, and newest first within a
/// level. After each level, the levels above are updated.
///
/// # Errors
/// Fails as `tree.compact` does; failures of the program are listed in the response.
pub fn write(
    trees: &Trees,
    view: &WorkspaceView,
    wish: TreeOptions,
    cancellation: Cancellation<'_>,
    answer: &mut TreeCompactResponse,
) -> Result<(), RpcError> {
    let lock = trees.of(&view.root).program;
    let Ok(_one) = lock.try_lock_owned() else {
        answer
            .notes
            .push("the program is already writing summaries for another run".to_owned());
        return Ok(());
    };
    let mut summaries = SummaryRun {
        trees,
        view,
        wish: TreeOptions {
            when_due: false,
            days: false,
            ..wish
        },
        cancellation,
        answer,
        seen: BTreeSet::new(),
    };
    for level in [NodeKind::Daily, NodeKind::Weekly, NodeKind::Monthly] {
        let mut written = 0;
        while let Some(asked) = summaries.next(level)? {
            written += usize::from(summaries.ask(&asked)?);
        }
        if written > 0 {
            let again = bring_up(trees, view, summaries.wish, cancellation)?;
            go_on(summaries.answer, again);
        }
    }
    Ok(())
}

struct SummaryRun<'a> {
    trees: &'a Trees,
    view: &'a WorkspaceView,
    wish: TreeOptions,
    cancellation: Cancellation<'a>,
    answer: &'a mut TreeCompactResponse,
    /// Nodes already handled in this run.
    seen: BTreeSet<Period>,
}

/// A summary requested from the program.
struct SummaryRequest {
    period: Period,
    files: Vec<SourceFile>,
    texts: Vec<NodeSource>,
}

impl<'a> SummaryRun<'a> {
    /// Returns the next node of a level. The job is counted before the program runs, so that a program that crashes the
    /// daemon is not started again and again.
    fn next(&mut self, level: NodeKind) -> Result<Option<SummaryRequest>, RpcError> {
        let _one = self.trees.take(&self.view.root, true)?;
        let mut run = self.look()?;
        for period in run.wanted().into_iter().rev() {
            if period.level() != level || !self.seen.insert(period) {
                continue;
            }
            let (files, texts) = match run.sources_of(period) {
                Ok(sources) => sources,
                Err(error) => {
                    self.refuse(period, error.message);
                    continue;
                }
            };
            if run.state.was_refused(period, SourceFile::combine_sources(&files)) {
                continue;
            }
            if let Some(why) = command::held_back(&run.state.spend, &self.trees.settings) {
                let note = format!("some nodes need a summary, but {why}");
                if !self.answer.notes.contains(&note) {
                    self.answer.notes.push(note);
                }
                return Ok(None);
            }
            run.state.spend.jobs += 1;
            run.keep_state(self.trees)?;
            return Ok(Some(SummaryRequest { period, files, texts }));
        }
        Ok(None)
    }

    /// Runs the program for one node and stores its summary. Returns whether the summary was accepted.
    fn ask(&mut self, asked: &SummaryRequest) -> Result<bool, RpcError> {
        let period = asked.period;
        let budget = hippo_tree::max_tokens(period.level(), &asked.texts);
        let job = SummaryJob::new(period, budget, prompt(period, budget), &asked.texts);
        let begun = Instant::now();
        let body = command::write(&self.trees.settings, &job, self.cancellation);
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);

        // A disconnected client does not count as a failure of the program.
        self.cancellation.check()?;
        let _one = self.trees.take(&self.view.root, true)?;
        let mut run = self.look()?;
        run.state.spend.ms = run.state.spend.ms.saturating_add(took);
        let done = body.map_err(SummaryFailure::Failed);
        let done = done.and_then(|body| take(&mut run, asked, &body));
        let taken = done.is_ok();
        match done {
            Ok(()) => run.state.spend.failures = 0,
            Err(SummaryFailure::Overtaken(reason)) => self.refuse(period, reason),
            Err(SummaryFailure::Failed(reason)) => {
                run.state.spend.failures += 1;
                run.state.spend.error = Some(reason.clone());
                self.refuse(period, reason);
            }
        }
        run.keep_state(self.trees)?;
        self.answer.nodes.append(&mut run.answer.nodes);
        Ok(taken)
    }

    /// Reads the current tree, and the work that the program did today.
    fn look(&self) -> Result<TreeRun<'a>, RpcError> {
        let mut run = TreeRun::new(self.trees, self.view, self.wish, self.cancellation)?;
        run.state.spend = std::mem::take(&mut run.state.spend).on(&run.today.to_string());
        Ok(run)
    }

    fn refuse(&mut self, period: Period, reason: String) {
        self.answer.refused.push(TreeRefusal {
            path: period.path(),
            reason,
        });
    }
}

/// Reason why a summary is not accepted.
enum SummaryFailure {
    /// The program failed.
    Failed(String),
    /// The node changed in the meantime or could not be written. This is not a failure of the program.
    Overtaken(String),
}

fn take(run: &mut TreeRun<'_>, asked: &SummaryRequest, body: &str) -> Result<(), SummaryFailure> {
    let (period, root) = (asked.period, &run.view.root);
    let now = run
        .sources_of(period)
        .map_err(|error| SummaryFailure::Overtaken(error.message))?;
    let before = run.disk.nodes.get(&period).cloned();
    let wanted = before
        .as_ref()
        .is_some_and(|found| found.node.is_wanted(run.today));
    if now.0 != asked.files || !wanted {
        let reason = "the node or its sources changed during the summary; the next run checks the node again";
        return Err(SummaryFailure::Overtaken(reason.to_owned()));
    }
    let node = before.as_ref().map(|found| &found.node);
    let made = build_submitted(
        period,
        body,
        node,
        &asked.files,
        &asked.texts,
        BodyAuthor::Command,
        run.today,
    );
    let (node, _) = made.map_err(|why| {
        run.state
            .refuse(period, SourceFile::combine_sources(&asked.files));
        SummaryFailure::Failed(match aside::rejected(root, period, body, &why) {
            Ok(path) => format!("{why}; the summary is kept in {path}"),
            Err(error) => format!("{why}; a copy of the summary could not be kept ({error})"),
        })
    })?;
    if let Some(found) = &before {
        aside::replaced(root, found).map_err(|error| {
            SummaryFailure::Overtaken(format!("could not keep a copy of the current node: {error}"))
        })?;
    }
    run.put(
        &period.path(),
        ["summarised", "summary-wanted"],
        &node,
        before.as_ref(),
    )
    .map_err(SummaryFailure::Overtaken)
}

/// Merges the response of a later run into that of an earlier run.
fn go_on(answer: &mut TreeCompactResponse, again: TreeCompactResponse) {
    answer.nodes.extend(again.nodes);
    answer.unchanged = again.unchanged;
    for refusal in again.refused {
        if !answer.refused.contains(&refusal) {
            answer.refused.push(refusal);
        }
    }
    for note in again.notes {
        if !answer.notes.contains(&note) {
            answer.notes.push(note);
        }
    }
}
