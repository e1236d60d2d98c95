//! Text of the service files, and detection of edits.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hippo_text::text::{escape_xml, unescape_xml};

use super::{AGENT, Manager, SERVICE_UNIT, SOCKET_UNIT, UnitValues};
use crate::failure::Failure;

const SERVICE: &str = include_str!("../../../../systemd/hippod.service");
const SOCKET: &str = include_str!("../../../../systemd/hippod.socket");
const AGENT_TEXT: &str = include_str!("../../../../launchd/io.github.hippod.plist");

/// The paths of hippod, its socket and its log in the project's template files.
const PROGRAM: &str = "ExecStart=%h/.cargo/bin/hippod run\n";
const SOCKET_PATH: &str = "%t/hippod/hippod.sock";
const AGENT_PROGRAM: &str = "/usr/local/bin/hippod";
const AGENT_LOG: &str = "/usr/local/var/log/hippod.log";
/// The first and the last line of the part that needs user namespaces.
const SANDBOX: (&str, &str) = ("# These need user namespaces", "[Install]");
/// The prefix of the last line, which identifies files written by hippoctl.
const MARK: &str = "written by hippoctl ";

/// A file of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitFile {
    /// The path.
    pub path: PathBuf,
    /// The whole text.
    pub text: String,
}

/// The state on disk of a service file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum UnitFileState {
    /// The file does not exist.
    Absent,
    /// The text that this version writes.
    Current,
    /// The text that an install wrote with another version or other paths.
    Outdated {
        /// The version that wrote it.
        version: String,
    },
    /// A text that no install wrote, or that was edited since.
    Changed,
}

/// Returns the files of the service, in the order in which they are written.
pub fn units(manager: Manager, folder: &Path, facts: &UnitValues) -> Vec<UnitFile> {
    let file = |name: &str, text: String| UnitFile {
        path: folder.join(name),
        text: marked(manager, &text),
    };
    match manager {
        Manager::Systemd => vec![
            file(SOCKET_UNIT, socket(facts)),
            file(SERVICE_UNIT, service(facts)),
        ],
        Manager::Launchd => vec![file(&agent_file(), agent(facts))],
    }
}

/// Returns the state of a file on disk.
///
/// # Errors
/// Fails if the file cannot be read.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn read(file: &UnitFile) -> Result<UnitFileState, Failure> {
    let failed = |error| Failure::file("read the unit file", &file.path, error);
    match fs::symlink_metadata(&file.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(UnitFileState::Absent),
        // A masked unit is a link.
        Ok(metadata) if !metadata.is_file() => return Ok(UnitFileState::Changed),
        Ok(_) => {}
        Err(error) => return Err(failed(error)),
    }
    let bytes = fs::read(&file.path).map_err(failed)?;
    if bytes == file.text.as_bytes() {
        return Ok(UnitFileState::Current);
    }
    let version = std::str::from_utf8(&bytes).ok().and_then(version_of);
    Ok(
        version.map_or(UnitFileState::Changed, |version| UnitFileState::Outdated {
            version,
        }),
    )
}

/// Writes a file into the user's own folder atomically. A new file gets default permissions; an existing file keeps its
/// permissions.
///
/// # Errors
/// Returns the error of the operating system. The previous file is unchanged.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn put(file: &UnitFile) -> Result<(), Failure> {
    let path = &file.path;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || {
        fs::create_dir_all(folder)?;
        let exists = path.exists();
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hippod-");
        #[cfg(unix)]
        if !exists {
            // The umask restricts these permissions.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        if exists {
            // A rename would succeed even if the file is not writable.
            File::options().write(true).open(path)?;
        }
        let mut draft = builder.tempfile_in(folder)?;
        draft.write_all(file.text.as_bytes())?;
        if exists {
            draft
                .as_file()
                .set_permissions(fs::metadata(path)?.permissions())?;
        }
        draft.as_file().sync_all()?;
        if exists {
            draft.persist(path)?;
        } else {
            draft.persist_noclobber(path)?;
        }
        Ok(())
    };
    write().map_err(|error: io::Error| Failure::file("write the unit file", path, error))
}

/// Returns the path of hippod that the installed service uses.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn named_program(manager: Manager, folder: &Path) -> Option<PathBuf> {
    let name = match manager {
        Manager::Systemd => SERVICE_UNIT.to_owned(),
        Manager::Launchd => agent_file(),
    };
    program_in(&fs::read_to_string(folder.join(name)).ok()?)
}

/// Returns the file name of the launchd agent.
pub fn agent_file() -> String {
    format!("{AGENT}.plist")
}

/// Returns the path of hippod in the text of a service file.
pub fn program_in(text: &str) -> Option<PathBuf> {
    let words = match text.lines().find_map(|line| line.strip_prefix("ExecStart=")) {
        Some(line) => match line.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => line.split(' ').next()?,
        }
        .replace("%%", "%"),
        None => {
            let (_, arguments) = text.split_once("<key>ProgramArguments</key>")?;
            let (_, first) = arguments.split_once("<string>")?;
            unescape_xml(first.split_once("</string>")?.0)
        }
    };
    Some(PathBuf::from(words))
}

fn service(facts: &UnitValues) -> String {
    let mut start = format!(
        "ExecStart=\"{}\" run\n",
        specifiers(&facts.program.to_string_lossy())
    );
    for (name, value) in &facts.environment {
        start += &format!("Environment=\"{name}={}\"\n", quoted(value));
    }
    let text = SERVICE.replace(PROGRAM, &start);
    match (text.find(SANDBOX.0), text.find(SANDBOX.1)) {
        (Some(from), Some(to)) if !facts.sandbox => format!("{}{}", &text[..from], &text[to..]),
        _ => text,
    }
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
        environment += &format!(
            "    <key>{name}</key>\n    <string>{}</string>\n",
            escape_xml(value)
        );
    }
    text.replacen(
        "  <key>RunAtLoad</key>",
        &format!("{environment}  </dict>\n  <key>RunAtLoad</key>"),
        1,
    )
}

/// Escapes percent signs, because each begins a specifier in unit files.
fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

/// Escapes a text for use in double quotes, in which a backslash escapes the next character.
fn quoted(text: &str) -> String {
    specifiers(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Appends a last line with the version and a checksum to the text.
fn marked(manager: Manager, text: &str) -> String {
    let words = format!("{MARK}{}, {}", env!("CARGO_PKG_VERSION"), checksum(text));
    match manager {
        Manager::Systemd => format!("{text}# {words}\n"),
        Manager::Launchd => format!("{text}<!-- {words} -->\n"),
    }
}

/// Returns the version that wrote this text, or `None` if the text was edited since.
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
