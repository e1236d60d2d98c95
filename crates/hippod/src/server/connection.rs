//! One connection: many requests in flight, answers in any order, nothing a client does harms another.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use interprocess::local_socket::tokio::Stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use hippo_proto::{ErrorKind, Frame, FrameReader, Id, Reply, RpcError, encode_error, parse_request};

use super::dispatch;
use crate::shared::{Shared, stopped};

/// Requests of one connection that are worked on at the same time; more wait in the socket.
const IN_FLIGHT: usize = 64;
/// Answers that wait for a slow reader before its requests wait too.
const OUTBOX: usize = 64;
/// A client that takes nothing for this long is let go.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// Bytes taken from the socket at once.
const READ_BUFFER: usize = 64 * 1024;

/// Lines on their way to the client.
pub type Outbox = mpsc::Sender<Vec<u8>>;

/// Serves a connection until the client closes it, or `stop` turns true.
pub async fn run(shared: Arc<Shared>, stream: Stream, mut stop: watch::Receiver<bool>) {
    let (mut from, mut to) = tokio::io::split(stream);
    let (outbox, mut lines) = mpsc::channel::<Vec<u8>>(OUTBOX);
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
        loop {
            let read = tokio::select! {
                () = stopped(&mut stop) => break,
                read = from.read(&mut buffer) => read,
            };
            let Ok(count) = read else { break };
            if count == 0 {
                break;
            }
            frames.push(&buffer[..count]);
            while let Some(frame) = frames.next_frame() {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                    break;
                };
                let (shared, outbox) = (Arc::clone(&shared), outbox.clone());
                tasks.spawn(async move {
                    answer(&shared, frame, &outbox).await;
                    drop(place);
                });
            }
            while tasks.try_join_next().is_some() {}
        }
        // Half a line at the end is no request. Answers under way are still sent.
        drop(outbox);
        while tasks.join_next().await.is_some() {}
    };
    // The writer ends first when the client is gone; then nobody needs the answers under way.
    tokio::select! {
        () = writer => {}
        () = async { reader.await; std::future::pending::<()>().await } => {}
    }
}

async fn answer(shared: &Arc<Shared>, frame: Frame, outbox: &Outbox) {
    let (id, mut line) = match frame {
        Frame::Line(line) => match parse_request(&line) {
            Ok(call) => (call.id.clone(), dispatch::answer(shared, call, outbox).await),
            Err(refusal) => (Id::Null, refusal.to_line()),
        },
        Frame::TooLarge { limit } => {
            let refusal = Reply::refuse(Id::Null, RpcError::line_too_large(limit));
            (Id::Null, refusal.to_line())
        }
    };
    shared.served.fetch_add(1, Ordering::Relaxed);
    if line.len() > shared.config.server.max_line_bytes {
        let error = RpcError::new(ErrorKind::TooLarge, "the answer is longer than a line may be");
        line = encode_error(&id, &error.hint("ask for fewer lines or a smaller limit"));
    }
    // The client may be gone.
    let _ = outbox.send(line).await;
}
