//! `logs`: what did a daemon that hippoctl started write?

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::args::LogsArgs;
use crate::connect::Session;
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// How much of the end of the log is looked at.
const TAIL_BYTES: u64 = 4 * 1024 * 1024;

/// Prints the last lines, and goes on where that was asked for.
///
/// # Errors
/// There is no log, or it cannot be read.
pub fn logs(session: &Session, args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let log = &session.paths.log;
    let mut file = File::open(log).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::new(Exit::NotFound, format!("there is no log: {}", log.display()))
                .hint("a daemon under systemd or launchd logs there: journalctl --user -u hippod")
        }
        _ => Failure::file("read the log", log, error),
    })?;
    let bytes = tail(&mut file).map_err(|error| Failure::file("read the log", log, error))?;
    out.data(last_lines(&bytes, args.lines))?;
    out.finish()?;
    if args.follow {
        follow(file, log, out)
    } else {
        Ok(())
    }
}

fn tail(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn last_lines(bytes: &[u8], count: usize) -> &[u8] {
    if count == 0 {
        return &[];
    }
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    ends.nth(count - 1).map_or(bytes, |(at, _)| &bytes[at + 1..])
}

fn follow(mut file: File, log: &Path, out: &mut Output) -> Result<(), Failure> {
    let failed = |error| Failure::file("read the log", log, error);
    loop {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        out.data(&bytes)?;
        out.finish()?;
        thread::sleep(Duration::from_millis(200));
        // A new file under the name, or a shorter one, is read from its start.
        let read = file.stream_position().map_err(failed)?;
        if std::fs::metadata(log).is_ok_and(|metadata| metadata.len() < read)
            && let Ok(new) = File::open(log)
        {
            file = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        assert_eq!(last_lines(b"a\nb\nc\n", 2), b"b\nc\n");
        assert_eq!(last_lines(b"a\nb\nc", 2), b"b\nc");
        assert_eq!(last_lines(b"a\nb\n", 5), b"a\nb\n");
        assert_eq!(last_lines(b"a\n\nb\n", 2), b"\nb\n");
        assert_eq!(last_lines(b"a\n", 0), b"");
        assert_eq!(last_lines(b"", 3), b"");
    }
}
