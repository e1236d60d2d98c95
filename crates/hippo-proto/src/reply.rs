//! Encoding of answers, errors and notifications.

use serde::Serialize;
use serde_json::Value;

use crate::error::RpcError;
use crate::id::Id;

/// An answer with an untyped result.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Id of the request.
    pub id: Id,
    /// The `result` or the `error` member.
    pub outcome: Result<Value, RpcError>,
}

impl Reply {
    /// Creates an error reply.
    pub fn refuse(id: Id, error: RpcError) -> Self {
        Self {
            id,
            outcome: Err(error),
        }
    }

    /// Encodes the reply as one line with a line feed.
    pub fn to_line(&self) -> Vec<u8> {
        match &self.outcome {
            Ok(result) => encode_result(&self.id, result),
            Err(error) => encode_error(&self.id, error),
        }
    }
}

/// Encodes a result as one line with a line feed. The fields keep the order of the struct.
///
/// A result that cannot be serialised becomes an `internal` error; this does not happen for the types of this crate.
pub fn encode_result<T: Serialize>(id: &Id, result: &T) -> Vec<u8> {
    encode_answer(id, "result", result).unwrap_or_else(|error| {
        encode_error(
            id,
            &RpcError::internal(format!("could not write the answer: {error}")),
        )
    })
}

/// Encodes an error as one line with a line feed.
pub fn encode_error(id: &Id, error: &RpcError) -> Vec<u8> {
    encode_answer(id, "error", error).unwrap_or_default()
}

/// Encodes an answer member by member, because `serde_json` does not keep the original digits of a numeric id.
fn encode_answer<T: Serialize>(id: &Id, member: &str, value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    serde_json::to_writer(&mut line, id)?;
    line.extend(format!(",\"{member}\":").bytes());
    serde_json::to_writer(&mut line, value)?;
    line.extend(b"}\n");
    Ok(line)
}

/// Encodes a notification, which has no id and no answer, as one line with a line feed.
pub fn encode_notification<T: Serialize>(method: &str, params: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct NotificationLine<'a, T> {
        jsonrpc: &'static str,
        method: &'a str,
        params: &'a T,
    }
    encode_line(&NotificationLine {
        jsonrpc: "2.0",
        method,
        params,
    })
    .unwrap_or_default()
}

pub(crate) fn encode_line<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn answers_errors_and_notifications_are_encoded_as_lines() {
        #[derive(Serialize)]
        struct Answer {
            z: u32,
            a: u32,
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(
            text(encode_result(&Id::from(7), &Answer { z: 1, a: 2 })),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"z\":1,\"a\":2}}\n"
        );
        assert_eq!(
            text(encode_error(
                &Id::Null,
                &RpcError::new(ErrorKind::Warming, "the index is being built")
            )),
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32008,\"message\":\"the index is being built\",\"data\":{\"kind\":\"warming\",\"hint\":\"\",\"retryable\":true}}}\n"
        );
        assert_eq!(
            text(encode_notification("event", &Answer { z: 1, a: 2 })),
            "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"z\":1,\"a\":2}}\n"
        );
    }

    #[test]
    fn ids_are_returned_unchanged() {
        for id in ["1", "-3", "1.5", "18446744073709551615", "\"a\\nb\"", "null"] {
            let parsed: Id = serde_json::from_str(id).unwrap();
            assert_eq!(serde_json::to_string(&parsed).unwrap(), id);
        }
    }
}
