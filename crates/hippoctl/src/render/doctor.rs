//! Rendering of problems and their fixes.

use std::fmt::Write;

use hippo_proto::{DoctorResponse, Problem, Severity};

use super::plural;
use crate::output::Style;

/// Renders the number of problems, the failed checks or `all` checks, the completed fixes, and each remaining problem
/// with its fix, the most severe first. If `dry_run` is true, no fix was made, and the fixes are shown as planned.
pub fn doctor(answer: &DoctorResponse, all: bool, dry_run: bool, style: Style) -> String {
    let passed = answer.checks.iter().filter(|check| check.ok).count();
    let checks = plural(answer.checks.len() as u64, "check");
    let mut text = format!("{}; {passed} of {checks} passed\n", count(&answer.problems));
    for check in answer.checks.iter().filter(|check| all || !check.ok) {
        let mark = match (check.ok, check.worst) {
            (true, _) => style.good("ok  "),
            (false, Some(Severity::Warning)) => style.strong("warn"),
            (false, _) => style.bad("bad "),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {}: {}", check.id, check.detail);
    }
    if !answer.fixed.is_empty() {
        text.push('\n');
    }
    for fixed in &answer.fixed {
        let mark = match &fixed.failed {
            Some(_) => style.bad("not done"),
            None if dry_run => style.strong("would do"),
            None => style.good("done"),
        };
        let _ = writeln!(text, "{mark} {}: {}", fixed.id, fixed.what);
        let _ = writeln!(text, "  where: {}", style.path(&fixed.where_));
        if let Some(why) = &fixed.failed {
            let _ = writeln!(text, "  why:   {why}");
        }
    }
    let mut problems: Vec<&Problem> = answer.problems.iter().collect();
    problems.sort_by_key(|problem| problem.severity);
    text + &list(problems, style)
}

/// Renders each problem with its fix, and then the number of problems.
pub fn problems(all: &[Problem], style: Style) -> String {
    let end = if all.is_empty() { "" } else { "\n" };
    format!("{}{end}{}\n", list(all, style), count(all))
}

fn list<'a>(all: impl IntoIterator<Item = &'a Problem>, style: Style) -> String {
    let mut text = String::new();
    for problem in all {
        let severity = match problem.severity {
            Severity::Error => style.bad("error"),
            Severity::Warning => style.strong("warning"),
            Severity::Info => "info".to_owned(),
        };
        let _ = writeln!(text, "\n{severity} {}: {}", problem.id, problem.what);
        let _ = writeln!(text, "  where: {}", style.path(&problem.where_));
        let own = match problem.fixable {
            true => " (to do this automatically: hippoctl doctor --fix)",
            false => "",
        };
        let _ = writeln!(text, "  fix:   {}{own}", problem.fix);
    }
    text
}

/// Returns the numbers of problems and notes, such as "1 problem, 2 notes".
fn count(all: &[Problem]) -> String {
    let told = all.len() as u64;
    let good_to_know = |problem: &&Problem| problem.severity == Severity::Info;
    let infos = all.iter().filter(good_to_know).count() as u64;
    let mut text = match told - infos {
        0 => "no problems".to_owned(),
        count => plural(count, "problem"),
    };
    if infos > 0 {
        text += &format!(", {}", plural(infos, "note"));
    }
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::{Check, Fixed};

    use super::*;

    #[test]
    fn problems_are_rendered_with_their_fixes() {
        let checks = vec![
            Check {
                id: "watcher".into(),
                ok: true,
                detail: "canary noticed in 12 ms".into(),
                worst: None,
            },
            Check {
                id: "model".into(),
                ok: false,
                detail: "not installed".into(),
                worst: Some(Severity::Warning),
            },
            // Some daemons do not report the severity of a failed check.
            Check {
                id: "tree".into(),
                ok: false,
                detail: "3 nodes".into(),
                worst: None,
            },
        ];
        let healthy = DoctorResponse {
            problems: vec![],
            checks: checks[..1].to_vec(),
            fixed: vec![],
        };
        assert_eq!(
            doctor(&healthy, true, false, Style::default()),
            "no problems; 1 of 1 check passed\nok   watcher: canary noticed in 12 ms\n"
        );
        assert_eq!(
            doctor(&healthy, false, false, Style::default()),
            "no problems; 1 of 1 check passed\n"
        );

        let problem = Problem {
            id: "no-model".into(),
            severity: Severity::Warning,
            what: "no model is installed, so search is by words alone".into(),
            where_: "/home/u/.local/share/hippod/models".into(),
            fix: "hippoctl model pull".into(),
            fixable: false,
        };
        let info = Problem {
            id: "tree-foreign".into(),
            severity: Severity::Info,
            ..problem.clone()
        };
        let told = |problems| {
            let checks = checks[..1].to_vec();
            let answer = DoctorResponse {
                problems,
                checks,
                fixed: vec![],
            };
            let text = doctor(&answer, false, false, Style::default());
            let mut kinds = text.lines().filter(|line| line.contains(": no model"));
            let first = kinds.next().unwrap().split(' ').next().unwrap();
            format!("{} {first}", text.split(';').next().unwrap())
        };
        assert_eq!(told(vec![info.clone()]), "no problems, 1 note info");
        assert_eq!(told(vec![info, problem.clone()]), "1 problem, 1 note warning");
        insta::assert_snapshot!(doctor(
            &DoctorResponse {
                problems: vec![problem.clone()],
                checks,
                fixed: vec![],
            },
            false,
            false,
            Style::default()
        ));
        let fixed = |failed: Option<&str>| Fixed {
            id: "leftover".into(),
            where_: "/s/x.tmp".into(),
            what: "remove the file".into(),
            failed: failed.map(str::to_owned),
        };
        let told = |dry_run, failed| {
            let answer = DoctorResponse {
                problems: vec![Problem {
                    fixable: true,
                    ..problem.clone()
                }],
                checks: vec![],
                fixed: vec![fixed(failed)],
            };
            doctor(&answer, false, dry_run, Style::default())
        };
        assert!(told(true, None).contains("\n\nwould do leftover: remove the file\n  where: /s/x.tmp\n"));
        assert!(told(false, None).contains("\n\ndone leftover: "));
        assert!(
            told(false, Some("no"))
                .contains("not done leftover: remove the file\n  where: /s/x.tmp\n  why:   no\n")
        );
        assert!(
            told(false, None)
                .contains("fix:   hippoctl model pull (to do this automatically: hippoctl doctor --fix)\n")
        );
    }
}
