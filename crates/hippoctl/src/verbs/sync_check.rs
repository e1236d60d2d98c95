//! `sync-check`: a memory in a git repository that several machines share.

use std::collections::BTreeSet;
use std::path::Path;

use hippo_fs::WorkspaceDir;
use hippo_map::index_file::{IndexFile, IndexFileOptions};
use hippo_text::own_block::BlockMarks;
use hippo_text::source::original_of_copy;
use serde::Serialize;

use super::place;
use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::git;
use crate::harness::repository::{GITIGNORE, MAX_BYTES, SHARED};
use crate::output::Output;
use crate::render::sync_check::{render_preview, render_setup};
use hippoctl::args::SyncCheckArgs;

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
/// Name of the block with which `init` excludes a memory from the repository of a project.
const EXCLUDED: &str = "memory";

/// Result of `--setup`.
#[derive(Debug, Serialize)]
pub struct MachineSetup {
    /// The folder.
    pub root: String,
    /// Files that were written.
    pub written: Vec<String>,
    /// Markdown files that git ignores, so that other machines do not get them.
    pub ignored: Vec<String>,
}

/// Preview of a pull. Paths are relative to the repository.
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
    /// Uncommitted files because of which git refuses the pull.
    pub blocking: Vec<String>,
    /// Ignored files that the pull overwrites.
    pub overwritten: Vec<String>,
    /// Files that git cannot merge.
    pub conflicts: Vec<String>,
    /// Committed files that the pull deletes.
    pub deleted: Vec<String>,
    /// Entries of the index file that the pull removes, by id.
    pub removed_entries: Vec<String>,
    /// Markdown files that git ignores, so that other machines do not get them.
    pub ignored: Vec<String>,
    /// Conflict copies of programs that synchronize folders.
    pub copies: Vec<String>,
}

impl PullPreview {
    /// Returns whether the pull works and loses no file.
    pub fn is_safe(&self) -> bool {
        [&self.blocking, &self.overwritten, &self.conflicts, &self.deleted]
            .iter()
            .all(|paths| paths.is_empty())
    }
}

/// Prepares a repository, or shows what a pull would change.
///
/// # Errors
/// Fails if the folder is in no git repository, if the branch has no upstream branch, or if a file cannot be written.
/// Fails silently after the answer if the pull would be refused or would lose a file.
pub fn sync_check(session: &DaemonSession, args: &SyncCheckArgs, out: &mut Output) -> Result<(), Failure> {
    let root = place::choose(session, None, None)?;
    let is_inside = git::ask(&root, &["rev-parse", "--is-inside-work-tree"]);
    if is_inside.is_none_or(|shown| shown.trim() != "true") {
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
    for (name, body) in [(".gitattributes", ATTRIBUTES), (GITIGNORE, IGNORED)] {
        let path = root.join(name);
        let old = match dir.read(name, MAX_BYTES) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Failure::file("read", &path, error))?,
        };
        let marks = BlockMarks::HASH;
        let is_excluded = name == GITIGNORE && marks.span(&old, EXCLUDED).is_ok_and(|block| block.is_some());
        let new = match is_excluded {
            // The block of init excludes the memory. Only the files of this machine stay excluded.
            true => marks.put(&old, EXCLUDED, body),
            false => marks.put(&old, SHARED, body),
        };
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
    if git::ask(root, &["rev-parse", "--verify", "HEAD"]).is_none() {
        let what = "the repository has no commit";
        return Err(Failure::new(Exit::NotFound, what).hint("create one: git add -A && git commit"));
    }
    if git::ask(root, &["symbolic-ref", "HEAD"]).is_none() {
        let what = "HEAD is detached, so no branch is compared";
        return Err(Failure::new(Exit::NotFound, what).hint("switch to a branch: git switch BRANCH"));
    }
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
        ignored: ignored(root),
        copies: copies(root),
        removed_entries: entries(root, "HEAD").into_iter().collect(),
        ..PullPreview::default()
    };
    let top = run(root, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim_end_matches('\n'));
    preview.compare_files(top);
    let tree = preview.merge(root)?;
    preview.deleted = git::paths(
        top,
        &[
            "diff",
            "--name-only",
            "--no-renames",
            "--diff-filter=D",
            "-z",
            "HEAD",
            &tree,
        ],
    );
    let after = entries(root, &tree);
    preview.removed_entries.retain(|id| !after.contains(id));
    Ok(preview)
}

impl PullPreview {
    /// Sets the uncommitted files, and those that the pull changes. `top` is the folder of the repository.
    fn compare_files(&mut self, top: &Path) {
        let tracked = git::paths(top, &["diff", "--name-only", "--no-renames", "-z", "HEAD"]);
        let untracked = git::paths(top, &["ls-files", "--others", "--exclude-standard", "-z"]);
        let incoming = |filter: &str| {
            git::paths(
                top,
                &[
                    "diff",
                    "--name-only",
                    "--no-renames",
                    filter,
                    "-z",
                    "HEAD...@{upstream}",
                ],
            )
        };
        let changed = incoming("--diff-filter=ACDMRT");
        let is_within = |path: &str, folder: &str| {
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let meets = |path: &String| {
            changed
                .iter()
                .any(|new| is_within(new, path) || is_within(path, new))
        };
        // A rebase needs a clean work tree, and a merge a clean index.
        let all: Vec<String> = match (self.behind, self.ahead) {
            (0, _) => Vec::new(),
            _ if rebases(top) => tracked.clone(),
            (_, 0) => Vec::new(),
            _ => git::paths(
                top,
                &["diff", "--cached", "--name-only", "--no-renames", "-z", "HEAD"],
            ),
        };
        self.uncommitted = tracked.into_iter().chain(untracked).collect();
        let blocking = self
            .uncommitted
            .iter()
            .filter(|path| all.contains(path) || meets(path));
        self.blocking = blocking.cloned().collect();
        let known: BTreeSet<String> = git::paths(top, &["ls-files", "-z"]).into_iter().collect();
        let is_ignored = |path: &String| {
            hippo_fs::exists(top, path) && !known.contains(path) && !self.uncommitted.contains(path)
        };
        self.overwritten = incoming("--diff-filter=A")
            .into_iter()
            .filter(is_ignored)
            .collect();
    }
}

/// Returns whether `git pull` rebases the branch, and does not stash changes before.
fn rebases(root: &Path) -> bool {
    let is_on = |key: &str| git::ask(root, &["config", key]).map(|value| value.trim() != "false");
    let branch = git::ask(root, &["symbolic-ref", "--short", "HEAD"]).unwrap_or_default();
    let rebase = is_on(&format!("branch.{}.rebase", branch.trim())).or_else(|| is_on("pull.rebase"));
    rebase == Some(true) && is_on("rebase.autostash") != Some(true)
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
            // 129 is the exit code for an unknown option.
            let is_old = output.status.code() == Some(129);
            let hint = if is_old { "git 2.38 or newer is needed" } else { "" };
            return Err(Failure::new(Exit::Failed, what).hint(hint));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut parts = text.split_terminator('\0');
        let tree = parts.next().unwrap_or_default().to_owned();
        let conflicts: BTreeSet<&str> = parts.filter(|path| !path.is_empty()).collect();
        self.conflicts = conflicts.into_iter().map(str::to_owned).collect();
        Ok(tree)
    }
}

/// Returns the markdown files that git ignores, without those of hippod.
fn ignored(root: &Path) -> Vec<String> {
    let words = [
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--full-name",
        "-z",
        "--",
        "*.md",
    ];
    let is_own = |path: &String| {
        let mut parts = path.split('/');
        parts.any(|part| part.starts_with('.') || part == "node_modules")
    };
    let found = git::paths(root, &words).into_iter();
    found.filter(|path| !is_own(path)).collect()
}

/// Returns the conflict copies of programs that synchronize folders.
fn copies(root: &Path) -> Vec<String> {
    let words = [
        "ls-files",
        "--cached",
        "--others",
        "-z",
        "--",
        ":(icase)*conflict*.md",
    ];
    let is_copy = |path: &String| original_of_copy(path.rsplit('/').next().unwrap_or(path)).is_some();
    let mut found = git::paths(root, &words);
    found.retain(|path| is_copy(path) && !path.starts_with('.') && hippo_fs::exists(root, path));
    found
}

/// Returns the ids of the entries in the index file of a commit or tree.
fn entries(root: &Path, version: &str) -> BTreeSet<String> {
    let text = git::ask(root, &["show", &format!("{version}:./HIPPOCAMPUS.md")]).unwrap_or_default();
    let file = IndexFile::parse(text.as_bytes(), IndexFileOptions::default());
    file.entries().map(|it| it.entry.id.0.clone()).collect()
}
