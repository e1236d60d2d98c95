//! Pathological markdown that the daemon must process in linear time.

use std::time::Duration;

use hippod_tests::{Daemon, Scratch};
use serde_json::json;

use crate::scale::{Cases, attack, is_long};
use crate::wire::{Wire, roomy};

/// Sizes of a text in bytes: in the gate, and in a run with a time limit.
const SMALL: [usize; 1] = [64 << 10];
const LARGE: [usize; 2] = [256 << 10, 1 << 20];
/// Maximum factor by which the processor time may grow if a text becomes four times as large. [`NOISE`] is an
/// additional tolerance.
const GROWTH: u32 = 6;
const NOISE: Duration = Duration::from_secs(1);

/// Shapes of texts. Each has the text before the repeated piece, the repeated piece, and the text after it.
const SHAPES: [(&str, &str, &str); 29] = [
    ("", "[", ""),
    ("", "![", ""),
    ("", "[a](", ""),
    ("", "[a](<b", ""),
    ("", "*a _b ", ""),
    ("", "**x ** ", ""),
    ("", "`", " x"),
    ("", "``` x\n", ""),
    ("", "<a href=\"", ""),
    ("", "<!--", ""),
    ("", "> ", "x"),
    ("", "- ", "x"),
    ("", "1. ", "x"),
    ("", "# a\n", ""),
    ("", "# a\n## a\n### a\n#### a\n##### a\n###### a\n", ""),
    ("", "# h\n\nx\n\n", ""),
    ("", "- a\n", ""),
    ("", "[a]: b\n", ""),
    ("| a |\n|---|\n", "| a |\n", ""),
    ("", "---\n", ""),
    ("", "**", ""),
    ("", "[[a]]", ""),
    ("", "[[a]]\n", ""),
    ("", "word ", ""),
    ("", "User: a\n", ""),
    ("---\ntags: [", "a, ", "]\n---\n"),
    ("| a |\n|---|\n", "|", ""),
    ("", "&#x41;&amp;", ""),
    ("---\n", "a: [", "\n---\n"),
];

fn text(shape: usize, size: usize) -> String {
    let (before, piece, after) = SHAPES[shape];
    let shaped = format!("{before}{}{after}", piece.repeat(size / piece.len()));
    let known = "# Shapes\n\n- the kettle whistles\n";
    // Front matter is valid only at the start of a file, so the shape must be there.
    if before.starts_with("---") {
        format!("{shaped}{known}")
    } else {
        format!("{known}\n{shaped}\n")
    }
}

/// Returns the processor time for indexing the text, an audit, and one cycle of each kind.
fn time(shape: usize, size: usize) -> Duration {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/shape.md", text(shape, size));
    scratch.write("memory/small.md", "- the pump is blue\n");
    let daemon = Daemon::start(&scratch.home(), &roomy());
    let mut wire = Wire::new(&daemon);
    wire.expect("workspace.add", json!({"workspace": root}));
    wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
    wire.expect("audit", json!({"workspace": root}));
    wire.expect("tree.compact", json!({"workspace": root}));
    for cycle in ["light", "deep", "archival"] {
        wire.expect("cycle.run", json!({"workspace": root, "cycle": cycle}));
    }
    let answer = wire.expect("search", json!({"workspace": root, "query": "blue pump"}));
    assert_eq!(answer["results"][0]["path"], "memory/small.md", "{answer}");
    daemon.processor_time()
}

#[test]
fn hard_markdown_takes_processor_time_in_proportion_to_its_size() {
    let cases = Cases::Numbered {
        all: SHAPES.len(),
        in_gate: 6,
    };
    attack("shapes", cases, |_, shape| {
        let sizes = if is_long() { &LARGE[..] } else { &SMALL };
        let times: Vec<Duration> = sizes.iter().map(|size| time(shape, *size)).collect();
        if let [one, four] = times[..] {
            let piece = SHAPES[shape].1;
            assert!(four < one * GROWTH + NOISE, "{piece:?}: {one:?} and {four:?}");
        }
        sizes.len()
    });
}
