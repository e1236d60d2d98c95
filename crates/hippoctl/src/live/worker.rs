//! Thread that sends the requests of the interactive search.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{Client, ClientError, GetRequest, GetResponse, Method, SearchRequest, SearchResponse};

use crate::connect::{DaemonSession, PATIENCE};
use crate::failure::Failure;

/// Time between two attempts to connect to the daemon.
const RETRY: Duration = Duration::from_millis(300);

/// Maximum time between the last key and the end of the program.
const LEAVE: Duration = Duration::from_secs(1);

/// A request to the daemon.
pub enum Job {
    /// A search while a person types. A later one replaces it.
    Search(SearchRequest),
    /// A search that the recall log keeps.
    Keep(SearchRequest),
    /// The text of the selected result. A later request replaces it.
    Preview(GetRequest),
}

/// An answer of the daemon.
pub enum Answer {
    /// The results of a search.
    Found(Box<SearchResponse>),
    /// The text of a result.
    Preview(GetResponse),
    /// The daemon refused a request.
    Refused(Failure),
    /// The daemon does not answer. The request is sent again.
    Lost,
}

/// The other end of the thread. The thread ends after this value is dropped.
pub struct Worker {
    jobs: Sender<Job>,
    answers: Receiver<Answer>,
}

impl Worker {
    /// Starts the thread.
    pub fn start(session: DaemonSession) -> Self {
        let (jobs, todo) = channel();
        let (done, answers) = channel();
        let queue = Queue {
            session,
            client: None,
            keep: None,
            search: None,
            preview: None,
        };
        thread::spawn(move || queue.run(&todo, &done));
        Self { jobs, answers }
    }

    /// Sends a request.
    pub fn send(&self, job: Job) {
        // The thread ends only with this value, or after a panic that is already reported.
        let _ = self.jobs.send(job);
    }

    /// Waits until the waiting requests are sent, for at most [`LEAVE`]. Otherwise, a question that the recall log keeps
    /// could be lost.
    pub fn finish(self) {
        drop(self.jobs);
        let until = Instant::now() + LEAVE;
        while let Some(left) = until.checked_duration_since(Instant::now())
            && self.answers.recv_timeout(left).is_ok()
        {}
    }

    /// Returns the next answer, if there is one.
    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

/// The connection to the daemon, and the requests that wait.
struct Queue {
    session: DaemonSession,
    client: Option<Client>,
    keep: Option<SearchRequest>,
    search: Option<SearchRequest>,
    preview: Option<GetRequest>,
}

impl Queue {
    fn add(&mut self, job: Job) {
        match job {
            Job::Keep(request) => self.keep = Some(request),
            Job::Search(request) => self.search = Some(request),
            Job::Preview(request) => self.preview = Some(request),
        }
    }

    /// Sends requests until the [`Worker`] is dropped.
    fn run(mut self, jobs: &Receiver<Job>, answers: &Sender<Answer>) {
        let mut is_idle = true;
        loop {
            let next = match (is_idle, &self.client) {
                (true, _) => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                (false, None) => jobs.recv_timeout(RETRY),
                (false, Some(_)) => jobs.recv_timeout(Duration::ZERO),
            };
            match next {
                Ok(job) => self.add(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            jobs.try_iter().for_each(|job| self.add(job));
            let Some(result) = self.next() else {
                is_idle = true;
                continue;
            };
            is_idle = false;
            let answer = result.unwrap_or_else(|error| match is_lost(&error) {
                true => Answer::Lost,
                false => Answer::Refused(error.into()),
            });
            if answers.send(answer).is_err() {
                return;
            }
        }
    }

    /// Sends the next request, and returns its answer. Returns `None` if no request waits.
    fn next(&mut self) -> Option<Result<Answer, ClientError>> {
        let Self {
            session,
            client,
            keep,
            search,
            preview,
        } = self;
        send(session, client, keep)
            .or_else(|| send(session, client, search))
            .map(|found| found.map(|found| Answer::Found(Box::new(found))))
            .or_else(|| send(session, client, preview).map(|shown| shown.map(Answer::Preview)))
    }
}

/// Sends a waiting request. If the daemon does not answer, the request keeps waiting.
fn send<M: Method + Clone>(
    session: &DaemonSession,
    client: &mut Option<Client>,
    waiting: &mut Option<M>,
) -> Option<Result<M::Answer, ClientError>> {
    let request = waiting.take()?;
    let result = call(session, client, request.clone());
    if result.as_ref().is_err_and(is_lost) {
        *waiting = Some(request);
    }
    Some(result)
}

/// Sends a request to a running daemon, over the open connection if there is one.
///
/// # Errors
/// Fails if no daemon answers, or if the daemon refuses the request. The connection is closed if it is unusable.
pub fn call<M: Method>(
    session: &DaemonSession,
    client: &mut Option<Client>,
    request: M,
) -> Result<M::Answer, ClientError> {
    let connected = match client.take() {
        Some(connected) => connected,
        None => session.connect_only()?,
    };
    let open = client.insert(connected);
    open.set_timeout(Some(PATIENCE));
    let result = open.call(&request.into());
    if result.as_ref().is_err_and(is_lost) {
        *client = None;
    }
    result
}

/// Returns whether the daemon did not answer.
pub fn is_lost(error: &ClientError) -> bool {
    !matches!(error, ClientError::Refused(_) | ClientError::Malformed(_))
}
