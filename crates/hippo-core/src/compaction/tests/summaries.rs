//! Does the summary look as it should, within its budget, without secrets, with an id for everything?

use super::*;

/// A session with every type of message.
fn session() -> String {
    let mut text = said("system", "You are an agent.");
    text += &said(
        "user",
        "Please make src/server/limits.rs read the limit from config.toml",
    );
    for number in 0..30 {
        text += &said("assistant", &format!("I look at part {number}."));
        text += &said(
            "tool",
            &format!("fn limit_{number}() -> u64 {{ {} }}", number * 1_111),
        );
    }
    text += &said("assistant", "My plan: read the limit once, at the start.");
    text += &said("user", "HEARTBEAT");
    text += &said("assistant", "NO_REPLY");
    text += &said("user", "And limit_7 must stay as it is, please");
    text
}

#[test]
fn a_summary_has_the_sections_of_the_extension() {
    insta::assert_snapshot!(compacted(&session()).summary);
}

#[test]
fn a_summary_within_a_budget_tells_what_has_no_room() {
    let compacted = within(&session(), 400);
    assert!(compacted.stats.dropped > 0);
    insta::assert_snapshot!(compacted.summary);
}

#[test]
fn every_id_leads_to_a_message_and_every_message_is_reached() {
    for budget in [1, 60, 120, 200, 300, 500, 1_000, 5_000] {
        let compacted = within(&session(), budget);
        let rest = compacted.rest();
        let led_on = compacted
            .stats
            .rest
            .as_ref()
            .is_some_and(|id| compacted.summary.contains(id.as_str()));
        for entry in compacted.entries() {
            let reached = compacted.summary.contains(&entry.id) || led_on && rest.contains(&entry.id);
            assert!(
                reached || compacted.summary.is_empty(),
                "{budget}: {entry:?}\n{}",
                compacted.summary
            );
        }
    }
}

#[test]
fn active_context_is_not_cut_while_the_budget_allows_more() {
    let long = format!(
        "The last words begin here {} and end here",
        "and go on ".repeat(400)
    );
    let text = session() + &said("user", &long);
    assert!(within(&text, 2_000).summary.contains(&long));
    assert!(compacted(&text).summary.contains(&long));
    let tight = within(&text, 700).summary;
    assert!(
        !tight.contains(&long) && tight.contains("The last words begin here and go on"),
        "{tight}"
    );
}

#[test]
fn the_sparse_index_has_its_own_limit() {
    let options = Options {
        config: Config {
            max_sparse_index_tokens: 40,
            ..Config::default()
        },
        ..Options::default()
    };
    let few = compact(session().as_bytes(), &options);
    let (_, sparse) = few
        .summary
        .split_once("## Sparse Index (decayed — pointers only)\n")
        .unwrap();
    let bytes: usize = sparse
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.len() + 1)
        .sum();
    assert!(bytes <= 160, "{bytes}");
    assert!(few.stats.dropped > 0);
}

#[test]
fn secrets_are_shown_nowhere_and_change_no_id() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let text = said("tool", &format!("API_KEY={secret} in env_file"))
        + &said("user", &format!("use {secret} for api_upload please"))
        + &session()
        + &said("user", &format!("again: password: hunter2hunter2 and {secret}"));
    for compacted in [
        compacted(&text),
        within(&text, 150),
        within(&text, 300),
        within(&text, 5_000),
    ] {
        assert!(
            !compacted.summary.contains("ghp_") && !compacted.summary.contains("hunter2"),
            "{}",
            compacted.summary
        );
    }
    let (_, seen) = messages(text.as_bytes(), None);
    let first = seen.entries().next().unwrap();
    assert_eq!(
        first.id,
        ContentId::of(&format!("API_KEY={secret} in env_file")).to_string()
    );
}

#[test]
fn a_transcript_without_messages_has_a_summary_without_entries() {
    for text in ["", "\n\n", "{}", "[]", "null"] {
        let compacted = compacted(text);
        assert_eq!(compacted.stats.messages, 0);
        assert_eq!(compacted.entries().len(), 0);
    }
}

#[test]
fn ids_are_short_and_stay() {
    let id = ContentId::of("hello").to_string();
    assert_eq!(id.len(), ContentId::LENGTH);
    assert_eq!(id, ContentId::of("hello").to_string());
    assert!(
        id.starts_with('m')
            && id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    );
    assert_ne!(id, ContentId::of("hello ").to_string());
}
