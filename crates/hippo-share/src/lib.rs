//! Sharing of memory with a team through a PostgreSQL server.
//!
//! Only text that [`record`] has redacted and signed leaves this crate. The server separates teams by row-level
//! security; see `sql/`.

mod connect;
pub mod device;
mod error;
pub mod publish;
pub mod record;
pub mod schema;
pub mod search;
mod settings;

pub use connect::{ServerConnection, connect};
pub use error::ShareError;
pub use settings::{PasswordSource, ServerSettings, check_team, check_url};

/// Number of components of a vector that the server can index.
pub const DIMENSION: usize = 384;
