//! Version of the programs, with the commit.

/// The version, followed by the first 12 digits of the commit if it is known: `0.1.0 (0123456789ab)`.
pub const VERSION: &str = env!("HIPPOD_VERSION");
