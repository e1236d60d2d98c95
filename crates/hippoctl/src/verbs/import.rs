//! `import`: conversion of JSON exports into markdown files.

mod plan;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hippo_fs::WorkspaceDir;
use hippo_proto::WorkspaceSyncRequest;
use hippo_session::import::{self, ImportProblem, ImportResult};
use hippo_types::transcript::ExportProgram;
use serde::Serialize;

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::{self, one_line};
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
    pub problems: Vec<ImportProblem>,
    /// Notes for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
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
        malformed: export.troubles.len() as u64,
        problems: export.troubles,
        ..ImportReport::default()
    };
    report.problems.truncate(MOST_PROBLEMS);
    plan::add_files(&mut report, &dir, args.from, &export.memories);
    if args.apply {
        for (done, file) in report.files.iter().enumerate() {
            write(&dir, file).map_err(|error| midway(file, done, &error))?;
        }
        // The daemon would also find the new files without this request, but not immediately.
        let sync = WorkspaceSyncRequest {
            workspace,
            ..WorkspaceSyncRequest::default()
        };
        let _ = session.call(sync);
    }
    out.answer(&report, render::import::imported)
}

/// Locks the workspace. A concurrent import then waits, and finds the memories that this import has written.
#[expect(clippy::disallowed_methods, reason = "the folder itself")]
fn lock(root: &Path) -> Result<File, Failure> {
    let failed = |error| Failure::file("lock the folder", root, error);
    let folder = File::open(root).map_err(failed)?;
    folder.lock().map_err(failed)?;
    Ok(folder)
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
    let unread = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure {
            exit: Exit::NotFound,
            ..Failure::input("read the export", path, error)
        },
        _ => Failure::input("read the export", path, error),
    };
    let metadata = path.metadata().map_err(|error| unread(&error))?;
    let refused = |exit, what: &str| {
        let what = format!(
            "{} is not an export of {}: {what}",
            path.display(),
            program.name()
        );
        Err(Failure::new(exit, what).hint(hint))
    };
    // A pipe is not opened, because opening a pipe without a writer would block forever.
    if !metadata.is_file() {
        return refused(Exit::Usage, "it is not a regular file");
    }
    if metadata.len() > LARGEST {
        let what = format!(
            "could not read the export: {}: it is larger than {} MiB",
            path.display(),
            LARGEST >> 20
        );
        return Err(Failure::new(Exit::Refused, what).hint("nothing was written; import the export in parts"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(|error| unread(&error))?;
    let found = match import::export(program, &bytes) {
        Ok(found) => found,
        Err(trouble) => return refused(Exit::Usage, &describe_location(&trouble)),
    };
    if found.memories.is_empty() && found.left_out == 0 && !found.troubles.is_empty() {
        let named: Vec<String> = found.troubles.iter().take(NAMED).map(describe_location).collect();
        return refused(Exit::Usage, &named.join("; "));
    }
    Ok(found)
}

fn describe_location(ImportProblem { line, what }: &ImportProblem) -> String {
    match line {
        Some(line) => format!("line {line}: {what}"),
        None => what.clone(),
    }
}

/// Writes a file atomically.
fn write(dir: &WorkspaceDir, file: &NewFile) -> io::Result<()> {
    // If another program has created the file since the plan was made, the file stays unchanged.
    if dir.stat(&file.path)?.is_some() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    dir.write_whole(&file.path, file.text.as_bytes())
}

fn midway(file: &NewFile, done: usize, error: &io::Error) -> Failure {
    let what = format!(
        "could not write {}: {error}; {done} files were written",
        one_line(&file.path)
    );
    let exit = match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::AlreadyExists => Exit::Refused,
        _ => Exit::Failed,
    };
    Failure::new(exit, what)
        .hint("fix the cause and import again; memories that were already imported are not imported twice")
}
