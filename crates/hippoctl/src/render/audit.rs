//! Rendering of an audit.

use std::fmt::Write;

use hippo_proto::{AuditFinding, AuditKind, AuditResponse, AuditUnit};

use super::one_line;
use crate::output::Style;

/// Returns one line for each kind of finding, with the change since the last audit, then the examples.
pub fn audit(answer: &AuditResponse, style: Style) -> String {
    let mut text = String::new();
    for finding in &answer.findings {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<18} {:>7} of {:>7} {:<8} {:>7.2} %{}",
            name(finding.kind),
            finding.count,
            finding.of,
            unit(finding.unit),
            finding.share * 100.0,
            change(answer, finding)
        );
    }
    for finding in answer
        .findings
        .iter()
        .filter(|finding| !finding.examples.is_empty())
    {
        let _ = writeln!(text, "\n{}", style.strong(name(finding.kind)));
        for example in &finding.examples {
            let line = example.line.map(|line| format!(":{line}")).unwrap_or_default();
            let place = style.path(format!("{}{line}", one_line(&example.path)));
            let _ = writeln!(text, "  {place}  {}", one_line(&example.why));
        }
        let more = finding.count.saturating_sub(finding.examples.len() as u64);
        if more > 0 {
            let _ = writeln!(text, "  {}", style.quiet(format!("and {more} more")));
        }
    }
    let _ = writeln!(text, "\n{}", footer(answer));
    text
}

/// Returns the change since the last audit in percentage points.
fn change(answer: &AuditResponse, now: &AuditFinding) -> String {
    let last = answer.before.first();
    let last = last.and_then(|run| run.findings.iter().find(|before| before.kind == now.kind));
    last.map(|before| format!("  {:+.2}", (now.share - before.share) * 100.0))
        .unwrap_or_default()
}

fn footer(answer: &AuditResponse) -> String {
    let files = match answer.unread {
        0 => format!("{} files", answer.files),
        unread => format!("{} files, {unread} unreadable", answer.files),
    };
    let compared = match answer.before.first() {
        Some(run) => format!(
            "the last column is the change since {}, in percentage points",
            run.at
        ),
        None => "the next audit will show the changes".to_owned(),
    };
    format!("{files} in {:.0} ms; {compared}", answer.took_ms)
}

fn name(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Duplicate => "duplicate",
        AuditKind::Stale => "stale",
        AuditKind::Contradicted => "contradicted",
        AuditKind::SecretBearing => "secret-bearing",
        AuditKind::InstructionLike => "instruction-like",
    }
}

fn unit(unit: AuditUnit) -> &'static str {
    match unit {
        AuditUnit::Chunks => "chunks",
        AuditUnit::Entries => "entries",
        AuditUnit::Lines => "lines",
    }
}

#[cfg(test)]
mod tests {
    use hippo_proto::{AuditCount, AuditExample, AuditRun};

    use super::*;

    #[test]
    fn counts_are_shown_with_the_change_since_the_last_audit() {
        let finding = AuditFinding {
            kind: AuditKind::SecretBearing,
            unit: AuditUnit::Lines,
            count: 2,
            of: 40,
            share: 0.05,
            examples: vec![AuditExample {
                path: "memory/a\n.md".into(),
                line: Some(7),
                why: "password".into(),
            }],
        };
        let mut answer = AuditResponse {
            at: "2026-03-02T10:00:00Z".into(),
            files: 3,
            unread: 1,
            findings: vec![finding],
            before: vec![],
            took_ms: 12.3,
        };
        assert_eq!(
            audit(&answer, Style::default()),
            "secret-bearing           2 of      40 lines       5.00 %\n\nsecret-bearing\n  memory/a .md:7  password\n  \
             and 1 more\n\n3 files, 1 unreadable in 12 ms; the next audit will show the changes\n"
        );
        answer.before.push(AuditRun {
            at: "2026-03-01T10:00:00Z".into(),
            findings: vec![AuditCount {
                kind: AuditKind::SecretBearing,
                count: 4,
                of: 40,
                share: 0.1,
            }],
        });
        let text = audit(&answer, Style::default());
        assert!(
            text.starts_with("secret-bearing           2 of      40 lines       5.00 %  -5.00\n"),
            "{text}"
        );
        assert!(text.contains("the change since 2026-03-01T10:00:00Z"), "{text}");
    }
}
