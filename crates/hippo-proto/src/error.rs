//! How does a refusal look on the wire?

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Why a request was refused, in one word that scripts can match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The request itself is wrong: malformed, unknown method or field, value out of range.
    BadRequest,
    /// `hello` asked for a protocol that this daemon does not speak.
    UnsupportedProtocol,
    /// The folder is not (below) a registered workspace.
    NoWorkspace,
    /// The path, section or id does not exist.
    NotFound,
    /// The pointer no longer fits the text on disk.
    Stale,
    /// Another change came first, or the same job already runs.
    Conflict,
    /// The line, file or result is larger than allowed.
    TooLarge,
    /// The budget does not allow it.
    Budget,
    /// Not ready yet; the same request will succeed later.
    Warming,
    /// A part that this request needs is missing (no model, no vectors).
    Degraded,
    /// The place may not be written.
    ReadOnly,
    /// The daemon may open no more files just now.
    TooManyOpenFiles,
    /// A fault of the daemon. Kinds that this version does not know are read as this one.
    #[serde(other)]
    Internal,
}

impl ErrorKind {
    /// The JSON-RPC code sent with this kind, where no code of JSON-RPC itself fits better.
    pub fn code(self) -> i32 {
        match self {
            ErrorKind::BadRequest => -32602,
            ErrorKind::UnsupportedProtocol => -32001,
            ErrorKind::NoWorkspace => -32002,
            ErrorKind::NotFound => -32003,
            ErrorKind::Stale => -32004,
            ErrorKind::Conflict => -32005,
            ErrorKind::TooLarge => -32006,
            ErrorKind::Budget => -32007,
            ErrorKind::Warming => -32008,
            ErrorKind::Degraded => -32009,
            ErrorKind::ReadOnly => -32010,
            ErrorKind::TooManyOpenFiles => -32012,
            ErrorKind::Internal => -32603,
        }
    }

    /// Whether the same request may succeed later without any change by the caller.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            ErrorKind::Stale | ErrorKind::Conflict | ErrorKind::Warming | ErrorKind::TooManyOpenFiles
        )
    }
}

/// The `error` member of a JSON-RPC answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC code: -32700 to -32600 as the specification says, -32010 to -32001 and -32012 for the kinds of
    /// hippod, -32011 for a file that cannot be used.
    pub code: i32,
    /// What went wrong: lower-case, one sentence, no final stop.
    pub message: String,
    /// What scripts and people do with it.
    pub data: ErrorData,
}

/// The `data` member of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorData {
    /// Why, in one word.
    pub kind: ErrorKind,
    /// What to do about it; may be empty.
    #[serde(default)]
    pub hint: Cow<'static, str>,
    /// Whether the same request may succeed later.
    #[serde(default)]
    pub retryable: bool,
}

impl RpcError {
    /// An error of this kind with the kind's own code and retryability, and no hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let data = ErrorData {
            kind,
            hint: Cow::Borrowed(""),
            retryable: kind.retryable(),
        };
        Self {
            code: kind.code(),
            message: message.into(),
            data,
        }
    }

    /// The same with what to do about it.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.data.hint = hint.into();
        self
    }

    /// The same under another JSON-RPC code.
    pub fn with_code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// A bad request (code -32602).
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// The code of [`RpcError::unusable_file`].
    pub const UNUSABLE_FILE: i32 = -32011;

    /// A bad request of which every parameter is well: what a file says that it names cannot be used.
    pub fn unusable_file(message: impl Into<String>) -> Self {
        Self::bad_request(message).with_code(Self::UNUSABLE_FILE)
    }

    /// Something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// A fault of the daemon.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The answer to a line above the limit of `limit` bytes.
    pub fn line_too_large(limit: usize) -> Self {
        Self::new(
            ErrorKind::TooLarge,
            format!("the line is longer than {limit} bytes"),
        )
        .hint("send a smaller request")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_on_the_wire() {
        let error = RpcError::new(ErrorKind::NoWorkspace, "no workspace at or above /tmp/x")
            .hint("register it: hippoctl workspace add /tmp/x");
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":-32002,"message":"no workspace at or above /tmp/x","data":{"kind":"no-workspace","hint":"register it: hippoctl workspace add /tmp/x","retryable":false}}"#
        );
    }

    #[test]
    fn kinds_have_distinct_codes_and_unknown_ones_read_as_internal() {
        let kinds = [
            ("bad-request", ErrorKind::BadRequest),
            ("unsupported-protocol", ErrorKind::UnsupportedProtocol),
            ("no-workspace", ErrorKind::NoWorkspace),
            ("not-found", ErrorKind::NotFound),
            ("stale", ErrorKind::Stale),
            ("conflict", ErrorKind::Conflict),
            ("too-large", ErrorKind::TooLarge),
            ("budget", ErrorKind::Budget),
            ("warming", ErrorKind::Warming),
            ("degraded", ErrorKind::Degraded),
            ("read-only", ErrorKind::ReadOnly),
            ("too-many-open-files", ErrorKind::TooManyOpenFiles),
            ("internal", ErrorKind::Internal),
        ];
        let mut codes: Vec<i32> = kinds.iter().map(|(_, kind)| kind.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), kinds.len());
        for (name, kind) in kinds {
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
            assert_eq!(serde_json::from_value::<ErrorKind>(name.into()).unwrap(), kind);
        }
        assert_eq!(
            serde_json::from_str::<ErrorKind>(r#""of-tomorrow""#).unwrap(),
            ErrorKind::Internal
        );
    }
}
