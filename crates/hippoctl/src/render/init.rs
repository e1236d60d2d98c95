//! Rendering of `init` and `init --undo`.

use serde::Serialize;

use super::{one_line, plural};
use crate::harness::plan::PathChange;
use crate::harness::rest::RemainingPath;
use crate::harness::{Harness, KeptPath};
use crate::output::Style;

/// The result of `init`; with `--dry-run`, the plan.
#[derive(Debug, Serialize)]
pub struct InitResult {
    /// The workspace folder.
    pub root: String,
    /// The platform.
    pub platform: Harness,
    /// The evidence for the platform.
    pub told_by: String,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The created folders.
    pub folders: Vec<String>,
    /// The created or changed files.
    pub files: Vec<FileChange>,
    /// The parts of the layout that were left unchanged.
    pub kept: Vec<KeptPath>,
    /// The nodes of a compaction tree from another program.
    pub foreign: Vec<String>,
    /// True if these nodes are taken over.
    pub taken_over: bool,
    /// The state of the registration.
    pub registered: Registration,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// State of the folder's registration with the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registration {
    /// This run registered the folder.
    Now,
    /// The folder was already registered.
    Already,
    /// No daemon answers, and none could be started.
    NoDaemon,
    /// The daemon refused the folder.
    Refused,
    /// This run did not try to register the folder.
    NotTried,
}

/// The result of `init --undo`; with `--dry-run`, the plan.
#[derive(Debug, Default, Serialize)]
pub struct InitUndoResult {
    /// The workspace folder.
    pub root: String,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The removed folders; with `dry_run`, the folders that would be empty.
    pub folders: Vec<String>,
    /// The removed or changed files.
    pub files: Vec<FileChange>,
    /// The files that stay, each with the reason.
    pub kept: Vec<KeptPath>,
    /// The files of hippod that are moved out of the folder.
    pub aside: Vec<String>,
    /// The folder to which these files are moved.
    pub aside_in: Option<String>,
    /// The files of another program that are restored to their state before the take-over; with `dry_run`, the files
    /// that would be restored.
    pub restored: Vec<String>,
    /// True if the daemon has unregistered the folder.
    pub unregistered: bool,
    /// True if the folder is still registered or, with `dry_run`, would still be registered. Null if no daemon answers.
    pub registered: Option<bool>,
    /// True if the daemon keeps the stored content of sessions.
    pub contexts_kept: bool,
    /// The memory files that stay in the folder.
    pub left: Vec<RemainingPath>,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// One changed file.
#[derive(Debug, Serialize)]
pub struct FileChange {
    /// The path relative to the folder.
    pub path: String,
    /// The kind of the change.
    pub action: FileAction,
    /// The description of the change.
    pub what: String,
    /// The number of added lines; if lines were removed, it is negative.
    pub lines: i64,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileAction {
    /// The file is created.
    Make,
    /// The file is modified.
    Change,
    /// The file is removed.
    Remove,
}

/// Converts a change of a plan into its form for output.
pub fn file(change: &PathChange) -> FileChange {
    let lines = |text: &Option<Vec<u8>>| {
        let text = text.as_deref().unwrap_or_default();
        i64::try_from(text.split_inclusive(|byte| *byte == b'\n').count()).unwrap_or(i64::MAX)
    };
    FileChange {
        path: change.path.clone(),
        action: match (&change.before, &change.after) {
            (None, _) => FileAction::Make,
            (Some(_), Some(_)) => FileAction::Change,
            (Some(_), None) => FileAction::Remove,
        },
        what: change.what.clone(),
        lines: lines(&change.after) - lines(&change.before),
    }
}

/// Renders the result of `init`.
pub fn initialised(answer: &InitResult, style: Style) -> String {
    let mut text = format!(
        "{} in {} ({})\n",
        style.strong(answer.platform.name()),
        style.path(one_line(&answer.root)),
        one_line(&answer.told_by)
    );
    let (make, change) = words(answer.dry_run);
    for folder in bare(&answer.folders, &answer.files) {
        text += &format!("  {make:<12} {}/\n", style.path(one_line(folder)));
    }
    files(&mut text, &answer.files, (make, change, ""), style);
    write_kept(&mut text, &answer.kept, style);
    foreign(&mut text, answer, style);
    if answer.folders.is_empty() && answer.files.is_empty() {
        text += "  nothing to change: all files exist\n";
    }
    text += match answer.registered {
        Registration::Now => "registered; the daemon reads the files and creates HIPPOCAMPUS.md\n",
        Registration::Already => "the folder is already registered\n",
        Registration::NotTried if answer.dry_run => {
            "nothing was written; init would register the folder, and the daemon would create HIPPOCAMPUS.md\n"
        }
        Registration::NoDaemon | Registration::Refused | Registration::NotTried => "",
    };
    notes(&mut text, &answer.notes, style);
    text
}

/// Renders the nodes of another program, each with its path.
fn foreign(text: &mut String, answer: &InitResult, style: Style) {
    let (word, why) = match (answer.taken_over, answer.dry_run) {
        (true, true) => ("would take over", "to restore it: hippoctl init --undo"),
        (true, false) => ("taken over", "to restore it: hippoctl init --undo"),
        (false, _) => ("unchanged", "to take over the tree: hippoctl init --take-over"),
    };
    for path in &answer.foreign {
        *text += &format!(
            "  {word:<12} {}: another program wrote this file; {why}\n",
            style.path(one_line(path))
        );
    }
}

/// Renders the result of `init --undo`.
pub fn render_undo(answer: &InitUndoResult, style: Style) -> String {
    let begin = if answer.dry_run {
        "would revert init"
    } else {
        "reverted init"
    };
    let mut text = format!("{begin} in {}\n", style.path(one_line(&answer.root)));
    let (_, change) = words(answer.dry_run);
    let remove = if answer.dry_run { "would remove" } else { "removed" };
    files(&mut text, &answer.files, ("", change, remove), style);
    for path in &answer.aside {
        let to = if answer.dry_run { "would move" } else { "moved" };
        text += &format!("  {to:<12} {}: hippod created it\n", style.path(one_line(path)));
    }
    for folder in bare(&answer.folders, &answer.files) {
        let empty = if answer.dry_run { ", if it is empty" } else { "" };
        text += &format!("  {remove:<12} {}/{empty}\n", style.path(one_line(folder)));
    }
    for path in &answer.restored {
        text += &format!(
            "  {:<12} {}, which another program wrote\n",
            if answer.dry_run {
                "would restore"
            } else {
                "restored"
            },
            style.path(one_line(path))
        );
    }
    write_kept(&mut text, &answer.kept, style);
    if let Some(place) = &answer.aside_in {
        text += &format!("the files of hippod are in {}\n", style.path(one_line(place)));
    }
    write_remaining(&mut text, &answer.left, answer.dry_run);
    if answer.dry_run {
        text += "nothing was changed\n";
    } else if answer.unregistered {
        text += "the folder is no longer registered\n";
    }
    notes(&mut text, &answer.notes, style);
    text
}

/// Returns the folders that contain none of the created or removed files in the list.
fn bare<'a>(folders: &'a [String], files: &'a [FileChange]) -> impl Iterator<Item = &'a String> {
    folders.iter().filter(move |folder| {
        let below = |path: &str| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
        };
        !files
            .iter()
            .any(|file| file.action != FileAction::Change && below(&file.path))
    })
}

fn words(dry_run: bool) -> (&'static str, &'static str) {
    if dry_run {
        ("would create", "would change")
    } else {
        ("created", "changed")
    }
}

fn files(text: &mut String, files: &[FileChange], words: (&str, &str, &str), style: Style) {
    for file in files {
        let (word, more) = match file.action {
            FileAction::Make => (words.0, String::new()),
            FileAction::Change => (
                words.1,
                format!(": {}, {:+} lines", one_line(&file.what), file.lines),
            ),
            FileAction::Remove => (words.2, String::new()),
        };
        *text += &format!("  {word:<12} {}{more}\n", style.path(one_line(&file.path)));
    }
}

fn write_kept(text: &mut String, kept: &[KeptPath], style: Style) {
    for KeptPath { path, why } in kept {
        let line = format!("  {:<12} {}: {}\n", "kept", one_line(path), one_line(why));
        *text += &style.quiet(line.trim_end());
        text.push('\n');
    }
}

fn write_remaining(text: &mut String, left: &[RemainingPath], dry_run: bool) {
    if left.is_empty() {
        return;
    }
    let named = left.iter().map(|left| {
        let path = one_line(&left.path);
        if left.path.ends_with('/') {
            let what = if left.what == "logs" { "log" } else { "file" };
            format!("{path} ({})", plural(left.files as u64, what))
        } else {
            path
        }
    });
    let stays = if dry_run { "would stay" } else { "stays" };
    *text += &format!(
        "{stays}: {}; these files are yours: delete them yourself if you do not need them\n",
        named.collect::<Vec<_>>().join(", ")
    );
}

fn notes(text: &mut String, notes: &[String], style: Style) {
    for note in notes {
        *text += &format!("{} {}\n", style.strong("note:"), one_line(note));
    }
}
