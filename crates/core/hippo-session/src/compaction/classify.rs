//! Classification of messages by type.
//!
//! The rules are those of the hippocampus.md extension. They check the role first, and then words that mark a heartbeat
//! or a decision, in English and Russian. As in the extension, words also match inside other words ("explanation"
//! contains "plan").

use super::message::{Message, Role};
use hippo_text::text::characters;

/// Type of a message. It determines how fast the importance of the message decays.
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
    /// All types, in the order of the arrays that have a value for each type.
    #[rustfmt::skip] // keep the list compact
    pub const ALL: [Self; Self::COUNT] = [
        Self::Decision, Self::UserIntent, Self::Context, Self::ToolResult, Self::Ephemeral, Self::Unknown,
    ];

    /// Returns the name in the configuration and in results, the importance before any modifier, the default decay
    /// rate λ, and the default minimum retention.
    const fn rules(self) -> (&'static str, f64, f64, f64) {
        match self {
            Self::Decision => ("decision", 0.90, 0.03, 0.50),
            Self::UserIntent => ("user_intent", 0.80, 0.05, 0.35),
            Self::Context => ("context", 0.50, 0.12, 0.0),
            Self::ToolResult => ("tool_result", 0.30, 0.20, 0.0),
            Self::Ephemeral => ("ephemeral", 0.10, 0.35, 0.0),
            Self::Unknown => ("unknown", 0.40, 0.15, 0.0),
        }
    }

    /// Returns the name used in the configuration and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.rules().0
    }

    /// Returns the importance before any modifier.
    #[must_use]
    pub const fn importance(self) -> f64 {
        self.rules().1
    }

    /// Returns the default decay rate λ.
    #[must_use]
    pub const fn decay_rate(self) -> f64 {
        self.rules().2
    }

    /// Returns the default minimum retention.
    #[must_use]
    pub const fn floor(self) -> f64 {
        self.rules().3
    }
}

/// Words that mark a user message as a heartbeat or a status request.
const HEARTBEATS: [&str; 3] = ["heartbeat", "/status", "no_reply"];
/// Words that mark an agent message shorter than [`SHORT`] as an acknowledgement.
const NOTHING: [&str; 2] = ["no_reply", "ok"];
/// An agent message with at least this number of characters is never an acknowledgement.
const SHORT: usize = 50;
/// Words that mark an agent message as a decision.
#[rustfmt::skip] // keep the list compact
const DECISIONS: [&str; 11] = [
    "decision", "decided", "will do", "plan", "approach", "strategy", "решил", "план", "буду", "сделаю", "подход",
];

/// Returns the type of a message.
#[must_use]
pub fn classify(message: &Message<'_>) -> EntryType {
    let lower = match message.role {
        Role::User | Role::Assistant => message.text.to_lowercase(),
        Role::Tool => return EntryType::ToolResult,
        Role::Other => return EntryType::Unknown,
    };
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if message.role == Role::User {
        return match says(&HEARTBEATS) {
            true => EntryType::Ephemeral,
            false => EntryType::UserIntent,
        };
    }
    if characters(&message.text, SHORT - 1).len() == message.text.len() && says(&NOTHING) {
        return EntryType::Ephemeral;
    }
    match says(&DECISIONS) {
        true => EntryType::Decision,
        false => EntryType::Context,
    }
}
