//! Checks and problems of a diagnosis.

use hippo_proto::{Check, Problem, Severity};

/// Completed checks and the problems found.
#[derive(Debug, Default)]
pub struct SurveyReport {
    pub problems: Vec<Problem>,
    pub checks: Vec<Check>,
}

impl SurveyReport {
    /// Adds the findings of another report, without duplicates.
    pub fn add(&mut self, other: Self) {
        for problem in other.problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        for check in other.checks {
            if !self.checks.contains(&check) {
                self.checks.push(check);
            }
        }
    }

    /// Adds a problem that belongs to no check.
    pub fn problem(
        &mut self,
        id: &str,
        severity: Severity,
        what: impl Into<String>,
        place: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.problems.push(problem(id, severity, what, place, fix));
    }

    /// Adds a check without problems.
    pub fn sound(&mut self, id: &str, detail: impl Into<String>) {
        self.check(id, detail, Vec::new());
    }

    /// Adds a check with its findings. Informational findings do not make the check fail.
    pub fn check(&mut self, id: &str, detail: impl Into<String>, found: Vec<Problem>) {
        self.checks.push(Check::new(id, detail, &found));
        self.problems.extend(found);
    }
}

/// Creates a problem with its fix.
pub fn problem(
    id: &str,
    severity: Severity,
    what: impl Into<String>,
    place: impl Into<String>,
    fix: impl Into<String>,
) -> Problem {
    Problem {
        id: id.to_owned(),
        severity,
        what: what.into(),
        where_: place.into(),
        fix: fix.into(),
        fixable: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_and_errors_fail_a_check() {
        let told = |severity| problem("x", severity, "what", "where", "fix");
        let (warning, error) = (Severity::Warning, Severity::Error);
        for (found, worst) in [
            (vec![], None),
            (vec![Severity::Info], None),
            (vec![Severity::Info, warning], Some(warning)),
            (vec![error, warning], Some(error)),
        ] {
            let mut report = SurveyReport::default();
            let problems: Vec<Problem> = found.iter().copied().map(told).collect();
            report.check("tree", "3 nodes", problems);
            let check = &report.checks[0];
            assert_eq!((check.ok, check.worst), (worst.is_none(), worst), "{found:?}");
            assert_eq!(report.problems.len(), found.len());
        }
    }
}
