//! A client of `hippoctl mcp`: lines of JSON in both directions.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{PATIENCE, client_program};

/// A running `hippoctl mcp`. Dropping it kills the program.
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
}

impl Mcp {
    /// Starts the program in a folder. The program uses the daemon of `home`.
    pub fn start(home: &Path, cwd: &Path, words: &[&str]) -> Self {
        let mut child = Command::new(client_program())
            .arg("mcp")
            .args(words)
            .env("HIPPOD_HOME", home)
            .env_remove("HIPPOD_SOCKET")
            // This setting is for a daemon that the server starts.
            .env("HIPPOD_EMBED_MODEL", "hash")
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hippoctl runs");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                let message: Value = message.unwrap_or_else(|error| panic!("{error}: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "nothing but the protocol: {line}");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            next_id: 1,
        }
    }

    /// Starts the program and performs the handshake of the previous protocol revision.
    pub fn initialized(home: &Path, cwd: &Path, words: &[&str]) -> Self {
        let mut mcp = Self::start(home, cwd, words);
        mcp.initialize("2025-11-25");
        mcp
    }

    /// Performs the handshake and returns the server's answer.
    pub fn initialize(&mut self, revision: &str) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer["result"].clone()
    }

    /// Sends one line.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{line}").expect("hippoctl reads");
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Returns the next line.
    pub fn line(&mut self) -> Value {
        self.line_within(PATIENCE).expect("hippoctl answers")
    }

    /// Returns the next line, or `None` if the output is closed. Waits at most for the given time.
    pub fn line_within(&mut self, patience: Duration) -> Option<Value> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line came within {patience:?}"),
        }
    }

    /// Sends a request and returns the whole answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.line();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and returns its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool and returns its structured result. Asserts that the text of the result has the same content.
    pub fn gives(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let structured = result["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), structured);
        structured
    }

    /// Calls a tool that fails, and returns the error text that the agent receives.
    pub fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the input of the server.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the server exits. Returns its exit status and its standard error.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                break status;
            }
            assert!(Instant::now() < deadline, "hippoctl mcp does not end");
            std::thread::yield_now();
        };
        let mut errors = String::new();
        let stderr = self.child.stderr.as_mut().expect("its errors");
        stderr.read_to_string(&mut errors).expect("text");
        (status, errors)
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // The server may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
