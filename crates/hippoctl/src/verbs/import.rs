//! `import`: conversion of JSON exports into markdown files.

mod plan;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use hippo_fs::WorkspaceDir;
use hippo_proto::WorkspaceSyncRequest;
use hippo_session::import::{self, ImportResult};
use hippo_types::transcript::ExportProgram;
use serde::Serialize;

use super::watched;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render;
use hippoctl::args::ImportArgs;

/// Maximum size of an export in bytes.
const LARGEST: u64 = 256 << 20;
/// Maximum number of damaged records that an answer lists.
const MOST_PROBLEMS: usize = 100;
/// Maximum number of damaged records that an error message lists.
const NAMED: usize = 3;

/// The result of an import, or the plan of an import that was not applied.
#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    /// True if the files were written.
    pub applied: bool,
    /// The number of memories in the export.
    pub memories: u64,
    /// The number of memories that the workspace already contains, or that are repeated in the export.
    pub known: u64,
    /// The new files, in the order of their paths.
    pub files: Vec<NewFile>,
    /// The number of records that contain no memory, for example because they are prompts.
    pub left_out: u64,
    /// The number of new memories in which a secret was redacted.
    pub redacted: u64,
    /// The number of new memories that read like an instruction to an agent. The files mark these memories.
    pub flagged: u64,
    /// The number of damaged records that were skipped.
    pub malformed: u64,
    /// The first [`MOST_PROBLEMS`] damaged records.
    pub problems: Vec<String>,
}

/// A new file with memories.
#[derive(Debug, Serialize)]
pub struct NewFile {
    /// The path relative to the workspace.
    pub path: String,
    /// The number of memories in the file.
    pub memories: u64,
    /// The text of the file.
    #[serde(skip)]
    pub text: String,
}

/// Writes the memories of an export into files, or shows the plan.
///
/// # Errors
/// Fails if no workspace is found, if the export has the wrong format, or if a file cannot be written. A repeated
/// import skips the memories that were already written.
pub fn import(session: &mut DaemonSession, args: &ImportArgs, out: &mut Output) -> Result<(), Failure> {
    let workspace = session.root()?;
    let root = PathBuf::from(&workspace);
    let dir = WorkspaceDir::open(&root).map_err(|error| Failure::file("open the folder", &root, error))?;
    let export = read(args.from, &args.path)?;
    let _lock = args.apply.then(|| lock(&root)).transpose()?;
    let mut report = ImportReport {
        applied: args.apply,
        memories: export.memories.len() as u64,
        left_out: export.left_out,
        malformed: export.problems.len() as u64,
        problems: export.problems,
        ..ImportReport::default()
    };
    report.problems.truncate(MOST_PROBLEMS);
    plan::add_files(&mut report, &dir, args.from, &export.memories);
    if args.apply {
        for file in &report.files {
            write(&dir, file)?;
        }
        // The daemon would also find the new files without this request, but not immediately.
        let sync = WorkspaceSyncRequest {
            workspace: workspace.clone(),
            ..WorkspaceSyncRequest::default()
        };
        let _ = session.call(sync);
    }
    out.answer(&report, render::import::imported)?;
    match args.apply {
        true => watched::searchable(session, &workspace, out),
        false => Ok(()),
    }
}

/// Locks the workspace. A concurrent import then waits, and finds the memories that this import has written.
#[expect(clippy::disallowed_methods, reason = "the folder itself")]
fn lock(root: &Path) -> Result<File, Failure> {
    let folder = File::open(root).and_then(|folder| folder.lock().map(|()| folder));
    folder.map_err(|error| Failure::file("lock the folder", root, error))
}

#[expect(clippy::disallowed_methods, reason = "the user chose this file")]
fn read(program: ExportProgram, path: &Path) -> Result<ImportResult, Failure> {
    let hint = match program {
        ExportProgram::ClaudeMem => {
            "give the JSON file that the export script of claude-mem writes: npx tsx \
             scripts/export-memories.ts QUERY FILE"
        }
        ExportProgram::Mem0 => {
            "give a JSON file with the result of get_all; the file may contain the whole object \
             {\"results\": [{\"memory\": \"…\"}]}, only the list in the object, or one record per line"
        }
    };
    let unread = |error: io::Error| {
        let failure = Failure::input("read the export", path, &error);
        match error.kind() {
            io::ErrorKind::NotFound => Failure {
                exit: Exit::NotFound,
                ..failure
            },
            io::ErrorKind::FileTooLarge => Failure {
                exit: Exit::Refused,
                ..failure
            }
            .hint("import the export in parts of at most 256 MiB; nothing was written"),
            _ => failure,
        }
    };
    let refused = |what: &str| {
        let what = format!("{} is not an export of {program}: {what}", path.display());
        Err(Failure::new(Exit::Usage, what).hint(hint))
    };
    let metadata = path.metadata().map_err(unread)?;
    // Opening a pipe without a writer would never return.
    if !metadata.is_file() {
        return refused("it is not a regular file");
    }
    if metadata.len() > LARGEST {
        return Err(unread(io::ErrorKind::FileTooLarge.into()));
    }
    let file = File::open(path).map_err(unread)?;
    let bytes = hippo_fs::read_all((file, metadata), LARGEST).map_err(unread)?;
    let found = match import::export(program, &bytes) {
        Ok(found) => found,
        Err(problem) => return refused(&problem),
    };
    if found.memories.is_empty() && found.left_out == 0 && !found.problems.is_empty() {
        let named = &found.problems[..found.problems.len().min(NAMED)];
        return refused(&named.join("; "));
    }
    Ok(found)
}

/// Writes a file atomically.
fn write(dir: &WorkspaceDir, file: &NewFile) -> Result<(), Failure> {
    // A file that was created after the plan was made stays unchanged.
    let written = match dir.stat(&file.path) {
        Ok(None) => dir.write_whole(&file.path, file.text.as_bytes()),
        Ok(Some(_)) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) => Err(error),
    };
    written.map_err(|error| {
        use io::ErrorKind::{AlreadyExists, PermissionDenied, ReadOnlyFilesystem};
        let is_refused = matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | AlreadyExists);
        let failure = Failure::file("write", Path::new(&file.path), error).hint(
            "fix the cause and import again; files that were already written stay, and no memory is imported twice",
        );
        Failure {
            exit: if is_refused { Exit::Refused } else { failure.exit },
            ..failure
        }
    })
}
