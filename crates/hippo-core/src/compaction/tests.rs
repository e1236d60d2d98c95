//! Does compaction keep the extension's rules, its budget, and its head whatever the transcript?

mod branches;
mod laws;
mod odd;
mod readers;
mod rules;
mod summaries;

use super::*;

/// What becomes of a transcript with the default numbers.
fn compacted(text: &str) -> Compacted {
    let options = Options {
        stored: true,
        ..Options::default()
    };
    compact(text.as_bytes(), &options)
}

fn within(text: &str, budget: usize) -> Compacted {
    let options = Options {
        budget: Some(budget),
        stored: true,
        ..Options::default()
    };
    compact(text.as_bytes(), &options)
}

/// The messages of a transcript, as `role name text|calls`, a `!` where a tool failed.
fn messages(bytes: &[u8], format: Option<Format>) -> (Vec<String>, Compacted) {
    let options = Options {
        format,
        ..Options::default()
    };
    let mut found = Vec::new();
    let mut compactor = Compactor::new(options.clone());
    loop {
        found.clear();
        let mut each = |_: ContentId, message: &Message<'_>| {
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
        compactor.feed_with(bytes, &mut each);
        match compactor.finish_with(&mut each) {
            Pass::Done(compacted) => return (found, *compacted),
            Pass::Again(selection) => compactor = Compactor::along(options.clone(), selection),
        }
    }
}

/// A message of a plain list as a line.
fn said(role: &str, text: &str) -> String {
    format!("{}\n", serde_json::json!({"role": role, "content": text}))
}
