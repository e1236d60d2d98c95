//! Parsing of request lines, and error replies for invalid lines.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::error::RpcError;
use crate::id::Id;
use crate::methods::{METHODS, Request, shorten};
use crate::reply::Reply;
use crate::suggest::nearest;
use hippo_types::scope::{AgentId, Viewer};

/// A parsed request with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The id for the answer.
    pub id: Id,
    /// The agent that asks, if the request names one.
    pub viewer: Viewer,
    /// The method and its parameters.
    pub request: Request,
}

const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// Parses one line. Never panics.
///
/// # Errors
/// Returns the reply to send, with the id of the line if it could be parsed. The code is -32700 for invalid JSON,
/// -32600 for an invalid request, including a batch and a notification, -32601 for an unknown method, and -32602 for an
/// unknown field, a wrong type or a value out of range.
pub fn parse_request(line: &[u8]) -> Result<Call, Reply> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let error = RpcError::bad_request(format!("the line is not JSON: {error}")).with_code(-32700);
        Reply::refuse(Id::Null, error.hint("send one JSON object per line, in UTF-8"))
    })?;
    let object = match value {
        Value::Object(object) => object,
        Value::Array(_) => {
            let error =
                invalid_request("batches are not supported").hint("send each request on a separate line");
            return Err(Reply::refuse(Id::Null, error));
        }
        _ => {
            return Err(Reply::refuse(
                Id::Null,
                invalid_request("a request is a JSON object"),
            ));
        }
    };
    let Some(given) = object.get("id") else {
        let error = invalid_request("the request has no id")
            .hint("give each request an id, because the daemon answers every request");
        return Err(Reply::refuse(Id::Null, error));
    };
    let Ok(id) = Id::deserialize(given) else {
        let error = invalid_request("the id must be a number, a string or null");
        return Err(Reply::refuse(Id::Null, error));
    };
    match parse_members(object) {
        Ok((viewer, request)) => Ok(Call { id, viewer, request }),
        Err(error) => Err(Reply::refuse(id, error)),
    }
}

fn parse_members(mut object: Map<String, Value>) -> Result<(Viewer, Request), RpcError> {
    if let Some(unknown) = object.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
        return Err(
            invalid_request(format!("unknown member \"{}\" of the request", shorten(unknown))).hint(
                match nearest(unknown, MEMBERS) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "put parameters into \"params\"".to_owned(),
                },
            ),
        );
    }
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid_request("the member \"jsonrpc\" must be \"2.0\""));
    }
    let Some(Value::String(method)) = object.remove("method") else {
        return Err(invalid_request("the member \"method\" must be a string"));
    };
    let mut params = match object.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            return Err(
                RpcError::bad_request("\"params\" must be an object").hint("pass the parameters by name")
            );
        }
    };
    let viewer = take_viewer(&method, &mut params)?;
    let request = Request::decode(&method, params).unwrap_or_else(|| {
        let error =
            RpcError::bad_request(format!("unknown method \"{}\"", shorten(&method))).with_code(-32601);
        Err(error.hint(match nearest(&method, METHODS.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the methods are {}", METHODS.join(", ")),
        }))
    })?;
    request.validate()?;
    Ok((viewer, request))
}

/// Returns the parameter `agent`, which every method has, and removes it, unless the method stores its value. The value
/// of `context.open` may be a mere name: a session with such a name belongs to no agent.
fn take_viewer(method: &str, params: &mut Map<String, Value>) -> Result<Viewer, RpcError> {
    let agent = match method {
        "context.open" => {
            let agent = params.get("agent").and_then(Value::as_str);
            return Ok(Viewer(agent.and_then(|agent| agent.parse().ok())));
        }
        "session.flush" => params.get("agent").cloned(),
        _ => params.remove("agent"),
    };
    let agent = match agent {
        None | Some(Value::Null) => return Ok(Viewer(None)),
        Some(agent) => AgentId::deserialize(agent),
    };
    let agent = agent.map_err(|error| {
        RpcError::bad_request(format!(
            "invalid parameters of {}: field \"agent\": {error}",
            shorten(method)
        ))
        .hint("use the name of the agent's folder, such as scribe")
    })?;
    Ok(Viewer(Some(agent)))
}

fn invalid_request(message: impl Into<String>) -> RpcError {
    RpcError::bad_request(message).with_code(-32600)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    fn refusal(line: &str) -> (Id, i32, String, String) {
        let reply = parse_request(line.as_bytes()).unwrap_err();
        let error = reply.outcome.unwrap_err();
        (reply.id, error.code, error.message, error.data.hint.into_owned())
    }

    #[test]
    fn errors_state_the_problem_under_the_id_of_the_request() {
        let one = Id::from(1);
        let cases: &[(&str, &Id, i32, &str, &str)] = &[
            ("", &Id::Null, -32700, "not JSON", "one JSON object"),
            (
                "{\"jsonrpc\":\"2.0\",",
                &Id::Null,
                -32700,
                "not JSON",
                "one JSON object",
            ),
            ("[]", &Id::Null, -32600, "batches", "separate line"),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"status"}]"#,
                &Id::Null,
                -32600,
                "batches",
                "separate line",
            ),
            ("7", &Id::Null, -32600, "object", ""),
            (
                r#"{"jsonrpc":"2.0","method":"status"}"#,
                &Id::Null,
                -32600,
                "no id",
                "give each request an id",
            ),
            (
                r#"{"jsonrpc":"2.0","id":[1],"method":"status"}"#,
                &Id::Null,
                -32600,
                "number, a string or null",
                "",
            ),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"status"}"#,
                &one,
                -32600,
                "2.0",
                "",
            ),
            (r#"{"id":1,"method":"status"}"#, &one, -32600, "jsonrpc", ""),
            (r#"{"jsonrpc":"2.0","id":1}"#, &one, -32600, "method", ""),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"status","param":{}}"#,
                &one,
                -32600,
                "\"param\"",
                "\"params\"",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"status","query":1}"#,
                &one,
                -32600,
                "\"query\"",
                "into \"params\"",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"serach"}"#,
                &one,
                -32601,
                "\"serach\"",
                "\"search\"",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"zzz","params":{}}"#,
                &one,
                -32601,
                "\"zzz\"",
                "the methods are",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"status","params":[]}"#,
                &one,
                -32602,
                "object",
                "by name",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":1}}"#,
                &one,
                -32602,
                "\"x\"",
                "no parameters",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"workspace":"/w","query":"q","limt":3}}"#,
                &one,
                -32602,
                "unknown field \"limt\" of search",
                "did you mean \"limit\"?",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"workspace":"/w","query":"q","limit":"3"}}"#,
                &one,
                -32602,
                "field \"limit\": invalid type",
                "protocol.md",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"workspace":"/w"}}"#,
                &one,
                -32602,
                "missing field `query`",
                "protocol.md",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"workspace":"/w","query":"q","mode":"fuzzy"}}"#,
                &one,
                -32602,
                "unknown variant `fuzzy`",
                "protocol.md",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"search","params":{"workspace":"/w","query":"q","mode":"hybird"}}"#,
                &one,
                -32602,
                "unknown variant `hybird`",
                "did you mean \"hybrid\"?",
            ),
        ];
        for (line, id, code, message, hint) in cases {
            let found = refusal(line);
            assert_eq!((&found.0, found.1), (*id, *code), "{line}: {found:?}");
            assert!(found.2.contains(message), "{line}: {found:?}");
            assert!(found.3.contains(hint), "{line}: {found:?}");
        }
    }

    #[test]
    fn every_refusal_here_is_a_bad_request() {
        for line in ["", "[]", "{}", r#"{"jsonrpc":"2.0","id":"a","method":"x"}"#] {
            let error = parse_request(line.as_bytes()).unwrap_err().outcome.unwrap_err();
            assert_eq!(error.data.kind, ErrorKind::BadRequest);
            assert!(!error.data.retryable);
        }
    }

    #[test]
    fn long_names_are_truncated_in_errors() {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(100_000));
        assert!(refusal(&line).2.len() < 200);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"status","params":{}"#,
            "[".repeat(100_000)
        );
        assert_eq!(refusal(&line).1, -32700);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            // More cases can be requested with the variable PROPTEST_CASES.
            cases: ProptestConfig::default().cases.max(2_000),
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_bytes_give_a_call_or_a_reply(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Err(reply) = parse_request(&bytes) {
                prop_assert!(reply.outcome.is_err());
                let ended = reply.to_line().ends_with(b"}\n");
                prop_assert!(ended);
            }
        }

        #[test]
        fn any_json_like_text_gives_a_call_or_a_reply(
            method in prop_oneof![proptest::sample::select(METHODS).prop_map(str::to_owned), ".{0,12}"],
            key in prop_oneof![Just("workspace".to_owned()), Just("query".to_owned()), Just("path".to_owned()), ".{0,8}"],
            value in prop_oneof![
                any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from),
                ".{0,20}".prop_map(Value::from), Just(Value::Null), Just(serde_json::json!([{}]))
            ],
            cut in 0usize..400,
        ) {
            let mut params = Map::new();
            params.insert(key, value);
            let line = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            let bytes = &line.as_bytes()[..line.len().min(cut)];
            match parse_request(bytes) {
                Ok(call) => prop_assert_eq!(call.request.method(), method),
                Err(reply) => prop_assert!(reply.outcome.is_err()),
            }
        }
    }
}
