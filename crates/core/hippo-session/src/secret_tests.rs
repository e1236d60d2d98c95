//! Tests that sections and summaries show no labelled secret.

#[path = "../../hippo-redact/tests/secrets/labelled.rs"]
#[allow(dead_code, reason = "other crates use the rest")]
mod labelled;

use hippo_types::time::Date;

use labelled::{assert_shows_none, found_secrets};

use crate::compaction;
use crate::flush::{self, flush};

#[test]
fn session_sections_and_summaries_show_no_secret() {
    let found = found_secrets();
    let mut transcript = String::new();
    for (at, (line, _)) in found.iter().enumerate() {
        for (role, text) in [
            ("user", format!("Please set up pier {at} with {line}")),
            (
                "assistant",
                format!("We decided on pier {at}: {line}. Fixed: all tests pass with {line}"),
            ),
            ("user", format!("no, always use {line}")),
        ] {
            let message = serde_json::json!({"type": role, "uuid": format!("{at}{text}"), "timestamp": "2026-03-02T09:00:00Z",
                "message": {"role": role, "content": text}});
            transcript.push_str(&format!("{message}\n"));
        }
    }
    let flushed = flush(transcript.as_bytes(), flush::FlushOptions::default(), |_| {
        Date::new(2026, 3, 2).unwrap()
    });
    let sections: String = flushed
        .sections
        .iter()
        .map(|section| section.text.as_str())
        .collect();
    assert!(sections.len() > 1_000, "{sections}");
    assert_shows_none("a section of the log", &sections, &found);
    assert_shows_none(
        "the topic of a session",
        &flushed.topic.unwrap_or_default(),
        &found,
    );
    for tokens in [500, 20_000] {
        let options = compaction::CompactionOptions {
            budget: Some(tokens),
            ..compaction::CompactionOptions::default()
        };
        let compacted = compaction::compact(transcript.as_bytes(), &options);
        assert_shows_none("a summary", &compacted.summary, &found);
    }
}
