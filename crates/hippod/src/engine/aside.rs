//! Threads that do work for the engine and send their result to it.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::EngineEvent;

/// Work for a thread. It returns the event to send to the engine.
pub(super) type ThreadWork = Box<dyn FnOnce() -> EngineEvent + Send>;

/// Guard that informs the engine if a thread panicked, because the result of that thread is lost.
struct Guard(Option<Sender<EngineEvent>>);

impl Guard {
    fn done(mut self, event: EngineEvent) {
        if let Some(events) = self.0.take() {
            // The receiver is closed only when the daemon ends.
            let _ = events.send(event);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(events) = self.0.take() {
            let _ = events.send(EngineEvent::Lost);
        }
    }
}

/// Runs work on a new thread, or on the current thread if the operating system cannot create one.
pub(super) fn spawn(events: &Sender<EngineEvent>, name: &str, work: ThreadWork) {
    let work = Arc::new(Mutex::new(Some(work)));
    let go = {
        let events = events.clone();
        move || {
            let guard = Guard(Some(events));
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(work) = work {
                guard.done(work());
            }
        }
    };
    if let Err(error) = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(go.clone())
    {
        tracing::warn!(%error, "could not start a thread; the engine's own thread does the work");
        go();
    }
}
