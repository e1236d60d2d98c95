//! Nesting and size: what any reader must survive on a small stack.

use std::thread;

use hippo_fuzz::TARGETS;

/// Half of the smallest stack on which the programs read. A limit such as the 128 levels of serde_json fits, even without optimisation;
/// a level of recursion for each level of nesting does not.
const STACK: usize = 1024 * 1024;
/// Bytes of nested text, unless `HIPPO_FUZZ_BYTES` names another number.
const NESTED: usize = 128 * 1024;
/// What begins a level in one format or another.
const OPENERS: [&str; 20] = [
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
];
/// What stands before, so that the readers of transcripts, lists and indexes are reached.
const BEFORE: [&str; 4] = [
    "",
    "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":",
    "lifecycle_policies:\n  - match: ",
    "# Memory Index\n\n## Projects\n\n### A\n",
];

fn bytes() -> usize {
    let set = std::env::var("HIPPO_FUZZ_BYTES").ok();
    set.and_then(|bytes| bytes.parse().ok()).unwrap_or(NESTED)
}

/// Runs every target with this text.
fn survives(text: &str) {
    for (name, target) in TARGETS {
        let given = [&[0], text.as_bytes()].concat();
        let small = thread::Builder::new().stack_size(STACK).name(name.to_owned());
        let reader = small.spawn(move || target(&given)).expect("a thread");
        reader.join().expect("the promises of the target hold");
    }
}

fn nested(openers: &[&str]) {
    for opener in openers {
        for before in BEFORE {
            survives(&(before.to_owned() + &opener.repeat(bytes() / opener.len())));
        }
    }
}

#[test]
fn nesting_costs_no_stack() {
    nested(&OPENERS[..10]);
}

#[test]
fn nesting_of_other_openers_costs_no_stack() {
    nested(&OPENERS[10..]);
}

#[test]
fn nesting_line_by_line_costs_no_stack() {
    for opener in ["a:", "-", "- a:", ">"] {
        let lines = (0..400).map(|level| format!("{}{opener}\n", " ".repeat(level)));
        survives(&lines.collect::<String>());
    }
}

#[test]
fn size_is_survived() {
    let size = 4 * bytes();
    for unit in [
        "x",
        "word ",
        "\n",
        "- the pump is blue\n",
        "{\"role\":\"user\",\"content\":\"a\"}\n",
        "\u{65e5}",
    ] {
        survives(&unit.repeat(size / unit.len()));
    }
}
