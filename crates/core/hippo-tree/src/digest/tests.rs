//! Tests of node budgets, source pointers and protected statements.

use proptest::prelude::*;

use super::*;

const PATH: &str = "memory/2026-01-10.md";

fn source(text: &str) -> NodeSource {
    NodeSource {
        path: PATH.to_owned(),
        text: text.to_owned(),
        first_line: 1,
        date: None,
    }
}

fn of(text: &str, most: usize) -> String {
    digest(NodeKind::Daily, &[source(text)], most, None).body
}

/// Returns a log that is as long as the logs of many days, with little valuable content.
fn long() -> String {
    let mut text = String::from("# 2026-01-10\n\n");
    for session in 0..40 {
        text.push_str(&format!(
            "## Session s{session:04}\nUser: Can you tell me about it?\nAssistant: There is a lot to say about it. It is what it is.\n\
             User: I paid ${session}50 for the Ferrand clock in Lisbon, it was worth it.\nAssistant: That is good to hear.\n\n"
        ));
    }
    text.push_str(
        "## Ways [feedback]\n- rule: never   delete **logs**\n\n## Ada [user]\n- Ada lives in Porto\n",
    );
    text
}

#[test]
fn statements_by_users_about_themselves_are_kept_verbatim() {
    let body = of(&long(), 300);
    assert!(body.len() <= 1_200, "{}", body.len());
    assert!(
        body.contains("## Feedback\n- rule: never   delete **logs** → "),
        "{body}"
    );
    assert!(
        body.contains("## User\n- Ada lives in Porto → memory/2026-01-10.md#L"),
        "{body}"
    );
}

#[test]
fn informative_statements_are_kept_before_filler() {
    let body = of(&long(), 600);
    assert!(
        body.contains("I paid $150 for the Ferrand clock in Lisbon"),
        "{body}"
    );
    assert!(!body.contains("Can you tell me"), "{body}");
}

#[test]
fn sections_of_a_node_survive_the_next_level() {
    let log = "# 2026-01-10\n\n## Pump\n- decision: the left pump stays\n- lesson: drain the pipe first\n- pending: order a valve\n\
               - work done: the pipe was drained\n- the cellar had 40 cm of water\n";
    let day = of(log, 200);
    let week = digest(
        NodeKind::Weekly,
        &[NodeSource {
            path: "memory/daily/2026-01-10.md".to_owned(),
            ..source(&day)
        }],
        200,
        None,
    );
    for line in [
        "## Key Decisions\n- Pump: the left pump stays → memory/2026-01-10.md#L4",
        "## Tasks Completed\n- Pump: the pipe was drained → memory/2026-01-10.md#L7",
        "## Lessons Learned\n- Pump: drain the pipe first → memory/2026-01-10.md#L5",
        "## Open Items\n- Pump: order a valve → memory/2026-01-10.md#L6",
        "- Pump: the cellar had 40 cm of water → memory/2026-01-10.md#L8",
    ] {
        assert!(day.contains(line), "{line}\n{day}");
        assert!(week.body.contains(line), "{line}\n{}", week.body);
    }
}

#[test]
fn statements_after_a_body_prefer_the_newest_and_unmentioned_ones() {
    let line = |thing: &str, number: usize| {
        format!(
            "- decision: {thing} {number} goes to warehouse {} of the quay\n",
            number % 7
        )
    };
    let crates: String = (0..300).map(|number| line("crate", number)).collect();
    let barrels: String = (400..412).map(|number| line("barrel", number)).collect();
    let text = format!("# 2026-01-10\n\n## Warehouse [project]\n{crates}{barrels}");
    let count = |body: &str, word: &str| body.matches(word).count();
    let since =
        |text: &str, most, body: &str| digest(NodeKind::Daily, &[source(text)], most, Some(body)).body;
    let body = "## Key Decisions\n- all crates go to the quay\n";
    assert!(
        count(&of(&text, 500), "barrel ") < 12,
        "they are no better than others"
    );
    let told = since(&text, 500, body);
    assert_eq!(count(&told, "barrel "), 12, "{told}");
    assert!(
        count(&told, "crate ") > 0,
        "the remaining room is not used: {told}"
    );
    assert!(tokens::of(&told) <= 500);

    let two = "## Move [project]\n- decision: Ada rents the crane in Lisbon\n- decision: Ben paints the hull in Porto\n";
    let one = |body: &str| since(two, 30, body);
    assert!(one("- Ben paints the hull in Porto\n").contains("Ada rents"));
    assert!(one("- Ada rents the crane in Lisbon\n").contains("Ben paints"));

    // If there is enough room, statements in a submitted body are not repeated.
    let node = of(two, 500);
    let more = format!("{two}- [ ] tell Cleo of the crane\n");
    let told = since(&more, 500, &format!("{node}- and Zoe steers\n"));
    assert!(
        told.contains("tell Cleo") && !told.contains("Lisbon") && !told.contains("Porto"),
        "{told}"
    );
}

#[test]
fn sentences_of_one_speaker_form_one_line_that_stands_alone() {
    let log = "# 2026-01-10\n\n## 13:56 Ada and Ben\n\n- **Ada:** Hey Ben! It was so good. Wow, I bought a red kayak in Porto!\n\
               - **Ben:** That's cool, Ada! Thanks!\n- **Ada:** By the way, I painted the garden fence with my sister Cleo.\n\
               - **Ben:** Yeah, I'm moving to Lisbon in March.\n";
    let body = of(log, 120);
    assert!(
        body.contains("- Ada: I bought a red kayak in Porto! I painted the garden fence with my sister Cleo. → memory/2026-01-10.md#L5"),
        "{body}"
    );
    assert!(
        body.contains("- Ben: I'm moving to Lisbon in March. → memory/2026-01-10.md#L8"),
        "{body}"
    );
    for noise in ["13:56", "Hey", "so good", "cool", "Thanks"] {
        assert!(!body.contains(noise), "{noise}\n{body}");
    }
}

#[test]
fn statements_in_other_scripts_are_kept() {
    let text = "# 日誌\n\n## 会議\n- 田中さんは四月に京都へ引っ越した。新しい家は駅の近くにある。\n\n## Встреча\n- Анна купила билет в Казань за 4500 рублей.\n";
    let body = of(text, 200);
    assert!(body.contains("京都") && body.contains("Казань"), "{body}");
}

#[test]
fn a_budget_is_a_share_within_bounds() {
    assert_eq!(budget(NodeKind::Daily, 0), 0);
    assert_eq!(budget(NodeKind::Daily, 400), 400);
    assert_eq!(budget(NodeKind::Daily, 5_000), 1_000);
    assert_eq!(budget(NodeKind::Daily, 100_000), 7_000);
    assert!(budget(NodeKind::Monthly, usize::MAX) > 1_000);
}

/// Generates lines as they occur in logs, including lines that could break a parser.
fn logs() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "\\PC{0,80}",
        "(User|Assistant|Ada|助手): [a-zA-Z0-9 .,?!\"$]{0,120}",
        "#{1,4} [A-Za-z ]{0,20}( \\[(user|feedback|project|reference)\\])?",
        "- (decision|pending|lesson|work done|user feedback): [a-z0-9 ]{0,60}",
        "- \\[[ x]\\] [a-z ]{0,40}",
        Just("```".to_owned()),
        Just("<!-- hippod: x -->".to_owned()),
        Just("<!-- /hippod -->".to_owned()),
        Just("password=Tr0ub4dor&3xyz".to_owned()),
        Just("-----BEGIN RSA PRIVATE KEY-----".to_owned()),
        "[一-龠ぁ-ん。]{0,40}",
        Just(String::new()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec(line, 0..60), end).prop_map(|(lines, end)| lines.join(end))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_log_yields_a_deterministic_node_within_its_budget(text in logs(), most in 0_usize..400) {
        for level in [NodeKind::Daily, NodeKind::Weekly, NodeKind::Monthly] {
            let found = digest(level, &[source(&text)], most, None);
            prop_assert!(tokens::of(&found.body) <= most, "{} of {most}", tokens::of(&found.body));
            prop_assert_eq!(&found, &digest(level, &[source(&text)], most, None));
            prop_assert!(!found.body.contains("Tr0ub4dor"), "{}", found.body);
            let since = digest(level, &[source(&text)], most, Some(&found.body));
            prop_assert!(tokens::of(&since.body) <= most, "{} of {most}", tokens::of(&since.body));
            prop_assert!(!since.body.contains("Tr0ub4dor"), "{}", since.body);
        }
    }

    #[test]
    fn every_line_of_a_node_points_to_a_line_with_content(text in logs()) {
        let body = of(&text, 2_000);
        let lines: Vec<&str> = text.split('\n').collect();
        for line in body.lines().filter(|line| line.starts_with("- ")) {
            let place = line.rsplit_once(&format!(" → {PATH}#L")).and_then(|(_, line)| line.parse::<usize>().ok());
            let there = place.and_then(|line| lines.get(line.checked_sub(1)?));
            prop_assert!(there.is_some_and(|line| !line.trim().is_empty()), "{line}");
        }
    }
}
