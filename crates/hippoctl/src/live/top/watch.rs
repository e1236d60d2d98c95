//! Thread that reads the state of the daemon and its events.

use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::{
    Client, ClientError, Event, IndexEntry, IndexListRequest, LoggedQuestion, RecallLogRequest,
    StatusRequest, StatusResponse, SubscribeRequest,
};

use crate::connect::DaemonSession;
use crate::live::worker::{call, is_lost};

/// Time between two readings of the state, and between two attempts to connect.
const OFTEN: Duration = Duration::from_secs(1);
/// Maximum age of the list of entries. It is also read after each question and each event.
const SELDOM: Duration = Duration::from_secs(15);

/// News about the daemon.
pub enum News {
    /// The status of the daemon.
    Status(Box<StatusResponse>),
    /// The last questions, latest first.
    Questions(Vec<LoggedQuestion>),
    /// The entries of the workspace, strongest first.
    Entries(Vec<IndexEntry>),
    /// An event.
    Event(Event),
    /// The reason why there are no news.
    Trouble(String),
}

/// Why the thread stops reading for a moment, or ends.
enum Break {
    Daemon(ClientError),
    Unread,
}

impl From<ClientError> for Break {
    fn from(error: ClientError) -> Self {
        Self::Daemon(error)
    }
}

impl From<SendError<News>> for Break {
    fn from(_: SendError<News>) -> Self {
        Self::Unread
    }
}

/// Starts the thread. It ends after the receiver is dropped.
pub fn start(session: DaemonSession, workspace: String) -> Receiver<News> {
    let (news, received) = channel();
    thread::spawn(move || {
        let mut client = None;
        while let Err(Break::Daemon(error)) = read(&session, &mut client, &workspace, &news) {
            let why = match is_lost(&error) {
                true => "the daemon does not answer: reconnecting …".to_owned(),
                false => error.to_string(),
            };
            client = None;
            if news.send(News::Trouble(why)).is_err() {
                return;
            }
            thread::sleep(OFTEN);
        }
    });
    received
}

/// Reads the state until the daemon does not answer.
fn read(
    session: &DaemonSession,
    client: &mut Option<Client>,
    workspace: &str,
    news: &Sender<News>,
) -> Result<(), Break> {
    let workspace = workspace.to_owned();
    let subscribe = SubscribeRequest {
        workspace: Some(workspace.clone()),
        events: None,
    };
    call(session, client, subscribe)?;
    let (mut latest, mut listed) = (None, None::<Instant>);
    loop {
        let status = call(session, client, StatusRequest {})?;
        news.send(News::Status(Box::new(status)))?;
        let request = RecallLogRequest {
            workspace: workspace.clone(),
            limit: Some(50),
            before: None,
        };
        let questions = call(session, client, request)?.questions;
        let first = questions.first().map(|question| question.id);
        news.send(News::Questions(questions))?;
        if first != latest || listed.is_none_or(|listed| listed.elapsed() > SELDOM) {
            let request = IndexListRequest {
                workspace: workspace.clone(),
                ..IndexListRequest::default()
            };
            let entries = call(session, client, request)?.entries;
            news.send(News::Entries(entries))?;
            (latest, listed) = (first, Some(Instant::now()));
        }
        let Some(open) = client.as_mut() else { continue };
        let until = Instant::now() + OFTEN;
        while let Some(left) = until
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        {
            open.set_timeout(Some(left));
            let Some(notification) = open.notifications().next() else {
                break;
            };
            if let Some(event) = notification.event() {
                listed = None;
                news.send(News::Event(event))?;
            }
        }
    }
}
