//! Tests of compaction: rules, budget, formats, robustness.

mod branches;
mod laws;
mod odd;
mod readers;
mod rules;
mod summaries;

use super::*;

/// Compacts a transcript with the default settings.
fn compacted(text: &str) -> CompactionResult {
    let options = CompactionOptions {
        stored: true,
        ..CompactionOptions::default()
    };
    compact(text.as_bytes(), &options)
}

fn compacted_within(text: &str, budget: usize) -> CompactionResult {
    let options = CompactionOptions {
        budget: Some(budget),
        stored: true,
        ..CompactionOptions::default()
    };
    compact(text.as_bytes(), &options)
}

/// Returns the messages of a transcript in the form `role name text|calls`. A `!` marks a failed tool.
fn messages(bytes: &[u8], format: TranscriptFormat) -> (Vec<String>, CompactionResult) {
    let options = CompactionOptions {
        format,
        ..CompactionOptions::default()
    };
    let mut found = Vec::new();
    let mut compactor = Compactor::new(options.clone());
    loop {
        found.clear();
        let mut each = |_: ShortContentId, message: &Message<'_>| {
            let Message {
                role,
                name,
                text,
                calls,
                error,
                ..
            } = message;
            let failed = if *error { "!" } else { "" };
            found.push(format!("{role:?}{failed} {name} {text}|{calls}"));
        };
        compactor.feed(bytes, &mut each);
        match compactor.finish(&mut each) {
            CompactionPass::Done(compacted) => return (found, *compacted),
            CompactionPass::Again(again) => compactor = *again,
        }
    }
}

/// Formats a message as a line of a transcript.
fn message_line(role: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({"role": role, "content": text}))
}
