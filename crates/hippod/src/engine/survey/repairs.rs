//! Database repairs in the report of `doctor`.

use hippo_proto::{Problem, Severity};
use hippo_store::db::{DroppedRows, RecoveredDatabase};
use hippo_text::text::plural;

use crate::survey::problem;

/// Creates the problem for a database that was empty or missing when the workspace was opened.
pub(super) fn was_gone(place: &str, recovered: &RecoveredDatabase) -> Problem {
    let what = match recovered.lost.as_slice() {
        [] => "the database was empty or missing; it was rebuilt from its spare copy and from the files"
            .to_owned(),
        lost => format!(
            "the database was empty or missing; it was rebuilt, but some of the accesses, removals and \
             history are lost, because no file contains them: {}",
            lost.join("; ")
        ),
    };
    let fix = format!(
        "check the disk; the previous file is kept as {}; to restore the lost records from a backup: \
         hippoctl restore",
        recovered.aside.display()
    );
    problem("database-lost", Severity::Warning, what, place, fix)
}

/// Creates the problem for rows that were damaged when the workspace was opened.
pub(super) fn was_damaged(place: &str, mended: &DroppedRows) -> Problem {
    let what = match mended.documents {
        true => "the keyword index".to_owned(),
        false => plural(mended.vectors as u64, "vector"),
    };
    problem(
        "database-rows",
        Severity::Warning,
        format!("rows of the database were damaged: hippod rebuilt {what} from the files"),
        place,
        "check the disk of the state folder; the memory files themselves are complete",
    )
}
