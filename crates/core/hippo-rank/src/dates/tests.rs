//! Tests of date expressions in questions.

use jiff::civil::date;
use proptest::prelude::*;

use super::*;

/// The current day of the tests, a Wednesday.
const TODAY: Date = date(2026, 5, 20);

fn range(query: &str) -> Option<(String, bool)> {
    let range = date_range(query, TODAY)?;
    Some((format!("{}..{}", range.start, range.end), range.explicit))
}

#[test]
fn questions_for_everything_of_some_days_are_recognized() {
    let all = [
        "2026-05-10",
        "what happened on 10 May?",
        "What did we do yesterday?",
        "notes of last week",
        "show me everything from March 2026",
        "What did I work on between Monday and Tuesday?",
        "was ist gestern passiert",
    ];
    for query in all {
        assert!(is_only_dates(query, TODAY), "{query}");
    }
    let long = format!("2026-05-10 {}", "我们为什么决定使用新的数据库");
    let others = [
        "Where did I go last weekend?",
        "Why did it not work yesterday?",
        "What did he tell me on Monday?",
        "What happened on Monday and Wednesday?",
        "what happened before May 2026 and yesterday",
        "2026-05-10-incident-db.md",
        long.as_str(),
        "what did we decide yesterday",
        "what happened before May",
        "what happened?",
        "may I",
        "",
    ];
    for query in others {
        assert!(!is_only_dates(query, TODAY), "{query}");
    }
}

#[test]
fn relative_dates_are_resolved_from_today() {
    let table = [
        ("what did we decide today?", "2026-05-20..2026-05-20"),
        ("What did I do yesterday?", "2026-05-19..2026-05-19"),
        ("the day before yesterday", "2026-05-18..2026-05-18"),
        ("last night's deploy", "2026-05-19..2026-05-19"),
        ("this morning", "2026-05-20..2026-05-20"),
        ("what happened last week", "2026-05-11..2026-05-17"),
        ("this week", "2026-05-18..2026-05-24"),
        ("in the last week", "2026-05-13..2026-05-20"),
        ("over the past month", "2026-04-20..2026-05-20"),
        ("last month", "2026-04-01..2026-04-30"),
        ("this month", "2026-05-01..2026-05-31"),
        ("last year", "2025-01-01..2025-12-31"),
        ("this quarter", "2026-04-01..2026-06-30"),
        ("last weekend", "2026-05-16..2026-05-17"),
        ("3 days ago", "2026-05-17..2026-05-17"),
        ("two weeks ago", "2026-05-03..2026-05-09"),
        ("a month ago", "2026-04-01..2026-04-30"),
        ("a couple of days ago", "2026-05-18..2026-05-18"),
        ("a few months ago", "2026-02-01..2026-02-28"),
        ("in the last 10 days", "2026-05-10..2026-05-20"),
        ("past two weeks", "2026-05-06..2026-05-20"),
        ("last Tuesday", "2026-05-19..2026-05-19"),
        ("last Wednesday", "2026-05-13..2026-05-13"),
        ("last Thursday", "2026-05-14..2026-05-14"),
        ("on Monday", "2026-05-18..2026-05-18"),
        ("on Friday", "2026-05-15..2026-05-15"),
        ("next Friday", "2026-05-22..2026-05-22"),
        ("next Wednesday", "2026-05-27..2026-05-27"),
        ("in May", "2026-05-01..2026-05-31"),
        ("in june", "2025-06-01..2025-06-30"),
        ("last May", "2025-05-01..2025-05-31"),
        ("last March", "2026-03-01..2026-03-31"),
        ("on 3 May", "2026-05-03..2026-05-03"),
        ("on December 24", "2025-12-24..2025-12-24"),
        ("the 29th of February", "2024-02-29..2024-02-29"),
        ("in Q1", "2026-01-01..2026-03-31"),
        ("Q4 results", "2025-10-01..2025-12-31"),
        ("since Monday", "2026-05-18..2026-05-20"),
        ("since last month", "2026-04-01..2026-05-20"),
        ("between March and April", "2026-03-01..2026-04-30"),
        ("was haben wir gestern beschlossen", "2026-05-19..2026-05-19"),
        ("что было вчера", "2026-05-19..2026-05-19"),
    ];
    for (query, expected) in table {
        assert_eq!(range(query), Some((expected.to_owned(), false)), "{query}");
    }
}

#[test]
fn dates_with_a_year_are_absolute() {
    let table = [
        ("in May 2026", "2026-05-01..2026-05-31"),
        ("May of 2025", "2025-05-01..2025-05-31"),
        ("on 3 May 2023", "2023-05-03..2023-05-03"),
        ("May 3rd, 2023", "2023-05-03..2023-05-03"),
        ("on the 3rd of May, 2023", "2023-05-03..2023-05-03"),
        ("Friday, 3 May 2024", "2024-05-03..2024-05-03"),
        ("2026-05-01", "2026-05-01..2026-05-01"),
        ("deploy log 2026/05/01?", "2026-05-01..2026-05-01"),
        ("2026-05", "2026-05-01..2026-05-31"),
        ("2026-W11", "2026-03-09..2026-03-15"),
        ("Q1 2026", "2026-01-01..2026-03-31"),
        ("2025 Q3", "2025-07-01..2025-09-30"),
        ("03.05.2023", "2023-05-03..2023-05-03"),
        ("5/23/2023", "2023-05-23..2023-05-23"),
        ("in 2023", "2023-01-01..2023-12-31"),
        ("between 2026-05-01 and 2026-05-10", "2026-05-01..2026-05-10"),
        ("from 1 May 2026 to 10 May 2026", "2026-05-01..2026-05-10"),
        ("between May and July 2023", "2023-05-01..2023-07-31"),
        ("since 2024", "2024-01-01..2026-05-20"),
        ("after 3 May 2026", "2026-05-04..2026-05-20"),
        ("before 2026-05-01", "-9999-01-01..2026-04-30"),
        ("until May 2026", "-9999-01-01..2026-05-31"),
        ("yesterday I asked about 2023-04-05", "2023-04-05..2023-04-05"),
    ];
    for (query, expected) in table {
        let found = range(query).map(|(days, explicit)| (days.replace("-009999", "-9999"), explicit));
        assert_eq!(found, Some((expected.to_owned(), true)), "{query}");
    }
}

#[test]
fn words_that_only_resemble_dates_are_ignored() {
    for query in [
        "",
        "may I use this?",
        "you may 3 times retry",
        "they march on",
        "march to the sea",
        "to march or not",
        "the second server",
        "in a second",
        "the last 5 messages",
        "last time we met",
        "set the limit to 2048",
        "in 2000 words",
        "version 1.24.4",
        "10:30",
        "port 5432",
        "this server",
        "between us",
        "before lunch",
        "1769779331278",
        "the next step",
        "dec and enc",
        "3/4/2023",
        "99.99.2023",
        "room 3 of 12",
        "which Friday was the deploy",
        "what do we do on Tuesdays",
        "the last two Fridays",
    ] {
        assert_eq!(range(query), None, "{query}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_on_any_day_yields_an_ordered_range_or_none(
        text in any::<String>(),
        parts in prop::collection::vec(prop::sample::select(vec![
            "last", "next", "9999", "week", "years", "ago", "May", "31", "since", "between", "and", "2026", "q1",
            "2026-W53", "the", "of", "in", "a", "few", "monday", "before", "to", "0001-01-01", "29", "february",
        ]), 0..10),
        year in -9999i16..=9999,
        month in 1i8..=12,
    ) {
        let today = date(year, month, 28);
        for query in [text, parts.join(" ")] {
            if let Some(range) = date_range(&query, today) {
                prop_assert!(range.start <= range.end, "{}: {:?}", query, range);
            }
        }
    }
}
