//! Transport of MCP messages: one JSON value per line.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Maximum length of a message in bytes.
const LONGEST: usize = 16 << 20;
/// Error code of JSON-RPC for a message that is not JSON.
const PARSE_ERROR: i32 = -32700;
/// Error code of JSON-RPC for a message that is JSON, but no request.
const INVALID_REQUEST: i32 = -32600;

/// The transport. Unlike the transport of rmcp, it also answers messages that are not JSON.
pub struct LineTransport<R, W> {
    input: BufReader<R>,
    /// The beginning of the message that is being read. `receive` can be cancelled in the middle of a message.
    line: Vec<u8>,
    /// True while the rest of a message that is too long is skipped.
    is_skipping: bool,
    output: Arc<Mutex<W>>,
    /// The answer to an invalid message, while it is being written.
    reply: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    /// Creates a transport.
    pub fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_skipping: false,
            output: Arc::new(Mutex::new(output)),
            reply: None,
        }
    }

    /// Reads a line into `line`. Returns false at the end of the input, if no line precedes the end.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let part = self.input.fill_buf().await?;
            let end = part.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(part.len(), |end| end + 1);
            if !self.is_skipping {
                self.line.extend_from_slice(&part[..length]);
            }
            let is_closed = part.is_empty();
            self.input.consume(length);
            if end.is_some() || is_closed && !self.line.is_empty() {
                self.is_skipping = false;
                return Ok(true);
            }
            if is_closed {
                return Ok(false);
            }
            // The first bytes stay in `line`, and are not JSON.
            if self.line.len() > LONGEST {
                self.is_skipping = true;
                self.line.truncate(1);
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(output, serde_json::to_vec(&item)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(reply) = &mut self.reply {
                reply.await.ok()?;
                self.reply = None;
            }
            if !self.read_line().await.ok()? {
                return None;
            }
            match parse(&std::mem::take(&mut self.line)) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => {
                    let line = refusal.to_string().into_bytes();
                    self.reply = Some(Box::pin(write(Arc::clone(&self.output), line)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

async fn write<W: AsyncWrite + Unpin>(output: Arc<Mutex<W>>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// Parses a line. Returns `None` for an empty line, and for an unknown notification, which has no answer. Otherwise
/// returns the answer to an invalid message as the error.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Value> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let refusal = |id: &Value, code: i32, message: String| {
        let error = json!({"code": code, "message": message});
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    };
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        refusal(
            &Value::Null,
            PARSE_ERROR,
            format!("the message is not JSON: {error}"),
        )
    })?;
    match serde_json::from_slice(line) {
        Ok(message) => Ok(Some(message)),
        Err(_) if value["method"].is_string() && value.get("id").is_none() => Ok(None),
        Err(_) => {
            let id = Some(&value["id"]).filter(|id| id.is_string() || id.is_number());
            let what = "the message is not a request of JSON-RPC 2.0".to_owned();
            Err(refusal(id.unwrap_or(&Value::Null), INVALID_REQUEST, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_invalid_line_has_an_answer_and_the_next_request_is_received() {
        let ping = "{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\"}";
        let long = format!("\"{}\"", "x".repeat(LONGEST + (1 << 16)));
        let lines = [
            "no JSON",
            "",
            "{\"id\": 3",
            &long,
            "[]",
            "{\"id\": 5, \"method\": 1}",
            ping,
            "at the end",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (ours, theirs) = tokio::io::duplex(4096);
        let answers: Vec<Value> = runtime.block_on(async move {
            let mut transport = LineTransport::new(io::Cursor::new(lines.join("\n")), ours);
            let request = transport.receive().await.unwrap();
            assert!(serde_json::to_string(&request).unwrap().contains("ping"));
            assert!(transport.receive().await.is_none());
            transport.close().await.unwrap();
            drop(transport);
            let mut text = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut BufReader::new(theirs), &mut text)
                .await
                .unwrap();
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        });
        let codes: Vec<_> = answers
            .iter()
            .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap()))
            .collect();
        let null = Value::Null;
        let expected = [
            (null.clone(), -32700),
            (null.clone(), -32700),
            (null.clone(), -32700),
            (null.clone(), -32600),
            (json!(5), -32600),
            (null, -32700),
        ];
        assert_eq!(codes, expected);
        assert!(
            answers
                .iter()
                .all(|answer| answer.as_object().unwrap().contains_key("id"))
        );
    }
}
