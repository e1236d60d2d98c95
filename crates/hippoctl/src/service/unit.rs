//! Text of the service files, and detection of edits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hippo_text::text::escape_xml;
use serde::Serialize;

use super::{Manager, SERVICE_UNIT, SOCKET_UNIT, UnitValues};
use crate::failure::Failure;

const SERVICE: &str = include_str!("../../../../systemd/hippod.service");
const SOCKET: &str = include_str!("../../../../systemd/hippod.socket");
const AGENT_TEXT: &str = include_str!("../../../../launchd/io.github.hippod.plist");

/// Lines and paths in the project's service files that hippoctl replaces: the program, the socket and the log.
const PROGRAM: &str = "ExecStart=%h/.cargo/bin/hippod run\n";
const SOCKET_PATH: &str = "%t/hippod/hippod.sock";
const AGENT_PROGRAM: &str = "/usr/local/bin/hippod";
const AGENT_LOG: &str = "/usr/local/var/log/hippod.log";
/// The file name of the launchd agent.
pub const AGENT_FILE: &str = "io.github.hippod.plist";
/// In the systemd service file: the first line of the part that needs user namespaces, and the first line after it.
const SANDBOX: (&str, &str) = ("# These need user namespaces", "[Install]");
/// Text in the last line of every service file that hippoctl writes. The version and the checksum follow the text.
const MARK: &str = "written by hippoctl ";

/// A file of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitFile {
    /// The path.
    pub path: PathBuf,
    /// The state on disk.
    #[serde(flatten)]
    pub state: UnitFileState,
    /// The text that hippoctl writes, including the part that needs user namespaces.
    #[serde(skip)]
    pub text: String,
    /// The text that hippoctl writes on systems without user namespaces.
    #[serde(skip)]
    pub unconfined: String,
    /// True if the file on disk names another socket.
    #[serde(skip)]
    pub has_other_socket: bool,
}

/// The state on disk of a service file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum UnitFileState {
    /// The file does not exist.
    Absent,
    /// The file has the text that this version writes, with or without the part that needs user namespaces.
    Current,
    /// The file was written by another version of hippoctl, or with other paths.
    Outdated {
        /// The version that wrote the file.
        version: String,
    },
    /// The file was not written by hippoctl, or was edited afterwards.
    Changed,
}

/// Returns the files of the service, in the order in which they are written.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn units(manager: Manager, folder: &Path, facts: &UnitValues) -> Result<Vec<UnitFile>, Failure> {
    let texts = match manager {
        Manager::Systemd => vec![(SOCKET_UNIT, socket(facts)), (SERVICE_UNIT, service(facts))],
        Manager::Launchd => vec![(AGENT_FILE, agent(facts))],
    };
    let files = texts.into_iter().map(|(name, text)| {
        let unconfined = match (text.find(SANDBOX.0), text.find(SANDBOX.1)) {
            (Some(from), Some(to)) => format!("{}{}", &text[..from], &text[to..]),
            _ => text.clone(),
        };
        read(UnitFile {
            path: folder.join(name),
            state: UnitFileState::Absent,
            text: marked(manager, &text),
            unconfined: marked(manager, &unconfined),
            has_other_socket: false,
        })
    });
    files.collect()
}

/// Returns the file with its state on disk.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
fn read(mut file: UnitFile) -> Result<UnitFile, Failure> {
    match fs::symlink_metadata(&file.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(file),
        // A masked unit is a link, and counts as changed.
        Ok(metadata) if !metadata.is_file() => file.state = UnitFileState::Changed,
        _ => {
            let bytes = fs::read(&file.path);
            let bytes = bytes.map_err(|error| Failure::file("read the unit file", &file.path, error))?;
            let there = String::from_utf8_lossy(&bytes);
            file.has_other_socket =
                listens_at(&there).is_some_and(|line| listens_at(&file.text) != Some(line));
            file.state = match version_of(&there) {
                Some(_) if there == file.text || there == file.unconfined => UnitFileState::Current,
                Some(version) => UnitFileState::Outdated { version },
                None => UnitFileState::Changed,
            };
        }
    }
    Ok(file)
}

/// Returns the line that contains the path of the socket.
fn listens_at(text: &str) -> Option<&str> {
    text.lines().find(|line| line.starts_with("ListenStream="))
}

fn service(facts: &UnitValues) -> String {
    let program = specifiers(&facts.program.to_string_lossy());
    let mut start = format!("ExecStart=\"{program}\" run\n");
    for (name, value) in &facts.environment {
        start += &format!("Environment=\"{name}={}\"\n", quoted(value));
    }
    SERVICE.replace(PROGRAM, &start)
}

fn socket(facts: &UnitValues) -> String {
    match &facts.socket {
        Some(path) => SOCKET.replace(SOCKET_PATH, &specifiers(&path.to_string_lossy())),
        None => SOCKET.to_owned(),
    }
}

fn agent(facts: &UnitValues) -> String {
    let text = AGENT_TEXT
        .replace(AGENT_PROGRAM, &escape_xml(&facts.program.to_string_lossy()))
        .replace(AGENT_LOG, &escape_xml(&facts.log.to_string_lossy()));
    if facts.environment.is_empty() {
        return text;
    }
    let mut environment = "  <key>EnvironmentVariables</key>\n  <dict>\n".to_owned();
    for (name, value) in &facts.environment {
        let value = escape_xml(value);
        environment += &format!("    <key>{name}</key>\n    <string>{value}</string>\n");
    }
    let next = "  <key>RunAtLoad</key>";
    text.replacen(next, &format!("{environment}  </dict>\n{next}"), 1)
}

/// Escapes percent signs. In a unit file, a percent sign begins a specifier.
fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

/// Escapes a text for double quotes in a unit file. Between double quotes, a backslash escapes the next character.
fn quoted(text: &str) -> String {
    specifiers(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the text with an appended last line, which contains the version of hippoctl and a checksum of the text.
fn marked(manager: Manager, text: &str) -> String {
    let words = format!("{MARK}{}, {}", env!("CARGO_PKG_VERSION"), checksum(text));
    match manager {
        Manager::Systemd => format!("{text}# {words}\n"),
        Manager::Launchd => format!("{text}<!-- {words} -->\n"),
    }
}

/// Returns the version of hippoctl that wrote a text. Returns `None` if hippoctl did not write the text, or if the text
/// was edited later.
fn version_of(text: &str) -> Option<String> {
    let (at, mark) = text.rmatch_indices(MARK).next()?;
    let begin = text[..at].rfind('\n')? + 1;
    let (version, sum) = text[at + mark.len()..].split_once(", ")?;
    let sum = sum.trim_end().trim_end_matches("-->").trim_end();
    (sum == checksum(&text[..begin])).then(|| version.to_owned())
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}
