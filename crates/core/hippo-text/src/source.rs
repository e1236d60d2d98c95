//! Selection and kinds of the source files of a workspace.

mod conflict;
mod pattern;

use globset::{GlobSet, GlobSetBuilder};

use hippo_types::names;
use hippo_types::time::{Date, find_date};

pub use conflict::original_of_copy;
pub use pattern::{LONGEST_PATTERN, MOST_PATTERNS, PatternError};
pub(crate) use pattern::{bounded, variants};
use pattern::{glob, root_of};

/// Names of source files in a workspace's root.
#[rustfmt::skip] // keep the list compact
const ROOT_FILES: [&str; 9] = [
    "MEMORY.md", "USER.md", "TOOLS.md", "AGENTS.md", "SOUL.md", "HEARTBEAT.md", "SCRATCHPAD.md", "WORKING.md",
    "TASK-QUEUE.md",
];

/// Folders in a workspace's root whose markdown files are sources at any depth, even if git ignores them.
const ROOT_FOLDERS: [&str; 4] = ["memory", "knowledge", "plans", "projects"];

/// Folders of copied or generated files. Their markdown files are sources only below [`ROOT_FOLDERS`] or if a pattern
/// includes them.
#[rustfmt::skip] // keep the list compact
const GENERATED_FOLDERS: [&str; 12] = [
    "Pods", "__pycache__", "bower_components", "build", "dist", "jspm_packages", "out", "site-packages", "target",
    "third_party", "vendor", "venv",
];

/// Folder of the pages that hippod creates from transcripts of sessions.
pub const SESSION_PAGES: &str = ".hippocampus/sessions";

/// Extensions of markdown files.
const MARKDOWN: [&str; 2] = ["md", "markdown"];

/// Rules that decide which files are sources.
///
/// All markdown files are sources, except those in folders of copied or generated files. The files of the agent layout
/// (`MEMORY.md`, `memory/`, …) and the files that a pattern includes are *selected*: they are sources even in such a
/// folder, and even if git ignores them.
///
/// The following paths are never sources, regardless of the patterns: names that start with a dot, `node_modules`,
/// everything below such folders, and `HIPPOCAMPUS.md`, which hippod writes, with its conflict copies. The pages of
/// sessions are an exception if they are searched.
#[derive(Debug, Clone)]
pub struct SourceRules {
    include: GlobSet,
    exclude: GlobSet,
    /// For each included pattern, the folders before its first wildcard.
    roots: Vec<String>,
    /// True if the pages of sessions are sources.
    with_sessions: bool,
}

/// Kind of a source file, derived from its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// File of the agent layout in the workspace's root: `MEMORY.md`, `USER.md`, …
    Root,
    /// Raw daily log: `memory/2026-01-10.md`, also in folders below `memory/`.
    DailyLog,
    /// Node of the compaction tree, derived from daily logs.
    Node(NodeKind),
    /// File below `knowledge/`.
    Knowledge,
    /// File below `plans/`.
    Plan,
    /// File below `projects/`.
    Project,
    /// Page of a session.
    Session,
    /// Any other file.
    Other,
}

/// Level of a compaction node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// Node of a day: `memory/daily/2026-01-10.md`.
    Daily,
    /// Node of a week: `memory/weekly/2026-W02.md`.
    Weekly,
    /// Node of a month: `memory/monthly/2026-01.md`.
    Monthly,
    /// Root of the tree: `memory/ROOT.md`.
    Root,
}

names!(NodeKind { Daily => "daily", Weekly => "weekly", Monthly => "monthly", Root => "root" });

impl SourceRules {
    /// Creates rules for all markdown files plus `include`; `exclude` takes precedence over both.
    ///
    /// `*` matches within one folder, `**` across folders. A pattern without `/` matches a name at any
    /// depth. A pattern that ends in `/` or names a folder matches everything below it.
    ///
    /// # Errors
    ///
    /// Returns [`PatternError`] for the first invalid glob, for more than [`MOST_PATTERNS`] patterns in a list, or for
    /// a pattern longer than [`LONGEST_PATTERN`].
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, PatternError> {
        let all = |patterns: &[String]| -> Vec<String> {
            patterns.iter().flat_map(|pattern| variants(pattern)).collect()
        };
        let build = |patterns: &[String]| {
            bounded(patterns)?;
            let mut globs = GlobSetBuilder::new();
            for pattern in all(patterns) {
                globs.add(glob(&pattern)?);
            }
            globs.build().map_err(|error| PatternError {
                pattern: String::new(),
                reason: error.kind().to_string(),
            })
        };
        Ok(Self {
            include: build(include)?,
            exclude: build(exclude)?,
            roots: all(include).iter().map(|pattern| root_of(pattern)).collect(),
            with_sessions: false,
        })
    }

    /// Sets whether the pages of sessions are sources.
    #[must_use]
    pub fn with_sessions(self, with_sessions: bool) -> Self {
        Self {
            with_sessions,
            ..self
        }
    }

    /// Returns `true` if pages of sessions are sources, and the path is such a page or contains the pages.
    #[must_use]
    pub fn is_for_sessions(&self, rel: &str) -> bool {
        self.with_sessions && (is_within(SESSION_PAGES, rel) && !rel.is_empty() || is_session_page(rel))
    }

    /// Returns `true` if the file at this path, relative to the workspace with `/`, is a source, unless an ignore file
    /// excludes it.
    #[must_use]
    pub fn is_source(&self, rel: &str) -> bool {
        let is_plain = || is_markdown(rel) && generated_folder(rel).is_none() && !is_index_file(rel);
        let may_be = !is_never(rel) || self.with_sessions && is_session_page(rel);
        may_be && !self.exclude.is_match(rel) && (self.is_selected(rel) || is_plain())
    }

    /// Returns `true` if the file at this path belongs to the agent layout, if a pattern includes it, or if it is the
    /// page of a session.
    #[must_use]
    pub fn is_selected(&self, rel: &str) -> bool {
        is_default(rel) || self.include.is_match(rel) || self.is_for_sessions(rel)
    }

    /// Returns `true` if a source may be in or below this folder; the empty path is the workspace.
    ///
    /// The answer may be a false positive, never a false negative.
    #[must_use]
    pub fn may_contain(&self, rel_dir: &str) -> bool {
        let dir = rel_dir.trim_end_matches('/');
        if dir.is_empty() {
            return true;
        }
        (!is_never(dir) || self.is_for_sessions(dir))
            && !self.is_excluded_folder(dir)
            && (self.may_contain_selected(dir) || generated_folder(dir).is_none())
    }

    /// Returns `true` if a selected file may be in or below this folder; the empty path is the workspace.
    #[must_use]
    pub fn may_contain_selected(&self, dir: &str) -> bool {
        let first = dir.split('/').next().unwrap_or(dir);
        let mut roots = self.roots.iter();
        dir.is_empty()
            || ROOT_FOLDERS.contains(&first)
            || self.is_for_sessions(dir)
            || roots.any(|root| is_within(dir, root) || is_within(root, dir))
    }

    /// Returns why the rules exclude the path of a markdown file or of a folder, as a phrase that follows a number of
    /// files, for example "in node_modules". Returns `None` for hidden paths, and if the rules do not exclude the path.
    #[must_use]
    pub fn why_not(&self, rel: &str) -> Option<String> {
        let has = |is_it: fn(&str) -> bool| rel.split('/').any(is_it);
        if has(|part| part.starts_with('.')) {
            return None;
        }
        if has(|part| part == "node_modules") {
            return Some("in node_modules".to_owned());
        }
        if self.is_excluded_folder(rel) {
            return Some("excluded by sources.exclude".to_owned());
        }
        generated_folder(rel).map(|folder| format!("in {folder}"))
    }

    fn is_excluded_folder(&self, dir: &str) -> bool {
        // The pattern `drafts/**` excludes everything below `drafts`, but does not match `drafts` itself. The second
        // test therefore uses a path below the folder with a name that no file has.
        let anything = format!("{dir}/\u{1}/\u{1}");
        self.exclude.is_match(dir) || self.exclude.is_match(&anything)
    }
}

impl SourceKind {
    /// Returns the kind of the file at a path relative to the workspace.
    #[must_use]
    pub fn from_path(rel: &str) -> Self {
        if is_session_page(rel) {
            return Self::Session;
        }
        let Some((folder, rest)) = rel.split_once('/') else {
            return if ROOT_FILES.contains(&rel) {
                Self::Root
            } else {
                Self::Other
            };
        };
        match folder {
            "memory" => Self::from_memory_path(rest),
            "knowledge" => Self::Knowledge,
            "plans" => Self::Plan,
            "projects" => Self::Project,
            _ => Self::Other,
        }
    }

    /// Returns `true` for a file whose content comes from other files: a node of the compaction tree, or the page of a
    /// session. Such a file has no entries.
    #[must_use]
    pub fn is_derived(self) -> bool {
        matches!(self, Self::Node(_) | Self::Session)
    }

    fn from_memory_path(rest: &str) -> Self {
        let name = rest.rsplit('/').next().unwrap_or(rest);
        let stem = stem(name);
        let folder = rest.strip_suffix(name).unwrap_or_default();
        match folder {
            "" if rest == "ROOT.md" => Self::Node(NodeKind::Root),
            "daily/" if is_day(stem) => Self::Node(NodeKind::Daily),
            "weekly/" if week(stem).is_some() => Self::Node(NodeKind::Weekly),
            "monthly/" if month(stem).is_some() => Self::Node(NodeKind::Monthly),
            _ if find_date(stem).is_some() => Self::DailyLog,
            _ => Self::Other,
        }
    }
}

/// Returns the date that a path contains, in the file name or in a folder name.
///
/// A full date in the file name takes precedence, then the Monday of an ISO week (`2026-W11`), then the first day of a
/// month (`2026-03`), then the same in the folders, innermost first.
#[must_use]
pub fn date_in_name(rel: &str) -> Option<Date> {
    let mut parts = rel.rsplit('/');
    let name = parts.next()?;
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let of = |part: &str| find_date(part).or_else(|| week(part)).or_else(|| month(part));
    of(name)
        // Dates across folders: `2026/01/10.md`.
        .or_else(|| find_date(rel))
        .or_else(|| parts.find_map(of))
}

fn is_day(stem: &str) -> bool {
    stem.len() == 10 && find_date(stem).is_some()
}

/// Returns the Monday of the ISO week at the start of a text.
fn week(text: &str) -> Option<Date> {
    let (year, rest) = text.split_once("-W")?;
    let digits = rest.get(..2)?;
    let apart = !rest[2..].starts_with(|next: char| next.is_ascii_digit());
    if year.len() != 4 || !apart || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let week = jiff::civil::ISOWeekDate::new(
        year.parse().ok()?,
        digits.parse().ok()?,
        jiff::civil::Weekday::Monday,
    );
    week.ok().map(|week| week.date())
}

/// Returns the first day of the month if the whole text is a month: `2026-03`, `2026_03`.
fn month(text: &str) -> Option<Date> {
    let (year, month) = text.split_once(['-', '_'])?;
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let year: i16 = digits(year, 4).then(|| year.parse().ok())??;
    let month: i8 = digits(month, 2).then(|| month.parse().ok())??;
    if !(1900..2200).contains(&year) {
        return None;
    }
    Date::new(year, month, 1).ok()
}

/// Returns `true` for the index file of a workspace, at any depth, and for a conflict copy of such a file.
#[must_use]
pub fn is_index_file(rel: &str) -> bool {
    let name = rel.rsplit('/').next().unwrap_or(rel);
    name == "HIPPOCAMPUS.md" || original_of_copy(name).as_deref() == Some("HIPPOCAMPUS.md")
}

/// Returns the name of the outermost folder of copied or generated files in a path.
fn generated_folder(rel: &str) -> Option<&str> {
    rel.split('/').find(|part| GENERATED_FOLDERS.contains(part))
}

/// Returns `true` for the page of a session.
fn is_session_page(rel: &str) -> bool {
    let name = rel
        .strip_prefix(SESSION_PAGES)
        .and_then(|rest| rest.strip_prefix('/'));
    name.is_some_and(|name| !name.contains('/') && !name.starts_with('.') && is_markdown(name))
}

/// Returns `true` for a path that is never a source, except pages of sessions.
fn is_never(rel: &str) -> bool {
    let never = |part: &str| part.starts_with('.') || part == "node_modules";
    !rel.contains('/') && is_index_file(rel) || rel.split('/').any(never)
}

fn is_default(rel: &str) -> bool {
    match rel.split_once('/') {
        None => ROOT_FILES.contains(&rel),
        Some((folder, rest)) => ROOT_FOLDERS.contains(&folder) && is_markdown(rest),
    }
}

/// Returns `true` if a path has the extension `.md` or `.markdown` in any case.
#[must_use]
pub fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| MARKDOWN.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Returns the name of a file without its folders and without the extension of a markdown file.
#[must_use]
pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let parts = name.rsplit_once('.').filter(|_| is_markdown(name));
    parts.map_or(name, |(stem, _)| stem)
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
