//! `ui`: local page that shows the memory.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::connect::DaemonSession;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::ui::{IDLE, PageServer, ServerOptions};
use hippoctl::args::UiArgs;

/// Maximum time for stopping the page in the background.
const STOP: Duration = Duration::from_secs(5);

/// How to stop the page in the background.
#[derive(Serialize, Deserialize)]
struct BackgroundPage {
    port: u16,
    stop: String,
}

/// The address of the page.
#[derive(Serialize, Deserialize)]
struct PageAddress {
    url: String,
}

/// Serves the page, or stops the page in the background.
///
/// # Errors
/// Fails if no daemon can be reached, or if the port is in use.
pub fn ui(session: &mut DaemonSession, args: &UiArgs, out: &mut Output) -> Result<(), Failure> {
    if args.stop {
        return match stop(session)? {
            true => {
                out.remark("stopped the page");
                Ok(())
            }
            false => Err(Failure::new(
                Exit::NotFound,
                "no page is running in the background",
            )),
        };
    }
    if args.background {
        stop(session)?;
        let address = start_in_background(session, args)?;
        return announce(&address, args, out);
    }
    // Start the daemon before the page asks for data.
    session.client()?;
    let options = ServerOptions {
        port: args.port.unwrap_or(0),
        may_write: args.write,
    };
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("could not serve the page: {error}"));
    let server = PageServer::bind(options, session.another()).map_err(failed)?;
    let file = record_file(session);
    if args.in_background {
        let (port, stop) = server.stop_key();
        write_record(&file, &BackgroundPage { port, stop }).map_err(failed)?;
    }
    announce(&PageAddress { url: server.url() }, args, out)?;
    server.serve(IDLE).map_err(failed)?;
    if args.in_background {
        remove_record(&file);
    } else {
        out.remark("the page ended after 30 minutes without a request");
    }
    Ok(())
}

/// Prints the address of the page, and opens it in the browser.
fn announce(address: &PageAddress, args: &UiArgs, out: &mut Output) -> Result<(), Failure> {
    out.answer(address, |address, _| format!("{}\n", address.url))?;
    out.finish()?;
    if args.no_open || args.in_background {
        return Ok(());
    }
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command
        .arg(&address.url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if command.spawn().is_err() {
        out.remark("could not open a browser: open the address yourself");
    } else if !args.background {
        out.remark("press Ctrl-C to end the page");
    }
    Ok(())
}

/// Starts this program again in the background, and returns the address of its page.
fn start_in_background(session: &DaemonSession, args: &UiArgs) -> Result<PageAddress, Failure> {
    let failed = |why: String| Failure::new(Exit::Failed, format!("could not start the page: {why}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command
        .args(["ui", "--in-background", "--json", "--socket"])
        .arg(&session.paths.socket);
    if let Some(workspace) = session.given_workspace()? {
        command.arg("--workspace").arg(workspace);
    }
    if let Some(port) = args.port {
        command.arg("--port").arg(port.to_string());
    }
    if args.write {
        command.arg("--write");
    }
    // The page gets its own process group, so that Ctrl-C in this terminal does not stop it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    serde_json::from_str(&line).map_err(|_| {
        let mut why = String::new();
        // Without the message of the child, the failure has no details.
        let _ = child
            .stderr
            .take()
            .map(|mut errors| errors.read_to_string(&mut why));
        failed(why.trim().to_owned())
    })
}

/// Stops the page in the background. Returns false if there is none.
fn stop(session: &DaemonSession) -> Result<bool, Failure> {
    let file = record_file(session);
    let Some(page) = read_record(&file) else {
        return Ok(false);
    };
    remove_record(&file);
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, page.port)) else {
        return Ok(false);
    };
    stream.set_read_timeout(Some(STOP))?;
    let host = format!("127.0.0.1:{}", page.port);
    let request = format!(
        "POST /stop HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
         X-Hippod-Stop: {}\r\nContent-Length: 0\r\n\r\n",
        page.stop
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = [0; 12];
    Ok(stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1 200")
}

/// Returns the path of the file about the page in the background.
fn record_file(session: &DaemonSession) -> PathBuf {
    session.paths.state.join("ui.json")
}

#[expect(clippy::disallowed_methods, reason = "a file in hippod's own folder")]
fn read_record(file: &std::path::Path) -> Option<BackgroundPage> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

#[expect(clippy::disallowed_methods, reason = "a file in hippod's own folder")]
fn remove_record(file: &std::path::Path) {
    // A file that stays names a port on which nothing answers to its token.
    let _ = std::fs::remove_file(file);
}

/// Writes the file about the page in the background, which only the user can read.
#[expect(clippy::disallowed_methods, reason = "a file in hippod's own folder")]
fn write_record(file: &std::path::Path, page: &BackgroundPage) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(serde_json::to_string(page)?.as_bytes())?;
    draft.persist(file).map(drop).map_err(|error| error.error)
}
