//! One client connection.
//!
//! Requests run concurrently, and responses are sent in any order. No client can affect the others.

use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use tracing::Instrument as _;
use tracing::field::Empty;

use hippo_proto::{
    Call, ErrorKind, Frame, FrameReader, Id, MAX_LINE_BYTES, Reply, RpcError, encode_error, parse_request,
};

use super::Components;
use super::dispatch;
use super::room::{Budget, Room};
use super::silent::SilentGuard;
use crate::measures::{NO_METHOD, outcome};
use crate::tasks::wait_until_set;

/// Maximum number of concurrent requests per connection; further requests wait in the socket.
const IN_FLIGHT: usize = 64;
/// Maximum number of responses queued for a client that reads slowly. While the queue is full, the client's requests
/// wait.
const OUTBOX: usize = 64;
/// Maximum time that a write waits for a client that does not read. The connection is then closed.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// Maximum pause of a client in the middle of a line. After a longer pause, the connection is closed.
const LINE_PATIENCE: Duration = Duration::from_secs(30);
/// Minimum duration of a request to be logged at `info`.
const SLOW: Duration = Duration::from_secs(1);
/// Maximum number of bytes read from the socket at once.
const READ_BUFFER: usize = 64 * 1024;

/// Interval between checks whether a waiting client is still connected.
const PRESENCE: Duration = Duration::from_millis(200);

/// Channel for responses to the client.
#[derive(Clone)]
pub struct Outbox {
    /// Sender of response lines.
    pub lines: mpsc::Sender<Vec<u8>>,
    /// True once the client has closed the connection in both directions.
    gone: watch::Receiver<bool>,
}

impl Outbox {
    /// Returns once the client can no longer read a response.
    pub async fn wait_until_gone(&self) {
        let mut gone = self.gone.clone();
        tokio::select! {
            () = self.lines.closed() => {}
            () = wait_until_set(&mut gone) => {}
        }
    }
}

/// Serves a connection until the client closes it or `stop` is true.
pub async fn run(
    components: Arc<Components>,
    stream: Stream,
    quiet: SilentGuard,
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
                    tracing::warn!("disconnected a client that did not read its responses");
                    return;
                }
            }
        }
        // The client may already be disconnected.
        let _ = to.shutdown().await;
    };
    let reader = async move {
        let mut tasks = JoinSet::new();
        let mut frames = FrameReader::default();
        let places = Arc::new(Semaphore::new(IN_FLIGHT));
        let mut buffer = vec![0; READ_BUFFER];
        let mut quiet = Some(quiet);
        let mut room = Room::of(budget);
        let ended = async |quiet: &Option<SilentGuard>| match quiet {
            Some(quiet) => quiet.ends().await,
            None => std::future::pending().await,
        };
        loop {
            let read = tokio::select! {
                () = wait_until_set(&mut stop) => break,
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
                let (components, outbox) = (Arc::clone(&components), outbox.clone());
                let memory = room.take();
                tasks.spawn(async move {
                    answer(&components, frame, &outbox).await;
                    drop((place, memory));
                });
            }
            let has_room = tokio::select! {
                () = wait_until_set(&mut stop) => break,
                () = ended(&quiet) => break,
                () = hung_up.comes() => break,
                has_room = room.grow(&frames) => has_room,
            };
            if !has_room {
                frames.discard_line();
                let busy = RpcError::new(ErrorKind::Warming, "too many large requests are running")
                    .hint("try again in a moment");
                // The client may already be disconnected.
                let _ = outbox
                    .lines
                    .send(encode_refusal(&components, &Reply::refuse(Id::Null, busy)))
                    .await;
            }
            while tasks.try_join_next().is_some() {}
        }
        // An incomplete last line is ignored. Requests that are still running are answered.
        drop(outbox);
        let mut presence = tokio::time::interval(PRESENCE);
        loop {
            tokio::select! {
                done = tasks.join_next() => if done.is_none() { break },
                _ = presence.tick() => if hung_up.is_so() { gone.send_replace(true); },
            }
        }
    };
    // If the client has disconnected, the writer ends first, and running requests are dropped.
    tokio::select! {
        () = writer => {}
        () = async { reader.await; std::future::pending::<()>().await } => {}
    }
}

async fn answer(components: &Arc<Components>, frame: Frame, outbox: &Outbox) {
    let line = match frame {
        Frame::Line(line) => match parse_request(&line) {
            Ok(call) => traced(components, call, outbox).await,
            Err(refusal) => encode_refusal(components, &refusal),
        },
        Frame::TooLarge { limit } => encode_refusal(
            components,
            &Reply::refuse(Id::Null, RpcError::line_too_large(limit)),
        ),
    };
    // The client may already be disconnected.
    let _ = outbox.lines.send(line).await;
}

/// Encodes the refusal of input that is not a valid request, and counts it.
fn encode_refusal(components: &Components, refusal: &Reply) -> Vec<u8> {
    let kind = refusal.outcome.as_ref().err().map(|error| error.data.kind);
    components.measures.request(NO_METHOD, kind);
    refusal.to_line()
}

/// Serves a request under a unique id for the log, and counts the request.
async fn traced(components: &Arc<Components>, call: Call, outbox: &Outbox) -> Vec<u8> {
    let (id, method) = (call.id.clone(), call.request.method());
    let request = components.measures.next_id();
    // The span has the level error, so that every log line of the request shows the span at any log level.
    let span = tracing::error_span!("request", id = request, method, workspace = Empty);
    let begun = components.clock.monotonic();
    let answered = dispatch::answer(components, call, outbox)
        .instrument(span.clone())
        .await;
    let answered = answered.and_then(fits);
    let took = components.clock.monotonic().saturating_duration_since(begun);
    let failed = answered.as_ref().err().map(|error| error.data.kind);
    components.measures.request(method, failed);
    span.in_scope(|| tell(answered.as_ref().err(), took));
    answered.unwrap_or_else(|error| encode_error(&id, &findable(error, &request)))
}

fn fits(line: Vec<u8>) -> Result<Vec<u8>, RpcError> {
    if line.len() <= MAX_LINE_BYTES {
        return Ok(line);
    }
    let error = RpcError::new(
        ErrorKind::TooLarge,
        "the response exceeds the maximum length of a line",
    );
    Err(error.hint("request fewer lines or a smaller limit"))
}

/// Logs the result of a request. For a refusal, only its kind is logged, because its message may repeat the input.
fn tell(error: Option<&RpcError>, took: Duration) {
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let outcome = outcome(error.map(|error| error.data.kind));
    match error {
        Some(error) if error.data.kind == ErrorKind::Internal => {
            tracing::error!(outcome, took_ms, error = error.message, "a request failed");
        }
        _ if took >= SLOW => tracing::info!(outcome, took_ms, "a slow request"),
        _ => tracing::debug!(outcome, took_ms, "answered a request"),
    }
}

/// Adds the request id to the hint of an internal error, so that users can find it in the log.
fn findable(mut error: RpcError, request: &str) -> RpcError {
    if error.data.kind == ErrorKind::Internal {
        let hint: &str = &error.data.hint;
        let separator = if hint.is_empty() { "" } else { "; " };
        error.data.hint =
            format!("{hint}{separator}see request {request} in the log: hippoctl service logs").into();
    }
    error
}

/// Detector of a connection that the client has closed entirely, and not only for writing.
struct HangUp {
    socket: Option<std::os::fd::OwnedFd>,
}

impl HangUp {
    /// Creates the detector with a second handle to the socket, because both halves of the stream are in use.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_larger_than_a_line_is_refused() {
        assert!(fits(vec![b' '; MAX_LINE_BYTES]).is_ok());
        let refused = fits(vec![b' '; MAX_LINE_BYTES + 1]).unwrap_err();
        assert_eq!(refused.data.kind, ErrorKind::TooLarge);
    }
}
