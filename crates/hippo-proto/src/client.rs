//! How does a program without an async runtime call the daemon?

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

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens there.
    #[error("could not connect to the daemon: {path}: {source}")]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The connection broke during a call.
    #[error("could not talk to the daemon: {0}")]
    Io(#[from] io::Error),
    /// The daemon went before it had read all of the request: it did nothing of it.
    #[error("the daemon went before it read the request: {0}")]
    Unread(io::Error),
    /// The daemon closed the connection before it answered.
    #[error("the daemon closed the connection before it answered")]
    Closed,
    /// No answer within the time given.
    #[error("the daemon did not answer within {0:?}")]
    Timeout(Duration),
    /// The daemon sent something that this client cannot read.
    #[error("could not read the daemon's answer: {0}")]
    Malformed(String),
    /// The daemon refused.
    #[error(transparent)]
    Refused(#[from] RpcError),
}

impl ClientError {
    /// Whether the request that ended so may be made once more, on another connection: it gave nothing, and nothing is done twice.
    pub fn may_ask_again(&self, request: &Request) -> bool {
        match self {
            Self::Unread(_) => true,
            Self::Closed => request.only_reads(),
            _ => false,
        }
    }
}

/// One connection. Calls go one at a time; notifications that come meanwhile are kept.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    frames: FrameReader,
    chunk: Box<[u8]>,
    notifications: VecDeque<Notification>,
    timeout: Option<Duration>,
    next_id: u64,
}

enum Incoming {
    Reply(Reply),
    Notification(Notification),
}

impl Client {
    /// Connects. `timeout` bounds connecting and, afterwards, each call; `None` waits for ever.
    ///
    /// # Errors
    /// [`ClientError::Connect`] when nothing listens there.
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
            next_id: 1,
        })
    }

    /// Bounds each call from now on; `None` waits for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Asks and waits for the answer. `R` is the answer's type of that method.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the daemon's refusal; the other variants when there was no answer. After a
    /// [`ClientError::Timeout`] the connection can still be used: the late answer is dropped.
    pub fn call<R: DeserializeOwned>(&mut self, request: &Request) -> Result<R, ClientError> {
        let mut kept = VecDeque::new();
        let answer = self.call_with(request, |notification| kept.push_back(notification));
        self.notifications.append(&mut kept);
        answer
    }

    /// The same, giving each notification that comes meanwhile to `on_notification`.
    ///
    /// The time given starts anew with each notification: a job that reports progress is not late.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn call_with<R: DeserializeOwned>(
        &mut self,
        request: &Request,
        mut on_notification: impl FnMut(Notification),
    ) -> Result<R, ClientError> {
        let id = Id::from(self.next_id);
        self.next_id += 1;
        let line = request
            .to_line(&id)
            .map_err(|error| ClientError::Malformed(error.to_string()))?;
        self.stream.set_send_timeout(self.timeout)?;
        self.stream.write_all(&line).map_err(unsent)?;
        let mut deadline = self.deadline();
        loop {
            match self.receive(deadline)? {
                Incoming::Notification(notification) => {
                    on_notification(notification);
                    deadline = self.deadline();
                }
                // A null id answers a line that could not be read at all: with one call at a time, this one.
                Incoming::Reply(reply) if reply.id == id || reply.id == Id::Null => {
                    return R::deserialize(reply.outcome?)
                        .map_err(|error| ClientError::Malformed(error.to_string()));
                }
                Incoming::Reply(_) => {}
            }
        }
    }

    /// Notifications, oldest first: those kept during calls, then those that come. It ends when the daemon closes
    /// the connection or nothing came within the client's timeout.
    pub fn notifications(&mut self) -> Notifications<'_> {
        Notifications(self)
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout.map(|timeout| Instant::now() + timeout)
    }

    fn receive(&mut self, deadline: Option<Instant>) -> Result<Incoming, ClientError> {
        loop {
            match self.frames.next_frame() {
                Some(Frame::Line(line)) => return incoming(&line),
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
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Err(reset(error)),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// See [`Client::notifications`].
#[derive(Debug)]
pub struct Notifications<'a>(&'a mut Client);

impl Iterator for Notifications<'_> {
    type Item = Notification;

    fn next(&mut self) -> Option<Notification> {
        if let Some(kept) = self.0.notifications.pop_front() {
            return Some(kept);
        }
        let deadline = self.0.deadline();
        loop {
            match self.0.receive(deadline) {
                Ok(Incoming::Notification(notification)) => return Some(notification),
                Ok(Incoming::Reply(_)) => {}
                Err(_) => return None,
            }
        }
    }
}

/// A request whose end did not go out is half a line to the daemon, which is no request.
fn unsent(error: io::Error) -> ClientError {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientError::Unread(error),
        _ => error.into(),
    }
}

/// Linux resets a connection where the other side left bytes of it unread, and the last of them ends the request. Other systems
/// promise nothing of that kind.
fn reset(error: io::Error) -> ClientError {
    if cfg!(target_os = "linux") {
        ClientError::Unread(error)
    } else {
        ClientError::Closed
    }
}

fn incoming(line: &[u8]) -> Result<Incoming, ClientError> {
    #[derive(Deserialize)]
    struct Line {
        id: Option<Id>,
        method: Option<String>,
        params: Option<Value>,
        result: Option<Value>,
        error: Option<RpcError>,
    }
    let line: Line =
        serde_json::from_slice(line).map_err(|error| ClientError::Malformed(error.to_string()))?;
    let Line {
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
