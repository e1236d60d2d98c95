//! Rendering of `init` and `init --undo`.

use std::path::Path;

use serde::Serialize;

use super::{one_line, word};
use crate::harness::plan::PathChange;
use crate::harness::{Harness, PathReason};
use crate::output::Style;

/// The result of `init` or `init --undo`. With `--dry-run`, the result is only planned.
#[derive(Debug, Default, Serialize)]
pub struct InitResult {
    /// The workspace folder.
    pub root: String,
    /// The platform. `init --undo` does not report a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Harness>,
    /// The file or option that determined the platform, or the reason why the default platform was chosen.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub told_by: String,
    /// True if nothing was changed because of `--dry-run`.
    pub dry_run: bool,
    /// The files and folders that are changed or kept. The path of a folder ends in `/`.
    pub changes: Vec<InitChange>,
    /// True if the folder is registered with the daemon.
    pub registered: bool,
    /// Other notes for the user.
    pub notes: Vec<String>,
}

/// The change of one file or folder.
#[derive(Debug, Serialize)]
pub struct InitChange {
    /// The kind of the change.
    pub action: InitAction,
    /// The path relative to the workspace.
    pub path: String,
    /// The description of the change, or the reason why the path is kept.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitAction {
    /// The file or folder is created.
    Create,
    /// The file is changed.
    Change,
    /// The daemon replaces the file, because it belongs to the compaction tree of another program.
    Replace,
    /// The file or folder is removed.
    Remove,
    /// The file or folder is moved out of the workspace.
    Move,
    /// The daemon restores the file to its state before `init --take-over`.
    Restore,
    /// The file or folder stays unchanged.
    Keep,
}

impl InitResult {
    /// Creates a result without changes.
    pub fn new(root: &Path, dry_run: bool) -> Self {
        Self {
            root: root.display().to_string(),
            dry_run,
            ..Self::default()
        }
    }

    /// Adds the change of a file or folder.
    pub fn add(&mut self, action: InitAction, path: impl Into<String>, what: &str) {
        self.changes.push(InitChange {
            action,
            path: path.into(),
            what: what.to_owned(),
        });
    }

    /// Adds the planned changes of files.
    pub fn add_changes(&mut self, changes: &[PathChange]) {
        for change in changes {
            let action = match (&change.before, &change.after) {
                (None, _) => InitAction::Create,
                (Some(_), Some(_)) => InitAction::Change,
                (Some(_), None) => InitAction::Remove,
            };
            let is_described = action == InitAction::Change;
            self.add(action, &change.path, if is_described { &change.what } else { "" });
        }
    }

    /// Adds files and folders that stay unchanged, with the reasons.
    pub fn add_kept(&mut self, kept: &[PathReason]) {
        for PathReason { path, why } in kept {
            self.add(InitAction::Keep, path, why);
        }
    }
}

/// Renders the changes, one per line, and the notes.
pub fn render_init(result: &InitResult, style: Style) -> String {
    let root = style.path(one_line(&result.root));
    let mut text = match result.platform {
        Some(Harness::None) => match result.dry_run {
            true => format!("would set up {root} for search\n"),
            false => format!("set up {root} for search\n"),
        },
        Some(platform) => {
            let platform = style.strong(platform.name());
            format!("{platform} in {root} ({})\n", one_line(&result.told_by))
        }
        None if result.dry_run => format!("would revert init in {root}\n"),
        None => format!("reverted init in {root}\n"),
    };
    // A folder is not listed if a listed file in the folder has the same kind of change.
    let is_implied = |folder: &InitChange| {
        let is_below = |file: &InitChange| file.path != folder.path && file.path.starts_with(&folder.path);
        let mut same = result.changes.iter().filter(|file| file.action == folder.action);
        folder.path.ends_with('/') && same.any(is_below)
    };
    for change in result.changes.iter().filter(|change| !is_implied(change)) {
        let verb = word(change.action);
        let done = match (change.action, result.dry_run) {
            (InitAction::Keep, _) => "kept".to_owned(),
            (_, true) => format!("would {verb}"),
            (_, false) => format!("{verb}d"),
        };
        let colon = if change.what.is_empty() { "" } else { ": " };
        let path = style.path(one_line(&change.path));
        text += &format!("  {done:<13} {path}{colon}{}\n", one_line(&change.what));
    }
    let is_kept = |change: &InitChange| change.action == InitAction::Keep;
    if result.changes.iter().all(is_kept) {
        text += "  nothing to change\n";
    }
    if result.registered {
        text += "registered; the daemon reads the files and creates HIPPOCAMPUS.md\n";
    }
    if result.registered && result.platform == Some(Harness::None) {
        text += "next: hippoctl search QUESTION\n";
    }
    if result.dry_run {
        text += "nothing was changed\n";
    }
    for note in &result.notes {
        text += &format!("{} {}\n", style.strong("note:"), one_line(note));
    }
    text
}
