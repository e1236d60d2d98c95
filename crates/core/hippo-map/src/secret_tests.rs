//! Tests that derived text contains no labelled secret.

#[path = "../../hippo-redact/tests/secrets/labelled.rs"]
#[allow(dead_code, reason = "other crates use the rest")]
mod labelled;

use hippo_text::chunk::chunk;
use hippo_text::source::SourceKind;
use hippo_types::time::Timestamp;

use labelled::{assert_shows_none, found_secrets};

use crate::bootstrap;

#[test]
fn index_entries_show_no_secret() {
    let found = found_secrets();
    let text: String = found
        .iter()
        .enumerate()
        .map(|(at, (line, _))| format!("## Pier {at}: {line}\n\nThe pier {at} of the harbour works with {line}\n\n- pier {at}: {line}\n\n"))
        .collect();
    let document = chunk(text.as_bytes());
    let file = |path| bootstrap::MemoryFile {
        path,
        kind: SourceKind::from_path(path),
        document: &document,
        bytes: text.as_bytes(),
        modified: Timestamp::from_seconds(1_700_000_000),
        known: false,
    };
    let files = [file("knowledge/piers.md"), file("memory/2026-03-03.md")];
    let entries = bootstrap::bootstrap(&files, &bootstrap::BootstrapSettings::default());
    assert!(entries.len() >= 2);
    for new in &entries {
        let entry = &new.entry;
        // Check the pointers as well, because a pointer contains the heading to which it refers.
        let shown = format!(
            "{}\n{}\n{:?}\n{:?}",
            entry.topic, entry.summary, entry.tags, entry.pointers
        );
        assert_shows_none("an entry", &shown, &found);
    }
}
