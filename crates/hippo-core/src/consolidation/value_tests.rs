//! Is every changed value noticed, and is a plain repetition not taken for one?

use proptest::prelude::*;

use super::value::{Conflict, value_conflict};

#[test]
fn changed_values_are_noticed() {
    use Conflict::{Name, Negation, Number, Opposite, Order, Word};
    let table = [
        (
            "Lease of the worker is 30 s",
            "Lease of the worker is 120 s",
            Some(Number),
        ),
        (
            "The API listens on port 3000",
            "The API listens on port 8080",
            Some(Number),
        ),
        (
            "The API listens on port 3000",
            "The API listens on a port",
            Some(Number),
        ),
        ("Runs PostgreSQL 15", "Runs PostgreSQL 16", Some(Number)),
        ("Uses node v18.2.0", "Uses node v18.2.1", Some(Number)),
        ("Cells cost 5.85 € each", "Cells cost 5.58 € each", Some(Number)),
        ("Budget is $1,000", "Budget is $10,000", Some(Number)),
        ("Meeting at 10:30", "Meeting at 11:30", Some(Number)),
        ("Trip starts 2026-04-21", "Trip starts 2026-04-22", Some(Number)),
        ("Review is on Friday", "Review is on Monday", Some(Number)),
        ("The lease ends in June", "The lease ends in July", Some(Number)),
        ("Ten stations are down", "Nine stations are down", Some(Number)),
        ("Timeout 20 s, retry 3", "Timeout 3 s, retry 20", Some(Number)),
        ("Disk is 80% full", "Disk is 90% full", Some(Number)),
        ("Keep 5 backups", "Keep five backups", None),
        (
            "Deploys run on Friday",
            "Deploys never run on Friday",
            Some(Negation),
        ),
        (
            "The key is stored here",
            "The key is not stored here",
            Some(Negation),
        ),
        (
            "It works with the proxy",
            "It works without the proxy",
            Some(Negation),
        ),
        ("She likes fish", "She doesn't like fish", Some(Negation)),
        ("Telemetry is enabled", "Telemetry is disabled", Some(Opposite)),
        ("Turn the switch on", "Turn the switch off", Some(Opposite)),
        ("The build passes", "The build fails", Some(Opposite)),
        ("Request was approved", "Request was rejected", Some(Opposite)),
        (
            "Restart before the migration",
            "Restart after the migration",
            Some(Opposite),
        ),
        (
            "Move readings to TimescaleDB",
            "Move readings to TimescaleDB: reversed",
            Some(Opposite),
        ),
        (
            "The old gateway sends texts",
            "The old gateway no longer sends texts",
            Some(Negation),
        ),
        (
            "The flight was booked",
            "The flight was booked, then cancelled",
            Some(Opposite),
        ),
        (
            "Backend is owned by Priya",
            "Backend is owned by Tobias",
            Some(Name),
        ),
        ("Priya owns the backend", "Tobias owns the backend", Some(Word)),
        ("Deploy goes to Vercel", "Deploy goes to Netlify", Some(Name)),
        ("Deploy goes to Vercel", "Deploy goes to a host", Some(Name)),
        (
            "Config is in /etc/app.conf",
            "Config is in /etc/app.toml",
            Some(Name),
        ),
        ("staging runs on swift", "staging runs on wren", Some(Word)),
        ("he lives in potsdam", "he lives in berlin", Some(Word)),
        ("Her dog is brown", "Her dog is black", Some(Word)),
        (
            "traffic moved from wren to swift",
            "traffic moved from swift to wren",
            Some(Order),
        ),
        (
            "postgres is faster than sqlite",
            "sqlite is faster than postgres",
            Some(Order),
        ),
        ("The server restarts nightly", "The server restarts nightly", None),
        ("The server restarts nightly.", "Server restarts nightly", None),
        ("Restart the server", "Restarting the servers", None),
        (
            "Deploy command for Acme",
            "Deploy command for Acme and how logs are read",
            None,
        ),
        (
            "Deploys use the blue host",
            "Deploys, logs: use the blue host",
            None,
        ),
        (
            "Ada's notes on LoRa radio",
            "Notes on LoRa radio by Ada",
            Some(Order),
        ),
        ("We may deploy", "We deploy", None),
        (
            "Weekly review, decisions written down",
            "Weekly review: decisions are written down",
            None,
        ),
        ("", "", None),
        ("Port 5432", "", Some(Number)),
        (
            "Alarm texts go through Telaro from 1 April",
            "Alarm texts go through Telaro from 1 May",
            Some(Number),
        ),
        ("The map is slow", "The map is not slow, never was", None),
    ];
    assert!(table.len() >= 40);
    for (a, b, expected) in table {
        assert_eq!(value_conflict(a, b), expected, "{a} / {b}");
        assert_eq!(value_conflict(b, a), expected, "{b} / {a}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_does_not_conflict_with_itself(text in "\\PC{0,80}") {
        prop_assert_eq!(value_conflict(&text, &text), None);
    }

    #[test]
    fn another_number_always_conflicts(text in "[a-z ]{0,40}", one in 0_u32..9_999, other in 0_u32..9_999) {
        prop_assume!(one != other);
        let conflict = value_conflict(&format!("{text} {one} s"), &format!("{text} {other} s"));
        prop_assert_eq!(conflict, Some(Conflict::Number));
    }

    #[test]
    fn both_directions_agree(a in "[A-Za-z0-9 .,]{0,60}", b in "[A-Za-z0-9 .,]{0,60}") {
        prop_assert_eq!(value_conflict(&a, &b), value_conflict(&b, &a));
    }
}
