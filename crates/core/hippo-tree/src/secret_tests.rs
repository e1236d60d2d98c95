//! Labelled secrets in text that this crate derives.

#[path = "../../hippo-redact/tests/secrets/labelled.rs"]
#[allow(dead_code, reason = "other crates use the rest")]
mod labelled;

use hippo_types::time::Date;

use labelled::{assert_shows_none, found_secrets};

use crate::{
    Cause, Fingerprint, ForeignRoot, Node, NodeAction, NodeSource, NodeStep, Period, build_root_file,
    build_submitted, make, root,
};

#[test]
fn tree_nodes_and_roots_show_no_secret() {
    let found = found_secrets();
    assert!(found.len() >= 120, "{}", found.len());
    let date = |day: i8| Date::new(2026, 3, day).unwrap();
    let headings: Vec<String> = found
        .iter()
        .enumerate()
        .map(|(at, (line, _))| format!("## Pier {at}: {line}\n\n- decision: crate {at} goes to pier {at}, with {line}\n- my habit is {line}\n\n"))
        .collect();
    let step = |period, action| NodeStep {
        period,
        action,
        cause: Cause::New,
        digest: Fingerprint::of(b"x"),
        sources: Vec::new(),
    };
    let made = |period: Period, path: &str, text: &str, first_day: Date| {
        let source = [source_of(path, text, first_day)];
        let node = make(&step(period, NodeAction::Make), &source, None, date(31), false);
        node.map(|node| node.write()).unwrap_or_default()
    };
    // A day below the size threshold is copied into its node. Above the threshold, the node is an extract.
    for some in [&headings[..20], &headings[..]] {
        let log = some.concat();
        let day = made(Period::Day(date(3)), "memory/2026-03-03.md", &log, date(3));
        assert!(day.len() > 200, "{day}");
        assert_shows_none("a day", &day, &found);
        // Higher levels must redact as well, because a person may have written the node of the day.
        let week = made(
            Period::parse("2026-W10").unwrap(),
            "memory/daily/2026-03-03.md",
            &log,
            date(2),
        );
        assert_shows_none("a week", &week, &found);
        let month = made(
            Period::parse("2026-03").unwrap(),
            "memory/weekly/2026-W10.md",
            &log,
            date(1),
        );
        assert_shows_none("a month", &month, &found);
        let below = [root::ChildNode {
            date: date(3),
            path: "memory/daily/2026-03-03.md",
            first_line: 1,
            body: &log,
            accesses: 0,
        }];
        let carried = format!(
            "## Topics Index\n\n{}\n## Historical Summary\n\n{}",
            some.join("- "),
            some.join("- ")
        );
        let carried = ForeignRoot {
            body: &carried,
            updated: date(1),
        };
        for carried in [None, Some(carried)] {
            let root = build_root_file(&below, &|_, _| None, carried, &[], date(31), 20_000);
            let root = root.unwrap();
            assert!(root.body.len() > 50, "{root:?}");
            assert_shows_none("ROOT.md", &root.write(), &found);
        }
        let taken = build_submitted(
            Period::Day(date(3)),
            &log,
            None,
            &[],
            &[source_of("memory/2026-03-03.md", &log.repeat(20), date(3))],
            date(31),
        );
        assert_shows_none("a body", &taken.unwrap().0.body, &found);
        let theirs = Node::read(Period::Day(date(3)), "---\nstatus: fixed\n---\n- mine\n");
        let source = [source_of("memory/2026-03-03.md", &log, date(3))];
        let since = make(
            &step(Period::Day(date(3)), NodeAction::Outdate),
            &source,
            Some(&theirs),
            date(31),
            false,
        );
        assert_shows_none("what is new since", &since.unwrap().write(), &found);
    }
}

fn source_of(path: &str, text: &str, date: Date) -> NodeSource {
    NodeSource {
        path: path.to_owned(),
        text: text.to_owned(),
        first_line: 1,
        date: Some(date),
    }
}
