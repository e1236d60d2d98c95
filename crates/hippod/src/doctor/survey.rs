//! Findings about everything except open workspaces.

use std::path::Path;

use hippo_proto::{Problem, RpcError, Severity};
use hippo_store::db::StoreReader;

use crate::message::LostData;
use crate::registry;
use crate::survey::{Survey, problem};

/// Maximum number of lost records that a problem lists.
const MOST_LOST: usize = 5;

/// Creates the problem for data that could not be read from a damaged database.
pub fn was_not_all_read(root: &Path, lost: &LostData) -> Problem {
    let most = lost.what.len().min(MOST_LOST);
    let more = match lost.what.len() - most {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let what = format!(
        "some of the accesses, removals and history in the damaged database could not be read, and no file \
         contains them: {}{more}",
        lost.what[..most].join("; ")
    );
    let fix = format!(
        "the damaged database is kept as {}; to restore these records from a backup: hippoctl restore",
        lost.aside.display()
    );
    problem(
        "rebuild-lost",
        Severity::Warning,
        what,
        root.display().to_string(),
        fix,
    )
}

/// Reports a workspace that could not be opened.
pub fn survey_unopened(state: &Path, root: &Path, error: RpcError) -> Survey {
    // A database that a newer hippod wrote is undamaged and is kept.
    let database = registry::database_file(state, root);
    let checked = StoreReader::open(&database).and_then(|reader| reader.check());
    let (place, fix) = (root.display().to_string(), error.data.hint);
    let mut found = problem("workspace", Severity::Error, error.message, place, fix);
    found.fixable = checked.is_err_and(|error| error.is_damage());
    let mut survey = Survey::default();
    survey.report.problems.push(found);
    survey
}

/// Reports the result of a rebuild.
pub fn survey_rebuild(root: &Path, made: Result<Option<LostData>, RpcError>) -> Survey {
    let place = root.display().to_string();
    let mut survey = Survey::default();
    let report = &mut survey.report;
    match made {
        Ok(lost) => {
            report.sound("rebuild", format!("{place}: rebuilt from its files"));
            report
                .problems
                .extend(lost.map(|lost| was_not_all_read(root, &lost)));
        }
        Err(error) => {
            let fix = "free space on the disk of the state folder, or repair that disk; then run again: \
                       hippoctl doctor --rebuild";
            let what = format!("could not rebuild the index: {}", error.message);
            let found = problem("rebuild", Severity::Error, what, place.as_str(), fix);
            report.check("rebuild", place, vec![found]);
        }
    }
    survey
}
