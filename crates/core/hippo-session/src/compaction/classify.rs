//! Classification of messages by type.
//!
//! The rules are those of the extension: the role first, then words that mark a heartbeat or a decision, in English
//! and Russian. As in the extension, words also match inside other words ("explanation" contains "plan").

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::message::{Message, Role};

/// Type of a message, which determines how fast its importance decays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryType {
    /// A decision or plan of the agent.
    Decision,
    /// A request of the user.
    UserIntent,
    /// Any other message of the agent.
    Context,
    /// The result of a tool call.
    ToolResult,
    /// A heartbeat, a status request or a bare "ok".
    Ephemeral,
    /// A message with any other role.
    Unknown,
}

impl EntryType {
    /// Number of types.
    pub const COUNT: usize = 6;
    /// All types, in the order of their table index.
    #[rustfmt::skip] // keep the list compact
    pub const ALL: [Self; Self::COUNT] = [
        Self::Decision, Self::UserIntent, Self::Context, Self::ToolResult, Self::Ephemeral, Self::Unknown,
    ];

    /// Returns the name used in the configuration and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::UserIntent => "user_intent",
            Self::Context => "context",
            Self::ToolResult => "tool_result",
            Self::Ephemeral => "ephemeral",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the importance before any modifier.
    #[must_use]
    pub const fn importance(self) -> f64 {
        match self {
            Self::Decision => 0.90,
            Self::UserIntent => 0.80,
            Self::Context => 0.50,
            Self::ToolResult => 0.30,
            Self::Ephemeral => 0.10,
            Self::Unknown => 0.40,
        }
    }

    /// Returns the default decay rate λ.
    #[must_use]
    pub const fn decay_rate(self) -> f64 {
        match self {
            Self::Decision => 0.03,
            Self::UserIntent => 0.05,
            Self::Context => 0.12,
            Self::ToolResult => 0.20,
            Self::Ephemeral => 0.35,
            Self::Unknown => 0.15,
        }
    }

    /// Returns the default minimum retention.
    #[must_use]
    pub const fn floor(self) -> f64 {
        match self {
            Self::Decision => 0.50,
            Self::UserIntent => 0.35,
            _ => 0.0,
        }
    }
}

/// Marks a user message as a heartbeat or a status request.
const HEARTBEATS: [&str; 3] = ["heartbeat", "/status", "no_reply"];
/// Marks an agent message shorter than [`SHORT`] as an acknowledgement.
const NOTHING: [&str; 2] = ["no_reply", "ok"];
/// Length in characters from which an agent message counts as more than an acknowledgement.
const SHORT: usize = 50;
/// Marks an agent message as a decision.
const DECISIONS: [&str; 6] = ["decision", "decided", "will do", "plan", "approach", "strategy"];
/// Russian counterpart of [`DECISIONS`].
const DECISIONS_RU: [&str; 5] = ["решил", "план", "буду", "сделаю", "подход"];

/// Returns the type of a message.
#[must_use]
pub fn classify(message: &Message<'_>) -> EntryType {
    let said = message.text.as_ref();
    match message.role {
        Role::Tool => EntryType::ToolResult,
        Role::User if contains_any(&HEARTBEAT, said) => EntryType::Ephemeral,
        Role::User => EntryType::UserIntent,
        Role::Assistant if is_short(said) && contains_any(&EMPTY, said) => EntryType::Ephemeral,
        Role::Assistant if contains_any(&DECISION, said) || contains_russian_decision(said) => {
            EntryType::Decision
        }
        Role::Assistant => EntryType::Context,
        Role::Other => EntryType::Unknown,
    }
}

fn is_short(text: &str) -> bool {
    // A character has at most four bytes, so characters are counted only in short texts.
    text.len() < SHORT * 4 && text.chars().count() < SHORT
}

fn contains_any(words: &LazyLock<Option<AhoCorasick>>, text: &str) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(text))
}

fn contains_russian_decision(text: &str) -> bool {
    // In UTF-8, these bytes start the Cyrillic letters.
    if memchr::memchr2(0xd0, 0xd1, text.as_bytes()).is_none() {
        return false;
    }
    let lower = text.to_lowercase();
    DECISIONS_RU.iter().any(|word| lower.contains(word))
}

static HEARTBEAT: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| build_matcher(&HEARTBEATS));
static EMPTY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| build_matcher(&NOTHING));
static DECISION: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| build_matcher(&DECISIONS));

/// Returns `None` only for an invalid word list, which cannot occur because the lists are constants.
fn build_matcher(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok()
}
