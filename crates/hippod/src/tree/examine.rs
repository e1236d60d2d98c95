//! Problems in the compaction tree of a workspace, for `doctor`.

use std::path::{Path, PathBuf};

use hippo_fs::harness::FILE;
use hippo_fs::{FileKind, WorkspaceDir};
use hippo_proto::folder::Trust;
use hippo_proto::{Problem, Severity};
use hippo_text::source::NodeKind;
use hippo_tree::{BodyAuthor, NodeStatus, Period, level_name};

use super::Trees;
use super::aside::{CARRIED, REJECTED};
use super::command::MOST_FAILURES;
use super::disk::LARGEST_NODE;
use super::foreign;
use super::health::{nodes, unwritable};
use super::run::is_kept;
use super::settings::TreeSettings;
use super::state::{Spend, TreeState};
use crate::clock::date_in;
use crate::config::{SummaryAuthor, TreeConfig};
use crate::view::WorkspaceView;

/// Section titles of `ROOT.md`.
const SECTIONS: [&str; 4] = [
    "Active Context",
    "Recent Patterns",
    "Historical Summary",
    "Topics Index",
];

/// Result of an examination.
#[derive(Debug, Default)]
pub struct Examination {
    /// Problems, each with a fix.
    pub problems: Vec<Problem>,
    /// Summary of the examined files; `None` if the workspace has no tree.
    pub detail: Option<String>,
}

impl Examination {
    pub(super) fn add(
        &mut self,
        id: &str,
        severity: Severity,
        what: impl Into<String>,
        place: &Path,
        fix: impl Into<String>,
    ) {
        self.problems.push(Problem {
            id: id.to_owned(),
            severity,
            what: what.into(),
            where_: place.display().to_string(),
            fix: fix.into(),
            fixable: false,
        });
    }
}

/// Examines the files of a tree, the files kept beside the tree, and the program that writes its summaries.
pub fn examine(trees: &Trees, view: &WorkspaceView) -> Examination {
    let mut found = Examination::default();
    let trust = Trust::of(&trees.state, &view.root);
    for note in TreeSettings::of(&view.root, &trust, &view.config.tree).notes {
        let fix = "correct the setting; until then, the setting in hippod's own configuration is used";
        let place = view.root.join(FILE);
        found.add("tree-config", Severity::Warning, note, &place, fix);
    }
    if is_kept(view) || has_root(&view.root) {
        if is_kept(view)
            && let Some((folder, error)) = unwritable(&view.root)
        {
            let what = format!("could not create or replace nodes in this folder: {error}");
            let fix =
                "make the folder writable for the user that runs hippod, then run: hippoctl tree compact";
            found.add(
                "tree-folder",
                Severity::Warning,
                what,
                &view.root.join(folder),
                fix,
            );
        }
        let nodes = nodes(&view.root);
        for (period, path) in &nodes {
            examine_node(&view.root, *period, path, &mut found);
        }
        found.detail = Some(format!("{}: {} nodes", view.root.display(), nodes.len()));
    }
    examine_aside(&view.root, &mut found);
    foreign::examine(trees, view, &mut found);
    let state = TreeState::try_read(&trees.state, &view.root);
    let spend = match state {
        Ok(state) => state.spend,
        Err(error) => {
            let fix = "remove the file; the next `hippoctl tree compact` creates it again and adopts the \
                       current nodes of other programs";
            let what = format!("the state of the tree cannot be read: {error}");
            let file = TreeState::file(&trees.state, &view.root);
            found.add("tree-state", Severity::Warning, what, &file, fix);
            Spend::default()
        }
    };
    if view.config.tree.summaries == SummaryAuthor::Command {
        let today = date_in(trees.clock.now(), &view.zone(&*trees.clock)).to_string();
        let spend = spend.on(&today);
        examine_program(&trees.settings, &view.root, &mut found);
        if spend.failures >= MOST_FAILURES {
            let error = spend.error.unwrap_or_else(|| "unknown reason".to_owned());
            found.add(
                "tree-command-stopped",
                Severity::Warning,
                format!("the program that writes summaries failed {} times in a row; hippod runs it again tomorrow; last error: {error}", spend.failures),
                &view.root,
                "run the program in tree.command yourself, and correct its problem; until then, nodes \
                 contain lines that hippod extracts",
            );
        }
    }
    found
}

fn has_root(root: &Path) -> bool {
    let stat = WorkspaceDir::open(root).and_then(|dir| dir.stat(Period::All.path()));
    stat.is_ok_and(|stat| stat.is_some())
}

fn examine_node(workspace: &Path, period: Period, file: &str, found: &mut Examination) {
    let path = &workspace.join(file);
    let root = period == Period::All;
    let id = if root { "tree-root" } else { "tree-node" };
    let bytes = match hippo_fs::read_source(workspace, file, LARGEST_NODE) {
        Ok(bytes) => bytes,
        Err(error) => {
            let fix = "make the file readable, or remove the file; to create it again: hippoctl tree compact";
            found.add(id, Severity::Error, format!("cannot be read: {error}"), path, fix);
            return;
        }
    };
    let Ok(text) = std::str::from_utf8(&bytes) else {
        let fix = "save the file as UTF-8, or remove the file; to create it again: hippoctl tree compact";
        found.add(id, Severity::Warning, "is not valid UTF-8", path, fix);
        return;
    };
    let front = match front(text) {
        Ok(front) => front,
        Err(what) => {
            let fix = "correct the lines between the two lines ---, or remove the file; to create it again: \
                       hippoctl tree compact";
            found.add("tree-front-matter", Severity::Warning, what, path, fix);
            return;
        }
    };
    if root {
        let of_root = front
            .iter()
            .any(|(key, value)| *key == "type" && *value == "root");
        let section = |line: &str| SECTIONS.contains(&line.trim_start_matches('#').trim());
        let says = text.lines().any(|line| line.starts_with('#') && section(line));
        if !of_root && !says {
            found.add(
                id,
                Severity::Warning,
                "is not the root of a compaction tree: it has neither the front matter nor a section of one",
                path,
                "move the file elsewhere; or replace it with `hippoctl tree compact --take-over`, in which \
                 case `hippoctl workspace remove` restores it",
            );
            return;
        }
    }
    let broken: Vec<String> = front.iter().filter_map(|field| wrong(period, *field)).collect();
    if !broken.is_empty() {
        found.add(
            "tree-front-matter",
            Severity::Warning,
            format!("its front matter has invalid values: {}", broken.join(", ")),
            path,
            "correct these values, or remove the file; to create it again: hippoctl tree compact",
        );
    }
}

/// Returns the fields of the front matter, or an empty list if there is none. Fails if the front matter is not closed.
fn front(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Ok(Vec::new());
    }
    let mut fields = Vec::new();
    for line in lines {
        if line.trim_end() == "---" {
            return Ok(fields);
        }
        fields.extend(
            line.split_once(':')
                .map(|(key, value)| (key.trim(), value.trim())),
        );
    }
    Err("its front matter is not closed by ---".to_owned())
}

/// Returns the field as `key: value` if its value is invalid.
fn wrong(period: Period, (key, value): (&str, &str)) -> Option<String> {
    let digest = || value.len() == 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = |names: &[&str]| names.contains(&value);
    use {BodyAuthor::*, NodeStatus::*};
    let right = match key {
        "type" => value == level_name(period.level()),
        "period" if period.level() != NodeKind::Root => Period::parse(value) == Some(period),
        "status" => known(&[Tentative, Fixed, NeedsSummarization].map(NodeStatus::name)),
        "source-digest" | "body-digest" => digest(),
        "lines" => value.parse::<usize>().is_ok(),
        "written-by" => [Hippod, Agent, Command]
            .map(BodyAuthor::name)
            .contains(&Some(value)),
        _ => true,
    };
    let short: String = value.chars().take(40).collect();
    (!right).then(|| format!("{key}: {short}"))
}

/// Reports rejected summaries, and the files that an earlier build took over.
fn examine_aside(root: &Path, found: &mut Examination) {
    #[rustfmt::skip] // keep the list compact
    let told = [
        (REJECTED, "tree-rejected", "this folder contains rejected summaries",
            "the first line of each file states the reason: correct the file and pass it to `hippoctl tree \
             submit`, or remove the file"),
        (CARRIED, "tree-carried", "this folder contains another program's files, which an earlier version of \
                                   hippod took over",
            "while these files exist, ROOT.md contains lines from their history and topics; `hippoctl \
             workspace remove` and `hippoctl init --undo` offer to restore the files"),
    ];
    for (folder, id, what, fix) in told {
        let entries = WorkspaceDir::open(root).and_then(|dir| dir.entries(folder));
        let entries = entries.unwrap_or_default();
        let kept = entries.iter().filter(|it| it.kind == FileKind::File).count();
        if kept > 0 {
            let path = root.join(folder);
            found.add(id, Severity::Info, format!("{kept} {what}"), &path, fix);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the user configured this program")]
fn examine_program(settings: &TreeConfig, root: &Path, found: &mut Examination) {
    let id = "tree-command";
    let Some(program) = settings.command.first() else {
        let what = "tree.summaries is set to command, but tree.command contains no program";
        let fix = "set tree.command in config.toml, or set `tree.summaries = \"off\"`";
        return found.add(id, Severity::Warning, what, root, fix);
    };
    let search = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        std::env::split_paths(&search)
            .map(|folder| folder.join(program))
            .collect()
    };
    if places.iter().any(|place| is_executable(place)) {
        return;
    }
    let there = places.iter().find(|place| place.is_file());
    let (what, fix) = match there {
        Some(place) => (
            format!(
                "the program that writes summaries is not executable: {}",
                place.display()
            ),
            format!("chmod +x {}", place.display()),
        ),
        None => (
            format!("the program that writes summaries does not exist: {program}"),
            "set tree.command to the absolute path of the program, because the daemon has a PATH of its own"
                .to_owned(),
        ),
    };
    found.add(id, Severity::Warning, what, root, fix);
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the user configured this program")]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the identifier and the description of each problem.
    fn told(found: &Examination) -> Vec<(&str, &str)> {
        let told = found.problems.iter();
        told.map(|problem| (problem.id.as_str(), problem.what.as_str()))
            .collect()
    }

    fn node(path: &str, bytes: &[u8]) -> Examination {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("node.md"), bytes).unwrap();
        let mut found = Examination::default();
        let period = Period::of_path(path).unwrap();
        examine_node(folder.path(), period, "node.md", &mut found);
        assert!(found.problems.iter().all(|problem| !problem.fix.is_empty()));
        found
    }

    #[test]
    fn an_invalid_node_is_reported_with_the_wrong_line() {
        let day = "memory/daily/2026-01-10.md";
        let sound = "---\ntype: daily\nstatus: fixed\nperiod: 2026-01-10\nsource-digest: 0123456789abcdef\nlines: 4\nwritten-by: agent\nmine: x\n---\n\n- a\n";
        for text in [sound, "- theirs, without any front matter\n", ""] {
            assert_eq!(told(&node(day, text.as_bytes())), []);
        }
        let broken = "---\ntype: weekly\nstatus: done\nperiod: 2026-01-11\nsource-digest: 12\n---\n- a\n";
        let what = "its front matter has invalid values: type: weekly, status: done, period: 2026-01-11, source-digest: 12";
        assert_eq!(told(&node(day, broken.as_bytes())), [("tree-front-matter", what)]);
        let open = "---\ntype: daily\n- a\n";
        assert_eq!(
            told(&node(day, open.as_bytes())),
            [("tree-front-matter", "its front matter is not closed by ---")]
        );
        assert_eq!(told(&node(day, b"\xff")), [("tree-node", "is not valid UTF-8")]);
    }

    #[test]
    fn an_invalid_root_is_reported() {
        let root = "memory/ROOT.md";
        for text in [
            "---\ntype: root\nstatus: tentative\n---\n",
            "## Topics Index\n- pump\n",
        ] {
            assert_eq!(told(&node(root, text.as_bytes())), []);
        }
        assert_eq!(node(root, b"# Notes\n\nof mine\n").problems[0].id, "tree-root");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("node.md")).unwrap();
        let mut found = Examination::default();
        examine_node(folder.path(), Period::All, "node.md", &mut found);
        assert_eq!(found.problems[0].id, "tree-root");
    }

    #[test]
    fn rejected_and_carried_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = Examination::default();
        examine_aside(folder.path(), &mut found);
        assert_eq!(told(&found), []);
        for place in [REJECTED, CARRIED] {
            fs::create_dir_all(folder.path().join(place)).unwrap();
            fs::write(folder.path().join(place).join("a.md"), "x").unwrap();
        }
        examine_aside(folder.path(), &mut found);
        let ids: Vec<&str> = told(&found).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["tree-rejected", "tree-carried"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_unusable_program_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let of = |command: &[&str]| {
            let settings = TreeConfig {
                command: command.iter().map(|&word| word.to_owned()).collect(),
                ..TreeConfig::default()
            };
            let mut found = Examination::default();
            examine_program(&settings, folder.path(), &mut found);
            found
                .problems
                .into_iter()
                .map(|problem| problem.what)
                .collect::<Vec<_>>()
                .join("; ")
        };
        assert!(of(&[]).contains("contains no program"));
        assert_eq!(of(&["sh", "-c", "cat"]), "");
        assert!(of(&["no-such-program-of-ours"]).contains("does not exist"));
        let file = folder.path().join("summarise");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(of(&[file.to_str().unwrap()]).contains("is not executable"));
    }
}
