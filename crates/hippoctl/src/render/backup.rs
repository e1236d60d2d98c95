//! Rendering of backups and restored workspaces.

use std::fmt::Write as _;

use hippo_proto::{BackupResponse, RestoreResponse};

use super::{bytes, one_line};
use crate::output::Style;

/// Renders a written backup.
pub fn written(answer: &BackupResponse, style: Style) -> String {
    let head = format!(
        "wrote {}: {}, {:.1} s\n",
        style.path(&answer.file),
        bytes(answer.bytes),
        answer.took_ms / 1000.0
    );
    head + &contents(answer, style)
}

/// Renders a verified backup.
pub fn verified(answer: &BackupResponse, style: Style) -> String {
    let head = format!(
        "{}: {}, a backup of {} by hippod {}\n",
        style.path(&answer.file),
        style.good("ok"),
        answer.at,
        one_line(&answer.hippod)
    );
    head + &contents(answer, style)
}

/// Renders the restored workspaces.
pub fn restored(answer: &RestoreResponse, style: Style) -> String {
    let mut text = String::new();
    for workspace in &answer.workspaces {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "restored {}: {} files, {:.1} s",
            style.path(&workspace.root),
            workspace.files,
            answer.took_ms / 1000.0
        );
    }
    text + "a backup does not contain the files of an agent's harness; to create them again: hippoctl init\n"
}

fn contents(answer: &BackupResponse, style: Style) -> String {
    let mut text = String::new();
    for left in &answer.left_out {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {}: {}: {}",
            style.bad("left out"),
            style.path(&left.path),
            one_line(&left.reason)
        );
    }
    for workspace in &answer.workspaces {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {}: {} files, {} with their index",
            style.path(&workspace.root),
            workspace.files,
            bytes(workspace.bytes)
        );
        for left in &workspace.left_out {
            let _ = writeln!(
                text,
                "    left out: {}: {}",
                one_line(&left.path),
                one_line(&left.reason)
            );
        }
    }
    text
}
