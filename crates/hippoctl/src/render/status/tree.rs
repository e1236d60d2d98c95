//! Rendering of the compaction tree in `status`.
//!
//! The lines include the program that writes the summaries of the tree.

use std::fmt::Write;

use hippo_proto::{TreeCommandStatus, TreeStatus};

use crate::output::Style;
use crate::render::{age, one_line, plural};

/// Returns lines in the layout of the workspace's status.
pub fn lines(tree: &TreeStatus, style: Style) -> String {
    let TreeStatus {
        last,
        fixed,
        tentative,
        needs_summarization,
        other,
        waiting,
        foreign,
        unwritable,
        command,
    } = tree;
    let nodes = fixed + tentative + needs_summarization + other;
    let mut kinds = vec![format!("{fixed} fixed"), format!("{tentative} tentative")];
    let further = [
        (needs_summarization, "without a summary"),
        (other, "without a status"),
    ];
    kinds.extend(
        further
            .iter()
            .filter(|(count, _)| **count > 0)
            .map(|(count, what)| format!("{count} {what}")),
    );
    let made = last.as_deref().map_or_else(
        || "not created yet".to_owned(),
        |last| format!("created {}", one_line(last)),
    );
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "  tree     {}: {}; {made}",
        plural(nodes, "node"),
        kinds.join(", ")
    );
    if *foreign > 0 {
        let left = match foreign {
            1 => "1 node belongs to another program".to_owned(),
            more => format!("{more} nodes belong to another program"),
        };
        let _ = writeln!(
            text,
            "           {left}; to take over the tree: hippoctl tree compact --take-over"
        );
    }
    if let Some(unwritable) = unwritable {
        let held = one_line(&format!("held     could not write nodes in {unwritable}"));
        let _ = writeln!(text, "  {}", style.bad(held));
    }
    if *waiting > 0 {
        let _ = writeln!(text, "           {waiting} need a summary: hippoctl tree pending");
    }
    if let Some(command) = command {
        let TreeCommandStatus {
            jobs,
            daily_jobs,
            ms,
            failures,
            held_back,
            error,
        } = command;
        let failed = if *failures > 0 {
            format!(", {} in a row", plural(*failures, "failure"))
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "           {jobs} of {daily_jobs} summaries requested today, in {}{failed}",
            age(*ms)
        );
        if let Some(held) = held_back {
            let error = error
                .as_deref()
                .map(|error| format!("; the last failure: {error}"));
            let held = one_line(&format!("held     {held}{}", error.unwrap_or_default()));
            let _ = writeln!(text, "  {}", style.bad(held));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_rendered_with_and_without_a_program() {
        let quiet = TreeStatus {
            fixed: 90,
            tentative: 4,
            last: Some("2026-03-01T08:00:00Z".into()),
            ..TreeStatus::default()
        };
        let stopped = TreeStatus {
            last: None,
            needs_summarization: 2,
            other: 1,
            waiting: 2,
            foreign: 1,
            unwritable: Some("/w/memory: Permission denied (os error 13)".into()),
            command: Some(TreeCommandStatus {
                jobs: 5,
                daily_jobs: 20,
                ms: 61_000,
                failures: 3,
                held_back: Some("the program failed 3 times in a row; hippod runs it again tomorrow".into()),
                error: Some("it took too long\nand was stopped".into()),
            }),
            ..quiet.clone()
        };
        let plain = [&quiet, &stopped].map(|tree| lines(tree, Style::default()));
        assert_eq!(
            plain.concat(),
            "  tree     94 nodes: 90 fixed, 4 tentative; created 2026-03-01T08:00:00Z\n  \
            tree     97 nodes: 90 fixed, 4 tentative, 2 without a summary, 1 without a status; not created yet\n           \
            1 node belongs to another program; to take over the tree: hippoctl tree compact --take-over\n  \
            held     could not write nodes in /w/memory: Permission denied (os error 13)\n           \
            2 need a summary: hippoctl tree pending\n           \
            5 of 20 summaries requested today, in 61 s, 3 failures in a row\n  \
            held     the program failed 3 times in a row; hippod runs it again tomorrow; the last failure: it took too long and was stopped\n"
        );
    }
}
