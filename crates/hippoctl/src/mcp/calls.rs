//! How does a call reach the daemon while the server goes on, and what ends the waiting?

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

use crate::connect::{PATIENCE, Session};
use crate::failure::{Exit, Failure};

/// A call that the daemon is not ready for is made again until then. The daemon itself waits for as much as 20 seconds
/// for a workspace to be opened, and clients give up after a minute.
const AGAIN_UNTIL: Duration = Duration::from_secs(30);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);
/// How often a client that asked for it hears that its call goes on.
const BEAT: Duration = Duration::from_secs(1);

/// Why a call gave nothing, for the agent that made it.
#[derive(Debug)]
pub struct Trouble {
    message: String,
    hint: Cow<'static, str>,
    /// The same call will succeed later.
    warming: bool,
    /// What was asked for is not there.
    absent: bool,
}

impl Trouble {
    /// Without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: Cow::Borrowed(""),
            warming: false,
            absent: false,
        }
    }

    /// Whether what was asked for is not there, while all else is well.
    pub fn is_absence(&self) -> bool {
        self.absent
    }

    /// The same with what to do about it.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self {
            absent: failure.exit == Exit::NotFound,
            ..Self::new(failure.message).hint(failure.hint)
        }
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        let warming =
            matches!(&error, ClientError::Refused(refusal) if refusal.data.kind == ErrorKind::Warming);
        Self {
            warming,
            ..Failure::from(error).into()
        }
    }
}

/// The way to the daemon for as long as one call takes.
pub struct Line {
    session: Session,
    given_up: Arc<AtomicBool>,
}

impl Line {
    /// The root of the workspace that the server was started for.
    ///
    /// # Errors
    /// No daemon, or no such workspace.
    pub fn root(&mut self) -> Result<String, Trouble> {
        Ok(self.session.root()?)
    }

    /// Asks, unless nobody waits any more.
    ///
    /// # Errors
    /// No daemon, a refusal, or no answer.
    pub fn ask<R: DeserializeOwned>(&mut self, request: impl Into<Request>) -> Result<R, Trouble> {
        self.session.client()?;
        if self.given_up.load(Ordering::Relaxed) {
            return Err(Trouble::new("the call was cancelled"));
        }
        Ok(self.session.ask(Some(PATIENCE), &request.into(), |_| {})??)
    }
}

/// Makes calls, each on a thread and a connection of its own: many may wait at once, and none minds that the daemon was
/// started anew since the last one.
pub struct Calls {
    session: Session,
}

impl Calls {
    /// By the options of this session.
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// What `work` gives; it is done again while the daemon gets ready. A client that cancels waits no longer, and what was
    /// not asked of the daemon by then is not.
    ///
    /// # Errors
    /// Those of `work`, or the call was cancelled.
    pub async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl Fn(&mut Line) -> Result<T, Trouble> + Clone + Send + 'static,
    ) -> Result<T, Trouble> {
        let warming = AtomicBool::new(false);
        tokio::select! {
            answer = self.patiently(&warming, work) => answer,
            never = beat(context, &warming) => match never {},
            () = context.ct.cancelled() => Err(Trouble::new("the call was cancelled")),
        }
    }

    async fn patiently<T: Send + 'static>(
        &self,
        warming: &AtomicBool,
        work: impl Fn(&mut Line) -> Result<T, Trouble> + Clone + Send + 'static,
    ) -> Result<T, Trouble> {
        let given_up = GiveUp::default();
        let begun = Instant::now();
        loop {
            let mut line = Line {
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

/// What the work gives on a thread of its own. A machine that can make no more threads is told, where the pool of the
/// runtime would panic.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Trouble> + Send + 'static,
) -> Result<T, Trouble> {
    let (sender, receiver) = oneshot::channel();
    thread::Builder::new()
        .name("call".to_owned())
        .spawn(move || {
            // Nobody may wait any more.
            let _ = sender.send(work());
        })
        .map_err(|error| {
            Trouble::new(format!("could not start a thread for the call: {error}"))
                .hint("the machine is short of memory or processes: try again later")
        })?;
    receiver
        .await
        .unwrap_or_else(|_| Err(Trouble::new("the call failed within hippoctl")))
}

/// Tells the thread of a call, when it goes, that nobody waits.
#[derive(Default)]
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tells a client that asked for it that its call goes on: the seconds so far, of nobody knows how many.
async fn beat(context: &RequestContext<RoleServer>, warming: &AtomicBool) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return future::pending().await;
    };
    let begun = Instant::now();
    let mut beats = time::interval_at(begun + BEAT, BEAT);
    loop {
        beats.tick().await;
        let what = if warming.load(Ordering::Relaxed) {
            "the memory is being opened"
        } else {
            "waiting for the daemon"
        };
        let told = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64());
        // A client that hears nothing gets its answer all the same.
        let _ = context.peer.notify_progress(told.with_message(what)).await;
    }
}
