//! Patterns of source files in the configuration.

use globset::{Glob, GlobBuilder};

/// Maximum number of patterns in one list.
pub const MOST_PATTERNS: usize = 256;
/// Maximum length of a pattern in bytes.
pub const LONGEST_PATTERN: usize = 1_024;

/// Error for an invalid pattern in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not read the source pattern {pattern:?}: {reason}")]
pub struct PatternError {
    /// Rejected pattern, possibly shortened.
    pub pattern: String,
    /// Reason why the pattern is invalid.
    pub reason: String,
}

/// Returns the globs for a pattern of the configuration. A pattern that can name a file or a folder has two globs: one
/// for the file or folder itself, and one for everything below it.
pub(crate) fn variants(pattern: &str) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./");
    let rooted = pattern.strip_prefix('/');
    let path = rooted.unwrap_or(pattern);
    if let Some(folder) = path.strip_suffix('/') {
        return vec![format!("{folder}/**")];
    }
    let anywhere = rooted.is_none() && !path.contains('/');
    let path = format!("{}{path}", if anywhere { "**/" } else { "" });
    match path.ends_with("**") {
        true => vec![path],
        false => vec![format!("{path}/**"), path],
    }
}

/// Returns the folders of a pattern before its first wildcard. For a pattern without wildcards, returns the folder of
/// the file that the pattern names.
pub(super) fn root_of(pattern: &str) -> String {
    let parts: Vec<&str> = pattern.split('/').collect();
    let wild = |part: &&str| part.contains(['*', '?', '[', '{', '\\']);
    let depth = parts.iter().position(wild).unwrap_or(parts.len() - 1);
    parts[..depth].join("/")
}

/// Rejects lists with too many or too long patterns, because such lists take long to compile.
pub(crate) fn bounded(patterns: &[String]) -> Result<(), PatternError> {
    let error = |pattern: &str, reason: String| PatternError {
        pattern: pattern.chars().take(40).collect(),
        reason,
    };
    if let Some(first) = patterns.get(MOST_PATTERNS) {
        let count = patterns.len();
        let reason = format!("the list has {count} patterns, and the maximum is {MOST_PATTERNS}");
        return Err(error(first, reason));
    }
    match patterns.iter().find(|pattern| pattern.len() > LONGEST_PATTERN) {
        Some(long) => Err(error(
            long,
            format!("the pattern is longer than {LONGEST_PATTERN} bytes"),
        )),
        None => Ok(()),
    }
}

pub(super) fn glob(pattern: &str) -> Result<Glob, PatternError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    built.map_err(|error| PatternError {
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    })
}
