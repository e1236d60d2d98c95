//! Context entries (v2 §14.1) and their strength in a turn (v2 §8).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContextEncoding, ContextKind, ContextPriority, ContextState};

/// Entries with a lower strength are dormant: out of the context, but still stored (v2 §8.3).
pub const DORMANT_BELOW: f32 = 0.1;
/// Exponent of the power law.
const EXPONENT: f32 = -0.5;
/// Upper limit of the decay rate. At this rate, hardly any strength is left after one turn.
const MOST_RATE: f32 = 1e6;
/// Factor of the decay rate if an associated entry is strong.
const ASSOCIATED: f32 = 0.7;

/// A sparse pointer in an agent's context to content stored elsewhere. Time is counted in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextEntry {
    /// Id, unique over all sessions.
    pub id: String,
    /// The kind of content.
    #[serde(rename = "type")]
    pub kind: ContextKind,
    /// The source of the content.
    pub source: ContextSource,
    /// Summary in one to a few lines.
    pub summary: String,
    /// Values of the content that are likely to be needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// Strength, 0 to 1. In an answer, this is the strength in the requested turn; in a store, the strength at the last
    /// access.
    pub strength: f32,
    /// Decay parameters.
    pub decay: ContextDecay,
    /// Factors that slow or speed up the decay.
    pub modifiers: ContextModifiers,
    /// Creation and expiry.
    pub lifecycle: ContextLifecycle,
}

/// The source of an entry's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextSource {
    /// How the content was created and can be created again: `browser.snapshot`, `file`, `exec`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The origin: a path, a command, an address; may be empty.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The turn in which the content was captured.
    pub turn: u64,
    /// True if the content can be fetched again.
    pub retrievable: bool,
    /// True if the source has changed or disappeared since the capture, so the entry may be outdated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// Decay parameters of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDecay {
    /// Decay rate per turn since the last access; at least 0.
    pub rate: f32,
    /// Minimum strength, 0 to 1.
    pub floor: f32,
    /// The turn of the last access.
    pub last_access: u64,
}

/// Factors that slow or speed up the decay of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextModifiers {
    /// The importance of the entry.
    pub priority: ContextPriority,
    /// Manual or automatic creation.
    pub encoding: ContextEncoding,
    /// Ids of related entries.
    pub associations: Vec<String>,
}

/// Creation and expiry of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextLifecycle {
    /// The turn of creation.
    pub created: u64,
    /// The turn from which the entry is expired, whatever its strength; absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// True if the entry is written to long-term memory when its session closes.
    pub persist: bool,
}

/// An entry in a rendered section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextShown {
    /// Id with which a client fetches the content of the entry.
    pub id: String,
    /// The kind of content.
    #[serde(rename = "type")]
    pub kind: ContextKind,
    /// Current strength, 0 to 1.
    pub strength: f32,
    /// Summary in one to a few lines.
    pub summary: String,
    /// Values that are likely to be needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_data: Option<Map<String, Value>>,
    /// The source of the content.
    pub source: ContextSource,
    /// Estimated number of tokens of the entry as markdown.
    pub tokens: u64,
    /// Id of the closed session that the entry belongs to, if the entry is from an earlier session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_session: Option<String>,
}

impl ContextEntry {
    /// Returns the strength `s0 · (1 + rate · turns)^(−0.5)` in a turn. The result is in [floor, 1] and never NaN.
    /// `associated` is true if a related entry is strong. For a turn before the last access, returns the strength at
    /// the last access.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "rounding by a few turns makes no difference"
    )]
    pub fn strength_at(&self, turn: u64, associated: bool) -> f32 {
        let turns = turn.saturating_sub(self.decay.last_access) as f32;
        let association = if associated { ASSOCIATED } else { 1.0 };
        let rate = clamp_or_zero(self.decay.rate, MOST_RATE)
            * self.modifiers.priority.factor()
            * self.modifiers.encoding.factor()
            * association;
        let floor = clamp_or_zero(self.decay.floor, 1.0);
        let faded = clamp_or_zero(self.strength, 1.0) * (1.0 + rate * turns).powf(EXPONENT);
        faded.clamp(floor, 1.0)
    }

    /// Records an access in `turn`: resets the strength to 1 (v2 §8.2).
    pub fn touch(&mut self, turn: u64) {
        self.strength = 1.0;
        self.decay.last_access = self.decay.last_access.max(turn);
    }

    /// Returns the state in a turn. `strength` is the strength in that turn.
    #[must_use]
    pub fn state_at(&self, turn: u64, strength: f32) -> ContextState {
        if self.lifecycle.expires.is_some_and(|expires| turn >= expires) {
            ContextState::Expired
        } else if strength < DORMANT_BELOW {
            ContextState::Dormant
        } else {
            ContextState::Active
        }
    }
}

/// Clamps a number to [0, most]. NaN becomes 0.
fn clamp_or_zero(number: f32, most: f32) -> f32 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(0.0, most)
    }
}
