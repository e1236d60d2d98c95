//! The socket: who may connect, and how many.

mod backups;
mod connection;
mod dispatch;
mod doctor;
mod entries;
mod flush;
mod imports;
mod long;
mod measures;
mod models;
mod removal;

use std::sync::Arc;
use std::time::Duration;

use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::traits::tokio::Listener as _;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use hippo_proto::{ErrorKind, Id, Reply, RpcError};

pub use entries::remember;
pub use flush::take_up_what_is_left;
pub use long::{Tell, nobody_waits};
pub use measures::{BUCKETS, Measures};

use crate::shared::{Shared, stopped};

/// How long answers under way may take after the daemon was told to stop.
const LAST_ANSWERS: Duration = Duration::from_millis(1000);
/// Pause after a refused accept (out of file descriptors, say).
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// How long a client may take to hear that there is no place for it.
const REFUSAL: Duration = Duration::from_millis(500);

/// Accepts connections until `stop` turns true, then lets the answers under way finish.
pub async fn serve(shared: Arc<Shared>, listener: Listener, stop: watch::Receiver<bool>) {
    let mut told = stop.clone();
    let places = Arc::new(Semaphore::new(shared.config.server.max_connections));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopped(&mut told) => break,
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                        tracing::warn!("a connection was refused: too many are open");
                        connections.spawn(refuse(stream));
                        continue;
                    };
                    let (shared, stop) = (Arc::clone(&shared), stop.clone());
                    connections.spawn(async move {
                        if is_own_user(&stream) {
                            connection::run(shared, stream, stop).await;
                        } else {
                            tracing::warn!("a connection of another user was refused");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    // What is not done by then is given up: the client sees its connection close.
    let _ = tokio::time::timeout(LAST_ANSWERS, finish).await;
    connections.shutdown().await;
}

/// Says why before it closes a connection for which there is no place.
async fn refuse(mut stream: Stream) {
    let why = RpcError::new(ErrorKind::Warming, "too many connections are open")
        .hint("close some, or raise [server] max_connections");
    let line = Reply::refuse(Id::Null, why).to_line();
    // A client that does not read it has its connection closed all the same.
    let _ = tokio::time::timeout(REFUSAL, stream.write_all(&line)).await;
}

/// The folder's mode keeps others out already; this holds where somebody widened it.
#[cfg(unix)]
fn is_own_user(stream: &Stream) -> bool {
    use interprocess::local_socket::traits::StreamCommon as _;
    match stream.peer_creds() {
        Ok(creds) => creds
            .euid()
            .is_none_or(|user| user == rustix::process::geteuid().as_raw()),
        Err(error) => {
            tracing::warn!(%error, "could not learn who connects");
            false
        }
    }
}

#[cfg(not(unix))]
fn is_own_user(_: &Stream) -> bool {
    true
}
