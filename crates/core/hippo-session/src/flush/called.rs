//! Files, URLs and commands in tool calls.

use crate::compaction::read::RecordedCall;
use hippo_redact::without_secrets;
use hippo_text::literal::{self, LiteralKind, LiteralVisitor};
use hippo_text::text::clip;

/// Maximum length of a path in bytes.
const PATH: usize = 200;
/// Maximum number of URLs that are kept of one tool call.
const ADDRESSES: usize = 3;
/// Beginnings of patch lines that name a file, with the kind of access to the file.
const PATCH: [(&str, FileAccess); 4] = [
    ("*** Update File: ", FileAccess::Edited),
    ("*** Add File: ", FileAccess::Written),
    ("*** Delete File: ", FileAccess::Deleted),
    ("*** Move to: ", FileAccess::Written),
];

/// Kind of access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileAccess {
    /// Read only.
    Read,
    /// Modified.
    Edited,
    /// Created or replaced.
    Written,
    /// Deleted.
    Deleted,
}

impl FileAccess {
    /// Returns the name used in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edited => "edited",
            Self::Written => "written",
            Self::Deleted => "deleted",
        }
    }
}

/// Returns at most the first two words of a shell command, such as `cargo test`, without secrets.
pub fn command_head(command: &str) -> String {
    // The whole line is redacted first, because redaction needs the text before a secret. The result ends before the
    // text that replaces a secret.
    let command = without_secrets(command.lines().next().unwrap_or_default());
    // Of several commands joined by `&&`, take the last, because the first is often `cd`.
    let command = command.rsplit("&& ").next().unwrap_or_default();
    let plain = |word: &&str| {
        let letter = |mark: char| mark.is_ascii_alphanumeric() || "._-/".contains(mark);
        word.len() <= 40 && word.chars().all(letter) && !word.starts_with('-')
    };
    let words: Vec<&str> = command.split_whitespace().take(2).take_while(plain).collect();
    words.join(" ")
}

/// Returns the files that a tool call names, with the kind of access to each file.
pub fn touched_files(call: &RecordedCall) -> Vec<(String, FileAccess)> {
    let mut found = Vec::new();
    for line in call.args.lines() {
        for (mark, touch) in PATCH {
            // The first line of a patch has the argument's name in front, so the mark may be in the middle of the line.
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
        FileAccess::Written
    } else if has(&["edit", "replace", "patch", "update", "insert"]) {
        FileAccess::Edited
    } else {
        FileAccess::Read
    };
    let named = Some(call.path.as_str()).filter(|path| !path.is_empty());
    // Some calls use the path as the name of an argument: `apply_patch(/a/b.rs={update=…})`.
    let first = call.args.split_once('=').map(|(path, _)| path);
    let first = first.filter(|path| touch == FileAccess::Edited && path.contains('/'));
    if let Some(path) = named.or(first)
        && is_path(path)
    {
        found.push((path.to_owned(), touch));
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

/// Returns the URLs in the arguments of a call, without query and fragment.
pub fn called_urls(call: &RecordedCall) -> Vec<String> {
    struct UrlCollector(Vec<String>);
    impl<'t> LiteralVisitor<'t> for UrlCollector {
        fn literal(&mut self, literal: &'t str, sort: LiteralKind, _: usize) {
            if sort != LiteralKind::Url || self.0.len() >= ADDRESSES || !literal.starts_with("http") {
                return;
            }
            let address = literal.split(['?', '#']).next().unwrap_or(literal);
            let address = clip(address, PATH);
            if !self.0.contains(&address) {
                self.0.push(address);
            }
        }
    }
    let mut found = UrlCollector(Vec::new());
    literal::scan(&call.args, &mut found);
    found.0
}
