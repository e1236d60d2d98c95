//! What kind of message is it: a decision, a wish of the user, the output of a tool, noise?
//!
//! The rules are the extension's: the role first, then words that mark a heartbeat or a decision, in English and Russian. They are found
//! anywhere, also within words ("explanation" holds "plan"), as the extension finds them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::message::{Message, Role};

/// What kind of message it is; decides how fast it fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryType {
    /// What the agent decided or plans.
    Decision,
    /// What the user asked for.
    UserIntent,
    /// Any other message of the agent.
    Context,
    /// What a tool answered.
    ToolResult,
    /// Heartbeats, status, a bare "ok".
    Ephemeral,
    /// Any other role.
    Unknown,
}

impl EntryType {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All of them; the place of one is its index in tables.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Decision,
        Self::UserIntent,
        Self::Context,
        Self::ToolResult,
        Self::Ephemeral,
        Self::Unknown,
    ];

    /// Its name in the configuration and in results.
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

    /// Its importance before any modifier.
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

    /// Its λ by default.
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

    /// Its least retention by default.
    #[must_use]
    pub const fn floor(self) -> f64 {
        match self {
            Self::Decision => 0.50,
            Self::UserIntent => 0.35,
            _ => 0.0,
        }
    }
}

/// Of the user: a heartbeat or a question for the state.
const HEARTBEATS: [&str; 3] = ["heartbeat", "/status", "no_reply"];
/// Of the agent, in a message below [`SHORT`]: nothing was said.
const NOTHING: [&str; 2] = ["no_reply", "ok"];
/// Characters from which on a message of the agent is more than an acknowledgement.
const SHORT: usize = 50;
/// Of the agent: something was decided.
const DECISIONS: [&str; 6] = ["decision", "decided", "will do", "plan", "approach", "strategy"];
/// The same in Russian.
const DECISIONS_RU: [&str; 5] = ["решил", "план", "буду", "сделаю", "подход"];

/// The type of a message.
#[must_use]
pub fn classify(message: &Message<'_>) -> EntryType {
    let said = message.text.as_ref();
    match message.role {
        Role::Tool => EntryType::ToolResult,
        Role::User if holds(&HEARTBEAT, said) => EntryType::Ephemeral,
        Role::User => EntryType::UserIntent,
        Role::Assistant if short(said) && holds(&EMPTY, said) => EntryType::Ephemeral,
        Role::Assistant if holds(&DECISION, said) || decided_in_russian(said) => EntryType::Decision,
        Role::Assistant => EntryType::Context,
        Role::Other => EntryType::Unknown,
    }
}

fn short(text: &str) -> bool {
    // A character has at most four bytes: the count is only made where it can matter.
    text.len() < SHORT * 4 && text.chars().count() < SHORT
}

fn holds(words: &LazyLock<Option<AhoCorasick>>, text: &str) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(text))
}

fn decided_in_russian(text: &str) -> bool {
    // Cyrillic letters begin with these bytes.
    if memchr::memchr2(0xd0, 0xd1, text.as_bytes()).is_none() {
        return false;
    }
    let lower = text.to_lowercase();
    DECISIONS_RU.iter().any(|word| lower.contains(word))
}

static HEARTBEAT: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&HEARTBEATS));
static EMPTY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&NOTHING));
static DECISION: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&DECISIONS));

/// `None` would be a fault of the words; they are constants.
fn finder(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok()
}
