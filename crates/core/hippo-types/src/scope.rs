//! Scopes of texts: shared, or private to an agent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum length of the id of an agent in bytes.
pub const MAX_AGENT_BYTES: usize = 64;

/// Id of an agent of a workspace, such as `scribe`. It contains lower-case ASCII letters, digits, `-`, `_` and `.`, and
/// begins with a letter or a digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(String);

impl AgentId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = InvalidAgentId;

    fn from_str(id: &str) -> Result<Self, InvalidAgentId> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_valid = id.len() <= MAX_AGENT_BYTES
            && id.bytes().next().is_some_and(is_plain)
            && id
                .bytes()
                .all(|byte| is_plain(byte) || matches!(byte, b'-' | b'_' | b'.'));
        is_valid.then(|| Self(id.to_owned())).ok_or(InvalidAgentId)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error for a text that is not the id of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the id of an agent: an id has 1 to {MAX_AGENT_BYTES} lower-case letters, digits, '-', '_' or '.', and begins \
     with a letter or a digit"
)]
pub struct InvalidAgentId;

/// Readers of a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scope {
    /// All agents of the workspace, and requests that name no agent.
    #[default]
    Shared,
    /// One agent.
    Private(AgentId),
    /// No agent: the text is private, but its agent is unknown, or several agents claim it.
    Unclaimed,
}

impl Scope {
    /// Returns whether all agents of the workspace may read the text.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        *self == Self::Shared
    }

    /// Returns the scope with only the readers that both scopes have.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Shared, scope) | (scope, Self::Shared) => scope,
            (one, other) if one == other => one,
            _ => Self::Unclaimed,
        }
    }
}

impl fmt::Display for Scope {
    /// Formats the scope as `shared`, `private:ID` or `unclaimed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => f.write_str("shared"),
            Self::Private(agent) => write!(f, "private:{agent}"),
            Self::Unclaimed => f.write_str("unclaimed"),
        }
    }
}

impl FromStr for Scope {
    type Err = InvalidAgentId;

    fn from_str(text: &str) -> Result<Self, InvalidAgentId> {
        match text {
            "shared" => Ok(Self::Shared),
            "unclaimed" => Ok(Self::Unclaimed),
            _ => text
                .strip_prefix("private:")
                .ok_or(InvalidAgentId)?
                .parse()
                .map(Self::Private),
        }
    }
}

/// Restriction of a scope, which a file states in its front matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeRestriction {
    /// The file states none.
    #[default]
    None,
    /// The file is private. Its path names the agent.
    Private,
    /// The file is private to this agent.
    Agent(AgentId),
    /// The file names several agents, or an agent that cannot exist.
    Unclear,
}

impl ScopeRestriction {
    /// Returns the restriction for a file that states two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (Self::Private, one) | (one, Self::Private) => one,
            (one, other) if one == other => one,
            _ => Self::Unclear,
        }
    }

    /// Applies the restriction to the scope that the path of the file has. The result never has more readers.
    #[must_use]
    pub fn apply(self, scope: Scope) -> Scope {
        match self {
            Self::None => scope,
            Self::Private if scope.is_shared() => Scope::Unclaimed,
            Self::Private => scope,
            Self::Agent(agent) => scope.meet(Scope::Private(agent)),
            Self::Unclear => Scope::Unclaimed,
        }
    }
}

/// Implements serialization as text.
macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    )+};
}

as_text!(AgentId, Scope);

/// The reader of a request: an agent, or a reader without an id, who sees only shared texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Viewer(pub Option<AgentId>);

impl Viewer {
    /// Returns whether the reader may see a text.
    #[must_use]
    pub fn sees(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Shared => true,
            Scope::Private(agent) => self.0.as_ref() == Some(agent),
            Scope::Unclaimed => false,
        }
    }

    /// Returns the scope of the texts that the reader writes for itself.
    #[must_use]
    pub fn own_scope(&self) -> Scope {
        self.0.clone().map_or(Scope::Shared, Scope::Private)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(id: &str) -> AgentId {
        id.parse().unwrap()
    }

    #[test]
    fn only_plain_names_are_agent_ids() {
        for id in ["scribe", "a", "4", "agent-2_b.c", &"x".repeat(64)] {
            assert_eq!(agent(id).as_str(), id);
        }
        for id in [
            "",
            "Scribe",
            ".",
            "..",
            "-a",
            "a/b",
            "a b",
            "é",
            "a\n",
            &"x".repeat(65),
        ] {
            assert_eq!(id.parse::<AgentId>(), Err(InvalidAgentId), "{id:?}");
        }
    }

    #[test]
    fn scopes_are_written_as_text() {
        for scope in [Scope::Shared, Scope::Private(agent("a.b")), Scope::Unclaimed] {
            let json = serde_json::to_value(&scope).unwrap();
            assert_eq!(json, scope.to_string());
            assert_eq!(serde_json::from_value::<Scope>(json).unwrap(), scope);
        }
        for text in ["", "private", "private:", "private:A", "Shared"] {
            assert!(text.parse::<Scope>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_meet_of_two_scopes_is_seen_only_by_readers_that_see_both() {
        let scopes = [
            Scope::Shared,
            Scope::Private(agent("a")),
            Scope::Private(agent("b")),
            Scope::Unclaimed,
        ];
        let viewers = [None, Some("a"), Some("b"), Some("c")].map(|id| Viewer(id.map(agent)));
        for one in &scopes {
            for other in &scopes {
                let met = one.clone().meet(other.clone());
                for viewer in &viewers {
                    let both = viewer.sees(one) && viewer.sees(other);
                    assert_eq!(viewer.sees(&met), both, "{one} {other} {viewer:?}");
                }
            }
        }
        assert!(viewers.iter().all(|viewer| viewer.sees(&viewer.own_scope())));
    }
}
