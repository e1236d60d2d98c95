//! Compaction trees on unusual days.
//!
//! The tests cover changes of the clock, ends of years, and logs that are late, early, duplicated or empty.

use std::collections::BTreeMap;
use std::path::Path;

use hippo_proto::{TreeCompactRequest, TreeCompactResponse, TreeShowRequest, TreeShowResponse};
use hippod_tests::{Caller, Clocked, Scratch};

use super::tree::{log, nodes};

fn begun(now: &str, zone: &str, days: &[(i16, i8, i8)]) -> (Scratch, Clocked, Caller) {
    let scratch = Scratch::new();
    for (year, month, day) in days {
        let day = jiff::civil::date(*year, *month, *day);
        scratch.write(&format!("memory/{day}.md"), log(day, 6));
    }
    let daemon = Clocked::start(&scratch, now, &[("HIPPOD_SEARCH_TIMEZONE", zone)]);
    let mut client = daemon.client();
    client.index(&scratch.workspace());
    (scratch, daemon, client)
}

/// Compacts the tree at the time of the daemon's clock.
fn compact(client: &mut Caller, root: &Path) -> TreeCompactResponse {
    let request = TreeCompactRequest {
        workspace: root.display().to_string(),
        ..TreeCompactRequest::default()
    };
    let answer: TreeCompactResponse = client.raw().call(&request.into()).expect("a tree");
    assert_eq!(answer.refused, []);
    answer
}

fn status(client: &mut Caller, root: &Path, node: &str) -> String {
    let request = TreeShowRequest {
        workspace: root.display().to_string(),
        node: Some(node.to_owned()),
    };
    let answer: TreeShowResponse = client.raw().call(&request.into()).expect(node);
    answer.status.expect("a status")
}

/// Returns the paths of the files that differ or that exist in only one of the two maps.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let paths: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    differ.cloned().collect()
}

#[test]
fn a_day_ends_at_local_midnight_across_clock_changes() {
    // In New York, 8 March 2026 has 23 hours, and 1 November 2026 has 25 hours.
    let days = [(2026, 3, 7), (2026, 3, 8), (2026, 11, 1)];
    let (scratch, daemon, mut client) = begun("2026-03-08T04:59:59Z", "America/New_York", &days);
    let root = scratch.workspace();
    for (now, day, is) in [
        ("2026-03-08T04:59:59Z", "2026-03-07", "tentative"),
        ("2026-03-08T05:00:00Z", "2026-03-07", "fixed"),
        ("2026-03-09T03:59:59Z", "2026-03-08", "tentative"),
        ("2026-03-09T04:00:00Z", "2026-03-08", "fixed"),
        ("2026-11-02T04:59:59Z", "2026-11-01", "tentative"),
        ("2026-11-02T05:00:00Z", "2026-11-01", "fixed"),
    ] {
        daemon.set(now);
        compact(&mut client, &root);
        assert_eq!(status(&mut client, &root, day), is, "{day} at {now}");
    }
}

#[test]
fn the_end_of_a_year_is_in_one_week_and_each_week_in_one_month() {
    let days = [
        (2026, 12, 27),
        (2026, 12, 28),
        (2026, 12, 31),
        (2027, 1, 1),
        (2027, 1, 3),
        (2027, 1, 4),
    ];
    let (scratch, _daemon, mut client) = begun("2027-02-20T10:00:00Z", "UTC", &days);
    let root = scratch.workspace();
    compact(&mut client, &root);
    let nodes = nodes(&root);
    let sources = |path: &str| -> String {
        let text = &nodes[path];
        let line = text.lines().find(|line| line.starts_with("source-files: "));
        line.expect(path).trim_start_matches("source-files: ").to_owned()
    };
    assert_eq!(
        sources("memory/weekly/2026-W53.md"),
        "[memory/daily/2026-12-28.md, memory/daily/2026-12-31.md, memory/daily/2027-01-01.md, memory/daily/2027-01-03.md]"
    );
    assert!(nodes["memory/weekly/2026-W53.md"].contains("dates: 2026-12-28 to 2027-01-03"));
    assert_eq!(
        sources("memory/monthly/2026-12.md"),
        "[memory/weekly/2026-W52.md, memory/weekly/2026-W53.md]"
    );
    assert_eq!(
        sources("memory/monthly/2027-01.md"),
        "[memory/weekly/2027-W01.md]"
    );
}

#[test]
fn early_late_double_and_empty_logs_are_compacted() {
    let days = [(2019, 6, 12), (2026, 3, 18), (2026, 3, 19), (2031, 1, 1)];
    let (scratch, daemon, mut client) = begun("2026-03-20T10:00:00Z", "UTC", &days);
    let root = scratch.workspace();
    scratch.write("memory/2026-03-17.md", "");
    scratch.write("memory/2026-03-16.md", "# 2026-03-16\n");
    let evening = jiff::civil::date(2026, 3, 18);
    scratch.write(
        "memory/2026-03-18-evening.md",
        log(evening, 3).replace("crate", "barrel"),
    );
    compact(&mut client, &root);
    let first = nodes(&root);
    assert!(
        !first.contains_key("memory/daily/2026-03-17.md")
            && !first.contains_key("memory/daily/2026-03-16.md")
    );
    let double = &first["memory/daily/2026-03-18.md"];
    assert!(
        double.contains("source-files: [memory/2026-03-18-evening.md, memory/2026-03-18.md]")
            && double.contains("crate 2")
            && double.contains("barrel 2"),
        "{double}"
    );
    assert_eq!(status(&mut client, &root, "2031-01-01"), "tentative");
    assert_eq!(status(&mut client, &root, "2031-01"), "tentative");
    assert_eq!(status(&mut client, &root, "2019-06"), "fixed");

    // The edit of an old log must change only the nodes above this log.
    let late = jiff::civil::date(2019, 6, 12);
    scratch.write("memory/2019-06-12.md", log(late, 9));
    compact(&mut client, &root);
    let second = nodes(&root);
    let above = [
        "memory/daily/2019-06-12.md",
        "memory/monthly/2019-06.md",
        "memory/weekly/2019-W24.md",
    ];
    let differ = changed(&first, &second);
    assert_eq!(
        differ
            .iter()
            .filter(|path| *path != "memory/ROOT.md")
            .collect::<Vec<_>>(),
        above
    );

    // Set the clock years ahead, and then back. The nodes must then be the same as before.
    daemon.set("2036-03-20T10:00:00Z");
    compact(&mut client, &root);
    assert_eq!(status(&mut client, &root, "2031-01-01"), "fixed");
    assert_ne!(nodes(&root), second);
    daemon.set("2026-03-20T10:00:00Z");
    compact(&mut client, &root);
    assert_eq!(changed(&second, &nodes(&root)), Vec::<String>::new());
}

#[test]
fn searches_do_not_change_the_topics_of_the_root() {
    let days = [(2026, 3, 17), (2026, 3, 18), (2026, 3, 19)];
    let (scratch, _daemon, mut client) = begun("2026-03-20T10:00:00Z", "UTC", &days);
    let root = scratch.workspace();
    for (day, topic) in [(17, "Pump controller"), (18, "Staging"), (19, "Relay bug")] {
        let text = format!(
            "# 2026-03-{day}\n\n## {topic} [project]\n- decision: {topic} is done by Ada on the {day}th, in Berlin\n- pending: look at {topic} again\n"
        );
        scratch.write(&format!("memory/2026-03-{day}.md"), text);
    }
    client.sync(&root);
    compact(&mut client, &root);
    let first = nodes(&root);
    let told = &first["memory/ROOT.md"];
    for topic in ["Pump controller", "Staging", "Relay bug"] {
        assert!(
            told.contains(&format!("- decision: {topic} is done by Ada on the ")),
            "{told}"
        );
        assert!(
            told.contains(&format!("- to do: look at {topic} again → ")),
            "{told}"
        );
    }
    for question in [
        "who does the pump controller?",
        "what about staging and the relay?",
        "the relay bug",
    ] {
        client.search(&root, question);
        client.run(&root, hippo_proto::Cycle::Light);
    }
    compact(&mut client, &root);
    let again = nodes(&root);
    let topics = |text: &str| -> Vec<String> {
        let active = text.split("## Active Context").nth(1).unwrap_or_default();
        active.lines().map(str::to_owned).collect()
    };
    assert_eq!(topics(&again["memory/ROOT.md"]), topics(told));
}
