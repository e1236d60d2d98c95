//! Rendering of `sync-check`.

use super::{one_line, plural};
use crate::output::Style;
use crate::verbs::sync_check::{MachineSetup, PullPreview};

/// Maximum number of paths in a list.
const LISTED: usize = 10;

/// Renders the answer of `sync-check --setup`.
pub fn render_setup(setup: &MachineSetup, style: Style) -> String {
    let mut text = match setup.written.as_slice() {
        [] => "the files of git were already prepared\n".to_owned(),
        written => format!("written: {}; commit these files\n", written.join(", ")),
    };
    text += "this clone now merges HIPPOCAMPUS.md by entries; run this command once in each clone\n";
    text += &list(
        &setup.ignored,
        "ignored by git, so other machines do not get",
        style,
    );
    text
}

/// Renders what a pull would change.
pub fn render_preview(preview: &PullPreview, style: Style) -> String {
    let upstream = one_line(&preview.upstream);
    let [ahead, behind] = [preview.ahead, preview.behind].map(|count| plural(u64::from(count), "commit"));
    let mut text = format!("{upstream}, as last fetched: {behind} to pull, {ahead} to push\n");
    text += &list(
        &preview.blocking,
        "git will refuse the pull until you commit",
        style,
    );
    text += &list(
        &preview.overwritten,
        "git ignores these files, and the pull overwrites them:",
        style,
    );
    text += &list(&preview.conflicts, "git cannot merge", style);
    text += &list(&preview.deleted, "the pull deletes", style);
    if preview.is_safe() && preview.behind > 0 {
        text += &format!("{}\n", style.good("a pull works and deletes no file"));
    }
    text += &list(
        &preview.removed_entries,
        "the pull removes these entries of the map:",
        style,
    );
    if preview.blocking.is_empty() {
        text += &list(
            &preview.uncommitted,
            "not committed, so other machines do not get",
            style,
        );
    }
    text += &list(
        &preview.ignored,
        "ignored by git, so other machines do not get",
        style,
    );
    text += &list(
        &preview.copies,
        "conflict copies of another program; compare them with the originals, then delete them:",
        style,
    );
    if !preview.driver {
        text += "this clone does not call this version of hippoctl to merge HIPPOCAMPUS.md; to change this: hippoctl sync-check --setup\n";
    }
    text
}

/// Returns a line with the first paths of a list, or nothing for an empty list.
fn list(paths: &[String], what: &str, style: Style) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = (paths.iter().take(LISTED))
        .map(|path| style.path(one_line(path)))
        .collect();
    let rest = match paths.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what} {}{rest}\n", shown.join(", "))
}
