//! Detection of the error line in a tool result.

use hippo_text::gist::machine::is_printed;
use hippo_text::text::{end, start};

/// Markers of a line that reports an error.
#[rustfmt::skip] // keep the list compact
const MARKS: [&str; 11] = [
    "error:", "error[", "error TS", "Error:", "ERROR:", "Exception:", "panicked at", "fatal:", "FAILED", "Traceback",
    "ERR!",
];
/// Words, in lower case, of a line that probably reports the error of a failed tool.
const WORDS: [&str; 6] = ["error", "fatal", "failed", "not found", "denied", "no such"];
/// Beginnings of lines that do not say what failed.
#[rustfmt::skip] // keep the list compact
const NOISE: [&str; 9] = [
    "Traceback", "On branch ", "Debugger ", "Waiting for the debugger", "<tool_use_error>", "</tool_use_error>",
    "Exit code ", "exit status", "Command exited with",
];
/// Maximum bytes of a displayed error.
const SHOWN: usize = 160;
/// Number of bytes of a tool result that are searched for an error.
const SEARCHED: usize = 64 << 10;

/// Returns the line that reports an error, shortened for display.
pub fn find_error(text: &str, failed: bool) -> Option<&str> {
    find_error_line(text, failed).map(|line| start(line, SHOWN).trim())
}

/// Returns the line that reports an error, not shortened. Redact this line before it is shortened, because redaction
/// does not recognise a secret that was cut.
///
/// If the tool succeeded, this is the first line that starts with a marker, because file contents mention errors too.
/// If the tool failed, it is the first line with a marker, or else the last line with one of the [`WORDS`], or else the
/// last line that is not progress. A commit without changes is not an error.
pub fn find_error_line<'t>(whole: &'t str, failed: bool) -> Option<&'t str> {
    let (text, last) = (start(whole, SEARCHED), end(whole, SEARCHED));
    if !failed {
        let begins = |line: &&str| MARKS.iter().any(|mark| line.starts_with(mark));
        return text.lines().find(begins).map(str::trim);
    }
    let is_noise = |line: &str| {
        let script = line.starts_with("> ") && line.contains('@');
        script || NOISE.iter().any(|noise| line.starts_with(noise))
    };
    let of = |text: &'t str| text.lines().map(str::trim).filter(|line| !line.is_empty());
    let marked = of(text)
        .filter(|line| !is_noise(line))
        .find_map(|line| show_from(line, line, &MARKS));
    // Long outputs of failed commands end with the reason.
    let lines = || of(last);
    let telling = || lines().filter(|line| !is_noise(line));
    let worded = |line| show_from(line, &line.to_ascii_lowercase(), &WORDS);
    let found = marked.or_else(|| telling().rev().find_map(worded));
    if found.is_none() && text.contains("nothing to commit") {
        return None;
    }
    let says = |line: &&str| line.contains(char::is_alphabetic) && !is_printed(line);
    let found = found.or_else(|| telling().rfind(says));
    found
        .or_else(|| lines().rfind(says))
        .or_else(|| lines().next_back())
}

/// Returns the line if `seen` contains one of the words, a long line from that word on.
fn show_from<'t>(line: &'t str, seen: &str, words: &[&str]) -> Option<&'t str> {
    let at = words.iter().filter_map(|word| seen.find(word)).min()?;
    Some(if line.len() > SHOWN { &line[at..] } else { line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_tool_is_quoted_without_progress_and_status_lines() {
        let table = [
            (
                "  % Total    % Received % Xferd  Average Speed\n100  66M    0  66M\nunzip: cannot find pump.zip",
                "unzip: cannot find pump.zip",
            ),
            (
                "> pump@0.1.0 build\n> tsc\n\nsrc/pump.ts(3,1): error TS2769: no overload\nsrc/pump.ts(9,1): error TS2304: no name",
                "src/pump.ts(3,1): error TS2769: no overload",
            ),
            (
                "Debugger attached.\ncp: pump.json: No such file or directory\nWaiting for the debugger to disconnect...\n\n\nCommand exited with code 1",
                "cp: pump.json: No such file or directory",
            ),
            (
                "Exit code 1\nTraceback (most recent call last):\n  File \"pump.py\", line 3, in <module>\nKeyError: 'valve'",
                "KeyError: 'valve'",
            ),
            (
                "1 of 2 checks failed\n2 of 3 checks Failed\nbye",
                "2 of 3 checks Failed",
            ),
            ("\n\nCommand exited with code 1", "Command exited with code 1"),
        ];
        for (text, expected) in table {
            assert_eq!(find_error(text, true), Some(expected), "{text}");
        }
        let clean = "Exit code 1\nOn branch master\nnothing to commit, working tree clean";
        assert_eq!(find_error(clean, true), None);
        let refused = "pre-commit: denied\nOn branch master\nnothing to commit, working tree clean";
        assert_eq!(find_error(refused, true), Some("pre-commit: denied"));
    }

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
            ("\nbad luck\nworse luck\n\n", true, Some("worse luck")),
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
