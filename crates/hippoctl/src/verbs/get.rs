//! `get`: text at a pointer.

use std::path::{Component, Path, PathBuf};

use hippo_proto::{GetRequest, GetResponse};

use crate::connect::{DaemonSession, current_dir, text};
use crate::failure::Failure;
use crate::output::Output;

/// Prints the text at a pointer, as it is on disk. A path is absolute, or relative to the current folder, or else to
/// the workspace.
///
/// # Errors
/// Fails if no workspace is found, or if the target of the pointer does not exist.
pub fn get(session: &mut DaemonSession, target: &str, out: &mut Output) -> Result<(), Failure> {
    let (_, answer) = pointed_text(session, target, out)?;
    if out.json {
        return out.answer(&answer, |_, _| String::new());
    }
    let is_ended = answer.text.is_empty() || answer.text.ends_with('\n');
    let end = if is_ended { "" } else { "\n" };
    out.data(format!("{}{end}", answer.text).as_bytes())
}

/// Returns the text at a pointer, with its workspace. A note reports a text that is not complete.
///
/// # Errors
/// See [`get`].
pub fn pointed_text(
    session: &mut DaemonSession,
    target: &str,
    out: &mut Output,
) -> Result<(String, GetResponse), Failure> {
    let mut request = parse(target);
    let mut whole = target.to_owned();
    let mut workspace = None;
    if let Some(path) = &mut request.path
        && Path::new(path).is_absolute()
        && let Some((root, below)) = session.locate(Path::new(path))?
    {
        whole = whole.replacen(path.as_str(), &below, 1);
        (workspace, *path) = (Some(root), below);
    } else if let Some(path) = &mut request.path
        && session.given_workspace()?.is_none()
    {
        let root = session.root()?;
        let here = current_dir()?;
        let from_here = |path: &str| below_here(Path::new(&root), &here, path);
        whole = from_here(&whole).unwrap_or(whole);
        *path = from_here(path).unwrap_or_else(|| path.clone());
    }
    request.workspace = match request.id {
        Some(_) => session.given_workspace()?.as_deref().map(text).transpose()?,
        None if workspace.is_some() => workspace,
        None => Some(session.workspace()?),
    };
    let workspace = request.workspace.clone().unwrap_or_default();
    let whole = GetRequest {
        workspace: request.workspace.clone(),
        path: Some(whole),
        ..GetRequest::default()
    };
    let is_split = request.section.is_some() || request.from.is_some();
    // The whole argument is tried first, because the name of a file can contain `#` or `:`.
    let answer = match is_split.then(|| session.call(whole)) {
        Some(Ok(answer)) => answer,
        _ => session.call(request)?,
    };
    if answer.truncated {
        out.remark(&format!(
            "note: printed lines {} to {} of {}",
            answer.start_line,
            answer.end_line,
            crate::render::plural(answer.total_lines.into(), "line")
        ));
    }
    Ok((workspace, answer))
}

/// Returns the path relative to the workspace of a file that is given relative to the current folder. Returns `None` if
/// the current folder is not in the workspace, or if there is no such file.
fn below_here(root: &Path, here: &Path, path: &str) -> Option<String> {
    let mut below = PathBuf::new();
    for part in here.strip_prefix(root).ok()?.join(path).components() {
        match part {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir if below.pop() => {}
            _ => return None,
        }
    }
    let below = below.to_str()?;
    hippo_fs::exists(root, below).then(|| below.to_owned())
}

/// Parses `PATH[#Section]`, `PATH#LFROM[-LTO]`, `PATH:FROM[:COUNT]`, `PATH:FROM-TO`, an id, or a link such as `[[Note#Section]]`, which the
/// daemon reads. The path can also be the name of a note.
pub fn parse(target: &str) -> GetRequest {
    let mut request = GetRequest::default();
    if is_id(target) {
        request.id = Some(target.to_owned());
        return request;
    }
    if target.ends_with("]]") && target.trim_start_matches('!').starts_with("[[") {
        request.path = Some(target.to_owned());
        return request;
    }
    let mut path = target;
    if let Some(at) = target.find(".md#") {
        path = &target[..at + 3];
        match split_citation(&target[at + 4..]) {
            Some((from, to)) => (request.from, request.count) = (Some(from), Some(to - from + 1)),
            None => request.section = Some(target[at + 4..].to_owned()),
        }
    } else if let Some((head, from, to)) = split_range(target) {
        (path, request.from, request.count) = (head, Some(from), Some(to - from + 1));
    } else if let Some((head, last)) = split_number(target) {
        (path, request.from, request.count) = match split_number(head) {
            Some((path, from)) => (path, Some(from), Some(last)),
            None => (head, Some(last), None),
        };
    } else if let Some((head, section)) = target.split_once('#').filter(|_| !target.contains(" §")) {
        path = head;
        request.section = Some(section.to_owned());
    }
    request.path = Some(path.to_owned());
    request
}

/// Parses the lines of a citation: `L12` or `L12-L14`.
fn split_citation(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.strip_prefix('L')?.parse().ok();
    let (from, to) = (number(from)?, number(to)?);
    (from >= 1 && from <= to).then_some((from, to))
}

/// Returns whether a text has the form of an id: `c`, and 20 hexadecimal digits.
fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    text.len() == 21 && text.starts_with('c') && text.bytes().all(is_digit)
}

pub fn split_number(text: &str) -> Option<(&str, u32)> {
    let (head, number) = text.rsplit_once(':')?;
    Some((head, number.parse().ok()?))
}

fn split_range(text: &str) -> Option<(&str, u32, u32)> {
    let (head, to) = text.rsplit_once('-')?;
    let ((path, from), to) = (split_number(head)?, to.parse().ok()?);
    (from >= 1 && from <= to).then_some((path, from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_current_folder_or_the_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("memory/deep")).unwrap();
        std::fs::write(root.join("memory/a.md"), "").unwrap();
        let of = |here: &str, path: &str| below_here(root, &root.join(here), path);
        let found = Some("memory/a.md".to_owned());
        assert_eq!(of("memory", "a.md"), found);
        assert_eq!(of("memory", "./a.md"), found);
        assert_eq!(of("memory/deep", "../a.md"), found);
        assert_eq!(of("", "memory/a.md"), found);
        assert_eq!(
            of("memory", "memory/a.md"),
            None,
            "the daemon then looks in the workspace"
        );
        assert_eq!(of("memory", "../../../a.md"), None);
        assert_eq!(below_here(root, Path::new("/elsewhere"), "memory/a.md"), None);
    }

    #[test]
    fn pointers_are_parsed() {
        type Pointer<'a> = (
            Option<&'a str>,
            Option<&'a str>,
            Option<u32>,
            Option<u32>,
            Option<&'a str>,
        );
        let cases: [(&str, Pointer<'_>); 17] = [
            ("MEMORY.md", (Some("MEMORY.md"), None, None, None, None)),
            (
                "memory/a.md#Deploy steps",
                (Some("memory/a.md"), Some("Deploy steps"), None, None, None),
            ),
            (
                "memory/a.md#L12-L14",
                (Some("memory/a.md"), None, Some(12), Some(3), None),
            ),
            (
                "memory/a.md#L12 pump",
                (Some("memory/a.md"), Some("L12 pump"), None, None, None),
            ),
            (
                "memory/c#.md#C# notes",
                (Some("memory/c#.md"), Some("C# notes"), None, None, None),
            ),
            (
                "memory/a.md:12",
                (Some("memory/a.md"), None, Some(12), None, None),
            ),
            (
                "memory/a.md:12:3",
                (Some("memory/a.md"), None, Some(12), Some(3), None),
            ),
            (
                "memory/a-1.md:12-14",
                (Some("memory/a-1.md"), None, Some(12), Some(3), None),
            ),
            (
                "memory/a.md:14-12",
                (Some("memory/a.md:14-12"), None, None, None, None),
            ),
            (
                "memory/2026-03-02",
                (Some("memory/2026-03-02"), None, None, None, None),
            ),
            ("memory/a:b.md", (Some("memory/a:b.md"), None, None, None, None)),
            (
                "c1f0912345678abcdef01",
                (None, None, None, None, Some("c1f0912345678abcdef01")),
            ),
            ("c1f09", (Some("c1f09"), None, None, None, None)),
            ("Sourdough", (Some("Sourdough"), None, None, None, None)),
            (
                "Sourdough#Feed it",
                (Some("Sourdough"), Some("Feed it"), None, None, None),
            ),
            (
                "[[Sourdough#Feed it|x]]",
                (Some("[[Sourdough#Feed it|x]]"), None, None, None, None),
            ),
            ("notes/x#Part", (Some("notes/x"), Some("Part"), None, None, None)),
        ];
        for (target, expected) in cases {
            let GetRequest {
                workspace,
                path,
                section,
                from,
                count,
                id,
                peek: _,
            } = parse(target);
            assert_eq!(workspace, None);
            assert_eq!(
                (path.as_deref(), section.as_deref(), from, count, id.as_deref()),
                expected,
                "{target}"
            );
        }
    }
}
