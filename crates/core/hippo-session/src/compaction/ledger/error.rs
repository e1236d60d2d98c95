//! Detection of the error line in a tool result.

use hippo_text::text::start;

/// Markers of a line that reports an error.
#[rustfmt::skip] // keep the list compact
const MARKS: [&str; 10] = [
    "error:", "error[", "Error:", "ERROR:", "Exception:", "panicked at", "fatal:", "FAILED", "Traceback",
    "ERR!",
];
/// Maximum bytes of a displayed error.
const SHOWN: usize = 160;
/// Number of bytes of a tool result that are searched for an error.
const SEARCHED: usize = 64 << 10;

/// Returns the first line that reports an error, shortened for display. If the tool failed, the marker may be anywhere
/// in the line, and without a marker the first line counts. If the tool succeeded, the line must start with the marker,
/// because file contents mention errors too.
pub fn find_error(text: &str, failed: bool) -> Option<&str> {
    find_error_line(text, failed).map(|line| start(line, SHOWN).trim())
}

/// Returns the first line that reports an error, not shortened. Redact this line before it is shortened, because
/// redaction does not recognise a secret that was cut.
pub fn find_error_line(text: &str, failed: bool) -> Option<&str> {
    let text = start(text, SEARCHED);
    let at = if failed {
        let marked = MARKS.iter().filter_map(|mark| text.find(mark)).min();
        marked.unwrap_or(text.len() - text.trim_start().len())
    } else {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1));
        let begins = |at: &usize| MARKS.iter().any(|mark| text[*at..].starts_with(mark));
        starts.into_iter().find(begins)?
    };
    let from = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[from..].lines().next()?.trim();
    let line = if line.len() > SHOWN { &text[at..] } else { line };
    let line = line.lines().next()?.trim();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successful_tool_reports_an_error_only_at_the_start_of_a_line() {
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
            assert_eq!(find_error(text, failed), expected, "{text}");
        }
        let long = format!("{}error: here", "x".repeat(SHOWN));
        assert_eq!(find_error(&long, true), Some("error: here"));
    }
}
