//! Rendering of an audit.

use std::fmt::Write;

use hippo_proto::{AuditFinding, AuditKind, AuditResponse};

use super::{one_line, plural, word};
use crate::output::Style;

/// Renders the numbers of findings. With `all`, also renders one line for each kind of finding, and then the examples.
pub fn audit(answer: &AuditResponse, all: bool, style: Style) -> String {
    let found = answer.findings.iter().filter(|finding| finding.count > 0);
    let found = found.map(|finding| {
        let noun = format!("{} {}", word(finding.kind), unit(finding.kind));
        plural(finding.count, &noun)
    });
    let mut found = found.collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        found = "nothing found".to_owned();
    }
    let (files, took_ms) = (plural(answer.files, "file"), answer.took_ms);
    let unread = match answer.unread {
        0 => String::new(),
        unread => format!(" ({unread} unreadable)"),
    };
    let mut text = format!("{found} in {files}{unread}, {took_ms:.0} ms\n");
    if !all {
        return text + "for the details: --verbose\n";
    }
    text.push('\n');
    for finding in &answer.findings {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<18} {:>7} of {:>15} {:>7.2} %",
            word(finding.kind),
            finding.count,
            plural(finding.of, unit(finding.kind)),
            finding.share * 100.0
        );
    }
    let has_examples = |finding: &&AuditFinding| !finding.examples.is_empty();
    for finding in answer.findings.iter().filter(has_examples) {
        let _ = writeln!(text, "\n{}", style.strong(word(finding.kind)));
        for example in &finding.examples {
            let line = example.line.map(|line| format!(":{line}")).unwrap_or_default();
            let place = style.path(format!("{}{line}", one_line(&example.path)));
            let _ = writeln!(text, "  {place}  {}", one_line(&example.why));
            for quote in &example.quotes {
                let _ = writeln!(text, "      {}", style.quiet(one_line(quote)));
            }
        }
        let more = finding.count.saturating_sub(finding.examples.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "  {}", style.quiet(format!("and {more} more")));
        }
    }
    text
}

/// Returns the unit in which a kind of finding is counted.
fn unit(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Duplicate => "chunk",
        AuditKind::Stale => "entry",
        AuditKind::Contradicted | AuditKind::SecretBearing | AuditKind::InstructionLike => "line",
    }
}

#[cfg(test)]
mod tests {
    use hippo_proto::{AuditExample, AuditFinding};

    use super::*;

    #[test]
    fn counts_are_shown_with_examples() {
        let finding = AuditFinding {
            kind: AuditKind::SecretBearing,
            count: 2,
            of: 40,
            share: 0.05,
            examples: vec![AuditExample {
                path: "memory/a\n.md".into(),
                line: Some(7),
                why: "password".into(),
                quotes: vec!["door: •••".into()],
            }],
        };
        let answer = AuditResponse {
            at: "2026-03-02T10:00:00Z".into(),
            files: 3,
            unread: 1,
            findings: vec![finding],
            took_ms: 12.3,
        };
        assert_eq!(
            audit(&answer, true, Style::default()),
            "2 secret-bearing lines in 3 files (1 unreadable), 12 ms\n\n\
             secret-bearing           2 of        40 lines    5.00 %\n\nsecret-bearing\n  memory/a .md:7  password\n      \
             door: •••\n  and 1 more\n"
        );
        assert_eq!(
            audit(&answer, false, Style::default()),
            "2 secret-bearing lines in 3 files (1 unreadable), 12 ms\nfor the details: --verbose\n"
        );
    }
}
