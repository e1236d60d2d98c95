//! Answers to the `tree.*` methods.

use hippo_proto::{
    ErrorKind, RpcError, TreeCompactRequest, TreeJob, TreePendingRequest, TreePendingResponse,
    TreeShowRequest, TreeShowResponse, TreeSubmitRequest, TreeSubmitResponse,
};
use hippo_tree::{Fingerprint, LEAST_OVERLAP, NodeStatus, Period, SourceFile, build_submitted, max_tokens};
use hippo_types::tokens;

use super::Trees;
use super::disk;
use super::run::{TreeOptions, TreeRun};
use crate::tasks::Cancellation;
use crate::view::WorkspaceView;

/// Maximum number of jobs in a response to `tree.pending` if the request contains no limit.
const JOBS: u32 = 10;

/// Returns the options of a `tree.compact` request.
///
/// # Errors
/// Returns `bad-request` for an invalid time.
pub fn wish_of(
    trees: &Trees,
    view: &WorkspaceView,
    request: &TreeCompactRequest,
) -> Result<TreeOptions, RpcError> {
    let at = match &request.at {
        None => None,
        Some(at) => Some(view.moment(&*trees.clock, Some(at))?),
    };
    Ok(TreeOptions {
        at,
        dry_run: request.dry_run,
        take_over: request.take_over,
        when_due: request.when_due,
        days: false,
    })
}

/// Handles `tree.pending`.
///
/// # Errors
/// See [`super::compact`].
pub fn pending(
    trees: &Trees,
    view: &WorkspaceView,
    request: &TreePendingRequest,
) -> Result<TreePendingResponse, RpcError> {
    let run = looking(trees, view)?;
    let mut periods = run.wanted();
    // Sort by level, days first, because the summaries of the other levels are made from those of the days. Within a
    // level, the newest period is first.
    periods.sort_by(|a, b| a.level().cmp(&b.level()).then(b.cmp(a)));
    let total = periods.len() as u64;
    let most = request.limit.unwrap_or(JOBS) as usize;
    let jobs = periods.into_iter().filter_map(|period| {
        let sources = run.sources_of(period).ok()?;
        let budget = max_tokens(period.level(), &sources.1);
        Some(TreeJob {
            path: period.path(),
            level: period.level().name().to_owned(),
            period: period.to_string(),
            sources: sources.1.iter().map(|text| text.path.clone()).collect(),
            source_digest: SourceFile::combine_sources(&sources.0).to_string(),
            budget_tokens: budget as u64,
            prompt: prompt(period, budget),
        })
    });
    Ok(TreePendingResponse {
        jobs: jobs.take(most).collect(),
        total,
    })
}

/// Handles `tree.submit`.
///
/// # Errors
/// Returns `not-found` for a node without sources, `stale` if the sources have changed since the job was requested,
/// `conflict` if another program wrote the node, and `bad-request` for a rejected summary.
pub fn submit(
    trees: &Trees,
    view: &WorkspaceView,
    request: &TreeSubmitRequest,
) -> Result<TreeSubmitResponse, RpcError> {
    let period = period(&request.node)?;
    if period == Period::All {
        return Err(RpcError::bad_request(
            "ROOT.md is generated from the other nodes and cannot be submitted",
        )
        .hint("submit summaries of days, weeks and months; hippod generates ROOT.md from these nodes"));
    }
    let _one = trees.take(&view.root, true)?;
    let mut run = looking(trees, view)?;
    if run.is_foreign(&period.path()) {
        let message = format!("another program wrote {}", period.path());
        return Err(RpcError::new(ErrorKind::Conflict, message)
            .hint("the node was not changed; to take over the tree: hippoctl tree compact --take-over"));
    }
    let (files, sources) = run.sources_of(period)?;
    if let Some(made_for) = &request.source_digest
        && Fingerprint::parse(made_for) != Some(SourceFile::combine_sources(&files))
    {
        return Err(RpcError::new(
            ErrorKind::Stale,
            format!("the sources of {period} have changed since the job was requested"),
        )
        .hint("nothing was changed; request the job again with `tree.pending`"));
    }
    let before = run.disk.nodes.get(&period).cloned();
    let before = before.as_ref();
    let (node, overlap) = build_submitted(
        period,
        &request.body,
        before.map(|found| &found.node),
        &files,
        &sources,
        run.today,
    )
    .map_err(|rejected| {
        RpcError::bad_request(format!("the summary for {period} was rejected: {rejected}"))
            .hint("the node was not changed: correct the summary and submit it again")
    })?;
    let path = period.path();
    if let Some(Err(error)) = before.map(|found| disk::keep_replaced(&view.root, found)) {
        let message = format!("could not keep a copy of {path}: {error}");
        return Err(RpcError::new(ErrorKind::ReadOnly, message)
            .hint("make the folder .hippocampus writable; the node was not changed"));
    }
    run.put(&path, ["submitted", "written"], &node, before)?;
    Ok(TreeSubmitResponse {
        path,
        status: node.status.map_or("", NodeStatus::name).to_owned(),
        tokens: tokens::of(&node.body) as u64,
        overlap_percent: overlap as u64,
    })
}

/// Handles `tree.show`.
///
/// # Errors
/// Returns `not-found` if the node does not exist.
pub fn show(
    trees: &Trees,
    view: &WorkspaceView,
    request: &TreeShowRequest,
) -> Result<TreeShowResponse, RpcError> {
    let period = period(request.node.as_deref().unwrap_or("ROOT"))?;
    let run = looking(trees, view)?;
    let Some(found) = run.disk.nodes.get(&period) else {
        return Err(
            RpcError::new(ErrorKind::NotFound, format!("no such node: {}", period.path()))
                .hint("to create the nodes of all days that have a log: hippoctl tree compact"),
        );
    };
    let node = &found.node;
    Ok(TreeShowResponse {
        path: period.path(),
        level: period.level().name().to_owned(),
        period: period.to_string(),
        status: node.status.map(|status| status.name().to_owned()),
        written_by: node.writer.name().map(str::to_owned),
        stale: run.is_stale(period, node),
        sources: node.sources.clone(),
        body: node.body.clone(),
        tokens: tokens::of(&node.body) as u64,
    })
}

/// Reads a tree with the default options, to answer a request.
fn looking<'a>(trees: &Trees, view: &'a WorkspaceView) -> Result<TreeRun<'a>, RpcError> {
    TreeRun::new(trees, view, TreeOptions::default(), Cancellation::NEVER)
}

/// Parses the period or the path of a node, as a client gives it.
fn period(name: &str) -> Result<Period, RpcError> {
    Period::parse(name)
        .or_else(|| Period::of_path(name))
        .ok_or_else(|| {
            let short: String = name.chars().take(80).collect();
            RpcError::bad_request(format!("no such node: {short}")).hint(
                "give a day (2026-01-10), a week (2026-W02), a month (2026-01), ROOT, or the path of a node",
            )
        })
}

/// Returns the instructions for an agent that writes the summary of a period in at most `budget` tokens.
fn prompt(period: Period, budget: usize) -> String {
    format!(
        "Summarise the sources of {period} in at most {budget} tokens of Markdown. Use the headings Topics, Key \
         Decisions, Tasks Completed, Lessons Learned, Open Items and Entities, and omit empty ones. Keep names, \
         numbers, dates, paths and decisions with their reasons, word for word if they are short. Keep what users \
         say about themselves and about how to work. Omit secrets, code and small talk. End each line with its \
         source as path#Lx. At least {LEAST_OVERLAP} % of the words must occur in the sources."
    )
}
