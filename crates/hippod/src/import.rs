//! How do the memories of another program come into a workspace, each once, with nothing that stands there touched?
//!
//! The daemon reads the export or the store, and it alone writes: its logs are appended to by one at a time, and it links SQLite, which
//! the client does not. What stands in the workspace is known by the marks behind it, so that an import that was cut off, or is
//! done again, goes on where the other one ended.

mod plan;
mod read;
mod section;

use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError};

use hippo_core::import::Program;
use hippo_core::source::SourceKind;
use hippo_proto::{
    ImportFrom, ImportProblem, ImportRequest, ImportResponse, ImportedFile, MAX_PROBLEMS, RpcError,
};

use crate::clock::date_in;
use crate::engine::root_missing;
use crate::remember;
use crate::shared::Shared;
use crate::view::WorkspaceView;
use hippo_store::foreign::COPY;
use plan::{Plan, Target};

/// Removes the copies of other programs' stores that a process left which was killed while it read them.
pub fn clear_left(state: &Path) {
    for entry in std::fs::read_dir(state).into_iter().flatten().flatten() {
        let is_ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(COPY));
        // Where it cannot be removed it is in the way of nothing.
        if is_ours && let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::warn!(%error, "could not remove what is left of an import");
        }
    }
}

/// Takes over what another program knew, or says what that would write.
///
/// # Errors
/// `not-found` where there is nothing to import; `bad-request` for what is no export or store of that program, or a folder that is no
/// memory; `too-large`; and as for `remember`. Nothing was written then, or what was is known again.
pub fn import(
    shared: &Shared,
    view: &WorkspaceView,
    request: &ImportRequest,
) -> Result<ImportResponse, RpcError> {
    // Two of them would both find that a memory is missing.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if view.status().is_some_and(|status| !status.root_present) || !view.root.is_dir() {
        return Err(root_missing(&view.root));
    }
    let into = request
        .into
        .as_deref()
        .map(|into| folder(view, into))
        .transpose()?;
    let program = program(request.from);
    let source = read::read(program, Path::new(&request.path), &view.root, &shared.paths.state)?;
    let zone = shared.clock.time_zone();
    let day = |at| date_in(at, &zone);
    let plan = plan::plan(view, program, &source.memories, &Target { into, day: &day })?;
    let mut answer = ImportResponse {
        applied: request.apply,
        memories: source.memories.len() as u64,
        known: plan.known,
        left_out: source.left_out,
        redacted: plan.redacted,
        flagged: plan.flagged,
        malformed: source.troubles.len() as u64,
        problems: source
            .troubles
            .into_iter()
            .take(MAX_PROBLEMS)
            .map(problem)
            .collect(),
        notes: source.notes,
        ..ImportResponse::default()
    };
    answer.notes.extend(plan.notes.iter().cloned());
    answer.files = write(view, plan, request.apply)?;
    Ok(answer)
}

/// Appends what is planned; in a dry run says it alone.
fn write(view: &WorkspaceView, plan: Plan, apply: bool) -> Result<Vec<ImportedFile>, RpcError> {
    let mut files = Vec::with_capacity(plan.files.len());
    for file in plan.files {
        let lines = if apply {
            let written = remember::append_sections(
                &view.root,
                &file.path,
                file.title.as_deref(),
                &file.sections.join("\n"),
            );
            Some(written.map_err(|error| midway(error, &file.path, files.len()))?)
        } else {
            None
        };
        files.push(ImportedFile {
            memories: file.sections.len() as u64,
            new: file.new,
            start_line: lines.as_ref().map(|lines| lines.start_line),
            end_line: lines.as_ref().map(|lines| lines.end_line),
            path: file.path,
        });
    }
    Ok(files)
}

/// What stands there stays: it is told, and the next import leaves it out.
fn midway(error: RpcError, path: &str, written: usize) -> RpcError {
    if written == 0 {
        return error;
    }
    let mut error = error;
    error.message = format!(
        "{written} files were written, then {path} could not be: {}",
        error.message
    );
    error.hint("mend that and import again: what stands there is not written twice")
}

fn problem((path, trouble): (String, hippo_core::import::Trouble)) -> ImportProblem {
    ImportProblem {
        path,
        line: trouble.line,
        what: trouble.what,
    }
}

fn program(from: ImportFrom) -> Program {
    match from {
        ImportFrom::HippoMemory => Program::HippoMemory,
        ImportFrom::BasicMemory => Program::BasicMemory,
        ImportFrom::ClaudeMem => Program::ClaudeMem,
        ImportFrom::Mem0 => Program::Mem0,
    }
}

/// The folder that everything is to go into, relative to the workspace.
fn folder(view: &WorkspaceView, into: &str) -> Result<String, RpcError> {
    let refused = |why: &str| {
        RpcError::bad_request(format!("nothing can be imported into {into:?}: {why}"))
            .hint("name a folder of memory within the workspace, for example memory/imported")
    };
    let path = Path::new(into);
    let path = path.strip_prefix(&view.root).unwrap_or(path);
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => return Err(refused("it leads out of the workspace")),
        }
    }
    let folder = parts.join("/");
    let hidden = parts.iter().any(|part| part.starts_with('.'));
    // Any day does.
    let log = format!("{folder}/2026-01-01.md");
    if folder.is_empty() || hidden || !view.rules.is_source(&log) {
        return Err(refused("it is no folder that is watched"));
    }
    if matches!(SourceKind::of(&log), SourceKind::Node(_)) {
        return Err(refused("the compaction tree stands there"));
    }
    Ok(folder)
}
