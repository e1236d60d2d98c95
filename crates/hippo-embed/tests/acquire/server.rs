//! Small HTTP server on a local port, which fails on request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server does with a request for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Sends the file, or the requested part of it.
    Whole,
    /// Sends the whole file, even if a part is requested.
    WithoutRanges,
    /// Sends a redirect to the folder `moved`.
    Moved,
    /// Sends bytes of another file of the same size.
    WrongBytes,
    /// Sends more bytes than the file has.
    TooLong,
    /// Closes the connection after this number of bytes.
    CutAfter(usize),
    /// Sends this number of bytes, and then nothing until the client closes the connection.
    StallAfter(usize),
    /// Answers with this status and no content.
    Status(u16),
}

/// A request line, and the requested range.
pub type Request = (String, Option<String>);

/// The server. It runs until the test process ends.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server for files. The answers to the requests for file contents are given in order; the last one
    /// repeats.
    pub fn start(files: BTreeMap<String, Vec<u8>>, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let (noted, mut answers) = (Arc::clone(&requests), answers.to_vec());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let request = read(&stream);
                noted.lock().unwrap().push(request.clone());
                let answer = match answers.len() {
                    1 => answers[0],
                    _ => answers.remove(0),
                };
                let files = files.clone();
                std::thread::spawn(move || reply(stream, &request, &files, answer));
            }
        });
        Self { url, requests }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Request {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let range = lines.iter().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("range").then(|| value.to_owned())
    });
    (lines[0].clone(), range)
}

/// Sends the answer. Errors are ignored, because the client may close the connection.
fn reply(mut stream: TcpStream, request: &Request, files: &BTreeMap<String, Vec<u8>>, answer: Answer) {
    let path = request.0.split(' ').nth(1).unwrap().trim_start_matches('/');
    let name = path.strip_prefix("moved/").unwrap_or(path);
    let mut send = |head: String, content: &[u8]| {
        let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes());
        let _ = stream.write_all(content);
    };
    let Some(content) = files.get(name) else {
        return send("404 Not Found\r\nContent-Length: 0".into(), b"");
    };
    let mut content = content.clone();
    match answer {
        Answer::Status(status) => return send(format!("{status} No\r\nContent-Length: 0"), b""),
        Answer::Moved if name == path => {
            return send(
                format!("302 Found\r\nLocation: /moved/{name}\r\nContent-Length: 0"),
                b"",
            );
        }
        Answer::WrongBytes => content.iter_mut().for_each(|byte| *byte ^= 1),
        Answer::TooLong => content.extend_from_slice(b"more"),
        _ => {}
    }
    let size = content.len();
    let from = request.1.as_deref().filter(|_| answer != Answer::WithoutRanges);
    let from = from.map(|range| {
        range["bytes=".len()..]
            .trim_end_matches('-')
            .parse::<usize>()
            .unwrap()
    });
    let content = &content[from.unwrap_or(0)..];
    let head = match from {
        Some(from) => format!(
            "206 Partial Content\r\nContent-Range: bytes {from}-{}/{size}",
            size - 1
        ),
        None => "200 OK".to_owned(),
    };
    let sent = match answer {
        Answer::CutAfter(sent) | Answer::StallAfter(sent) => sent.min(content.len()),
        _ => content.len(),
    };
    send(
        format!("{head}\r\nContent-Length: {}", content.len()),
        &content[..sent],
    );
    if let Answer::StallAfter(_) = answer {
        let _ = stream.read(&mut [0]);
    }
}
