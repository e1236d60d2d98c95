//! `hook`: events of a harness.
//!
//! A hook always succeeds, even if the event is invalid, or if the daemon or the disk fails. A thread does the work and
//! is abandoned at the deadline. Only the hooks for session starts, prompts and tool results print to standard output. Errors are written to a
//! log in the state folder. The log contains no text of the memory.

mod event;
pub mod own;
mod result;
pub mod root;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use hippo_proto::{
    Client, ContextCloseRequest, ErrorKind, HeartbeatRequest, Method, RecallRequest, SessionFlushRequest,
};

use crate::connect::{DaemonSession, absolute, text};
use crate::failure::{Exit, Failure};
use crate::launch;
use hippoctl::args::{Global, HookArgs, HookName};

use event::HookEvent;

/// Maximum time for which the session-start hook waits for the list of pending work. The daemon continues to run due
/// cycles after that time.
const PENDING: Duration = Duration::from_millis(100);
/// Maximum time for connecting to an existing socket.
const CONNECT: Duration = Duration::from_millis(500);
/// Maximum time to wait for another daemon, after the daemon that this hook started has exited. Two hooks may each have
/// started a daemon, and one of the two daemons then exits.
const RIVAL: Duration = Duration::from_millis(250);
/// Minimum time between a failed start of the daemon and the next attempt. Without this pause, every hook would delay
/// its session with another failed start.
const AT_REST: Duration = Duration::from_secs(60);
/// Global options whose value is the next word of the command line.
const VALUED: [&str; 3] = ["--workspace", "--socket", "--agent"];
/// Part of the deadline of user-prompt in which the daemon searches.
const SEARCH: Duration = Duration::from_millis(300);
/// The name of the file in the state folder that marks a failed start.
const FAILED: &str = "hooks.not-started";
/// The name of the log of hooks in the state folder.
pub const LOG: &str = "hooks.log";

/// Returns the maximum time that a hook may take.
const fn deadline(name: HookName) -> Duration {
    Duration::from_millis(match name {
        HookName::SessionStart => 1_000,
        HookName::UserPrompt => 400,
        HookName::ToolResult => 1_000,
        HookName::PreCompact | HookName::TaskCompleted => 2_000,
        // Claude Code gives a hook 1.5 s when a session ends.
        HookName::SessionEnd => 1_200,
    })
}

/// Returns whether a command line is a call of `hippoctl hook`, even if its arguments are invalid.
pub fn is_asked_for(words: &[OsString]) -> bool {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.to_string_lossy() {
            // The next word is the value of the option.
            option if VALUED.contains(&&*option) => _ = words.next(),
            option if option.starts_with('-') => {}
            verb => return verb == "hook",
        }
    }
    false
}

/// Runs a hook until its work is done or its deadline has passed.
pub fn hook(global: &Global, args: HookArgs) {
    let begun = Instant::now();
    let limit = deadline(args.name);
    let Ok(session) = DaemonSession::new(global.clone()) else {
        // Without the paths, the log of hooks cannot be found, so the error is not logged.
        return;
    };
    let (name, folder) = (args.name, session.paths.state.clone());
    let log = |what: &str| append_to_log(&folder, name, what);
    let (said, heard) = mpsc::channel();
    let mut work = HookWork {
        session,
        // Prompts and tool results must not wait until a daemon has started.
        no_start: global.no_start || matches!(args.name, HookName::UserPrompt | HookName::ToolResult),
        args,
        until: begun + limit,
        said,
    };
    let worker = thread::Builder::new().name("hook".into());
    if let Err(error) = worker.spawn(move || work.run()) {
        return log(&format!("could not start: {error}"));
    }
    loop {
        match heard.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            Ok(Ok(text)) => {
                let mut out = io::stdout().lock();
                // The write fails if the harness has closed the pipe.
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
            Ok(Err(what)) => log(&what),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                return log(&format!("timed out after {} ms", limit.as_millis()));
            }
        }
    }
}

/// A message from the thread that does the work: text to print, or a problem to log.
type HookMessage = Result<String, String>;

struct HookWork {
    session: DaemonSession,
    no_start: bool,
    args: HookArgs,
    until: Instant,
    said: mpsc::Sender<HookMessage>,
}

impl HookWork {
    fn run(&mut self) {
        let event = HookEvent::read();
        let done = match self.args.name {
            HookName::SessionStart => self.session_start(&event),
            HookName::UserPrompt => self.user_prompt(&event),
            HookName::ToolResult => self.tool_result(&event),
            HookName::TaskCompleted | HookName::PreCompact => self.flush(&event),
            // The session is closed even if its transcript is missing.
            HookName::SessionEnd => self.flush(&event).inspect_err(|_| {
                if let Err(failure) = self.close(&event) {
                    self.say(Err(failure.message));
                }
            }),
        };
        if let Err(failure) = done {
            self.say(Err(failure.message));
        }
    }

    fn say(&self, said: HookMessage) {
        // The send fails after the deadline, when the receiver is dropped.
        let _ = self.said.send(said);
    }

    fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn folder(&self, event: &HookEvent) -> Result<PathBuf, Failure> {
        if let Some(given) = self.session.given_workspace()? {
            return Ok(given);
        }
        let folder = claude_project().map(PathBuf::from).or_else(|| event.cwd.clone());
        absolute(folder.as_deref().unwrap_or(Path::new(".")))
    }

    fn session_start(&mut self, event: &HookEvent) -> Result<(), Failure> {
        // An unusable event is logged. The hook then prints the section for the folder of the process.
        if let Some(trouble) = event.trouble.filter(|trouble| *trouble != event::NO_EVENT) {
            self.say(Err(trouble.to_owned()));
        }
        let folder = self.folder(event)?;
        let is_claude = claude_project().is_some() || event.is_of_claude_code();
        let section = root::section(&self.session.paths, &folder, self.args.budget, is_claude);
        if let Some(said) = section.transpose() {
            self.say(said);
        }
        if self.session.agent.is_some() {
            match self.ask(own::request(text(&folder)?)) {
                Ok(answer) => self.say(Ok(own::section(&answer.entries))),
                Err(failure) => self.say(Err(failure.message)),
            }
        }
        if !self.args.pending {
            // The daemon is started now, so that it is ready for the first prompt, which does not wait for it.
            return if self.no_start {
                Ok(())
            } else {
                self.client().map(drop)
            };
        }
        self.until = self.until.min(Instant::now() + PENDING);
        let workspace = text(&folder)?;
        match self.ask(HeartbeatRequest { workspace }) {
            // If the time limit has passed, the next session gets the pending work.
            Err(_) if self.time_left().is_zero() => {}
            answer => {
                if let Some(text) = root::pending(&answer?.pending) {
                    self.say(Ok(text));
                }
            }
        }
        Ok(())
    }

    /// Prints the passages that concern the prompt. Prints nothing if the daemon does not answer in time.
    fn user_prompt(&mut self, event: &HookEvent) -> Result<(), Failure> {
        let Some(prompt) = event.prompt.clone() else {
            let why = event.trouble.unwrap_or("the event contains no prompt");
            return Err(Failure::new(Exit::Failed, why));
        };
        let request = RecallRequest {
            workspace: text(&self.folder(event)?)?,
            prompt,
            session: event.session.clone(),
            wait_ms: u32::try_from(SEARCH.min(self.time_left()).as_millis().max(1)).ok(),
            client: Some("hook".to_owned()),
        };
        self.say(Ok(self.ask(request)?.text));
        Ok(())
    }

    /// Sends the path of the transcript to the daemon. Does not wait until the daemon has processed the transcript.
    fn flush(&mut self, event: &HookEvent) -> Result<(), Failure> {
        let whole = self.args.name != HookName::TaskCompleted;
        let Some(path) = &event.transcript else {
            let no_path = "the event contains no path of a transcript";
            let why = event.trouble.unwrap_or(no_path);
            let what = format!("there is no transcript: {why}");
            return Err(Failure::new(Exit::Failed, what));
        };
        let path = absolute(path)?;
        #[expect(clippy::disallowed_methods, reason = "the hook event contains this path")]
        let is_there = path.exists();
        if !is_there {
            // The daemon would report the missing transcript later, and only in its own log. The other steps of the
            // hook still run.
            self.say(Err(format!("the transcript does not exist: {}", path.display())));
        }
        let request = SessionFlushRequest {
            workspace: text(&self.folder(event)?)?,
            path: text(&path)?,
            session: event.session.clone(),
            agent: None,
            format: None,
            wait: false,
            compact: whole,
            close: self.args.name == HookName::SessionEnd && event.session.is_some(),
            tree: whole,
        };
        self.ask(request).map(drop)
    }

    /// Closes the context session with the id in the event, if there is such a session.
    fn close(&mut self, event: &HookEvent) -> Result<(), Failure> {
        let Some(session) = event.session.clone() else {
            return Ok(());
        };
        match self.ask(ContextCloseRequest { session }) {
            Err(failure) if matches!(failure.kind, Some(ErrorKind::NotFound | ErrorKind::BadRequest)) => {
                Ok(())
            }
            answer => answer.map(drop),
        }
    }

    /// Sends a request. If the daemon exits before it responds, repeats the request once, unless the request could take
    /// effect twice.
    fn ask<M: Method>(&self, request: M) -> Result<M::Answer, Failure> {
        let request = &request.into();
        let ask = || {
            let mut client = self.client()?;
            client.set_timeout(Some(self.time_left()));
            client.set_agent(self.session.agent.clone());
            Ok::<_, Failure>(client.call(request))
        };
        let answer = match ask()? {
            Err(error) if error.may_ask_again(request) => ask()?,
            answer => answer,
        };
        Ok(answer?)
    }

    /// Returns a connection to the daemon. If no daemon answers, starts a daemon, and waits until the new daemon
    /// answers or fails to start, or until the deadline.
    fn client(&self) -> Result<Client, Failure> {
        let paths = &self.session.paths;
        let connected = Client::connect(&paths.socket, Some(CONNECT.min(self.time_left())));
        if connected.is_ok() || self.no_start || self.time_left().is_zero() {
            return Ok(connected?);
        }
        let rival = RIVAL.min(self.time_left());
        launch::wait(&mut self.start()?, paths, self.time_left(), rival).map_err(|mut failure| {
            if !self.time_left().is_zero() {
                // A failure to write this file is ignored. The next hook then tries to start the daemon without a
                // pause.
                #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
                let _ = fs::write(paths.state.join(FAILED), b"");
                failure.message += "; hooks retry in a minute; to see the reason: hippoctl service start";
            }
            failure
        })
    }

    /// Starts a daemon, unless a start has failed within the last minute.
    #[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
    fn start(&self) -> Result<Child, Failure> {
        let failed = fs::metadata(self.session.paths.state.join(FAILED)).and_then(|file| file.modified());
        // If the clock was set back, the time of the file is in the future. In this case, the start is not delayed.
        let rests = |at: SystemTime| at.elapsed().is_ok_and(|since| since < AT_REST);
        if failed.is_ok_and(rests) {
            let what = "no daemon responds, and a start failed within the last minute";
            return Err(Failure::new(Exit::NoDaemon, what));
        }
        Ok(launch::begin(&self.session.paths, None)?.0)
    }
}

/// Returns the project folder that Claude Code passes to its hooks.
fn claude_project() -> Option<OsString> {
    std::env::var_os("CLAUDE_PROJECT_DIR").filter(|folder| !folder.is_empty())
}

/// Appends a line to the log of hooks. Errors are ignored, because they cannot be reported anywhere else.
fn append_to_log(folder: &Path, name: HookName, what: &str) {
    let what: String = what.replace(char::is_control, " ").chars().take(1_000).collect();
    let now = jiff::Timestamp::now();
    // The line has the format of the daemon's log, so `hippoctl service logs` can print both logs.
    let name = name.to_possible_value();
    let name = name.as_ref().map_or("", PossibleValue::get_name);
    let line = format!("{now:.6}  WARN {name}: {what}\n");
    if launch::create_private_folder(folder).is_ok()
        && let Ok(mut log) = launch::open_log(&folder.join(LOG))
    {
        let _ = log.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_call_is_recognised_despite_invalid_arguments() {
        let asked = |line: &str| is_asked_for(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asked("hippoctl hook"));
        assert!(asked("hippoctl hook session-begin"));
        assert!(asked("hippoctl --json hook --bogus"));
        assert!(asked("hippoctl --workspace /w hook session-begin"));
        assert!(asked("hippoctl --workspace=/w --socket /s hook"));
        assert!(!asked("hippoctl --workspace hook search x"));
        assert!(!asked("hippoctl search hook-less"));
        assert!(!asked("hippoctl"));
    }
}
