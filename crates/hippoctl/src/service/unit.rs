//! What do the files of the service say, and whose are those that are there?

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hippo_core::text::{escape_xml, unescape_xml};

use super::{AGENT, Facts, Manager, SERVICE_UNIT, SOCKET_UNIT};
use crate::failure::Failure;

const SERVICE: &str = include_str!("../../../../systemd/hippod.service");
const SOCKET: &str = include_str!("../../../../systemd/hippod.socket");
const AGENT_TEXT: &str = include_str!("../../../../launchd/io.github.hippod.plist");

/// What stands in the files of the project for the path of hippod, of its socket and of its log.
const PROGRAM: &str = "ExecStart=%h/.cargo/bin/hippod run\n";
const SOCKET_PATH: &str = "%t/hippod/hippod.sock";
const AGENT_PROGRAM: &str = "/usr/local/bin/hippod";
const AGENT_LOG: &str = "/usr/local/var/log/hippod.log";
/// Where the part of the service begins that needs user namespaces, and where it ends.
const SANDBOX: (&str, &str) = ("# These need user namespaces", "[Install]");
/// What begins the line at the end that tells whose the file is.
const MARK: &str = "written by hippoctl ";

/// A file of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitFile {
    /// Its place.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

/// What is in the place of such a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Found {
    /// Nothing.
    Absent,
    /// What would be written now.
    Current,
    /// What an install wrote that was another version, or meant other places.
    Outdated {
        /// The version.
        version: String,
    },
    /// What no install wrote, or what somebody changed since.
    Changed,
}

/// The files of the service, in the order in which they are written.
pub fn units(manager: Manager, folder: &Path, facts: &Facts) -> Vec<UnitFile> {
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

/// Looks at what is in the place of a file.
///
/// # Errors
/// It cannot be read.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn read(file: &UnitFile) -> Result<Found, Failure> {
    let failed = |error| Failure::file("read the unit file", &file.path, error);
    match fs::symlink_metadata(&file.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
        // A unit that is masked is a link.
        Ok(metadata) if !metadata.is_file() => return Ok(Found::Changed),
        Ok(_) => {}
        Err(error) => return Err(failed(error)),
    }
    let bytes = fs::read(&file.path).map_err(failed)?;
    if bytes == file.text.as_bytes() {
        return Ok(Found::Current);
    }
    let version = std::str::from_utf8(&bytes).ok().and_then(version_of);
    Ok(version.map_or(Found::Changed, |version| Found::Outdated { version }))
}

/// Puts a file into its place in the user's own folder, whole or not at all: a new one as any program makes it, one that exists
/// with the permissions that it has.
///
/// # Errors
/// As the system says; the file that was there is unchanged.
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
            // The umask takes its part of it.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        if exists {
            // A file that must not be written is not exchanged either.
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

/// The path of hippod that the installed service names.
#[expect(clippy::disallowed_methods, reason = "the user's own folder")]
pub fn named_program(manager: Manager, folder: &Path) -> Option<PathBuf> {
    let name = match manager {
        Manager::Systemd => SERVICE_UNIT.to_owned(),
        Manager::Launchd => agent_file(),
    };
    program_in(&fs::read_to_string(folder.join(name)).ok()?)
}

/// The file of the agent of launchd.
pub fn agent_file() -> String {
    format!("{AGENT}.plist")
}

/// The path of hippod that a file names.
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

fn service(facts: &Facts) -> String {
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

fn socket(facts: &Facts) -> String {
    match &facts.socket {
        Some(path) => SOCKET.replace(SOCKET_PATH, &specifiers(&path.to_string_lossy())),
        None => SOCKET.to_owned(),
    }
}

fn agent(facts: &Facts) -> String {
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

/// A percent sign begins a specifier in unit files.
fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

/// Between quotes, where a backslash takes its meaning from a quote.
fn quoted(text: &str) -> String {
    specifiers(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The text with a last line by which it is known again as it was written.
fn marked(manager: Manager, text: &str) -> String {
    let words = format!("{MARK}{}, {}", env!("CARGO_PKG_VERSION"), checksum(text));
    match manager {
        Manager::Systemd => format!("{text}# {words}\n"),
        Manager::Launchd => format!("{text}<!-- {words} -->\n"),
    }
}

/// Which version wrote this, where nobody changed it since.
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
