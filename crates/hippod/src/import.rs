//! How do the memories of another program come into a workspace, each once, with nothing that stands there touched?
//!
//! The daemon reads the export or the store, and it alone writes: its logs are appended to by one at a time, and it links SQLite, which
//! the client does not. What stands in the workspace is known by the marks behind it, so that an import that was cut off, or is
//! done again, goes on where the other one ended.

mod plan;
mod read;
mod section;

use std::path::{Component, Path};
use std::sync::atomic::{AtomicBool, Ordering};

use hippo_core::import::Program;
use hippo_core::source::SourceKind;
use hippo_proto::{
    ImportFrom, ImportProblem, ImportRequest, ImportResponse, ImportedFile, MAX_PROBLEMS, RpcError,
};

use crate::clock::date_in;
use crate::engine::root_missing;
use crate::remember::{self, Lines};
use crate::server::{Tell, nobody_waits};
use crate::shared::{Shared, Turn};
use crate::view::WorkspaceView;
use hippo_store::foreign::COPY;
use plan::{PlannedFile, Target};

/// How often who waits is told how far it is, about, for each stage.
const STEPS: usize = 200;

/// Removes the copies of other programs' stores that a process left which was killed while it read them.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
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

/// Who waits for an import whose turn it is.
pub struct Job<'a> {
    tell: Tell<'a>,
    given_up: &'a AtomicBool,
}

impl<'a> Job<'a> {
    /// `tell` hears of stage, item, how much is done, and of how much; nothing more is done once `given_up` is set.
    pub fn new(tell: Tell<'a>, given_up: &'a AtomicBool, _: &Turn) -> Self {
        Self { tell, given_up }
    }

    /// Something begins of which nobody knows how much there is.
    fn begin(&mut self, stage: &'static str, item: &str) {
        (self.tell)(stage, item, 0, None);
    }

    /// So many memories are done.
    ///
    /// # Errors
    /// Nobody waits any more.
    fn advance(&mut self, stage: &'static str, item: &str, done: usize, of: usize) -> Result<(), RpcError> {
        if done.is_multiple_of((of / STEPS).max(1)) {
            (self.tell)(stage, item, done as u64, Some(of as u64));
        }
        match self.given_up.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(nobody_waits()),
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
    job: &mut Job<'_>,
) -> Result<ImportResponse, RpcError> {
    if view.status().is_some_and(|status| !status.root_present) || !hippo_fs::is_present(&view.root) {
        return Err(root_missing(&view.root));
    }
    let into = request
        .into
        .as_deref()
        .map(|into| folder(view, into))
        .transpose()?;
    let program = program(request.from);
    job.begin("read", &request.path);
    let source = read::read(program, Path::new(&request.path), &view.root, &shared.paths.state)?;
    let zone = shared.zone_of(view);
    let day = |at| date_in(at, &zone);
    let target = Target {
        into,
        day: &day,
        today: day(shared.clock.now()),
    };
    let mut plan = plan::plan(view, program, &source.memories, &target, job)?;
    let unfit = std::mem::take(&mut plan.unfit);
    let unfit = unfit.into_iter().map(|what| ImportProblem {
        path: request.path.clone(),
        line: None,
        what,
    });
    let mut problems: Vec<ImportProblem> = source.troubles.into_iter().map(problem).chain(unfit).collect();
    let malformed = problems.len() as u64;
    problems.truncate(MAX_PROBLEMS);
    let mut notes = source.notes;
    notes.append(&mut plan.notes);
    Ok(ImportResponse {
        applied: request.apply,
        memories: source.memories.len() as u64,
        known: plan.known,
        left_out: source.left_out,
        redacted: plan.redacted,
        flagged: plan.flagged,
        malformed,
        problems,
        notes,
        files: if request.apply {
            write(view, plan.files, job)?
        } else {
            plan.files.into_iter().map(|file| told(file, None)).collect()
        },
    })
}

/// Appends what is planned, and has all of it on the disk in the end.
fn write(
    view: &WorkspaceView,
    files: Vec<PlannedFile>,
    job: &mut Job<'_>,
) -> Result<Vec<ImportedFile>, RpcError> {
    let mut written = Vec::with_capacity(files.len());
    let all = files.len();
    let ended = files.into_iter().try_for_each(|file| {
        let done = written.len();
        let lines = job.advance("write", &file.path, done, all).and_then(|()| {
            let title = file.title.as_deref();
            remember::append_sections(&view.root, &file.path, title, &file.sections.join("\n"))
        });
        let lines = lines.map_err(|error| midway(error, &file.path, done))?;
        written.push(told(file, Some(&lines)));
        Ok(())
    });
    let paths: Vec<&str> = written.iter().map(|file| file.path.as_str()).collect();
    job.begin("save", &view.root.display().to_string());
    // Why the writing ended comes first.
    ended.and(remember::settle(&view.root, &paths))?;
    Ok(written)
}

fn told(file: PlannedFile, lines: Option<&Lines>) -> ImportedFile {
    ImportedFile {
        memories: file.sections.len() as u64,
        new: file.new,
        start_line: lines.map(|lines| lines.start_line),
        end_line: lines.map(|lines| lines.end_line),
        path: file.path,
    }
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
    if matches!(SourceKind::from_path(&log), SourceKind::Node(_)) {
        return Err(refused("the compaction tree stands there"));
    }
    Ok(folder)
}
