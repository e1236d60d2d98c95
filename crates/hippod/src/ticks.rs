//! Who says that time has passed? What is due then follows from recorded runs alone.

use std::sync::mpsc::Sender;

use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::event::Event;

/// Every minute: the finest that a cron line of five fields can ask for.
const EVERY_MINUTE: &str = "0 * * * * *";

/// Sends a tick to the engine every minute, until the scheduler is shut down.
///
/// # Errors
/// When the scheduler cannot be started.
pub async fn start(events: Sender<Event>) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    let tick = Job::new(EVERY_MINUTE, move |_, _| {
        // The engine is gone only when the daemon ends.
        let _ = events.send(Event::Tick);
    })?;
    scheduler.add(tick).await?;
    scheduler.start().await?;
    Ok(scheduler)
}
