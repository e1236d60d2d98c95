//! How does it look that memories of another program were taken over, or would be?

use std::fmt::Write;

use hippo_proto::ImportResponse;

use super::{INDENT, lines, one_line, plural};
use crate::output::Style;

/// Damaged places that are named.
const NAMED: usize = 10;

/// Each file with how many memories it gets, what was left out, and how it is taken back.
pub fn imported(answer: &ImportResponse, style: Style) -> String {
    let new: u64 = answer.files.iter().map(|file| file.memories).sum();
    let mut text = format!("{} found", memories(answer.memories));
    if answer.known > 0 {
        let _ = write!(text, ", {} known", answer.known);
    }
    let done = if answer.applied { "written" } else { "to write" };
    // Writing to a string cannot fail.
    let _ = writeln!(text, ", {new} {done}");
    for file in &answer.files {
        let place = match (file.start_line, file.end_line) {
            (Some(start), Some(end)) => format!("{}:{}", one_line(&file.path), lines(start, end)),
            _ => one_line(&file.path).to_string(),
        };
        let kind = if file.new { ", a new file" } else { "" };
        let count = memories(file.memories);
        let _ = writeln!(text, "{INDENT}{}: {count}{kind}", style.path(place));
    }
    for (count, what) in [
        (
            answer.left_out,
            "left out: prompts and the like, or deleted there",
        ),
        (answer.redacted, "with a secret that is redacted"),
        (
            answer.flagged,
            "that read like an instruction to an agent, and say so",
        ),
    ] {
        if count > 0 {
            let _ = writeln!(text, "{count} {what}");
        }
    }
    if answer.malformed > 0 {
        let _ = writeln!(text, "{} passed over:", plural(answer.malformed, "damaged place"));
        for problem in answer.problems.iter().take(NAMED) {
            let line = problem
                .line
                .map(|line| format!(", line {line}"))
                .unwrap_or_default();
            let what = one_line(&problem.what);
            let _ = writeln!(text, "{INDENT}{}{line}: {what}", one_line(&problem.path));
        }
        let told = answer.problems.len();
        let more = answer.malformed.saturating_sub(NAMED as u64);
        if more > 0 {
            let _ = writeln!(text, "{INDENT}… and {more} more: --json names the first {told}");
        }
    }
    for note in &answer.notes {
        let _ = writeln!(text, "note: {}", one_line(note));
    }
    if new > 0 {
        text.push_str(if answer.applied {
            "to take it back, delete the new files, and in the others the lines named above\n"
        } else {
            "nothing was written; add --apply to write it\n"
        });
    }
    text
}

fn memories(count: u64) -> String {
    match count {
        1 => "1 memory".to_owned(),
        count => format!("{count} memories"),
    }
}

#[cfg(test)]
mod tests {
    use hippo_proto::{ImportProblem, ImportedFile};

    use super::*;

    #[test]
    fn what_would_be_written_and_what_was() {
        let file = |path: &str, new, lines: Option<(u32, u32)>| ImportedFile {
            path: path.into(),
            memories: 2,
            new,
            start_line: lines.map(|lines| lines.0),
            end_line: lines.map(|lines| lines.1),
        };
        let dry = ImportResponse {
            memories: 7,
            known: 3,
            files: vec![
                file("memory/2026-03-03.md", true, None),
                file("memory/2026-03-05.md", false, None),
            ],
            left_out: 2,
            redacted: 1,
            flagged: 1,
            malformed: 1,
            problems: vec![ImportProblem {
                path: "/home/ada/export.json".into(),
                line: Some(12),
                what: "the record has no text".into(),
            }],
            notes: vec!["a \x1b[31mnote".into()],
            ..ImportResponse::default()
        };
        let problem = dry.problems[0].clone();
        let many = ImportResponse {
            malformed: 340,
            problems: vec![problem; 100],
            ..ImportResponse::default()
        };
        let done = ImportResponse {
            applied: true,
            files: vec![file("memory/2026-03-03.md", true, Some((3, 14)))],
            ..ImportResponse::default()
        };
        let none = ImportResponse::default();
        let all = [dry, done, none, many].map(|answer| imported(&answer, Style::default()));
        insta::assert_snapshot!(all.join("--\n"));
    }
}
