//! Answers to `get` requests.

use std::path::Path;
use std::sync::Arc;

use hippo_fs::PathRefusal;
use hippo_proto::{ErrorKind, GetRequest, GetResponse, RpcError, Viewer, shorten};
use hippo_text::chunk::{self, ContentHash, Document};
use hippo_text::text::plural;

use super::Searcher;
use super::hit::public_id;
use super::{note_name, shared};
use crate::message::{QueryEffects, WorkspaceMessage};
use crate::tasks::run_blocking;
use crate::verify::{ChunkSpan, FileMark, Verifier};
use crate::view::WorkspaceView;

/// Maximum size in bytes of the text in one answer. Clients request the remaining text with `from`.
const LONGEST_TEXT: usize = 1 << 20;

/// Handles `get`.
///
/// # Errors
/// Returns `no-workspace` if the folder is not a workspace, `not-found` if the id, file or section does not exist or
/// the file is not a memory file, `stale` if the text with the id is no longer on disk, `bad-request` for a path
/// outside the workspace, and `too-large` for a file above the size limit.
pub async fn get(
    searcher: &Arc<Searcher>,
    viewer: Viewer,
    request: GetRequest,
) -> Result<GetResponse, RpcError> {
    let views = match &request.workspace {
        Some(folder) => vec![searcher.views.get(folder).await?],
        None => searcher.views.open(),
    };
    let searcher = Arc::clone(searcher);
    let work = move || {
        let mut views_of = views.iter();
        if let Some(shared) = views_of.find_map(|view| shared::get(&searcher, view, &request)) {
            return shared;
        }
        let (view, response) = answer(&views, &viewer, &request)?;
        let whole = response.start_line == 1 && response.end_line == response.total_lines;
        if !request.peek {
            let heading = if whole { &[][..] } else { &response.heading };
            record_access(&searcher, view, &response.path, heading);
        }
        Ok(response)
    };
    run_blocking(work).await
}

/// Records an access to the entry that points to the returned text.
fn record_access(searcher: &Searcher, view: &WorkspaceView, path: &str, heading: &[String]) {
    let index = view.index();
    let entry = index
        .of_place(path, heading)
        .filter(|record| record.learned.is_none());
    if let Some(record) = entry.filter(|_| view.config.index.enabled) {
        let effects = QueryEffects {
            at: searcher.clock.now(),
            accessed: vec![record.entry.id.clone()],
            learned: None,
        };
        searcher
            .engine
            .send_to(&view.root, WorkspaceMessage::Asked(effects));
    }
}

fn answer<'v>(
    views: &'v [Arc<WorkspaceView>],
    viewer: &Viewer,
    request: &GetRequest,
) -> Result<(&'v WorkspaceView, GetResponse), RpcError> {
    match (&request.id, &request.path, views) {
        (Some(id), _, _) => by_id(views, viewer, id),
        (None, Some(path), [view, ..]) => Ok((view, by_path(Reader { view, viewer }, path, request)?)),
        _ => Err(RpcError::bad_request("neither \"path\" nor \"id\" is given").hint("give one of them")),
    }
}

fn by_id<'v>(
    views: &'v [Arc<WorkspaceView>],
    viewer: &Viewer,
    id: &str,
) -> Result<(&'v WorkspaceView, GetResponse), RpcError> {
    let (view, path, mark, span) = views
        .iter()
        .find_map(|view| find(view, viewer, id))
        .ok_or_else(|| {
            RpcError::not_found(format!("no such id: {}", shorten(id))).hint(
                "a text gets a new id when it changes: search again for the new id, or give a path such as \
             memory/2026-01-10.md",
            )
        })?;
    let stale = || {
        RpcError::new(
            ErrorKind::Stale,
            format!("the text with this id is no longer on disk: {path}"),
        )
        .hint("search again")
    };
    let mut verifier = Verifier::new(&view.root, view.config.sources.max_file_bytes);
    let found = verifier.check(&path, mark, span).ok_or_else(stale)?;
    let whole = read(Reader { view, viewer }, &path)?;
    let response = respond(&path, &whole, found.start_line, found.end_line)?;
    Ok((view, response))
}

fn find<'a>(
    view: &'a Arc<WorkspaceView>,
    viewer: &Viewer,
    id: &str,
) -> Option<(&'a WorkspaceView, String, FileMark, ChunkSpan)> {
    let snapshot = view.snapshot();
    let document_part = id.get(1..9)?;
    let mut documents = snapshot.documents(viewer);
    documents.find_map(|(row, document)| {
        if !ContentHash::of(document.path.as_bytes())
            .to_string()
            .starts_with(document_part)
        {
            return None;
        }
        let span = document.chunks().iter().find_map(|chunk| {
            let span = snapshot.spans.get(*chunk as usize).copied().flatten()?;
            (public_id(&document.path, span.hash) == id).then_some(span)
        })?;
        Some((
            &**view,
            document.path.to_string(),
            snapshot.facts.get(&row)?.mark,
            span,
        ))
    })
}

/// A workspace and the reader of its files.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub view: &'a WorkspaceView,
    pub viewer: &'a Viewer,
}

fn by_path(reader: Reader<'_>, path: &str, request: &GetRequest) -> Result<GetResponse, RpcError> {
    let (whole, path, pointed) = match &request.section {
        Some(_) => literal(reader, path).map(|(whole, path)| (whole, path, None)),
        None => pointed(reader, path),
    }
    .or_else(|error| by_name(reader, path, error))?;
    select(
        &path,
        &whole,
        pointed.as_ref().or(request.section.as_ref()),
        request,
    )
}

/// Returns the lines of a text that a request names, counted from the start of a section if one is given.
pub(super) fn select(
    path: &str,
    whole: &[u8],
    section: Option<&String>,
    request: &GetRequest,
) -> Result<GetResponse, RpcError> {
    let (first, last) = match section {
        Some(section) => {
            let document = chunk::chunk(whole);
            find_section(&document, section).ok_or_else(|| {
                let titles: Vec<&str> = document
                    .sections
                    .iter()
                    .map(|section| section.title.as_str())
                    .filter(|title| !title.is_empty())
                    .take(12)
                    .collect();
                RpcError::not_found(format!("no such section: \"{}\" in {path}", shorten(section)))
                    .hint(format!("the sections of the file: {}", titles.join(", ")))
            })?
        }
        None => (1, u32::MAX),
    };
    let from = request.from.map_or(first, |from| first.saturating_add(from - 1));
    let to = request
        .count
        .map_or(last, |count| last.min(from.saturating_add(count - 1)));
    respond(path, whole, from, to)
}

/// Returns the bytes of a file and its path relative to the root.
fn literal(reader: Reader<'_>, path: &str) -> Result<(Vec<u8>, String), RpcError> {
    let path = inside(reader, path)?;
    Ok((read(reader, &path)?, path))
}

/// Returns the bytes of a file, its path relative to the root, and a section if the given path ends with one, as in
/// `notes.md §Setup`. The index file writes pointers in this form. A file name may contain the mark `§` as well, so the
/// longest path that exists is used.
fn pointed(reader: Reader<'_>, given: &str) -> Result<(Vec<u8>, String, Option<String>), RpcError> {
    const MARK: &str = " §";
    /// Maximum length in bytes of a path that the operating system can open.
    const LONGEST_PATH: usize = 4096;
    let mut refusal = match literal(reader, given) {
        Err(error) if error.data.kind == ErrorKind::NotFound => error,
        whole => return whole.map(|(whole, path)| (whole, path, None)),
    };
    let marks = given.rmatch_indices(MARK).map(|(at, _)| at);
    for at in marks.filter(|at| *at <= LONGEST_PATH) {
        match literal(reader, &given[..at]) {
            Ok((whole, path)) => return Ok((whole, path, Some(given[at + MARK.len()..].to_owned()))),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

/// Returns the bytes of a file that is given by its name, an alias or a link, its path relative to the root, and the
/// section of the link. Returns `error`, the refusal of the path, if there is no such file.
fn by_name(
    reader: Reader<'_>,
    given: &str,
    error: RpcError,
) -> Result<(Vec<u8>, String, Option<String>), RpcError> {
    if error.data.kind != ErrorKind::NotFound {
        return Err(error);
    }
    let (name, heading) = note_name::parse_link(given);
    let path = note_name::find(reader.view, reader.viewer, name)?.ok_or(error)?;
    Ok((read(reader, &path)?, path, heading.map(str::to_owned)))
}

/// Returns the first and the last line of the section whose heading equals `wanted`, without regard to case. If there
/// is none, uses the first section whose heading contains `wanted`.
fn find_section(document: &Document, wanted: &str) -> Option<(u32, u32)> {
    let wanted = wanted.trim().trim_start_matches(['§', '#']).trim().to_lowercase();
    let numbered = || (0u32..).zip(&document.sections);
    let same = numbered().find(|(_, section)| section.title.to_lowercase() == wanted);
    let (index, section) =
        same.or_else(|| numbered().find(|(_, section)| section.title.to_lowercase().contains(&wanted)))?;
    Some((section.start_line, chunk::section_end(document, index)))
}

/// Returns the given path relative to the root. Fails if it is not the path of a memory file of this workspace. Fails for
/// the path of another agent as for a path where no file is.
fn inside(Reader { view, viewer }: Reader<'_>, path: &str) -> Result<String, RpcError> {
    let given = Path::new(path);
    let relative = if given.is_absolute() {
        given.strip_prefix(&view.root).map_err(|_| {
            RpcError::bad_request(format!("the path is outside the workspace: {path}"))
                .hint("give a path relative to the workspace")
        })?
    } else {
        given
    };
    let parts: Option<Vec<&str>> = relative
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .map(|part| match part {
            std::path::Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    let relative = parts.map(|parts| parts.join("/")).unwrap_or_default();
    if is_hidden(view, viewer, &relative) {
        return Err(no_such_file(path));
    }
    if view.rules.is_source(&relative) {
        return Ok(relative);
    }
    if !relative.is_empty() && !hippo_fs::exists(&view.root, &relative) {
        return Err(no_such_file(path));
    }
    Err(RpcError::not_found(format!("the file is not indexed: {path}")).hint(
        "give the path of a memory file; to make this file a memory file, add it to the setting sources.include; \
         hippod never reads its own files, hidden files and node_modules",
    ))
}

/// Returns whether a reader may not even know whether a path exists: the path of a private file, or the folder of another
/// agent.
pub(super) fn is_hidden(view: &WorkspaceView, viewer: &Viewer, path: &str) -> bool {
    let inside = || view.scopes.of_path(&format!("{path}/x"));
    !viewer.sees(&view.scope_of_path(path)) || !view.rules.is_source(path) && !viewer.sees(&inside())
}

pub(super) fn no_such_file(path: &str) -> RpcError {
    RpcError::not_found(format!("no such file: {path}")).hint("find the path with: hippoctl search QUERY")
}

pub(super) fn read(Reader { view, viewer }: Reader<'_>, path: &str) -> Result<Vec<u8>, RpcError> {
    let place = view.scope_of_path(path);
    if !viewer.sees(&place) {
        return Err(no_such_file(path));
    }
    let bytes = read_bytes(view, path)?;
    let scope = chunk::scope_restriction(&bytes).apply(place);
    match viewer.sees(&scope) {
        true => Ok(bytes),
        false => Err(no_such_file(path)),
    }
}

fn read_bytes(view: &WorkspaceView, path: &str) -> Result<Vec<u8>, RpcError> {
    let limit = view.config.sources.max_file_bytes;
    hippo_fs::read_source(&view.root, path, limit).map_err(|error| match hippo_fs::refusal(&error) {
        Some(PathRefusal::NotRegular(_)) => {
            RpcError::not_found(format!("not a file: {path}")).hint("give the path of a file")
        }
        Some(_) => RpcError::bad_request(format!("the path is a link out of the workspace: {path}"))
            .hint("give the path of a file within the workspace; hippod does not follow links out of it"),
        None => match error.kind() {
            std::io::ErrorKind::NotFound => no_such_file(path),
            std::io::ErrorKind::FileTooLarge => RpcError::new(
                ErrorKind::TooLarge,
                format!("the file is larger than {limit} bytes: {path}"),
            )
            .hint("to allow larger files, raise sources.max_file_bytes in hippod's config.toml"),
            _ => RpcError::internal(format!("could not read the file: {path}: {error}"))
                .hint("check the permissions of the workspace and its disk"),
        },
    })
}

fn respond(path: &str, bytes: &[u8], from: u32, to: u32) -> Result<GetResponse, RpcError> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let total = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    if from > total.max(1) {
        return Err(RpcError::not_found(format!(
            "line {from} is after the end of {path}, which has {}",
            plural(total.into(), "line")
        ))
        .hint("give a line from 1 to the number of lines"));
    }
    let wanted = lines
        .get(from as usize - 1..to.min(total) as usize)
        .unwrap_or_default();
    let mut text = Vec::new();
    let mut end = from;
    let mut truncated = false;
    for (number, line) in (from..).zip(wanted) {
        if !text.is_empty() && text.len() + line.len() > LONGEST_TEXT {
            truncated = true;
            break;
        }
        text.extend_from_slice(line);
        end = number;
    }
    let document = chunk::chunk(bytes);
    let section = (0u32..)
        .zip(&document.sections)
        .take_while(|(_, section)| section.start_line <= from)
        .last();
    Ok(GetResponse {
        path: path.to_owned(),
        start_line: from,
        end_line: end,
        hash: ContentHash::of(bytes).to_string(),
        text: String::from_utf8_lossy(&text).into_owned(),
        heading: section
            .map(|(index, _)| chunk::heading_path(&document.sections, index))
            .unwrap_or_default(),
        total_lines: total,
        truncated,
    })
}
