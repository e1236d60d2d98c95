//! Diagnosis of workspaces: findings of the engine and locations to check on disk.

mod models;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use crate::scan::SkippedFile;
use crate::view::WorkspaceView;

pub use models::examine_model;
pub use report::{SurveyReport, problem};

/// Findings of the engine, and the locations to check on disk. Disk checks are slow and must not block the engine.
#[derive(Debug, Default)]
pub struct Survey {
    /// Findings of the engine.
    pub report: SurveyReport,
    /// Workspaces whose disk is to be checked.
    pub places: Vec<SurveyedWorkspace>,
}

impl Survey {
    /// Adds the findings of another workspace, without duplicates.
    pub fn add(&mut self, other: Self) {
        let Survey { report, places } = other;
        self.report.add(report);
        self.places.extend(places);
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
