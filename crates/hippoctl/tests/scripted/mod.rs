//! Scripted daemon for tests of the client.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use hippo_proto::{Call, Frame, FrameReader, Paths, Request, parse_request};
use tempfile::TempDir;

/// A daemon with its own socket and home, which returns scripted answers and records every request.
pub struct Daemon {
    /// The home, which clients find in `HIPPOD_HOME`.
    pub home: TempDir,
    /// The received requests.
    pub requests: Receiver<Request>,
}

impl Daemon {
    /// Starts a daemon whose answers are the results of `answer`. An empty result closes the connection.
    pub fn start(answer: impl Fn(&Call) -> Vec<u8> + Send + 'static) -> Self {
        Self::after(0, answer)
    }

    /// Starts a daemon that closes the first `unread` connections without reading their requests.
    pub fn after(unread: usize, answer: impl Fn(&Call) -> Vec<u8> + Send + 'static) -> Self {
        let home = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(Paths::below(home.path()).socket).unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { return };
                if number < unread {
                    // The first byte proves that the client has sent the request.
                    let _ = stream.read(&mut [0]);
                    continue;
                }
                // An error is ignored, because the client may disconnect early.
                let _ = serve(stream, &answer, &|request| {
                    let _ = sender.send(request);
                });
            }
        });
        Self { home, requests }
    }

    /// Runs the client with this daemon and its home.
    #[allow(dead_code, reason = "not every test of the client has the state of this home")]
    pub fn run(&self, cwd: &Path, arguments: &[&str]) -> Output {
        hippoctl(self.home.path(), cwd, arguments)
    }
}

impl Daemon {
    /// Runs the client with this daemon, but with another home for the state of the client.
    #[allow(dead_code, reason = "not every test of the client has a state of its own")]
    pub fn run_in(&self, home: &Path, cwd: &Path, arguments: &[&str]) -> Output {
        let socket = Paths::below(self.home.path()).socket;
        let mut command = command(home, cwd, arguments);
        command.arg("--socket").arg(socket).output().unwrap()
    }
}

fn serve(
    mut stream: UnixStream,
    answer: &impl Fn(&Call) -> Vec<u8>,
    heard: &impl Fn(Request),
) -> std::io::Result<()> {
    let mut frames = FrameReader::new();
    let mut chunk = [0; 4096];
    loop {
        while let Some(Frame::Line(line)) = frames.next_frame() {
            match parse_request(&line) {
                Ok(call) => {
                    // Record the request before sending the answer, so that the test can read the request as soon as
                    // the client has exited.
                    let line = answer(&call);
                    heard(call.request);
                    if line.is_empty() {
                        return Ok(());
                    }
                    stream.write_all(&line)?;
                }
                Err(reply) => stream.write_all(&reply.to_line())?,
            }
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            count => frames.push(&chunk[..count]),
        }
    }
}

/// Runs the client with this home and returns the output of the client.
pub fn hippoctl(home: &Path, cwd: &Path, arguments: &[&str]) -> Output {
    command(home, cwd, arguments).output().unwrap()
}

/// Returns a command that runs the client without the environment variables of the test.
pub fn command(home: &Path, cwd: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hippoctl"));
    command
        .args(arguments)
        .current_dir(cwd)
        .env_clear()
        .env("HIPPOD_HOME", home)
        .stdin(Stdio::null());
    command
}

/// Returns the exit code, standard output and standard error of a process.
pub fn out(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}
