//! What may a text be, by what is known of it and by how it looks?

use super::code::Language;
use super::json::tokens::is_json;
use super::lines::Text;
use super::listing::{Row, row};
use super::log::{Outcome, outcome};
use super::values::first_path;
use super::{Hints, Kind, matches, snapshot, table, trace};
use crate::text::{floor, start};

/// Lines from the start, and from the end, that are looked at.
const LINES: usize = 400;
/// Bytes from the start, and from the end, that are looked at.
const BYTES: usize = 65_536;
/// Bytes of a ref in which a path is looked for.
const REF: usize = 4_096;

/// What a text may be, the most likely first.
pub(super) fn kinds(text: &Text<'_>, hints: &Hints<'_>) -> Vec<Kind> {
    let seen = Seen::of(text);
    let mut kinds = Vec::new();
    let named = by_media(hints.content_type.unwrap_or_default());
    kinds.extend(named.filter(|kind| seen.fits(*kind, text)));
    kinds.extend(seen.kinds(text, hints));
    kinds
}

/// The language of a text that is taken for code.
pub(super) fn language(text: &Text<'_>, hints: &Hints<'_>) -> Language {
    path_of(text, hints)
        .and_then(|path| Language::of_path(&path))
        .or_else(|| {
            Language::of_lines(
                sample(text.all)
                    .0
                    .lines()
                    .take(LINES)
                    .map(|line| bare(text, line)),
            )
        })
        .unwrap_or(Language::Unknown)
}

/// A line without its written number.
fn bare<'t>(text: &Text<'_>, line: &'t str) -> &'t str {
    if !text.is_numbered() {
        return line;
    }
    line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit())
        .trim_start_matches(['\t', '→', ':', '|'])
}

/// The file that the text is of: from the ref where the tool reads one, or from what the tool wrote above the lines.
fn path_of(text: &Text<'_>, hints: &Hints<'_>) -> Option<String> {
    let first = text
        .all
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let above = [
        "[File: ",
        "File: ",
        "Here's the result of running",
        "==> ",
        "--- ",
    ]
    .iter()
    .any(|mark| first.starts_with(mark));
    let tool = hints.source_type.to_ascii_lowercase();
    let reads = ["read", "open", "view", "cat", "file", "fetch", "get"]
        .iter()
        .any(|word| tool.contains(word))
        || tool.is_empty();
    let from = start(hints.source_ref, REF);
    let command = ["cat ", "head ", "tail ", "sed -n", "nl ", "bat "]
        .iter()
        .any(|word| from.contains(word));
    let find = |line: &str| first_path(line).map(str::to_owned);
    let from_ref = (reads || command).then(|| find(from)).flatten();
    from_ref.or_else(|| above.then(|| find(start(first, REF))).flatten())
}

fn by_media(media: &str) -> Option<Kind> {
    let media = media.split(';').next().unwrap_or(media).trim();
    match media {
        "application/json" | "application/x-ndjson" | "application/jsonl" => Some(Kind::Json),
        "application/schema+json" => Some(Kind::Json),
        "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => Some(Kind::Html),
        "text/csv" | "text/tab-separated-values" => Some(Kind::Table),
        "text/markdown" => Some(Kind::Markdown),
        "text/x-diff" | "text/x-patch" => Some(Kind::Diff),
        _ => None,
    }
}

/// The start and the end of a text, at whole lines where there are any.
fn sample(text: &str) -> (&str, &str) {
    if text.len() <= 2 * BYTES {
        return (text, "");
    }
    let head = start(text, BYTES);
    let start = head.rfind('\n').map_or(head, |at| &head[..at]);
    let end = &text[floor(text, text.len() - BYTES)..];
    (start, end.find('\n').map_or(end, |at| &end[at + 1..]))
}

/// How many of the lines that are looked at look like what.
#[derive(Debug, Default)]
struct Seen {
    lines: usize,
    rows: usize,
    matches: usize,
    elements: usize,
    tags: usize,
    frames: usize,
    thrown: usize,
    totals: usize,
    tests: usize,
    errors: usize,
    levels: usize,
    headings: usize,
    marks: usize,
    hunks: usize,
    files: usize,
    json: usize,
    prose: usize,
    long: usize,
}

impl Seen {
    fn of(text: &Text<'_>) -> Self {
        let mut seen = Self::default();
        let (head, end) = sample(text.all);
        let mut fence = false;
        let tail = end.lines().rev().take(LINES);
        // The end of a short text counts as well: that is where runs tell how they went.
        let within = head.lines().skip(LINES).collect::<Vec<_>>();
        let within = within
            .into_iter()
            .rev()
            .take(if end.is_empty() { LINES } else { 0 });
        for line in head.lines().take(LINES).chain(within).chain(tail) {
            let line = start(line, 2_000);
            seen.take(bare(text, line), &mut fence);
        }
        seen
    }

    fn take(&mut self, line: &str, fence: &mut bool) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        self.lines += 1;
        self.long += usize::from(trimmed.len() > 400);
        if trimmed.starts_with("```") {
            *fence = !*fence;
            self.marks += 1;
        }
        self.rows += usize::from(matches!(row(line), Row::Entry(_) | Row::Folder(_)));
        self.matches += usize::from(matches::found(line).is_some());
        self.elements += usize::from(snapshot::element(line).is_some());
        self.tags += usize::from(
            trimmed.starts_with('<')
                && trimmed[1..]
                    .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
        );
        self.frames += usize::from(trace::frame(line).is_some());
        self.thrown += usize::from(
            trimmed.starts_with("Traceback (most recent call last)")
                || trimmed.contains(" panicked at ")
                || trace::exception(line).is_some(),
        );
        match outcome(line) {
            Some(Outcome::Total(_)) => self.totals += 1,
            Some(Outcome::Failed(_) | Outcome::Passed) => self.tests += 1,
            Some(Outcome::Error(_) | Outcome::Place(_) | Outcome::Warning | Outcome::Exit(_)) => {
                self.errors += 1
            }
            Some(Outcome::Level(_)) => self.levels += 1,
            _ => {}
        }
        let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
        let heading = !*fence && (1..=6).contains(&level) && trimmed[level..].starts_with(' ');
        self.headings += usize::from(heading);
        let item = trimmed.starts_with("- ")
            || trimmed.starts_with("* ")
            || trimmed.starts_with("| ")
            || trimmed.contains("**")
            || trimmed.contains("](");
        self.marks += usize::from(item);
        self.hunks += usize::from(line.starts_with("@@ -"));
        self.files += usize::from(line.starts_with("diff --git ") || line.starts_with("+++ "));
        self.json += usize::from(trimmed.starts_with('{') && trimmed.ends_with('}'));
        self.prose += usize::from(
            trimmed.len() > 30 && trimmed.matches(' ').count() > 5 && trimmed.ends_with(['.', '!', '?', ':']),
        );
    }

    /// Whether what was told to be of a kind looks at least a little like it.
    fn fits(&self, kind: Kind, text: &Text<'_>) -> bool {
        match kind {
            Kind::Json => is_json(text.all),
            Kind::Html => text.all.contains('<'),
            Kind::Diff => self.files > 0,
            _ => true,
        }
    }

    fn kinds(&self, text: &Text<'_>, hints: &Hints<'_>) -> Vec<Kind> {
        let lines = self.lines.max(1);
        let most = |count: usize, percent: usize| count * 100 >= lines * percent;
        let path = path_of(text, hints);
        let by_path = path.as_deref().map(super::words::extension).unwrap_or_default();
        let speaks = Language::of_lines(
            sample(text.all)
                .0
                .lines()
                .take(LINES)
                .map(|line| bare(text, line)),
        );
        let is_code = path
            .as_deref()
            .is_some_and(|path| Language::of_path(path).is_some());
        let runs = self.totals > 0
            && (self.tests > 0 || self.errors > 0 || most(self.totals, 10) || self.lines > 10);
        let is_markdown = matches!(by_path.as_str(), "md" | "markdown" | "mdx" | "rst");
        let browser = hints.source_type.contains("snapshot") || hints.source_type.contains("browser");
        let start = text.all.trim_start();
        let page = start
            .get(..9)
            .is_some_and(|start| start.eq_ignore_ascii_case("<!doctype"))
            || start.starts_with("<html");
        [
            (
                Kind::Json,
                !text.is_numbered() && (is_json(text.all) || most(self.json, 90)),
            ),
            (Kind::Markdown, is_markdown && self.headings + self.marks > 0),
            (
                Kind::Diff,
                self.hunks > 0 && self.files > 0 && !is_code && !is_markdown && self.tests < 6,
            ),
            (
                Kind::Snapshot,
                most(self.elements, 30) || (browser && self.elements > 3),
            ),
            (
                Kind::Html,
                page || most(self.tags, 40) || (browser && self.tags > 3) || by_path == "html",
            ),
            (Kind::Code, is_code),
            (Kind::Log, runs),
            (
                Kind::Trace,
                self.frames > 1
                    && self.thrown > 0
                    && (most(self.frames, 20) || start.starts_with("Traceback")),
            ),
            (Kind::Listing, most(self.rows, 60)),
            (Kind::Matches, most(self.matches, 60) && !text.is_numbered()),
            (Kind::Table, table::separator(text).is_some()),
            (Kind::Log, self.tests > 2 || most(self.levels + self.errors, 30)),
            (
                Kind::Markdown,
                self.headings > 0
                    && most(self.headings + self.marks, 15)
                    && (speaks.is_none() || most(self.prose, 10)),
            ),
            (Kind::Code, speaks.is_some()),
            (Kind::Log, self.errors > 0 && hints_run(hints)),
            (Kind::Trace, self.frames > 0 && self.thrown > 0),
            (Kind::Code, text.is_numbered()),
            (Kind::Log, self.errors > 2),
        ]
        .into_iter()
        .filter(|(_, fits)| *fits)
        .map(|(kind, _)| kind)
        .collect()
    }
}

/// Whether the tool runs programs.
fn hints_run(hints: &Hints<'_>) -> bool {
    let tool = hints.source_type.to_ascii_lowercase();
    ["exec", "bash", "shell", "run", "terminal", "command"]
        .iter()
        .any(|word| tool.contains(word))
}
