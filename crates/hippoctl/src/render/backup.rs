//! Rendering of backups and restored workspaces.

use hippo_proto::{BackupResponse, RestoreResponse};

use super::{bytes, one_line, plural};
use crate::output::Style;

/// Renders a new backup and its contents.
pub fn written(answer: &BackupResponse, style: Style) -> String {
    let (file, seconds) = (style.path(&answer.file), answer.took_ms / 1000.0);
    let head = format!("wrote {file}: {}, {seconds:.1} s\n", bytes(answer.bytes));
    head + &contents(answer, style)
}

/// Renders a verified backup and its contents.
pub fn verified(answer: &BackupResponse, style: Style) -> String {
    let (file, ok) = (style.path(&answer.file), style.good("ok"));
    let hippod = one_line(&answer.hippod);
    let head = format!("{file}: {ok}, a backup of {} by hippod {hippod}\n", answer.at);
    head + &contents(answer, style)
}

/// Renders the restored workspaces.
pub fn restored(answer: &RestoreResponse, style: Style) -> String {
    let mut text = String::new();
    for workspace in &answer.workspaces {
        let (root, seconds) = (style.path(&workspace.root), answer.took_ms / 1000.0);
        text += &format!(
            "restored {root}: {}, {seconds:.1} s\n",
            plural(workspace.files, "file")
        );
    }
    text + "a backup does not contain the files of an agent's harness; to create them again: hippoctl init\n"
}

fn contents(answer: &BackupResponse, style: Style) -> String {
    let mut text = String::new();
    for left in &answer.left_out {
        let (mark, path) = (style.bad("left out"), style.path(&left.path));
        text += &format!("  {mark}: {path}: {}\n", one_line(&left.reason));
    }
    for workspace in &answer.workspaces {
        let (root, size) = (style.path(&workspace.root), bytes(workspace.bytes));
        text += &format!(
            "  {root}: {}, {size} with their index\n",
            plural(workspace.files, "file")
        );
        for left in &workspace.left_out {
            let (path, reason) = (one_line(&left.path), one_line(&left.reason));
            text += &format!("    left out: {path}: {reason}\n");
        }
    }
    text
}
