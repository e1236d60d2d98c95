//! HTTP server of the page.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::guard::{Guard, Permission};
use super::http::{HttpRequest, HttpResponse};
use super::{api, assets, peer};
use crate::connect::DaemonSession;

/// Maximum number of connections. A browser opens up to six, and one for events.
const CONNECTIONS: usize = 64;
/// Time after which a connection without a request is closed.
const QUIET: Duration = Duration::from_secs(120);

/// Options of the server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// The port, or 0 for a free port.
    pub port: u16,
    /// True if the page may change the memory.
    pub may_write: bool,
}

/// The server of the page.
pub struct PageServer {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    guard: Guard,
    session: DaemonSession,
    own: SocketAddr,
    begun: Instant,
    /// Milliseconds from `begun` to the last request.
    last: AtomicU64,
    connections: AtomicUsize,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl PageServer {
    /// Listens on 127.0.0.1.
    ///
    /// # Errors
    /// Fails if the port is in use, or if the system provides no random numbers.
    pub fn bind(options: ServerOptions, session: DaemonSession) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let own = listener.local_addr()?;
        let shared = Shared {
            guard: Guard::new(own.port(), options.may_write)?,
            session,
            own,
            begun: Instant::now(),
            last: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            stopped: Mutex::new(false),
            stop: Condvar::new(),
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// Returns the address that opens the page once.
    pub fn url(&self) -> String {
        self.shared.guard.url()
    }

    /// Returns the port and the token that stops the server.
    pub fn stop_key(&self) -> (u16, String) {
        (self.shared.own.port(), self.shared.guard.stop_token().to_owned())
    }

    /// Serves the page until a client stops it, or until no request has come for `idle`.
    ///
    /// # Errors
    /// Fails if the thread for new connections cannot be started.
    pub fn serve(self, idle: Duration) -> io::Result<()> {
        let (listener, shared) = (self.listener, Arc::clone(&self.shared));
        thread::Builder::new().name("accept".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                accept(&shared, stream);
            }
        })?;
        let shared = self.shared;
        let mut stopped = shared.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stopped {
            let last = Duration::from_millis(shared.last.load(Ordering::Relaxed));
            let left = idle.saturating_sub(shared.begun.elapsed().saturating_sub(last));
            if left.is_zero() {
                break;
            }
            let waited = shared.stop.wait_timeout(stopped, left);
            stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

/// Serves a connection on a thread of its own, unless it belongs to another user.
fn accept(shared: &Arc<Shared>, stream: TcpStream) {
    let is_own = stream
        .peer_addr()
        .is_ok_and(|peer| peer::is_own_user(peer, shared.own));
    if !is_own || shared.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
        if is_own {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
        return;
    }
    let shared = Arc::clone(shared);
    let serve = move || {
        // A connection that breaks needs no answer.
        let _ = serve_connection(&shared, stream);
        shared.connections.fetch_sub(1, Ordering::Relaxed);
    };
    // Without a thread, the connection is closed, and the browser tries again.
    let _ = thread::Builder::new().name("page".to_owned()).spawn(serve);
}

fn serve_connection(shared: &Shared, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(QUIET))?;
    stream.set_write_timeout(Some(QUIET))?;
    stream.set_nodelay(true)?;
    let mut kept = Vec::new();
    let mut session = shared.session.another();
    loop {
        let request = match HttpRequest::read(&mut stream, &mut kept) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return HttpResponse::refusal("400 Bad Request", &error.to_string()).write(&mut stream);
            }
            Err(error) => return Err(error),
        };
        let now = u64::try_from(shared.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        shared.last.store(now, Ordering::Relaxed);
        if (request.method.as_str(), request.path.as_str()) == ("GET", "/events") {
            match shared.guard.check(&request, Permission::Read) {
                Ok(()) => return api::stream_events(&session, &mut stream),
                Err(refusal) => refusal.write(&mut stream)?,
            }
            continue;
        }
        let response = respond(shared, &mut session, &request).unwrap_or_else(|refusal| refusal);
        response.write(&mut stream)?;
        if request.path == "/stop" && response.status.starts_with("200") {
            *shared.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
            shared.stop.notify_all();
        }
    }
}

/// Returns the response to a request.
///
/// # Errors
/// Returns the refusal of a request that is not allowed.
fn respond(
    shared: &Shared,
    session: &mut DaemonSession,
    request: &HttpRequest,
) -> Result<HttpResponse, HttpResponse> {
    let guard = &shared.guard;
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/session") => {
            guard.check(request, Permission::SignIn)?;
            sign_in(shared, session, request)
        }
        ("POST", "/api") => {
            guard.check(request, Permission::Read)?;
            let (call, access) = api::parse_call(&request.body)?;
            guard.check(request, access)?;
            Ok(api::answer(session, call))
        }
        ("POST", "/stop") => {
            guard.check(request, Permission::Stop)?;
            Ok(HttpResponse::json("200 OK", &json!({})))
        }
        ("GET", path) => {
            guard.check(request, Permission::Page)?;
            let not_found = || HttpResponse::refusal("404 Not Found", "no such file");
            let (text, media) = assets::find(path).ok_or_else(not_found)?;
            Ok(HttpResponse {
                status: "200 OK",
                media,
                cookie: None,
                body: text.as_bytes().to_vec(),
            })
        }
        _ => Err(HttpResponse::refusal("405 Method Not Allowed", "no such method")),
    }
}

/// Exchanges the one-time token for the cookie, and returns what the page needs to start.
///
/// # Errors
/// Returns a refusal if the token is wrong or used up, and the browser has no cookie.
fn sign_in(
    shared: &Shared,
    session: &mut DaemonSession,
    request: &HttpRequest,
) -> Result<HttpResponse, HttpResponse> {
    let guard = &shared.guard;
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let cookie = body["token"].as_str().and_then(|token| guard.sign_in(token));
    if cookie.is_none() && !guard.has_cookie(request) {
        let why = "this address was already used, or is wrong; for a new address, run `hippoctl ui` again";
        return Err(HttpResponse::refusal("401 Unauthorized", why));
    }
    let start = json!({
        "version": hippo_version::VERSION,
        "write": guard.write_token(),
        "workspace": session.workspace().ok(),
    });
    Ok(HttpResponse {
        cookie,
        ..HttpResponse::json("200 OK", &start)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use hippoctl::args::Global;

    fn server() -> PageServer {
        let options = ServerOptions {
            port: 0,
            may_write: false,
        };
        PageServer::bind(options, DaemonSession::new(Global::default()).unwrap()).unwrap()
    }

    #[test]
    fn the_server_ends_after_a_time_without_a_request() {
        assert!(server().shared.own.ip().is_loopback());
        server().serve(Duration::from_millis(20)).unwrap();
    }

    #[test]
    fn the_server_ends_when_it_gets_the_token_for_that_and_not_another_one() {
        let server = server();
        let (port, token) = server.stop_key();
        let serving = thread::spawn(move || server.serve(Duration::from_secs(600)));
        let status = |token: &str| {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            let host = format!("127.0.0.1:{port}");
            let request = format!(
                "POST /stop HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
                 X-Hippod-Stop: {token}\r\nContent-Length: 0\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).unwrap();
            String::from_utf8_lossy(&answer[9..]).into_owned()
        };
        assert_eq!(status("guess"), "403");
        assert!(!serving.is_finished());
        assert_eq!(status(&token), "200");
        serving.join().unwrap().unwrap();
    }
}
