//! Tests of node bodies that an agent submits.

use jiff::civil::{Date, date};

use super::*;

fn of(date: Date, text: &str) -> NodeSource {
    NodeSource {
        path: "memory/2026-03-18.md".to_owned(),
        text: text.to_owned(),
        first_line: 1,
        date: Some(date),
    }
}

#[test]
fn unrelated_short_and_long_bodies_are_refused() {
    let day = date(2026, 3, 18);
    let text = long_log(day, 300);
    let source = [of(day, &text)];
    let take = |body: &str| build_submitted(Period::Day(day), body, None, &[], &source, TODAY);
    assert!(matches!(take("## Topics"), Err(BodyRejection::Short(_))));
    assert!(matches!(take(&text.repeat(3)), Err(BodyRejection::Long { .. })));
    let other = "The quarterly revenue of the bakery rose sharply while its ovens were being replaced by newer models.";
    assert!(matches!(take(other), Err(BodyRejection::Unlike { .. })));
    let week = format!("---\ntype: weekly\nperiod: 2026-W12\n---\n\n{}", long_log(day, 3));
    assert!(matches!(take(&week), Err(BodyRejection::Other { key, .. }) if key == "type"));
    let mine = format!(
        "---\ntype: daily\nperiod: 2026-03-18\n---\n\n{}",
        long_log(day, 3)
    );
    assert!(take(&mine).is_ok());
    let secret = format!(
        "{}- decision: the warehouse password: hunter2-Xy81kQz\n",
        long_log(day, 3)
    );
    assert!(!take(&secret).unwrap().0.body.contains("hunter2"));
}

#[test]
fn foreign_front_matter_is_kept_without_secrets() {
    let day = date(2026, 3, 18);
    let text = long_log(day, 300);
    let source = [of(day, &text)];
    let period = Period::Day(day);
    let before = Node::read(period, "---\ntype: daily\nmood: windy\n---\n\nshort\n");
    let body = format!(
        "---\ntopics: warehouse [project], token: ghp_0123456789abcdefghijABCDEFGHIJ012345\nmood: windy\nby: the night shift\npassword: hunter2-Xy81kQz\n---\n\n{}",
        long_log(day, 3)
    );
    let (node, _) = build_submitted(period, &body, Some(&before), &[], &source, TODAY).unwrap();
    assert_eq!(node.others[..2], ["mood: windy", "by: the night shift"]);
    let file = node.write();
    assert!(file.contains("topics: warehouse [project]"), "{file}");
    for secret in ["ghp_0123", "hunter2"] {
        assert!(!file.contains(secret), "{file}");
    }
}

#[test]
fn verbatim_bodies_keep_their_line_numbers() {
    let day = date(2026, 3, 18);
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\nAAAAMwAAAAtzc2gtZWQy\n-----END OPENSSH PRIVATE KEY-----\n";
    let log = format!("# Log\n\n{key}\n- decision: the ferry leaves from pier 9\n");
    let mut tree = with([(day, log.clone())]);
    tree.compact(TODAY, false);
    let body = tree.node("2026-03-18").body;
    assert!(!body.contains("b3Blbn"), "{body}");
    let line = |text: &str| text.lines().position(|line| line.contains("pier 9"));
    assert_eq!(line(&body), line(&log), "{body}");
}
