//! Reader and writer of HTTP/1.1 messages, for the requests of one page.
//!
//! The reader accepts less than HTTP allows: no transfer encodings, no repeated headers that matter, small messages.

use std::io::{self, Read, Write};

/// Maximum size of the request line and the headers in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// Maximum number of headers.
const MAX_HEADERS: usize = 64;
/// Maximum size of a body in bytes.
const MAX_BODY: usize = 64 * 1024;

/// Headers that every response contains. The policy allows only files of this server: no inline script or style, no
/// frame, no form.
const HEADERS: &str = "\
Cache-Control: no-store\r\n\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n\
Referrer-Policy: no-referrer\r\n\
X-Content-Type-Options: nosniff\r\n\
X-Frame-Options: DENY\r\n";

/// A request.
#[derive(Debug, Default, PartialEq)]
pub struct HttpRequest {
    /// The method, for example `POST`.
    pub method: String,
    /// The path without the query.
    pub path: String,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the value of a header. `name` is in lower case. Returns `None` if the header is repeated.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value)
    }

    /// Returns whether the request has a header, once or repeated.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// Reads the next request of a connection; `None` at its end. `kept` contains the bytes that were read already.
    ///
    /// # Errors
    /// Fails if reading fails, or with `InvalidData` for a request that the reader does not accept.
    pub fn read(stream: &mut impl Read, kept: &mut Vec<u8>) -> io::Result<Option<Self>> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        let (mut request, head) = loop {
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut parsed = httparse::Request::new(&mut headers);
            let status = parsed.parse(kept).map_err(|_| invalid("not an HTTP request"))?;
            if let httparse::Status::Complete(head) = status {
                let target = parsed.path.unwrap_or_default();
                let text = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
                let headers = parsed.headers.iter();
                break (
                    Self {
                        method: parsed.method.unwrap_or_default().to_owned(),
                        path: target.split('?').next().unwrap_or_default().to_owned(),
                        headers: headers
                            .map(|header| (header.name.to_ascii_lowercase(), text(header.value)))
                            .collect(),
                        body: Vec::new(),
                    },
                    head,
                );
            }
            if kept.len() > MAX_HEAD {
                return Err(invalid("the headers are too large"));
            }
            if fill(stream, kept)? == 0 {
                return Ok(None);
            }
        };
        kept.drain(..head);
        if request.has_header("transfer-encoding") {
            return Err(invalid("transfer encodings are not supported"));
        }
        let length = match request.has_header("content-length") {
            false => 0,
            true => {
                let length = request
                    .header("content-length")
                    .and_then(|length| length.parse().ok());
                length
                    .filter(|length| *length <= MAX_BODY)
                    .ok_or_else(|| invalid("the body is too large"))?
            }
        };
        while kept.len() < length {
            if fill(stream, kept)? == 0 {
                return Ok(None);
            }
        }
        request.body = kept.drain(..length).collect();
        Ok(Some(request))
    }
}

fn fill(stream: &mut impl Read, kept: &mut Vec<u8>) -> io::Result<usize> {
    let mut chunk = [0; 8 * 1024];
    let count = stream.read(&mut chunk)?;
    kept.extend_from_slice(&chunk[..count]);
    Ok(count)
}

/// A response.
#[derive(Debug, PartialEq)]
pub struct HttpResponse {
    /// The status with its phrase.
    pub status: &'static str,
    /// The media type of the body.
    pub media: &'static str,
    /// A cookie to set.
    pub cookie: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Creates a response with JSON.
    pub fn json(status: &'static str, value: &serde_json::Value) -> Self {
        Self {
            status,
            media: "application/json",
            cookie: None,
            body: value.to_string().into_bytes(),
        }
    }

    /// Creates the answer to a request of the page, without a copy of a large result.
    pub fn result(result: &serde_json::Value) -> Self {
        Self {
            body: format!("{{\"result\":{result}}}").into_bytes(),
            ..Self::json("200 OK", &serde_json::Value::Null)
        }
    }

    /// Creates the refusal of a request.
    pub fn refusal(status: &'static str, message: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": {"message": message}}))
    }

    /// Writes the response.
    ///
    /// # Errors
    /// Fails if the client no longer reads.
    pub fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let cookie = self
            .cookie
            .as_ref()
            .map(|cookie| format!("Set-Cookie: {cookie}\r\n"));
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n{}{HEADERS}\r\n",
            self.status,
            self.media,
            self.body.len(),
            cookie.unwrap_or_default()
        );
        // One write, so that a response is one packet if it is small.
        stream.write_all(&[head.as_bytes(), &self.body].concat())
    }
}

/// Writes the head of a stream of events, which has no length and ends with the connection.
///
/// # Errors
/// Fails if the client no longer reads.
pub fn write_event_head(stream: &mut impl Write) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    stream.write_all(format!("{head}{HEADERS}\r\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<HttpRequest>> {
        HttpRequest::read(&mut text.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn requests_of_a_connection_are_read_one_after_the_other() {
        let text =
            "POST /api?x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\nHost: b\r\n\r\n";
        let (mut stream, mut kept) = (text.as_bytes(), Vec::new());
        let first = HttpRequest::read(&mut stream, &mut kept).unwrap().unwrap();
        assert_eq!(
            (first.method.as_str(), first.path.as_str(), &first.body[..]),
            ("POST", "/api", &b"{}"[..])
        );
        assert_eq!(first.header("host"), Some("a"));
        let second = HttpRequest::read(&mut stream, &mut kept).unwrap().unwrap();
        assert_eq!((second.path.as_str(), second.header("host")), ("/", Some("b")));
        assert_eq!(HttpRequest::read(&mut stream, &mut kept).unwrap(), None);
    }

    #[test]
    fn ambiguous_and_large_requests_are_refused() {
        let large = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(MAX_HEAD));
        for text in [
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "\u{1}\r\n\r\n",
            &large,
        ] {
            assert!(read(text).is_err(), "{text:.60}");
        }
        let twice = read("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!(twice.header("host"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_request_or_an_error(bytes: Vec<u8>, head in "(GET|POST) /[a-z]{0,3} HTTP/1.1\r\n") {
            // The result does not matter: the reader must not panic, and must end.
            let _ = HttpRequest::read(&mut bytes.as_slice(), &mut Vec::new());
            let _ = HttpRequest::read(&mut [head.as_bytes(), &bytes].concat().as_slice(), &mut Vec::new());
        }
    }
}
