//! Markdown that is hard to parse: time grows as the size does.

use std::time::{Duration, Instant};

use hippod_tests::{Daemon, Scratch};
use serde_json::json;

use crate::scale::{Cases, attack, is_long};
use crate::wire::{Wire, roomy};

/// Sizes of a shape in the gate, and by the clock.
const SMALL: [usize; 1] = [64 << 10];
const LARGE: [usize; 2] = [1 << 20, 4 << 20];
/// Four times the size may take this many times as long, and this much more.
const GROWTH: u32 = 8;
const NOISE: Duration = Duration::from_secs(3);

/// Pieces, each repeated up to the size; what comes before and after.
const SHAPES: [(&str, &str, &str); 17] = [
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
    ("| a |\n|---|\n", "|", ""),
    ("", "&#x41;&amp;", ""),
    ("---\n", "a: [", "\n---\n"),
];

fn text(shape: usize, size: usize) -> String {
    let (before, piece, after) = SHAPES[shape];
    format!(
        "# Shapes\n\n- the kettle whistles\n\n{before}{}{after}\n",
        piece.repeat(size / piece.len())
    )
}

/// How long the shape takes to be indexed and audited.
fn time(shape: usize, size: usize) -> Duration {
    let scratch = Scratch::new();
    let root = scratch.workspace();
    scratch.write("memory/shape.md", text(shape, size));
    scratch.write("memory/small.md", "- the pump is blue\n");
    let daemon = Daemon::start(&scratch.home(), &roomy());
    let mut wire = Wire::new(&daemon);
    let begun = Instant::now();
    wire.expect("workspace.add", json!({"workspace": root}));
    wire.expect("workspace.sync", json!({"workspace": root, "wait": true}));
    wire.expect("audit", json!({"workspace": root}));
    wire.expect("tree.compact", json!({"workspace": root}));
    wire.expect("cycle.run", json!({"workspace": root, "cycle": "deep"}));
    let took = begun.elapsed();
    let answer = wire.expect("search", json!({"workspace": root, "query": "blue pump"}));
    assert_eq!(answer["results"][0]["path"], "memory/small.md", "{answer}");
    took
}

#[test]
fn hard_markdown_takes_time_in_proportion_to_its_size() {
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
