//! One connection: many requests in flight, answers in any order, nothing a client does harms another.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use tracing::Instrument as _;
use tracing::field::Empty;

use hippo_proto::{Call, ErrorKind, Frame, FrameReader, Id, Reply, RpcError, encode_error, parse_request};

use super::dispatch;
use super::measures::{NO_METHOD, outcome};
use super::room::{Budget, Room};
use super::silent::Quiet;
use crate::shared::{Shared, stopped};

/// Requests of one connection that are worked on at the same time; more wait in the socket.
const IN_FLIGHT: usize = 64;
/// Answers that wait for a slow reader before its requests wait too.
const OUTBOX: usize = 64;
/// A client that takes nothing for this long is let go.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// A client that sends nothing for this long in the middle of a line is let go.
const LINE_PATIENCE: Duration = Duration::from_secs(30);
/// Requests that take this long are logged at `info`.
const SLOW: Duration = Duration::from_secs(1);
/// Bytes taken from the socket at once.
const READ_BUFFER: usize = 64 * 1024;

/// Time between two checks that the client is still there, while it waits for answers.
const PRESENCE: Duration = Duration::from_millis(200);

/// The way back to the client.
#[derive(Clone)]
pub struct Outbox {
    /// Lines on their way to it.
    pub lines: mpsc::Sender<Vec<u8>>,
    /// Becomes true once the client has closed both directions of the connection.
    gone: watch::Receiver<bool>,
}

impl Outbox {
    /// Returns once nobody can read an answer any more.
    pub async fn gone(&self) {
        let mut gone = self.gone.clone();
        tokio::select! {
            () = self.lines.closed() => {}
            () = stopped(&mut gone) => {}
        }
    }
}

/// Serves a connection until the client closes it, or `stop` turns true.
pub async fn run(
    shared: Arc<Shared>,
    stream: Stream,
    quiet: Quiet,
    budget: Budget,
    mut stop: watch::Receiver<bool>,
) {
    let hung_up = HangUp::of(&stream);
    let (mut from, mut to) = tokio::io::split(stream);
    let (lines_in, mut lines) = mpsc::channel::<Vec<u8>>(OUTBOX);
    let (gone, watched) = watch::channel(false);
    let outbox = Outbox {
        lines: lines_in,
        gone: watched,
    };
    let writer = async move {
        while let Some(line) = lines.recv().await {
            match tokio::time::timeout(WRITE_PATIENCE, to.write_all(&line)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => {
                    tracing::warn!("a client that reads nothing was let go");
                    return;
                }
            }
        }
        // The client may be gone already.
        let _ = to.shutdown().await;
    };
    let reader = async move {
        let mut tasks = JoinSet::new();
        let mut frames = FrameReader::with_limit(shared.config.server.max_line_bytes);
        let places = Arc::new(Semaphore::new(IN_FLIGHT));
        let mut buffer = vec![0; READ_BUFFER];
        let mut quiet = Some(quiet);
        let mut room = Room::of(budget);
        let ended = async |quiet: &Option<Quiet>| match quiet {
            Some(quiet) => quiet.ends().await,
            None => std::future::pending().await,
        };
        loop {
            let read = tokio::select! {
                () = stopped(&mut stop) => break,
                () = ended(&quiet) => break,
                () = tokio::time::sleep(LINE_PATIENCE), if frames.has_partial_line() => break,
                read = from.read(&mut buffer) => read,
            };
            let Ok(count) = read else { break };
            if count == 0 {
                break;
            }
            frames.push(&buffer[..count]);
            while let Some(frame) = frames.next_frame() {
                quiet = None;
                let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                    break;
                };
                let (shared, outbox) = (Arc::clone(&shared), outbox.clone());
                let memory = room.take();
                tasks.spawn(async move {
                    answer(&shared, frame, &outbox).await;
                    drop((place, memory));
                });
            }
            let has_room = tokio::select! {
                () = stopped(&mut stop) => break,
                () = ended(&quiet) => break,
                () = hung_up.comes() => break,
                has_room = room.grow(&frames) => has_room,
            };
            if !has_room {
                frames.discard_line();
                let busy = RpcError::new(ErrorKind::Warming, "too many large requests are under way")
                    .hint("ask again in a moment");
                // The client may be gone.
                let _ = outbox
                    .lines
                    .send(refused(&shared, &Reply::refuse(Id::Null, busy)))
                    .await;
            }
            while tasks.try_join_next().is_some() {}
        }
        // Half a line at the end is no request. Answers under way are still sent.
        drop(outbox);
        let mut presence = tokio::time::interval(PRESENCE);
        loop {
            tokio::select! {
                done = tasks.join_next() => if done.is_none() { break },
                _ = presence.tick() => if hung_up.is_so() { gone.send_replace(true); },
            }
        }
    };
    // The writer ends first when the client is gone; then nobody needs the answers under way.
    tokio::select! {
        () = writer => {}
        () = async { reader.await; std::future::pending::<()>().await } => {}
    }
}

async fn answer(shared: &Arc<Shared>, frame: Frame, outbox: &Outbox) {
    let line = match frame {
        Frame::Line(line) => match parse_request(&line) {
            Ok(call) => traced(shared, call, outbox).await,
            Err(refusal) => refused(shared, &refusal),
        },
        Frame::TooLarge { limit } => {
            refused(shared, &Reply::refuse(Id::Null, RpcError::line_too_large(limit)))
        }
    };
    shared.served.fetch_add(1, Ordering::Relaxed);
    // The client may be gone.
    let _ = outbox.lines.send(line).await;
}

/// What is no request.
fn refused(shared: &Shared, refusal: &Reply) -> Vec<u8> {
    let kind = refusal.outcome.as_ref().err().map(|error| error.data.kind);
    shared.measures.request(NO_METHOD, kind, Duration::ZERO);
    refusal.to_line()
}

/// Serves a request under an id of its own, by which it is found in the log, and counts it.
async fn traced(shared: &Arc<Shared>, call: Call, outbox: &Outbox) -> Vec<u8> {
    let (id, method) = (call.id.clone(), call.request.method());
    let request = shared.measures.next_id();
    // Of the level of errors, so that whatever is logged has it.
    let span = tracing::error_span!("request", id = request, method, workspace = Empty);
    let begun = shared.clock.monotonic();
    let answered = dispatch::answer(shared, call, outbox)
        .instrument(span.clone())
        .await;
    let answered = answered.and_then(|line| fits(shared, line));
    let took = shared.clock.monotonic().saturating_duration_since(begun);
    let failed = answered.as_ref().err().map(|error| error.data.kind);
    shared.measures.request(method, failed, took);
    span.in_scope(|| tell(answered.as_ref().err(), took));
    answered.unwrap_or_else(|error| encode_error(&id, &findable(error, &request)))
}

fn fits(shared: &Shared, line: Vec<u8>) -> Result<Vec<u8>, RpcError> {
    if line.len() <= shared.config.server.max_line_bytes {
        return Ok(line);
    }
    let error = RpcError::new(ErrorKind::TooLarge, "the answer is longer than a line may be");
    Err(error.hint("ask for fewer lines or a smaller limit"))
}

/// Logs how a request ended. What a refusal says may repeat what was asked, so that its kind alone is told.
fn tell(error: Option<&RpcError>, took: Duration) {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let outcome = outcome(error.map(|error| error.data.kind));
    match error {
        Some(error) if error.data.kind == ErrorKind::Internal => {
            tracing::error!(outcome, took_ms, error = error.message, "a request failed");
        }
        _ if took >= SLOW => tracing::info!(outcome, took_ms, "a request took long"),
        _ => tracing::debug!(outcome, took_ms, "a request was answered"),
    }
}

/// A failure of the daemon's own names the request, so that a person finds it in the log.
fn findable(mut error: RpcError, request: &str) -> RpcError {
    if error.data.kind == ErrorKind::Internal {
        let hint: &str = &error.data.hint;
        let separator = if hint.is_empty() { "" } else { "; " };
        error.data.hint =
            format!("{hint}{separator}it is request {request} in the log: hippoctl logs").into();
    }
    error
}

/// Whether the client has closed the connection, and not only its own direction.
struct HangUp {
    #[cfg(unix)]
    socket: Option<std::os::fd::OwnedFd>,
}

#[cfg(unix)]
impl HangUp {
    /// Keeps a second handle of the socket, because both halves of the stream are in use.
    fn of(stream: &Stream) -> Self {
        use std::os::fd::AsFd as _;
        let socket = match stream {
            Stream::UdSocket(socket) => socket.as_fd().try_clone_to_owned().ok(),
        };
        Self { socket }
    }

    /// Returns once the client has closed the connection.
    async fn comes(&self) {
        let mut presence = tokio::time::interval(PRESENCE);
        loop {
            presence.tick().await;
            if self.is_so() {
                return;
            }
        }
    }

    fn is_so(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Some(socket) = &self.socket else { return false };
        let mut asked = [PollFd::new(socket, PollFlags::empty())];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let heard = poll(&mut asked, Some(&now)).is_ok();
        heard && asked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    }
}

#[cfg(not(unix))]
impl HangUp {
    fn of(_: &Stream) -> Self {
        Self {}
    }

    /// A pipe tells that when it is read.
    async fn comes(&self) {
        std::future::pending().await
    }

    /// A pipe has no half that is closed alone.
    fn is_so(&self) -> bool {
        true
    }
}
