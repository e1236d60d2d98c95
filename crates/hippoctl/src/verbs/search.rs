//! `search`: searching of the memory.

use std::collections::HashSet;
use std::path::Path;

use hippo_proto::{GetRequest, GetResponse, MAX_LIMIT, SearchRequest, SearchResponse};

use crate::connect::DaemonSession;
use crate::failure::Failure;
use crate::output::Output;
use crate::render;
use hippoctl::args::{OutputFormat, QmdSearch, SearchArgs};

/// Searches the workspace.
///
/// # Errors
/// Fails without a workspace, or if the daemon refuses.
pub fn search(session: &mut DaemonSession, args: SearchArgs, out: &mut Output) -> Result<(), Failure> {
    let SearchArgs {
        query,
        limit,
        mode,
        budget,
        min_score,
        path,
        since,
        until,
        agent,
        explain,
        no_record,
        qmd,
    } = args;
    let format = qmd.wanted();
    out.json |= format == OutputFormat::Json;
    let workspace = session.workspace()?;
    let request = SearchRequest {
        workspace: workspace.clone(),
        query: query.join(" "),
        mode,
        limit: limit.or(qmd.all.then_some(MAX_LIMIT)),
        budget_tokens: budget,
        min_score,
        path: path.or_else(|| qmd.glob()),
        since,
        until,
        agent,
        explain,
        record: !no_record,
    };
    let mut answer: SearchResponse = session.call(request)?;
    shown_as_asked(session, &workspace, &qmd, &mut answer)?;
    if answer.results.is_empty() {
        tell_of_absent(session, &qmd, out)?;
    }
    if !out.json {
        for note in render::search::notes(&answer) {
            out.note(&note);
        }
    }
    match format {
        OutputFormat::Cli | OutputFormat::Json => out.answer(&answer, render::search::search),
        format => out.answer(&answer, |answer, _| render::formats::results(answer, format)),
    }
}

/// Prints a note for each folder that was named but does not exist.
fn tell_of_absent(session: &mut DaemonSession, asked: &QmdSearch, out: &mut Output) -> Result<(), Failure> {
    if asked.folders().next().is_none() {
        return Ok(());
    }
    let root = session.root()?;
    for folder in asked
        .folders()
        .filter(|folder| !hippo_fs::exists(Path::new(&root), folder))
    {
        out.note(&format!(
            "note: no such folder in the workspace {root}: {folder}; -c selects a folder of the workspace, \
             and --workspace selects a workspace; to list the registered workspaces: hippoctl workspace list"
        ));
    }
    Ok(())
}

/// Applies the options for whole files, line numbers and full paths.
fn shown_as_asked(
    session: &mut DaemonSession,
    workspace: &str,
    asked: &QmdSearch,
    answer: &mut SearchResponse,
) -> Result<(), Failure> {
    if asked.full {
        let mut seen = HashSet::new();
        answer.results.retain(|hit| seen.insert(hit.path.clone()));
        for hit in &mut answer.results {
            let whole = GetRequest {
                workspace: Some(workspace.to_owned()),
                path: Some(hit.path.clone()),
                ..GetRequest::default()
            };
            let whole: GetResponse = session.call(whole)?;
            (hit.start_line, hit.end_line, hit.text) = (whole.start_line, whole.end_line, whole.text);
        }
    }
    // The given folder may be a subfolder of the root.
    let root = asked.full_path.then(|| session.root()).transpose()?;
    for hit in &mut answer.results {
        if asked.line_numbers {
            hit.text = render::formats::numbered(&hit.text, hit.start_line);
        }
        if let Some(root) = &root {
            hit.path = Path::new(root).join(&hit.path).display().to_string();
        }
    }
    Ok(())
}
