//! Which files of a workspace are memory, and what does a path say about one?

use globset::GlobSet;

use crate::time::Date;

/// Decides which files are sources.
#[derive(Debug, Clone)]
pub struct SourceRules {
    include: GlobSet,
    exclude: GlobSet,
}

/// A pattern of the configuration that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not read the source pattern {pattern:?}: {reason}")]
pub struct PatternError {
    /// The pattern as given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What kind of memory a file is, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// A file in the workspace's root: `MEMORY.md`, `USER.md`, …
    Root,
    /// A raw daily log: `memory/2026-01-10.md`, also deeper.
    DailyLog,
    /// A node of the compaction tree, made from daily logs.
    Node(NodeKind),
    /// Below `knowledge/`.
    Knowledge,
    /// Below `plans/`.
    Plan,
    /// Below `projects/`.
    Project,
    /// Anything else.
    Other,
}

/// The level of a compaction node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// `memory/daily/2026-01-10.md`
    Daily,
    /// `memory/weekly/2026-W02.md`
    Weekly,
    /// `memory/monthly/2026-01.md`
    Monthly,
    /// `memory/ROOT.md`
    Root,
}

impl SourceRules {
    /// The default sources, and what `include` adds; `exclude` wins over both.
    ///
    /// # Errors
    /// [`PatternError`] names the first pattern that is no glob.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, PatternError> {
        let _ = (include, exclude);
        Ok(Self {
            include: GlobSet::empty(),
            exclude: GlobSet::empty(),
        })
    }

    /// Whether the file at this path, relative to the workspace with `/` between the parts, is a source.
    #[must_use]
    pub fn is_source(&self, rel: &str) -> bool {
        self.include.is_match(rel) && !self.exclude.is_match(rel)
    }

    /// Whether a source could lie in or below this folder; the empty path is the workspace itself.
    #[must_use]
    pub fn may_contain(&self, rel_dir: &str) -> bool {
        !rel_dir.is_empty()
    }
}

impl SourceKind {
    /// The kind of the file at a path relative to the workspace.
    #[must_use]
    pub fn of(rel: &str) -> Self {
        let _ = rel;
        Self::Other
    }
}

/// The day that a path names, at any depth.
#[must_use]
pub fn date_in_name(rel: &str) -> Option<Date> {
    let _ = rel;
    None
}
