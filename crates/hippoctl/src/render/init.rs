//! How is it told what `init` laid out, and what `init --undo` took back?

use serde::Serialize;

use super::{one_line, plural};
use crate::harness::plan::Change;
use crate::harness::rest::Left;
use crate::harness::{Kept, Platform};
use crate::output::Style;

/// What `init` did, or would do.
#[derive(Debug, Serialize)]
pub struct Initialised {
    /// The folder.
    pub root: String,
    /// The harness.
    pub platform: Platform,
    /// By what it is known.
    pub told_by: String,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Folders that are made.
    pub folders: Vec<String>,
    /// Files that are made or changed.
    pub files: Vec<FileChange>,
    /// What is left as it is although it was to be laid out.
    pub kept: Vec<Kept>,
    /// Nodes of a compaction tree that another program made.
    pub foreign: Vec<String>,
    /// Whether they are taken over.
    pub taken_over: bool,
    /// Whether the daemon knows the folder.
    pub registered: Registered,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// Whether the daemon knows the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registered {
    /// Since now.
    Now,
    /// It did before.
    Already,
    /// None answers, and none could be started.
    NoDaemon,
    /// It does not take it.
    Refused,
    /// It was not asked.
    NotTried,
}

/// What `init --undo` did, or would do.
#[derive(Debug, Default, Serialize)]
pub struct Taken {
    /// The folder.
    pub root: String,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Folders that are removed; with `dry_run`, those of them that are empty then.
    pub folders: Vec<String>,
    /// Files that are removed or changed.
    pub files: Vec<FileChange>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
    /// What hippod itself wrote, which is moved out of the folder.
    pub aside: Vec<String>,
    /// Where to.
    pub aside_in: Option<String>,
    /// What was taken over of another program, and is as it was before; with `dry_run`, would be.
    pub restored: Vec<String>,
    /// Whether the daemon has forgotten the folder.
    pub unregistered: bool,
    /// Whether it is registered now; with `dry_run`, then. Null where no daemon could be asked.
    pub registered: Option<bool>,
    /// Whether the daemon keeps what sessions stored.
    pub contexts_kept: bool,
    /// What of the memory stays in the folder.
    pub left: Vec<Left>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// One file that changes.
#[derive(Debug, Serialize)]
pub struct FileChange {
    /// Relative to the folder.
    pub path: String,
    /// What happens to it.
    pub action: Action,
    /// With what.
    pub what: String,
    /// How many lines it has more then; fewer, where negative.
    pub lines: i64,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It was not there.
    Make,
    /// It was.
    Change,
    /// It is not any more.
    Remove,
}

/// A change of a plan as it is told.
pub fn file(change: &Change) -> FileChange {
    let lines = |text: &Option<Vec<u8>>| {
        let text = text.as_deref().unwrap_or_default();
        i64::try_from(text.split_inclusive(|byte| *byte == b'\n').count()).unwrap_or(i64::MAX)
    };
    FileChange {
        path: change.path.clone(),
        action: match (&change.before, &change.after) {
            (None, _) => Action::Make,
            (Some(_), Some(_)) => Action::Change,
            (Some(_), None) => Action::Remove,
        },
        what: change.what.clone(),
        lines: lines(&change.after) - lines(&change.before),
    }
}

/// What `init` did.
pub fn initialised(answer: &Initialised, style: Style) -> String {
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
    kept(&mut text, &answer.kept, style);
    foreign(&mut text, answer, style);
    if answer.folders.is_empty() && answer.files.is_empty() {
        text += "  nothing to change: all of it is there\n";
    }
    text += match answer.registered {
        Registered::Now => "registered; the daemon reads what is there and makes HIPPOCAMPUS.md\n",
        Registered::Already => "the daemon knows the folder already\n",
        Registered::NotTried if answer.dry_run => {
            "nothing was written; init would register the folder, and the daemon would make HIPPOCAMPUS.md\n"
        }
        Registered::NoDaemon | Registered::Refused | Registered::NotTried => "",
    };
    notes(&mut text, &answer.notes, style);
    text
}

/// Nodes that another program made, each by its path.
fn foreign(text: &mut String, answer: &Initialised, style: Style) {
    let (word, why) = match (answer.taken_over, answer.dry_run) {
        (true, true) => ("would take", "deinit puts it back"),
        (true, false) => ("taken over", "deinit puts it back"),
        (false, _) => ("left alone", "to take it over: hippoctl init --take-over"),
    };
    for path in &answer.foreign {
        *text += &format!(
            "  {word:<12} {}: another program wrote it; {why}\n",
            style.path(one_line(path))
        );
    }
}

/// What `init --undo` did.
pub fn taken(answer: &Taken, style: Style) -> String {
    let begin = if answer.dry_run {
        "would take back"
    } else {
        "taken back"
    };
    let mut text = format!("{begin} in {}\n", style.path(one_line(&answer.root)));
    let (_, change) = words(answer.dry_run);
    let remove = if answer.dry_run { "would remove" } else { "removed" };
    files(&mut text, &answer.files, ("", change, remove), style);
    for path in &answer.aside {
        let to = if answer.dry_run { "would move" } else { "moved" };
        text += &format!("  {to:<12} {}: hippod made it\n", style.path(one_line(path)));
    }
    for folder in bare(&answer.folders, &answer.files) {
        let empty = if answer.dry_run { ", if it is empty" } else { "" };
        text += &format!("  {remove:<12} {}/{empty}\n", style.path(one_line(folder)));
    }
    for path in &answer.restored {
        text += &format!(
            "  {:<12} {}, which another program wrote\n",
            if answer.dry_run {
                "would put back"
            } else {
                "put back"
            },
            style.path(one_line(path))
        );
    }
    kept(&mut text, &answer.kept, style);
    if let Some(place) = &answer.aside_in {
        text += &format!("what hippod made is in {}\n", style.path(one_line(place)));
    }
    left(&mut text, &answer.left, answer.dry_run);
    if answer.dry_run {
        text += "nothing was changed\n";
    } else if answer.unregistered {
        text += "the daemon has forgotten the folder\n";
    }
    notes(&mut text, &answer.notes, style);
    text
}

/// Folders that no file among these tells of.
fn bare<'a>(folders: &'a [String], files: &'a [FileChange]) -> impl Iterator<Item = &'a String> {
    folders.iter().filter(move |folder| {
        let below = |path: &str| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
        };
        !files
            .iter()
            .any(|file| file.action != Action::Change && below(&file.path))
    })
}

fn words(dry_run: bool) -> (&'static str, &'static str) {
    if dry_run {
        ("would make", "would change")
    } else {
        ("made", "changed")
    }
}

fn files(text: &mut String, files: &[FileChange], words: (&str, &str, &str), style: Style) {
    for file in files {
        let (word, more) = match file.action {
            Action::Make => (words.0, String::new()),
            Action::Change => (
                words.1,
                format!(": {}, {:+} lines", one_line(&file.what), file.lines),
            ),
            Action::Remove => (words.2, String::new()),
        };
        *text += &format!("  {word:<12} {}{more}\n", style.path(one_line(&file.path)));
    }
}

fn kept(text: &mut String, kept: &[Kept], style: Style) {
    for Kept { path, why } in kept {
        let line = format!("  {:<12} {}: {}\n", "kept", one_line(path), one_line(why));
        *text += &style.quiet(line.trim_end());
        text.push('\n');
    }
}

fn left(text: &mut String, left: &[Left], dry_run: bool) {
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
        "{stays}: {}; it is yours, delete it by hand where nobody needs it\n",
        named.collect::<Vec<_>>().join(", ")
    );
}

fn notes(text: &mut String, notes: &[String], style: Style) {
    for note in notes {
        *text += &format!("{} {}\n", style.strong("note:"), one_line(note));
    }
}
