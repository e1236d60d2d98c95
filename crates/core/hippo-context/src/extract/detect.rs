//! Detection of the kind of a text.

use super::json::tokens::is_json;
use super::lines::{NumberedText, parse_numbered};
use super::log::{LogLineInfo, outcome};
use super::{ContentKind, Hints, snapshot, trace};
use hippo_text::text::start;

/// Maximum number of lines examined at each end of a text.
const LINES: usize = 400;
/// Maximum number of bytes examined at each end of a text.
const BYTES: usize = 65_536;
/// Returns the possible kinds of a text, the most likely kind first.
pub(super) fn kinds(text: &NumberedText<'_>, hints: &Hints<'_>) -> Vec<ContentKind> {
    LineCounts::of(text).kinds(text, hints)
}

/// Returns the start and the end of a text, cut at line ends where possible.
fn sample(text: &str) -> (&str, &str) {
    if text.len() <= 2 * BYTES {
        return (text, "");
    }
    let head = start(text, BYTES);
    let start = head.rfind('\n').map_or(head, |at| &head[..at]);
    let end = &text[text.floor_char_boundary(text.len() - BYTES)..];
    (start, end.find('\n').map_or(end, |at| &end[at + 1..]))
}

/// Number of examined lines of each form, such as stack frames and test results.
#[derive(Debug, Default)]
struct LineCounts {
    lines: usize,
    elements: usize,
    frames: usize,
    thrown: usize,
    totals: usize,
    tests: usize,
    errors: usize,
    levels: usize,
    hunks: usize,
    files: usize,
    /// Lines that begin like the lines of a diff.
    changes: usize,
    json: usize,
}

impl LineCounts {
    fn of(text: &NumberedText<'_>) -> Self {
        let mut seen = Self::default();
        let (head, end) = sample(text.all);
        let tail = end.lines().rev().take(LINES);
        // Examine the end of a short text as well, because test runs print their results at the end.
        let within = head.lines().skip(LINES).collect::<Vec<_>>().into_iter();
        let within = within.rev().take(if end.is_empty() { LINES } else { 0 });
        for line in head.lines().take(LINES).chain(within).chain(tail) {
            let line = start(line, 2_000);
            let numbered = parse_numbered(line).filter(|_| text.is_numbered());
            seen.take(numbered.map_or(line, |(_, text)| text));
        }
        seen
    }

    fn take(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        self.lines += 1;
        self.elements += usize::from(snapshot::element(line).is_some());
        self.frames += usize::from(trace::frame(line).is_some());
        self.thrown += usize::from(
            trimmed.starts_with("Traceback (most recent call last)")
                || trimmed.contains(" panicked at ")
                || trace::exception(line).is_some(),
        );
        match outcome(line) {
            Some(LogLineInfo::Total(_)) => self.totals += 1,
            Some(LogLineInfo::Failed(_) | LogLineInfo::Passed) => self.tests += 1,
            Some(LogLineInfo::Level(_)) => self.levels += 1,
            Some(LogLineInfo::Summary | LogLineInfo::Took(_)) | None => {}
            Some(_) => self.errors += 1,
        }
        self.hunks += usize::from(line.starts_with("@@ -"));
        self.files += usize::from(line.starts_with("diff --git ") || line.starts_with("+++ "));
        self.changes += usize::from(line.starts_with(['+', '-', '@', ' ', '\\']));
        self.json += usize::from(trimmed.starts_with('{') && trimmed.ends_with('}'));
    }

    fn kinds(&self, text: &NumberedText<'_>, hints: &Hints<'_>) -> Vec<ContentKind> {
        let lines = self.lines.max(1);
        let most = |count: usize, percent: usize| count * 100 >= lines * percent;
        let runs = self.totals > 0
            && (self.tests > 0 || self.errors > 0 || most(self.totals, 10) || self.lines > 10);
        let browser = hints.source_type.contains("snapshot") || hints.source_type.contains("browser");
        let json = !text.is_numbered() && (is_json(text.all) || most(self.json, 90));
        // Documents and source files may quote a diff, so most lines must look like a diff.
        let diff = self.hunks > 0 && self.files > 0 && most(self.changes, 60) && self.tests < 6;
        let page = most(self.elements, 30) || (browser && self.elements > 3);
        let traced = self.frames > 0 && self.thrown > 0;
        let python = text.all.trim_start().starts_with("Traceback");
        let trace = traced && self.frames > 1 && (most(self.frames, 20) || python);
        let log = self.tests > 2 || most(self.levels + self.errors, 30);
        let kinds = [
            (ContentKind::Json, json),
            (ContentKind::Diff, diff),
            (ContentKind::Snapshot, page),
            (ContentKind::Log, runs),
            (ContentKind::Trace, trace),
            (ContentKind::Log, log),
            (ContentKind::Log, self.errors > 0 && hints_run(hints)),
            (ContentKind::Trace, traced),
            (ContentKind::Log, self.errors > 2),
        ];
        let fitting = kinds.into_iter().filter(|(_, fits)| *fits);
        fitting.map(|(kind, _)| kind).collect()
    }
}

/// Returns true if the tool that produced the text runs programs.
fn hints_run(hints: &Hints<'_>) -> bool {
    let tool = hints.source_type.to_ascii_lowercase();
    let words = ["exec", "bash", "shell", "run", "terminal", "command"];
    words.iter().any(|word| tool.contains(word))
}
