//! Errors of the protocol.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of an error, as one word for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The request is invalid: it is malformed, its method or a field is unknown, or a value is out of range.
    BadRequest = -32602,
    /// `hello` requested a protocol version that this daemon does not support.
    UnsupportedProtocol = -32001,
    /// The folder is not in a registered workspace.
    NoWorkspace = -32002,
    /// The path, section or id does not exist.
    NotFound = -32003,
    /// The text on disk no longer matches the pointer.
    Stale = -32004,
    /// Another change came first, the same job is already running, or the target already exists or is closed.
    Conflict = -32005,
    /// The line, file or result is larger than allowed.
    TooLarge = -32006,
    /// A budget, such as that of stored contents, is used up.
    Budget = -32007,
    /// A workspace or the index is not ready yet. The same request may succeed later.
    Warming = -32008,
    /// A required part, such as the model or the vectors, is missing, damaged or switched off.
    Degraded = -32009,
    /// The target is not writable, or hippod may not read it.
    ReadOnly = -32010,
    /// The daemon has too many open files.
    TooManyOpenFiles = -32012,
    /// An internal error of the daemon. A client also uses this kind for each kind that it does not know.
    #[serde(other)]
    Internal = -32603,
}

impl ErrorKind {
    /// Returns the JSON-RPC code for this kind.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// Returns whether the same request may succeed later without a change by the caller.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            ErrorKind::Stale | ErrorKind::Conflict | ErrorKind::Warming | ErrorKind::TooManyOpenFiles
        )
    }
}

/// The `error` member of a JSON-RPC answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[error("{message}")]
pub struct RpcError {
    /// JSON-RPC code: -32700 to -32600 as in the specification, -32010 to -32001 and -32012 for the kinds of hippod, -32011 for an
    /// unusable file.
    pub code: i32,
    /// The problem: lower case, one sentence, without a final period.
    pub message: String,
    /// Details for scripts and users.
    pub data: ErrorData,
}

/// The `data` member of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorData {
    /// The kind, in one word.
    pub kind: ErrorKind,
    /// The fix for the error, as text; may be empty.
    #[serde(default)]
    pub hint: Cow<'static, str>,
    /// True if the same request may succeed later.
    #[serde(default)]
    pub retryable: bool,
}

impl RpcError {
    /// Creates an error with the code and retryability of its kind, and without a hint.
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

    /// Sets the hint.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.data.hint = hint.into();
        self
    }

    /// Replaces the JSON-RPC code.
    pub fn with_code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// Creates a bad request error (code -32602).
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// The code of [`RpcError::unusable_file`].
    pub const UNUSABLE_FILE: i32 = -32011;

    /// Creates a bad request error for valid parameters that name an unusable file.
    pub fn unusable_file(message: impl Into<String>) -> Self {
        Self::bad_request(message).with_code(Self::UNUSABLE_FILE)
    }

    /// Creates an error of the kind `not-found`.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Creates an internal error.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Creates the error for a line that exceeds the limit of `limit` bytes.
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
    fn an_error_has_its_wire_format() {
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
