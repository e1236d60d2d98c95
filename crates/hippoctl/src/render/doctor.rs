//! How do problems and their fixes look?

use std::fmt::Write;

use hippo_proto::{DoctorResponse, Problem, Severity};

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
    text + &problems(&answer.problems, style)
}

/// Each problem with its fix, and how many there are.
pub fn problems(all: &[Problem], style: Style) -> String {
    let mut text = String::new();
    for problem in all {
        let severity = match problem.severity {
            Severity::Error => style.bad("error"),
            Severity::Warning => style.strong("warning"),
            Severity::Info => "info".to_owned(),
        };
        let _ = writeln!(text, "\n{severity} {}: {}", problem.id, problem.what);
        let _ = writeln!(text, "  where: {}", style.path(&problem.where_));
        let _ = writeln!(text, "  fix:   {}", problem.fix);
    }
    let told = all.len() as u64;
    let good_to_know = |problem: &&Problem| problem.severity == Severity::Info;
    let infos = all.iter().filter(good_to_know).count() as u64;
    if told > 0 {
        text.push('\n');
    }
    let problems = match told - infos {
        0 => "no problems".to_owned(),
        count => plural(count, "problem"),
    };
    let infos = match infos {
        0 => String::new(),
        count => format!(", {count} good to know"),
    };
    let _ = writeln!(text, "{problems}{infos}");
    text
}

#[cfg(test)]
mod tests {
    use hippo_proto::Check;

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
        let info = Problem {
            id: "tree-carried".into(),
            severity: Severity::Info,
            ..problem.clone()
        };
        let told = |problems| {
            let checks = checks[..1].to_vec();
            let answer = DoctorResponse { problems, checks };
            let text = doctor(&answer, Style::default());
            text.lines().last().map(str::to_owned).unwrap()
        };
        assert_eq!(told(vec![info.clone()]), "no problems, 1 good to know");
        assert_eq!(told(vec![problem.clone(), info]), "1 problem, 1 good to know");
        insta::assert_snapshot!(doctor(
            &DoctorResponse {
                problems: vec![problem],
                checks
            },
            Style::default()
        ));
    }
}
