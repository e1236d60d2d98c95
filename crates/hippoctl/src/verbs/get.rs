//! `get`: text at a pointer.

use hippo_proto::GetRequest;

use crate::connect::{DaemonSession, text};
use crate::failure::Failure;
use crate::output::Output;

/// Prints the text at a pointer, as it is on disk.
///
/// # Errors
/// Fails if no workspace is found, or if the target of the pointer does not exist.
pub fn get(session: &mut DaemonSession, target: &str, out: &mut Output) -> Result<(), Failure> {
    let mut request = parse(target);
    request.workspace = match request.id {
        Some(_) => session.given_workspace()?.as_deref().map(text).transpose()?,
        None => Some(session.workspace()?),
    };
    let whole = GetRequest {
        workspace: request.workspace.clone(),
        path: Some(target.to_owned()),
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
            "note: printed lines {} to {} of {} lines",
            answer.start_line, answer.end_line, answer.total_lines
        ));
    }
    out.answer(&answer, |answer, _| {
        let is_ended = answer.text.is_empty() || answer.text.ends_with('\n');
        format!("{}{}", answer.text, if is_ended { "" } else { "\n" })
    })
}

/// Parses `PATH[#Section]`, `PATH:FROM[:COUNT]` or an id. An id contains none of the characters `/`, `.`, `#` and `:`.
/// Every path of a document contains at least one of these characters.
fn parse(target: &str) -> GetRequest {
    let mut request = GetRequest::default();
    if !target.contains(['/', '.', '#', ':']) {
        request.id = Some(target.to_owned());
        return request;
    }
    let mut path = target;
    if let Some(at) = target.find(".md#") {
        path = &target[..at + 3];
        request.section = Some(target[at + 4..].to_owned());
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

fn split_number(text: &str) -> Option<(&str, u32)> {
    let (head, number) = text.rsplit_once(':')?;
    Some((head, number.parse().ok()?))
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
}
