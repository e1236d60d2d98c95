//! Inputs on which readers are tried: seeds, mutations of them, nesting and size.
//!
//! Crates with readers that no other crate can call include this file in their tests.

use std::thread;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// What a reader must keep for any bytes; it panics where it does not.
pub type Law = fn(&[u8]);

/// Half of the smallest stack on which the programs read. A limit such as the 128 levels of serde_json fits, even without optimisation;
/// a level of recursion for each level of nesting does not.
const STACK: usize = 1024 * 1024;
/// Bytes of nested text, unless `HIPPO_FUZZ_BYTES` names another number.
const NESTED: usize = 128 * 1024;
/// What begins a level in one format or another.
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
    // As many parts of a key as the library takes, in a table within a table.
    "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a={",
];
/// What stands before, so that the readers of transcripts, lists, indexes, exports and records are reached.
const BEFORE: [&str; 7] = [
    "",
    "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":",
    "lifecycle_policies:\n  - match: ",
    "# Memory Index\n\n## Projects\n\n### A\n",
    "{\"results\":[{\"memory\":\"a\",\"metadata\":",
    "---\nid: a\ntags: ",
    "[tree]\ncommand = ",
];
/// What is repeated to a large text.
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

/// Runs a law on a small stack.
fn survives(name: &str, law: Law, text: &str) {
    let given = [&[0], text.as_bytes()].concat();
    let small = thread::Builder::new().stack_size(STACK).name(name.to_owned());
    let ran = small.spawn(move || law(&given)).map(thread::JoinHandle::join);
    assert!(matches!(ran, Ok(Ok(()))), "{name}: the law does not hold");
}

/// Runs a law on texts that are nested by these openers, as many levels as possible and as few as the libraries take.
pub fn survives_nesting(name: &str, law: Law, openers: &[&str]) {
    for opener in openers {
        for before in BEFORE {
            survives(
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
                survives(name, law, &(before.to_owned() + &closed(pair, levels)));
            }
        }
        let parts = "a.".repeat(78);
        survives(
            name,
            law,
            &closed([&format!("{parts}a = {{"), "}"], levels).replacen('1', "b = 1", 1),
        );
    }
}

/// Runs a law on texts of which each line is deeper than the one before.
pub fn survives_nesting_line_by_line(name: &str, law: Law) {
    for opener in ["a:", "-", "- a:", ">"] {
        let lines = (0..400).map(|level| format!("{}{opener}\n", " ".repeat(level)));
        survives(name, law, &lines.collect::<String>());
    }
}

/// Runs a law on large texts, also within a list and a text.
pub fn survives_size(name: &str, law: Law) {
    let size = 4 * bytes();
    for [before, after] in [["", ""], ["[", "0]"], ["{\"results\":[", "{}]}"], ["\"", "\""]] {
        for unit in UNITS {
            survives(
                name,
                law,
                &[before, &unit.repeat(size / unit.len()), after].concat(),
            );
        }
    }
}

/// Runs a law on each seed, with several first bytes.
pub fn holds_for_seeds(law: Law, seeds: &[&str]) {
    for seed in seeds {
        for choice in [0, 1, 2, 3, 7, 77, 255] {
            law(&[&[choice], seed.as_bytes()].concat());
        }
    }
}

/// Runs a law on mutations of seeds.
pub fn holds_for_mutations(name: &str, law: Law, seeds: &'static [&'static str], cases: u32) {
    let config = Config {
        failure_persistence: None,
        cases,
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(&odd(seeds), |bytes| {
        law(&bytes);
        Ok(())
    });
    assert!(ran.is_ok(), "{name}: {ran:?}");
}

/// Runs a law on everything.
pub fn holds_for_any_bytes(name: &str, law: Law, seeds: &'static [&'static str]) {
    holds_for_seeds(law, seeds);
    holds_for_mutations(name, law, seeds, 1_000);
    survives_nesting(name, law, &OPENERS);
    survives_nesting_line_by_line(name, law);
    survives_size(name, law);
}

/// Seeds, one in or behind another, with bytes that are others, gone or repeated.
fn odd(seeds: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
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
