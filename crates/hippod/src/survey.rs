//! Results of the checks that `doctor` runs.

use std::path::PathBuf;
use std::sync::Arc;

use hippo_proto::{Check, Problem, Severity};

use crate::embed_worker::ModelPhase;
use crate::models::{Models, unsupported};
use crate::scan::SkippedFile;
use crate::view::WorkspaceView;

/// Results of completed checks, and the workspaces whose files `doctor` checks afterwards. The checks of files are slow
/// and must not block the threads of the workspaces.
#[derive(Debug, Default)]
pub struct Survey {
    /// The problems that were found.
    pub problems: Vec<Problem>,
    /// The completed checks, with their results.
    pub checks: Vec<Check>,
    /// Workspaces whose files have not been checked yet.
    pub places: Vec<SurveyedWorkspace>,
}

impl Survey {
    /// Adds the results for another workspace, without duplicates.
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

    /// Adds a problem without a check.
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

    /// Adds a check that found no problem.
    pub fn sound(&mut self, id: &str, detail: impl Into<String>) {
        self.check(id, detail, Vec::new());
    }

    /// Adds a check and the problems that it found. Problems with the severity `info` do not make the check fail.
    pub fn check(&mut self, id: &str, detail: impl Into<String>, found: Vec<Problem>) {
        self.checks.push(Check::new(id, detail, &found));
        self.problems.extend(found);
    }
}

/// Creates a problem that `doctor` cannot fix itself. `fix` is the advice to the user.
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

/// Adds the state of a model as a check or as a problem.
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

/// An open workspace whose files have not been checked yet.
pub struct SurveyedWorkspace {
    /// View of the workspace.
    pub view: Arc<WorkspaceView>,
    /// Path of the workspace's database.
    pub database: PathBuf,
    /// Number of files in the index, and number of memory files on disk.
    pub disk: (usize, usize),
    /// Number of changed or missing files that the index does not reflect yet.
    pub waiting: usize,
    /// Paths that are not read, each with the number of indexed files at or below the path.
    pub skipped: Vec<(SkippedFile, usize)>,
    /// Description of the index file; `None` if it is disabled or has a problem.
    pub index_file: Option<String>,
    /// True if the index file is enabled for this workspace.
    pub indexed: bool,
}

impl std::fmt::Debug for SurveyedWorkspace {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("SurveyedWorkspace")
            .field("root", &self.view.root)
            .finish_non_exhaustive()
    }
}
