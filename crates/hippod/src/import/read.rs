//! Where does another program keep its memories below a path, and what do they say?

use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use hippo_core::import::{self, Found, LARGEST, Memory, Program, Trouble};
use hippo_proto::{ErrorKind, RpcError};
use hippo_store::foreign::{self, ForeignError, Gap};

use crate::files;

/// Bytes of an export, at most.
const LARGEST_EXPORT: u64 = 256 << 20;
/// Bytes of all notes together, at most.
const ALL_NOTES: u64 = 256 << 20;
/// Notes, at most.
const MOST_NOTES: usize = 50_000;
/// Folders below each other that are looked into.
const DEPTH: usize = 16;
/// Damaged places that a refusal names.
const TOLD: usize = 3;
/// What every database begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub memories: Vec<Memory>,
    /// Damaged places, each with its file.
    pub troubles: Vec<(String, Trouble)>,
    pub left_out: u64,
    pub notes: Vec<String>,
    /// Links, and folders that lie too deep.
    not_followed: Vec<String>,
}

impl Source {
    fn take(&mut self, path: &str, found: Found) {
        self.memories.extend(found.memories);
        let troubles = found.troubles.into_iter();
        self.troubles
            .extend(troubles.map(|trouble| (path.to_owned(), trouble)));
        self.left_out += found.left_out;
    }
}

/// Reads the export or the store at a path.
///
/// # Errors
/// `not-found` where there is none, `bad-request` where it is none of this program, `too-large`.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
pub(super) fn read(program: Program, path: &Path, root: &Path, scratch: &Path) -> Result<Source, RpcError> {
    if !path.is_absolute() {
        let what = format!("the path of the import is not absolute: {}", path.display());
        return Err(RpcError::bad_request(what).hint("give the absolute path of the export or store"));
    }
    let path = &path.canonicalize().map_err(|error| unread(path, &error))?;
    let mut source = Source::default();
    if path.is_dir() {
        folder(program, path, root, scratch, &mut source)?;
    } else if begins_as_database(path)? {
        database(program, path, scratch, &mut source)?;
    } else if matches!(program, Program::HippoMemory | Program::BasicMemory) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.ends_with(".md") {
            return Err(nothing(program, path));
        }
        note(program, path, &name, &mut source)?;
    } else {
        let bytes = files::read(path, LARGEST_EXPORT).map_err(|error| unread(path, &error))?;
        let found = import::export(program, &bytes).map_err(|trouble| no_export(program, path, &trouble))?;
        source.take(&path.display().to_string(), found);
    }
    if source.memories.is_empty() && source.left_out == 0 && !source.troubles.is_empty() {
        return Err(nothing_whole(program, &source.troubles));
    }
    Ok(source)
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn folder(
    program: Program,
    path: &Path,
    root: &Path,
    scratch: &Path,
    source: &mut Source,
) -> Result<(), RpcError> {
    match program {
        Program::ClaudeMem | Program::Mem0 => {
            let name = if program == Program::Mem0 {
                "history.db"
            } else {
                "claude-mem.db"
            };
            let store = path.join(name);
            if !store.is_file() {
                return Err(nothing(program, path));
            }
            database(program, &store, scratch, source)
        }
        Program::HippoMemory => {
            let below = path.join(".hippo");
            let store = if below.is_dir() { &below } else { path };
            let kept = store.join("hippo.db");
            if !kept.is_file() {
                return notes(program, store, &["episodic", "semantic"], source);
            }
            match database(program, &kept, scratch, source) {
                Err(error) if store.join("episodic").is_dir() => {
                    let note = format!("{}; the files beside the database were read", error.message);
                    source.notes.push(note);
                    notes(program, store, &["episodic", "semantic"], source)
                }
                read => read,
            }
        }
        Program::BasicMemory => {
            if path.starts_with(root) || root.starts_with(path) {
                let what = format!(
                    "the notes and the workspace lie within each other: {}",
                    path.display()
                );
                return Err(RpcError::bad_request(what)
                    .hint("notes below memory/ or knowledge/ of the workspace are searched as they are"));
            }
            notes(program, path, &[""], source)
        }
    }
}

fn database(program: Program, path: &Path, scratch: &Path, source: &mut Source) -> Result<(), RpcError> {
    let name = path.display().to_string();
    let tables = foreign::tables(path, program.tables(), scratch).map_err(|error| {
        let what = format!("{error}: {name}");
        match error {
            ForeignError::Io(error) if error.kind() == IoErrorKind::PermissionDenied => {
                RpcError::bad_request(what).hint("make it readable; nothing was written")
            }
            ForeignError::Io(_) => RpcError::internal(what)
                .hint("it is copied into the state folder to be read: look after that disk"),
            ForeignError::Sql(_) => RpcError::bad_request(what)
                .hint("stop its program and try again, or import its export; nothing was written"),
            ForeignError::TooLarge | ForeignError::LargeFile => too_large(what),
        }
    })?;
    if tables.is_empty() {
        return Err(nothing(program, path));
    }
    for table in tables {
        source.take(&name, import::rows(program, table.name, &table.rows));
        if let Some(gap) = table.gap {
            let what = unreadable(table.name, &gap);
            source.troubles.push((name.clone(), Trouble { line: None, what }));
        }
    }
    Ok(())
}

fn unreadable(table: &str, gap: &Gap) -> String {
    let rows = match (gap.after, gap.before) {
        (Some(after), Some(before)) => format!("the rows between rowid {after} and rowid {before}"),
        (Some(after), None) => format!("the rows behind rowid {after}"),
        (None, Some(before)) => format!("the rows before rowid {before}"),
        (None, None) => "rows".to_owned(),
    };
    format!("{rows} of {table} cannot be read: {}", gap.why)
}

/// The markdown files below some folders, by their paths.
#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn notes(program: Program, store: &Path, folders: &[&str], source: &mut Source) -> Result<(), RpcError> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for folder in folders {
        gather(store, &store.join(folder), 0, &mut found, source)?;
    }
    if found.is_empty() {
        return Err(nothing(program, store));
    }
    if let Some(first) = source.not_followed.iter().min() {
        source.notes.push(format!(
            "links, and folders more than {DEPTH} deep, are not followed: {} such as {first}",
            source.not_followed.len()
        ));
    }
    found.sort();
    let mut room = ALL_NOTES;
    for (name, path) in found {
        let size = fs::metadata(&path).map_or(0, |file| file.len());
        room = room.checked_sub(size).ok_or_else(|| {
            too_large(format!(
                "the notes hold more than {} MiB: {}",
                ALL_NOTES >> 20,
                store.display()
            ))
        })?;
        note(program, &path, &name, source)?;
    }
    Ok(())
}

/// One file, at its path below the folder. What cannot be read is passed over.
fn note(program: Program, path: &Path, name: &str, source: &mut Source) -> Result<(), RpcError> {
    let read = files::read(path, LARGEST as u64).map_err(|error| {
        let what = match error.kind() {
            IoErrorKind::FileTooLarge => {
                format!("it has more than {} MiB: cut it into parts", LARGEST >> 20)
            }
            _ => format!("it cannot be read: {error}"),
        };
        Trouble { line: None, what }
    });
    match read.and_then(|bytes| import::file(program, name, &bytes)) {
        Ok(memory) => source.memories.push(memory),
        Err(trouble) => source.troubles.push((name.to_owned(), trouble)),
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a place that a person names")]
fn gather(
    store: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<(String, PathBuf)>,
    source: &mut Source,
) -> Result<(), RpcError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if files::is_absence(&error) => return Ok(()),
        Err(error) => return Err(unread(folder, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| unread(folder, &error))?;
        let path = entry.path();
        // Links may lead back to where they stand.
        let kind = entry.file_type().map_err(|error| unread(&path, &error))?;
        let below = path.strip_prefix(store).unwrap_or(&path);
        let Some(name) = below.to_str() else {
            let what = "its name is not UTF-8".to_owned();
            let trouble = Trouble { line: None, what };
            source.troubles.push((below.display().to_string(), trouble));
            continue;
        };
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < DEPTH {
            gather(store, &path, depth + 1, found, source)?;
        } else if kind.is_file() && name.ends_with(".md") {
            found.push((name.to_owned(), path));
        } else if kind.is_dir() || (kind.is_symlink() && (name.ends_with(".md") || path.is_dir())) {
            source.not_followed.push(name.to_owned());
        }
    }
    if found.len() > MOST_NOTES {
        let what = format!("there are more than {MOST_NOTES} notes below {}", store.display());
        return Err(too_large(what));
    }
    Ok(())
}

fn begins_as_database(path: &Path) -> Result<bool, RpcError> {
    use std::io::Read as _;
    let (file, _) = files::open(path).map_err(|error| unread(path, &error))?;
    let mut first = Vec::new();
    let read = file.take(SQLITE.len() as u64).read_to_end(&mut first);
    read.map_err(|error| unread(path, &error))?;
    Ok(first == SQLITE)
}

fn nothing(program: Program, path: &Path) -> RpcError {
    let (name, hint) = (program.name(), where_it_is(program));
    let what = format!("there is no memory of {name} at {}", path.display());
    RpcError::not_found(what).hint(hint)
}

fn no_export(program: Program, path: &Path, trouble: &Trouble) -> RpcError {
    let line = trouble
        .line
        .map(|line| format!(", line {line}"))
        .unwrap_or_default();
    let what = format!(
        "{}{line} is no export of {}: {}",
        path.display(),
        program.name(),
        trouble.what
    );
    RpcError::bad_request(what).hint(where_it_is(program))
}

/// All that was found is damaged: this is hardly what that program wrote.
fn nothing_whole(program: Program, troubles: &[(String, Trouble)]) -> RpcError {
    let told: Vec<String> = troubles.iter().take(TOLD).map(place).collect();
    let more = match troubles.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let what = format!(
        "there is no memory of {} that could be read: {}{more}",
        program.name(),
        told.join("; ")
    );
    RpcError::bad_request(what).hint(where_it_is(program))
}

fn place((path, trouble): &(String, Trouble)) -> String {
    match trouble.line {
        Some(line) => format!("{path}, line {line}: {}", trouble.what),
        None => format!("{path}: {}", trouble.what),
    }
}

const fn where_it_is(program: Program) -> &'static str {
    match program {
        Program::HippoMemory => "give the folder .hippo, or the folder that it stands in",
        Program::BasicMemory => "give the folder of a project, with its notes",
        Program::ClaudeMem => {
            "give the JSON of its export script ({\"observations\": [{…}], \"summaries\": [{…}]}), claude-mem.db, or the folder with it \
             (~/.claude-mem)"
        }
        Program::Mem0 => {
            "give what get_all answers as JSON ({\"results\": [{\"memory\": \"…\"}]}, the list alone, or a record a line), or history.db \
             (~/.mem0); its vector store is not read"
        }
    }
}

fn unread(path: &Path, error: &std::io::Error) -> RpcError {
    let what = format!("could not read {}: {error}", path.display());
    match error.kind() {
        IoErrorKind::NotFound => RpcError::not_found(what).hint("give the path of an export or store"),
        IoErrorKind::FileTooLarge => too_large(what),
        _ => RpcError::bad_request(what).hint("give a regular file or a folder that may be read"),
    }
}

fn too_large(what: String) -> RpcError {
    RpcError::new(ErrorKind::TooLarge, what).hint("import it in parts; nothing was written")
}
