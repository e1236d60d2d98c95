//! Prompt section with the entries of the files that only the agent may read.

use hippo_proto::{IndexEntry, IndexListRequest};
use hippo_redact::redact;
use hippo_text::fence::fenced;
use hippo_text::text::{clip, one_line};

/// Budget of the section in tokens.
const BUDGET: usize = 600;
/// Maximum number of entries in the section.
const ENTRIES: u32 = 30;
/// Maximum number of bytes of an entry.
const ENTRY: usize = 240;

/// Returns the request for the entries.
pub fn request(workspace: String) -> IndexListRequest {
    IndexListRequest {
        workspace,
        private: true,
        limit: Some(ENTRIES),
        ..IndexListRequest::default()
    }
}

/// Returns the section, or an empty text without entries.
pub fn section(entries: &[IndexEntry]) -> String {
    let line = |entry: &IndexEntry| {
        let place = entry
            .pointers
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        let text = format!("{}: {} ({place})", entry.topic, entry.summary);
        format!("- {}\n", clip(&one_line(&redact(&text)), ENTRY))
    };
    let lines: String = entries.iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => fenced(
            &format!("Notes that only you can read:\n{lines}"),
            BUDGET,
            "hippoctl index list",
        ),
    }
}
