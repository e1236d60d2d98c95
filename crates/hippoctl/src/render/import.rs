//! Rendering of `import`.

use super::{INDENT, one_line, plural};
use crate::output::Style;
use crate::verbs::import::ImportReport;

/// Maximum number of damaged records that are listed individually.
const NAMED: usize = 10;

/// Renders each file with the number of its memories, the skipped records, and the way to undo the import.
pub fn imported(answer: &ImportReport, style: Style) -> String {
    let new: u64 = answer.files.iter().map(|file| file.memories).sum();
    let done = if answer.applied { "written" } else { "to write" };
    let known = match answer.known {
        0 => String::new(),
        known => format!(", {known} known"),
    };
    let mut lines = vec![format!(
        "{} found{known}, {new} {done}",
        memories(answer.memories)
    )];
    lines.extend(answer.files.iter().map(|file| {
        let path = style.path(one_line(&file.path));
        format!("{INDENT}{path}: {}", memories(file.memories))
    }));
    for (count, what) in [
        (answer.left_out, "omitted (prompts and similar records)"),
        (answer.redacted, "with a secret (redacted)"),
        (
            answer.flagged,
            "with text that reads like an instruction to an agent (marked)",
        ),
    ] {
        if count > 0 {
            lines.push(format!("{count} {what}"));
        }
    }
    if answer.malformed > 0 {
        lines.push(format!("{} skipped:", plural(answer.malformed, "damaged record")));
        let named = answer.problems.iter().take(NAMED);
        lines.extend(named.map(|problem| format!("{INDENT}{}", one_line(problem))));
    }
    if answer.malformed > NAMED as u64 {
        let (more, listed) = (answer.malformed - NAMED as u64, answer.problems.len());
        lines.push(format!(
            "{INDENT}… and {more} more: --json lists the first {listed}"
        ));
    }
    if new > 0 {
        lines.push(match answer.applied {
            true => "to undo the import, delete these files".to_owned(),
            false => "nothing was written; add --apply to write the files".to_owned(),
        });
    }
    lines.join("\n") + "\n"
}

fn memories(count: u64) -> String {
    match count {
        1 => "1 memory".to_owned(),
        count => format!("{count} memories"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::import::NewFile;

    #[test]
    fn planned_and_completed_imports_are_rendered() {
        let file = |path: &str| NewFile {
            path: path.into(),
            memories: 2,
            text: String::new(),
        };
        let problem = "line 12: the record has \x1b[31mno text".to_owned();
        let dry = ImportReport {
            memories: 7,
            known: 3,
            files: vec![file("memory/2026-03-03.md"), file("memory/2026-03-05.md")],
            left_out: 2,
            redacted: 1,
            flagged: 1,
            malformed: 1,
            problems: vec![problem.clone()],
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
