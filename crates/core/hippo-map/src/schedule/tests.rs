//! Tests of due cycles, including clock changes and time zones.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;
const LONG_AGO: Timestamp = Timestamp(1_600_000_000_000);

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// Parses a time such as `2026-03-29T02:30+01:00`.
fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn ran(cycle: Cycle, started: Timestamp, outcome: RunOutcome) -> RunRecord {
    let open = matches!(outcome, RunOutcome::Running | RunOutcome::Interrupted);
    RunRecord {
        cycle,
        started,
        finished: (!open).then_some(started.plus(1_000)),
        outcome,
    }
}

/// Returns a schedule like the default one in the settings.
fn standard() -> ScheduleSettings {
    let line = |line| Some(Cron::parse(line).unwrap());
    ScheduleSettings {
        light: line("0 * * * *"),
        deep: line("30 2 * * *"),
        archival: line("30 3 * * sun"),
    }
}

#[test]
fn invalid_cron_lines_are_rejected() {
    let lines = [
        "30 2 * *",
        "",
        "0 0 0 1 1 1 1",
        "60 2 * * *",
        "0 24 * * *",
        "0  2 0 * *",
        "0 2 * foo *",
        "0 2 * * 8",
        "0,x 2 * * *",
        "5-1 2 * * *",
        "*/0 2 * * *",
        "*/x 2 * * *",
        "0 0 30 2 *",
        "é 2 * * *",
        "@never",
        "0 2 LL * *",
        "+5 2 * * *",
    ];
    for line in lines {
        assert!(Cron::parse(line).is_err(), "{line}");
    }
}

#[test]
fn cron_lines_yield_their_next_time() {
    let table = [
        ("30 2 * * *", "2026-01-10T12:00Z", "2026-01-11T02:30Z"),
        ("30 2 * * *", "2026-01-10T02:30Z", "2026-01-11T02:30Z"),
        ("0 * * * *", "2026-01-10T12:00:00.001Z", "2026-01-10T13:00Z"),
        ("*/15 * * * *", "2026-12-31T23:50Z", "2027-01-01T00:00Z"),
        ("10 30 2 * * *", "2026-01-10T02:30:09Z", "2026-01-10T02:30:10Z"),
        ("0 0 29 2 *", "2026-01-10T02:30:09Z", "2028-02-29T00:00Z"),
        ("0 3 * * sun", "2026-01-10T12:00Z", "2026-01-11T03:00Z"),
        ("0 3 * * 7", "2026-01-10T12:00Z", "2026-01-11T03:00Z"),
        ("0 3 * * 1-5", "2026-01-10T12:00Z", "2026-01-12T03:00Z"),
        ("0 0 13 * fri", "2026-01-10T12:00Z", "2026-01-13T00:00Z"),
        ("0 0 1 JAN,JUL *", "2026-01-10T12:00Z", "2026-07-01T00:00Z"),
        ("5/20 0 * * *", "2026-01-10T00:06Z", "2026-01-10T00:25Z"),
        ("@monthly", "2026-01-10T00:06Z", "2026-02-01T00:00Z"),
    ];
    for (line, after, next) in table {
        let found = Cron::parse(line).unwrap().next_after(at(after), &TimeZone::UTC);
        assert_eq!(found, Some(at(next)), "{line} after {after}");
    }
}

#[test]
fn clock_changes_delay_skipped_times_and_repeat_only_hourly_ones() {
    let table = [
        // The clock change in spring skips this time, so the cycle runs later.
        ("30 2 * * *", "2026-03-29T00:30Z", "2026-03-29T01:30Z"),
        ("30 2 * * *", "2026-03-29T01:30Z", "2026-03-30T00:30Z"),
        ("0 * * * *", "2026-03-29T00:00Z", "2026-03-29T01:00Z"),
        ("0 * * * *", "2026-03-29T01:00Z", "2026-03-29T02:00Z"),
        // The clock change in autumn repeats this hour. A daily cycle runs once, and an hourly cycle runs in both
        // hours.
        ("30 2 * * *", "2026-10-24T12:00Z", "2026-10-25T00:30Z"),
        ("30 2 * * *", "2026-10-25T00:30Z", "2026-10-26T01:30Z"),
        ("0 * * * *", "2026-10-25T00:00Z", "2026-10-25T01:00Z"),
        ("0 * * * *", "2026-10-25T01:00Z", "2026-10-25T02:00Z"),
    ];
    for (line, after, next) in table {
        let found = Cron::parse(line)
            .unwrap()
            .next_after(at(after), &zone("Europe/Berlin"));
        assert_eq!(found, Some(at(next)), "{line} after {after}");
    }
    // This time zone skipped 30 December 2011.
    let samoa = zone("Pacific/Apia");
    let night = Cron::parse("30 2 * * *").unwrap();
    let mut moment = at("2011-12-29T00:00Z");
    let mut days = 0;
    while moment < at("2012-01-02T00:00Z") {
        moment = night.next_after(moment, &samoa).unwrap();
        days += 1;
        assert!(days < 9);
    }
}

#[test]
fn due_cycles_follow_from_the_last_runs() {
    use Cycle::{Archival, Deep, Light};
    let settings = standard();
    let berlin = zone("Europe/Berlin");
    let now = at("2026-03-10T08:10Z");
    let light = |started: &str, outcome| ran(Light, at(started), outcome);
    let deep = |started: &str, outcome| ran(Deep, at(started), outcome);
    let recent = at("2026-03-10T08:05Z");
    let done = RunOutcome::Done;
    let fresh = light("2026-03-10T08:00Z", done);
    type Expected<'a> = &'a [Cycle];
    let table: [(&str, Vec<RunRecord>, Timestamp, Expected<'_>); 12] = [
        ("never run, just registered", vec![], recent, &[Light]),
        (
            "all done",
            vec![fresh, deep("2026-03-10T01:30Z", done)],
            recent,
            &[],
        ),
        (
            "night missed",
            vec![fresh, deep("2026-03-09T01:30Z", done)],
            recent,
            &[Deep],
        ),
        (
            "a week asleep",
            vec![fresh, deep("2026-03-03T01:30Z", done)],
            recent,
            &[Deep],
        ),
        (
            "cut off",
            vec![fresh, deep("2026-03-10T01:30Z", RunOutcome::Interrupted)],
            recent,
            &[Deep],
        ),
        (
            "running",
            vec![fresh, deep("2026-03-10T01:30Z", RunOutcome::Running)],
            recent,
            &[],
        ),
        (
            "capped counts",
            vec![fresh, deep("2026-03-10T01:30Z", RunOutcome::Capped)],
            recent,
            &[],
        ),
        (
            "failed just now",
            vec![light("2026-03-10T08:06Z", RunOutcome::Failed)],
            recent,
            &[],
        ),
        (
            "failed a while ago",
            vec![light("2026-03-10T08:04Z", RunOutcome::Failed)],
            recent,
            &[Light],
        ),
        (
            "failed twice: the wait is ten minutes",
            vec![
                light("2026-03-10T07:58Z", RunOutcome::Failed),
                light("2026-03-10T08:04Z", RunOutcome::Failed),
            ],
            recent,
            &[],
        ),
        (
            "clock set back by years",
            vec![light("2036-03-10T08:00Z", done), deep("2036-03-10T08:00Z", done)],
            at("2036-03-01T00:00Z"),
            &[Light, Deep, Archival],
        ),
        (
            "clock set back by an hour",
            vec![light("2026-03-10T08:00Z", done), light("2026-03-10T09:00Z", done)],
            recent,
            &[],
        ),
    ];
    for (name, runs, known_since, expected) in table {
        let found = due(&runs, known_since, now, &berlin, &settings);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn archival_is_checked_weekly_and_runs_every_four_weeks() {
    let settings = standard();
    // 2026-03-01 was a Sunday.
    let runs = [ran(Cycle::Archival, at("2026-03-01T03:30Z"), RunOutcome::Done)];
    let is_due = |now: &str| {
        let due = due(&runs, LONG_AGO, at(now), &TimeZone::UTC, &settings);
        due.contains(&Cycle::Archival)
    };
    assert!(!is_due("2026-03-22T12:00Z"));
    assert!(!is_due("2026-03-29T03:29Z"));
    assert!(is_due("2026-03-29T03:30Z"));
    assert!(is_due("2026-04-02T00:00Z"));
}

fn a_moment() -> impl Strategy<Value = Timestamp> {
    // Test times around both clock changes of 2026, and arbitrary times.
    let spring = at("2026-03-29T01:00Z").0;
    let autumn = at("2026-10-25T01:00Z").0;
    prop_oneof![
        (-40 * HOUR..40 * HOUR).prop_map(move |off| Timestamp(spring + off)),
        (-40 * HOUR..40 * HOUR).prop_map(move |off| Timestamp(autumn + off)),
        (0_i64..2_000_000_000_000).prop_map(Timestamp),
    ]
}

fn a_line() -> impl Strategy<Value = &'static str> {
    let lines = [
        "0 * * * *",
        "30 2 * * *",
        "30 3 * * sun",
        "*/7 1-3 * * *",
        "15 2,3 1 * *",
        "0 30 2 * * *",
    ];
    prop::sample::select(lines.to_vec())
}

fn a_zone() -> impl Strategy<Value = TimeZone> {
    let zones = [
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
        "Pacific/Apia",
    ];
    prop::sample::select(zones.to_vec()).prop_map(zone)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_next_time_is_the_first_match_after_the_given_time(
        line in a_line(), zone in a_zone(), after in a_moment(), share in 0.0_f64..1.0,
    ) {
        let cron = Cron::parse(line).unwrap();
        let next = cron.next_after(after, &zone).unwrap();
        prop_assert!(next > after);
        let between = after.plus(((next.0 - after.0 - 1) as f64 * share) as i64);
        prop_assert_eq!(cron.next_after(between, &zone), Some(next));
    }

    #[test]
    fn an_hourly_line_matches_every_hour(zone in a_zone(), after in a_moment()) {
        let hourly = Cron::parse("0 * * * *").unwrap();
        let next = hourly.next_after(after, &zone).unwrap();
        // Lord Howe Island changes its clocks by half an hour, so a local hour lasts up to an hour and a half.
        prop_assert!(next.0 - after.0 <= HOUR + HOUR / 2);
    }

    #[test]
    fn a_nightly_line_matches_once_per_local_day(zone in a_zone(), after in a_moment()) {
        let night = Cron::parse("30 2 * * *").unwrap();
        let first = night.next_after(after, &zone).unwrap();
        let second = night.next_after(first, &zone).unwrap();
        let local = |moment: Timestamp| -> DateTime {
            zone.to_datetime(jiff::Timestamp::from_millisecond(moment.0).unwrap())
        };
        prop_assert!(local(first).date() < local(second).date());
    }

    #[test]
    fn no_cycle_is_due_after_the_due_cycles_ran(
        zone in a_zone(), now in a_moment(), ago in 0_i64..400 * DAY_MS, known in a_moment(),
    ) {
        let settings = standard();
        let mut runs = vec![ran(Cycle::Deep, now.plus(-ago), RunOutcome::Done)];
        for cycle in due(&runs.clone(), known, now, &zone, &settings) {
            runs.push(ran(cycle, now, RunOutcome::Done));
        }
        prop_assert_eq!(due(&runs, known, now, &zone, &settings), Vec::new());
        let tick = |cycle| next_tick(cycle, &runs, known, now, &zone, &settings).unwrap();
        let tick = CYCLES.map(tick).into_iter().min().unwrap();
        prop_assert!(tick > now && tick.0 - now.0 <= HOUR + HOUR / 2);
    }

    #[test]
    fn parsing_any_cron_line_does_not_panic(line in "[0-9*/,a-z@ -]{0,30}") {
        let _ = Cron::parse(&line);
    }
}
