//! Tests of source rules and path parsing.

use super::*;
use jiff::civil::date;
use proptest::prelude::*;

fn rules(include: &[&str], exclude: &[&str]) -> SourceRules {
    let owned = |patterns: &[&str]| {
        patterns
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect::<Vec<_>>()
    };
    SourceRules::new(&owned(include), &owned(exclude)).unwrap()
}

#[test]
fn markdown_files_are_sources_unless_they_are_hidden_or_generated() {
    let rules = rules(&[], &[]);
    for path in [
        "MEMORY.md",
        "TASK-QUEUE.md",
        "memory/a.md",
        "memory/x/y/z.md",
        "plans/p.md",
        "projects/p/README.md",
        "README.md",
        "sub/MEMORY.md",
        "Notes/Idea.MD",
        "a.markdown",
        "memory/vendor/a.md",
    ] {
        assert!(rules.is_source(path), "{path}");
    }
    for (path, is_selected) in [
        ("MEMORY.md", true),
        ("memory/a.md", true),
        ("README.md", false),
        ("sub/MEMORY.md", false),
    ] {
        assert_eq!(rules.is_selected(path), is_selected, "{path}");
    }
    for path in [
        "HIPPOCAMPUS.md",
        "HIPPOCAMPUS.sync-conflict-20261129-101500-ABCDEFG.md",
        "notes/HIPPOCAMPUS (conflicted copy 2026-11-29 101500).md",
        "memory/a.txt",
        "md",
        "vendor/a.md",
        "web/dist/a.md",
        "memory/.hippocampus/a.md",
        ".hippocampus/topics/a.md",
        "projects/p/node_modules/x/README.md",
        "memory",
    ] {
        assert!(!rules.is_source(path), "{path}");
    }
    for folder in [
        "",
        "memory",
        "memory/a/b",
        "projects/p",
        "src",
        "memoryx",
        "memory/vendor",
    ] {
        assert!(rules.may_contain(folder), "{folder}");
    }
    for folder in ["vendor", ".hippocampus", "memory/.hippocampus", "projects/.git"] {
        assert!(!rules.may_contain(folder), "{folder}");
    }
}

#[test]
fn patterns_include_and_exclude_files() {
    let rules = rules(
        &["notes/**/*.txt", "docs/", "/CHANGES", "journal"],
        &["memory/private", "*.draft.md"],
    );
    for path in [
        "notes/a.txt",
        "notes/b/c.txt",
        "docs/x",
        "CHANGES",
        "a/journal",
        "journal/x",
    ] {
        assert!(rules.is_source(path), "{path}");
    }
    for path in [
        "notes/a.log",
        "memory/private/x.md",
        "memory/x.draft.md",
        "a/CHANGES",
    ] {
        assert!(!rules.is_source(path), "{path}");
    }
    assert!(rules.may_contain("notes") && rules.may_contain("docs/a") && rules.may_contain("a"));
    assert!(!rules.may_contain("memory/private") && rules.may_contain("memory"));
}

#[test]
fn generated_files_cannot_be_included() {
    let rules = rules(&["**/*.md", "HIPPOCAMPUS.md", ".hippocampus/**"], &[]);
    assert!(!rules.is_source("HIPPOCAMPUS.md") && !rules.is_source(".hippocampus/archive/a.md"));
    assert!(rules.is_source("deep/down/a.md") && rules.may_contain("deep/down"));
}

#[test]
fn hidden_folders_are_never_sources() {
    let rules = rules(&["**/*", ".git/**", "/.env", "node_modules/"], &[]);
    for path in [
        ".git/config",
        "a/.git/config",
        ".env",
        "a/.ssh/id",
        "node_modules/x/README.md",
    ] {
        assert!(!rules.is_source(path), "{path}");
    }
    assert!(rules.is_source("a/b.txt") && !rules.may_contain(".git") && !rules.may_contain("a/.git/hooks"));
}

#[test]
fn long_lists_and_patterns_are_rejected() {
    let many = vec!["a/*.md".to_owned(); MOST_PATTERNS + 1];
    let error = SourceRules::new(&many, &[]).unwrap_err().to_string();
    assert!(
        error.contains("257") && error.contains("the maximum is 256"),
        "{error}"
    );
    assert!(SourceRules::new(&many[1..], &many[1..]).is_ok());
    let long = "x".repeat(LONGEST_PATTERN + 1);
    let error = SourceRules::new(&[], &[long]).unwrap_err().to_string();
    assert!(
        error.contains("longer than 1024 bytes") && error.len() < 200,
        "{error}"
    );
}

#[test]
fn the_error_names_the_invalid_pattern() {
    let error = SourceRules::new(&["notes/[".to_owned()], &[]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("could not read the source pattern \"notes/["),
        "{error}"
    );
}

#[test]
fn paths_determine_the_kind_of_a_source() {
    let table = [
        ("MEMORY.md", SourceKind::Root),
        ("memory/2026-01-10.md", SourceKind::DailyLog),
        ("memory/2026-01-10-standup.md", SourceKind::DailyLog),
        ("memory/archive/2025-12-31.md", SourceKind::DailyLog),
        ("memory/daily/2026-01-10.md", SourceKind::Node(NodeKind::Daily)),
        ("memory/weekly/2026-W02.md", SourceKind::Node(NodeKind::Weekly)),
        ("memory/monthly/2026-01.md", SourceKind::Node(NodeKind::Monthly)),
        ("memory/ROOT.md", SourceKind::Node(NodeKind::Root)),
        ("memory/people.md", SourceKind::Other),
        ("knowledge/2026-01-10.md", SourceKind::Knowledge),
        ("plans/q1.md", SourceKind::Plan),
        ("projects/a/b.md", SourceKind::Project),
        ("docs/a.md", SourceKind::Other),
        ("README.md", SourceKind::Other),
    ];
    for (path, kind) in table {
        assert_eq!(SourceKind::from_path(path), kind, "{path}");
    }
}

#[test]
fn dates_are_parsed_from_paths() {
    let table = [
        ("memory/2026-01-10.md", Some(date(2026, 1, 10))),
        ("memory/archive/2025-12-31-notes.md", Some(date(2025, 12, 31))),
        ("memory/report_20260202.md", Some(date(2026, 2, 2))),
        ("memory/2026/01/10.md", Some(date(2026, 1, 10))),
        ("memory/2026-01-10/session.md", Some(date(2026, 1, 10))),
        ("memory/weekly/2026-W02.md", Some(date(2026, 1, 5))),
        ("memory/2020-W53.md", Some(date(2020, 12, 28))),
        ("memory/2021-W53.md", None),
        ("memory/monthly/2026-03.md", Some(date(2026, 3, 1))),
        ("memory/archive/2025-12.md", Some(date(2025, 12, 1))),
        ("memory/2026-13.md", None),
        ("MEMORY.md", None),
        ("memory/v2.md", None),
    ];
    for (path, expected) in table {
        assert_eq!(date_in_name(path), expected, "{path}");
    }
}

proptest! {
    #[test]
    fn a_folder_that_is_skipped_contains_no_source(
        path in "(memory|notes|a|b)(/(x|y|private)){0,3}/[a-c]\\.(md|txt)",
        include in prop::sample::select(vec!["notes/**", "**/*.txt", "a/x", "b/*/a.md", "y", "a/{x,y}/b.md"]),
        exclude in prop::sample::select(vec!["private/", "memory/x", "**/y/*.md", "a.md", "*", "notes/**"]),
    ) {
        let rules = rules(&[include], &[exclude]);
        if rules.is_source(&path) {
            for (at, _) in path.match_indices('/') {
                prop_assert!(rules.may_contain(&path[..at]), "{} in {}", &path[..at], path);
            }
        }
    }
}
