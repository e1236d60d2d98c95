//! Which line of a tool's answer tells of an error?

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::text::start;

/// How lines begin that tell of an error.
const MARKS: [&str; 10] = [
    "error:",
    "error[",
    "Error:",
    "ERROR:",
    "Exception:",
    "panicked at",
    "fatal:",
    "FAILED",
    "Traceback",
    "ERR!",
];
/// Bytes of an error that are shown.
const SHOWN: usize = 160;
/// Bytes of an answer that are searched for one.
const SEARCHED: usize = 64 << 10;

/// The first line that tells of an error. Of a tool that failed it may stand anywhere in its line, and is the first line at
/// least; of another one a line has to begin with it: what a tool shows of a file tells of errors as well.
pub fn first(text: &str, failed: bool) -> Option<&str> {
    whole(text, failed).map(|line| start(line, SHOWN).trim())
}

/// The same line to its end: a secret that is cut is not known as one.
pub fn whole(text: &str, failed: bool) -> Option<&str> {
    let text = start(text, SEARCHED);
    let at = if failed {
        let found = ANYWHERE.as_ref().and_then(|marks| marks.find(text));
        found.map_or(text.len() - text.trim_start().len(), |found| found.start())
    } else {
        begins(text)?
    };
    let from = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[from..].lines().next()?.trim();
    let line = if line.len() > SHOWN { &text[at..] } else { line };
    let line = line.lines().next()?.trim();
    (!line.is_empty()).then_some(line)
}

/// Where the first line begins that begins with a mark.
fn begins(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
    std::iter::once(0).chain(ends).find(|&at| {
        let first = bytes.get(at).copied().unwrap_or(0);
        FIRSTS[usize::from(first)] && MARKS.iter().any(|mark| bytes[at..].starts_with(mark.as_bytes()))
    })
}

/// The bytes that marks begin with.
const FIRSTS: [bool; 256] = {
    let mut firsts = [false; 256];
    let mut mark = 0;
    while mark < MARKS.len() {
        firsts[MARKS[mark].as_bytes()[0] as usize] = true;
        mark += 1;
    }
    firsts
};

/// `None` would be a fault of the marks; they are constants.
static ANYWHERE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(MARKS)
        .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_did_not_fail_tells_of_an_error_at_the_beginning_of_a_line() {
        let table = [
            (
                "ok\nerror: no such file\nmore",
                false,
                Some("error: no such file"),
            ),
            (
                "error[E0308]: mismatched types",
                false,
                Some("error[E0308]: mismatched types"),
            ),
            ("  1\t// an error: is told\n  2\tlet x = 1;", false, None),
            ("all tests passed, none FAILED", false, None),
            (
                "all tests passed, none FAILED",
                true,
                Some("all tests passed, none FAILED"),
            ),
            ("\nbad luck\nmore", true, Some("bad luck")),
            ("one\nsh: fatal: two\nthree", true, Some("sh: fatal: two")),
            ("", true, None),
        ];
        for (text, failed, expected) in table {
            assert_eq!(first(text, failed), expected, "{text}");
        }
        let long = format!("{}error: here", "x".repeat(SHOWN));
        assert_eq!(first(&long, true), Some("error: here"));
    }
}
