//! Tests of budget, topics and day-to-day stability of `ROOT.md`.

use jiff::civil::date;
use proptest::prelude::*;

use super::*;

fn body(day: i8) -> String {
    let guest = char::from(b'A' + day.unsigned_abs());
    format!(
        "## Topics\nPump number {day} [project], Maps of region {day} [reference]\n\n## User\n- Ada likes tea number {day} → memory/x.md#L1\n\n\
         ## Notes\n\n### Pump number {day} [project]\n- We met Rachel and {guest}nders at the Orsay Museum about pump {day} → memory/x.md#L4\n"
    )
}

fn days(count: i8) -> Vec<(Date, String)> {
    (1..=count).map(|day| (date(2026, 1, day), body(day))).collect()
}

fn of(days: &[(Date, String)], most: usize) -> String {
    let today = days.last().map_or(date(2026, 1, 1), |(date, _)| *date);
    on(today, days, most)
}

fn on(today: Date, days: &[(Date, String)], most: usize) -> String {
    let nodes: Vec<ChildNode<'_>> = days
        .iter()
        .map(|(date, body)| ChildNode {
            date: *date,
            path: "memory/daily/2026-01-01.md",
            first_line: 1,
            body,
            accesses: 0,
        })
        .collect();
    write_sections(&root_sections(&nodes, &|_, _| None, today, most), most)
}

#[test]
fn a_root_has_four_sections_and_the_statements_of_the_user() {
    let root = of(&days(25), 1_500);
    for title in TITLES {
        assert_eq!(
            root.contains(title),
            title != "## Recent Patterns",
            "{title}\n{root}"
        );
    }
    assert!(
        root.contains("- user [user]: Ada likes tea number 25 → 2026-01-25"),
        "{root}"
    );
    let met = "We met Rachel and Cnders at the Orsay Museum about pump 2";
    assert!(root.contains(met), "{root}");
    let large = of(&days(25), 3_000);
    assert!(
        large.contains(&format!("- Pump number 2 [project, 21d]: {met} → 2026-01-02")),
        "{large}"
    );
    assert!(!root.contains("names:"), "{root}");
}

#[test]
fn a_root_calls_feedback_feedback_only_once() {
    let body = "## Feedback\n- The pump: user feedback: no, never drain it → memory/x.md#L1\n- user feedback: use litres → memory/x.md#L2\n- ask first → memory/x.md#L3\n\n## Valves [feedback]\n- user feedback: close them → memory/x.md#L4\n";
    let root = of(&[(date(2026, 1, 1), body.to_owned())], 1_500);
    for line in [
        "- The pump [feedback]: no, never drain it → 2026-01-01\n",
        "- [feedback]: use litres → 2026-01-01\n",
        "- [feedback]: ask first → 2026-01-01\n",
        "- Valves [feedback]: close them → 2026-01-01\n",
    ] {
        assert!(root.contains(line), "{root}");
    }
}

#[test]
fn a_long_conversation_gives_a_root_of_almost_its_budget() {
    let talk = |day: i8| {
        let said = |number: usize| {
            format!("- **Caroline:** We painted the old harbour wall {day}{number} with Melanie in Porto\n")
        };
        (date(2023, 5, day), (0..40).map(said).collect::<String>())
    };
    let days: Vec<(Date, String)> = (1..=20).map(talk).collect();
    let root = on(date(2026, 1, 1), &days, 1_500);
    let tokens = tokens::of(&root);
    assert!((1_200..=1_500).contains(&tokens), "{tokens}\n{root}");
    let lines: BTreeSet<&str> = root.lines().collect();
    assert_eq!(
        lines.len(),
        root.lines().count() - root.matches("\n\n").count().saturating_sub(1),
        "{root}"
    );
}

#[test]
fn a_topic_of_several_days_is_a_pattern() {
    let days: Vec<(Date, String)> = (1..=4).map(|day| (date(2026, 1, day), body(7))).collect();
    let root = of(&days, 1_500);
    assert!(
        root.contains("## Recent Patterns\n- Maps of region 7: on 4 days, last → 2026-01-04\n"),
        "{root}"
    );
}

#[test]
fn old_references_are_marked_as_doubtful() {
    let mut days = days(1);
    days.push((date(2026, 3, 1), body(9)));
    let root = of(&days, 1_500);
    assert!(root.contains("- Maps of region 1 [reference, 30d, ?]"), "{root}");
    assert!(
        root.contains("- Maps of region 9 [reference] → 2026-03-01"),
        "{root}"
    );
}

#[test]
fn a_new_day_changes_few_lines() {
    let (before, after) = (of(&days(20), 3_000), of(&days(21), 3_000));
    let known: BTreeSet<&str> = before.lines().collect();
    let same = after.lines().filter(|line| known.contains(line)).count();
    assert!(same * 10 >= after.lines().count() * 7, "{same}\n{after}");
    assert!(after.contains("Pump number 21"), "{after}");
}

#[test]
fn a_root_without_nodes_or_budget_is_empty() {
    assert_eq!(of(&[], 3_000), "");
    assert_eq!(of(&days(3), 0), "");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_nodes_give_a_root_within_its_budget(
        bodies in prop::collection::vec("(\\PC{0,60}\n|## (Topics|User|Notes|Feedback)\n|- [A-Za-z ]{0,50}\n|[A-Z][a-z]+ \\[user\\], [A-Z][a-z]+ \\[reference\\]\n){0,12}", 0..9),
        most in 0_usize..900,
    ) {
        let days: Vec<(Date, String)> = (1..).map(|day| date(2026, 1, day)).zip(bodies).collect();
        let root = of(&days, most);
        prop_assert!(tokens::of(&root) <= most);
        prop_assert_eq!(&root, &of(&days, most));
    }
}

#[test]
fn nodes_dated_in_the_future_are_not_active() {
    let mut days = days(3);
    days.push((date(2031, 1, 1), body(9)));
    let root = on(date(2026, 1, 3), &days, 1_500);
    let active = root.split("\n## ").next().unwrap();
    assert!(
        active.contains("2026-01-03") && !active.contains("2031"),
        "{root}"
    );
    assert!(root.contains("- Pump number 9 [project]"), "{root}");
}

#[test]
fn a_large_budget_shows_decisions_and_open_tasks() {
    let body = "## Notes\n\n### PDF export [project]\n- We looked at Prince, Weasy and Chrome with Ada in Berlin → memory/x.md#L2\n\n\
                ## Key Decisions\n- PDF export: WeasyPrint, because it needs no browser → memory/x.md#L3\n\n\
                ## Open Items\n- PDF export: ask the court about Leitweg-ID → memory/x.md#L4\n";
    let listed = format!("## Topics\nPDF export [project]\n\n{body}");
    let root = of(&[(date(2026, 1, 3), listed)], 1_500);
    assert!(
        root.contains("- decision: PDF export: WeasyPrint, because it needs no browser → 2026-01-03\n"),
        "{root}"
    );
    assert!(
        root.contains("- to do: PDF export: ask the court about Leitweg-ID → 2026-01-03"),
        "{root}"
    );
}

#[test]
fn open_tasks_are_listed_before_further_topics_of_a_day() {
    let day = |number: i8| {
        let mut body = String::from("## Notes\n\n");
        for topic in 0..6 {
            body += &format!(
                "### Hall {number} part {topic} [project]\n- decision: Ada and Grace put pump {number}{topic} of the old harbour behind the gate of Pier {topic} for the whole winter → memory/x.md#L{topic}\n\n"
            );
        }
        body += &format!("## Open Items\n- order gasket {number} → memory/x.md#L9\n");
        (date(2026, 1, number), body)
    };
    let root = of(&(1..=7).map(day).collect::<Vec<_>>(), 3_000);
    for number in 1..=7 {
        assert!(
            root.contains(&format!("- to do: order gasket {number} → 2026-01-0{number}")),
            "{root}"
        );
        assert!(root.contains(&format!("Hall {number} part 0")), "{root}");
    }
}

#[test]
fn each_statement_occurs_once_and_old_decisions_come_first() {
    let notes = "## Notes\n\n### Harbour [project]\n- Ada painted the wall of the harbour at Pier 4 → memory/x.md#L2\n\n";
    let decided = "## Key Decisions\n- Gate: we use a delay of 300 ms instead of polling → memory/x.md#L3\n";
    let days = [
        (date(2026, 1, 1), format!("{notes}{decided}")),
        (date(2026, 1, 2), notes.to_owned()),
    ];
    let root = on(date(2026, 3, 1), &days, 1_500);
    let decision = "- 2026-01-01: decision: Gate: we use a delay of 300 ms instead of polling\n";
    assert!(
        root.contains(&format!("## Historical Summary\n{decision}")),
        "{root}"
    );
    assert_eq!(root.matches("Ada painted").count(), 1, "{root}");
    assert_eq!(root.matches("300 ms").count(), 1, "{root}");
}

#[test]
fn a_line_that_is_unclear_alone_is_omitted() {
    let body = "## Notes\n\n### Status [project]\n- Reason: inconsistent data → memory/x.md#L2\n- It failed again → memory/x.md#L3\n- Big rewrite on the other end → memory/x.md#L4\n";
    assert_eq!(
        on(date(2026, 3, 1), &[(date(2026, 1, 1), body.to_owned())], 1_500),
        ""
    );
}
