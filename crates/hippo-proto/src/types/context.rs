//! `context.*`: sparse context of a running session.

mod fetch;
mod put;
mod render;
mod session;

pub use fetch::*;
pub use put::*;
pub use render::*;
pub use session::*;
