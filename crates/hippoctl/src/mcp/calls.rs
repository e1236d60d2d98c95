//! Calls from the MCP server to the daemon.
//!
//! Each call runs on its own thread, so that the server stays responsive. A call is repeated while the daemon starts,
//! and ends early if the client cancels it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hippo_proto::{ClientError, ErrorKind, Request};
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio::time::{self, Instant};

use crate::connect::{DaemonSession, PATIENCE};
use crate::failure::{Exit, Failure};

/// Maximum time for which a call is repeated while the daemon is not ready. The daemon itself waits up to 20 seconds
/// for a workspace to open, and clients give up after a minute.
const AGAIN_UNTIL: Duration = Duration::from_secs(30);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// Interval between progress notifications to clients that requested them.
const BEAT: Duration = Duration::from_secs(1);

/// A failed call, described for the agent that made it.
#[derive(Debug)]
pub struct CallFailure {
    message: String,
    hint: Cow<'static, str>,
    /// True if the same call is expected to succeed later.
    warming: bool,
    /// True if the requested object does not exist.
    absent: bool,
}

impl CallFailure {
    /// Creates a failure without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Cow::Borrowed(""),
            warming: false,
            absent: false,
        }
    }

    /// Returns whether the call failed only because the requested object does not exist.
    pub fn is_absence(&self) -> bool {
        self.absent
    }

    /// Returns the failure with this hint.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl From<Failure> for CallFailure {
    fn from(failure: Failure) -> Self {
        Self {
            absent: failure.exit == Exit::NotFound,
            ..Self::new(failure.message).hint(failure.hint)
        }
    }
}

impl From<ClientError> for CallFailure {
    fn from(error: ClientError) -> Self {
        let warming =
            matches!(&error, ClientError::Refused(refusal) if refusal.data.kind == ErrorKind::Warming);
        Self {
            warming,
            ..Failure::from(error).into()
        }
    }
}

/// The connection to the daemon during one call.
pub struct CallConnection {
    session: DaemonSession,
    given_up: Arc<AtomicBool>,
}

impl CallConnection {
    /// Returns the root of the workspace for which the server was started.
    ///
    /// # Errors
    /// Fails without a daemon or a workspace.
    pub fn root(&mut self) -> Result<String, CallFailure> {
        Ok(self.session.root()?)
    }

    /// Sends a request, unless the call was cancelled.
    ///
    /// # Errors
    /// Fails without a daemon, if the daemon refuses, or if no response arrives.
    pub fn ask<R: DeserializeOwned>(&mut self, request: impl Into<Request>) -> Result<R, CallFailure> {
        self.session.client()?;
        if self.given_up.load(Ordering::Relaxed) {
            return Err(CallFailure::new("the call was cancelled"));
        }
        Ok(self.session.ask(Some(PATIENCE), &request.into(), |_| {})??)
    }
}

/// Runner of calls. Each call has its own thread and connection, so that many calls can wait at once, and a restart of
/// the daemon between two calls is harmless.
pub struct Calls {
    session: DaemonSession,
}

impl Calls {
    /// Creates a runner with the options of this session.
    pub fn new(session: DaemonSession) -> Self {
        Self { session }
    }

    /// Runs `work`, and repeats it while the daemon starts. A cancellation ends the wait; requests that were not sent
    /// by then are skipped.
    ///
    /// # Errors
    /// Fails if `work` fails or the call is cancelled.
    pub async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Fn(&mut CallConnection) -> Result<T, CallFailure> + Clone + Send + 'static,
    ) -> Result<T, CallFailure> {
        let warming = AtomicBool::new(false);
        tokio::select! {
            answer = self.patiently(&warming, work) => answer,
            never = beat(context, &warming) => match never {},
            () = context.ct.cancelled() => Err(CallFailure::new("the call was cancelled")),
        }
    }

    async fn patiently<T: Send + 'static>(
        &self,
        warming: &AtomicBool,
        work: impl Fn(&mut CallConnection) -> Result<T, CallFailure> + Clone + Send + 'static,
    ) -> Result<T, CallFailure> {
        let given_up = GiveUp::default();
        let begun = Instant::now();
        loop {
            let mut line = CallConnection {
                session: self.session.another(),
                given_up: given_up.0.clone(),
            };
            let work = work.clone();
            let answer = on_a_thread(move || work(&mut line)).await;
            match answer {
                Err(trouble) if trouble.warming && begun.elapsed() < AGAIN_UNTIL => {
                    warming.store(true, Ordering::Relaxed);
                    time::sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }
}

/// Runs the work on its own thread. If the machine cannot create a thread, returns an error, whereas the thread pool of
/// the runtime would panic.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CallFailure> + Send + 'static,
) -> Result<T, CallFailure> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new()
        .name("call".to_owned())
        .spawn(move || {
            // The receiver may have been dropped.
            let _ = sender.send(work());
        })
        .map_err(|error| {
            CallFailure::new(format!("could not start a thread for the call: {error}"))
                .hint("the machine has too little memory or too many processes: try again later")
        })?;
    receiver
        .await
        .unwrap_or_else(|_| Err(CallFailure::new("the call failed inside hippoctl")))
}

/// On drop, tells the thread of a call that the call is cancelled.
#[derive(Default)]
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends progress to a client that requested it: the seconds so far, without a total.
async fn beat(context: &RequestContext<RoleServer>, warming: &AtomicBool) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return future::pending().await;
    };
    let begun = Instant::now();
    let mut beats = time::interval_at(begun + BEAT, BEAT);
    loop {
        beats.tick().await;
        let what = if warming.load(Ordering::Relaxed) {
            "the workspace is being opened"
        } else {
            "waiting for the daemon"
        };
        let told = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64());
        // If a notification fails, the answer is not affected.
        let _ = context.peer.notify_progress(told.with_message(what)).await;
    }
}
