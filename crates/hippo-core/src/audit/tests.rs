//! Is each share what its formula says?

use jiff::civil::date;

use super::*;

fn file(path: &str, text: &str) -> File {
    let lines = u32::try_from(text.lines().count()).unwrap();
    File {
        path: path.to_owned(),
        date: crate::source::date_in_name(path),
        text: text.to_owned(),
        chunks: (1..=lines).map(|line| (line, line)).collect(),
    }
}

fn only(files: &[File]) -> Report {
    audit(files, &[], &[], 10)
}

fn places(finding: &Finding) -> Vec<(String, u32)> {
    let of = finding.examples.iter();
    of.map(|example| (example.place.clone(), example.line.unwrap_or(0)))
        .collect()
}

#[test]
fn what_stands_in_an_earlier_chunk_is_a_duplicate() {
    let files = [
        file(
            "memory/2026-03-01.md",
            "- The pump in hall four is blue.\nyes\nyes\n",
        ),
        file(
            "memory/2026-03-02.md",
            "the pump in hall FOUR is blue\nthe pump in hall five is blue\n",
        ),
    ];
    let found = only(&files).duplicate;
    assert_eq!((found.count, found.of), (1, 5));
    assert_eq!(found.examples[0].place, "memory/2026-03-02.md");
    assert_eq!(found.examples[0].why, "the same as memory/2026-03-01.md:1");
}

#[test]
fn entries_that_point_nowhere_are_stale() {
    let entry = |id: &str, lost: Option<&str>| Entry {
        id: id.to_owned(),
        lost: lost.map(str::to_owned),
    };
    let entries = [entry("a", None), entry("b", Some("knowledge/gone.md"))];
    let found = audit(&[], &entries, &[], 10).stale;
    assert_eq!((found.count, found.of), (1, 2));
    assert_eq!(
        (found.examples[0].place.as_str(), found.examples[0].line),
        ("b", None)
    );
}

#[test]
fn an_older_value_is_contradicted_by_the_newest_one_alone() {
    let files = [
        file(
            "memory/2026-03-01.md",
            "- the lease of the pump lasts 30 seconds\n- tea is at 4 in the hall\n",
        ),
        file(
            "memory/2026-03-02.md",
            "- the lease of the pump lasts 60 seconds\n",
        ),
        file(
            "memory/2026-03-03.md",
            "- the lease of the pump lasts 120 seconds\n- tea is at 4 in the hall\n",
        ),
        file("MEMORY.md", "- the lease of the pump lasts 5 seconds\n"),
    ];
    let found = only(&files).contradicted;
    let expected = [
        ("memory/2026-03-01.md".to_owned(), 1),
        ("memory/2026-03-02.md".to_owned(), 1),
    ];
    assert_eq!(places(&found), expected);
    assert_eq!((found.count, found.of), (2, 6));
    assert!(found.examples[0].why.starts_with("memory/2026-03-03.md:1 "));
}

#[test]
fn a_form_that_is_filled_in_each_day_contradicts_nothing() {
    let day = |day: i8| {
        let text = format!(
            "- slept {day} hours and walked for {} minutes in the park\n",
            day * 3
        );
        file(&format!("memory/{}.md", date(2026, 3, day)), &text)
    };
    let files: Vec<File> = (1..=20).map(day).collect();
    assert_eq!(only(&files).contradicted.count, 0);
    assert!(only(&files[..3]).contradicted.count > 0);
}

#[test]
fn secrets_are_counted_by_line_and_named_by_kind() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAyz\n-----END RSA PRIVATE KEY-----\n";
    let files = [file(
        "memory/a.md",
        &format!("nothing\npassword: hunter2-Xk9\n{key}"),
    )];
    let found = only(&files).secret_bearing;
    assert_eq!(found.of, 5);
    assert_eq!(found.examples[0].why, "password");
    assert_eq!(found.examples[0].line, Some(2));
    assert!(found.count >= 3, "{found:?}");
    assert!(!format!("{found:?}").contains("hunter2"));
}

#[test]
fn what_a_boot_file_says_is_not_to_be_remembered_again() {
    let boot = [(
        "AGENTS.md".to_owned(),
        "# Rules\n\nAlways run the tests before you commit.\n".to_owned(),
    )];
    let files = [
        file("AGENTS.md", &boot[0].1),
        file(
            "memory/2026-03-01.md",
            "- always run the tests before you commit\n- run the pump before you leave\n",
        ),
    ];
    let found = audit(&files, &[], &boot, 10).boot_restating;
    assert_eq!(places(&found), [("memory/2026-03-01.md".to_owned(), 1)]);
    assert_eq!((found.count, found.of), (1, 2));
    assert_eq!(found.examples[0].why, "says what AGENTS.md:3 says");
}

#[test]
fn any_text_is_looked_through() {
    for text in [
        "",
        "\n\n",
        "\u{feff}",
        "日本語の記憶はここにある\n日本語の記憶はここにある",
        "- \0 x",
    ] {
        let report = only(&[file("memory/a.md", text)]);
        assert!(report.duplicate.count <= report.duplicate.of);
    }
    let report = only(&[File {
        chunks: vec![(0, 0), (9, 3), (4, 99)],
        ..file("memory/a.md", "one line of a few words")
    }]);
    assert_eq!(report.duplicate.of, 3);
}
