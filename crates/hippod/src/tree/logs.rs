//! Daily logs with unusual names or content, for `doctor`.

use std::collections::BTreeMap;
use std::path::Path;

use hippo_proto::Severity;
use hippo_text::source::{SourceKind, date_in_name};
use hippo_types::time::{Date, is_far_ahead};

use super::Trees;
use super::examine::Examination;
use crate::clock::date_in;
use crate::view::WorkspaceView;

/// Maximum number of files that one problem lists by name.
const NAMED: usize = 5;

/// Examines the indexed logs of a workspace.
pub fn examine(trees: &Trees, view: &WorkspaceView) -> Examination {
    let snapshot = view.snapshot();
    let documents = snapshot.corpus.documents();
    let paths: Vec<String> = documents.map(|(_, document)| document.path.to_string()).collect();
    drop(snapshot);
    let today = date_in(trees.clock.now(), &view.zone(&*trees.clock));
    look(&view.root, paths, today, view.config.sources.max_file_bytes)
}

fn look(root: &Path, mut paths: Vec<String>, today: Date, limit: u64) -> Examination {
    paths.sort();
    let mut found = Examination::default();
    let (logs, others): (Vec<&String>, Vec<&String>) = paths
        .iter()
        .partition(|path| SourceKind::from_path(path) == SourceKind::DailyLog);
    let mut days: BTreeMap<Date, Vec<&String>> = BTreeMap::new();
    for log in &logs {
        if let Some(date) = date_in_name(log) {
            days.entry(date).or_default().push(log);
        }
    }
    let nowhere = others.into_iter().filter(|path| has_no_such_day(path)).collect();
    found.several(
        root,
        ("log-date", Severity::Warning),
        nowhere,
        "the name contains an invalid date: the file is searched like any other file, but is not part of the tree",
        "rename the file to the date of its content",
    );
    let ahead = days.iter().filter(|(date, _)| is_far_ahead(today, **date));
    found.several(
        root,
        ("log-ahead", Severity::Warning),
        ahead.flat_map(|(_, logs)| logs.iter().copied()).collect(),
        "the date in the name is a month or more in the future: until that date, the node of the day stays \
         tentative, and its topics in ROOT.md have no age",
        "if the date is wrong, rename the file to the date of its content",
    );
    let is_text = |log: &&String| {
        // An unreadable log is reported by another check.
        hippo_fs::read_source(root, log, limit).map_or(true, |bytes| std::str::from_utf8(&bytes).is_ok())
    };
    found.several(
        root,
        ("log-bytes", Severity::Warning),
        logs.iter().copied().filter(|log| !is_text(log)).collect(),
        "is not valid UTF-8: nodes and search results show invalid bytes as \u{fffd}; the log is not changed",
        "save it as UTF-8, for instance with iconv",
    );
    let double = days.values().filter(|logs| logs.len() > 1);
    found.several(
        root,
        ("log-double", Severity::Info),
        double.flatten().copied().collect(),
        "has the same date as another log: the node of that day contains all logs of the day, sorted by path",
        "no action is necessary",
    );
    let (logs, days) = (logs.len(), days.len());
    found.detail = (logs > 0).then(|| format!("{}: {logs} logs for {days} days", root.display()));
    found
}

impl Examination {
    /// Adds one problem for several files.
    fn several(
        &mut self,
        root: &Path,
        (id, severity): (&str, Severity),
        paths: Vec<&String>,
        what: &str,
        fix: &str,
    ) {
        let Some(first) = paths.first() else { return };
        let named: Vec<&str> = paths.iter().take(NAMED).map(|path| path.as_str()).collect();
        let more = match paths.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = format!("{}{more}: {what}", named.join(", "));
        self.add(id, severity, what, &root.join(first), fix);
    }
}

/// Returns whether a file below `memory/` is named after a date that does not exist, such as `2026-13-45`.
fn has_no_such_day(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).as_bytes();
    let digits = |from: usize, to: usize| {
        let part = name.get(from..to);
        part.is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let mark = |at: usize| name.get(at).filter(|mark| matches!(mark, b'-' | b'_'));
    path.starts_with("memory/")
        && SourceKind::from_path(path) == SourceKind::Other
        && digits(0, 4)
        && digits(5, 7)
        && digits(8, 10)
        && mark(4).is_some()
        && mark(4) == mark(7)
        && name.get(10).is_none_or(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_logs_are_reported_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("memory/daily")).unwrap();
        let files: [(&str, &[u8]); 9] = [
            ("memory/2026-13-45.md", b"- a"),
            ("memory/2062-01-01.md", b"- a"),
            ("memory/2026-04-19.md", b"- a"),
            ("memory/2026-03-18.md", b"- a"),
            ("memory/2026-03-18-evening.md", b"- caf\xe9"),
            ("memory/daily/2026-03-18.md", b"- \xff"),
            ("memory/2026-1-1.md", b"- a"),
            ("memory/notes.md", b"- a\xff"),
            ("knowledge/2026-13-45.md", b"- a"),
        ];
        for (path, bytes) in files {
            if let Some(above) = root.join(path).parent() {
                std::fs::create_dir_all(above).unwrap();
            }
            std::fs::write(root.join(path), bytes).unwrap();
        }
        let today = Date::constant(2026, 3, 20);
        let of = |paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            look(root, paths, today, 1 << 20)
        };
        let all = of(&files.map(|(path, _)| path));
        let told: Vec<(&str, Severity, &str)> = all
            .problems
            .iter()
            .map(|problem| {
                let named = problem.what.split(": ").next().unwrap();
                (problem.id.as_str(), problem.severity, named)
            })
            .collect();
        assert_eq!(
            told,
            [
                ("log-date", Severity::Warning, "memory/2026-13-45.md"),
                ("log-ahead", Severity::Warning, "memory/2062-01-01.md"),
                ("log-bytes", Severity::Warning, "memory/2026-03-18-evening.md"),
                (
                    "log-double",
                    Severity::Info,
                    "memory/2026-03-18-evening.md, memory/2026-03-18.md"
                ),
            ]
        );
        assert!(
            all.detail
                .is_some_and(|detail| detail.ends_with("4 logs for 3 days"))
        );
        let many: Vec<String> = (1..9).map(|day| format!("memory/2062-01-0{day}.md")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(of(&many).problems[0].what.contains("2062-01-05.md and 3 more: "));
        assert_eq!(of(&["MEMORY.md"]).detail, None);
    }
}
