//! Tests that an extract shows no secrets and counts omitted items.

use super::told;

#[test]
fn no_piece_of_a_private_key_is_shown() {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2";
    let end = "-----END OPENSSH PRIVATE KEY-----";
    for content in [
        format!("{line}\n{line}\nc2gtZWQyNTUxOQAAACBB\n{end}\nfn moor() {{\n}}\n"),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\n{line}\n"),
        format!("{line}\n{line}\n{line}\n"),
        format!(r#"{{"id": "k-1", "lines": ["{line}", "{line}"], "whole": "{line}\n{line}\n"}}"#),
        format!("name,data,n\nada,{line},1\nbo,{line}x,2\ncy,{line}y,3\n"),
        format!("# Keys\n\n## {line}\n\nUse `{line}` in `moor_boat`.\n"),
        format!("error: {line}\nCommand exited with code 1\n"),
    ] {
        for tokens in [20, 60, 300] {
            let shown = told(&content, tokens).rendered();
            assert!(
                !shown.contains("b3BlbnNz") && !shown.contains("c2gtZWQy"),
                "{shown}"
            );
        }
    }
}

#[test]
fn terminal_control_sequences_are_not_shown() {
    for content in [
        "\u{1b}(B\u{1b}[mtests/test_tide.py::test_low \u{1b}[31mFAILED\u{1b}[0m\n",
        "\u{9b}31mtests/test_tide.py::test_low FAILED\n",
        "\u{1b}Pq#0;2;0;0;0#0~~@@vv\u{1b}\\\u{1b}_Gf=100;iVBORw0KGgo=\u{1b}\\tests/test_tide.py is open\n",
    ] {
        let shown = told(content, 100).rendered();
        assert!(shown.contains("tests/test_tide.py"), "{shown}");
        for part in ["[31m", "31m", "iVBOR", "#0~~", "(B"] {
            assert!(!shown.contains(part), "{part} in {shown}");
        }
    }
}

#[test]
fn items_beyond_the_limit_are_counted() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    let cases = [
        (
            lines(1_500, &|n| format!("FAILED tests/test_a.py::test_{n} - no\n")),
            "1500 failed",
        ),
        (
            lines(900, &|n| format!("error[E0308]: mismatched types in part {n}\n")),
            "900 errors",
        ),
        (
            lines(5_000, &|n| format!("- button \"Book {n}\" [ref=e{n}]\n")),
            "5000 buttons",
        ),
        (
            "Traceback (most recent call last):\n".to_owned()
                + &lines(600, &|n| {
                    format!("  File \"a.py\", line {}, in f\n    f()\n", n + 1)
                }),
            "600 frames",
        ),
    ];
    for (content, count) in cases {
        let entry = told(&content, 400);
        assert!(
            entry.summary.contains(count),
            "{count}: {:?} {}",
            entry.kind,
            entry.summary
        );
    }
}
