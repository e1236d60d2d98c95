//! Tests of corrections that name the old value.

use super::*;

fn text<'t>(date: Option<&'t str>, place: (&'t str, u32), text: &'t str) -> DatedText<'t> {
    DatedText {
        date,
        place,
        heading: &[],
        text,
    }
}

#[test]
fn a_correction_supersedes_the_old_value_in_earlier_texts_only() {
    let table = [
        (
            "Staging listens on port 8080.",
            "Staging listens on port 8443 now, not 8080.",
        ),
        (
            "Staging listens on port 8080.",
            "Staging listens on port 8443 since Monday, and no longer on 8080.",
        ),
        (
            "The billing queue uses RabbitMQ.",
            "Correction: the billing queue uses NATS, not RabbitMQ.",
        ),
        (
            "The nightly backup of billing runs on Hetzner.",
            "We moved the nightly backup of billing from Hetzner to Scaleway.",
        ),
        (
            "Failed webhooks of billing are retried five times.",
            "Correction: failed webhooks of billing are retried six times, not five.",
        ),
        (
            "- Staging listens on port 8080.",
            "- Staging listens on port 8443 now, not 8080.",
        ),
        (
            "The Billing queue takes 30 minutes.",
            "- Changed the Billing queue from 30 minutes to 8 hours.",
        ),
        (
            "- Changed the billing queue from 30 minutes to 8 hours.",
            "- Changed the billing queue from 8 hours to 45 minutes.",
        ),
        (
            "The CI provider is Jenkins.",
            "The CI provider is now Buildkite instead of Jenkins.",
        ),
        (
            "The editor of the team is vim.",
            "The editor of the team is now helix instead of vim.",
        ),
        (
            "The SLA of the support desk is 30 minutes.",
            "The SLA of the support desk is 45 minutes now, not 30 minutes and not 8 hours.",
        ),
        (
            "The SLA of the support desk is 8 hours.",
            "The SLA of the support desk is 45 minutes now, not 30 minutes and not 8 hours.",
        ),
        (
            "The backup starts at 04:30 UTC, because the job of the tides ends then.",
            "The backup starts at 05:15 UTC now, no longer at 04:30.",
        ),
        (
            "The worker runs on node fsn-b.",
            "The worker runs on node fsn-c now, not fsn-b.",
        ),
        (
            "The backend of billing runs on Node 18.",
            "- Upgraded the backend of billing from Node 18 to Node 20 (finally).",
        ),
    ];
    let (log, early, late) = ("memory/2026-03-02.md", Some("2026-03-02"), Some("2026-03-09"));
    for (old, new) in table {
        let old = |date, line| text(date, (log, line), old);
        let new = |date, line| text(date, (log, line), new);
        for (one, other) in [
            (old(None, 3), new(late, 4)),
            (old(early, 3), new(late, 1)),
            (old(late, 3), new(late, 4)),
        ] {
            assert_eq!(find_corrected(&[one, other]), [(0, 1)], "{one:?}");
            assert_eq!(find_corrected(&[other, one]), [(1, 0)], "{one:?}");
        }
        for (one, other) in [
            (old(late, 3), new(early, 4)),
            (old(late, 5), new(late, 4)),
            (old(early, 3), new(None, 4)),
        ] {
            assert_eq!(find_corrected(&[one, other]), [], "{one:?}");
        }
    }
}

#[test]
fn comparisons_advice_and_other_subjects_correct_nothing() {
    for (old, new) in [
        (
            "Billing listens on 8080.",
            "Correction: staging is on port 8443, not 8080.",
        ),
        (
            "Staging listens on port 8080.",
            "Staging listens on port 8443, not 8080.",
        ),
        (
            "Staging listens on port 8080.",
            "Was staging ever on port 8443 now, not 8080?",
        ),
        (
            "Staging moved away from port 8080.",
            "Staging listens on port 8443 now, not 8080.",
        ),
        (
            "Make sure that your staging uses port 8080.",
            "Staging listens on port 8443 now, not 8080.",
        ),
        (
            "You changed your staging port from 5 to 8080.",
            "Staging listens on port 8443 now, not 8080.",
        ),
        (
            "The flight from Boston is on Friday.",
            "There is a direct flight from Boston to Miami that can be upgraded.",
        ),
        (
            "The editor of the backend team is vim.",
            "The editor of the team is now helix instead of vim.",
        ),
        (
            "The editor of the team is fine.",
            "The editor of the team is now helix instead of vim.",
        ),
        (
            "The SLA of the support desk is 20 minutes.",
            "The SLA of the support desk is 45 minutes now, not 30 minutes and not 8 hours.",
        ),
        (
            "The queue uses NATS, not RabbitMQ.",
            "Correction: the queue uses NATS, not RabbitMQ.",
        ),
        // Another thing with the same old value.
        (
            "Ada works from Berlin.",
            "Grace now works from Paris instead of Berlin.",
        ),
        (
            "The audit log uses RabbitMQ.",
            "The billing queue uses NATS now instead of RabbitMQ.",
        ),
        (
            "The mobile client uses Flutter.",
            "The desktop client uses Tauri now instead of Flutter.",
        ),
        (
            "The Vienna office has Slack.",
            "The Graz office now has Teams rather than Slack.",
        ),
        (
            "Our customer Meier has 30 seats.",
            "Our customer Schmidt has 40 seats now instead of 30.",
        ),
        (
            "In the audit log, the queue has RabbitMQ.",
            "The billing queue uses NATS now instead of RabbitMQ.",
        ),
        (
            "The worker runs on node fsn-a.",
            "The worker runs on node fsn-c now, not fsn-b.",
        ),
        // A wish, and a denial.
        (
            "The parser supports Kafka.",
            "It would be nice if the parser now used Pulsar instead of Kafka.",
        ),
        (
            "The search worker uses Redis.",
            "The search worker is not using Valkey now instead of Redis.",
        ),
    ] {
        let place = ("a.md", 1);
        let texts = [text(None, place, old), text(Some("2026-03-09"), place, new)];
        assert_eq!(find_corrected(&texts), [], "{old}");
    }
}
