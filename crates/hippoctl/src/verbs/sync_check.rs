//! `sync-check`: a memory in a git repository that several machines share.

use std::collections::BTreeSet;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_text::own_block::BlockMarks;
use serde::Serialize;

use super::place;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::git;
use crate::output::Output;
use crate::render::sync_check::{render_preview, render_setup};
use hippoctl::args::SyncCheckArgs;

/// Name of the blocks in the files of git.
const BLOCK: &str = "memory on several machines";
/// Daily logs only grow, so git joins the lines of both sides. hippod merges the index file by entries. The daemon
/// derives the nodes of the tree from the logs again.
const ATTRIBUTES: &str = "/HIPPOCAMPUS.md merge=hippod
/memory/ROOT.md merge=hippod
/memory/daily/*.md merge=hippod
/memory/weekly/*.md merge=hippod
/memory/monthly/*.md merge=hippod
/memory/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*.md merge=union
";
const IGNORED: &str = "/.hippocampus/
/.HIPPOCAMPUS.md.*
";
/// Largest file of git that is edited, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// What `--setup` did.
#[derive(Debug, Serialize)]
pub struct MachineSetup {
    /// The folder.
    pub root: String,
    /// Files that were written.
    pub written: Vec<String>,
    /// Markdown files that git ignores, so that other machines do not get them.
    pub ignored: Vec<String>,
}

/// What a pull would change.
#[derive(Debug, Default, Serialize)]
pub struct PullPreview {
    /// Name of the upstream branch.
    pub upstream: String,
    /// Number of commits that only this machine has.
    pub ahead: u32,
    /// Number of commits that only the upstream branch has.
    pub behind: u32,
    /// Whether git calls the merge driver on this machine.
    pub driver: bool,
    /// Files with changes that are not committed.
    pub uncommitted: Vec<String>,
    /// Those of the uncommitted files that the pull changes. git refuses such a pull.
    pub blocking: Vec<String>,
    /// Files that git cannot merge.
    pub conflicts: Vec<String>,
    /// Committed files that the pull deletes.
    pub deleted: Vec<String>,
    /// Entries of the index file that the pull removes, by id.
    pub removed_entries: Vec<String>,
    /// Markdown files that git ignores, so that other machines do not get them.
    pub ignored: Vec<String>,
}

impl PullPreview {
    /// Returns whether the pull works and deletes nothing.
    pub fn is_safe(&self) -> bool {
        [
            &self.blocking,
            &self.conflicts,
            &self.deleted,
            &self.removed_entries,
        ]
        .iter()
        .all(|paths| paths.is_empty())
    }
}

/// Prepares a repository, or shows what a pull would change.
///
/// # Errors
/// Fails if the folder is in no git repository, if the branch has no upstream branch, or if a file cannot be written.
/// Fails silently after the answer if the pull would be refused or would delete something.
pub fn sync_check(session: &DaemonSession, args: &SyncCheckArgs, out: &mut Output) -> Result<(), Failure> {
    let root = place::choose(session, None, None)?;
    if git::ask(&root, &["rev-parse", "--show-prefix"]).is_none() {
        let what = format!("this folder is in no git repository: {}", root.display());
        return Err(Failure::new(Exit::NotFound, what).hint("create one: git init"));
    }
    if args.setup {
        return out.answer(&set_up(&root)?, render_setup);
    }
    if args.fetch {
        run(&root, &["fetch", "--quiet"])?;
    }
    let preview = preview(&root)?;
    out.answer(&preview, render_preview)?;
    match preview.is_safe() {
        true => Ok(()),
        false => Err(Failure::silent(Exit::Failed)),
    }
}

fn set_up(root: &Path) -> Result<MachineSetup, Failure> {
    let dir = WorkspaceDir::open(root).map_err(|error| Failure::file("open the folder", root, error))?;
    let mut written = Vec::new();
    for (name, body) in [(".gitattributes", ATTRIBUTES), (".gitignore", IGNORED)] {
        let path = root.join(name);
        let old = match dir.read(name, MAX_BYTES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Failure::file("read", &path, error))?,
        };
        let new = BlockMarks::HASH.put(&old, BLOCK, body);
        let new = new.map_err(|error| Failure::file("change", &path, error))?;
        if new != old {
            dir.write_whole(name, &new)
                .map_err(|error| Failure::file("write", &path, error))?;
            written.push(name.to_owned());
        }
    }
    run(
        root,
        &["config", "merge.hippod.name", "entries of HIPPOCAMPUS.md"],
    )?;
    run(root, &["config", "merge.hippod.driver", &driver()])?;
    Ok(MachineSetup {
        root: root.display().to_string(),
        written,
        ignored: ignored(root),
    })
}

/// Returns the command that git calls in a shell. It contains the path of this program, because the programs that call
/// git may have another search path.
fn driver() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "hippoctl".into());
    let quoted = program.display().to_string().replace('\'', r"'\''");
    format!("'{quoted}' merge-driver %O %A %B %P")
}

/// Calls git.
///
/// # Errors
/// Fails with the message of git.
fn run(root: &Path, words: &[&str]) -> Result<String, Failure> {
    let output = git::call(root, words)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = crate::render::one_line(String::from_utf8_lossy(&output.stderr).trim());
    Err(Failure::new(
        Exit::Failed,
        format!("git {} failed: {said}", words[0]),
    ))
}

fn preview(root: &Path) -> Result<PullPreview, Failure> {
    let upstream = git::ask(root, &["rev-parse", "--abbrev-ref", "@{upstream}"]).ok_or_else(|| {
        let what = "the current branch has no upstream branch";
        Failure::new(Exit::NotFound, what).hint("set one: git push --set-upstream origin HEAD")
    })?;
    let counts = run(
        root,
        &["rev-list", "--left-right", "--count", "HEAD...@{upstream}"],
    )?;
    let mut counts = counts.split_whitespace().map(|count| count.parse().unwrap_or(0));
    let mut preview = PullPreview {
        upstream: upstream.trim().to_owned(),
        ahead: counts.next().unwrap_or(0),
        behind: counts.next().unwrap_or(0),
        driver: git::ask(root, &["config", "merge.hippod.driver"])
            .is_some_and(|set| set.trim_end_matches('\n') == driver()),
        uncommitted: uncommitted(root),
        ignored: ignored(root),
        ..PullPreview::default()
    };
    let incoming = [
        "diff",
        "--name-only",
        "--no-renames",
        "--relative",
        "-z",
        "HEAD...@{upstream}",
    ];
    let incoming: BTreeSet<String> = git::paths(root, &incoming).into_iter().collect();
    let blocking = preview.uncommitted.iter().filter(|path| incoming.contains(*path));
    preview.blocking = blocking.cloned().collect();
    let tree = preview.merge(root)?;
    let deleted = [
        "diff",
        "--name-only",
        "--no-renames",
        "--relative",
        "--diff-filter=D",
        "-z",
        "HEAD",
        &tree,
    ];
    preview.deleted = git::paths(root, &deleted);
    let after = entries(root, &tree);
    preview.removed_entries = entries(root, "HEAD").difference(&after).cloned().collect();
    Ok(preview)
}

impl PullPreview {
    /// Merges the upstream branch on trial, and sets the conflicts. Returns the name of the merged tree.
    fn merge(&mut self, root: &Path) -> Result<String, Failure> {
        let words = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            "HEAD",
            "@{upstream}",
        ];
        let output = git::call(root, &words)?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!(
                "git could not merge on trial: {}",
                crate::render::one_line(said.trim())
            );
            return Err(Failure::new(Exit::Failed, what).hint("git 2.38 or newer is needed"));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut parts = text.split_terminator('\0');
        let tree = parts.next().unwrap_or_default().to_owned();
        let conflicts: BTreeSet<&str> = parts.filter(|path| !path.is_empty()).collect();
        self.conflicts = conflicts.into_iter().map(str::to_owned).collect();
        Ok(tree)
    }
}

/// Returns the files with changes that are not committed.
fn uncommitted(root: &Path) -> Vec<String> {
    let changed = ["diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD"];
    let mut found = git::paths(root, &changed);
    found.extend(git::paths(
        root,
        &["ls-files", "--others", "--exclude-standard", "-z"],
    ));
    found
}

/// Returns the markdown files that git ignores, without those of hippod.
fn ignored(root: &Path) -> Vec<String> {
    let words = [
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "-z",
        "--",
        "*.md",
    ];
    let is_own = |path: &String| path.starts_with('.') || path.contains("node_modules/");
    let found = git::paths(root, &words).into_iter();
    found.filter(|path| !is_own(path)).collect()
}

/// Returns the ids of the entries in the index file of a commit or tree.
fn entries(root: &Path, version: &str) -> BTreeSet<String> {
    let text = git::ask(root, &["show", &format!("{version}:./HIPPOCAMPUS.md")]).unwrap_or_default();
    let file = IndexFile::parse(text.as_bytes(), IndexFileOptions::default());
    file.entries().map(|it| it.entry.id.0.clone()).collect()
}
