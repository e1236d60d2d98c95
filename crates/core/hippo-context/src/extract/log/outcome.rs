//! Information in one line of a build or test log.

use crate::extract::trace;
use hippo_text::text::start;

/// Number of bytes at the start of a line that are examined.
const LINE: usize = 2_000;

/// Information in a line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) enum LogLineInfo<'t> {
    /// Numbers of passed and failed tests.
    Total(String),
    /// Start of the final list of failures, which replaces earlier ones.
    Summary,
    /// A failed test.
    Failed(&'t str),
    /// A passed test.
    Passed,
    /// An error message.
    Error(&'t str),
    /// Location of an error: `path:line`.
    Place(String),
    /// A warning.
    Warning,
    /// The exit code of a program.
    Exit(&'t str),
    /// The duration of the run.
    Took(String),
    /// The level in a log line of a service.
    Level(&'static str),
}

/// Returns the information in a line of a log, or `None` if there is none.
pub(in crate::extract) fn outcome(line: &str) -> Option<LogLineInfo<'_>> {
    let line = start(line, LINE);
    let text = line.trim();
    if text.is_empty() {
        return None;
    }
    if text.contains('=') && text.contains("= short test summary info =") {
        return Some(LogLineInfo::Summary);
    }
    total(text)
        .or_else(|| test(text))
        .or_else(|| compiler(text))
        .or_else(|| ending(text))
        .or_else(|| service(text))
        .or_else(|| error(line, text))
}

/// Parses the totals of test runners.
fn total(text: &str) -> Option<LogLineInfo<'_>> {
    let bare = text.trim_matches(['=', ' ', '-', '_']);
    let counted = |word: &str| {
        bare.match_indices(word).any(|(at, _)| {
            let before = bare[..at].trim_end();
            before.len() < at && before.ends_with(|c: char| c.is_ascii_digit())
        })
    };
    // pytest, cargo, jest, vitest, mocha, sympy
    let words = ["passed", "failed", "passing", "failing"];
    if bare.len() < 200 && words.into_iter().any(counted) {
        let bare = bare.strip_prefix("test result: ").unwrap_or(bare);
        let bare = bare.split("; 0 ignored").next().unwrap_or(bare);
        let took = text.split_once("finished in ");
        let took = took.filter(|_| !bare.contains("finished in"));
        let took = took.map_or(String::new(), |(_, took)| format!(" in {took}"));
        let bare = bare.trim_end_matches([',', ';']);
        return Some(LogLineInfo::Total(format!("{bare}{took}")));
    }
    // unittest: `Ran 157 tests in 1.893s` and `FAILED (failures=2)`
    let starts = |marks: [&str; 2]| marks.iter().any(|mark| bare.starts_with(mark));
    let is_total = bare.starts_with("Ran ") && bare.contains(" test")
        || starts(["FAILED (", "OK ("]) && bare.contains('=')
        || starts(["BUILD SUCCESS", "BUILD FAIL"]);
    is_total.then(|| LogLineInfo::Total(bare.to_owned()))
}

/// Parses the result of one test.
fn test(text: &str) -> Option<LogLineInfo<'_>> {
    // pytest: `FAILED path::name - words`
    for mark in ["FAILED ", "ERROR "] {
        if let Some(rest) = text.strip_prefix(mark).filter(|rest| is_test(rest)) {
            let name = rest.split(" - ").next().unwrap_or(rest);
            return Some(LogLineInfo::Failed(name.trim()));
        }
    }
    // unittest: `FAIL: name (module.Class)`
    for mark in ["FAIL: ", "ERROR: "] {
        if let Some(rest) = text.strip_prefix(mark) {
            return (rest.contains('(') && rest.ends_with(')') && rest.starts_with("test"))
                .then_some(LogLineInfo::Failed(rest));
        }
    }
    if text.starts_with("--- PASS: ") || text.starts_with("PASSED ") {
        return Some(LogLineInfo::Passed);
    }
    // cargo: `test name ... FAILED`
    let cargo = text.strip_prefix("test ");
    if let Some((name, how)) = cargo.and_then(|rest| rest.rsplit_once(" ... ")) {
        return Some(match how.starts_with("FAILED") {
            true => LogLineInfo::Failed(name),
            false => LogLineInfo::Passed,
        });
    }
    // go: `--- FAIL: Name (0.00s)`; jest: `FAIL path`, `● suite › name`, `✕ name`
    for mark in ["--- FAIL: ", "✕ ", "✗ ", "× ", "● "] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some(LogLineInfo::Failed(rest.split(" (").next().unwrap_or(rest)));
        }
    }
    if let Some(path) = text.strip_prefix("FAIL ").map(str::trim) {
        return path.contains(['/', '.']).then_some(LogLineInfo::Failed(path));
    }
    if text.starts_with("✓ ") || text.starts_with("✔ ") || text.ends_with(" ... ok") {
        return Some(LogLineInfo::Passed);
    }
    // unittest -v: `name (module.Class) ... FAIL`; lines with a description instead of the name are ignored
    let (name, how) = text.rsplit_once(" ... ")?;
    let failed = matches!(how, "FAIL" | "ERROR") && name.ends_with(')');
    failed.then_some(LogLineInfo::Failed(name))
}

/// Returns true if the first word is `path::name` or a path, as pytest writes it.
fn is_test(rest: &str) -> bool {
    let word = rest.split(' ').next().unwrap_or_default();
    word.contains("::") || word.ends_with(".py")
}

/// Parses errors and warnings of compilers.
fn compiler(text: &str) -> Option<LogLineInfo<'_>> {
    if let Some(rest) = text.strip_prefix("error") {
        return (rest.starts_with(": ") || rest.starts_with('[')).then_some(LogLineInfo::Error(text));
    }
    let arrow = text.strip_prefix("--> ");
    if let Some(place) = arrow.filter(|place| trace::place_of(place).is_some()) {
        return Some(LogLineInfo::Place(trace::shorter(place)));
    }
    let lower = text.get(..8).unwrap_or_default().to_ascii_lowercase();
    if lower.starts_with("warning:") || lower.starts_with("warning[") || lower.starts_with("warn ") {
        return Some(LogLineInfo::Warning);
    }
    // tsc: `a.ts(5,15): error TS2305: …`; gcc: `a.c:1:2: error: …`; pytest: `a.py:400: AttributeError`
    let told = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    if told(&[": error ", ": error: ", ": fatal error: "]) {
        return Some(LogLineInfo::Error(text));
    }
    if told(&[": warning: ", ": warning ", "Warning: "]) {
        return Some(LogLineInfo::Warning);
    }
    let (place, words) = text.rsplit_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
    let found = trace::place_of(place).filter(|_| {
        !place.contains(' ')
            && (words.is_empty()
                || trace::exception(words).is_some()
                || words.starts_with("in ")
                || words.starts_with("Assertion"))
    });
    let (path, line) = found?;
    path.contains('.')
        .then(|| LogLineInfo::Place(format!("{path}:{line}")))
}

/// Parses the exit code of a program, or its duration.
fn ending(text: &str) -> Option<LogLineInfo<'_>> {
    #[rustfmt::skip] // keep the list compact
    let marks = [
        "exited with code ", "exit code: ", "exit code ", "exit status ", "Exit code: ", "Exit code ",
    ];
    for mark in marks {
        if let Some((_, rest)) = text.split_once(mark) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            return (digits > 0).then(|| LogLineInfo::Exit(&rest[..digits]));
        }
    }
    let starts = ["Finished ", "real\t", "Done in ", "Duration "];
    if starts.iter().any(|start| text.starts_with(start)) {
        let took = text.rsplit([' ', '\t']).next().unwrap_or(text);
        let is_time = took.starts_with(|c: char| c.is_ascii_digit());
        return is_time.then(|| LogLineInfo::Took(took.to_owned()));
    }
    None
}

/// Parses a line of a service's log.
fn service(text: &str) -> Option<LogLineInfo<'_>> {
    let head = start(text, 80);
    if !head.starts_with(|c: char| c.is_ascii_digit() || c == '[') {
        return None;
    }
    const LEVELS: [&str; 4] = ["warn", "info", "debug", "trace"];
    // If a line contains several levels, the one that is first in `LEVELS` counts.
    let mut level = LEVELS.len();
    for word in head.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
        let own = match word {
            b"ERROR" | b"FATAL" | b"CRITICAL" => return Some(LogLineInfo::Error(text)),
            b"error" if head.starts_with('[') => return Some(LogLineInfo::Error(text)),
            b"WARN" | b"WARNING" => 0,
            b"INFO" => 1,
            b"DEBUG" => 2,
            b"TRACE" => 3,
            _ => continue,
        };
        level = level.min(own);
    }
    LEVELS.get(level).copied().map(LogLineInfo::Level)
}

/// Parses an error message in prose.
fn error<'t>(line: &'t str, text: &'t str) -> Option<LogLineInfo<'t>> {
    if let Some(words) = text.strip_prefix("E  ") {
        return Some(LogLineInfo::Error(words.trim_start()));
    }
    if line.starts_with("    ") && !text.starts_with("Error") {
        return None;
    }
    if let Some((name, _)) = trace::exception(text) {
        return (name != "panic" || text.contains("panicked")).then_some(LogLineInfo::Error(text));
    }
    #[rustfmt::skip] // keep the list compact
    const MARKS: [&str; 14] = [
        "Error: ", "ERROR: ", "ERROR ", "fatal: ", "FATAL ", "npm ERR! ", "npm error ", "Fatal error: ",
        "make: *** ", "CMake Error", "AssertionError", "Segmentation fault", "error TS", "ld: ",
    ];
    let begins = MARKS.iter().any(|mark| text.starts_with(mark)) || text.ends_with("command not found");
    let missing = text.contains("No such file or directory") || text.contains("Permission denied");
    (begins || missing).then_some(LogLineInfo::Error(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_common_test_runners_are_recognised() {
        use LogLineInfo::{Error, Exit, Failed, Level, Passed, Place, Took, Total, Warning};
        let total = |text: &str| Some(Total(text.to_owned()));
        for (line, expected) in [
            (
                "===== 1 failed, 80 passed in 2.53s =====",
                total("1 failed, 80 passed in 2.53s"),
            ),
            (
                "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; finished in 0.02s",
                total("FAILED. 3 passed; 1 failed in 0.02s"),
            ),
            ("Ran 12 tests in 0.5s", total("Ran 12 tests in 0.5s")),
            ("FAILED (failures=2)", total("FAILED (failures=2)")),
            (
                "Tests:  1 failed, 4 passed, 5 total",
                total("Tests:  1 failed, 4 passed, 5 total"),
            ),
            (
                "FAILED tests/test_a.py::TestX::test_y - assert 1",
                Some(Failed("tests/test_a.py::TestX::test_y")),
            ),
            (
                "FAIL: test_more (shop.tests.CartTests)",
                Some(Failed("test_more (shop.tests.CartTests)")),
            ),
            ("--- FAIL: TestParse (0.00s)", Some(Failed("TestParse"))),
            ("test engine::opens ... FAILED", Some(Failed("engine::opens"))),
            ("test engine::closes ... ok", Some(Passed)),
            (
                "error[E0308]: mismatched types",
                Some(Error("error[E0308]: mismatched types")),
            ),
            ("   --> src/lib.rs:12:5", Some(Place("src/lib.rs:12".to_owned()))),
            (
                "a/b.ts(5,15): error TS2305: no member",
                Some(Error("a/b.ts(5,15): error TS2305: no member")),
            ),
            ("warning: unused variable: `x`", Some(Warning)),
            (
                "lib/scales.py:400: AttributeError",
                Some(Place("lib/scales.py:400".to_owned())),
            ),
            (
                "E       ValueError: too small",
                Some(Error("ValueError: too small")),
            ),
            ("Command exited with code 101", Some(Exit("101"))),
            (
                "    Finished `dev` profile in 3.21s",
                Some(Took("3.21s".to_owned())),
            ),
            ("2026-01-02T10:00:00Z INFO started", Some(Level("info"))),
            (
                "2026-01-02T10:00:00Z ERROR lost",
                Some(Error("2026-01-02T10:00:00Z ERROR lost")),
            ),
            ("cp: Permission denied", Some(Error("cp: Permission denied"))),
            ("Everything is fine.", None),
        ] {
            assert_eq!(outcome(line), expected, "{line}");
        }
    }
}
