//! Blocking client of the daemon.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interprocess::ConnectWaitMode;
use interprocess::local_socket::traits::Stream as _;
use interprocess::local_socket::{ConnectOptions, Stream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::RpcError;
use crate::event::Notification;
use crate::frame::{Frame, FrameReader};
use crate::id::Id;
use crate::methods::Request;
use crate::paths::socket_name;
use crate::reply::Reply;
use hippo_types::scope::AgentId;

/// The reason why a call returned no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens on the socket.
    #[error("could not connect to the daemon: {path}: {source}")]
    Connect {
        /// The socket.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An I/O error while sending the request or receiving the answer.
    #[error("could not communicate with the daemon: {0}")]
    Io(#[from] io::Error),
    /// The daemon closed the connection before it read the whole request, so it did not execute the request.
    #[error("the daemon closed the connection before reading the request: {0}")]
    Unread(io::Error),
    /// The daemon closed the connection before it answered.
    #[error("the daemon closed the connection without an answer")]
    Closed,
    /// The timeout expired.
    #[error("the daemon did not answer within {0:?}")]
    Timeout(Duration),
    /// The daemon sent a line that this client cannot parse.
    #[error("could not read the daemon's answer: {0}")]
    Malformed(String),
    /// The daemon returned an error.
    #[error(transparent)]
    Refused(#[from] RpcError),
}

impl ClientError {
    /// Returns whether `request` may be sent again on another connection: either it was not executed, or it only
    /// reads.
    pub fn may_ask_again(&self, request: &Request) -> bool {
        match self {
            Self::Unread(_) => true,
            Self::Closed => request.only_reads(),
            _ => false,
        }
    }
}

/// A connection to the daemon. It handles one call at a time, and keeps the notifications received during a call.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    frames: FrameReader,
    chunk: Box<[u8]>,
    notifications: VecDeque<Notification>,
    timeout: Option<Duration>,
    agent: Option<AgentId>,
    next_id: u64,
}

enum Incoming {
    Reply(Reply),
    Notification(Notification),
}

impl Client {
    /// Connects to the daemon. `timeout` limits connecting and each call; `None` means no limit.
    ///
    /// # Errors
    /// Returns [`ClientError::Connect`] if nothing listens on the socket.
    pub fn connect(socket: &Path, timeout: Option<Duration>) -> Result<Self, ClientError> {
        let refused = |source| ClientError::Connect {
            path: socket.to_path_buf(),
            source,
        };
        let name = socket_name(socket).map_err(refused)?;
        let wait = timeout.map_or(ConnectWaitMode::Unbounded, ConnectWaitMode::Timeout);
        let stream = ConnectOptions::new()
            .name(name)
            .wait_mode(wait)
            .connect_sync()
            .map_err(refused)?;
        Ok(Self {
            stream,
            frames: FrameReader::new(),
            chunk: vec![0; 64 * 1024].into_boxed_slice(),
            notifications: VecDeque::new(),
            timeout,
            agent: None,
            next_id: 1,
        })
    }

    /// Sets the timeout of all following calls; `None` means no limit.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Sets the agent for which all following calls are made.
    pub fn set_agent(&mut self, agent: Option<AgentId>) {
        self.agent = agent;
    }

    /// Sends a request and waits for its answer, which has the type `R`.
    ///
    /// # Errors
    /// Returns [`ClientError::Refused`] with the error of the daemon, or another variant if there was no answer. After
    /// a [`ClientError::Timeout`], the connection is still usable: a late answer is dropped.
    pub fn call<R: DeserializeOwned>(&mut self, request: &Request) -> Result<R, ClientError> {
        let mut kept = VecDeque::new();
        let answer = self.call_with(request, |notification| kept.push_back(notification));
        self.notifications.append(&mut kept);
        answer
    }

    /// Like [`Client::call`], but also passes each notification to `on_notification`.
    ///
    /// Each notification restarts the timeout, so that a job that reports progress does not time out.
    ///
    /// # Errors
    /// See [`Client::call`].
    pub fn call_with<R: DeserializeOwned>(
        &mut self,
        request: &Request,
        mut on_notification: impl FnMut(Notification),
    ) -> Result<R, ClientError> {
        let id = Id::from(self.next_id);
        self.next_id += 1;
        let line = request
            .to_line_of(&id, self.agent.as_ref())
            .map_err(|error| ClientError::Malformed(error.to_string()))?;
        self.stream.set_send_timeout(self.timeout)?;
        self.stream.write_all(&line).map_err(classify_send_error)?;
        let mut deadline = self.deadline();
        loop {
            match self.receive(deadline)? {
                Incoming::Notification(notification) => {
                    on_notification(notification);
                    deadline = self.deadline();
                }
                // An answer with a null id means that the daemon could not parse a line. Because calls are sequential,
                // that line is the request of this call.
                Incoming::Reply(reply) if reply.id == id || reply.id == Id::Null => {
                    return R::deserialize(reply.outcome?)
                        .map_err(|error| ClientError::Malformed(error.to_string()));
                }
                Incoming::Reply(_) => {}
            }
        }
    }

    /// Returns an iterator over notifications: first those kept during calls, then new ones. The iterator ends when the
    /// daemon closes the connection, or when no notification arrives within the timeout.
    pub fn notifications(&mut self) -> impl Iterator<Item = Notification> {
        std::iter::from_fn(|| {
            if let Some(kept) = self.notifications.pop_front() {
                return Some(kept);
            }
            let deadline = self.deadline();
            loop {
                match self.receive(deadline).ok()? {
                    Incoming::Notification(notification) => return Some(notification),
                    Incoming::Reply(_) => {}
                }
            }
        })
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout.map(|timeout| Instant::now() + timeout)
    }

    fn receive(&mut self, deadline: Option<Instant>) -> Result<Incoming, ClientError> {
        loop {
            match self.frames.next_frame() {
                Some(Frame::Line(line)) => return parse_incoming(&line),
                Some(Frame::TooLarge { limit }) => {
                    return Err(ClientError::Malformed(format!(
                        "a line is longer than {limit} bytes"
                    )));
                }
                None => {}
            }
            let late = || ClientError::Timeout(self.timeout.unwrap_or_default());
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(late());
            }
            self.stream.set_recv_timeout(left)?;
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(count) => self.frames.push(&self.chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(late());
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(classify_reset(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Converts an error that occurred while sending. The daemon does not execute an incomplete line.
fn classify_send_error(error: io::Error) -> ClientError {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientError::Unread(error),
        _ => error.into(),
    }
}

/// Converts a connection reset. Linux resets a connection if the peer closed it with unread bytes. The end of the
/// request was among these bytes, so the request was not executed. Other operating systems give no such guarantee.
fn classify_reset(error: io::Error) -> ClientError {
    if cfg!(target_os = "linux") {
        ClientError::Unread(error)
    } else {
        ClientError::Closed
    }
}

fn parse_incoming(line: &[u8]) -> Result<Incoming, ClientError> {
    #[derive(Deserialize)]
    struct IncomingLine {
        id: Option<Id>,
        method: Option<String>,
        params: Option<Value>,
        result: Option<Value>,
        error: Option<RpcError>,
    }
    let line: IncomingLine =
        serde_json::from_slice(line).map_err(|error| ClientError::Malformed(error.to_string()))?;
    let IncomingLine {
        id,
        method,
        params,
        result,
        error,
    } = line;
    if let Some(method) = method {
        return Ok(Incoming::Notification(Notification {
            method,
            params: params.unwrap_or_default(),
        }));
    }
    let outcome = error.map_or_else(|| Ok(result.unwrap_or_default()), Err);
    Ok(Incoming::Reply(Reply {
        id: id.unwrap_or(Id::Null),
        outcome,
    }))
}
