//! Test inputs for readers: seeds, mutations, deep nesting and large texts.
//!
//! A crate with private readers includes this file in its tests.

use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A function that checks an invariant of a reader for any bytes, and panics if the invariant is violated.
pub type Invariant = fn(&[u8]);

/// Size in bytes of the stack for these tests: half of the smallest stack on which the programs parse. It is
/// sufficient, even without optimization, if a parser limits its nesting, as serde_json does to 128 levels. It is too
/// small for a parser without a limit.
const STACK: usize = 1024 * 1024;
/// Size in bytes of a nested text. The variable `HIPPO_FUZZ_BYTES` overrides it.
const NESTED: usize = 128 * 1024;
/// Texts in various formats, each of which opens one level of nesting.
pub const OPENERS: [&str; 22] = [
    "[",
    "{",
    "{\"a\":",
    "[{\"a\":",
    "- ",
    "? ",
    "> ",
    "* ",
    "1. ",
    "  - ",
    "a.",
    "<div>",
    "<!--",
    "((",
    "```\n> ",
    "a:\n",
    "\"",
    "\\\"",
    "#",
    "{\"content\":[",
    "\u{1b}[",
    // A nested table with the maximum number of key parts that the TOML library accepts.
    "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a={",
];
/// Beginnings of a transcript, a policy file, an index file, an export, front matter and a settings file. Nested text
/// follows each of them.
const BEFORE: [&str; 7] = [
    "",
    "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":",
    "lifecycle_policies:\n  - match: ",
    "# Memory Index\n\n## Projects\n\n### A\n",
    "{\"results\":[{\"memory\":\"a\",\"metadata\":",
    "---\nid: a\ntags: ",
    "[tree]\ncommand = ",
];
/// Pieces that are repeated to create a large text.
const UNITS: [&str; 10] = [
    "x",
    "word ",
    "\n",
    "- the pump is blue\n",
    "{\"role\":\"user\",\"content\":\"a\"}\n",
    "\u{65e5}",
    "0,",
    "{},\n",
    "\"a\": [1.5, \"b\"],",
    "a.b = { c = [\"d\"] }\n",
];

fn bytes() -> usize {
    let set = std::env::var("HIPPO_FUZZ_BYTES").ok();
    set.and_then(|bytes| bytes.parse().ok()).unwrap_or(NESTED)
}

/// Runs an invariant on a small stack.
fn assert_survives(name: &str, law: Invariant, text: &str) {
    let given = [&[0], text.as_bytes()].concat();
    let small = thread::Builder::new().stack_size(STACK).name(name.to_owned());
    let ran = small.spawn(move || law(&given)).map(thread::JoinHandle::join);
    assert!(matches!(ran, Ok(Ok(()))), "{name}: the law does not hold");
}

/// Runs an invariant on nested texts: on texts that repeat one of `openers` without closing it, and on closed texts
/// with nearly as many levels as the libraries accept.
pub fn assert_survives_nesting(name: &str, law: Invariant, openers: &[&str]) {
    for opener in openers {
        for before in BEFORE {
            assert_survives(
                name,
                law,
                &(before.to_owned() + &opener.repeat(bytes() / opener.len())),
            );
        }
    }
    let closed =
        |[open, close]: [&str; 2], levels| format!("{}1{}", open.repeat(levels), close.repeat(levels));
    for levels in [60, 78, 127, 511] {
        for pair in [["[", "]"], ["{\"a\":", "}"], ["{a=", "}"]] {
            for before in ["", "a = "] {
                assert_survives(name, law, &(before.to_owned() + &closed(pair, levels)));
            }
        }
        let parts = "a.".repeat(78);
        assert_survives(
            name,
            law,
            &closed([&format!("{parts}a = {{"), "}"], levels).replacen('1', "b = 1", 1),
        );
    }
}

/// Runs an invariant on texts in which each line is nested more deeply than the line before.
pub fn assert_survives_nesting_by_line(name: &str, law: Invariant) {
    for opener in ["a:", "-", "- a:", ">"] {
        let lines = (0..400).map(|level| format!("{}{opener}\n", " ".repeat(level)));
        assert_survives(name, law, &lines.collect::<String>());
    }
}

/// Runs an invariant on large texts: on plain text, and on text inside a list, an object or a string.
pub fn assert_survives_size(name: &str, law: Invariant) {
    let size = 4 * bytes();
    for [before, after] in [["", ""], ["[", "0]"], ["{\"results\":[", "{}]}"], ["\"", "\""]] {
        for unit in UNITS {
            assert_survives(
                name,
                law,
                &[before, &unit.repeat(size / unit.len()), after].concat(),
            );
        }
    }
}

/// Runs an invariant on each seed, with different first bytes.
pub fn assert_holds_for_seeds(law: Invariant, seeds: &[&str]) {
    for seed in seeds {
        for choice in [0, 1, 2, 3, 7, 77, 255] {
            law(&[&[choice], seed.as_bytes()].concat());
        }
    }
}

/// Runs an invariant on mutations of seeds.
pub fn assert_holds_for_mutations(name: &str, law: Invariant, seeds: &'static [&'static str], cases: u32) {
    let config = Config {
        failure_persistence: None,
        cases,
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(&mutated_seeds(seeds), |bytes| {
        law(&bytes);
        Ok(())
    });
    assert!(ran.is_ok(), "{name}: {ran:?}");
}

/// Runs an invariant on all inputs.
pub fn assert_holds_for_any_bytes(name: &str, law: Invariant, seeds: &'static [&'static str]) {
    assert_holds_for_seeds(law, seeds);
    assert_holds_for_mutations(name, law, seeds, 1_000);
    assert_survives_nesting(name, law, &OPENERS);
    assert_survives_nesting_by_line(name, law);
    assert_survives_size(name, law);
}

/// Generates combinations of seeds in which some bytes are replaced, removed or repeated.
fn mutated_seeds(seeds: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..5_u8, any::<u8>(), 1..40_usize);
    let seed = || prop::sample::select(seeds);
    (
        any::<u8>(),
        seed(),
        seed(),
        any::<prop::sample::Index>(),
        prop::collection::vec(change, 0..8),
    )
        .prop_map(|(choice, one, other, at, changes)| {
            let mut bytes = vec![choice];
            let (before, after) = one.as_bytes().split_at(at.index(one.len() + 1));
            bytes.extend([before, other.as_bytes(), after].concat());
            for (at, how, byte, count) in changes {
                let at = at.index(bytes.len());
                let end = (at + count).min(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => drop(bytes.drain(at..end)),
                    2 => bytes.insert(at, byte),
                    3 => {
                        let again = bytes[at..end].repeat(1 + usize::from(byte) % 64);
                        bytes.splice(at..at, again);
                    }
                    _ => bytes.truncate(at.max(1)),
                }
                if bytes.is_empty() {
                    bytes.push(byte);
                }
            }
            bytes
        })
}
