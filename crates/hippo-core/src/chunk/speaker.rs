//! Whose words is a line?

/// Whose words a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Speaker {
    /// Nobody is named.
    #[default]
    None,
    /// The person: `User:`, `Human:`.
    User,
    /// The agent: `Assistant:`, `AI:`.
    Assistant,
    /// Somebody named: `**Caroline:**`.
    Other,
}

impl Speaker {
    /// A number that keeps its meaning, for storing.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::User => 1,
            Self::Assistant => 2,
            Self::Other => 3,
        }
    }

    /// The speaker with this number; unknown numbers read as [`Speaker::None`].
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code {
            1 => Self::User,
            2 => Self::Assistant,
            3 => Self::Other,
            _ => Self::None,
        }
    }
}
