//! Errors for requests that the library could not parse.

use hippo_proto::{nearest, shorten};
use rmcp::model::{ErrorCode, ErrorData};

/// The supported requests with their parameters.
const KNOWN: [(&str, &str); 9] = [
    ("initialize", "protocolVersion, capabilities and clientInfo"),
    ("ping", "nothing"),
    (
        "prompts/get",
        "the name of a prompt, and its arguments as an object",
    ),
    ("prompts/list", "at most a cursor"),
    ("resources/list", "at most a cursor"),
    ("resources/read", "the uri of a resource"),
    ("server/discover", "nothing"),
    ("tools/call", "the name of a tool, and its arguments as an object"),
    ("tools/list", "at most a cursor"),
];

/// Returns the error: for a known method, its parameters are wrong; otherwise, the method is unknown.
pub fn refusal(method: &str) -> ErrorData {
    if let Some((_, wanted)) = KNOWN.iter().find(|(known, _)| *known == method) {
        return ErrorData::invalid_params(
            format!("invalid parameters of {method}: the method takes {wanted}"),
            None,
        );
    }
    let names = KNOWN.map(|(known, _)| known);
    let hint = match nearest(method, names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the methods are {}", names.join(", ")),
    };
    let what = format!("unknown method \"{}\"; {hint}", shorten(method));
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}
