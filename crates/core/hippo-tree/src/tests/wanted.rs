//! Tests of requests for node bodies.

use jiff::civil::date;

use super::*;

const DAY: Date = date(2026, 3, 18);

/// Returns a tree with a day that waits for a summary.
fn waiting() -> Tree {
    let mut tree = with([(DAY, long_log(DAY, 300))]);
    tree.compact(TODAY, true);
    let node = tree.node("2026-03-18");
    assert!(node.is_wanted(TODAY), "{node:?}");
    assert!(!node.is_wanted(DAY), "the period is not closed");
    tree
}

#[test]
fn a_body_written_into_the_node_file_counts_as_submitted() {
    let mut tree = waiting();
    let period = Period::Day(DAY);
    let text = tree.nodes[&period].clone();
    let body = "## Key Decisions\n- all crates of the day went to the warehouses on the quay\n";
    let front = &text[..text.find("---\n\n").unwrap()];
    tree.nodes.insert(period, format!("{front}---\n\n{body}"));
    assert!(
        !tree.node("2026-03-18").is_wanted(TODAY),
        "theirs would be replaced"
    );
    let steps = tree.compact(TODAY, true);
    assert!(
        steps.contains(&(
            "2026-03-18".to_owned(),
            NodeAction::Restate(NodeStatus::Fixed),
            Cause::Written
        )),
        "{steps:?}"
    );
    let node = tree.node("2026-03-18");
    assert_eq!((node.body.as_str(), node.writer), (body, BodyAuthor::Agent));
    // A body that is older than its sources is requested again.
    tree.logs
        .get_mut(&DAY)
        .unwrap()
        .push_str("- decision: crate 900 stays on the quay\n");
    tree.compact(TODAY, true);
    let node = tree.node("2026-03-18");
    assert!(node.is_wanted(TODAY) && node.body.starts_with(body), "{node:?}");
}

#[test]
fn later_statements_are_appended_after_the_body_at_each_run() {
    let mut tree = with([(DAY, long_log(DAY, 300))]);
    let period = Period::Day(DAY);
    let mine = "## Key Decisions\n- all crates of the day went to the warehouses on the quay\n";
    tree.nodes.insert(period, mine.to_owned());
    tree.compact(TODAY, true);
    for round in 0..2 {
        let line = |number: usize| {
            format!(
                "- decision: barrel {round}{number} goes to warehouse {}\n",
                number % 7
            )
        };
        let lines: String = (0..5).map(line).collect();
        tree.logs.get_mut(&DAY).unwrap().push_str(&lines);
        tree.compact(TODAY, true);
        let node = tree.node("2026-03-18");
        assert!(node.body.starts_with(mine), "{}", node.body);
        // hippod replaces the whole block, so the new block contains the earlier statements again.
        assert_eq!(
            node.body.matches("barrel ").count(),
            5 * (round + 1),
            "{}",
            node.body
        );
        assert_eq!(tree.compact(TODAY, true), []);
    }
}

#[test]
fn foreign_nodes_are_never_requested_for_summarization() {
    let mut tree = with([(DAY, long_log(DAY, 300))]);
    let theirs =
        "---\ntype: daily\nstatus: needs-summarization\n---\n\n## What I noted\n- the harbour was closed\n";
    tree.nodes.insert(Period::Day(DAY), theirs.to_owned());
    for _ in 0..2 {
        tree.compact(TODAY, true);
        assert_eq!(tree.nodes[&Period::Day(DAY)], theirs);
        assert!(!tree.node("2026-03-18").is_wanted(TODAY));
    }
}

#[test]
fn a_node_with_a_torn_block_waits_for_a_new_body() {
    let mut tree = waiting();
    let period = Period::Day(DAY);
    let torn = "## Mine\n- the harbour was closed\n\n<!-- hippod: since -->\nhalf of a block\n";
    tree.nodes.insert(period, torn.to_owned());
    tree.compact(TODAY, true);
    tree.logs
        .get_mut(&DAY)
        .unwrap()
        .push_str("- decision: crate 900 stays on the quay\n");
    tree.compact(TODAY, true);
    let node = tree.node("2026-03-18");
    assert!(node.body.starts_with("## Mine"), "{}", node.body);
    assert!(node.is_wanted(TODAY));
    assert_eq!(tree.compact(TODAY, true), []);
}
