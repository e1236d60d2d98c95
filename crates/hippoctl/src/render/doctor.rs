//! How do problems and their fixes look?

use std::fmt::Write;

use hippo_proto::{DoctorResponse, Severity};

use super::plural;
use crate::output::Style;

/// What was looked at, then each problem with its fix.
pub fn doctor(answer: &DoctorResponse, style: Style) -> String {
    let mut text = String::new();
    for check in &answer.checks {
        let mark = if check.ok {
            style.good("ok ")
        } else {
            style.bad("bad")
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {}: {}", check.id, check.detail);
    }
    for problem in &answer.problems {
        let severity = match problem.severity {
            Severity::Error => style.bad("error"),
            Severity::Warning => style.strong("warning"),
            Severity::Info => "info".to_owned(),
        };
        let _ = writeln!(text, "\n{severity} {}: {}", problem.id, problem.what);
        let _ = writeln!(text, "  where: {}", style.path(&problem.where_));
        let _ = writeln!(text, "  fix:   {}", problem.fix);
    }
    let _ = match answer.problems.len() as u64 {
        0 => writeln!(text, "no problems"),
        count => writeln!(text, "\n{}", plural(count, "problem")),
    };
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::{Check, Problem};

    use super::*;

    #[test]
    fn problems_with_their_fixes() {
        let checks = vec![
            Check {
                id: "watcher".into(),
                ok: true,
                detail: "canary noticed in 12 ms".into(),
            },
            Check {
                id: "model".into(),
                ok: false,
                detail: "not installed".into(),
            },
        ];
        let healthy = DoctorResponse {
            problems: vec![],
            checks: checks[..1].to_vec(),
        };
        assert_eq!(
            doctor(&healthy, Style::default()),
            "ok  watcher: canary noticed in 12 ms\nno problems\n"
        );

        let problem = Problem {
            id: "no-model".into(),
            severity: Severity::Warning,
            what: "no model is installed, so search is by words alone".into(),
            where_: "/home/u/.local/share/hippod/models".into(),
            fix: "hippoctl model pull".into(),
        };
        insta::assert_snapshot!(doctor(
            &DoctorResponse {
                problems: vec![problem],
                checks
            },
            Style::default()
        ));
    }
}
