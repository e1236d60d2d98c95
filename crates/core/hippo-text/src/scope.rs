//! Scopes of files, by their paths.

use globset::{GlobBuilder, GlobMatcher};

use hippo_types::scope::{AgentId, Scope};

use crate::source::{PatternError, bounded, variants};

/// Placeholder of the id of the agent in a pattern.
const AGENT: &str = "{agent}";

/// Patterns of the files that are private to an agent. Case is ignored, because some file systems ignore it.
#[derive(Debug, Clone, Default)]
pub struct ScopeRules(Vec<ScopePattern>);

#[derive(Debug, Clone)]
struct ScopePattern {
    globs: Vec<GlobMatcher>,
    /// Number of folders before the part with the id.
    depth: usize,
    /// Beginning and end of the part with the id.
    around: (String, String),
    /// Path of an agent's folder, up to the id; `None` if the pattern names no such folder.
    before: Option<String>,
}

impl ScopeRules {
    /// Creates the rules from patterns such as `agents/{agent}/**`.
    ///
    /// # Errors
    /// Returns [`PatternError`] for a pattern without `{agent}`, or with a `**` before it, and for an invalid glob.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        bounded(patterns)?;
        let patterns = patterns.iter().map(|pattern| ScopePattern::new(pattern));
        patterns.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the scope of the file at a path, relative to the workspace with `/`. If the id in the path cannot be the
    /// id of an agent, or if several patterns find different ids, no agent may read the file.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Scope {
        let scopes = self.0.iter().filter_map(|pattern| pattern.scope(path));
        scopes.fold(Scope::Shared, Scope::meet)
    }

    /// Returns the folder of an agent: that of the first pattern that names a folder.
    #[must_use]
    pub fn folder(&self, agent: &AgentId) -> Option<String> {
        let before = self.0.iter().find_map(|pattern| pattern.before.as_ref())?;
        let folder = format!("{before}{agent}");
        let inside = self.of_path(&format!("{folder}/memory/x.md"));
        (inside == Scope::Private(agent.clone())).then_some(folder)
    }
}

impl ScopePattern {
    fn new(text: &str) -> Result<Self, PatternError> {
        let refuse = |reason: &str| PatternError {
            pattern: text.chars().take(40).collect(),
            reason: reason.to_owned(),
        };
        let pattern = text.trim_start_matches("./").trim_start_matches('/');
        let parts: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
        let depth = parts.iter().position(|part| part.contains(AGENT));
        let depth = depth.ok_or_else(|| refuse("the pattern must contain {agent}"))?;
        let (before, after) = parts[depth].split_once(AGENT).unwrap_or_default();
        if pattern.matches(AGENT).count() > 1 {
            return Err(refuse("the pattern must contain {agent} only once"));
        }
        let wild = |part: &str| part.contains(['*', '?', '[', '{', '\\']);
        if wild(before) || wild(after) || parts[..depth].contains(&"**") {
            return Err(refuse(
                "the part with {agent} has no wildcard, and `**` must follow it",
            ));
        }
        // `variants` lets a pattern without `/` match at any depth.
        let rooted = format!("/{}", pattern.replace(AGENT, "*"));
        let globs = variants(&rooted).into_iter().map(|glob| {
            let built = GlobBuilder::new(&glob)
                .literal_separator(true)
                .case_insensitive(true)
                .build();
            built.map(|glob| glob.compile_matcher())
        });
        let globs = globs.collect::<Result<_, _>>();
        let is_folder = after.is_empty() && matches!(parts[depth + 1..], [] | ["**"]);
        let is_literal = !parts[..depth].iter().any(|part| wild(part));
        let folders: String = parts[..depth].iter().map(|part| format!("{part}/")).collect();
        Ok(Self {
            globs: globs.map_err(|error| refuse(&error.kind().to_string()))?,
            depth,
            around: (before.to_lowercase(), after.to_lowercase()),
            before: (is_folder && is_literal).then(|| format!("{folders}{before}")),
        })
    }

    /// Returns the scope of a file that the pattern matches.
    fn scope(&self, path: &str) -> Option<Scope> {
        if !self.globs.iter().any(|glob| glob.is_match(path)) {
            return None;
        }
        let (before, after) = &self.around;
        let part = path.split('/').nth(self.depth).unwrap_or_default().to_lowercase();
        let id = part
            .strip_prefix(before.as_str())
            .and_then(|part| part.strip_suffix(after.as_str()));
        let agent = id.and_then(|id| id.parse().ok());
        Some(agent.map_or(Scope::Unclaimed, Scope::Private))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(patterns: &[&str]) -> ScopeRules {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        ScopeRules::new(&patterns).unwrap()
    }

    #[test]
    fn the_path_of_a_file_names_its_agent() {
        let rules = rules(&["agents/{agent}/**", "notes/of-{agent}.md", "team/*/{agent}/"]);
        for (path, scope) in [
            ("agents/scribe/a.md", "private:scribe"),
            ("agents/scribe/memory/deep/a.md", "private:scribe"),
            ("Agents/Scribe/a.md", "private:scribe"),
            ("agents/Ada Lovelace/a.md", "unclaimed"),
            ("agents/readme.md", "shared"),
            ("projects/agents/scribe/a.md", "shared"),
            ("notes/of-critic.md", "private:critic"),
            ("notes/of-critic.md/x.md", "private:critic"),
            ("notes/of-.md", "unclaimed"),
            ("notes/critic.md", "shared"),
            ("team/red/critic/a.md", "private:critic"),
            ("memory/2026-03-02.md", "shared"),
        ] {
            assert_eq!(rules.of_path(path).to_string(), scope, "{path}");
        }
        let scribe = "scribe".parse().unwrap();
        assert_eq!(rules.folder(&scribe).as_deref(), Some("agents/scribe"));
    }

    #[test]
    fn a_path_with_two_agents_belongs_to_neither() {
        let rules = rules(&["*/{agent}/**", "agents/scribe/{agent}/**"]);
        assert_eq!(rules.of_path("agents/scribe/critic/a.md"), Scope::Unclaimed);
        assert_eq!(rules.folder(&"critic".parse().unwrap()), None);
    }

    #[test]
    fn patterns_without_exactly_one_agent_are_refused() {
        for pattern in [
            "private/**",
            "a/{agent}/{agent}",
            "**/{agent}/x",
            "a/x*{agent}/y",
            "a/{agent}/[",
            "",
        ] {
            assert!(ScopeRules::new(&[pattern.to_owned()]).is_err(), "{pattern}");
        }
    }
}
