//! Which tools did the agent call, upon which files and addresses?

use crate::literal::{self, Finds, Sort};
use crate::redact::without_secrets;
use crate::text::{clip, start};

/// Bytes of a call's arguments that are looked at.
const LOOKED_AT: usize = 8 << 10;
/// Longest path that is told, in bytes.
const PATH: usize = 200;
/// Addresses that one call may bring.
const ADDRESSES: usize = 3;
/// Names of arguments that hold the path of a file.
const PATHS: [&str; 8] = [
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "filename",
    "target_file",
    "file",
    "relative_path",
];
/// Lines of a patch that name a file.
const PATCH: [(&str, Touch); 4] = [
    ("*** Update File: ", Touch::Edited),
    ("*** Add File: ", Touch::Written),
    ("*** Delete File: ", Touch::Deleted),
    ("*** Move to: ", Touch::Written),
];

/// One call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Its id, hashed.
    pub id: Option<u64>,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments: `key=value, …`.
    pub args: &'a str,
}

/// The calls of one message.
pub type Calls<'a> = [Call<'a>];

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// Read only.
    Read,
    /// Changed.
    Edited,
    /// Made, or replaced.
    Written,
    /// Taken away.
    Deleted,
}

impl Touch {
    /// As it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edited => "edited",
            Self::Written => "written",
            Self::Deleted => "deleted",
        }
    }
}

/// The calls of a message: text of all of them, and the ids and tools that its record names. What is written into a file may look like a
/// call; a line begins one only where the next tool that is named stands at its beginning.
pub fn split<'a>(calls: &'a str, named: &mut std::slice::Iter<'_, (u64, String)>) -> Vec<Call<'a>> {
    let mut found: Vec<Call<'a>> = Vec::new();
    let mut from = 0;
    let mut ahead = named.clone();
    while let Some((id, tool)) = ahead.next() {
        let begins = |at: usize| {
            calls[at..]
                .strip_prefix(tool.as_str())
                .is_some_and(|rest| rest.starts_with('('))
        };
        let place = if begins(from) {
            Some(from)
        } else {
            calls[from..]
                .match_indices('\n')
                .map(|(at, _)| from + at + 1)
                .find(|at| begins(*at))
        };
        let Some(place) = place else { break };
        if let Some(last) = found.last_mut() {
            last.args = inside(calls, last.args, place);
        }
        from = place + tool.len() + 1;
        found.push(Call {
            id: Some(*id),
            tool: &calls[place..place + tool.len()],
            args: &calls[from..],
        });
        *named = ahead.clone();
    }
    if found.is_empty() {
        let (tool, args) = calls.split_once('(').unwrap_or((calls, ""));
        found.push(Call { id: None, tool, args });
    }
    for call in &mut found {
        call.args = call.args.trim_end_matches('\n');
        call.args = call.args.strip_suffix(')').unwrap_or(call.args);
    }
    found
}

/// The arguments that begin as these do, and end before another call.
fn inside<'a>(calls: &'a str, args: &'a str, end: usize) -> &'a str {
    let begin = calls.len() - args.len();
    &calls[begin..end.max(begin)]
}

/// The command of a call in a few words, without secrets: `cargo test`.
pub fn head(call: &Call<'_>) -> String {
    let args = start(call.args, LOOKED_AT);
    let command = value(args, "command")
        .or_else(|| value(args, "cmd"))
        .unwrap_or("");
    // A secret is known by what stands before it, and what stands in its place ends the words.
    let command = without_secrets(command);
    // What a shell is told first is often where to go.
    let command = command.rsplit("&& ").next().unwrap_or_default();
    let plain = |word: &&str| {
        let letter = |mark: char| mark.is_ascii_alphanumeric() || "._-/".contains(mark);
        word.len() <= 40 && word.chars().all(letter) && !word.starts_with('-')
    };
    let words: Vec<&str> = command.split_whitespace().take(2).take_while(plain).collect();
    words.join(" ")
}

/// The value of an argument.
fn value<'a>(args: &'a str, name: &str) -> Option<&'a str> {
    let at = args.match_indices(name).map(|(at, _)| at).find(|at| {
        let begins = *at == 0 || args[..*at].ends_with(", ");
        begins && args[at + name.len()..].starts_with('=')
    })?;
    let rest = &args[at + name.len() + 1..];
    let line = rest.lines().next().unwrap_or("");
    // The next argument: `, name=`.
    let end = line.match_indices(", ").map(|(at, _)| at).find(|at| {
        let next = &line[at + 2..];
        let name = next
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        name > 0 && next[name..].starts_with('=')
    });
    Some(line[..end.unwrap_or(line.len())].trim())
}

/// The files that a call is about.
pub fn files(call: &Call<'_>) -> Vec<(String, Touch)> {
    let args = start(call.args, LOOKED_AT);
    let mut found = Vec::new();
    for line in args.lines() {
        for (mark, touch) in PATCH {
            // The first line of a patch stands behind the name of its argument.
            if let Some((_, path)) = line.split_once(mark)
                && is_path(path.trim())
            {
                found.push((path.trim().to_owned(), touch));
            }
        }
    }
    if !found.is_empty() {
        return found;
    }
    let tool = call.tool.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    let touch = if has(&["write", "create"]) {
        Touch::Written
    } else if has(&["edit", "replace", "patch", "update", "insert"]) {
        Touch::Edited
    } else {
        Touch::Read
    };
    let named = PATHS.iter().find_map(|name| value(args, name));
    // `apply_patch(/a/b.rs={update=…})`
    let first = (touch == Touch::Edited)
        .then(|| args.split_once('=').map(|(path, _)| path))
        .flatten();
    for path in [named, first.filter(|path| path.contains('/'))]
        .into_iter()
        .flatten()
        .take(1)
    {
        if is_path(path) {
            found.push((path.to_owned(), touch));
        }
    }
    found
}

fn is_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= PATH
        && path != "."
        && path.contains(['/', '.', '\\'])
        && !path.contains(|mark: char| mark.is_control() || "<>\"`*?|".contains(mark))
        && !path.contains("://")
}

/// The addresses in a call, without what follows their path.
pub fn addresses(call: &Call<'_>) -> Vec<String> {
    struct Found(Vec<String>);
    impl<'t> Finds<'t> for Found {
        fn literal(&mut self, literal: &'t str, sort: Sort, _: usize) {
            if sort != Sort::Url || self.0.len() >= ADDRESSES || !literal.starts_with("http") {
                return;
            }
            let address = literal.split(['?', '#']).next().unwrap_or(literal);
            let address = clip(address, PATH);
            if !self.0.contains(&address) {
                self.0.push(address);
            }
        }
    }
    let mut found = Found(Vec::new());
    literal::scan(start(call.args, LOOKED_AT), &mut found);
    found.0
}
