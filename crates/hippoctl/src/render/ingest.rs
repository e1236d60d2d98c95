//! Rendering of `ingest`.

use std::fmt::Write;

use super::{FORMATS, INDENT, lines, one_line, plural};
use crate::output::Style;
use crate::verbs::ingest::IngestResult;

/// Renders each transcript: the daily logs that changed, and the numbers of new messages, known messages and malformed
/// lines.
pub fn ingested(done: &[IngestResult], style: Style) -> String {
    let mut text = String::new();
    for one in done {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", style.strong(one_line(&one.path)));
        if let Some(error) = &one.error {
            let _ = writeln!(text, "{INDENT}not ingested: {}", one_line(error));
        }
        let Some(answer) = &one.answer else { continue };
        for log in &answer.appended {
            let place = format!("{}:{}", one_line(&log.path), lines(log.start_line, log.end_line));
            let topics = log.topics.iter().map(|topic| one_line(topic)).collect::<Vec<_>>();
            let _ = writeln!(text, "{INDENT}{}: {}", style.path(place), topics.join("; "));
        }
        if answer.appended.is_empty() {
            let _ = writeln!(text, "{INDENT}nothing appended");
        }
        let mut counts = plural(answer.messages, "new message");
        if answer.known > 0 {
            let _ = write!(counts, ", {} known", answer.known);
        }
        if answer.from > 0 {
            let _ = write!(counts, ", {} bytes already read", answer.from);
        }
        if let Some(stored) = answer.stored {
            let _ = write!(counts, ", {} stored", plural(stored, "new content"));
        }
        let _ = writeln!(text, "{INDENT}{counts}");
        if answer.malformed > 0 {
            let places = answer.problems.iter().take(5);
            let places = places.map(|it| format!("line {}: {}", it.line, one_line(&it.what)));
            let places: Vec<String> = places.collect();
            let more = if answer.malformed > 5 { ", …" } else { "" };
            let malformed = plural(answer.malformed, "malformed line");
            let _ = writeln!(text, "{INDENT}{malformed} skipped ({}{more})", places.join(", "));
        }
        // If `from` is above 0, an earlier flush has already read the start of the transcript.
        if answer.messages + answer.known == 0 && answer.from == 0 {
            let _ = writeln!(text, "{INDENT}it contains no message; {FORMATS}");
        }
        for note in &answer.notes {
            let _ = writeln!(text, "{INDENT}note: {}", one_line(note));
        }
    }
    text
}
