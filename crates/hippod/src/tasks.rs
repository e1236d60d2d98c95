//! Small tools for tasks and threads.

mod background;
mod cancellation;
mod one_at_a_time;
mod pulse;
mod shutdown;

pub use background::{run_blocking, run_blocking_on};
pub use cancellation::Cancellation;
pub use one_at_a_time::{OneAtATime, OneAtATimeGuard};
pub use pulse::Pulse;
pub use shutdown::wait_for_stop;
