//! Diagnosis of workspaces: findings of the engine and locations to check on disk.

use std::path::PathBuf;
use std::sync::Arc;

use hippo_proto::{Check, Problem, Severity};

use crate::embed_worker::ModelPhase;
use crate::models::{Models, unsupported};
use crate::scan::SkippedFile;
use crate::view::WorkspaceView;

/// Completed checks and the problems found, and the locations to check on disk. Disk checks are slow and must not block
/// the engine.
#[derive(Debug, Default)]
pub struct Survey {
    /// Problems found.
    pub problems: Vec<Problem>,
    /// Completed checks.
    pub checks: Vec<Check>,
    /// Workspaces whose disk is to be checked.
    pub places: Vec<SurveyedWorkspace>,
}

impl Survey {
    /// Adds the findings of another workspace, without duplicates.
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
        self.places.extend(other.places);
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

/// Reports the state of a model.
pub fn examine_model(models: &Models, name: &str, state: ModelPhase, survey: &mut Survey) {
    let place = models.folder().display().to_string();
    match state {
        ModelPhase::Absent(why) if !models.are_enabled() => survey.sound("model", why),
        ModelPhase::Absent(why) => match unsupported() {
            Some(why) => survey.problem(
                "model-unsupported",
                Severity::Warning,
                why,
                place,
                "keyword search still works; to hide this message, set `embed.enabled = false`",
            ),
            None => {
                let mut fix = models.remedy(name);
                if fix.ends_with("pull") {
                    fix.push_str(" (without a network: hippoctl model import FILE)");
                }
                survey.problem("no-model", Severity::Warning, why, place, &fix);
            }
        },
        ModelPhase::Failed(why) => {
            let place = models.folder().join(name).display().to_string();
            let again = models.remedy(name);
            let fix = format!(
                "`hippoctl model verify {name}` lists damaged files; to download them again: {again}"
            );
            survey.problem("model-failed", Severity::Error, why, place, fix);
        }
        state => survey.sound("model", format!("{state:?}").to_lowercase()),
    }
}

/// A workspace whose disk is still to be checked.
pub struct SurveyedWorkspace {
    /// View of the workspace.
    pub view: Arc<WorkspaceView>,
    /// Path of its database.
    pub database: PathBuf,
    /// Number of files in the index and on disk.
    pub disk: (usize, usize),
    /// Number of files that are waiting to be read.
    pub waiting: usize,
    /// Skipped paths, each with the number of indexed files below it.
    pub skipped: Vec<(SkippedFile, usize)>,
    /// Description of the index file, if hippod keeps one and it has no problem.
    pub index_file: Option<String>,
    /// True if hippod keeps an index file in this workspace.
    pub indexed: bool,
}

impl std::fmt::Debug for SurveyedWorkspace {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("SurveyedWorkspace")
            .field("root", &self.view.root)
            .finish_non_exhaustive()
    }
}
