//! `context.*`: sparse context of a running session.

mod fetch;
mod put;
mod render;
mod session;

use crate::error::RpcError;
use crate::types::refuse_empty;

pub use fetch::{ContextFetchRequest, ContextFetchResponse, ContextTouchRequest, ContextTouchResponse};
pub use put::{
    ContextPutLifecycle, ContextPutModifiers, ContextPutOutcome, ContextPutRequest, ContextPutResponse,
    ContextPutSource, MAX_CONTENT_BYTES,
};
pub use render::{ContextRenderRequest, ContextRenderResponse};
pub use session::{
    ContextCloseRequest, ContextCloseResponse, ContextListRequest, ContextListResponse, ContextListed,
    ContextMove, ContextOpenRequest, ContextOpenResponse, ContextPersisted, ContextSession,
    ContextTurnRequest, ContextTurnResponse,
};

/// Maximum number of characters in a session id.
pub const MAX_SESSION_CHARS: usize = 128;

/// Refuses an invalid session id: 1 to [`MAX_SESSION_CHARS`] letters, digits and `._:-` are allowed.
fn check_session_id(id: &str) -> Result<(), RpcError> {
    refuse_empty("session", Some(id))?;
    let fits = |mark: u8| mark.is_ascii_alphanumeric() || b"._:-".contains(&mark);
    if id.len() <= MAX_SESSION_CHARS && id.bytes().all(fits) {
        return Ok(());
    }
    Err(
        RpcError::bad_request("the field \"session\" is not a valid session id").hint(format!(
            "a session id has 1 to {MAX_SESSION_CHARS} characters; valid characters: A-Z a-z 0-9 . _ : -"
        )),
    )
}

/// Refuses an invalid session id as [`check_session_id`] does; the id may be absent.
fn check_optional_session_id(id: Option<&str>) -> Result<(), RpcError> {
    id.map_or(Ok(()), check_session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_validated() {
        for good in ["s", "s0123456789abcdef", "claude:7f.A_b-1", &"x".repeat(128)] {
            assert_eq!(check_session_id(good), Ok(()), "{good}");
        }
        for bad in ["", " ", "a b", "a/b", "é", "a\n", &"x".repeat(129)] {
            assert!(check_session_id(bad).is_err(), "{bad}");
        }
        assert_eq!(check_optional_session_id(None), Ok(()));
    }
}
