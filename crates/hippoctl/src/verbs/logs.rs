//! `logs`: what did the daemon write, wherever it writes to?

mod follow;
mod line;
mod source;

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::thread;
use std::time::Duration;

use crate::connect::Session;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use follow::Followed;
use hippoctl::args::LogsArgs;
use line::{Filter, object, since};
use source::Source;

/// How often a log is looked at for what was added.
const AGAIN: Duration = Duration::from_millis(200);

/// Prints the last lines, and goes on where that was asked for. Standard error says what is read.
///
/// # Errors
/// There is no log, or it cannot be read.
pub fn logs(session: &Session, args: &LogsArgs, out: &mut Output) -> Result<(), Failure> {
    let from = args.since.as_deref().map(|text| {
        since(text, jiff::Zoned::now()).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no such moment: {text}")).hint(
                "give an age such as 10m, 2h or 3d, a time such as 14:30, a day, or both: 2026-01-10T09:30",
            )
        })
    });
    let mut filter = Filter::new(from.transpose()?, args.level);
    let source = match args.hooks {
        true => Source::of_hooks(&session.paths)?,
        false => Source::of(&session.paths)?,
    };
    out.note(&format!("reading {source}"));
    match source {
        Source::File(log) => {
            let failed = |error: io::Error| Failure::file("read the log", &log, error);
            let mut followed = Followed::open(&log).map_err(failed)?;
            let mut last = Last::new(args.lines);
            for line in followed.lines_with_old().map_err(failed)? {
                last.take(&mut filter, line);
            }
            last.print(out)?;
            out.finish()?;
            if args.follow {
                go_on(&mut followed, &mut filter, out, failed)?;
            }
            Ok(())
        }
        Source::Journal => journal(args, &mut filter, out),
    }
}

/// Prints what is added, until it cannot be read or printed any more.
fn go_on(
    followed: &mut Followed,
    filter: &mut Filter,
    out: &mut Output,
    failed: impl Fn(io::Error) -> Failure,
) -> Result<(), Failure> {
    loop {
        thread::sleep(AGAIN);
        for line in followed.lines().map_err(&failed)? {
            if filter.admits(&line) {
                print(&line, out)?;
            }
        }
        out.finish()?;
    }
}

/// The lines of the unit, through the same filter.
fn journal(args: &LogsArgs, filter: &mut Filter, out: &mut Output) -> Result<(), Failure> {
    let failed = |error| Failure::new(Exit::Failed, format!("could not read the journal: {error}"));
    let mut child = source::journalctl(args, filter.from()).spawn().map_err(failed)?;
    let mut last = Last::new(args.lines);
    if let Some(read) = child.stdout.take() {
        for line in io::BufReader::new(read).split(b'\n') {
            let Some(line) = source::line_of(&String::from_utf8_lossy(&line.map_err(failed)?)) else {
                continue;
            };
            if !args.follow {
                last.take(filter, line);
            } else if filter.admits(&line) {
                print(&line, out)?;
                out.finish()?;
            }
        }
    }
    last.print(out)?;
    let status = child.wait().map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    Err(
        Failure::new(Exit::Failed, format!("journalctl ended with {status}"))
            .hint("what it says stands above; try: journalctl --user -u hippod"),
    )
}

/// Prints a line as it is, or as an object.
fn print(line: &str, out: &mut Output) -> Result<(), Failure> {
    if out.json {
        out.data(object(line).as_bytes())
    } else {
        out.data(line.as_bytes())
    }
}

/// The last lines of those that are wanted.
struct Last {
    lines: VecDeque<String>,
    most: usize,
}

impl Last {
    fn new(most: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            most,
        }
    }

    fn take(&mut self, filter: &mut Filter, line: String) {
        if filter.admits(&line) && self.most > 0 {
            if self.lines.len() == self.most {
                self.lines.pop_front();
            }
            self.lines.push_back(line);
        }
    }

    fn print(self, out: &mut Output) -> Result<(), Failure> {
        self.lines.iter().try_for_each(|line| print(line, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_those_that_are_wanted_stay() {
        let kept = |most: usize, lines: &[&str]| {
            let mut last = Last::new(most);
            let mut filter = Filter::new(None, None);
            lines
                .iter()
                .for_each(|line| last.take(&mut filter, (*line).to_owned()));
            last.lines.into_iter().collect::<String>()
        };
        assert_eq!(kept(2, &["a\n", "b\n", "c\n"]), "b\nc\n");
        assert_eq!(kept(5, &["a\n", "b\n"]), "a\nb\n");
        assert_eq!(kept(2, &["a\n", "\n", "b\n"]), "\nb\n");
        assert_eq!(kept(0, &["a\n"]), "");
    }
}
