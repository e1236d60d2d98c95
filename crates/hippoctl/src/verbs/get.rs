//! `get`: text to which a pointer leads.

use std::path::Path;

use hippo_proto::{GetRequest, GetResponse};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::render::formats::numbered;
use hippoctl::args::GetArgs;

/// Prints the text as it is on disk.
///
/// # Errors
/// Fails without a workspace, or if the target of the pointer does not exist.
pub fn get(session: &mut DaemonSession, args: &GetArgs, out: &mut Output) -> Result<(), Failure> {
    let mut request = parse(&args.target);
    let lines_of_id = request.path.is_none() && (args.from.is_some() || args.lines.is_some());
    if lines_of_id {
        return Err(
            Failure::new(Exit::Usage, "the id of a result already selects its lines")
                .hint("to select lines, give the path with --from and -l"),
        );
    }
    let splits = request.section.is_some() || request.from.is_some();
    request.from = args.from.or(request.from);
    request.count = args.lines.or(request.count);
    if let Some(path) = request.path.take() {
        let workspace = session.workspace()?;
        request.path = Some(below(&path, &workspace));
        request.workspace = Some(workspace);
    } else if let Some(given) = session.given_workspace()? {
        request.workspace = Some(crate::connect::text(&given)?);
    }
    let whole = match splits {
        true => literal(session, args, &request),
        false => None,
    };
    let answer = match whole {
        Some(answer) => answer,
        None => session.call(request)?,
    };
    if !out.json && answer.truncated {
        out.note(&format!(
            "note: out of {} lines, these are lines {} to {}",
            answer.total_lines, answer.start_line, answer.end_line
        ));
    }
    let with_numbers = args.line_numbers;
    out.answer(&answer, |answer: &GetResponse, _| {
        if with_numbers {
            return numbered(&answer.text, answer.start_line);
        }
        let end = if answer.text.is_empty() || answer.text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        format!("{}{end}", answer.text)
    })
}

/// Returns the text of the file whose name is the whole argument; this is tried because a file name may contain `#` or
/// `:`.
fn literal(session: &mut DaemonSession, args: &GetArgs, parsed: &GetRequest) -> Option<GetResponse> {
    let workspace = parsed.workspace.clone()?;
    let whole = GetRequest {
        path: Some(below(&args.target, &workspace)),
        workspace: Some(workspace),
        from: args.from,
        count: args.lines,
        ..GetRequest::default()
    };
    session.call(whole).ok()
}

/// Parses `PATH[#Section]`, `PATH:FROM[:COUNT]` or an id. An id contains none of `/`, `.`, `#` and `:`, whereas every
/// path of a document contains at least one of them.
fn parse(target: &str) -> GetRequest {
    if !target.contains(['/', '.', '#', ':']) {
        return GetRequest {
            id: Some(target.to_owned()),
            ..GetRequest::default()
        };
    }
    let by_path = |path: &str| GetRequest {
        path: Some(path.to_owned()),
        ..GetRequest::default()
    };
    // A file name may contain `#`, so the forms are tried in this order: `.md#`, line numbers after a markdown name,
    // the first `#`.
    let section = match target.split_once(".md#") {
        Some((stem, section)) => Some((&target[..stem.len() + 3], section)),
        None if target.contains(" §") => None,
        None if split_number(target).is_some_and(|(path, _)| path.contains(".md")) => None,
        None => target.split_once('#'),
    };
    if let Some((path, section)) = section {
        return GetRequest {
            section: Some(section.to_owned()),
            ..by_path(path)
        };
    }
    let Some((head, last)) = split_number(target) else {
        return by_path(target);
    };
    match split_number(head) {
        Some((path, from)) => GetRequest {
            from: Some(from),
            count: Some(last),
            ..by_path(path)
        },
        None => GetRequest {
            from: Some(last),
            ..by_path(head)
        },
    }
}

fn split_number(text: &str) -> Option<(&str, u32)> {
    let (head, number) = text.rsplit_once(':')?;
    Some((head, number.parse().ok()?))
}

/// Converts an absolute path to one relative to the workspace.
pub fn below(path: &str, workspace: &str) -> String {
    let relative = Path::new(path)
        .strip_prefix(workspace)
        .ok()
        .and_then(Path::to_str);
    relative.unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_parsed() {
        type Pointer<'a> = (
            Option<&'a str>,
            Option<&'a str>,
            Option<u32>,
            Option<u32>,
            Option<&'a str>,
        );
        let cases: [(&str, Pointer<'_>); 8] = [
            ("MEMORY.md", (Some("MEMORY.md"), None, None, None, None)),
            (
                "memory/a.md#Deploy steps",
                (Some("memory/a.md"), Some("Deploy steps"), None, None, None),
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
            ("memory/a:b.md", (Some("memory/a:b.md"), None, None, None, None)),
            ("c1f09", (None, None, None, None, Some("c1f09"))),
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
            } = parse(target);
            assert_eq!(workspace, None);
            assert_eq!(
                (path.as_deref(), section.as_deref(), from, count, id.as_deref()),
                expected,
                "{target}"
            );
        }
    }

    #[test]
    fn absolute_paths_become_relative_to_the_workspace() {
        assert_eq!(below("/w/memory/a.md", "/w"), "memory/a.md");
        assert_eq!(below("/other/a.md", "/w"), "/other/a.md");
        assert_eq!(below("memory/a.md", "/w"), "memory/a.md");
    }
}
