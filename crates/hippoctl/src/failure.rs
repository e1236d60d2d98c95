//! Failures of a verb: exit codes, messages and hints.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use hippo_proto::{ClientError, ErrorKind, RpcError};
use hippo_text::text::one_line;

/// The exit code of the process. The codes are part of the public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: success
    Done = 0,
    /// 1: failure
    Failed = 1,
    /// 2: wrong usage, or a failure of `search`
    Usage = 2,
    /// 3: no daemon answers
    NoDaemon = 3,
    /// 4: the requested object does not exist
    NotFound = 4,
    /// 5: the daemon or hippoctl refuses the request: conflict, budget, read-only
    Refused = 5,
    /// 6: text is not searchable by meaning, and waiting does not change this
    Incomplete = 6,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Returns the error kind of a failure that hippoctl itself reports.
    fn kind(self) -> &'static str {
        match self {
            Exit::Done | Exit::Failed => "failed",
            Exit::Usage => "usage",
            Exit::NoDaemon => "no-daemon",
            Exit::NotFound => "not-found",
            Exit::Refused => "refused",
            Exit::Incomplete => "incomplete",
        }
    }
}

/// The failure of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: Exit,
    /// The error kind, if the daemon reported the failure.
    pub kind: Option<ErrorKind>,
    /// The error message. If the message is empty, nothing is printed.
    pub message: String,
    /// The suggested fix. May be empty.
    pub hint: Cow<'static, str>,
}

impl Failure {
    /// Creates a failure without a hint.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            kind: None,
            message: message.into(),
            hint: Cow::Borrowed(""),
        }
    }

    /// Converts a usage error of clap. The first paragraph of clap's text becomes the message, the others become the
    /// hint.
    pub fn usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let mut paragraphs = text.trim().split("\n\n").map(one_line);
        let message = paragraphs.next().unwrap_or_default();
        let hint: Vec<String> = paragraphs.collect();
        let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
        Self::new(Exit::Usage, message).hint(hint.join("; "))
    }

    /// Returns the failure as one JSON object: `{"error":{"kind","message","hint"}}`.
    pub fn to_json(&self) -> serde_json::Value {
        let kind = match self.kind {
            Some(kind) => serde_json::json!(kind),
            None => self.exit.kind().into(),
        };
        serde_json::json!({"error": {"kind": kind, "message": self.message, "hint": self.hint}})
    }

    /// Returns the failure with this hint.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Creates a failure that prints nothing. Use it if the output already contains the reason, or if the
    /// reader of the output has closed the pipe.
    pub fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    /// Creates the failure "could not WHAT: PATH: REASON".
    pub fn file(what: &str, path: &Path, reason: impl Display) -> Self {
        let path = path.display();
        Self::new(Exit::Failed, format!("could not {what}: {path}: {reason}"))
    }

    /// Creates the failure for a file that the user named and that could not be read. The hint depends on the error.
    pub fn input(what: &str, path: &Path, error: &io::Error) -> Self {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => {
                "give the path of an existing file; relative paths start at the current folder"
            }
            io::ErrorKind::IsADirectory => "this is a folder: give the path of a file in it",
            io::ErrorKind::PermissionDenied => "get permission to read this path, then try again",
            _ => "",
        };
        Self::file(what, path, error).hint(hint)
    }
}

impl From<io::Error> for Failure {
    /// Converts an error of standard input or output. For errors of files, use [`Failure::file`].
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The reader has closed the pipe, so it needs no more output. This is not a failure.
            io::ErrorKind::BrokenPipe => Failure::silent(Exit::Done),
            _ => Failure::new(Exit::Failed, format!("could not write the output: {error}")),
        }
    }
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        let exit = match error.data.kind {
            // The request is valid, but the file named in the request is damaged.
            ErrorKind::BadRequest if error.code == RpcError::UNUSABLE_FILE => Exit::Failed,
            ErrorKind::BadRequest => Exit::Usage,
            ErrorKind::NoWorkspace | ErrorKind::NotFound | ErrorKind::Stale => Exit::NotFound,
            ErrorKind::Conflict
            | ErrorKind::TooLarge
            | ErrorKind::Budget
            | ErrorKind::ReadOnly
            | ErrorKind::TooManyOpenFiles => Exit::Refused,
            ErrorKind::UnsupportedProtocol
            | ErrorKind::Warming
            | ErrorKind::Degraded
            | ErrorKind::Internal => Exit::Failed,
        };
        Failure {
            exit,
            kind: Some(error.data.kind),
            message: error.message,
            hint: error.data.hint,
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused(error) => error.into(),
            ClientError::Connect { .. } => Failure::new(Exit::NoDaemon, error.to_string())
                .hint("start the daemon: hippoctl service start"),
            ClientError::Closed | ClientError::Unread(_) => Failure::new(Exit::Failed, error.to_string())
                .hint("to see the log of the daemon: hippoctl service logs"),
            ClientError::Malformed(_) => Failure::new(Exit::Failed, error.to_string()).hint(
                "install the same version of hippoctl and hippod, then stop the running daemon: hippoctl \
                 service stop",
            ),
            ClientError::Io(_) | ClientError::Timeout(_) => Failure::new(Exit::Failed, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refusal_has_its_exit_code() {
        let cases = [
            (ErrorKind::BadRequest, Exit::Usage),
            (ErrorKind::UnsupportedProtocol, Exit::Failed),
            (ErrorKind::NoWorkspace, Exit::NotFound),
            (ErrorKind::NotFound, Exit::NotFound),
            (ErrorKind::Stale, Exit::NotFound),
            (ErrorKind::Conflict, Exit::Refused),
            (ErrorKind::TooLarge, Exit::Refused),
            (ErrorKind::Budget, Exit::Refused),
            (ErrorKind::Warming, Exit::Failed),
            (ErrorKind::Degraded, Exit::Failed),
            (ErrorKind::ReadOnly, Exit::Refused),
            (ErrorKind::Internal, Exit::Failed),
        ];
        for (kind, exit) in cases {
            let failure = Failure::from(RpcError::new(kind, "m").hint("h"));
            let expected = Failure {
                kind: Some(kind),
                ..Failure::new(exit, "m").hint("h")
            };
            assert_eq!(failure, expected, "{kind:?}");
        }
        let damaged = Failure::from(RpcError::unusable_file("m"));
        assert_eq!(damaged.exit, Exit::Failed);
    }

    #[test]
    fn a_failure_in_json_has_kind_message_and_hint() {
        let refused = Failure::from(RpcError::new(ErrorKind::NoWorkspace, "m").hint("h"));
        let expected = serde_json::json!({"error": {"kind": "no-workspace", "message": "m", "hint": "h"}});
        assert_eq!(refused.to_json(), expected);
        let own = Failure::new(Exit::NoDaemon, "m").to_json();
        assert_eq!(own["error"]["kind"], "no-daemon");
    }

    #[test]
    fn an_unreadable_file_is_reported_with_a_hint() {
        let hint = |kind| {
            let failure = Failure::input("read the text", Path::new("a.md"), &io::Error::from(kind));
            assert!(
                failure.message.starts_with("could not read the text: a.md: "),
                "{failure:?}"
            );
            failure.hint
        };
        assert!(hint(io::ErrorKind::NotFound).contains("existing"));
        assert!(hint(io::ErrorKind::IsADirectory).contains("folder"));
        assert!(hint(io::ErrorKind::PermissionDenied).contains("permission"));
        assert_eq!(hint(io::ErrorKind::TimedOut), "");
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(failure, Failure::silent(Exit::Done));
    }
}
