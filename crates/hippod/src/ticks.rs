//! Periodic ticks for the engine.
//!
//! A tick only wakes the engine, which computes the due cycles from the recorded runs.

use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use crate::message::{EngineHandle, EngineMessage};

/// Schedule of the ticks: every minute, the finest resolution of a cron expression with five fields.
const EVERY_MINUTE: &str = "0 * * * * *";

/// Sends a tick to the engine every minute, until the scheduler is shut down.
///
/// # Errors
/// Fails if the scheduler cannot be started.
pub async fn start(engine: EngineHandle) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    let tick = Job::new(EVERY_MINUTE, move |_, _| {
        engine.send(EngineMessage::Tick);
    })?;
    scheduler.add(tick).await?;
    scheduler.start().await?;
    Ok(scheduler)
}
