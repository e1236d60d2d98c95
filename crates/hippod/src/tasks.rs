//! Small helpers for tasks and threads.

mod background;
mod cancellation;
mod flag;
mod one_at_a_time;
mod pulse;

pub use background::{run_blocking, run_blocking_on};
pub use cancellation::Cancellation;
pub use flag::wait_until_set;
pub use one_at_a_time::{OneAtATime, OneAtATimeGuard};
pub use pulse::Pulse;
