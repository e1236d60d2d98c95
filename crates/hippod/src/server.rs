//! Server of the socket: connections and their limits.

mod backups;
mod connection;
mod dispatch;
mod entries;
mod flush;
mod long;
mod own;
mod removal;
mod room;
mod shares;
mod silent;
mod subscribe;

use std::sync::Arc;
use std::time::Duration;

use hippo_store::system;
use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::traits::tokio::Listener as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use hippo_proto::{ErrorKind, Event, Id, Reply, RpcError};

pub use flush::{SessionFlusher, take_up_what_is_left};

use room::Budget;
use silent::SilentConnections;

use crate::backup::Backups;
use crate::clock::Clock;
use crate::contexts::Contexts;
use crate::cycles::CycleRunner;
use crate::doctor::Doctor;
use crate::instance::Instance;
use crate::local_share::LocalShares;
use crate::measures::Measures;
use crate::memory::MemoryWriter;
use crate::message::EngineHandle;
use crate::models::Models;
use crate::recall::Searcher;
use crate::share::TeamShare;
use crate::status::StatusReporter;
use crate::tasks::wait_until_set;
use crate::tree::Trees;
use crate::views::Views;

/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 256;
/// Time that running requests have to finish after a stop request.
const LAST_ANSWERS: Duration = Duration::from_millis(1000);
/// Pause after a failed accept, for example when file descriptors run out.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Interval between checks that the socket file still exists.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum number of rejected clients that receive a reply at the same time.
const REFUSALS: usize = 64;
/// Maximum time for sending a reply to a rejected client.
const REFUSAL: Duration = Duration::from_millis(500);

/// Components that serve requests.
pub struct Components {
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Shutdown signal; true once the daemon must stop.
    pub stop: watch::Sender<bool>,
    /// Events for subscribers.
    pub news: broadcast::Sender<Event>,
    /// Counters of requests and cycles.
    pub measures: Arc<Measures>,
    /// Registered workspaces.
    pub views: Arc<Views>,
    /// Handle of the engine.
    pub engine: EngineHandle,
    /// Writer of the memory.
    pub memory: MemoryWriter,
    /// Runner of the cycles that clients request.
    pub cycles: Arc<CycleRunner>,
    /// Trees of the workspaces.
    pub trees: Arc<Trees>,
    /// Sessions of context entries.
    pub contexts: Arc<Contexts>,
    /// Flusher of sessions.
    pub flusher: Arc<SessionFlusher>,
    /// Searcher of the workspaces.
    pub searcher: Arc<Searcher>,
    /// The installed models.
    pub models: Arc<Models>,
    /// Sharing with a team.
    pub share: Arc<TeamShare>,
    /// Shares between workspaces.
    pub local_shares: Arc<LocalShares>,
    /// Backups and restores of workspaces.
    pub backups: Arc<Backups>,
    /// Examiner for diagnosis and repair.
    pub doctor: Arc<Doctor>,
    /// Reporter of the daemon's status.
    pub reporter: Arc<StatusReporter>,
}

/// Accepts connections until `stop` is true, then waits briefly for running requests.
pub async fn serve(
    components: Arc<Components>,
    mut listener: Listener,
    instance: Arc<Instance>,
    stop: watch::Receiver<bool>,
) {
    let mut told = stop.clone();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let silent = Arc::new(SilentConnections::default());
    let budget = Budget::default();
    let mut connections = JoinSet::new();
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // If descriptors run out, this spare one is closed, so that one more client can be accepted and receive a reply.
    let mut spare = spare_handle();
    loop {
        tokio::select! {
            () = wait_until_set(&mut told) => break,
            accepted = listener.accept() => match accepted {
                Ok(stream) => {
                    let place = match Arc::clone(&places).try_acquire_owned() {
                        Ok(place) => Some(place),
                        Err(_) if silent.end_one() => {
                            let place = Arc::clone(&places).acquire_owned();
                            tokio::time::timeout(REFUSAL, place).await.ok().and_then(Result::ok)
                        }
                        Err(_) => None,
                    };
                    let Some(place) = place else {
                        tracing::warn!("refused a connection: too many are open");
                        // If too many clients are being rejected, the connection is closed without a reply.
                        if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                            connections.spawn(async move {
                                refuse(stream).await;
                                drop(place);
                            });
                        }
                        continue;
                    };
                    let (components, stop, silent) = (Arc::clone(&components), stop.clone(), Arc::clone(&silent));
                    let budget = budget.clone();
                    connections.spawn(async move {
                        if is_own_user(&stream) {
                            connection::run(components, stream, silent.begin(), budget, stop).await;
                        } else {
                            tracing::warn!("refused a connection of another user");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    if !system::is_shortage(&error) || spare.take().is_none() {
                        tokio::time::sleep(ACCEPT_AGAIN).await;
                    }
                }
            },
            _ = looks.tick() => {
                if spare.is_none() {
                    spare = spare_handle();
                }
                match instance.listen_again() {
                    Ok(None) => {}
                    Ok(Some(again)) => {
                        tracing::warn!("the socket file was removed; binding the socket again");
                        listener = again;
                    }
                    Err(error) => tracing::debug!(%error, "could not bind the socket again; retrying"),
                }
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    // Unfinished answers are dropped, and the clients see their connections close.
    let _ = tokio::time::timeout(LAST_ANSWERS, finish).await;
    connections.shutdown().await;
}

#[expect(clippy::disallowed_methods, reason = "this is not a workspace file")]
fn spare_handle() -> Option<std::fs::File> {
    std::fs::File::open("/dev/null").ok()
}

/// Sends the reason to a client above the connection limit, then closes the connection.
async fn refuse(stream: Stream) {
    let why = RpcError::new(ErrorKind::Warming, "too many open connections").hint("close some connections");
    let line = Reply::refuse(Id::Null, why).to_line();
    let (mut from, mut to) = tokio::io::split(stream);
    let say = async {
        to.write_all(&line).await?;
        to.shutdown().await?;
        // Closing the connection before reading what the client sent could discard the reply.
        let mut sent = [0; 4096];
        while from.read(&mut sent).await? > 0 {}
        std::io::Result::Ok(())
    };
    // The connection is also closed if the client does not read the reply.
    let _ = tokio::time::timeout(REFUSAL, say).await;
}

/// Returns whether the client runs as the same user. The folder's permissions normally exclude other users; this check
/// protects the socket if they were widened.
fn is_own_user(stream: &Stream) -> bool {
    use interprocess::local_socket::traits::StreamCommon as _;
    match stream.peer_creds() {
        Ok(creds) => creds
            .euid()
            .is_none_or(|user| user == rustix::process::geteuid().as_raw()),
        Err(error) => {
            tracing::warn!(%error, "could not determine the user of a connection");
            false
        }
    }
}
