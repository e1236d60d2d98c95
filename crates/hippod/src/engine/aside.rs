//! Threads that do work for the engine and send their result to it.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::Event;

/// Work for a thread. It returns the event to send to the engine.
pub(super) type Work = Box<dyn FnOnce() -> Event + Send>;

/// Guard that informs the engine if a thread panics, so that its result is lost.
struct Guard(Option<Sender<Event>>);

impl Guard {
    fn done(mut self, event: Event) {
        if let Some(events) = self.0.take() {
            // The receiver is closed only when the daemon ends.
            let _ = events.send(event);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(events) = self.0.take() {
            let _ = events.send(Event::Lost);
        }
    }
}

/// Runs work on a new thread, or on the current thread if the operating system cannot create one.
pub(super) fn spawn(events: &Sender<Event>, name: &str, work: Work) {
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
        tracing::warn!(%error, "could not start a thread; the engine does the work itself");
        go();
    }
}
