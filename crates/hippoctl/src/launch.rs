//! Start of the daemon.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hippo_proto::paths::LOCK_FILE;
use hippo_proto::{Client, LogFile, Paths};

use crate::failure::{Exit, Failure};

/// Maximum time until a newly started daemon answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum time to wait for the socket of another daemon, after the daemon that this client started has exited. A new
/// daemon exits if another daemon is already running. This happens if two clients start a daemon at the same time, or
/// if the socket of a running daemon was removed. The running daemon creates a removed socket again within a second.
const RIVAL: Duration = Duration::from_secs(3);
/// The hint if the program hippod was not found.
pub const INSTALL: &str = "install hippod in the folder of hippoctl, or in a folder of PATH";
/// Maximum number of log lines that an error message quotes.
const LAST_WORDS: usize = 10;

/// The folder and the environment variables of a daemon that uses no files of the user.
type OwnHome<'a> = (&'a Path, &'a [(&'a str, &'a str)]);

/// Starts the daemon, waits until it answers, and returns its process id and a connection.
///
/// # Errors
/// Fails if `hippod` is not found, exits early, or does not answer in time. The message quotes the last lines of its
/// log.
pub fn launch(paths: &Paths) -> Result<(u32, Client), Failure> {
    let (mut child, before) = begin(paths, None)?;
    let pid = child.id();
    let answers = connect(&mut child, paths, before);
    // A thread waits until the daemon exits. Without the thread, a daemon that exits before this process would remain
    // as a zombie process, which is harmless. Therefore, a failure to start the thread is ignored.
    let _ = thread::Builder::new().spawn(move || child.wait());
    answers.map(|client| (pid, client))
}

/// Waits until a started daemon answers, and returns a connection. `before` is the length of the log before the start.
///
/// # Errors
/// Fails if the daemon exits early, or does not answer in time. The message quotes the last lines of its log.
pub fn connect(child: &mut Child, paths: &Paths, before: u64) -> Result<Client, Failure> {
    wait(child, paths, PATIENCE, RIVAL).map_err(|failure| {
        let words = last_words(&paths.log, before);
        if words.is_empty() {
            return failure;
        }
        let message = format!("{}; its log ends with:\n{words}", failure.message);
        Failure { message, ..failure }
    })
}

/// Starts the daemon without waiting for it. Returns the process, and the length of the log before the start. With
/// `own`, the daemon keeps all its files below this folder, and uses these settings in place of those in the
/// environment.
///
/// # Errors
/// Fails if `hippod` is not found or cannot be started.
pub fn begin(paths: &Paths, own: Option<OwnHome<'_>>) -> Result<(Child, u64), Failure> {
    let program = daemon_program().ok_or_else(|| {
        let what = "no daemon is running, and the program hippod was not found";
        Failure::new(Exit::NoDaemon, what).hint(INSTALL)
    })?;
    create_private_folder(&paths.state)?;
    let log = open_log(&paths.log)?;
    let before = log.file().metadata().map_or(0, |log| log.len());
    Ok((spawn(&program, paths, log.file(), own)?, before))
}

/// Returns the absolute path of `hippod`. Looks beside this program first, and then in `PATH`.
pub fn daemon_program() -> Option<PathBuf> {
    let found = find_daemon(std::env::current_exe().ok().as_deref(), std::env::var_os("PATH"));
    found.and_then(|program| std::path::absolute(program).ok())
}

#[expect(clippy::disallowed_methods, reason = "folders of PATH")]
fn find_daemon(own: Option<&Path>, path: Option<OsString>) -> Option<PathBuf> {
    let name = format!("hippod{}", std::env::consts::EXE_SUFFIX);
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let folders = path.iter().flat_map(std::env::split_paths);
    let mut programs = beside.into_iter().chain(folders).map(|folder| folder.join(&name));
    programs.find(|program| program.is_file())
}

fn spawn(program: &Path, paths: &Paths, log: &File, own: Option<OwnHome<'_>>) -> Result<Child, Failure> {
    let failed = |error| Failure::file("start the daemon", program, error);
    let (words, errors) = (log.try_clone().map_err(failed)?, log.try_clone().map_err(failed)?);
    let mut command = Command::new(program);
    if let Some((home, settings)) = own {
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("HIPPOD_")) {
            command.env_remove(name);
        }
        command.env("HIPPOD_HOME", home).envs(settings.iter().copied());
    }
    command
        .arg("run")
        // The daemon writes its log to the file of `--log-file`, and rotates this file. Standard output and standard
        // error get only output that is not part of the log.
        .arg("--log-file")
        .arg(&paths.log)
        .env("HIPPOD_SOCKET", &paths.socket)
        // If the daemon ran in the folder of the caller, the disk with that folder could not be unmounted.
        .current_dir(&paths.state)
        .stdin(Stdio::null())
        .stdout(words)
        .stderr(errors);
    #[cfg(unix)]
    {
        // The daemon gets its own process group, so Ctrl-C in the terminal of the caller does not stop it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    command.spawn().map_err(failed)
}

/// Waits until a started daemon answers. If the daemon exits early, waits up to `rival` for another daemon to answer.
///
/// # Errors
/// Fails if the started daemon has exited and no other daemon answers, or if no daemon answers within `patience`.
pub fn wait(
    child: &mut Child,
    paths: &Paths,
    patience: Duration,
    rival: Duration,
) -> Result<Client, Failure> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(2);
    let mut ended = None;
    loop {
        if let Ok(client) = Client::connect(&paths.socket, Some(patience)) {
            return Ok(client);
        }
        if ended.is_none()
            && let Ok(Some(status)) = child.try_wait()
        {
            ended = Some((status, Instant::now()));
        }
        match ended {
            Some((status, at)) if at.elapsed() > rival => {
                let failure = Failure::new(Exit::NoDaemon, format!("the daemon ended early ({status})"));
                return Err(failure.hint("fix the error in the log, then: hippoctl service start"));
            }
            None if begun.elapsed() > patience => {
                let what = format!("the daemon does not answer: {}", paths.socket.display());
                return Err(Failure::new(Exit::NoDaemon, what).hint("to see the log: hippoctl service logs"));
            }
            _ => {}
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Returns the process id in the daemon's lock file. The process may have ended already.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn locked_by(paths: &Paths) -> Option<u32> {
    let lock = fs::read_to_string(paths.state.join(LOCK_FILE)).ok()?;
    lock.trim().parse().ok()
}

/// Creates a folder to which only this user has access.
///
/// # Errors
/// Returns the error of the operating system.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
pub fn create_private_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let created = builder.create(folder);
    created.map_err(|error| Failure::file("create the folder", folder, error))
}

/// Opens a log file for appending, and rotates the file if it is full. Only this user has access to the file.
///
/// # Errors
/// Returns the error of the operating system.
pub fn open_log(log: &Path) -> Result<LogFile, Failure> {
    let mut opened = LogFile::open(log).map_err(|error| Failure::file("open the log", log, error))?;
    opened.turn();
    Ok(opened)
}

/// Returns the last lines that the log contains after the byte offset `before`.
#[expect(clippy::disallowed_methods, reason = "hippod's own folder")]
fn last_words(log: &Path, before: u64) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.get(before as usize..).unwrap_or_default());
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daemon_next_to_the_client_has_priority() {
        let own = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let name = format!("hippod{}", std::env::consts::EXE_SUFFIX);
        let find = || {
            let path = std::env::join_paths([Path::new("/nowhere"), other.path()]).unwrap();
            find_daemon(Some(&own.path().join("hippoctl")), Some(path))
        };
        assert_eq!(find(), None);
        fs::write(other.path().join(&name), "").unwrap();
        assert_eq!(find(), Some(other.path().join(&name)));
        fs::write(own.path().join(&name), "").unwrap();
        assert_eq!(find(), Some(own.path().join(&name)));
    }

    #[test]
    fn only_log_lines_of_this_start_are_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("hippod.log");
        assert_eq!(last_words(&log, 0), "");
        let new: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
        fs::write(&log, format!("old\n{}\n", new.join("\n"))).unwrap();
        assert_eq!(last_words(&log, 4), new[10..].join("\n"));
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_of_the_log_is_private() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("a/state");
        create_private_folder(&state).unwrap();
        let mode = fs::metadata(&state).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
