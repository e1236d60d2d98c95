//! Rendering of the compaction tree in `status`.
//!
//! The lines also name the program that writes the summaries of the tree.

use hippo_proto::TreeStatus;

use super::{bad_line, line};
use crate::output::Style;
use crate::render::{age, one_line, plural};

/// Returns the lines about the compaction tree in the status of a workspace.
pub fn lines(tree: &TreeStatus, style: Style) -> String {
    let kinds = [
        (tree.fixed, "fixed"),
        (tree.tentative, "tentative"),
        (tree.needs_summarization, "without a summary"),
        (tree.other, "without a status"),
    ];
    let nodes = kinds.iter().map(|(count, _)| count).sum();
    // The first two kinds are listed even if their number is zero.
    let listed = kinds
        .iter()
        .enumerate()
        .filter(|(at, (count, _))| *at < 2 || *count > 0);
    let listed = listed.map(|(_, (count, what))| format!("{count} {what}"));
    let made = match &tree.last {
        Some(last) => format!("created {}", one_line(last)),
        None => "not created yet".to_owned(),
    };
    let listed = listed.collect::<Vec<_>>().join(", ");
    let mut text = line("tree", &format!("{}: {listed}; {made}", plural(nodes, "node")));
    if tree.foreign > 0 {
        let left = match tree.foreign {
            1 => "1 node belongs to another program".to_owned(),
            more => format!("{more} nodes belong to another program"),
        };
        text += &line(
            "",
            &format!("{left}; to take over the tree: hippoctl tree compact --take-over"),
        );
    }
    if let Some(unwritable) = &tree.unwritable {
        let held = one_line(&format!("could not write nodes in {unwritable}"));
        text += &bad_line("held", &held, style);
    }
    if tree.waiting > 0 {
        let waiting = format!("{} need a summary: hippoctl tree pending", tree.waiting);
        text += &line("", &waiting);
    }
    let Some(command) = &tree.command else { return text };
    let failed = match command.failures {
        0 => String::new(),
        failures => format!(", {} in a row", plural(failures, "failure")),
    };
    let requested = format!(
        "{} of {} summaries requested today, in {}{failed}",
        command.jobs,
        command.daily_jobs,
        age(command.ms)
    );
    text += &line("", &requested);
    if let Some(held) = &command.held_back {
        let error = command.error.as_deref();
        let error = error.map(|error| format!("; the last failure: {error}"));
        let held = one_line(&format!("{held}{}", error.unwrap_or_default()));
        text += &bad_line("held", &held, style);
    }
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::TreeCommandStatus;

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
