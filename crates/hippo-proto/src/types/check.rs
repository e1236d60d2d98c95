//! Checks of parameters.

use serde_json::{Map, Value};

use crate::error::{ErrorKind, RpcError};

/// Names of the fields that contain a path.
const PATHS: [&str; 5] = ["workspace", "path", "from", "to", "into"];
/// Names of the text fields that may be empty.
const MAY_BE_EMPTY: [&str; 6] = [
    "client",
    "content",
    "passage_prefix",
    "query_prefix",
    "summary",
    "text",
];
/// Maximum number of characters in a session id.
const MAX_SESSION_CHARS: usize = 128;

/// Checks the fields that have the same meaning in all methods.
pub(crate) fn check_fields(method: &str, params: &Map<String, Value>) -> Result<(), RpcError> {
    let texts = params
        .iter()
        .filter_map(|(field, value)| Some((field.as_str(), value.as_str()?)));
    for (field, text) in texts {
        if PATHS.contains(&field) && text.contains('\0') {
            let what = format!("the field \"{field}\" contains a NUL character");
            return Err(RpcError::bad_request(what).hint("remove the NUL character from the path"));
        }
        if !MAY_BE_EMPTY.contains(&field) {
            refuse_empty(field, text)?;
        }
        if field == "session" && method.starts_with("context.") {
            check_session_id(text)?;
        }
    }
    Ok(())
}

/// Returns an error for an invalid session id: 1 to [`MAX_SESSION_CHARS`] letters, digits and `._:-` are allowed.
fn check_session_id(id: &str) -> Result<(), RpcError> {
    let fits = |mark: u8| mark.is_ascii_alphanumeric() || b"._:-".contains(&mark);
    if (1..=MAX_SESSION_CHARS).contains(&id.len()) && id.bytes().all(fits) {
        return Ok(());
    }
    Err(
        RpcError::bad_request("the field \"session\" is not a valid session id").hint(format!(
            "a session id has 1 to {MAX_SESSION_CHARS} characters; valid characters: A-Z a-z 0-9 . _ : -"
        )),
    )
}

/// Returns an error for a text that is empty or consists only of whitespace.
pub(super) fn refuse_empty(field: &str, value: &str) -> Result<(), RpcError> {
    match value.trim().is_empty() {
        true => Err(RpcError::bad_request(format!("the field \"{field}\" is empty"))
            .hint("give the field a value, or omit an optional field")),
        false => Ok(()),
    }
}

/// Returns an error for the number 0.
pub(super) fn refuse_zero<T: Into<u64>>(field: &str, value: Option<T>) -> Result<(), RpcError> {
    match value.map(Into::into) {
        Some(0) => Err(RpcError::bad_request(format!("the field \"{field}\" is 0")).hint("give 1 or more")),
        _ => Ok(()),
    }
}

/// Returns an error for a number outside of a range.
pub(super) fn refuse_outside<T>(field: &str, value: Option<T>, least: T, most: T) -> Result<(), RpcError>
where
    T: PartialOrd + std::fmt::Display,
{
    match value {
        Some(value) if value < least || value > most => {
            let what = format!("the {field} {value} is out of range");
            Err(RpcError::bad_request(what).hint(format!("give {least} to {most}")))
        }
        _ => Ok(()),
    }
}

/// Returns an error for a text of more than `most` bytes.
pub(super) fn refuse_larger(field: &str, length: usize, most: usize) -> Result<(), RpcError> {
    if length <= most {
        return Ok(());
    }
    let what = format!("the field \"{field}\" is longer than {most} bytes");
    Err(RpcError::new(ErrorKind::TooLarge, what)
        .hint("keep only the relevant part, and store the rest in a file of the workspace"))
}

/// Returns an error for a text of more than `most` characters.
pub(super) fn refuse_longer(field: &str, text: Option<&str>, most: usize) -> Result<(), RpcError> {
    match text.and_then(|text| text.chars().nth(most)) {
        Some(_) => {
            let what = format!("the field \"{field}\" is longer than {most} characters");
            Err(RpcError::bad_request(what).hint(
                "the field becomes part of prompts: put the full text into the content or a memory file",
            ))
        }
        None => Ok(()),
    }
}

/// Returns an error unless exactly one of two fields is given.
pub(super) fn require_one([one, other]: [&str; 2], given: [bool; 2]) -> Result<(), RpcError> {
    let what = match given {
        [true, true] => format!("both \"{one}\" and \"{other}\" are given"),
        [false, false] => format!("neither \"{one}\" nor \"{other}\" is given"),
        _ => return Ok(()),
    };
    Err(RpcError::bad_request(what).hint("give one"))
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
    }
}
