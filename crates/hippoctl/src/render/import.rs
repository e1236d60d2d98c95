//! Rendering of `import`.

use std::fmt::Write;

use super::{INDENT, one_line, plural};
use crate::output::Style;
use crate::verbs::import::ImportReport;

/// Maximum number of damaged records that are listed individually.
const NAMED: usize = 10;

/// Renders each file with the number of its memories, the skipped records, and the way to undo the import.
pub fn imported(answer: &ImportReport, style: Style) -> String {
    let new: u64 = answer.files.iter().map(|file| file.memories).sum();
    let mut text = format!("{} found", memories(answer.memories));
    if answer.known > 0 {
        let _ = write!(text, ", {} known", answer.known);
    }
    let done = if answer.applied { "written" } else { "to write" };
    // Writing to a string cannot fail.
    let _ = writeln!(text, ", {new} {done}");
    for file in &answer.files {
        let count = memories(file.memories);
        let _ = writeln!(text, "{INDENT}{}: {count}", style.path(one_line(&file.path)));
    }
    for (count, what) in [
        (answer.left_out, "omitted (prompts and similar records)"),
        (answer.redacted, "with a secret (redacted)"),
        (
            answer.flagged,
            "with text that reads like an instruction to an agent (marked)",
        ),
    ] {
        if count > 0 {
            let _ = writeln!(text, "{count} {what}");
        }
    }
    if answer.malformed > 0 {
        let _ = writeln!(text, "{} skipped:", plural(answer.malformed, "damaged record"));
        for problem in answer.problems.iter().take(NAMED) {
            let line = problem
                .line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            let _ = writeln!(text, "{INDENT}{line}{}", one_line(&problem.what));
        }
        let listed = answer.problems.len();
        let more = answer.malformed.saturating_sub(NAMED as u64);
        if more > 0 {
            let _ = writeln!(text, "{INDENT}… and {more} more: --json lists the first {listed}");
        }
    }
    for note in &answer.notes {
        let _ = writeln!(text, "note: {}", one_line(note));
    }
    if new > 0 {
        text.push_str(if answer.applied {
            "to undo the import, delete these files\n"
        } else {
            "nothing was written; add --apply to write the files\n"
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
    use hippo_session::import::ImportProblem;

    use super::*;
    use crate::verbs::import::NewFile;

    #[test]
    fn planned_and_completed_imports_are_rendered() {
        let file = |path: &str| NewFile {
            path: path.into(),
            memories: 2,
            text: String::new(),
        };
        let problem = ImportProblem {
            line: Some(12),
            what: "the record has no text".into(),
        };
        let dry = ImportReport {
            memories: 7,
            known: 3,
            files: vec![file("memory/2026-03-03.md"), file("memory/2026-03-05.md")],
            left_out: 2,
            redacted: 1,
            flagged: 1,
            malformed: 1,
            problems: vec![problem.clone()],
            notes: vec!["a \x1b[31mnote".into()],
            ..ImportReport::default()
        };
        let many = ImportReport {
            malformed: 340,
            problems: vec![problem; 100],
            ..ImportReport::default()
        };
        let done = ImportReport {
            applied: true,
            files: vec![file("memory/2026-03-03.md")],
            ..ImportReport::default()
        };
        let none = ImportReport::default();
        let all = [dry, done, none, many].map(|answer| imported(&answer, Style::default()));
        insta::assert_snapshot!(all.join("--\n"));
    }
}
